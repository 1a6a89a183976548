"""Files moved, copied, trashed and taken back: in real folders, on real file systems."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andy_cli.actions import fill_action
from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.errors import ToolError
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest, Gate, Mode
from andy_cli.guard.rules import parse_rules
from andy_cli.messages import Arguments, ToolCall, ToolResult
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.files.history import journal, kept_batches, recorded_changes, trash, undoing
from andy_cli.toolbox.files.moving import batches, transfers
from andy_cli.toolbox.runtime_context import GrantedPath
from tests.scripted_tools import read_question
from tests.test_music import an_ordinary_user
from tests.tools import claimed, ran, shipped, work_in
from tests.trees import workspace_with

TOOLS = shipped("files")
MEMORY_DISK = Path("/dev/shm")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
LONG_NAME = "x" * 251 + ".txt"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace without a desktop, with a canary beside it."""
    for variable in trash.DESKTOPS:
        monkeypatch.delenv(variable, raising=False)
    folder = workspace_with(tmp_path, [])
    work_in(folder)
    journal.forget_all()
    yield folder.resolve()
    runtime_context.leave_context()
    assert (tmp_path / "outside" / "secret.txt").read_text() == "canary"


@pytest.fixture
def other_disk() -> Iterator[Path]:
    if (
        not MEMORY_DISK.is_dir()
        or MEMORY_DISK.stat().st_dev == Path(tempfile.gettempdir()).stat().st_dev
    ):
        pytest.skip("there is one file system alone")
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def small_disk(workspace: Path) -> Iterator[Path]:
    """A disk in the workspace that is soon full."""
    folder = workspace / "small"
    folder.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def files(folder: Path) -> dict[str, str]:
    """Each file below with what it holds; what is in a trash is left out."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".andy-trash" not in path.parts
    }


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def make(folder: Path, *names: str) -> None:
    """Files that hold their own name."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def decided(
    mode: Mode, name: str, arguments: Arguments, answer: bool = True
) -> tuple[ToolResult | str, list[ApprovalRequest]]:
    """A call as a turn makes it: the result or why not, and what was asked."""
    asked: list[ApprovalRequest] = []

    async def ask(approval_request: ApprovalRequest) -> ApprovalAnswer:
        asked.append(approval_request)
        return ApprovalAnswer(answer)

    async def call() -> ToolResult | str:
        gate = Gate(runtime_context.current_context().workspace, mode=mode, ask=ask)
        call = ToolCall("call00001", name, arguments)
        tool = TOOLS.get(name)
        assert tool is not None
        access = TOOLS.find_access(call)
        approval_request = ApprovalRequest(
            name, tool.effect, fill_action(tool.action, arguments), access
        )
        verdict = await gate.decide(approval_request)
        return await TOOLS.call(call, verdict.granted) if verdict.allowed else verdict.reason

    return asyncio.run(call()), asked


def done(name: str, **arguments: object) -> str:
    """What a call tells that is let through unasked, in mode `edits`."""
    result, asked = decided("edits", name, arguments)
    assert not asked, asked[0].why
    assert isinstance(result, ToolResult), result
    assert result.ok, result.content
    assert not result.partial
    return result.content


def refused(name: str, **arguments: object) -> str:
    """What the model is told of a call that cannot be, before anybody is asked."""
    with pytest.raises(ToolError) as error:
        claimed(TOOLS, name, **arguments)
    return error.value.content


def test_many_files_move_with_one_preview_and_one_yes(workspace: Path) -> None:
    make(workspace, "a.jpg", "b.jpg", "c.txt")
    result, asked = decided("ask", "move", {"paths": ["*.jpg"], "destination": "photos"})
    assert isinstance(result, ToolResult)
    assert result.content == "moved 2 files to photos: a.jpg, b.jpg."
    assert read_question(asked[0]) == [
        "andy wants to move *.jpg to photos",
        "  2 files:",
        "  photos (a new folder)",
        "  a.jpg -> photos/a.jpg",
        "  b.jpg -> photos/b.jpg",
        "  You are asked because it changes a file.",
    ]
    assert files(workspace) == {"c.txt": "c.txt", "photos/a.jpg": "a.jpg", "photos/b.jpg": "b.jpg"}


def test_a_long_preview_is_cut_and_counts_what_is_left(workspace: Path) -> None:
    make(workspace, *(f"{number:03}.jpg" for number in range(50)))
    shown = claimed(TOOLS, "move", paths=["*.jpg"], destination="photos").shown.split("\n")
    assert shown[0] == "50 files:"
    assert shown[-1] == "... and 38 more"
    assert len(shown) == 15


