"""No path leaves the workspace without consent, and no link that comes later is followed."""

import os
import tempfile
import threading
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.errors import ToolError
from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.path import PART
from andy_cli.guard.workspace import Operation, contain, folder_inside, inside, open_inside, resolve
from andy_cli.toolbox.files.writing import write_whole
from andy_cli.toolbox.runtime_context import GrantedPath
from tests.cases import Row, loop_over, name, rows
from tests.trees import workspace_with

OPERATIONS: tuple[Operation, ...] = get_args(Operation)
ROWS = [
    row
    for row in rows("guard/paths.jsonl", "guard/own_paths.jsonl")
    if not any("junction" in step for step in row["setup"])
]


def answered(row: Row, folder: Path) -> dict[str, object]:
    """What `andy debug path` says of a row, in a real tree."""
    workspace = workspace_with(folder, row["setup"])

    def filled(text: object) -> object:
        if not isinstance(text, str):
            return text
        return text.replace("{W_UPPER}", str(workspace).upper()).replace("{W}", str(workspace))

    path = row["path"]
    given = list(map(filled, path)) if isinstance(path, list) else filled(path)
    return PART.answer({"workspace": str(workspace), "path": given, "op": row["op"]}, ChunkCut())


@loop_over("row", ROWS, ids=name)
def test_each_row_gets_its_verdict(row: Row, tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    found = answered(row, folder)
    expected = row["expect"].replace("literal", "inside").replace("same_file", "inside")
    assert found["verdict"] in expected.split("_or_")
    if found["verdict"] == "inside" and row["resolves"] and "{W}" not in str(row["path"])[1:]:
        assert found["resolves"] == row["resolves"]
    assert (folder / "outside" / "secret.txt").read_text() == "canary"


@loop_over("row", ROWS, ids=name)
def test_what_is_inside_can_be_opened_and_nothing_else_is_touched(row: Row, tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    if answered(row, folder)["verdict"] == "inside" and row["op"] == "write":
        root = (folder / "ws").resolve()
        path = contain(str(row["path"]).replace("{W}", str(root)), root, "write").path
        assert path is not None
        write_whole(GrantedPath(path, root), [b"new"])
        with open_inside(path, root) as file:
            assert file.read() == b"new"
    assert (folder / "outside" / "secret.txt").read_text() == "canary"


def test_a_folder_swapped_for_a_link_is_never_followed(tmp_path: Path) -> None:
    workspace = workspace_with(
        tmp_path, ["mkdir sw", "file sw/secret.txt", "symlink l -> ../outside"]
    )
    path = contain("sw/secret.txt", workspace, "read").path
    assert path is not None
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (workspace / "sw").rename(workspace / "kept")
            (workspace / "l").rename(workspace / "sw")
            (workspace / "sw").rename(workspace / "l")
            (workspace / "kept").rename(workspace / "sw")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        read = {_read(path, workspace) for _ in range(1000)}
    finally:
        done.set()
        swapping.join()
    assert read <= {b"x", b""}


def _read(path: Path, root: Path) -> bytes:
    try:
        with open_inside(path, root) as file:
            return file.read()
    except ToolError:
        return b""


@pytest.mark.parametrize("there", ["link", "fifo", "folder"])
def test_what_is_no_plain_file_is_not_opened(there: str, tmp_path: Path) -> None:
    workspace = workspace_with(
        tmp_path, ["symlink link -> ../outside/secret.txt", "fifo fifo", "mkdir folder"]
    )
    with pytest.raises(ToolError):
        open_inside(workspace / there, workspace)
    assert (tmp_path / "outside" / "secret.txt").read_text() == "canary"


def test_a_missing_folder_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="No such file"), folder_inside(tmp_path / "a/b", tmp_path):
        pass


def test_folders_that_are_missing_are_made_where_that_is_wanted(tmp_path: Path) -> None:
    with folder_inside(tmp_path / "a/b/c.txt", tmp_path, make_missing=True) as folder:
        os.close(os.open("c.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    assert (tmp_path / "a/b/c.txt").is_file()
    (tmp_path / "link").symlink_to("a")
    for path in ("link/x/y.txt", "a/b/c.txt/d.txt"):
        with pytest.raises(ToolError), folder_inside(tmp_path / path, tmp_path, make_missing=True):
            pass
    assert not (tmp_path / "a" / "x").exists()


def test_a_root_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    with (
        pytest.raises(ToolError, match="No such file"),
        folder_inside(tmp_path / "a" / "b", tmp_path / "a"),
    ):
        pass


def test_a_folder_that_is_spelled_otherwise_is_known_by_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "Ws").mkdir()
    (tmp_path / "ws").symlink_to("Ws")
    assert inside(tmp_path / "ws" / "a", [tmp_path / "Ws"])
    assert inside(tmp_path / "ws", [tmp_path / "Ws"])
    assert not inside(tmp_path / "WS" / "a", [tmp_path / "Ws"])


@pytest.mark.parametrize("value", [None, 3, {"path": "a"}, "", "  ", [], ["a.txt"], "a\0b"])
def test_what_is_no_path_is_invalid(value: object, tmp_path: Path) -> None:
    assert contain(value, tmp_path, "read").verdict == "invalid"


def test_a_path_with_a_nul_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="NUL"):
        resolve("a\0b", tmp_path)


PARTS = st.sampled_from(
    ["..", ".", "a", "link", "deep", "loop", "~", "", "*", "\\", "..\\", "x..y", "C:"]
)


@given(path=st.lists(PARTS, max_size=7).map("/".join) | st.text(max_size=30))
def test_no_path_is_inside_that_leads_out(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    base = tmp_path_factory.getbasetemp().resolve() / "fuzzed"
    if not base.exists():
        base.mkdir()
        links = ["symlink link -> ../outside", "symlink loop -> loop", "symlink a/deep -> ../.."]
        workspace_with(base, ["mkdir a", "mkdir deep", *links])
    workspace = base / "ws"
    for op in OPERATIONS:
        found = contain(path, workspace, op)
        real = Path(os.path.realpath(workspace / at_home(path.replace("\0", ""))))
        if found.verdict in ("inside", "ask"):
            assert real.is_relative_to(workspace)


def at_home(path: str) -> str:
    return str(Path.home()) + path[1:] if path.split("/")[0] == "~" else path


def test_debug_path_says_which_operations_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="delete_recursive"):
        PART.answer({"workspace": str(tmp_path), "path": "a", "op": "eat"}, ChunkCut())
