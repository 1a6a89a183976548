"""How andy reads beside another package: its size, its words, how dense it is, how far a call goes.

Every row is computed from the source of `andy_cli` as it stands, and from that of a package that
is installed beside it; only the last one runs something: one native call of `andy run`, against a
model server on loopback, and the files of ours in which a function runs meanwhile.
"""

import ast
import importlib.util
import io
import json
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from radon.complexity import cc_visit

from tests.benchmarks.measure import table
from tests.model_server import ModelServer, called, streamed
from tests.shell import ROOT, environment

PACKAGE = ROOT / "andy_cli"
TURN = PACKAGE / "agent" / "turn.py"
ANCHORS = ("httpx", "starlette", "httpx2")
"""The first of them that is installed stands beside; of the others the goals were taken too."""
FULL_ROOM = 15
COMPLEX = 10
CALL = ("list_mp3s", '{"path": "tests/music"}')

IRREGULAR = frozenset(
    """
    been begun bent bound bought bred broken brought built burnt caught chosen dealt done drawn
    driven eaten fallen fed felt fought found flown forgotten frozen given gone grown heard held
    hidden kept known laid led left lent lit lost made meant met paid proven ridden risen run said
    seen sent shaken shown shut slept sold sought spent spoken spun stolen stood struck stuck sung
    sunk sworn swept taken taught thought thrown told torn understood woken won worn wound written
    """.split()
)
"""Participles without `ed` that are not the verb's plain form too, as `read` and `set` are."""
PARTICIPLE = re.compile(r"(?!.*eed|shred|embed)[a-z]{2,}ed")
"""Not where `ed` is part of the verb: need, feed, proceed, shred."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LAYOUT = frozenset(
    [tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
     tokenize.ENDMARKER]
)  # fmt: skip


@dataclass
class Source:
    """A package as its files say it."""

    lines: int = 0
    code_lines: int = 0
    """Those that are not blank, a comment alone, or a docstring."""
    tokens: int = 0
    comments: int = 0
    rooms: Counter[Path] = field(default_factory=Counter)
    """Files of a folder, without its `__init__.py`."""
    complexities: list[int] = field(default_factory=list)
    nodes: list[ast.AST] = field(default_factory=list)

    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    def function_names(self) -> list[str]:
        """Without those that Python gives a meaning (`__init__`)."""
        names = [function.name for function in self.functions()]
        return [name.strip("_") for name in names if not name.startswith("__")]

    def count(self, *kinds: type[ast.AST]) -> int:
        return sum(isinstance(node, kinds) for node in self.nodes)


def read_source(folder: Path) -> Source:
    """Read every module below a folder."""
    source = Source()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        source.lines += text.count("\n")
        tree = ast.parse(text)
        source.nodes += ast.walk(tree)
        if path.name != "__init__.py":
            source.rooms[path.parent] += 1
        source.complexities += [
            block.complexity for block in cc_visit(text) if block.letter in ("F", "M")
        ]
        _count_code(source, text, _docstring_lines(tree))
    return source


def _count_code(source: Source, text: str, docstrings: frozenset[int]) -> None:
    rows: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        source.comments += token.type == tokenize.COMMENT
        if token.type in LAYOUT or token.start[0] in docstrings:
            continue
        source.tokens += 1
        rows |= set(range(token.start[0], token.end[0] + 1))
    blank = {at for at, line in enumerate(text.split("\n"), 1) if not line.strip()}
    source.code_lines += len(rows - blank)


def _docstring_lines(tree: ast.Module) -> frozenset[int]:
    """The lines of strings that stand as statements: docstrings of all kinds."""
    strings = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return frozenset(
        line
        for string in strings
        for line in range(string.lineno, (string.end_lineno or string.lineno) + 1)
    )


def measure_names(source: Source) -> tuple[float, float, float, float]:
    """Shares of one-word and participle functions and shared classes; letters of an identifier."""
    names = source.function_names()
    classes = Counter(node.name for node in source.nodes if isinstance(node, ast.ClassDef))
    shared = sum(times for times in classes.values() if times > 1) / max(1, classes.total())
    return (
        mean("_" not in name for name in names),
        mean(is_participle(name) for name in names),
        shared,
        mean(len(name.replace("_", "")) for name in bound_names(source.nodes)),
    )


def is_participle(name: str) -> bool:
    """Whether a name is a participle and nothing else: `told`, not `told_history`."""
    return name in IRREGULAR or bool(PARTICIPLE.fullmatch(name))


def bound_names(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Every name where it is given to something: a function, class, parameter or variable."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, Function | ast.ClassDef):
            yield node.name


def share_of_each(source: Source) -> float:
    """Loops, of statements and of comprehensions, whose variable is `each`."""
    targets = [
        node.target
        for node in source.nodes
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
    ]
    return mean(isinstance(target, ast.Name) and target.id == "each" for target in targets)


def count_regex_calls(source: Source) -> int:
    """Calls of functions of `re`, and expressions that are compiled when they are first asked."""
    return sum(
        isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("re.", "Expression"))
        for node in source.nodes
    )


def count_members(path: Path) -> int:
    """Attributes that a module names of its parameters and variables, each once an object."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    members = {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _root_of(node) not in imported | {""}
    }
    return len(members)


