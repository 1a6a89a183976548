"""Which test proves which demand: `python -m tests.spec_table` writes tests/SPEC.md anew.

A test proves the demand that its name begins with: `test_B12_...`. Cases of the specification are
`test_case_16_...`, or data of `tests/corpora/spec` with the number in them.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
TABLE = FOLDER / "SPEC.md"
DEMANDS = FOLDER / "corpora" / "spec" / "demands.txt"
NEXT = frozenset([f"B{at}" for at in range(13, 30)] + ["B38", "B40", "B41", "D11", "D17"])
"""Demands of tools that are not there yet."""


class Proof(NamedTuple):
    number: str
    file: str
    name: str
    expected_to_fail: bool = False

    @property
    def where(self) -> str:
        return f"{self.file}::{self.name}"


def demands() -> dict[str, str]:
    """Number -> what is demanded, in a few words, in the order of the specification."""
    lines = DEMANDS.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line)
    return {number: words for number, _, words in pairs}


def tests() -> list[Proof]:
    return [test for file in sorted(FOLDER.glob("test_*.py")) for test in tests_in(file)]


def tests_in(file: Path) -> Iterator[Proof]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for number in re.findall(r"(?<=_)[ABCDR]\d+(?=_)", node.name):
            marks = " ".join(map(ast.unparse, node.decorator_list))
            yield Proof(number, file.name, node.name, "xfail" in marks)


def missing() -> list[str]:
    """Demands that no test proves although one should."""
    proved = {each.number for each in tests()}
    return [each for each in demands() if each not in proved and each not in NEXT]


def table() -> str:
    """The page: a line for each demand, with the tests that prove it."""
    found = tests()
    lines = [HEAD, "| demand | in a few words | proved by |", "| --- | --- | --- |"]
    for number, words in demands().items():
        names = [shown(each) for each in found if each.number == number]
        lines.append(f"| {number} | {words} | {'<br>'.join(names) or '*next*'} |")
    return "\n".join(lines) + "\n"


def shown(test: Proof) -> str:
    return f"`{test.where}`" + (" (does not hold yet)" if test.expected_to_fail else "")


HEAD = """# What is demanded, and which test proves it

Made by `python -m tests.spec_table`. A test fails when a demand has no test, or when this page is
not up to date.
"""

if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
