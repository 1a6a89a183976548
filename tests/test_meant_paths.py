"""A path that a model meant is found, and nothing else is taken for it."""

from pathlib import Path

import pytest

from andy_cli.guard.workspace import resolve
from andy_cli.toolbox.runtime_context import find_meant_path, find_meant_paths


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "Reports").mkdir(parents=True)
    for name in (
        "notes.md",
        " odd.txt ",
        "`tick`",
        "a b.md",
        "Reports/May.csv",
        "Same",
        "same",
        "e\u0301.txt",
    ):
        (root / name).write_text("x")
    (tmp_path / "outside.md").write_text("x")
    return root


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("notes.md", "notes.md"),
        (" notes.md ", "notes.md"),
        ("`notes.md`", "notes.md"),
        ('"notes.md"', "notes.md"),
        ("'a b.md'", "a b.md"),
        ("NOTES.md", "notes.md"),
        ("@notes.md", "notes.md"),
        ("@types/node.d.ts", "@types/node.d.ts"),
        ("reports/may.CSV", "Reports/May.csv"),
        ("\u00e9.txt", "\u00e9.txt"),  # is there in other code points
        ("`\u00c9.TXT`", "e\u0301.txt"),
        (" odd.txt ", " odd.txt "),  # is there as it was written
        ("`tick`", "`tick`"),
        ("SAME", "SAME"),  # two files fit
        ("nothing.md", "nothing.md"),
        ("new/folder/file.txt", "new/folder/file.txt"),
        ("../OUTSIDE.md", "../OUTSIDE.md"),  # nothing is looked for outside
        ("", ""),
        ("https://example.org/notes.md", "https://example.org/notes.md"),
    ],
)
def test_a_path_is_found_as_it_was_meant(workspace: Path, written: str, meant: str) -> None:
    assert find_meant_path(written, workspace) == meant


def test_an_address_of_a_file_is_its_path(workspace: Path) -> None:
    address = (workspace / "a b.md").as_uri()
    assert "%20" in address
    assert find_meant_path(address, workspace) == str(workspace / "a b.md")
    assert find_meant_path("file:///etc/passwd", workspace) == "/etc/passwd"


def test_only_what_the_schema_calls_a_path_is_looked_at(workspace: Path) -> None:
    schema = {"properties": {"path": {"type": "string", "format": "path"}, "text": {}}}
    given = {"path": "`notes.md`", "text": "`notes.md`"}
    found = find_meant_paths(given, schema, workspace)
    assert found.arguments == {"path": "notes.md", "text": "`notes.md`"}
    assert found.changes == ("path: `notes.md` -> notes.md",)


def test_a_name_that_is_not_utf_8_is_found_as_it_is_shown(workspace: Path) -> None:
    (workspace / "m\udcfcll").mkdir()
    (workspace / "m\udcfcll" / "caf\udce9.txt").write_text("x")
    assert resolve("m\ufffdll/caf\ufffd.txt", workspace).read_text() == "x"
    (workspace / "m\udcfcll" / "caf\udce8.txt").write_text("another")
    assert not resolve("m\ufffdll/caf\ufffd.txt", workspace).exists()
