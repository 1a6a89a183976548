"""`andy mcp add|list|remove|login|logout|test`."""

import asyncio
import contextlib
import shutil
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.foreign_values import as_record
from andy_cli.frontends.management.config_command import suggest_edit
from andy_cli.frontends.terminal.messages import list_choices
from andy_cli.frontends.terminal.tables import print_json, print_line, print_table
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.settings import load
from andy_cli.toolbox.mcp.connection import MISSING, NO_PROGRAM, McpConnection
from andy_cli.toolbox.mcp.hub import Hub
from andy_cli.toolbox.mcp.servers import (
    NAME,
    McpServer,
    describe_unread_files,
    find_servers,
    keep,
    read_entries,
    user_file,
)
from andy_cli.toolbox.mcp.tools import describe_left_out
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool

PROJECT = ".mcp.json"
SCOPES = ("user", "project")


def add_server(
    name: str,
    words: Sequence[str],
    env: Sequence[str],
    header: Sequence[str],
    transport: str,
    scope: str,
    source: str,
    instead: bool,
) -> None:
    """Keep a server, or those of another program's file `source`. Raises UsageError.

    `words` are the command with its arguments, or the address. `instead`: also where the file has
    another of that name.
    """
    file = find_file(scope)
    if source:
        chosen = choose_source_entries(name, Path(source))
    else:
        entry = make_entry(words, env, header, transport)
        check_program(entry, scope)
        chosen = {name: entry}
    for chosen_name in chosen:
        if not NAME.fullmatch(chosen_name):
            advice = "It holds letters, digits, `_`, `-` and `.`."
            raise UsageError(f"{chosen_name!r} is no name.", advice)
    kept = read_entries(file)
    replaced = [old for old, entry in chosen.items() if kept.get(old, entry) != entry]
    if replaced and not instead:
        raise UsageError(
            f"{file} has another server {' and '.join(replaced)}.", "Give --replace to replace it."
        )
    for chosen_name, entry in chosen.items():
        keep(chosen_name, entry, file)
    first = next(iter(chosen))
    print_line(f"Added {', '.join(chosen)} to {file}. `andy mcp test {first}` tries it.")
    if replaced:
        print_line(f"What was there under the name {' and '.join(replaced)} is replaced.")
    tell_unread_files()


def choose_source_entries(wanted: str, source: Path) -> Mapping[str, Mapping[str, object]]:
    """The servers that are wanted of another program's file. Raises UsageError."""
    if not source.is_file():
        raise UsageError(f"There is no file {source}.")
    source_entries = read_entries(source)
    chosen = {
        name: server if isinstance(server, dict) else {}
        for name, server in source_entries.items()
        if wanted in ("all", name)
    }
    if not chosen:
        raise UsageError(f"{source} has no server {wanted!r}.", list_choices(source_entries))
    return chosen


def make_entry(
    words: Sequence[str], env: Sequence[str], header: Sequence[str], transport: str
) -> Mapping[str, object]:
    """The entry for a program or an address. Raises UsageError for what does not go together."""
    if not words:
        raise UsageError(
            "There is no command and no address.",
            "andy mcp add NAME -- COMMAND ARGS, or andy mcp add NAME https://...",
        )
    first = words[0]
    is_address = first.startswith(("http://", "https://"))
    check_transport(transport, first, is_address)
    # Such a flag would say nothing of the server, and not be kept.
    kind = "an address" if is_address else "a program"
    unfit = {
        "--transport stdio": is_address and transport == "stdio",
        "--env": is_address and env,
        "--header": not is_address and header,
    }
    for flag_name in filter(unfit.get, unfit):
        raise UsageError(f"{flag_name} does not go with {kind}.", f"{first} is {kind}.")
    return make_address_entry(first, header) if is_address else make_program_entry(words, env)


def make_address_entry(address: str, header: Sequence[str]) -> Mapping[str, object]:
    headers = split_pairs(header, ":", "--header")
    return {"type": "http", "url": address, **({"headers": headers} if headers else {})}


def make_program_entry(words: Sequence[str], env: Sequence[str]) -> Mapping[str, object]:
    first, *arguments = words
    environment = split_pairs(env, "=", "--env")
    entry: dict[str, object] = {"command": first, "args": arguments}
    return {**entry, **({"env": environment} if environment else {})}


def check_program(entry: Mapping[str, object], scope: str) -> None:
    """Say that the program of an entry is not on this machine. Raises UsageError unless the entry
    is for a project, and so for others too, who may have it.
    """
    program, search_path = entry.get("command"), as_record(entry.get("env")).get("PATH")
    path = str(search_path) if search_path else None
    # `${HOME}/bin/server` is filled in where it is read.
    if not isinstance(program, str) or "${" in program or shutil.which(program, path=path):
        return
    problem = f"There is no program {program!r} here, and it is no address."
    if scope == "user":
        raise UsageError(problem, "Nothing is added.")
    sys.stderr.write(f"andy: {problem}\n")


def check_transport(transport: str, first: str, is_address: bool) -> None:
    """Raises UsageError for a transport that is none, or that the address does not have."""
    if transport not in ("", "stdio", "http", "streamable-http"):
        raise UsageError(f"There is no transport {transport!r}.", "There are: stdio, http.")
    if not is_address and ("://" in first or transport.endswith("http")):
        raise UsageError(f"{first} is no address.", "One begins with http:// or https://.")


def split_pairs(given_texts: Sequence[str], between: str, flag_name: str) -> dict[str, str]:
    split = [given_text.partition(between) for given_text in given_texts]
    if any(not separator for _, separator, _ in split):
        raise UsageError(f"{flag_name} takes NAME{between}VALUE.")
    return {name.strip(): value.strip() for name, _, value in split}


