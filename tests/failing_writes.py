"""Every file that andy keeps, written while one step of writing it fails.

    for scenario in SCENARIOS: failures(scenario, errno.ENOSPC)

A scenario writes files below a folder: counted first, then once for each step that can fail. What
it gives is what is wrong then, in words; nothing if all is well.
"""

import asyncio
import contextlib
import errno
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from mcp.shared.auth import OAuthToken

from andy_cli import settings
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.errors import AndyError, ToolError
from andy_cli.events import Event, Failed
from andy_cli.frontends.management import tools_command
from andy_cli.frontends.replaying import capture_reader
from andy_cli.guard.gate import Gate
from andy_cli.models import memory
from andy_cli.models.capture import Capture
from andy_cli.models.client import Endpoint
from andy_cli.sessions.log import Log, read, read_records
from andy_cli.settings import load
from andy_cli.toolbox.google.lazy import login_file
from andy_cli.toolbox.google.login import vault
from andy_cli.toolbox.mcp import servers
from andy_cli.toolbox.mcp.login import Tokens
from andy_cli.toolbox.terminal.output import Spool
from tests.failing_disk import IN_MEMORY, Disk, failing
from tests.fakes import ScriptedModel, native
from tests.google import accounts
from tests.marking_conversation import TOOL
from tests.scripted_conversation import MUSIC
from tests.tools import ran, shipped, work_in

ERRORS = (errno.ENOSPC, errno.EROFS, errno.EIO)
HERE = Endpoint("openai", "m", "http://127.0.0.1:9/v1")
Problems = Iterator[str]


class Failure(NamedTuple):
    scenario: str
    step: int
    error: str
    short: bool
    problem: str


class Done(NamedTuple):
    steps: int
    """Writes, renames, ... that were let fail, each once."""
    failures: Sequence[Failure]


def break_each_step(name: str, error: int, short: bool = False) -> Done:
    """Run a scenario as often as it has steps; each time another one fails."""
    scenario = SCENARIOS[name]
    steps, failures = 0, []
    with home() as folder:
        disk = Disk(folder)
        found = [*scenario(folder, disk)]
        assert not found, f"{name} does not even work where nothing fails: {found}"
        steps = disk.calls
    for step in range(steps):
        with home() as folder:
            for problem in scenario(folder, Disk(folder, step, 1, error, short)):
                failures.append(Failure(name, step, errno.errorcode[error], short, problem))
    return Done(steps, failures)


