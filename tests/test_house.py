"""The shape of the code, kept by a test: imports point downwards."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from subprocess import run

import pytest
from radon.complexity import cc_visit_ast
from radon.visitors import Function

from tests.benchmarks.house import TURN, count_members, is_participle
from tests.cases import loop_over

ROOT = Path(__file__).parents[1]
FILES = sorted([*ROOT.glob("andy_cli/**/*.py"), *ROOT.glob("tools/*.py")])

LAYERS = """
__main__
cli
frontends engines
agent
compiler toolbox models sessions
guard
settings phrases
resources discover actions
events
messages
errors foreign_values fenced_text call_notes
__init__
"""
LAYER = {name: row for row, names in enumerate(LAYERS.split("\n")) for name in names.split()}


@cache
def read_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def list_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Walk through a file once for all tests."""
    return tuple(ast.walk(read_tree(path)))


def imports(path: Path) -> Iterator[str]:
    """The rooms, or root modules, of ours that a file imports."""
    for node in list_nodes(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            assert package != "tools", f"{path}: tools are loaded by path, never imported"
            if package == "andy_cli":
                assert rest not in {"", "*"}, f"{path}: name what you import from andy_cli"
                room = rest.partition(".")[0]
                yield room if room in LAYER else "__init__"


@loop_over("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    relative = path.relative_to(ROOT)
    if relative.parts[0] == "tools":
        assert set(imports(path)) <= {"toolbox"}
        return
    home = relative.parts[1].removesuffix(".py")
    assert home in LAYER, f"{home} is no room and no root word: add it to LAYERS or move it"
    upwards = [name for name in imports(path) if name != home and LAYER[name] <= LAYER[home]]
    assert not upwards, f"{home} must not import {upwards}"


@loop_over("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_hides_behind_a_type_checker(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "TYPE_CHECKING" not in text
    assert "type: ignore" not in text


def test_the_turn_is_read_in_a_minute() -> None:
    assert len(TURN.read_text(encoding="utf-8").splitlines()) <= 120
    assert count_members(TURN) <= 30


def test_no_two_classes_share_a_name() -> None:
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in read_tree(path).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_no_module_names_two_things_alike() -> None:
    twice: list[str] = []
    for path in ROOT.glob("andy_cli/**/*.py"):
        names: Counter[str] = Counter()
        for node in read_tree(path).body:
            if isinstance(node, ast.Assign):
                names.update(target.id for target in node.targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names[node.name] += 1
        twice += [f"{path.relative_to(ROOT)}: {name}" for name, n in names.items() if n > 1]
    assert twice == []


def test_a_loop_says_what_it_goes_through() -> None:
    loops = [
        f"{path.relative_to(ROOT)}:{node.target.lineno}"
        for path in FILES
        for node in list_nodes(path)
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
        and any(isinstance(name, ast.Name) and name.id == "each" for name in ast.walk(node.target))
    ]
    assert loops == []


def test_a_docstring_says_what_something_does_or_is() -> None:
    riddles = [
        f"{path.relative_to(ROOT)}:{node.lineno} {text.splitlines()[0]}"
        for path in FILES
        for node in list_nodes(path)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(text := node.value.value, str)
        and re.match(r"(What|Whether|Who|Where|How|That)\b", text)
    ]
    assert riddles == []


def test_functions_are_named_for_what_they_do() -> None:
    participles = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in FILES
        for node in list_nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_participle(node.name.strip("_"))
        and node.name.strip("_") != "run"
        and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert participles == []


def test_no_function_has_more_than_ten_branches() -> None:
    branching = [
        f"{path.relative_to(ROOT)}:{block.name} {block.complexity}"
        for path in FILES
        for block in cc_visit_ast(read_tree(path))
        if isinstance(block, Function) and block.complexity > 10
    ]
    assert branching == []


def test_no_conditional_expression_stands_in_another() -> None:
    chained = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        for node in list_nodes(path)
        if isinstance(node, ast.IfExp)
        and any(isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node)
    ]
    assert chained == []


def test_no_room_is_crowded() -> None:
    rooms = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert {str(room.relative_to(ROOT)): files for room, files in rooms.items() if files > 15} == {}


CITED = re.compile(r"\(((?:[A-DRP]\d{1,2}(?:, | to |; )?)+)\)")


def test_nothing_lies_beside_the_rooms() -> None:
    """What a script wrote into the folder it ran in was committed once, and nobody saw it."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    files = run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.partition("/")[0] for line in files.splitlines()}
    assert {name for name in top if not name.startswith(".")} == {
        *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
        *("andy_cli", "docs", "prompts", "pyproject.toml", "tests", "tools"),
    }


def test_every_demand_that_is_cited_has_its_words() -> None:
    known = set(re.findall(r"\*\*([A-DRP]\d+)\*\*", (ROOT / "docs/demands.md").read_text()))
    cited = {
        number
        for path in FILES
        for match in CITED.finditer(path.read_text(encoding="utf-8"))
        for number in re.findall(r"[A-DRP]\d+", match[1])
    }
    assert len(cited) > 10
    assert cited <= known
