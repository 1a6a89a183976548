"""Archives: what is in one and where it would land, before anything is unpacked.

Nothing is written here. A member that climbs, is absolute, or goes through a link that leaves the
folder escapes; devices, bombs and archives nested in archives are not unpacked at all.
"""

import io
import posixpath
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from andy_cli.errors import ToolError

MEMBER = re.compile(
    r"(?P<archive>.+?\.(?:zip|jar|war|ear|whl|apk|epub|docx|xlsx|pptx|cbz|tar(?:\.\w{1,5})?|tgz|tbz2?"
    r"|txz|tzst|7z|rar|cab|iso|deb|rpm|ar|cpio))!(?P<member>.+)",
    re.IGNORECASE | re.DOTALL,
)
"""`archive.zip!name/of/member`, or a list of members: `link -> target; link/file`."""

NESTED = re.compile(r".*\.(?:zip|tar(?:\.\w{1,5})?|tgz|tbz2?|txz)", re.IGNORECASE | re.DOTALL)
MAX_MEMBERS, MAX_BYTES, MAX_PACKED = 100_000, 4 << 30, 200
"""Members, unpacked bytes, and how many bytes may come of one once there are many."""

MAX_DEPTH, MAX_INNER_SIZE = 2, 64 << 20
"""Archives in one another, and the bytes of an inner one that is looked into."""


class ArchiveMember(NamedTuple):
    name: str
    target: str | None = None
    """The place it leads to, for a link."""


def parse_members(text: str) -> list[ArchiveMember]:
    """Members as text names them."""
    if " -> " not in text:
        return [ArchiveMember(text)]
    member_parts = (member_text.partition(" -> ") for member_text in text.split("; "))
    return [ArchiveMember(name, target if arrow else None) for name, arrow, target in member_parts]


def has_escaping_member(members: Iterable[ArchiveMember]) -> bool:
    """Tell whether any member, unpacked in order, would land outside the folder."""
    links: dict[str, str] = {}
    for member in members:
        landing = _find_landing(member.name, links)
        if landing is None:
            return True
        if member.target is not None:
            link_target = _find_landing(
                posixpath.join(posixpath.dirname(landing), member.target), links
            )
            if link_target is None or _is_absolute(member.target):
                return True
            links[landing] = link_target
    return False


def _find_landing(name: str, links: dict[str, str]) -> str | None:
    """The place inside the folder, links followed; None for one outside.

    A name that climbs out as it is written does so too: not every program follows the links.
    """
    slashed = name.replace("\\", "/")
    if _is_absolute(name) or posixpath.normpath(slashed).split("/")[0] == "..":
        return None
    landing: list[str] = []
    for component in slashed.split("/"):
        if component == "..":
            if not landing:
                return None
            landing.pop()
        elif component not in ("", "."):
            landing.append(component)
            landing = _follow_link(landing, links)
    return "/".join(landing)


def _follow_link(path_components: list[str], links: dict[str, str]) -> list[str]:
    """Give the place a link leads to, or the very place that is none."""
    target = links.get("/".join(path_components))
    if target is None:
        return path_components
    return [component for component in target.split("/") if component]


def has_drive(name: str) -> bool:
    """Tell whether a name begins with a drive of Windows: `C:`."""
    return name[1:2] == ":" and name[0].isascii() and name[0].isalpha()


def _is_absolute(name: str) -> bool:
    return name[:1] in ("/", "\\", "~") or has_drive(name) or "\0" in name


def list_members(path: Path) -> list[ArchiveMember]:
    """List an archive's members. Raises ToolError for one damaged, a bomb, or full of others."""
    with path.open("rb") as file:
        return list(_read_members(file, path.stat().st_size, MAX_DEPTH))


def _read_members(file: BinaryIO, size: int, deepest: int) -> Iterator[ArchiveMember]:
    if not deepest:
        raise ToolError("Archives nested in archives are not unpacked.")
    # Not at module level: most sessions unpack nothing.
    import tarfile
    import zipfile

    # By how it begins: what ends in a zip file may be something else to others.
    read = _in_zip if file.read(2) == b"PK" else _in_tar
    file.seek(0)
    total = 0
    try:
        for count, (member, unpacked, inner) in enumerate(read(file)):
            total += unpacked
            if count >= MAX_MEMBERS or total > MAX_BYTES or total > MAX_PACKED * (size + 100_000):
                raise ToolError("The archive would unpack to far more than it is.")
            yield member
            if inner is not None:
                list(_read_members(io.BytesIO(inner), len(inner), deepest - 1))
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise ToolError(f"The archive cannot be read: {error}") from error


Found = Iterator[tuple[ArchiveMember, int, bytes | None]]
"""A member, its unpacked bytes, and its content if it is an archive itself."""


def _in_zip(file: BinaryIO) -> Found:
    from zipfile import ZipFile

    with ZipFile(file) as archive:
        for member in archive.infolist():
            small = member.file_size <= MAX_INNER_SIZE
            if stat.S_ISLNK(member.external_attr >> 16) and small:
                target = archive.read(member).decode("utf-8", "replace")
                yield ArchiveMember(member.orig_filename, target), member.file_size, None
                continue
            inner = archive.read(member) if small and NESTED.fullmatch(member.filename) else None
            yield ArchiveMember(member.orig_filename), member.file_size, inner


def _in_tar(file: BinaryIO) -> Found:
    import tarfile

    with tarfile.open(fileobj=file) as archive:
        for member in archive:
            if member.issym():
                yield ArchiveMember(member.name, member.linkname), 0, None
            elif member.islnk():
                # A hard link counts from the top of the archive.
                way_to_top = "../" * posixpath.normpath(member.name).count("/")
                yield ArchiveMember(member.name, way_to_top + member.linkname), 0, None
            elif member.isfile():
                content = archive.extractfile(member) if NESTED.fullmatch(member.name) else None
                inner = content.read(MAX_INNER_SIZE) if content else None
                yield ArchiveMember(member.name), member.size, inner
            elif member.isdir():
                yield ArchiveMember(member.name), 0, None
            else:
                raise ToolError(f"{member.name!r} in the archive is a device.")
