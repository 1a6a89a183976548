"""Which test proves which demand: `python -m tests.spec_table` writes tests/SPEC.md anew.

A test proves the demand that its name begins with: `test_B12_...`. Cases of the specification are
`test_case_16_...`, or data of `tests/corpora/spec` with the number in them.
"""

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
TABLE = FOLDER / "SPEC.md"
DEMANDS = FOLDER / "corpora" / "spec" / "demands.txt"
REPLIES = FOLDER / "corpora" / "spec" / "replies.jsonl"
BY_DATA = "test_spec_cases.py::test_what_a_reply_does"
CASES = {
    16: "an envelope raw, fenced, with text around it",
    17: "an envelope with good and bad items",
    18: "priorities",
    19: "a claim before its result",
    20: "several texts",
    21: "calls behind the end, no end, plain prose",
    22: "speech that fails or goes on",
    23: "a tool that is not configured",
    24: "paths out of the workspace",
    25: "an example of a request in an answer",
    26: "action objects with text around them",
    27: "action objects of odd shapes",
    28: "`@tool` lines",
    29: "unknown tools, fields that do not fit",
    30: "the note, through an MCP server",
    31: "plumbing is stripped",
    32: "what looks like plumbing is kept",
    33: "sanitizing twice, and fast",
    42: "a long listing",
    43: "the same step again",
    44: "cut off, and cancelled",
    45: "a switch of models",
    46: "examples in prompts",
    47: "captures",
    48: "a file that is not in the listing",
}
ELSEWHERE = {
    30: ["test_sessions.py::test_a_session_goes_as_its_document_says"],
    31: [
        "test_sanitizer.py::test_plumbing_is_taken_out_without_a_trace",
        "test_sanitizer.py::test_where_plumbing_is_cut_never_matters",
    ],
    32: [
        "test_sanitizer.py::test_what_is_no_plumbing_comes_out_byte_for_byte",
        "test_sanitizer.py::test_prose_is_never_touched",
    ],
    33: [
        "test_sanitizer.py::test_what_is_clean_stays_so",
        "test_sanitizer.py::test_cuts_never_matter",
    ],
    45: [
        "test_sessions.py::test_a_session_goes_as_its_document_says",
        "test_spec_c.py::test_C26_after_a_switch_of_providers_calls_are_still_found",
    ],
    47: ["test_spec_c.py::test_C28_requests_and_replies_are_on_disk_and_never_shown"],
    48: ["test_spec_c.py::test_C23_a_listing_is_told_with_the_files_that_are_in_it_and_no_others"],
}
"""Cases whose tests are named after something else."""


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


NUMBERED = r"(?<=_)[A-DRa-d]\d+(?=_)"


def proofs(named: str = NUMBERED) -> list[Proof]:
    """The tests whose names hold a number."""
    files = sorted(FOLDER.glob("test_*.py"))
    return [test for file in files for test in proofs_in(file, named)]


def proofs_in(file: Path, named: str = NUMBERED) -> Iterator[Proof]:
    for name, marks in functions_in(file):
        for number in re.findall(named, name):
            yield Proof(number.upper(), file.name, name, "xfail" in marks)


@functools.cache
def functions_in(file: Path) -> list[tuple[str, str]]:
    """The functions of a module, each with its decorators as text."""
    return [
        (node.name, " ".join(map(ast.unparse, node.decorator_list)))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]


def missing() -> list[str]:
    """Demands that no test proves although one should."""
    proved = {each.number for each in proofs()}
    return [each for each in demands() if each not in proved]


def case_tests(case: int) -> list[str]:
    """The tests of a case, by name, by data, or as said above."""
    found = [each.where for each in proofs(rf"test_case_({case})_")]
    rows = [json.loads(line) for line in REPLIES.read_text(encoding="utf-8").split("\n") if line]
    found += [BY_DATA] * any(row["case"] == case for row in rows)
    return [*found, *ELSEWHERE.get(case, [])]


def missing_cases() -> list[int]:
    return [each for each in CASES if not case_tests(each)]


def table() -> str:
    """The page: a line for each demand, with the tests that prove it."""
    found = proofs()
    lines = [HEAD, "| demand | in a few words | proved by |", "| --- | --- | --- |"]
    for number, words in demands().items():
        names = [shown(each) for each in found if each.number == number]
        lines.append(f"| {number} | {words} | {'<br>'.join(names)} |")
    lines += ["", "| case | in a few words | proved by |", "| --- | --- | --- |"]
    for case, words in CASES.items():
        names = [f"`{each}`" for each in case_tests(case)]
        lines.append(f"| {case} | {words} | {'<br>'.join(names)} |")
    return "\n".join(lines) + "\n"


def shown(test: Proof) -> str:
    return f"`{test.where}`" + (" (does not hold yet)" if test.expected_to_fail else "")


HEAD = """# What is demanded, and which test proves it

Made by `python -m tests.spec_table`. A test fails when a demand has no test, or when this page is
not up to date.
"""

if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
