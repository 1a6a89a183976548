"""Find what a call would touch: where a path really lies, in the workspace or not, and protected.

    contain(written, workspace, op)   a verdict on what a model wrote; nothing is ever rewritten
    open_inside(path, root)           open what was judged to be read, following no link
    folder_inside(path, root)         the open folder that holds it, to delete or rename in
    find_peril(path, op, workspace)   why something is never done there, whatever is allowed

A path is judged by where it really leads: links are followed as far as there is something, `..`
climbs from there, and the rest is taken by name. A dot, a percent sign, a dollar or a brace in a
name is part of the name. What Windows would read as a way out is one everywhere: a workspace is
shared, and nobody names a file `C:\\x` by intention. Demands B40, R9 and case 24.

Places that no tool may change and places that may hold secrets are known to the judge of command
lines by name; here they are looked up for paths that are known. What a call would touch, the tool
says, the gate judges and the user sees.
"""

import contextlib
import errno
import os
import posixpath
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Literal, NamedTuple

from andy_cli.errors import ToolError
from andy_cli.foreign_values import replace_surrogates
from andy_cli.guard.archives import (
    MEMBER,
    ArchiveMember,
    has_drive,
    has_escaping_member,
    list_members,
    parse_members,
)
from andy_cli.guard.commands.destructive_commands import find_danger
from andy_cli.guard.commands.lookup import (
    WHOLE_FOLDER,
    WILDCARDS,
    WORKSPACE,
    ShellFolder,
    is_disk,
    is_home_startup,
    is_secret,
    is_system,
)
from andy_cli.messages import Effect

Operation = Literal["read", "write", "list", "delete", "delete_recursive", "extract"]
Verdict = Literal["inside", "outside", "ask", "invalid"]

DELETING = ("delete", "delete_recursive")
CHANGING_OPERATIONS = ("write", *DELETING)
MAX_NAME_LENGTH, MAX_PATH_LENGTH = 255, 4096
"""Bytes; file systems of all kinds give up there."""

MAX_LINKS = 40
"""As many as Linux follows on the way of one path: those of other spellings may form a circle."""

SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")
RESERVED = re.compile(
    r"(?:CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\xb9\xb2\xb3])[. ]*(?::.*)?",
    re.IGNORECASE,
)
"""Devices of Windows: a file of such a name can be neither opened nor removed there."""

WILD = re.compile(r"[*?\[{]")
PROTECTED = frozenset(
    """.git .hg .svn .jj .bzr .andy .vscode .idea .devcontainer .husky .claude .cursor .gemini
    .codex .github .gitlab .circleci .direnv .envrc .mcp.json mcp.json .gitconfig .gitmodules
    .gitattributes .bashrc .bash_profile .bash_login .bash_logout .zshrc .zshenv .zprofile
    .zlogin .profile .login
    .cshrc .tcshrc .kshrc .inputrc .vimrc .exrc .nvimrc .emacs .npmrc .yarnrc .yarnrc.yml .pypirc
    .netrc .ssh .gnupg .aws .pre-commit-config.yaml git~1 hg~1 sitecustomize.py usercustomize.py
    """.split()
)
"""Names that hold programs or settings which something runs by itself: writing there is asked."""


class PathJudgement(NamedTuple):
    """A verdict, with the file itself where it is inside: absolute, without links."""

    verdict: Verdict
    path: Path | None = None
    reason: str = ""


def contain(
    written: object, workspace: Path, operation: Operation, resolved: Path | None = None
) -> PathJudgement:
    """Judge what a model wrote as a path; nothing is touched, and nothing raised.

    `resolved` is where it leads, if that was looked up before: it is not looked up again, as a
    link may have changed since. `outside` needs consent, `ask` is inside and needs consent for
    another reason, `invalid` cannot be used at all. In a list no member slips through, but a list
    is no path.
    """
    if isinstance(written, list | tuple):
        verdicts = {contain(member, workspace, operation).verdict for member in written[:1000]}
        return PathJudgement(
            "outside" if "outside" in verdicts else "invalid", None, "one path, please"
        )
    if not isinstance(written, str) or not written.strip():
        return PathJudgement("invalid", None, "a path is missing")
    try:
        root_folder = workspace.resolve()
        if operation == "extract":
            return _contain_archive(written, root_folder)
        return _contain_real_path(
            written, resolved or resolve(written, root_folder, operation), root_folder, operation
        )
    except (ToolError, OSError, ValueError) as error:
        return PathJudgement("invalid", None, _explain(error))


