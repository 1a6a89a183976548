"""Tools: what all of them are called and how their calls end; those of the user's own: found,
reloaded, refused, switched off; and what a project may bring."""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.messages import Status, ToolCall, ToolResult
from andy_cli.settings import load, save, trusts
from andy_cli.toolbox.collection import Collection, shipped_tools, user_folder
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, tool, words_of_name
from tests import shell
from tests.shell import Done

ROOT = Path(__file__).parents[1]

GREETING = '''
from typing import Annotated
from pydantic import Field
from andy_cli.toolbox.tool import Outcome, tool
from tests import shell
from tests.shell import Done

@tool(effect="read", action="greet {{name}}")
def {name}(name: Annotated[str, Field(description="whom")], times: int = 1) -> Outcome:
    """Greet somebody"""
    return Outcome({{"said": "{words} " + name, "times": times}}, "greeted " + name)
'''


def written(folder: Path, file: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))
    return path


@pytest.fixture
def folder(home: Path) -> Path:
    return user_folder()


def collection(workspace: Path) -> Collection:
    return Collection(load(), workspace)


def test_each_tool_has_a_title_that_reads_well_in_a_sentence() -> None:
    """As in `according to the file search`: plain words, without article, each its own."""
    titles = [each.title for each in shipped_tools()]
    assert len(titles) == len(set(titles)) == 60
    assert [each for each in titles if not re.fullmatch(r"[a-z]+(?: [a-z]+)*", each)] == []
    assert [each for each in titles if each.split()[0] in ("a", "an", "the")] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("search_memory", "search memory"),
        ("searchMemory", "search memory"),
        ("kom.memory.v1", "kom memory v1"),
        ("read-textFile", "read text file"),
        ("getHTTPPage", "get http page"),
        ("repo/search:all", "repo search all"),
        ("weather", "weather"),
        ("__", "tool"),
    ],
)
def test_a_tool_without_a_title_has_the_words_of_its_name(name: str, words: str) -> None:
    assert words_of_name(name) == words

    def made() -> str:
        """Do something"""
        return ""

    made.__name__ = name
    assert tool(effect="read", action="do it")(made).title == words
    assert tool(effect="read", action="do it", title="weather report")(made).title != words


def ended(failure: ToolError | Outcome) -> ToolResult:
    """The result of a tool that raises or returns this."""

    def ends() -> object:
        """End somehow"""
        if isinstance(failure, ToolError):
            raise failure
        return failure

    registry = Registry([tool(effect="read", action="end somehow")(ends)])
    return asyncio.run(registry.call(ToolCall("c", "ends")))


def test_the_user_is_told_the_message_and_the_model_the_advice_too() -> None:
    error = ToolError("There is no folder x.", "list_directory shows what there is.")
    result = ended(error)
    assert (result.status, result.problem) == (Status.FAILED, "There is no folder x.")
    assert result.content == "There is no folder x. list_directory shows what there is."
    assert ended(ToolError("It is shut.")).content == "It is shut."


def test_a_tool_that_ran_into_its_limit_has_timed_out() -> None:
    result = ended(ToolTimeout("It was stopped after 3 s.", "Ask for less."))
    assert (result.status, result.problem) == (Status.TIMED_OUT, "It was stopped after 3 s.")
    assert result.content == "It was stopped after 3 s. Ask for less."
    assert result.did == "end somehow"


@pytest.mark.parametrize(
    ("name", "arguments", "blank"),
    [
        ("terminal_execute", {"command": "  \n"}, ["command"]),
        ("web_search", {"query": " "}, ["query"]),
        ("trash", {"paths": [""]}, ["paths"]),
        ("gmail_send", {"to": "\t", "subject": "", "body": ""}, ["to"]),
        ("edit_file", {"path": "a", "old_string": "  ", "new_string": " "}, []),
        ("terminal_execute", {"command": "ls"}, []),
    ],
)
def test_a_call_whose_action_would_say_nothing_does_not_fit(
    name: str, arguments: dict[str, object], blank: list[str]
) -> None:
    problems = Registry([*shipped_tools()]).check(name, arguments)
    assert [problem.path for problem in problems] == blank


