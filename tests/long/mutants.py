"""One operator, constant, branch or step at a time is changed: some test has to fail for each.

`python -m tests.long mutants 50` takes 50 of each room, drawn by a fixed seed; 0 takes all. Words
for people are left alone, as are annotations.
"""

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


UNSEEN = ("strict", "maxsize")
"""Arguments that change how fast, or that check what holds anyway."""


class Room(NamedTuple):
    """Files of the program, and the tests that have to find what is wrong in them."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


def room(folder: str, files: str, tests: str) -> Room:
    return Room(
        tuple(f"andy_cli/{folder}/{name}.py" for name in files.split()),
        tuple(f"tests/test_{name}.py" for name in tests.split()),
    )


ROOMS = {
    "guard": room("guard", "gate approvals rules", "gate consents rules"),
    "log": room("sessions", "log", "session_log"),
    "compiler": room(
        "compiler",
        "compiler dialects/native lexing/lexer lexing/framing lexing/frame lexing/markers",
        "framing native_calls compiler arriving meant lexer quoting spec_a spec_d transcripts"
        " frames replies spec_c sanitizer dialects",
    ),
    "mapper": room(
        "compiler/mapper",
        "coercions corrections enum_members json_schema json_values mapper prepared_schema"
        " rename_properties synonyms",
        "mapper values meaning meant_paths described learned spec_b",
    ),
    "sandbox": room("toolbox/terminal", "sandbox sandboxes landlock", "terminal"),
}
COPIED = ("andy_cli", "tests", "tools", "prompts", "pyproject.toml")
KEPT = "not is_what_is_written and not model_writes_raises and not changes_no_reading"
"""Without tests that compare sources, and those that take most of the time and find least."""
PATIENCE = 300.0
"""Seconds for the tests of a file; a mutant that never ends has failed them."""
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OTHER: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.BitOr: ast.BitAnd(),
    ast.Mult: ast.Add(),
}


class Mutant(NamedTuple):
    room: str
    file: str
    line: int
    about: str
    source: str


Change = tuple[str, Callable[[], None]]
"""What would be changed, and the way to do it to the tree at hand."""


def changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in OPPOSITES:
            yield "comparison", lambda: node.ops.__setitem__(0, OPPOSITES[type(op)]())
        case ast.BoolOp(op=ast.And()):
            yield "and -> or", lambda: setattr(node, "op", ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield "or -> and", lambda: setattr(node, "op", ast.And())
        case ast.BinOp(op=operator) if type(operator) in OTHER:
            yield "operator", lambda: setattr(node, "op", OTHER[type(operator)])
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield "condition turned", lambda: setattr(node, "test", negate(test))
        case ast.comprehension(ifs=[test, *_]):
            yield "filter turned", lambda: node.ifs.__setitem__(0, negate(test))
        case ast.UnaryOp(op=ast.Not()):
            yield "not left out", lambda: setattr(node, "op", ast.UAdd())
        case ast.Constant():
            yield from changes_of_constant(node)


def changes_of_constant(node: ast.Constant) -> Iterator[Change]:
    match node.value:
        case bool(flag):
            yield f"{flag} turned", lambda: setattr(node, "value", not flag)
        case int(number):
            # One more of a limit is nothing that a test could miss; no limit at all is.
            other = number + 1 if number < 10 else 0
            yield f"{number} -> {other}", lambda: setattr(node, "value", other)
        case str(text) if text.isidentifier():
            yield f"{text!r} changed", lambda: setattr(node, "value", "mutated")


def negate(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """What can be changed with an effect: no annotations, no texts for people."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns") or isinstance(tree, ast.JoinedStr):
            continue
        if isinstance(tree, ast.keyword) and tree.arg in UNSEEN:
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.Subscript) and ast.unparse(node).startswith("Literal"):
                continue
            if isinstance(node, ast.AST):
                yield node
                yield from nodes_of(node)


def steps_of(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int]]:
    """Statements that do something and can be left out: where they stand."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            for at, step in enumerate(body if isinstance(body, list) else []):
                call = isinstance(step, ast.Expr) and isinstance(step.value, ast.Call)
                if call or isinstance(step, ast.AugAssign | ast.Raise | ast.Continue | ast.Break):
                    yield body or [], at


def spots_of(tree: ast.AST) -> Iterator[tuple[int, Change]]:
    """All that can be changed in a file, each with its line, always in the same order."""
    for node in nodes_of(tree):
        for change in changes_of(node):
            yield getattr(node, "lineno", 0), change
    for body, at in steps_of(tree):
        about = f"left out: {ast.unparse(body[at])[:60]}"
        yield body[at].lineno, (about, partial(body.__setitem__, at, ast.Pass()))


def mutants_of(name: str, most: int) -> Iterator[Mutant]:
    """So many of a room's mutants, drawn from all of its files alike; all of them if 0."""
    sources = {file: (ROOT / file).read_text(encoding="utf-8") for file in ROOMS[name].files}
    places = [
        (file, number)
        for file, source in sources.items()
        for number in range(sum(1 for _ in spots_of(ast.parse(source))))
    ]
    for file, number in random.Random(1).sample(places, most) if most else places:
        tree = ast.parse(sources[file])
        line, (about, change) = next(islice(spots_of(tree), number, None))
        change()
        yield Mutant(name, file, line, about, ast.unparse(ast.fix_missing_locations(tree)))


def is_killed(mutant: Mutant) -> bool:
    """Whether a test fails in a copy of the program with this one change."""
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source, there = ROOT / name, Path(folder) / name
            if source.is_dir():
                shutil.copytree(
                    source, there, ignore=shutil.ignore_patterns("__pycache__", "*.mp3")
                )
            else:
                shutil.copy(source, there)
        (Path(folder) / mutant.file).write_text(mutant.source, encoding="utf-8")
        options = ("-x", "-q", "-p", "no:cacheprovider", "-k", KEPT)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *options, *ROOMS[mutant.room].tests],
                cwd=folder,
                # Few drawn cases: thousands of runs, and what they find is seldom theirs alone.
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "ANDY_DRAWN_CASES": "10"},
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def look_for_survivors(mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, bool]]:
    with ProcessPoolExecutor() as pool:
        yield from zip(mutants, pool.map(is_killed, mutants), strict=True)


def main(most: int) -> int:
    started = time.monotonic()
    for name in ROOMS:
        file = ROOMS[name].files[0]
        as_it_is = Mutant(name, file, 0, "", (ROOT / file).read_text(encoding="utf-8"))
        assert not is_killed(as_it_is), f"{name}: its own tests fail"
    mutants = [mutant for name in ROOMS for mutant in mutants_of(name, most)]
    score = {name: [0, 0] for name in ROOMS}
    for mutant, killed in look_for_survivors(mutants):
        score[mutant.room][not killed] += 1
        if not killed:
            sys.stdout.write(f"{mutant.file}:{mutant.line}: {mutant.about}\n")
            sys.stdout.flush()
    for name, (dead, alive) in score.items():
        share = dead / max(1, dead + alive)
        sys.stdout.write(f"{name:10}{dead + alive:>6} mutants{share:>8.1%} killed\n")
    seconds = time.monotonic() - started
    sys.stdout.write(f"mutants: {len(mutants):,}, {seconds:.0f} s\n")
    return 0
