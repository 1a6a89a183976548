"""The MCP servers there are, in the files that this and other programs keep.

    {"mcpServers": {"files": {"command": "npx", "args": ["-y", "..."], "env": {"KEY": "${KEY}"}}}}
    {"servers": {"memory": {"type": "http", "url": "https://a.example/mcp", "headers": {...}}}}
    {"mcpServers": {"search": {"httpUrl": "https://a.example/mcp", "includeTools": ["find"]}}}

Ours is `mcp.json` in the configuration folder. A project's (`.mcp.json`, `.cursor/mcp.json`,
`.vscode/mcp.json`, `.andy/mcp.json`) are read once its folder is trusted: they start programs.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from andy_cli.errors import UsageError
from andy_cli.settings import (
    Settings,
    config_folder,
    hold_folder,
    list_trusted_folders,
    replace_file,
    state_folder,
    trusts,
)

PROJECT_FILES = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".andy/mcp.json")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,47}")
VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
INPUT = re.compile(r"\$\{(?:input|workspaceFolder|userHome)[^}]*\}")
SWITCHED_OFF = "it is switched off in its file"
FITS_NOTHING: Mapping[str, Any] = {"type": "object", "not": {}}
"""The schema of a tool whose own is none: no arguments fit it."""
CONNECT_TIMEOUT = 60.0
"""Seconds a server may take to be ready: some are fetched first."""


class McpServer(NamedTuple):
    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = {}
    timeout: float = CONNECT_TIMEOUT
    """Seconds to connect, and for a call to be answered."""
    include: tuple[str, ...] = ()
    """The tools that are wanted; none: all."""
    exclude: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    """The setting `tools.disabled`: patterns for whole names, such as `files.write_*`."""
    effect: str = ""
    """The effect that the user's own file gives its tools: `read` or `network` ask less often."""
    fault: str = ""
    """Why it cannot be used."""
    file: str = ""
    """The file it is written in."""
    written: tuple[str, ...] = ()
    """The command and its arguments, or the address, as the file has them: with `${KEY}`."""

    @property
    def is_off(self) -> bool:
        """Tell whether the user wants it unused: that is no fault to be told of or mended."""
        return self.fault == SWITCHED_OFF

    @property
    def where(self) -> str:
        """The way to reach it, in one line; the values of variables are in it."""
        return self.url or " ".join((self.command, *self.args))

    @property
    def shown(self) -> tuple[str, ...]:
        """The way to reach it, for people: not with the values of variables, which may be keys."""
        return self.written or (self.url or self.command, *self.args)


class ServerTool(NamedTuple):
    """A tool as its server describes it: nothing of it is trusted."""

    name: str
    description: str
    schema: Mapping[str, Any]
    title: str = ""
    only_reads: bool = False
    """Its server says so: that allows nothing, but then it has done nothing either."""


def log_of(server: McpServer) -> Path:
    """Return the log of a server that is a program: what it writes beside its answers."""
    return state_folder() / "mcp" / f"{server.name}.log"


def user_file() -> Path:
    return config_folder() / "mcp.json"


def find_servers(
    settings: Settings, workspace: Path, more_files: Iterable[Path] = ()
) -> list[McpServer]:
    """All servers, those of `more_files` before the user's and those of trusted projects; of one
    name the first. Raises UsageError for a file of the user's own that cannot be read."""
    servers_by_name: dict[str, McpServer] = {}
    for file in (*more_files, user_file()):
        for server in read(file, os.environ, is_own=True):
            servers_by_name.setdefault(server.name, server)
    for project in list_trusted_folders(settings, workspace):
        for name in PROJECT_FILES:
            for server in read(project / name, os.environ):
                # Its command may name files from there, wherever below andy was started.
                started_there = server._replace(cwd=str(project / server.cwd))
                servers_by_name.setdefault(server.name, started_there)
    disabled = settings.texts("tools.disabled")
    return [server._replace(disabled=tuple(disabled)) for server in servers_by_name.values()]


def describe_unread_files(settings: Settings, workspace: Path) -> list[str]:
    """Say which files of this folder are not read before it is trusted; nothing where none is."""
    if trusts(settings, workspace):
        return []
    names = [name for name in PROJECT_FILES if (workspace / name).is_file()]
    verb = "is" if len(names) == 1 else "are"
    note = f"{' and '.join(names)} {verb} not read: `andy trust` lets this folder start servers."
    return [note] if names else []


def read(file: Path, environment: Mapping[str, str], is_own: bool = False) -> Iterator[McpServer]:
    """The servers of one file, of whichever program. Raises UsageError."""
    for name, entry in read_entries(file).items():
        yield parse_entry(name, entry, str(file), environment, is_own)


