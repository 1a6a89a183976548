"""The meaning of a path in a command line, by its name alone: nothing is looked at.

A place is an absolute path in which `/~` is the user's home and the workspace lies so deep that
only a long climb leads from it to the root.
"""

import posixpath
import re

WORKSPACE = "/" + "/".join(f"\ufdd0{depth}" for depth in range(8))
UNKNOWN = "\ufffc"
"""Stands for what cannot be known: a variable, the output of a command."""

HARMLESS_DEVICES = frozenset(
    f"/dev/{name}" for name in "null zero full random urandom stdin stdout stderr tty".split()
)
DISKS = re.compile(
    r"/dev/(?:r?disk|[shv]d[a-z]|xvd|nvme|mmcblk|md\d|dm-|mapper/|loop|nbd|zd|sr\d|k?mem|port|sg\d"
    r"|block/|fd\d|st\d|ubi|mtd)"
)
SYSTEM = re.compile(
    r"/(?:etc|bin|sbin|lib\w*|boot|dev|proc|sys|efi|System|Library|Applications|private/etc|private/var"
    r"|usr/s?bin|usr/lib\w*|usr/share|usr/include|var/lib|var/spool|var/log|Windows|mnt/c/Windows)(?:/|\Z)"
)
ANY_HOME = re.compile(r"/(?:~[\w.-]*|root|(?:home|Users|mnt/c/Users)/[^/]+)(?=/|\Z)")
STARTUP = re.compile(
    r"""(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile
    |zlogin|zlogout|kshrc|cshrc|tcshrc|login|logout|inputrc|xinitrc|xprofile|xsession|xsessionrc
    |Xresources|vimrc|exrc|emacs|nanorc|tmux\.conf|screenrc|gdbinit|lldbinit|pythonrc|pypirc|npmrc
    |yarnrc|gitconfig|pam_environment|curlrc|wgetrc|netrc|envrc|irbrc|Rprofile|ghci|selected_editor
    |forward|rhosts|shosts|hgrc)\Z
    |\.(?:ssh|gnupg|vim|emacs\.d|oh-my-zsh|bashrc\.d|zshrc\.d|aws|kube|docker|anacron)(?:/|\Z)
    |\.config/(?:autostart|systemd|fish|zsh|nvim|git|environment\.d|upstart|cron|plasma-workspace
      |lxsession|i3|sway|hypr|openbox|pip|andy|pulse|containers|direnv)(?:/|\Z)
    |\.local/(?:share/(?:systemd|applications|dbus-1|kservices5|nautilus)|bin|lib/python)
    |Library/(?:LaunchAgents|LaunchDaemons|StartupItems|Preferences|Scripts)|(?:\.local/)?bin/
    |AppData/Roaming/Microsoft/Windows/Start)""",
    re.VERBOSE,
)
"""Below a home: files and folders that something runs or obeys by itself."""

RUNS_BY_ITSELF = re.compile(
    r"(?:^|/)(?:\.git/(?:hooks|config|info/attributes|modules)|\.hg/hgrc|\.husky|\.envrc|\.githooks"
    r"|\.vscode/(?:tasks|settings|launch)\.json|\.idea|\.devcontainer|\.andy|\.claude|\.cursor"
    r"|\.mcp\.json|\.github/workflows|\.gitlab-ci\.yml|\.pre-commit-config\.yaml"
    r"|sitecustomize\.py|usercustomize\.py)(?:/|\Z)",
    re.IGNORECASE,
)
"""In a workspace."""