def _explain(error: Exception) -> str:
    """Say in words what is wrong with a path, without a full stop."""
    return str(getattr(error, "strerror", None) or error).rstrip(".")


def resolve(written: str, workspace: Path, operation: Operation = "read") -> Path:
    """The real path, links followed; relative ones start in the workspace.

    A link is deleted itself, not what it leads to: then only the folders above it are followed.
    A name that is not there means the one that is the same text in other code points, or is shown
    so. So an entry cannot be moved to another such spelling of its own name. Raises ToolError for
    what no file system can name.
    """
    if "\0" in written:
        raise ToolError("A path cannot hold a NUL character.")
    try:
        entry = workspace / expand_home(written)
        if operation in DELETING and entry.name not in ("", ".."):
            return _find_spelled(_resolve_spelled(entry.parent) / entry.name)
        return _resolve_spelled(entry)
    except RuntimeError as error:
        raise ToolError(f"{written!r} is not a usable path: its links form a circle.") from error
    except (OSError, ValueError) as error:
        raise ToolError(f"{written!r} is not a usable path: {error}.") from error


def compose_name(name: str) -> str:
    """Spell a name in one way, of the several that Unicode has: macOS writes `e` and an accent,
    keyboards and models write one letter. A byte that is no UTF-8 is what it is shown as."""
    return unicodedata.normalize("NFC", replace_surrogates(name))


def _resolve_spelled(entry: Path) -> Path:
    """Follow links, also where a name on the way is spelled in other code points."""
    path = _follow_links(entry)
    for _ in range(MAX_LINKS):
        spelled = _find_spelled(path)
        if spelled == path:
            return path
        path = _follow_links(spelled)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _follow_links(entry: Path) -> Path:
    """Follow all links. Raises RuntimeError where they form a circle, as Python 3.13 no longer
    does, which leaves them as they are.
    """
    path = entry.resolve()
    if _leads_over_link(path):
        raise RuntimeError(os.strerror(errno.ELOOP))
    return path


def _leads_over_link(path: Path) -> bool:
    """Tell whether a path, or what is there of it, has a link on its way."""
    for above in chain(reversed(path.parents), [path]):
        try:
            mode = os.lstat(above).st_mode
        except OSError:
            return False  # below what is not there is nothing
        if stat.S_ISLNK(mode):
            return True
    return False


def _find_spelled(path: Path) -> Path:
    """Find the one entry that has the same text for the first name that is not there.

    The path as it is where there is none or several: nothing is guessed.
    """
    if str(path).isascii() or os.path.lexists(path):
        return path
    missing = next(above for above in (path, *path.parents) if os.path.lexists(above.parent))
    if missing.name.isascii():
        return path
    try:
        spellings = _list_spellings(missing.parent, missing.parent.stat().st_mtime_ns)
    except OSError:
        return path
    same_names = spellings.get(compose_name(missing.name), ())
    if len(same_names) != 1:
        return path
    return missing.with_name(same_names[0]) / path.relative_to(missing)


@lru_cache(maxsize=4)
def _list_spellings(folder: Path, changed: int) -> Mapping[str, Sequence[str]]:
    """List the names in a folder by how keyboards write them.

    Kept until the folder is `changed`: a thousand new files of one call are looked up in it.
    """
    spellings: dict[str, list[str]] = {}
    for entry in folder.iterdir():
        if not entry.name.isascii():
            spellings.setdefault(compose_name(entry.name), []).append(entry.name)
    return spellings