def test_what_could_not_be_looked_at_is_told_beside_a_success() -> None:
    result = ended(Outcome(["a"], "found 1 match", "3 files could not be opened"))
    assert (result.status, result.problem) == (Status.SUCCESS, "")
    assert result.partial == "3 files could not be opened"
    assert ended(Outcome(["a"], "found 1 match")).partial == ""


def messages(file: Path) -> Iterator[str]:
    """The texts of which a file makes what a user is told of a failure."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and name in ("ToolError", "ToolTimeout", "MissingWords"):
            for part in ast.walk(node.args[0]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def test_no_user_is_told_the_name_of_a_tool() -> None:
    names = [re.escape(each.name) for each in shipped_tools() if "_" in each.name]
    named = re.compile(rf"\b(?:{'|'.join(names)})\b")
    files = [*ROOT.glob("andy_cli/toolbox/**/*.py"), *ROOT.glob("tools/*.py")]
    told = [text for file in files for text in messages(file)]
    assert len(told) > 200
    assert [text for text in told if named.search(text) or "the user" in text] == []
    assert [each.name for each in shipped_tools() if named.search(each.unavailable_reason())] == []


def test_a_file_in_the_users_folder_is_a_tool(folder: Path, tmp_path: Path) -> None:
    file = written(folder, "hello.py", GREETING.format(name="greet", words="hello"))
    found = collection(tmp_path)
    tool = found.registry.get("greet")
    assert tool is not None
    assert tool.source == str(file)
    assert found.registry.get("list_mp3s") is not None
    assert found.take_problems() == []


def test_a_file_that_changes_comes_or_goes_is_seen_before_the_next_turn(
    folder: Path, tmp_path: Path
) -> None:
    found = collection(tmp_path)
    version = found.registry.version
    found.refresh()
    assert found.registry.version == version
    file = written(folder, "hello.py", GREETING.format(name="greet", words="hello"))
    found.refresh()
    assert found.registry.get("greet") is not None
    written(folder, "hello.py", GREETING.format(name="welcome", words="welcome"))
    found.refresh()
    assert found.registry.get("greet") is None
    assert found.registry.get("welcome") is not None
    file.unlink()
    found.refresh()
    assert found.registry.get("welcome") is None


ONE_TOOL = """
from andy_cli.toolbox.tool import tool

@tool(effect="read", action="do it")
def one({parameters}):
    'Do it.'