SECRET = re.compile(
    r"""(?:^|/)(?:\.ssh(?:/|\Z)(?!(?:known_hosts|config|[\w.-]+\.pub)\Z)|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?\Z|\.gnupg|\.aws(?:/|\Z)
    |\.azure|\.kube(?:/|\Z)|\.docker/config\.json|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.pypirc|\.npmrc
    |\.git-credentials|\.password-store|\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?\Z|\.envrc
    |\.vault-token|\.config/(?:gcloud|gh|hub|doctl|op|andy|rclone|google-chrome|chromium|BraveSoftware)
    |\.mozilla|\.thunderbird|\.local/share/keyrings|Library/(?:Keychains|Cookies
    |Application\ Support)
    |\.(?:ba|z|k)?sh_history|\.python_history|\.psql_history|\.mysql_history|\.node_repl_history
    |\.terraform\.d|\.terraformrc|\.cargo/credentials|\.gem/credentials|\.m2/settings|\.s3cfg|\.boto
    |\.bitcoin|\.ethereum|wallet\.dat|\.htpasswd|etc/(?:g?shadow-?|sudoers|ssl/private|krb5\.keytab)
    |proc/(?:self|\d+|\*)/environ|credentials(?:\.(?:json|csv|xml|db|txt|ya?ml))?\Z
    |(?:client_)?secrets?\.(?:json|ya?ml|toml|txt|env)\Z|service[-_]account[\w-]*\.json
    |kubeconfig|Login\ Data|cookies\.sqlite|logins\.json|key[34]\.db)
    |\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|ovpn|asc)\Z""",
    re.VERBOSE | re.IGNORECASE,
)
SECRET_VARIABLE = re.compile(
    r"KEY|TOKEN|SECRET|PASS(?:W|PHRASE|\b|$)|CREDENTIAL|_PAT\b|_AUTH\b|COOKIE", re.IGNORECASE
)
WILD = re.compile(r"[*?\[]")
WHOLE_FOLDER = frozenset(["*", ".*", "**", ".[!.]*", ".??*", "[!.]*", "{*,.*}"])
"""Patterns of names that take all that is in a folder, or all that is hidden."""


def resolve_place(text: str, folder: str) -> str:
    """The place a word names, as seen from a folder; patterns and unknown parts stay in it."""
    if text.startswith("~"):
        text = "/" + text
    return re.sub("^//+", "/", posixpath.normpath(posixpath.join(folder, text)))


def is_inside(resolved_place: str) -> bool:
    """In the workspace for certain."""
    return UNKNOWN not in resolved_place and f"{resolved_place}/".startswith(WORKSPACE + "/")


def is_disk(resolved_place: str) -> bool:
    return DISKS.match(resolved_place) is not None


def is_system(resolved_place: str) -> bool:
    return SYSTEM.match(resolved_place) is not None and resolved_place not in HARMLESS_DEVICES


def is_secret(resolved_place: str) -> bool:
    return SECRET.search(resolved_place) is not None


def is_startup(resolved_place: str) -> bool:
    """Check whether something runs or obeys it by itself, for the user or in the workspace."""
    home_match = ANY_HOME.match(resolved_place)
    if home_match and STARTUP.match(resolved_place[home_match.end() + 1 :]):
        return True
    return RUNS_BY_ITSELF.search(resolved_place.removeprefix(WORKSPACE)) is not None


def is_vital(resolved_place: str) -> bool:
    """Check whether losing all that is in it means losing a system, a home, a disk or the keys."""
    resolved_place = _drop_pattern(resolved_place)
    home_match = ANY_HOME.match(resolved_place)
    if home_match:
        below_home = resolved_place[home_match.end() + 1 :]
        return "/" not in below_home or is_secret(resolved_place)
    if (
        is_system(resolved_place)
        or is_disk(resolved_place)
        or WORKSPACE.startswith(resolved_place.rstrip("/") + "/")
    ):
        return True
    path_parts = resolved_place.split("/")[1:]
    if path_parts[0] in ("mnt", "media", "Volumes", "run"):
        return len(path_parts) <= 2
    return len(path_parts) == 1 and path_parts[0] != "tmp"


def _drop_pattern(resolved_place: str) -> str:
    """Return the folder of which a pattern takes everything, else the place itself."""
    base_folder, name = posixpath.split(resolved_place)
    takes_whole = name in WHOLE_FOLDER or (base_folder == "/" and WILD.search(name))
    return base_folder if takes_whole else resolved_place
