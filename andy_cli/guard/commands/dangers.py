"""Commands that never run, whatever is allowed: they destroy, send secrets out, or open a door.

Each rule looks at one simple command, its words as values. What is not found here is not harmless,
only not certain.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from andy_cli.guard.commands.places import (
    UNKNOWN,
    is_disk,
    is_secret,
    is_startup,
    is_system,
    is_vital,
    place,
)

Words = Sequence[str]

NEVER = frozenset(
    """mke2fs newfs mkswap wipefs blkdiscard fdisk sfdisk cfdisk gdisk sgdisk parted gparted
    shutdown reboot halt poweroff useradd adduser usermod userdel deluser groupadd groupmod addgroup
    passwd chpasswd newusers visudo vipw vigr gpasswd chsh chfn at batch anacron update-rc.d
    chkconfig rc-update
    insmod modprobe rmmod kexec setcap ssh-copy-id setenforce spctl csrutil nvram grub-install
    efibootmgr update-grub lvremove vgremove pvremove lvreduce pvcreate killall5 su sulogin runuser
    tune2fs debugfs badblocks sysrq dscl dseditgroup systemsetup fdesetup bless tmutil
    apparmor_parser
    aa-disable aa-teardown update-alternatives pam-auth-update loginctl pwconv authconfig ngrok
    chrome-remote-desktop teamviewer anydesk msfvenom msfconsole mimikatz""".split()
)
"""Names that say enough: disks, accounts, the kernel, starting at boot, going down."""

DOOR, GONE, SENT = (
    "it opens a lasting door or raises rights",
    "it destroys the system, a disk or the home",
    "it sends secrets out",
)
SUBCOMMANDS = {
    "systemctl": (
        "enable disable mask unmask start restart reload link edit set-default isolate kill preset "
        "poweroff reboot halt kexec suspend hibernate emergency rescue default exit add-wants "
        "add-requires revert import-environment set-environment daemon-reexec switch-root stop"
    ),
    "service": "start stop restart",
    "launchctl": "load bootstrap submit enable kickstart start setenv config disable "
    "bootout unload",
    "diskutil": (
        "eraseDisk eraseVolume partitionDisk reformat zeroDisk randomDisk secureErase eraseCD "
        "eraseOptical resizeVolume deleteVolume mergePartitions splitPartition apfs appleRAID cs"
    ),
    "zpool": "destroy labelclear create split replace remove",
    "zfs": "destroy rollback",
    "btrfs": "delete",
    "nvme": "format sanitize write",
    "mdadm": "--zero-superblock --stop --fail --remove",
    "cryptsetup": "luksFormat erase luksErase luksKillSlot reencrypt luksRemoveKey",
    "hdparm": "--security-erase --security-erase-enhanced --trim-sector-ranges --make-bad-sector",
    "ufw": "disable reset",
    "iptables": "-F --flush -X -P",
    "ip6tables": "-F --flush -X -P",
    "nft": "flush",
    "firewall-cmd": "--add-port --add-service --remove-service --panic-off",
    "sysctl": "-w --write -p --load",
    "crontab": "- -e -r -u",
    "init": "0 1 6 s S",
    "telinit": "0 1 6 s S",
    "ip": "flush",
    "snapper": "delete",
    "timeshift": "--delete --delete-all",
    "cloudflared": "tunnel service",
    "tailscale": "funnel serve up set",
    "security": "dump-keychain find-generic-password find-internet-password export delete-keychain",
    "gpg": "--export-secret-keys --export-secret-subkeys --delete-secret-keys -r0",
    "net": "user localgroup",
    "docker": "--privileged --pid=host --device",
    "podman": "--privileged --pid=host --device",
}
"""Words that make a program one of these."""

SHELLS = frozenset("sh bash zsh dash ksh fish csh tcsh ash mksh rbash busybox".split())
INTERPRETERS = SHELLS | frozenset(
    """python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit Rscript
    osascript
    tclsh wish expect awk gawk mawk eval source . pwsh powershell groovy scala jshell ghci runghc
    irb
    sqlite3 psql mysql gdb ed ex vim vi make java go rustc tcc xargs parallel at batch crontab exec
    env sudo doas su nsenter chroot ssh R julia elixir swift""".split()
)
"""What runs what it reads."""

FETCHERS = frozenset(
    """curl wget wget2 aria2c axel fetch lynx links w3m elinks http https xh httpie nc ncat
    netcat socat
    telnet ftp sftp scp rsync lftp tftp ssh dig nslookup host gh aws gsutil gcloud az s3cmd rclone
    openssl svn hg iwr irm""".split()
)
SENDERS = FETCHERS | frozenset(
    "mail mailx mutt sendmail msmtp swaks ping ping6 traceroute whois finger xdg-open "
    "open docker git "
    "smbclient curlftpfs sshfs nmap kcat mosquitto_pub wscat websocat redis-cli psql mysql mongo "
    "telegram-send ntfy wormhole croc magic-wormhole transfer pastebinit npm twine".split()
)
DUMPS = frozenset(["env", "printenv", "set", "export", "declare", "typeset", "compgen"])
"""With nothing behind them they print the environment."""

REMOVERS = frozenset("rm rmdir unlink shred srm wipe trash trash-put gio rimraf del".split())
CHANGERS = frozenset("chmod chown chgrp chattr setfacl chflags xattr restorecon chcon".split())
REMOVES_IN_CODE = re.compile(
    r"(?:rmtree|remove_tree|rm_rf|rm_r|rimraf|rmSync|rmdirSync|removedirs|File\.delete|unlink)\W{1,4}"
    r"(?:recursive=>\d,)?(?:[\w.]{0,30}(?:expanduser|homedir|home|HOME)\W{1,4})?['\"]?(?:/['\"*]|~|/(?:home|etc|usr|var|root|Users)\b)"
    r"|rmtree\((?:Path\.home|os\.environ)"
)


def danger(words: Words, writes: Words, folder: str) -> str:
    """Why a command never runs, or nothing; `words` are its name and arguments."""
    found = (why for each in writes if (why := writing(each, folder)))
    why = next(found, "")
    if why or not words:
        return why
    name = program(words[0])
    arguments = words[1:]
    if name in NEVER or name.startswith(("mkfs", "fsck.", "mkinitcpio")):
        return _never(name, arguments)
    if set(SUBCOMMANDS.get(name, "").split()) & {each.partition("=")[0] for each in arguments}:
        return DOOR if name not in ERASERS else GONE
    for rule in RULES:
        why = rule(name, arguments, folder)
        if why:
            return why
    return ""


ERASERS = frozenset("diskutil zpool zfs btrfs nvme mdadm cryptsetup hdparm init telinit".split())


def _never(name: str, arguments: Words) -> str:
    if name in ("fdisk", "sfdisk", "parted", "gdisk", "sgdisk") and "-l" in arguments:
        return ""
    if set(arguments) & {"--help", "--version", "-l", "--list"} and len(arguments) == 1:
        return ""
    return f"{name}: {GONE} or {DOOR}"


def program(word: str) -> str:
    """The name of a program, without its folder."""
    return word.rstrip("/").rpartition("/")[2]


def writing(target: str, folder: str) -> str:
    """Why nothing is ever written to a place, or nothing."""
    where = place(target, folder)
    if is_disk(where):
        return GONE
    if where.startswith(("/dev/tcp/", "/dev/udp/")):
        return DOOR
    if is_startup(where) or is_system(where):
        return DOOR
    if is_secret(where) and not where.endswith((".env", ".asc", ".pem", ".key")):
        return "it overwrites keys"
    return ""


def _options(arguments: Words) -> str:
    """The letters of all short options."""
    return "".join(each[1:] for each in arguments if re.fullmatch(r"-[A-Za-z]+", each))


def _paths(arguments: Words, folder: str) -> Iterator[str]:
    """The places of what is no option; an unknown beginning may be nothing at all."""
    for each in arguments:
        if each.startswith("-") or not each:
            continue
        yield place(each, folder)
        if UNKNOWN in each and each.replace(UNKNOWN, "").startswith("/"):
            yield place(each.replace(UNKNOWN, ""), folder)


def _removes(name: str, arguments: Words, folder: str) -> str:
    if name not in REMOVERS:
        return ""
    if "--no-preserve-root" in arguments:
        return GONE
    deep = name == "rimraf" or set(_options(arguments)) & set("rR") or "--recursive" in arguments
    for where in _paths(arguments, folder):
        plain = is_system(where) or (is_secret(where) and "/\ufdd0" not in where)
        if plain or is_disk(where) or (deep and is_vital(where)) or is_home_itself(where):
            return GONE
    return ""


def is_home_itself(where: str) -> bool:
    return where in ("/", "/~", "/*", "/~/*", "/root", "/home", "/home/*", "/Users")


def _changes(name: str, arguments: Words, folder: str) -> str:
    if name not in CHANGERS:
        return ""
    mode = next((each for each in arguments if not each.startswith("-")), "")
    if name == "chmod" and re.fullmatch(
        r"0?[2-7][0-7]{3}|[ugoa]*\+[rwxXt]*s.*|.*[ug]\+\w*s.*", mode
    ):
        return DOOR
    deep = "R" in _options(arguments) or "--recursive" in arguments
    for where in _paths(arguments, folder):
        if is_system(where) or is_disk(where) or (is_vital(where) and (deep or where == "/")):
            return GONE
        if is_startup(where) and "/\ufdd0" not in where and name != "xattr":
            return DOOR
    if name == "xattr" and "com.apple.quarantine" in arguments:
        return DOOR
    return ""


def _moves(name: str, arguments: Words, folder: str) -> str:
    if name not in ("mv", "cp", "install", "ln", "rsync", "scp", "dd", "tee", "rename", "link"):
        return ""
    if name == "dd":
        return next((writing(each[3:], folder) for each in arguments if each[:3] == "of="), "")
    plain = [each for each in arguments if not each.startswith("-")]
    if name == "mv" and any(map(is_vital, _paths(plain[:-1], folder))):
        return GONE
    mirrors = [each for each in arguments if each.startswith(("--del", "--remove"))]
    if name == "rsync" and mirrors and any(map(is_vital, _paths(plain, folder))):
        return GONE
    targets = plain if name == "tee" else plain[-1:] + _named_targets(arguments)
    for each in targets:
        why = writing(each, folder) or _landing_in(plain, each, folder)
        if why:
            return why
    return ""


def _named_targets(arguments: Words) -> list[str]:
    """What stands behind -t or --target-directory=."""
    found = [each.partition("=")[2] for each in arguments if each.startswith("--target-dir")]
    pairs = pairwise(arguments)
    return found + [after for before, after in pairs if before == "-t"]


def _landing_in(plain: Words, folder_named: str, folder: str) -> str:
    """The same for the files that land in a folder under their own names."""
    names = [program(each) for each in plain[:-1]]
    return next((why for each in names if (why := writing(f"{folder_named}/{each}", folder))), "")


def _writes_by_option(name: str, arguments: Words, folder: str) -> str:
    flags = OUTPUTS.get(name, ())
    pairs = list(pairwise(arguments))
    targets = [after for before, after in pairs if before in flags]
    targets += [
        each[len(flag) :].lstrip("=")
        for each in arguments
        for flag in flags
        if each.startswith(flag) and each != flag and (flag[1] != "-" or each[len(flag)] == "=")
    ]
    if name in (
        "sed",
        "perl",
        "ruby",
        "ex",
        "ed",
        "vim",
        "vi",
        "nano",
        "truncate",
        "patch",
        "touch",
        "gawk",
    ):
        targets += [each for each in arguments if not each.startswith("-") and "/" in each]
    return next((why for each in targets if (why := writing(each, folder))), "")


OUTPUTS = {
    "curl": ("-o", "--output", "--output-dir"),
    "wget": ("-O", "-P", "--output-document", "--directory-prefix", "-o", "-a"),
    "aria2c": ("-d", "-o", "--dir", "--out"),
    "tar": ("-C", "--directory", "-f"),
    "unzip": ("-d",),
    "sort": ("-o", "--output"),
    "find": ("-fprint", "-fprintf", "-fls", "-fprint0"),
    "tree": ("-o",),
    "gcc": ("-o",),
    "openssl": ("-out",),
    "base64": ("-o",),
    "git": ("-C", "--output"),
    "7z": ("-o",),
    "ssh-keygen": ("-f",),
}
"""Options behind which a file or folder is named that is written."""


def _finds(name: str, arguments: Words, folder: str) -> str:
    if name != "find" or not set(arguments) & {"-delete", "-exec", "-execdir", "-ok", "-okdir"}:
        return ""
    first = next((at for at, each in enumerate(arguments) if each[:1] in "-!("), len(arguments))
    roots = list(_paths(arguments[:first] or ["."], folder))
    removes = {"-delete", "rm", "shred", "unlink", "chmod", "chown", "mv", "sh", "bash"}
    acts = removes & {program(each) for each in arguments[first:]}
    return GONE if acts and any(map(is_vital, roots)) else ""


def _rights(name: str, arguments: Words, folder: str) -> str:
    """A shell of another user's rights."""
    if name not in ("sudo", "doas", "pkexec", "sudoedit", "run0", "gosu"):
        return ""
    if name == "sudoedit":
        return DOOR
    named = {after for before, after in pairwise(arguments) if re.fullmatch(r"-[ughpCT]", before)}
    commands = [
        each
        for each in arguments
        if not each.startswith("-") and "=" not in each and each not in named
    ]
    if not commands:
        return DOOR if set(_options(arguments)) & set("si") else ""
    return DOOR if program(commands[-1]) in SHELLS | {"su", "-"} else ""