def test_a_preview_begins_with_what_may_hold_secrets(workspace: Path) -> None:
    make(workspace, *(f"{number:02}.txt" for number in range(20)), "box/key/id_rsa", "x/id_rsa")
    shown = claimed(TOOLS, "move", paths=["*", "x/id_rsa"], destination="new").shown.split("\n")
    assert shown[2:5] == [
        "box (2 entries in it) (may hold secrets) -> new/box",
        "x (1 entry in it) (may hold secrets) -> new/x",
        "00.txt -> new/00.txt",
    ]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("move", {"paths": ["a.txt"], "destination": "b.txt"}),
        ("copy", {"paths": ["a.txt"], "destination": "b.txt"}),
        ("trash", {"paths": ["a.txt"]}),
        ("make_folder", {"path": "b"}),
    ],
)
def test_changes_inside_are_free_in_edits_asked_in_ask_and_refused_in_plan(
    name: str, arguments: Arguments, workspace: Path
) -> None:
    make(workspace, "a.txt")
    before = files(workspace)
    result, asked = decided("plan", name, arguments)
    assert result == "in plan mode nothing is changed, only planned"
    result, asked = decided("ask", name, arguments, answer=False)
    assert (result, len(asked), files(workspace)) == ("the user said no", 1, before)
    done(name, **arguments)


@pytest.mark.parametrize("name", ["move", "copy", "trash"])
@pytest.mark.parametrize(
    "path", [".env", "keys/id_rsa", ".git/config", "../other.txt", "link", "keys"]
)
def test_secrets_settings_and_what_is_outside_are_asked_in_edits(
    name: str, path: str, workspace: Path
) -> None:
    make(workspace, ".env", "keys/id_rsa", ".git/config", "plain.txt")
    make(workspace.parent, "other.txt")
    (workspace / "link").symlink_to("../outside")
    goal = ".git/hooks/new" if path == ".git/config" else "public.txt"
    arguments = {"paths": [path]} | ({} if name == "trash" else {"destination": goal})
    result, asked = decided("edits", name, arguments, answer=False)
    assert (result, len(asked)) == ("the user said no", 1)


def test_a_rule_holds_for_each_file_of_a_folder(workspace: Path) -> None:
    make(workspace, "box/a.txt", "box/kept/b.txt")
    rules = parse_rules(deny=["Edit(box/kept/**)"], ask=[], allow=[])
    gate = Gate(workspace, rules=rules, mode="auto")
    for name, more in (("move", {"destination": "x"}), ("trash", {})):
        access = claimed(TOOLS, name, paths=["box"], **more)
        tool = TOOLS.get(name)
        assert tool is not None
        verdict = asyncio.run(gate.decide(ApprovalRequest(name, tool.effect, name, access)))
        assert (verdict.allowed, verdict.reason) == (
            False,
            "the rule Edit(box/kept/**) forbids it",
        )


def test_what_has_come_up_since_it_was_judged_is_not_touched(workspace: Path) -> None:
    make(workspace, "a.jpg")
    access = claimed(TOOLS, "trash", paths=["*.jpg"])
    make(workspace, "b.jpg")
    granted = access.grants([workspace / path for path in access.places])
    call = ToolCall("call00001", "trash", {"paths": ["*.jpg"]})
    result = asyncio.run(TOOLS.call(call, granted))
    assert not result.ok
    assert "b.jpg was not there when it was judged. Nothing was changed." in result.content
    assert sorted(files(workspace)) == ["a.jpg", "b.jpg"]


@pytest.mark.parametrize(
    ("paths", "destination", "moved"),
    [
        (["a.txt"], "b.txt", {"b.txt"}),
        (["a.txt"], "new/deep/b.txt", {"new/deep/b.txt"}),
        (["a.txt"], "box", {"box/a.txt"}),
        (["a.txt"], "box/", {"box/a.txt"}),
        (["a.txt"], "new/", {"new/a.txt"}),
        (["a.txt", "c.txt"], "new", {"new/a.txt", "new/c.txt"}),
        (["a.*"], "new", {"new/a.txt"}),
        (["*.txt"], "box", {"box/a.txt", "box/c.txt"}),
        (["**/*.txt"], "all", {"all/a.txt", "all/c.txt", "all/d.txt"}),
        (["box/*"], ".", {"d.txt"}),
        (["*"], "box", {"box/a.txt", "box/c.txt"}),
        (["{a,c}.txt"], "box", {"box/a.txt", "box/c.txt"}),
        (["box"], "crate", {"crate/d.txt"}),
        (["box", "box/d.txt"], "new", {"new/box/d.txt"}),
    ],
)
def test_where_things_go(
    paths: list[str], destination: str, moved: set[str], workspace: Path
) -> None:
    make(workspace, "a.txt", "c.txt", "box/d.txt")
    before = files(workspace)
    done("move", paths=paths, destination=destination)
    after = files(workspace)
    assert after.keys() - before.keys() == moved
    assert sorted(after.values()) == sorted(before.values())


def test_patterns_leave_hidden_files_alone(workspace: Path) -> None:
    make(workspace, ".hidden", ".git/config", "a.txt", "~root")
    done("move", paths=["*"], destination="new")
    assert sorted(files(workspace)) == [".git/config", ".hidden", "new/a.txt", "new/~root"]


