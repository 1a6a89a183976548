"""What the tests promise of themselves: this checkout, every failing case named, no stopwatch."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import andy_cli
from tests.cases import loop_over
from tests.shell import ANDY, ROOT, environment

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