def _remote(name: str, arguments: Words, folder: str) -> str:
    """A shell for somebody else."""
    if name in ("nc", "ncat", "netcat") and (
        set(_options(arguments)) & set("ec") or {"--exec", "--sh-exec"} & set(arguments)
    ):
        return DOOR
    if name == "socat" and any(
        re.search(r"exec:|system:|shell:", each, re.I) for each in arguments
    ):
        return DOOR
    if name in ("ssh", "autossh") and [
        each for each in arguments if re.match(r"-[a-zA-Z]*R", each)
    ]:
        return DOOR
    if name in ("docker", "podman", "nerdctl"):
        mounts = " ".join(arguments)
        return (
            DOOR
            if re.search(
                r"(?:-v|--volume|source|src)[ =]?(?:/|~|/etc|/root|/var/run/docker\.sock)[:,]",
                mounts,
            )
            else ""
        )
    return ""


GIT_KEYS = re.compile(
    r"core\.(?:hookspath|pager|editor|sshcommand|fsmonitor|askpass|gitproxy|attributesfile)|alias\.|pager\."
    r"|credential|include|url\.|filter\.|diff\.|merge\.|gpg\.|sequence\.|uploadpack|receive\.|init\.templatedir|http\.(?:proxy|sslverify)"
    r"|protocol\.",
    re.IGNORECASE,
)