@pytest.mark.parametrize(
    ("name", "paths", "destination", "why"),
    [
        ("move", ["a.txt"], "b.txt", "There is something of that name already: b.txt."),
        ("copy", ["a.txt"], "b.txt", "There is something of that name already: b.txt."),
        ("move", ["*.txt"], "box", "There is something of that name already: box/b.txt."),
        ("move", ["a.txt", "sub/a.txt"], "new", "would get the same name: new/a.txt."),
        ("move", ["a.txt"], "a.txt", "a.txt is there already."),
        ("move", ["a.txt"], ".", "a.txt is there already."),
        ("move", ["box"], "box/inner/", "box cannot go into itself."),
        ("copy", ["box"], "box/copy", "box cannot go into itself."),
        ("move", ["a.txt", "none.txt"], "box", "There is no none.txt."),
        ("move", ["*.gif"], "box", "Nothing fits *.gif."),
        ("move", ["a.txt"], "b.txt/x/", "b.txt is no folder."),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_changed(
    name: str, paths: list[str], destination: str, why: str, workspace: Path
) -> None:
    make(workspace, "a.txt", "b.txt", "sub/a.txt", "box/b.txt")
    before = files(workspace)
    assert why in refused(name, paths=paths, destination=destination)
    assert not ran(TOOLS, name, paths=paths, destination=destination).ok
    assert files(workspace) == before


def test_nothing_outside_is_told_before_a_yes(workspace: Path) -> None:
    make(workspace, "a.txt")
    make(workspace.parent, "other.txt")
    outside = str(workspace.parent)
    for name in ("other.txt", "nothing.txt"):
        access = claimed(TOOLS, "move", paths=["a.txt"], destination=f"{outside}/{name}")
        assert access.places[-1] == f"{outside}/{name}"
        assert not access.shown or "already" not in access.shown
    result, _ = decided("ask", "move", {"paths": ["a.txt"], "destination": f"{outside}/other.txt"})
    assert isinstance(result, ToolResult)
    assert "There is something of that name already" in result.content
    pattern = refused_late("move", [f"{outside}/*"], "box")
    assert "is a pattern outside the workspace" in pattern


def refused_late(name: str, paths: list[str], destination: str) -> str:
    """What is told after a yes."""
    result, asked = decided("ask", name, {"paths": paths, "destination": destination})
    assert asked
    assert isinstance(result, ToolResult)
    assert not result.ok
    return result.content


def test_links_are_moved_and_copied_as_links(workspace: Path) -> None:
    make(workspace, "box/a.txt")
    (workspace / "box" / "in").symlink_to("a.txt")
    (workspace / "link").symlink_to("box")
    done("move", paths=["link"], destination="moved")
    done("copy", paths=["moved"], destination="copied")
    done("copy", paths=["box"], destination="crate")
    assert str((workspace / "moved").readlink()) == str((workspace / "copied").readlink()) == "box"
    assert str((workspace / "crate" / "in").readlink()) == "a.txt"
    done("trash", paths=["moved", "copied"])
    assert files(workspace)["box/a.txt"] == "box/a.txt"


def test_a_folder_is_reached_through_a_link_that_stays_inside(workspace: Path) -> None:
    make(workspace, "a.txt", "box/b.txt")
    (workspace / "link").symlink_to("box")
    done("move", paths=["a.txt"], destination="link")
    assert sorted(files(workspace)) == ["box/a.txt", "box/b.txt"]


def test_modes_and_times_of_copies_stay(workspace: Path) -> None:
    make(workspace, "box/run.sh")
    script = workspace / "box" / "run.sh"
    script.chmod(0o750)
    os.utime(script, ns=(10**18, 10**18))
    done("copy", paths=["box"], destination="crate")
    state = (workspace / "crate" / "run.sh").stat()
    assert (state.st_mode & 0o777, state.st_mtime_ns) == (0o750, 10**18)


def test_things_move_across_file_systems_and_back(workspace: Path, other_disk: Path) -> None:
    make(workspace, "box/a.txt")
    (workspace / "box" / "link").symlink_to("a.txt")
    (workspace / "box").chmod(0o750)
    here = GrantedPath(workspace / "box", workspace)
    there = GrantedPath(other_disk / "new" / "crate", other_disk)
    transfers.move_entry(here, there)
    assert files(workspace) == {}
    assert files(other_disk) == {"new/crate/a.txt": "box/a.txt"}
    assert str((there.path / "link").readlink()) == "a.txt"
    assert there.path.stat().st_mode & 0o777 == 0o750
    transfers.move_entry(there, here)
    assert files(workspace) == {"box/a.txt": "box/a.txt"}
    assert names(other_disk / "new") == []


@root_only
def test_a_move_to_another_disk_is_taken_back(workspace: Path, small_disk: Path) -> None:
    make(workspace, "box/a.txt", "b.txt")
    done("move", paths=["box", "b.txt"], destination="small/new")
    assert files(small_disk) == {"new/b.txt": "b.txt", "new/box/a.txt": "box/a.txt"}
    assert undoing.take_back_last() == "moved 1 file and 1 folder to small/new"
    assert files(workspace) == {"b.txt": "b.txt", "box/a.txt": "box/a.txt"}
    assert names(small_disk) == []


@root_only
def test_what_cannot_be_removed_where_it_was_is_in_both_places(
    workspace: Path, small_disk: Path
) -> None:
    make(small_disk, "a.txt")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    result = ran(TOOLS, "move", paths=["small/a.txt"], destination="b.txt")
    assert "a.txt was copied, but it could not be removed where it was" in result.content
    assert "Both are there now." in result.content
    assert files(workspace) == {"b.txt": "a.txt", "small/a.txt": "a.txt"}


def test_what_fails_half_way_says_what_was_done_and_what_not() -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder).resolve()
        make(workspace, "one/a.txt", "two/b.txt", "three/c.txt", "new/d.txt")
        for path in (workspace, *workspace.iterdir()):
            path.chmod(0o777)
        (workspace / "two").chmod(0o555)
        work_in(workspace)
        with an_ordinary_user():
            paths = ["one/a.txt", "two/b.txt", "three/c.txt"]
            result = ran(TOOLS, "move", paths=paths, destination="new")
        assert result.partial == "2 items not moved: two/b.txt: this user may not write there."
        assert '"done": "moved one/a.txt to new/a.txt: one/a.txt"' in result.content
        assert '"notDone": "2 items: two/b.txt, three/c.txt"' in result.content
        assert [*files(workspace)] == ["new/a.txt", "new/d.txt", "three/c.txt", "two/b.txt"]
        assert undoing.take_back_last() == "moved one/a.txt to new/a.txt"
        assert [*files(workspace)] == ["new/d.txt", "one/a.txt", "three/c.txt", "two/b.txt"]
        (workspace / "two").chmod(0o755)


@root_only
def test_a_full_disk_leaves_no_half_of_a_file(workspace: Path, small_disk: Path) -> None:
    make(workspace, "a.txt")
    (workspace / "large").write_bytes(bytes(500_000))
    result = ran(TOOLS, "move", paths=["a.txt", "large"], destination="small")
    assert result.partial == "1 item not moved: large: the disk is full."
    assert [path.name for path in small_disk.iterdir()] == ["a.txt"]
    assert (workspace / "large").stat().st_size == 500_000
    result = ran(TOOLS, "copy", paths=["large"], destination="small")
    assert result.content == "large: the disk is full. Nothing was changed."


@pytest.mark.parametrize(
    "name",
    [
        b"-rf",
        b"--",
        b"caf\xe9.txt",
        b" blank ",
        b"two\nlines.txt",
        b"*",
        b"[1].txt",
        b"\\x",
        os.fsencode(LONG_NAME),
        b"\xf0\x9f\x8e\xb5.txt",
    ],
)
def test_names_of_all_kinds_go_into_the_trash_and_come_back(name: bytes, workspace: Path) -> None:
    path = os.fsencode(workspace) + b"/box/" + name
    (workspace / "box").mkdir()
    Path(os.fsdecode(path)).write_text("x")
    written = "box/" + os.fsdecode(name)
    assert ran(TOOLS, "trash", paths=[written]).ok
    assert names(workspace / "box") == []
    undoing.take_back_last()
    assert names(workspace / "box") == [os.fsdecode(name)]
    if name not in (b"two\nlines.txt", b"\\x"):
        done("move", paths=["box/*"], destination="new/")
        assert names(workspace / "new") == [os.fsdecode(name)]


def test_a_name_that_no_new_file_may_have_is_refused_whole(workspace: Path) -> None:
    make(workspace, "box/a.txt", "box/two\nlines.txt")
    result = ran(TOOLS, "move", paths=["box/*"], destination="new")
    assert (
        r"new/two\nlines.txt cannot be used: no file is made under such a name." in result.content
    )
    done("move", paths=["box/two\nlines.txt"], destination="box/b.txt")
    assert sorted(files(workspace)) == ["box/a.txt", "box/b.txt"]


def test_a_name_changes_its_case(workspace: Path) -> None:
    make(workspace, "a.txt", "Box/b.txt")
    done("move", paths=["a.txt"], destination="A.txt")
    done("move", paths=["Box"], destination="box")
    assert sorted(files(workspace)) == ["A.txt", "box/b.txt"]


@pytest.fixture
def folding(workspace: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder in the workspace on a disk that folds case."""
    image, folder = tmp_path / "disk", workspace / "fold"
    folder.mkdir()
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("no disk can be made here")
    with image.open("wb") as file:
        file.truncate(8 << 20)
    lines = (
        ["mkfs.ext4", "-q", "-O", "casefold", str(image)],
        ["mount", "-o", "loop", str(image), str(folder)],
        ["chattr", "+F", str(folder / "names")],
    )
    for line in lines:
        if line[0] == "chattr":
            (folder / "names").mkdir()
        if subprocess.run(line, capture_output=True, check=False).returncode:
            subprocess.run(["umount", str(folder)], capture_output=True, check=False)
            pytest.skip("no disk that folds case can be mounted here")
    yield folder / "names"
    subprocess.run(["umount", str(folder)], check=True)


def test_a_name_changes_its_case_where_case_is_folded(folding: Path) -> None:
    make(folding, "a.txt", "Box/b.txt")
    done("move", paths=["fold/names/a.txt"], destination="fold/names/A.txt")
    done("move", paths=["fold/names/Box"], destination="fold/names/box")
    assert names(folding) == ["A.txt", "box"]
    make(folding, "c.txt")
    why = refused("move", paths=["fold/names/c.txt"], destination="fold/names/a.TXT")
    assert "There is something of that name already" in why


def test_two_names_of_one_file_are_two_files(workspace: Path) -> None:
    make(workspace, "a.txt")
    (workspace / "A.txt").hardlink_to(workspace / "a.txt")
    assert "already: A.txt" in refused("move", paths=["a.txt"], destination="A.txt")


def test_a_folder_is_made_with_those_above(workspace: Path) -> None:
    assert done("make_folder", path="a/b/c/") == "made the folder a/b/c"
    assert done("make_folder", path="a/b") == "The folder a/b is there already."
    make(workspace, "file")
    assert "file is no folder" in refused("make_folder", path="file/x")
    make(workspace, "a/mine.txt")
    assert undoing.take_back_last() == "made the folder a/b/c"
    assert sorted(path.name for path in workspace.rglob("*")) == ["a", "file", "mine.txt"]


def test_the_trash_of_a_workspace_says_where_it_is_and_is_not_searched(workspace: Path) -> None:
    make(workspace, "box/a.txt", "b.txt", "other/a.txt")
    told = done("trash", paths=["box/a.txt", "b.txt", "other/a.txt"])
    assert told == (
        "put 3 files into the trash (.andy-trash/files): box/a.txt, b.txt, other/a.txt. "
        "/undo or move brings it back."
    )
    kept = workspace / ".andy-trash"
    assert names(kept / "files") == ["a.2.txt", "a.txt", "b.txt"]
    assert (kept / ".gitignore").read_text() == "*\n"
    assert kept.stat().st_mode & 0o777 == 0o700
    info = (kept / "info" / "a.txt.trashinfo").read_text().split("\n")
    assert info[:2] == ["[Trash Info]", f"Path={workspace}/box/a.txt"]
    assert ran(TOOLS, "search_files", glob="*.txt").did == "found nothing in the current folder"
    listed = ran(TOOLS, "list_directory", max_depth=3).content
    assert ".andy-trash" in listed
    assert "trashinfo" not in listed
    assert "is in the trash already" in refused("trash", paths=[".andy-trash/files/b.txt"])
    done("move", paths=[".andy-trash/files/b.txt"], destination="b.txt")
    assert files(workspace) == {"b.txt": "b.txt"}


def test_a_link_in_place_of_the_trash_is_not_followed(workspace: Path, tmp_path: Path) -> None:
    make(workspace, "a.txt")
    (workspace / ".andy-trash").symlink_to(tmp_path / "outside")
    result = ran(TOOLS, "trash", paths=["a.txt"])
    assert not result.ok
    assert files(workspace) == {"a.txt": "a.txt"}
    assert names(tmp_path / "outside") == ["secret.txt"]


def test_a_desktop_has_a_trash_of_its_own(
    workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "GNOME")
    make(workspace, "caf\u00e9 1.txt", "box/b.txt")
    told = done("trash", paths=["caf\u00e9 1.txt", "box"])
    assert "(~/.local/share/Trash/files)" in told
    kept = home / ".local" / "share" / "Trash"
    assert names(kept / "files") == ["box", "caf\u00e9 1.txt"]
    info = (kept / "info" / "caf\u00e9 1.txt.trashinfo").read_text()
    assert f"\nPath={workspace}/caf%C3%A9%201.txt\nDeletionDate=20" in info
    assert undoing.take_back_last().startswith("put 1 file and 1 folder into the trash")
    assert sorted(files(workspace)) == ["box/b.txt", "caf\u00e9 1.txt"]
    assert names(kept / "info") == []


def test_another_disk_has_a_trash_of_its_own(
    home: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "GNOME")
    make(small_disk, "box/a.txt")
    ran(TOOLS, "trash", paths=["small/box/a.txt"])
    kept = small_disk / f".Trash-{os.getuid()}"
    assert (kept / "files" / "a.txt").read_text() == "box/a.txt"
    assert "Path=box/a.txt\n" in (kept / "info" / "a.txt.trashinfo").read_text()
    assert kept.stat().st_mode & 0o777 == 0o700


def test_each_kind_of_change_is_taken_back_newest_first(workspace: Path) -> None:
    make(workspace, "old.txt", "a.txt", "box/b.txt")
    stages = [files(workspace)]
    for name, arguments in (
        ("write_file", {"path": "deep/new.txt", "content": "new"}),
        ("write_file", {"path": "old.txt", "content": "other"}),
        ("edit_file", {"path": "old.txt", "old_string": "other", "new_string": "third"}),
        ("file_put", {"path": "data.bin", "content": "aGk=", "mimeType": "image/png"}),
        ("copy", {"paths": ["a.txt", "box"], "destination": "copies"}),
        ("move", {"paths": ["a.txt", "box"], "destination": "moved"}),
        ("file_upload", {"path": "old.txt", "destination": "up"}),
        ("trash", {"paths": ["copies", "moved/a.txt"]}),
    ):
        result = asyncio.run(TOOLS.call(ToolCall("call00001", name, arguments)))
        assert result.ok, result.content
        stages.append(files(workspace))
    for stage in reversed(stages[:-1]):
        assert undoing.take_back_last()
        assert files(workspace) == stage
    assert undoing.take_back_last() == ""
    assert not (workspace / "deep").exists()


@pytest.mark.parametrize(
    ("name", "arguments", "changed"),
    [
        ("write_file", {"path": "new.txt", "content": "new"}, "new.txt"),
        ("write_file", {"path": "a.txt", "content": "new"}, "a.txt"),
        ("copy", {"paths": ["box"], "destination": "crate"}, "crate/b.txt"),
        ("move", {"paths": ["a.txt"], "destination": "moved.txt"}, "moved.txt"),
        ("move", {"paths": ["a.txt", "box"], "destination": "new"}, "new/box/b.txt"),
        ("move", {"paths": ["a.txt"], "destination": "moved.txt"}, "a.txt"),
        ("trash", {"paths": ["a.txt", "box"]}, "a.txt"),
    ],
)
def test_what_somebody_else_changed_since_is_left_as_it_is(
    name: str, arguments: dict[str, object], changed: str, workspace: Path
) -> None:
    make(workspace, "a.txt", "box/b.txt")
    assert asyncio.run(TOOLS.call(ToolCall("call00001", name, arguments))).ok
    (workspace / changed).write_text("somebody else's words")
    before = files(workspace)
    with pytest.raises(ToolError, match=r"^Not taken back: .* Nothing was changed\."):
        undoing.take_back_last()
    assert files(workspace) == before


def test_what_cannot_be_taken_back_is_left_and_what_was_before_it_is_taken_back(
    workspace: Path,
) -> None:
    for name in ("first.txt", "second.txt"):
        assert asyncio.run(
            TOOLS.call(ToolCall(name, "write_file", {"path": name, "content": "x"}))
        ).ok
    (workspace / "second.txt").write_text("somebody else's words")
    assert undoing.skip_last().endswith("second.txt")
    assert undoing.take_back_last().endswith("first.txt")
    assert files(workspace) == {"second.txt": "somebody else's words"}


def test_what_is_replaced_goes_into_the_trash_and_comes_back(workspace: Path) -> None:
    make(workspace, "a.txt", "box/a.txt", "box/b.txt", "crate/box/c.txt")
    before = files(workspace)
    arguments: Arguments = {"paths": ["a.txt", "b*", "box"], "destination": "crate/"}
    assert "already: crate/box" in refused("move", **arguments)
    result, asked = decided("ask", "move", {**arguments, "replace": True})
    line = next(line for line in read_question(asked[0]) if "in place of" in line)
    assert line.startswith("  box (2 entries in it) -> crate/box, in place of the folder there (1 ")
    assert line.endswith("entry in it), which goes into the trash")
    assert isinstance(result, ToolResult), result
    assert result.ok, result.content
    assert sorted(files(workspace)) == ["crate/a.txt", "crate/box/a.txt", "crate/box/b.txt"]
    assert names(workspace / ".andy-trash" / "files") == ["box"]
    assert undoing.take_back_last() == "moved 1 file and 1 folder to crate"
    assert files(workspace) == before
    assert names(workspace / ".andy-trash" / "files") == []


@pytest.mark.parametrize("name", ["move", "copy"])
def test_a_link_that_is_replaced_is_not_followed(name: str, workspace: Path) -> None:
    make(workspace, "a.txt", "b.txt")
    (workspace / "link").symlink_to("b.txt")
    done(name, paths=["a.txt"], destination="link", replace=True)
    assert files(workspace)["b.txt"] == "b.txt"
    assert (workspace / "link").read_text() == "a.txt"
    assert not (workspace / "link").is_symlink()
    undoing.take_back_last()
    assert str((workspace / "link").readlink()) == "b.txt"


def test_a_link_to_the_outside_is_replaced_with_a_yes_alone(workspace: Path) -> None:
    make(workspace, "a.txt")
    (workspace / "link").symlink_to("../outside/secret.txt")
    arguments: Arguments = {"paths": ["a.txt"], "destination": "link", "replace": True}
    _, asked = decided("edits", "move", arguments, answer=False)
    assert asked


def test_nothing_replaces_what_it_lies_in(workspace: Path) -> None:
    make(workspace, "box/box/a.txt")
    why = refused("move", paths=["box/box"], destination=".", replace=True)
    assert "box cannot be replaced: what goes there, or more that was named, lies in it." in why


@root_only
def test_what_should_be_replaced_is_there_still_where_the_rest_fails(
    workspace: Path, small_disk: Path
) -> None:
    make(small_disk, "large")
    (workspace / "large").write_bytes(bytes(500_000))
    result = ran(TOOLS, "copy", paths=["large"], destination="small", replace=True)
    assert result.content == "large: the disk is full. Nothing was changed."
    assert (small_disk / "large").read_text() == "large"
    assert undoing.take_back_last() == ""


NAMES = ("a", "b", "c", "box", "box/a", "box/b", "box/in", "box/in/a", "new/deep/a", "link")
paths = st.sampled_from(NAMES)
texts = st.binary(max_size=8).map(bytes.hex)
several = st.lists(paths | st.sampled_from(["*", "box/*", "**/a"]), min_size=1, max_size=3)
calls = st.one_of(
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"path": paths, "content": texts})),
    st.tuples(st.just("make_folder"), st.fixed_dictionaries({"path": paths})),
    st.tuples(st.just("trash"), st.fixed_dictionaries({"paths": several})),
    st.tuples(
        st.sampled_from(["move", "copy"]),
        st.fixed_dictionaries(
            {"paths": several, "destination": paths | st.just("."), "replace": st.booleans()}
        ),
    ),
)


def snapshot(folder: Path) -> dict[str, tuple[int, object]]:
    """Each path below with its mode, and what it holds with its time; without the trash."""
    found: dict[str, tuple[int, object]] = {}
    for path in sorted(folder.rglob("*")):
        if ".andy-trash" in path.parts:
            continue
        state = path.lstat()
        held: object = None
        if path.is_symlink():
            held = str(path.readlink())
        elif path.is_file():
            held = (path.read_bytes(), state.st_mtime_ns)
        found[str(path.relative_to(folder))] = (state.st_mode, held)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("where", ["memory", "disk"])
@settings(deadline=None, max_examples=80)
@given(calls=st.lists(calls, max_size=12))
def test_whatever_was_done_is_taken_back_whole(
    where: str, calls: list[tuple[str, Arguments]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace, journals = Path(folder, "workspace"), Path(folder, "undo")
        make(workspace, "a", "b", "box/a", "box/in/a")
        (workspace / "link").symlink_to("box")
        (workspace / "box" / "a").chmod(0o640)
        work_in(workspace)
        runtime_context.enter_context(
            runtime_context.current_context().settings, workspace, "first", journals
        )
        journal.forget_all()
        stages = [snapshot(workspace)]
        for name, arguments in calls:
            last = journal.last_batch()
            asyncio.run(TOOLS.call(ToolCall("call00001", name, arguments)))
            # A copy may be the very same as what it replaced.
            if journal.last_batch() is not last:
                stages.append(snapshot(workspace))
            assert snapshot(workspace) == stages[-1]
        take_back = undoing.take_back_last
        if where == "disk":
            journal.forget_all()
            runtime_context.enter_context(
                runtime_context.current_context().settings, workspace, "second", journals
            )
            take_back = undoing.take_back_earlier
        for stage in reversed(stages[:-1]):
            assert take_back()
            assert snapshot(workspace) == stage
        assert take_back() == ""
        assert [*journals.glob("*/*")] == []


def work_with_journals(workspace: Path, session_id: str) -> Path:
    """Work as in a conversation of that name; where its journal is."""
    journals = workspace.parent / "state" / "undo"
    runtime_context.enter_context(
        runtime_context.current_context().settings, workspace, session_id, journals
    )
    return journals / session_id


def test_the_journal_is_for_this_user_alone_and_survives_the_process(workspace: Path) -> None:
    folder = work_with_journals(workspace, "first")
    make(workspace, "a.txt", "box/b.txt")
    (workspace / "box" / os.fsdecode(b"caf\xe9")).write_text("x")
    before = snapshot(workspace)
    assert ran(TOOLS, "write_file", path="a.txt", content="new").ok
    assert ran(TOOLS, "move", paths=["box"], destination="crate").ok
    assert [path.stat().st_mode & 0o777 for path in sorted(folder.rglob("*"))] == [0o600] * 2
    assert folder.stat().st_mode & 0o777 == 0o700
    journal.forget_all()
    work_with_journals(workspace, "second")
    assert undoing.take_back_last() == ""
    assert undoing.describe_earlier().startswith("moved box to crate (20")
    assert undoing.take_back_earlier() == "moved box to crate"
    (workspace / "a.txt").write_text("somebody else's words")
    with pytest.raises(ToolError, match="was changed since"):
        undoing.take_back_earlier()
    (workspace / "a.txt").write_text("new")
    assert undoing.take_back_earlier() == "changed a.txt"
    assert snapshot(workspace) == before
    assert not folder.exists()


def test_of_an_earlier_change_skipping_is_named_only_where_it_would_be_what_is_skipped(
    workspace: Path,
) -> None:
    work_with_journals(workspace, "first")
    assert ran(TOOLS, "write_file", path="a.txt", content="x").ok
    (workspace / "a.txt").write_text("somebody else's words")
    work_with_journals(workspace, "second")
    with pytest.raises(ToolError, match="`/undo skip` leaves it so"):
        undoing.take_back_earlier()
    assert ran(TOOLS, "write_file", path="b.txt", content="x").ok
    with pytest.raises(ToolError, match=r"Nothing was changed\.$"):
        undoing.take_back_earlier()
    assert undoing.skip_last() == "made b.txt"
    assert undoing.skip_last() == "made a.txt"


def test_a_conversation_that_is_gone_on_with_takes_back_its_own_newest_change(
    workspace: Path,
) -> None:
    """By a plain /undo, in the order in which they were made; an older one of another conversation
    stays."""
    work_with_journals(workspace, "other")
    assert ran(TOOLS, "write_file", path="other.txt", content="x").ok
    work_with_journals(workspace, "first")
    for content in ("one", "two"):
        assert ran(TOOLS, "write_file", path="a.txt", content=content).ok
    journal.forget_all()
    work_with_journals(workspace, "first")
    assert ran(TOOLS, "write_file", path="a.txt", content="three").ok
    for content in ("two", "one"):
        assert undoing.take_back_last() == "changed a.txt"
        assert files(workspace)["a.txt"] == content
    assert undoing.describe_earlier().startswith("made other.txt (20")
    assert undoing.take_back_last() == "made a.txt"
    assert undoing.take_back_last() == ""
    assert names(workspace) == ["other.txt"]


KILLED = """
import os, sys
from pathlib import Path
from andy_cli.settings import load
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.files.moving import organizing
from tests.tools import ran, shipped
workspace = Path(sys.argv[1])
journals = workspace.parent / "state" / "undo"
runtime_context.enter_context(load((), environment={}), workspace, "killed", journals)
whole, done = organizing.record_change, []
def record(change):
    whole(change)
    done.append(change)
    if len(done) == 7:
        os.kill(os.getpid(), 9)
organizing.record_change = record
ran(shipped("files"), "move", paths=["*.txt"], destination="new")
"""


def test_what_a_killed_process_had_done_is_taken_back(workspace: Path) -> None:
    make(workspace, *(f"{number}.txt" for number in range(20)))
    before = files(workspace)
    line = [sys.executable, "-c", KILLED, str(workspace)]
    root = Path(__file__).parents[1]
    assert subprocess.run(line, cwd=root, check=False).returncode == -signal.SIGKILL
    assert len(names(workspace / "new")) == 7
    work_with_journals(workspace, "next")
    assert undoing.take_back_earlier() == "changed files in a call that was cut off"
    assert files(workspace) == before


def test_a_journal_that_cannot_be_written_costs_no_change(workspace: Path) -> None:
    folder = work_with_journals(workspace, "first")
    folder.parent.parent.write_text("no folder")
    assert ran(TOOLS, "write_file", path="a.txt", content="x").ok
    assert undoing.take_back_last() == "made a.txt"
    assert files(workspace) == {}


def test_a_journal_that_a_tool_could_have_written_is_not_obeyed(workspace: Path) -> None:
    make(workspace, "a.txt")
    for session_id in ("first", "second"):
        runtime_context.enter_context(
            runtime_context.current_context().settings, workspace, session_id, workspace / "undo"
        )
        if session_id == "first":
            assert ran(TOOLS, "trash", paths=["a.txt"]).ok
            journal.forget_all()
    assert undoing.take_back_earlier() == ""


def test_journals_of_old_conversations_go(workspace: Path) -> None:
    for number in range(kept_batches.MAX_SESSIONS + 5):
        folder = work_with_journals(workspace, f"session-{number:02}")
        assert ran(TOOLS, "write_file", path="a.txt", content=str(number)).ok
        os.utime(folder, (10**9 * 1.9 + number,) * 2)
    assert len(names(folder.parent)) == kept_batches.MAX_SESSIONS
    assert names(folder.parent)[-1] == f"session-{number:02}"


def test_what_was_too_large_to_be_kept_is_said(workspace: Path) -> None:
    (workspace / "large.txt").write_bytes(b"x" * (recorded_changes.MAX_BYTES + 1))
    assert ran(TOOLS, "write_file", path="large.txt", content="small").ok
    with pytest.raises(ToolError, match=r"What large\.txt held before was too large to be kept"):
        undoing.take_back_last()


def test_no_more_is_kept_than_was_said(workspace: Path) -> None:
    for number in range(journal.MAX_CALLS + 10):
        assert ran(TOOLS, "write_file", path="a.txt", content=str(number)).ok
    taken_back = 0
    while undoing.take_back_last():
        taken_back += 1
    assert taken_back == journal.MAX_CALLS
    assert files(workspace) == {"a.txt": "9"}


def test_another_conversation_has_nothing_to_take_back(workspace: Path) -> None:
    assert ran(TOOLS, "write_file", path="a.txt", content="x").ok
    runtime_context.enter_context(runtime_context.current_context().settings, workspace, "another")
    assert undoing.take_back_last() == ""


@pytest.mark.slow
def test_a_thousand_files_are_one_call_and_more_are_refused(workspace: Path) -> None:
    make(workspace, *(f"box/{number}.txt" for number in range(batches.MAX_ITEMS + 1)))
    assert "more than 1,000 files" in refused("move", paths=["box/*"], destination="new")
    assert done("move", paths=["box"], destination="new") == "moved box to new."
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(workspace / "new")


def test_a_comma_in_the_name_of_a_file_makes_no_two_files_of_it(workspace: Path) -> None:
    for name in ("Report", "final.txt", "Report, final.txt"):
        (workspace / name).write_text(name)
    for name, more in (("copy", {"destination": "to"}), ("trash", {})):
        given_arguments = {"paths": "Report, final.txt", **more}
        made = map_call(name, given_arguments, TOOLS.functions, lambda name: False)
        call = ToolCall("call00001", name, made.calls[0].arguments)
        assert asyncio.run(TOOLS.call(call)).ok
    assert sorted(entry.name for entry in workspace.glob("[!.]*")) == ["Report", "final.txt", "to"]
    assert (workspace / "to").read_text() == "Report, final.txt"
    meant, changes = TOOLS.find_meant_paths("trash", {"paths": ["Report, final.txt"]})
    assert (meant, len(changes)) == ({"paths": ["Report", "final.txt"]}, 1)
    missing: Arguments = {"paths": ["Report, other.txt"]}
    assert TOOLS.find_meant_paths("trash", missing) == (missing, ())
