"""`andy mcp add|list|remove|login|logout|test`."""

import asyncio
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from andy_cli.errors import UsageError
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.settings import load
from andy_cli.toolbox.mcp.connection import MISSING
from andy_cli.toolbox.mcp.hub import Hub
from andy_cli.toolbox.mcp.servers import NAME, McpServer, entries, keep, servers, user_file
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

PROJECT = ".mcp.json"


@dataclass(frozen=True, slots=True)
class New:
    """The arguments of `andy mcp add`."""

    name: str
    words: Sequence[str] = ()
    """The command and its arguments, or the address."""
    env: Sequence[str] = ()
    header: Sequence[str] = ()
    transport: str = ""
    scope: str = "user"
    source: str = ""
    """A file of another program to take servers from."""


def add(new: New) -> None:
    file = file_of(new.scope)
    if new.source:
        taken = entries(Path(new.source))
        chosen = {name: server for name, server in taken.items() if new.name in ("all", name)}
        if not chosen:
            named = ", ".join(taken) or "none"
            raise UsageError(f"{new.source} has no server {new.name!r}.", f"There are: {named}.")
        for name, server in chosen.items():
            keep(name, server if isinstance(server, dict) else {}, file)
        say(f"Added {', '.join(chosen)} to {file}.")
        return
    if not NAME.fullmatch(new.name):
        raise UsageError(f"{new.name!r} is no name.", "It holds letters, digits, `_`, `-` and `.`.")
    keep(new.name, entry(new), file)
    say(f"Added {new.name} to {file}. `andy mcp test {new.name}` tries it.")


def entry(new: New) -> Mapping[str, object]:
    if not new.words:
        raise UsageError(
            "There is no command and no address.",
            "andy mcp add NAME -- COMMAND ARGS, or andy mcp add NAME https://...",
        )
    first = new.words[0]
    remote = new.transport in ("http", "streamable-http") or first.startswith(
        ("http://", "https://")
    )
    if new.transport not in ("", "stdio", "http", "streamable-http"):
        raise UsageError(f"There is no transport {new.transport!r}.", "There are: stdio, http.")
    if remote:
        headers = pairs(new.header, ":", "--header")
        return {"type": "http", "url": first, **({"headers": headers} if headers else {})}
    env = pairs(new.env, "=", "--env")
    made: dict[str, object] = {"command": first, "args": list(new.words[1:])}
    return {**made, **({"env": env} if env else {})}


def pairs(given: Sequence[str], between: str, flag: str) -> dict[str, str]:
    split = [pair.partition(between) for pair in given]
    if any(not found for _, found, _ in split):
        raise UsageError(f"{flag} takes NAME{between}VALUE.")
    return {name.strip(): value.strip() for name, _, value in split}


def file_of(scope: str) -> Path:
    if scope not in ("user", "project"):
        raise UsageError(f"There is no scope {scope!r}.", "There are: user, project.")
    return user_file() if scope == "user" else Path(PROJECT)


def remove(name: str, scope: str) -> None:
    file = file_of(scope)
    if name not in entries(file):
        raise UsageError(f"{file} has no server {name!r}.", "`andy mcp list` shows all.")
    keep(name, None, file)
    say(f"Removed {name} from {file}.")


def list_servers(as_json: bool) -> None:
    found = known()
    if as_json:
        print_json([as_record(server) for server in found])
    elif found:
        print_table(
            [
                (server.name, server.fault or spell_out(server.where), server.file)
                for server in found
            ]
        )
    else:
        say("There are no servers. andy mcp add NAME -- COMMAND, or andy mcp add NAME https://...")


def as_record(server: McpServer) -> dict[str, object]:
    """Without the values of headers and variables: they hold keys."""
    return {
        "name": server.name,
        "command": server.command,
        "args": list(server.args),
        "url": server.url,
        "env": sorted(server.env),
        "headers": sorted(server.headers),
        "file": server.file,
        "fault": server.fault,
    }


def known() -> list[McpServer]:
    return servers(load(), Path.cwd().resolve())


def named(name: str) -> McpServer:
    found = {server.name: server for server in known()}
    if name not in found:
        there = ", ".join(found) or "none"
        raise UsageError(f"There is no server {name!r}.", f"There are: {there}.")
    return found[name]


def login(name: str) -> None:
    logins = login_module()

    def show(url: str) -> None:
        say(f"Open this page to log in:\n{url}")
        webbrowser.open(url)

    count = asyncio.run(logins.login(named(name), show))
    say(f"Logged in: {name} has {count} tools.")


def logout(name: str) -> None:
    forgotten = login_module().logout(named(name))
    say(f"The login at {name} is forgotten." if forgotten else f"There was no login at {name}.")


def login_module() -> ModuleType:
    try:
        # The SDK takes half a second, and is an extra.
        return import_module("andy_cli.toolbox.mcp.login")
    except ImportError as error:
        raise UsageError(f"Logging in needs more: {MISSING}.") from error


def test(name: str, as_json: bool) -> int:
    """Connect, list the tools, end; returns the exit code."""
    state, tools = asyncio.run(tried(named(name)))
    if as_json:
        told = [{"name": tool.name, "description": tool.description} for tool in tools]
        print_json({"name": name, "state": state, "tools": told})
    elif state == "ready":
        print_table([(tool.name, tool.description) for tool in tools] or [("no tools", "")])
    else:
        raise UsageError(f"{name} cannot be used: {state}.")
    return 0 if state == "ready" else 1


async def tried(server: McpServer) -> tuple[str, list[Tool]]:
    registry = Registry()
    hub = Hub([server], registry, lambda sentence: None)
    hub.start()
    try:
        await hub.connections[0].wait_until_settled()
        return hub.connections[0].state, [*registry]
    finally:
        await hub.close()


def mcp_fix(server: McpServer, state: str = "") -> str:
    """The command that mends a server which cannot be used, or tells more of why."""
    if "andy mcp login" in state:
        return f"andy mcp login {server.name}"
    return f"andy mcp test {server.name}"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