def find_file(scope: str) -> Path:
    if scope not in SCOPES:
        raise UsageError(f"There is no scope {scope!r}.", f"There are: {', '.join(SCOPES)}.")
    return user_file() if scope == "user" else Path(PROJECT)


def remove_server(name: str, scope: str) -> None:
    file = find_file(scope)
    if name not in read_entries(file):
        raise UsageError(f"{file} has no server {name!r}.", find_other_place(name, file))
    keep(name, None, file)
    print_line(f"Removed {name} from {file}.")


def find_other_place(name: str, file: Path) -> str:
    """Tell how a server is removed that is in another file than this one."""
    for scope in SCOPES:
        with contextlib.suppress(UsageError):  # the other file may be broken
            if find_file(scope) != file and name in read_entries(find_file(scope)):
                return (
                    f"`andy mcp remove {name} --scope {scope}` removes it from {find_file(scope)}."
                )
    configured = {server.name: server.file for server in load_servers()}
    if name in configured:
        return f"It is in {configured[name]}: take it out there."
    return "`andy mcp list` shows all."


def list_servers(as_json: bool) -> None:
    servers_found = load_servers()
    tell_unread_files()
    if as_json:
        print_json([make_server_record(server) for server in servers_found])
    elif servers_found:
        print_table(
            [
                (server.name, server.fault or spell_out(" ".join(server.shown)), server.file)
                for server in servers_found
            ]
        )
    else:
        print_line(
            "There are no servers. andy mcp add NAME -- COMMAND, or andy mcp add NAME https://..."
        )


def tell_unread_files() -> None:
    for note in describe_unread_files(load(), Path.cwd()):
        sys.stderr.write(f"andy: {note}\n")


def make_server_record(server: McpServer) -> dict[str, object]:
    """Without the values of headers and variables: they hold keys."""
    way, *arguments = server.shown
    return {
        "name": server.name,
        "command": way if server.command else "",
        "args": arguments,
        "url": way if server.url else "",
        "env": sorted(server.env),
        "headers": sorted(server.headers),
        "file": server.file,
        "fault": server.fault,
    }


def load_servers() -> list[McpServer]:
    return find_servers(load(), Path.cwd().resolve())


def find_server(name: str) -> McpServer:
    servers_found = {server.name: server for server in load_servers()}
    if name not in servers_found:
        notes = describe_unread_files(load(), Path.cwd())
        raise UsageError(
            f"There is no server {name!r}.", " ".join([list_choices(servers_found), *notes])
        )
    return servers_found[name]


def log_in(name: str) -> None:
    logins = import_login()

    def show(url: str) -> None:
        print_line(f"Open this page to log in:\n{url}")
        webbrowser.open(url)

    count = asyncio.run(logins.login(find_server(name), show))
    print_line(f"Logged in: {name} has {count} tools.")


def log_out(name: str) -> None:
    forgotten = import_login().logout(find_server(name))
    print_line(
        f"The login at {name} is forgotten." if forgotten else f"There was no login at {name}."
    )


def import_login() -> ModuleType:
    try:
        # The SDK takes half a second, and is an extra.
        return import_module("andy_cli.toolbox.mcp.login")
    except ImportError as error:
        raise UsageError(f"Logging in needs more: {MISSING}.") from error


def test_server(name: str, as_json: bool) -> int:
    """Connect, list the tools, end; returns the exit code."""
    trial = asyncio.run(try_server(find_server(name), tell_slow))
    if as_json:
        tool_records = [
            {"name": tool.name, "description": tool.description} for tool in trial.tools
        ]
        print_json({"name": name, "state": trial.state, "tools": tool_records})
    elif trial.state == "ready":
        print_table([(tool.name, tool.description) for tool in trial.tools] or [("no tools", "")])
    else:
        raise UsageError(f"{name} cannot be used: {trial.state}.")
    if trial.left_out:
        sys.stderr.write(f"andy: left out: {trial.left_out}\n")
    return 0 if trial.state == "ready" else 1


class ServerTrial(NamedTuple):
    """The outcome of trying a server."""

    state: str
    """As that of its connection."""
    tools: list[Tool]
    left_out: str
    """The tools that cannot be used, with why."""


SLOW_SECONDS = 1.0
"""Seconds after which it is said that a server is waited for."""


def tell_slow(server: McpServer) -> None:
    sys.stderr.write(f"Waiting for {server.name}, {server.timeout:g} s at most.\n")


async def try_server(
    server: McpServer, tell_waiting: Callable[[McpServer], None] = lambda server: None
) -> ServerTrial:
    """Start a server and list its tools; `tell_waiting` is called once if that takes a while."""
    registry = Registry()
    async with open_server(server, registry, tell_waiting) as connection:
        return ServerTrial(connection.state, list(registry), describe_left_out(connection))


@asynccontextmanager
async def open_server(
    server: McpServer, registry: Registry, tell_waiting: Callable[[McpServer], None]
) -> AsyncIterator[McpConnection]:
    """Start a server, which runs until the end, and put its tools into the registry."""
    hub = Hub([server], registry, lambda sentence: None)
    hub.start()
    try:
        (connection,) = hub.connections
        settling = asyncio.create_task(connection.wait_until_settled())
        settled, _ = await asyncio.wait([settling], timeout=SLOW_SECONDS)
        if not settled:
            tell_waiting(server)
        await settling
        yield connection
    finally:
        await hub.close()


def suggest_fix(server: McpServer, state: str = "") -> str:
    """The command that mends a server which cannot be used, or tells more of why."""
    if "andy mcp login" in state:
        return f"andy mcp login {server.name}"
    if server.fault or state.startswith(NO_PROGRAM):  # trying it says only the same again
        return suggest_edit(server.file)
    return f"andy mcp test {server.name}"