def read_entries(file: Path) -> Mapping[str, object]:
    if not file.is_file():
        return {}
    try:
        tree = json.loads(without_comments(file.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read: {error}. Correct it or move it away.") from error
    listed = tree.get("mcpServers", tree.get("servers", {})) if isinstance(tree, dict) else None
    if not isinstance(listed, dict):
        raise UsageError(f"{file} lists no servers.", 'It holds {"mcpServers": {NAME: {...}}}.')
    return listed


def without_comments(text: str) -> str:
    """Some editors keep comments and trailing commas in their JSON."""
    return _drop_between_texts(r",(?=\s*[}\]])", _drop_between_texts(r"//[^\n]*|/\*.*?\*/", text))


def _drop_between_texts(expression: str, json_text: str) -> str:
    """Drop what an expression matches, but within the texts of a JSON."""
    pattern = rf'("(?:[^"\\]|\\.)*")|{expression}'
    return re.sub(pattern, lambda match: match[1] or "", json_text, flags=re.S)


def parse_entry(
    name: str, entry: object, file: str, environment: Mapping[str, str], is_own: bool
) -> McpServer:
    """One entry. What is wrong with it is its fault; the others are none the worse for it."""
    try:
        return _read_entry(name, entry, file, environment, is_own)
    except (TypeError, ValueError) as error:
        return McpServer(name=str(name)[:60], fault=str(error), file=file)


def _read_effect(filled: Mapping[str, object]) -> str:
    effect = _text(filled, "effect")
    if effect not in ("", "read", "network", "write", "run", "act"):
        raise ValueError(f"its effect {effect!r} is none")
    return effect


def _read_seconds(written: object) -> float:
    if not isinstance(written, int | float) or not 0 < written < 1e9:
        raise ValueError("its timeout is no number of seconds")
    # Programs that count in milliseconds write thousands.
    return written / 1000 if written >= 1000 else float(written)


def _read_entry(
    name: str, entry: object, file: str, environment: Mapping[str, str], is_own: bool
) -> McpServer:
    if not NAME.fullmatch(name):
        raise ValueError("its name may hold letters, digits, `_`, `-` and `.` only")
    if not isinstance(entry, dict):
        raise TypeError("it is no object")
    if entry.get("disabled") is True or entry.get("enabled") is False:
        raise ValueError(SWITCHED_OFF)
    filled_entry = {key: _fill_variables(value, environment) for key, value in entry.items()}
    url = _find_address(filled_entry)
    command = _text(filled_entry, "command")
    if bool(url) == bool(command):
        raise ValueError("it needs either a command or a url")
    if _text(filled_entry, "type") == "sse":
        raise ValueError(
            "it speaks the old SSE transport only; ask for its streamable HTTP address"
        )
    return McpServer(
        name=name,
        command=command,
        args=_texts(filled_entry, "args"),
        env=_pairs(filled_entry, "env"),
        cwd=_text(filled_entry, "cwd"),
        url=url,
        headers=_pairs(filled_entry, "headers"),
        timeout=_read_seconds(filled_entry.get("timeout", CONNECT_TIMEOUT)),
        include=_texts(filled_entry, "includeTools"),
        exclude=_texts(filled_entry, "excludeTools"),
        # In a file of another program the word means nothing, or something else.
        effect=_read_effect(filled_entry) if is_own else "",
        file=file,
        written=(_find_address(entry) or _text(entry, "command"), *_texts(entry, "args")),
    )


def _find_address(entry: Mapping[str, object]) -> str:
    return _text(entry, "httpUrl") or _text(entry, "url")


def _fill_variables(value: object, environment: Mapping[str, str]) -> object:
    """With `${VAR}` and `${VAR:-default}` replace_file, however deep."""
    if isinstance(value, list):
        return [_fill_variables(element, environment) for element in value]
    if isinstance(value, dict):
        return {
            key: _fill_variables(inner_value, environment) for key, inner_value in value.items()
        }
    if not isinstance(value, str):
        return value
    if input_match := INPUT.search(value):
        raise ValueError(
            f"{input_match[0]} is known to another program only: write the value instead"
        )

    def variable(variable_match: re.Match[str]) -> str:
        default: str | None = variable_match[2]
        variable_value = environment.get(variable_match[1]) or default
        if variable_value is None:
            raise ValueError(f"the environment variable {variable_match[1]} is not set")
        return variable_value

    return VARIABLE.sub(variable, value)


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise TypeError(f"its {key} is no text")
    return value


def _texts(entry: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list):
        raise TypeError(f"its {key} is no list")
    return tuple(map(_write_value, value))


def _pairs(entry: Mapping[str, object], key: str) -> Mapping[str, str]:
    value = entry.get(key) or {}
    if not isinstance(value, dict):
        raise TypeError(f"its {key} is no object")
    return {
        str(name): _write_value(inner_value)
        for name, inner_value in value.items()
        if inner_value is not None
    }


def _write_value(value: object) -> str:
    """As JSON has it: a program that is told `true` does not know `True`."""
    return value if isinstance(value, str) else json.dumps(value)


def keep(name: str, entry: Mapping[str, object] | None, file: Path) -> None:
    """Write a server into a file, or take it out (None); the rest of the file stays as it is.

    Raises UsageError for a file that cannot be read or written.
    """
    try:
        with hold_folder(file.parent):
            text = file.read_text(encoding="utf-8-sig") if file.is_file() else "{}"
            tree = json.loads(without_comments(text))
            key = "servers" if "servers" in tree and "mcpServers" not in tree else "mcpServers"
            listed = tree.setdefault(key, {})
            listed.pop(name, None)
            if entry is not None:
                listed[name] = dict(entry)
            replace_file(file, json.dumps(tree, ensure_ascii=False, indent=2) + "\n")
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{file} cannot be written: {error}.") from error