def expand_home(written: str) -> Path:
    """Two slashes mean one, `~` the home; `~nobody` is a name."""
    path = Path("/" + written.lstrip("/") if written.startswith("/") else written)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def inside(path: Path, roots: Iterable[Path]) -> bool:
    """Tell whether a resolved path is one of the resolved roots or below it."""
    return any(
        path.is_relative_to(root_folder) or _below(path, root_folder) for root_folder in roots
    )


def list_names_below(path: Path, folder: Path) -> tuple[str, ...]:
    """List the names that lead from a folder to a path, as `Path.relative_to` does, which takes ten
    times as long. Raises ValueError for a path elsewhere."""
    depth = len(folder.parts)
    if depth and path.parts[:depth] == folder.parts:
        return path.parts[depth:]
    return path.relative_to(folder).parts


def _below(path: Path, root_folder: Path) -> bool:
    """Tell whether a path is below a folder by what the folders are, not by how they are spelled:
    disks may fold case, and code points."""
    deeper = len(path.parts) - len(root_folder.parts)
    if deeper < 0 or not _fold(path).startswith(_fold(root_folder)):
        return False
    above = [path, *path.parents][deeper]
    try:
        return above.samefile(root_folder)
    except OSError:
        return False


def _fold(path: Path) -> str:
    return compose_name(str(path)).casefold()


def _contain_real_path(
    written: str, path: Path, root_folder: Path, operation: Operation
) -> PathJudgement:
    """Judge one text that leads to `path`. Raises ToolError or OSError for what cannot be used."""
    # A link that is deleted is asked for like what it leads to.
    reached = resolve(str(path), root_folder) if operation in DELETING else path
    if _leaves(written, reached, root_folder, operation):
        return PathJudgement("outside", None, "it lies outside the workspace")
    if SCHEME.match(written):
        raise ToolError(f"{written!r} is an address, no path.")
    if operation in DELETING and path == root_folder:
        raise ToolError("The workspace itself is not deleted.")
    names = _list_names(path, root_folder)
    state = _state(path)
    if fault := _find_fault(written, names, state, operation):
        return PathJudgement("invalid", path, fault)
    doubt = _find_change_reason(names, state, operation)
    return PathJudgement("ask", path, doubt) if doubt else PathJudgement("inside", path)


def _list_names(path: Path, root_folder: Path) -> tuple[str, ...]:
    """List the names of a path below the root. Raises ToolError for one that is too long."""
    names = path.relative_to(root_folder).parts if path.is_relative_to(root_folder) else path.parts
    if any(len(os.fsencode(name)) > MAX_NAME_LENGTH for name in names):
        raise ToolError("The name is too long.")
    return names


def _leaves(written: str, path: Path, root_folder: Path, operation: Operation) -> bool:
    """Tell whether it leads outside by any reading: ours, that of Windows, that of a pattern."""
    if not inside(path, [root_folder]) or has_drive(written) or written.startswith("\\"):
        return True
    if "\\" in written:
        read_by_windows = resolve(written.replace("\\", "/"), root_folder)
        if not inside(read_by_windows, [root_folder]):
            return True
    wildcard = WILD.search(written) if operation == "list" else None
    if wildcard is None:
        return False
    # `*/../..` climbs from whatever folder the pattern takes.
    return ".." in re.split(r"[/\\{},]", written[wildcard.start() :])


def _state(path: Path) -> os.stat_result | None:
    """Look up what is there, or None. Raises OSError for loops and names that are too long."""
    if len(os.fsencode(path)) > MAX_PATH_LENGTH:
        raise ToolError("The path is too long.")
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _find_fault(
    written: str, names: Iterable[str], state: os.stat_result | None, operation: Operation
) -> str:
    """Tell why an operation cannot be done with what is there, or nothing."""
    file = operation in ("read", "write")
    if file and written.endswith(("/", "/.")):
        return "it is a folder, not a file"
    if operation == "write" and state is None and any(map(_unportable, names)):
        return "no file is made under such a name"
    if state is None or not (file or operation == "list"):
        return ""
    return _find_unusable(state, operation)