"""

BROKEN = [
    ("def (", "invalid syntax (line 1)"),
    ("import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all'"),
    ("raise SystemError('no')", "SystemError: no"),
    (GREETING.format(name="list_mp3s", words="x"), "there is a tool list_mp3s already"),
    (GREETING.format(name="r\u0435ad_file", words="x"), "is no name for a tool"),
    ("raise SystemExit(3)", "SystemExit: 3"),
    (ONE_TOOL.format(parameters="x, y=3"), "one cannot be used: x has no type hint: write it as"),
    (ONE_TOOL.format(parameters="*x: int"), "*x: int is no parameter that a model can fill"),
    (ONE_TOOL.format(parameters="x: type(tool)"), "the type of a parameter has to be str, int"),
    (ONE_TOOL.format(parameters="").replace("read", "see"), "effect='see' is none of read, play"),
]


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_a_file_that_cannot_be_used_is_named_and_the_others_work(
    text: str, why: str, folder: Path, tmp_path: Path
) -> None:
    written(folder, "a.py", text)
    written(folder, "b.py", GREETING.format(name="greet", words="hello"))
    found = collection(tmp_path)
    (said,) = found.take_problems()
    assert "a.py" in said
    assert why in said
    assert found.take_problems() == []
    assert found.registry.get("greet") is not None


def test_a_tool_that_cannot_say_whether_it_is_ready_is_not_offered(
    folder: Path, tmp_path: Path
) -> None:
    text = ONE_TOOL.format(parameters="").replace('it")', 'it", unavailable_reason=lambda: 1 / 0)')
    written(folder, "a.py", text)
    tools = collection(tmp_path).registry
    made = tools.get("one")
    assert made is not None
    assert "ZeroDivisionError" in made.unavailable_reason()
    assert "one" not in tools.ready_functions(tools.functions)


def test_a_tool_that_is_switched_off_is_not_there(folder: Path, tmp_path: Path) -> None:
    save("tools.disabled", ["play_*", "say"])
    names = [each.name for each in collection(tmp_path).registry]
    assert "play_mp3" not in names
    assert "list_mp3s" in names


def test_tools_of_a_project_are_there_once_it_is_trusted(home: Path) -> None:
    project = home / "project"
    written(project / ".andy" / "tools", "own.py", GREETING.format(name="greet", words="hi"))
    assert collection(project).registry.get("greet") is None
    save("trust.folders", [str(project)])
    assert collection(project).registry.get("greet") is not None
    assert collection(project / "src").registry.get("greet") is not None
    assert not trusts(load(), project / ".andy")


def test_a_package_brings_tools_by_its_entry_point(home: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    written(site, "greeter.py", GREETING.format(name="greet", words="hello"))
    written(site / "greeter-1.0.dist-info", "METADATA", "Metadata-Version: 2.1\nName: greeter\n")
    points = "[andy.tools]\nmine = greeter\n"
    written(site / "greeter-1.0.dist-info", "entry_points.txt", points)
    script = (
        "from pathlib import Path; from andy_cli.settings import load;"
        "from andy_cli.toolbox.collection import Collection;"
        "c = Collection(load(), Path.cwd());"
        "print(c.registry.get('greet').source, c.take_problems())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.stdout.strip() == "greeter []"


def andy(*words: str, folder: Path) -> Done:
    return shell.andy(*words, home=Path.home(), cwd=folder)


@pytest.mark.slow
def test_the_commands_for_tools_of_ones_own(home: Path) -> None:
    file = written(home / "here", "hello.py", GREETING.format(name="greet", words="hello"))
    added = andy("tools", "add", str(file), folder=home)
    assert (added.code, "greet (read): Greet somebody" in added.out) == (0, True)
    tested = andy("tools", "test", "greet", "name=Ida", "times=2", folder=home)
    assert (tested.code, tested.out) == (0, '{"said": "hello Ida", "times": 2}\n')
    assert "greeted Ida" in tested.err
    cannot = andy("tools", "test", "read_file", "path=nothing.txt", folder=home)
    assert (cannot.code, "crash" in cannot.err) == (1, False)
    words = ("path=nothing.txt", "old_string=a", "new_string=b")
    assert andy("tools", "test", "edit_file", *words, folder=home).code in (1, 2)
    missing = andy("tools", "test", "greet", folder=home)
    assert missing.code == 2
    assert "name" in missing.err
    assert andy("tools", "disable", "greet", folder=home).code == 0
    unknown = andy("tools", "info", "greet", folder=home)
    assert (unknown.code, "There is no tool 'greet'" in unknown.err) == (2, True)
    assert andy("tools", "enable", "greet", folder=home).code == 0
    assert "from: " in andy("tools", "info", "greet", folder=home).out
    written(home / "here", "hello.py", GREETING.format(name="greet", words="bye"))
    again = andy("tools", "add", str(file), folder=home)
    assert (again.code, "--replace" in again.err) == (2, True)
    assert andy("tools", "add", str(file), "--replace", folder=home).code == 0


BAD_FILES = [
    ("nothing.py", "x = 1", "from andy_cli.toolbox.tool import tool"),
    ("bad.py", "def (", "cannot be loaded"),
    ("untyped.py", ONE_TOOL.format(parameters="x"), "x has no type hint"),
    ("clash.py", GREETING.format(name="read_file", words="x"), "rename the function"),
]


@pytest.mark.parametrize(("name", "text", "why"), BAD_FILES)
def test_what_is_no_file_of_tools_is_not_added(name: str, text: str, why: str, home: Path) -> None:
    file = written(home / "here", name, text)
    done = andy("tools", "add", str(file), folder=home)
    assert (done.code, why in done.err) == (2, True)
    assert not (home / ".config" / "andy" / "tools").exists()


def test_what_a_tool_prints_is_no_part_of_what_andy_prints(home: Path) -> None:
    text = "print('loading')\n" + ONE_TOOL.format(parameters="") + "    print('working')\n"
    written(home / ".config" / "andy" / "tools", "one.py", text)
    done = andy("tools", "test", "one", "--json", folder=home)
    assert json.loads(done.out)["name"] == "one"
    assert ("loading\n" in done.err, "working\n" in done.err) == (True, True)


TIGHTER = '[guard]\ndeny = ["Bash(curl *)"]\nmode = "plan"\n[limits]\ncalls = 5\n'
LOOSER = [
    '[guard]\nallow = ["Bash"]\n',
    '[guard]\nmode = "auto"\n',
    'base_url = "https://evil.example/v1"\n',
    'api_key_env = "AWS_SECRET_ACCESS_KEY"\n',
    "[limits]\ncalls = 5000\n",
    '[trust]\nfolders = ["/"]\n',
    '[music]\nfolders = ["/"]\n',
]


def in_project(home: Path, monkeypatch: pytest.MonkeyPatch, text: str, trusted: bool) -> Path:
    project = home / "project"
    written(project / ".andy", "config.toml", text)
    monkeypatch.chdir(project)
    if trusted:
        save("trust.folders", [str(project)])
    return project


def test_a_trusted_project_tightens(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_project(home, monkeypatch, TIGHTER, trusted=True)
    settings = load(flags={"guard.mode": "auto"})
    assert settings.texts("guard.deny") == ("Bash(curl *)",)
    assert (settings.text("guard.mode"), settings.whole("limits.calls")) == ("plan", 5)
    assert settings.notes == []


def test_what_a_trusted_project_forbids_is_forbidden_in_its_folders(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = in_project(home, monkeypatch, TIGHTER, trusted=True)
    inner = project / "vendor" / "part"
    written(inner / ".andy", "config.toml", '[guard]\ndeny = ["Write"]\n')
    for folder in (inner.parent, inner):
        monkeypatch.chdir(folder)
        assert load().texts("guard.deny") == ("Bash(curl *)",)
    assert "part/.andy/config.toml is not read" in load().notes[0]
    save("trust.folders", [str(project), str(inner)])
    assert set(load().texts("guard.deny")) == {"Write", "Bash(curl *)"}
    monkeypatch.chdir(home)
    assert load().texts("guard.deny") == ()


@pytest.mark.parametrize("text", LOOSER)
def test_a_project_never_loosens(text: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each: load()[each].value for each in ("guard.allow", "guard.mode", "base_url")}
    in_project(home, monkeypatch, text, trusted=True)
    settings = load()
    assert "may not set" in settings.notes[0]
    assert {each: settings[each].value for each in before} == before
    assert settings.whole("limits.calls") == 50


@pytest.mark.parametrize("text", [TIGHTER, *LOOSER, "not [ toml"])
def test_a_project_that_is_not_trusted_is_not_read(
    text: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_project(home, monkeypatch, text, trusted=False)
    settings = load()
    assert settings.texts("guard.deny") == ()
    assert "andy trust" in settings.notes[0]


def test_an_env_file_of_a_project_moves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = in_project(home, monkeypatch, TIGHTER, trusted=False)
    written(project, ".env", "ANDY_CONFIG_DIR=./.andy\nANDY_MODE=auto\n")
    assert load().text("guard.mode") == "ask"
    assert user_folder() == home / ".config" / "andy" / "tools"


@pytest.mark.slow
def test_trust_is_given_shown_and_taken_back(home: Path) -> None:
    project = home / "project"
    project.mkdir()
    assert andy("trust", folder=project).code == 0
    assert andy("trust", "--list", folder=project).out == f"{project}\n"
    assert andy("trust", "--remove", folder=project).code == 0
    assert andy("trust", "--list", folder=project).out == "No folder is trusted.\n"
    assert andy("trust", "nowhere", folder=project).code == 2


@pytest.mark.parametrize("fault", [SystemExit(3), KeyboardInterrupt(), StopIteration()])
def test_what_would_end_the_program_ends_the_call_alone(fault: BaseException) -> None:
    @tool(effect="read", action="leave")
    def leave() -> str:
        """Leave"""
        raise fault

    result = asyncio.run(Registry([leave]).call(ToolCall("1", "leave")))
    assert result.status is Status.FAILED
    assert type(fault).__name__ in result.problem
