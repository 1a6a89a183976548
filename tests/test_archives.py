"""What an archive would do is known before anything is unpacked."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.errors import ToolError
from andy_cli.guard.archives import ArchiveMember, has_escaping_member, list_members, parse_members


def tar_of(path: Path, *entries: tuple[str, bytes, str]) -> Path:
    """A tar file with entries of a name, a type and a target."""
    with tarfile.open(path, "w") as archive:
        for name, kind, target in entries:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info, io.BytesIO())
    return path


def test_the_members_of_a_tar_are_told(tmp_path: Path) -> None:
    path = tar_of(
        tmp_path / "a.tar",
        ("d", tarfile.DIRTYPE, ""),
        ("d/f", tarfile.REGTYPE, ""),
        ("d/s", tarfile.SYMTYPE, "f"),
        ("d/h", tarfile.LNKTYPE, "d/f"),
    )
    found = list_members(path)
    assert found == [
        ArchiveMember("d"),
        ArchiveMember("d/f"),
        ArchiveMember("d/s", "f"),
        ArchiveMember("d/h", "../d/f"),
    ]
    assert not has_escaping_member(found)


def test_a_hard_link_out_of_an_archive_escapes(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "a.tar", ("h", tarfile.LNKTYPE, "../secret.txt"))
    assert has_escaping_member(list_members(path))


def test_a_device_in_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="device"):
        list_members(tar_of(tmp_path / "a.tar", ("null", tarfile.CHRTYPE, "")))


def test_a_link_in_a_zip_file_is_one(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("l")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "../outside")
        archive.writestr("l/x", "x")
    found = list_members(tmp_path / "a.zip")
    assert found == [ArchiveMember("l", "../outside"), ArchiveMember("l/x")]
    assert has_escaping_member(found)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(64 << 20))
    with pytest.raises(ToolError, match="far more"):
        list_members(tmp_path / "a.zip")


def test_an_archive_in_a_tar_is_looked_into_once(tmp_path: Path) -> None:
    packed = b"x"
    for name, fits in (("a.zip", True), ("b.zip", True), ("c.zip", False)):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as archive:
            archive.writestr("x.zip" if name > "a.zip" else "x", packed)
        packed = inner.getvalue()
        info = tarfile.TarInfo(name)
        info.size = len(packed)
        with tarfile.open(tmp_path / "o.tar", "w") as outer:
            outer.addfile(info, io.BytesIO(packed))
        if fits and name == "a.zip":
            assert list_members(tmp_path / "o.tar") == [ArchiveMember(name)]
    with pytest.raises(ToolError, match="nested"):
        list_members(tmp_path / "o.tar")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"no archive"])
def test_what_is_no_archive_is_said_in_words(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(ToolError, match="cannot be read"):
        list_members(tmp_path / "a.zip")


NAMES = st.lists(st.sampled_from(["..", ".", "a", "b", "l", ""]), max_size=5).map("/".join)


@given(NAMES, NAMES)
def test_nothing_lands_outside_by_a_link(target: str, name: str) -> None:
    found = parse_members(f"l -> {target}; {name}")
    depth = lowest = 0
    for part in name.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        lowest = min(lowest, depth)
    assert has_escaping_member(found) or lowest == 0


@given(st.text())
def test_no_name_raises(name: str) -> None:
    assert has_escaping_member(parse_members(name)) in (True, False)