def _root_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


WATCH = """
import json, sys, threading
from inspect import CO_OPTIMIZED

package, turn, into = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
seen, before, began = set(), 0, False

def watch(frame, event, arg):
    global began
    code = frame.f_code
    in_turn = code.co_filename == turn and code.co_name == "turn"
    began = began or in_turn
    # Bodies of modules and classes run where something is imported: no call goes there.
    if began and event == "call" and code.co_flags & CO_OPTIMIZED:
        if code.co_filename.startswith(package):
            seen.add(code.co_filename)
    if in_turn and event == "return":
        finished.update(seen)

finished = set()
from andy_cli.__main__ import main
threading.setprofile(watch)
sys.setprofile(watch)
code = main()
sys.setprofile(None)
open(into, "w").write(json.dumps([code, sorted(finished)]))
"""
"""Runs `andy` and writes its exit code and the files in which a function ran within the turn."""


def visited_files() -> list[str]:
    """The files of ours that one turn with one native call goes through, in `andy run`."""
    with tempfile.TemporaryDirectory() as home:
        into = Path(home) / "visited.json"
        with ModelServer([called(*CALL), streamed("Three songs.")]) as server:
            subprocess.run(
                [sys.executable, "-c", WATCH, f"{PACKAGE}/", str(TURN), str(into),
                 "run", "--base-url", server.url, "--model", "m", "what is in tests/music?"],
                check=True, cwd=ROOT, env=environment(Path(home), PYTHONPATH=str(ROOT)),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
            )  # fmt: skip
            assert len(server.requests) == 2, "one call and one answer"
        code, visited = json.loads(into.read_text(encoding="utf-8"))
    assert code == 0, code
    return [str(Path(path).relative_to(ROOT)) for path in visited]


def measure(source: Source) -> dict[str, str]:
    """What every package has, in words."""
    one_word, participles, shared, letters = measure_names(source)
    functions, loops = len(source.functions()), share_of_each(source)
    most = source.rooms.most_common(1)[0][1]
    return {
        "lines": f"{source.lines:,}",
        "files of the fullest room": str(most),
        f"rooms over {FULL_ROOM} files": str(sum(n > FULL_ROOM for n in source.rooms.values())),
        "functions of one word": f"{one_word:.0%}",
        "functions that are a participle": f"{participles:.0%}",
        "classes that share their name": f"{shared:.0%}",
        "letters of an identifier": f"{letters:.1f}",
        "loops over `each`": f"{loops:.0%}",
        "tokens a line of code": f"{source.tokens / source.code_lines:.1f}",
        "conditional expressions per 100 functions": per(100, source.count(ast.IfExp), functions),
        "comprehensions per 100 functions": per(100, source.count(*COMPREHENSIONS), functions),
        "regex calls per 1,000 lines": per(1000, count_regex_calls(source), source.lines),
        f"functions of complexity over {COMPLEX}": str(
            sum(complexity > COMPLEX for complexity in source.complexities)
        ),
        "comments per 100 lines of code": per(100, source.comments, source.code_lines),
    }


def per(scale: int, count: int, of: int) -> str:
    return f"{scale * count / of:.1f}"


GOALS = {
    "lines": "<= 42,000",
    "files of the fullest room": f"<= {FULL_ROOM}",
    f"rooms over {FULL_ROOM} files": "0",
    "functions of one word": "11-48 %",
    "functions that are a participle": "<= 4 %",
    "classes that share their name": "<= 6 %",
    "letters of an identifier": "6.9-9.1",
    "tokens a line of code": "<= 7.4",
    "regex calls per 1,000 lines": "<= 4",
    f"functions of complexity over {COMPLEX}": "<= 60",
    "members that turn.py names": "<= 30",
    "files one native call visits": "<= 45",
}


def anchor() -> tuple[str, dict[str, str]]:
    """Another package of this environment, measured in the same way."""
    for name in ANCHORS:
        spec = importlib.util.find_spec(name)
        if spec and spec.submodule_search_locations:
            return name, measure(read_source(Path(spec.submodule_search_locations[0])))
    return "", {}


def main() -> None:
    rows = {
        **measure(read_source(PACKAGE)),
        "members that turn.py names": str(count_members(TURN)),
        "files one native call visits": str(len(visited_files())),
    }
    name, beside = anchor()
    table(
        f"house: andy_cli, beside {name or 'no other package'}",
        [
            (what, found, beside.get(what, ""), f"({GOALS[what]})" if what in GOALS else "")
            for what, found in rows.items()
        ],
    )