def _find_unusable(state: os.stat_result, operation: Operation) -> str:
    """Tell why what is there cannot be read, written or listed, or nothing."""
    if stat.S_ISDIR(state.st_mode):
        return "" if operation == "list" else "it is a folder, not a file"
    if not stat.S_ISREG(state.st_mode):
        return "it is neither a file nor a folder"
    # Root may read everything, and yet the owner said no.
    wanted_bits = 0o222 if operation == "write" else 0o444
    return "" if state.st_mode & wanted_bits else "there is no permission"


def _unportable(name: str) -> bool:
    """A device of Windows, or a name with control characters in it."""
    controls = any(unicodedata.category(character) == "Cc" for character in name)
    return controls or RESERVED.fullmatch(name) is not None


def _find_change_reason(
    names: Iterable[str], state: os.stat_result | None, operation: Operation
) -> str:
    """Tell why a change inside is asked, or nothing."""
    if operation not in CHANGING_OPERATIONS:
        return ""
    if operation == "write" and state is not None and state.st_nlink > 1:
        return "the file has other names, perhaps outside"
    if any(_plain(name) in PROTECTED for name in names):
        return "something may run by itself from there"
    if any(unicodedata.category(character) == "Cf" for character in "".join(names)):
        return "the name holds characters that are not seen"
    return ""