@contextlib.contextmanager
def home() -> Iterator[Path]:
    """A folder for everything that is kept, by the variables that say so."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as made, pytest.MonkeyPatch.context() as patch:
        folder = Path(made).resolve()
        patch.setenv("HOME", str(folder))
        for name in ("STATE", "DATA", "CONFIG"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
        patch.delenv("ANDY_CONFIG_DIR", raising=False)
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield folder


def attempt(disk: Disk, act: Callable[[], object]) -> tuple[object, str]:
    """Do something on the disk: what it gives and what is said if that cannot be done.

    Any other exception than ours is a traceback for the user, and goes through.
    """
    with failing(disk), contextlib.redirect_stdout(io.StringIO()):
        try:
            return act(), ""
        except (AndyError, ToolError) as error:
            return None, str(error)


def look_for_drafts(folder: Path) -> Problems:
    for path in folder.rglob("*"):
        if path.name.endswith(".new") or (path.name.startswith(".") and path.is_file()):
            yield f"a draft was left: {path.name}"


def compare(now: object, old: object, new: object, said: str) -> Problems:
    """A file that is replaced is the old or the new one, and the old one only if that is said."""
    if now not in (old, new):
        yield f"neither the old nor the new one is there, but {now!r}"
    if now == old and not said:
        yield "it is not there and nothing is said of it"


# What goes on although something could not be written.


def keep_session(folder: Path, disk: Disk) -> Problems:
    """Two turns with a tool: all is kept in the end, and it is told at most once in a turn."""
    log = Log(folder / "sessions", "s")
    model = ScriptedModel([native(("ping", "")), "One.", native(("ping", "")), "Two."], tools=True)
    chat = Conversation(model, MUSIC, Gate(folder), load(environment={}), folder, log)

    async def talk() -> list[list[Event]]:
        return [[event async for event in turn(chat, words)] for words in ("ping", "again")]

    with failing(disk):
        turns = asyncio.run(talk())
        log.close()
    for seen in turns:
        told = [event for event in seen if isinstance(event, Failed) and event.kind == "session"]
        if len(told) > 1:
            yield f"it is told {len(told)} times"
    if [*read(log.path)] != chat.history.messages:
        yield "a message is not kept"
    numbers = [record["seq"] for record in read_records(log.path)]
    if numbers != [*range(1, len(numbers) + 1)]:
        yield f"the numbers are {numbers}"


def keep_capture(folder: Path, disk: Disk) -> Problems:
    said = io.StringIO()
    with failing(disk), contextlib.redirect_stderr(said):
        capture = Capture(folder / "captures")
        for number in range(3):
            exchange = capture.exchange(HERE, {"messages": [number]})
            exchange.chunk(b"data: x\n\n")
            exchange.end()
        capture.write_rest()  # as at exit
    if said.getvalue().count("\n") > 1:
        yield "it is said more than once"
    found = capture_reader.read_capture(capture.path).requests
    whole = [each for each in found if each.ended and each.pieces]
    if [each.body.get("messages") for each in whole] != [[0], [1], [2]]:
        yield f"{len(whole)} of 3 requests were kept"


def keep_output(folder: Path, disk: Disk) -> Problems:
    """The whole output of a command: what is not there is not promised."""
    with failing(disk):
        spool = Spool([])
        for line in range(3):
            spool.write(f"line {line}\n" * 50)
        spool.close()
    files = [*(folder / "state" / "andy" / "terminal").glob("*.txt")]
    whole = len(files) == 1 and files[0].read_text() == "".join(
        f"line {line}\n" * 50 for line in range(3)
    )
    if spool.said.startswith("the whole") and not whole:
        yield f"{spool.said!r} is not true"


def remember_model(folder: Path, disk: Disk) -> Problems:
    memory.learn_refusal(HERE, "react", "old")
    kept, said = attempt(disk, lambda: memory.learn_refusal(HERE, "hermes", "new"))
    yield from compare(
        memory.recall_model(HERE).why, "old", "new", said or ("" if kept else "not kept")
    )
    yield from drafts_of(folder / "state", "models.json")


def drafts_of(folder: Path, name: str) -> Problems:
    for path in folder.rglob(f"*{name}*"):
        if path.name != name:
            yield f"a draft was left: {path.name}"


# What the user asked for, and is told if it cannot be done.


def change_setting(folder: Path, disk: Disk) -> Problems:
    settings.save("model", "old")
    _, said = attempt(disk, lambda: settings.save("model", "new"))
    yield from compare(load(environment=os.environ).text("model"), "old", "new", said)
    yield from look_for_drafts(folder)


def change_first_setting(folder: Path, disk: Disk) -> Problems:
    _, said = attempt(disk, lambda: settings.save("model", "new"))
    yield from compare(load(environment=os.environ).text("model"), "", "new", said)
    yield from look_for_drafts(folder)


def add_server(folder: Path, disk: Disk) -> Problems:
    file = servers.user_file()
    servers.keep("one", {"command": "x"}, file)
    _, said = attempt(disk, lambda: servers.keep("two", {"command": "y"}, file))
    yield from compare([*servers.read_entries(file)], ["one"], ["one", "two"], said)
    yield from look_for_drafts(folder)


def keep_login_at_server(folder: Path, disk: Disk) -> Problems:
    tokens = Tokens(folder / "data" / "andy" / "mcp" / "far.json")

    def keep(token: str) -> None:
        asyncio.run(tokens.set_tokens(OAuthToken(access_token=token)))

    keep("old")
    attempt(disk, lambda: keep("new"))
    found = asyncio.run(tokens.get_tokens())
    yield from compare(found.access_token if found else None, "old", "new", tokens.problem)
    yield from look_for_drafts(folder)


def keep_login_at_google(folder: Path, disk: Disk) -> Problems:
    old = accounts.hold()
    new = vault.GoogleAccount("new@example.org", old.client_id, old.scopes, "file")
    _, said = attempt(
        disk, lambda: vault.keep_login(new, vault.GoogleSecrets("s", "refresh", "a", 0.0))
    )
    connected = vault.connected_account()
    yield from compare(connected and connected.email, old.email, new.email, said)
    if (
        connected
        and connected.email == new.email
        and vault.load_secrets().refresh_token != "refresh"
    ):
        yield "the secrets are those of another login"
    for path in login_file().parent.iterdir():
        if path != login_file() and path.is_file():
            yield f"a draft was left: {path.name}"


def add_tool(folder: Path, disk: Disk) -> Problems:
    source = folder.parent / f"{folder.name}.mark.py"
    source.write_text(TOOL)
    there = folder / "config" / "andy" / "tools" / source.name
    there.parent.mkdir(parents=True)
    old = "# another"
    there.write_text(old)
    try:
        _, said = attempt(disk, lambda: tools_command.add_file(source, instead=True))
    finally:
        source.unlink()
    yield from compare(there.read_text(), old, TOOL, said)
    yield from look_for_drafts(folder)


def write_file(folder: Path, disk: Disk) -> Problems:
    """The tool, in the user's own folder."""
    (folder / "a.txt").write_text("old")
    work_in(folder)
    tools = shipped("files")

    def write() -> None:
        result = ran(tools, "write_file", [folder], path="a.txt", content="new")
        if not result.ok:
            raise ToolError(result.content)

    _, said = attempt(disk, write)
    yield from compare((folder / "a.txt").read_text(), "old", "new", said)
    if [path.name for path in folder.iterdir()] != ["a.txt"]:
        yield "something else was left in the folder"


SCENARIOS: dict[str, Callable[[Path, Disk], Problems]] = {
    "session": keep_session,
    "capture": keep_capture,
    "output of a command": keep_output,
    "models.json": remember_model,
    "setting": change_setting,
    "first setting": change_first_setting,
    "MCP server": add_server,
    "login at an MCP server": keep_login_at_server,
    "login at Google": keep_login_at_google,
    "tool of the user's": add_tool,
    "write_file": write_file,
}


def as_line(failure: Failure) -> str:
    return json.dumps(failure._asdict())