def _settings(name: str, arguments: Words, folder: str) -> str:
    """Settings of a program that make it run others, from now on."""
    plain = [each for each in arguments if not each.startswith("-")]
    if name == "git" and "config" in plain[:2]:
        given = plain[plain.index("config") + 1 :]
        given = given[1:] if given[:1] == ["set"] else given
        reading = {"--get", "--list", "-l", "--get-all", "--unset"} & set(arguments)
        if given and GIT_KEYS.match(given[0]) and len(given) > 1 and not reading:
            return DOOR
    if name in ("npm", "pnpm", "yarn", "pip", "pip3") and plain[:2] == ["config", "set"]:
        return (
            DOOR
            if re.search(
                r"script-shell|registry|index-url|proxy|prefix|global|git", " ".join(plain[2:])
            )
            else ""
        )
    if name in ("defaults",) and plain[:1] == ["write"]:
        return DOOR if "loginwindow" in " ".join(plain) or "LoginHook" in plain else ""
    if name == "reg" and plain[:1] in (["add"], ["delete"]):
        return DOOR
    return ""


def _kills(name: str, arguments: Words, folder: str) -> str:
    if name == "crontab" and "-l" not in arguments:
        return DOOR
    if name == "gsettings" and "set" in arguments and "command" in " ".join(arguments):
        return DOOR
    if name == "kill" and set(arguments[-1:]) & {"-1", "1", "0"} and len(arguments) > 1:
        return GONE
    return ""


def _code(name: str, arguments: Words, folder: str) -> str:
    """Code in an argument that removes what must stay."""
    if name not in INTERPRETERS:
        return ""
    if any(map(REMOVES_IN_CODE.search, arguments)):
        return GONE
    return "it runs what it just fetched" if any(map(_runs_fetched_code, arguments)) else ""


def _runs_fetched_code(code: str) -> bool:
    runs = re.search(
        r"\b(?:exec|eval|system|popen|subprocess|compile|spawn|Function|loads)\b", code
    )
    return runs is not None and re.search(r"https?://|ftp://", code) is not None


Rule = Callable[[str, Words, str], str]
RULES: tuple[Rule, ...] = (
    _removes,
    _changes,
    _moves,
    _writes_by_option,
    _finds,
    _rights,
    _remote,
    _settings,
    _kills,
    _code,
)