def _plain(name: str) -> str:
    """A name as disks that fold case, blanks and invisible characters know it."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    # Windows takes what stands behind a colon for a stream of the file.
    folded = folded.partition(":")[0].rstrip(" .")
    return "".join(character for character in folded if unicodedata.category(character) != "Cf")


def _contain_archive(written: str, root_folder: Path) -> PathJudgement:
    """Judge an archive by all its members, or `archive.zip!member` by that one."""
    member_match = MEMBER.fullmatch(written)
    name = member_match["archive"] if member_match else written
    archive = _contain_real_path(name, resolve(name, root_folder), root_folder, "read")
    if archive.path is None or archive.verdict != "inside":
        return archive
    members = parse_members(member_match["member"]) if member_match else list_members(archive.path)
    if has_escaping_member(members):
        return PathJudgement("outside", None, "it would unpack outside the workspace")
    folder = PathJudgement("inside", archive.path.parent)
    landings = _contain_members(members, archive.path.parent, root_folder)
    landings.sort(key=lambda landing: WORST_FIRST.index(landing.verdict))
    worst_landing = landings[0] if landings else folder
    is_inside = worst_landing.verdict == "inside"
    # Where all of it may be unpacked, the folder is what is granted.
    return folder if is_inside and member_match is None else worst_landing


WORST_FIRST: tuple[Verdict, ...] = ("outside", "invalid", "ask", "inside")


def _contain_members(
    members: Iterable[ArchiveMember], folder: Path, root_folder: Path
) -> list[PathJudgement]:
    """Judge every file of an archive by where it lands; folders and links make none."""
    landings = []
    for member in members:
        is_file = member.target is None and not member.name.endswith("/")
        if is_file and member.name:
            file = str(folder / member.name)
            path = resolve(file, root_folder)
            landings.append(_contain_real_path(file, path, root_folder, "write"))
    return landings


FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY)
"""A folder on the way need not be readable: `/home` often is not."""


@contextlib.contextmanager
def folder_inside(path: Path, root_folder: Path, make_missing: bool = False) -> Iterator[int]:
    """The open folder that holds a judged path, for `dir_fd` alone: no link is followed on the way.

    With `make_missing` folders that are missing are made. Raises ToolError where a link or
    nothing stands where a folder was.
    """
    try:
        folder = os.open(root_folder, FOLDER_FLAGS | os.O_DIRECTORY)
    except OSError as error:
        raise ToolError(f"{root_folder} cannot be used: {error.strerror}.") from error
    try:
        for name in list_names_below(path, root_folder)[:-1]:
            above = folder
            if make_missing:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
            folder = os.open(name, FOLDER_FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
        yield folder
    except OSError as error:
        raise ToolError(f"{path} cannot be used: {error.strerror}.") from error
    finally:
        os.close(folder)


def open_inside(path: Path, root_folder: Path) -> BinaryIO:
    """Open the file of a verdict to read its bytes; no link is followed any more.

    Raises ToolError for a link, a folder, a pipe, or whatever has changed since it was judged.
    """
    with folder_inside(path, root_folder) as folder:
        # Without waiting: a pipe may stand here that nobody writes to.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(path.name, flags, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise ToolError(f"{path} is no plain file.")
            return os.fdopen(file, "rb")
        except BaseException:
            os.close(file)
            raise


WORD = re.compile(r"\"([^\"]+)\"|'([^']+)'|`([^`]+)`|(\S+)")


def named_places(text: str, workspace: Path) -> list[Path]:
    """The files and folders a text names, as in `look in ~/mp3, please`; they need not exist."""
    named_paths = []
    for match in WORD.finditer(text):
        word = next(group for group in match.groups() if group)
        for written in {word, word.rstrip(".,;:!?)")}:
            if not ("/" in written or "~" in written or "\\" in written):
                continue
            with contextlib.suppress(ToolError):
                named_paths.append(resolve(written, workspace))
    return named_paths


def too_wide(path: Path) -> bool:
    """The whole disk, the whole home: who names `~` does not mean everything in it."""
    return path in (Path("/"), Path.home().resolve())


def find_peril(path: Path, operation: Operation, workspace: Path) -> str:
    """Tell why an operation on a real path is never done, or nothing.

    Outside the workspace what holds for commands holds here. Inside, what runs by itself (a hook,
    a task of an editor) is asked and not refused; start-up files of the user, should the workspace
    be the home, are refused there too.
    """
    if operation in ("read", "list"):
        return ""
    deleting = operation.startswith("delete")
    if deleting and inside(workspace, (path,)):
        return "it destroys the workspace"
    homes = _list_homes()
    if deleting and any(inside(home_folder, (path,)) for home_folder in homes):
        return "it destroys the home"
    if not inside(path, (workspace,)):
        command_path = _name_place(path, workspace, homes)
        if deleting:
            return find_danger(["rm", "-r", command_path], (), ShellFolder("/"))
        return find_danger([], [command_path], ShellFolder("/"))
    return "" if deleting else _find_inner_peril(path, homes)


def _find_inner_peril(path: Path, homes: Sequence[Path]) -> str:
    """Tell why a file in the workspace is never changed, or nothing."""
    if any(map(is_home_startup, _list_below(path, homes))):
        return "it changes what your programs obey when they start"
    return "it changes the system" if is_system(str(path)) or is_disk(str(path)) else ""


def is_secret_file(path: Path, workspace: Path) -> bool:
    """Tell whether a file is one of those that hold keys and passwords, by its name alone."""
    name = path.relative_to(workspace) if inside(path, (workspace,)) else path
    return is_secret(f"/{name}" if not name.is_absolute() else str(name))


def locate_place(place: str, follows: bool, workspace: Path) -> tuple[str, ...]:
    """Name what a place of a command line really is, as the judge of those names it.

    By how it is spelled and by the links on the way to it; with `follows`, as it is written to,
    also by the link that it may be itself.
    """
    homes = _list_homes()
    try:
        spelled_path = _spell_out(place, workspace)
        paths = [Path(os.path.normpath(spelled_path))]
        operations: tuple[Operation, ...] = ("delete", "write") if follows else ("delete",)
        paths += [resolve(str(spelled_path), workspace, operation) for operation in operations]
        return tuple(
            _name_pattern(path, workspace, homes)
            for path in dict.fromkeys(paths)
            if not _is_harmless(path, homes)
        )
    except (ToolError, OSError, ValueError):
        return ()  # no file system can name it


def _is_harmless(path: Path, homes: Sequence[Path]) -> bool:
    """Tell whether nothing can be at a path, or a file that lies loose in the home and is no more
    than itself."""
    if path.parent not in homes:
        return path.parent.is_file()
    return path.is_file() and not is_home_startup(path.name)


def _spell_out(place: str, workspace: Path) -> Path:
    for name, folder in ((WORKSPACE, workspace), ("/~", Path.home())):
        if f"{place}/".startswith(f"{name}/"):
            return folder / place[len(name) :].lstrip("/")
    return Path(place)


def _name_pattern(path: Path, workspace: Path, homes: Sequence[Path]) -> str:
    """Name a path that may be a pattern: by what it takes, the home or the workspace before all."""
    if path.name in WHOLE_FOLDER:
        return f"{_name_place(path.parent, workspace, homes)}/{path.name}"
    if WILDCARDS.isdisjoint(str(path)):
        return _name_place(path, workspace, homes)
    taken_folders = [
        folder
        for vital_folder in (*homes, workspace)
        for folder in (vital_folder, *vital_folder.parents)
        if folder.match(str(path))
    ]
    return _name_place((*taken_folders, path)[0], workspace, homes)


def _name_place(path: Path, workspace: Path, homes: Sequence[Path]) -> str:
    """Name a path as command lines are judged: `/~` is the home, or what holds it."""
    if any(inside(home_folder, (path,)) for home_folder in homes):
        return "/~"
    is_inside = inside(path, (workspace,))
    if not is_inside and inside(workspace, (path,)):
        return posixpath.dirname(WORKSPACE)
    for below_home in _list_below(path, homes):
        if not is_inside or is_home_startup(below_home):
            return f"/~/{below_home}"
    return posixpath.join(WORKSPACE, *_list_below(path, [workspace])) if is_inside else str(path)


def _list_below(path: Path, folders: Sequence[Path]) -> list[str]:
    """List how a path is spelled from those of the folders that it lies in."""
    return [
        "/".join(path.parts[len(folder.parts) :]) for folder in folders if inside(path, (folder,))
    ]


def _list_homes() -> list[Path]:
    """List the user's home as it is set and as it really is; none where it is the whole disk."""
    home_folder = Path.home()
    homes = dict.fromkeys((home_folder, home_folder.resolve()))
    return [spelled_home for spelled_home in homes if spelled_home.name]


