"""What the tests promise of themselves: this checkout, every failing case named, no stopwatch."""

import ast
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import andy_cli
from tests.cases import loop_over
from tests.needed import NEEDED
from tests.shell import ANDY, ROOT, Done, andy, environment
from tests.terminal import Terminal
from tests.warm_start import STARTED_IN, begins_alike

CLOCKS = {"time.monotonic", "time.perf_counter", "time.time", "time.process_time"}
FASTER = (ast.Lt, ast.LtE)


def test_a_loop_names_every_case_that_fails() -> None:
    @loop_over(("number", "even"), [(1, True), (2, True), (3, True), (5, False)])
    def is_even(number: int, even: bool) -> None:
        assert (number % 2 == 0) is even

    with pytest.raises(pytest.fail.Exception) as failed:
        is_even()
    told = str(failed.value)
    assert told.startswith("2 of 4 cases:")
    assert "(1, True): line " in told
    assert "(3, True): line " in told
    assert "(2, True)" not in told


def test_a_loop_goes_on_behind_an_exception_and_knows_ids() -> None:
    seen = []

    @loop_over("word", [pytest.param("", id="empty"), pytest.param("a", id="letter")])
    def begins(word: str) -> None:
        seen.append(word[0])

    with pytest.raises(pytest.fail.Exception, match=r"empty: line \d+: IndexError"):
        begins()
    assert seen == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "plugin"), [("hypothesis", "hypothesispytest"), ("", "timeout")]
)
def test_without_the_extras_of_the_tests_it_is_said_how_to_get_them(
    missing: str, plugin: str, tmp_path: Path
) -> None:
    if missing:
        (tmp_path / f"{missing}.py").write_text("raise ModuleNotFoundError('it is not here')")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", f"no:{plugin}", "tests/test_ids.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode not in (0, 5)
    assert done.stderr.strip() == f"ERROR: {NEEDED}"


def test_what_a_test_starts_is_the_package_of_this_checkout(tmp_path: Path) -> None:
    here = ROOT / "andy_cli"
    assert Path(andy_cli.__file__).parent == here
    code = "import andy_cli; print(andy_cli.__file__)"
    for program in (sys.executable, *_interpreter_of(ANDY)):
        done = subprocess.run(
            [program, "-c", code], cwd=tmp_path, env=environment(tmp_path), capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        assert Path(done.stdout.strip()).parent == here


def _interpreter_of(script: Path) -> Iterator[str]:
    """The program in the first line of a script."""
    first = script.read_bytes().partition(b"\n")[0].decode(errors="replace")
    if first.startswith("#!") and Path(first[2:]).is_file():
        yield first[2:]


def test_what_is_forked_does_what_the_program_does(tmp_path: Path) -> None:
    words = ("run", "-", "-m", "nobody:m")
    done = subprocess.run(
        [ANDY, *words], cwd=tmp_path, env=environment(tmp_path, TZ="Asia/Tokyo"), input="hi",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    forked = andy(*words, home=tmp_path, cwd=tmp_path, stdin="hi", TZ="Asia/Tokyo")
    assert forked == Done(done.returncode, done.stdout, done.stderr)
    assert forked.code == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="it is found in /proc")
def test_what_is_forked_has_what_the_program_has(tmp_path: Path) -> None:
    """Its terminal, session, signals, folder, and no file that is another's."""
    found = []
    for command in ("", str(ANDY)):
        with Terminal("chat", "-m", "m", command=command, folder=tmp_path, HOME=str(tmp_path),
                      OPENAI_BASE_URL="http://127.0.0.1:1/v1") as terminal:  # fmt: skip
            terminal.prompts()
            found.append(state_of(terminal.pid))
            terminal.type("\x04")
            assert terminal.leaves() == 0
    assert found[0] == found[1]


def open_files(folder: Path) -> dict[str, str]:
    """The files by their numbers, looked at until they stay: one may be closed meanwhile."""
    seen: list[dict[str, str]] = []
    while len(seen) < 2 or seen[-1] != seen[-2]:
        time.sleep(0.1)
        with contextlib.suppress(FileNotFoundError):
            numbers = folder.joinpath("fd").iterdir()
            seen.append({each.name: str(each.readlink()) for each in numbers})
    return seen[-1]


def state_of(pid: int) -> dict[str, object]:
    folder = Path(f"/proc/{pid}")
    lines = folder.joinpath("status").read_text(encoding="utf-8").splitlines()
    marks = dict(line.split(":\t") for line in lines if line.startswith("Sig"))
    files = open_files(folder)
    return {
        # Those above 31 are the C library's own.
        "signals": [int(marks[name], 16) & 0x7FFF_FFFF for name in ("SigBlk", "SigIgn", "SigCgt")],
        "leads": (os.getsid(pid) == pid, os.getpgid(pid) == pid),
        "folder": folder.joinpath("cwd").readlink(),
        "files": sorted(target.rstrip("0123456789[]:") for target in files.values()),
        "standard": len({files[str(number)] for number in range(3)}),
    }


def test_where_python_would_begin_otherwise_the_program_is_started() -> None:
    for name in ("PYTHONPATH", "PYTHONIOENCODING", "LC_ALL"):
        assert not begins_alike({**STARTED_IN, name: "ascii"}), name
    assert begins_alike({**STARTED_IN, "HOME": "/elsewhere"}) is (sys.platform == "linux")


def test_no_test_asserts_that_this_machine_is_fast() -> None:
    """Limits of time stand in tests/benchmarks, beside a floor of the same machine."""
    found = [
        f"{path.name}:{line}"
        for path in sorted(ROOT.glob("tests/test_*.py"))
        for line in timed_asserts(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def timed_asserts(tree: ast.Module) -> Iterator[int]:
    """Lines that demand that not more than some time has gone since the test looked at a clock."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        for compared in ast.walk(node.test):
            if isinstance(compared, ast.Compare) and any(
                isinstance(operator, FASTER) and _is_elapsed(left)
                for operator, left in zip(compared.ops, _lefts(compared), strict=True)
            ):
                yield node.lineno


def _lefts(compared: ast.Compare) -> list[ast.expr]:
    return [compared.left, *compared.comparators[:-1]]


def _is_elapsed(node: ast.expr) -> bool:
    """`time.monotonic() - began`."""
    return isinstance(node, ast.BinOp) and any(
        isinstance(part, ast.Call) and ast.unparse(part.func) in CLOCKS for part in ast.walk(node)
    )