Grants = Mapping[str, Path]
"""The places that the paths of a call led to when they were judged, by how they are written."""
NO_GRANTS: Grants = MappingProxyType({})


class ResourceAccess(NamedTuple):
    places: tuple[str, ...] = ()
    """The paths, as they were written."""
    operation: Operation = "read"
    """The operation on them."""
    command: str = ""
    """The command line that would be given to the shell."""
    address: str = ""
    """The URL that would be asked for."""
    method: str = "GET"
    trusted: bool = False
    """The address is one of the user's own settings."""
    shown: str = ""
    """The text beside the action that is seen before a yes: the whole mail, what goes where."""
    summary: str = ""
    """The size of the change, in a few words after the action: `new file, 3 lines`."""
    diff: str = ""
    """The change to a file, as in `Display`."""
    before: str = ""
    """A hash of the file that the change was worked out from; a long `diff` shows a part alone."""
    effect: Effect | None = None
    """The effect of this very call, where it is another than the tool's."""
    contained: bool = False
    """It can run where the kernel lets it read the workspace without its secrets, and no more."""
    operations: tuple[Operation, ...] = ()
    """The operation on each place, where it is not the same for all."""

    @property
    def uses(self) -> tuple[tuple[str, Operation], ...]:
        """Each path with what would be done with it."""
        operations = self.operations or (self.operation,) * len(self.places)
        return tuple(zip(self.places, operations, strict=True))

    def grants(self, resolved_paths: Sequence[Path]) -> Grants:
        """Find where each path leads, by how a tool is given it: `./a//b` as `a/b`."""
        written = (str(Path(path)) for path in self.places)
        return dict(zip(written, resolved_paths, strict=True))


NO_ACCESS = ResourceAccess()
