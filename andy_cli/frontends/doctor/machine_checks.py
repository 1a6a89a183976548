"""Checks of `andy doctor` without a network: this machine, the settings, the rules."""

import contextlib
import errno
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from andy_cli import __version__
from andy_cli.agent.prompt.system_prompt import find_instruction_files
from andy_cli.compiler.detect import describe_detection
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.management.config_command import suggest_edit
from andy_cli.guard.rules import find_unreachable_rules, read_rules
from andy_cli.models import select
from andy_cli.models.kept_keys import keys_file
from andy_cli.settings import (
    Settings,
    config_folder,
    data_folder,
    list_trusted_folders,
    load_what_fits,
    state_folder,
)
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.google.lazy import LOG_IN_COMMAND
from andy_cli.toolbox.google.login import scopes
from andy_cli.toolbox.google.login.vault import connected_account
from andy_cli.toolbox.mcp.servers import find_servers

MIN_COLUMNS = 40
"""Columns below which answers are hard to read."""
TIGHT, FULL = 500_000_000, 20_000_000
"""Bytes that are left on a disk: weights do not fit any more, sessions soon will not."""
EDIT = "andy config edit"
Grade = Literal["ok", "warn", "fail"]


class Finding(NamedTuple):
    """The result of one check."""

    subject: str
    grade: Grade
    message: str
    fix: str = ""
    """The command that mends it, as it is typed."""


def look_at_python() -> Finding:
    message = f"andy {__version__}, Python {platform.python_version()}, {platform.system()}"
    return Finding("python", "ok", message)


def look_at_terminal() -> Finding:
    """Judge the encoding, colours and width of where answers are shown."""
    encoding = (sys.stdout.encoding or "ascii").upper()
    columns = shutil.get_terminal_size().columns
    typed = sys.stdout.isatty()
    message = f"output goes to no terminal, {encoding}"
    if typed:
        colours = "no colours" if is_plain(os.environ) else "colours"
        message = f"{encoding}, {columns} columns, {colours}"
    if not encoding.startswith("UTF"):
        return Finding("terminal", "warn", message, "export LC_ALL=C.UTF-8")
    if typed and columns < MIN_COLUMNS:
        return Finding("terminal", "warn", f"{message}: narrow", "andy chat --plain")
    return Finding("terminal", "ok", message)


def is_plain(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"


def look_at_settings(options: Options) -> tuple[Settings, list[Finding]]:
    """Read the settings as far as they can be read, and what is wrong with the rest."""
    settings, faults = load_what_fits(options.set, options.flags())
    dialect = settings["dialect"]
    if dialect.value != "auto":
        try:
            describe_detection(str(dialect.value), dialect.origin, dialects_by_name())
        except UsageError as error:
            faults.append(error)
            settings, _ = load_what_fits([*options.set, "dialect=auto"], options.flags())
    findings = [
        Finding("settings", "fail", str(fault), suggest_settings_fix(str(fault), settings))
        for fault in faults
    ]
    findings += [Finding("settings", "warn", note, extract_fix(note)) for note in settings.notes]
    if not findings:
        path = config_folder() / "config.toml"
        missing_note = "" if path.is_file() else ", not there: all at their defaults"
        findings.append(Finding("settings", "ok", f"{path}{missing_note}"))
    return settings, findings


def suggest_settings_fix(fault: str, settings: Settings) -> str:
    """The command that mends a fault, which names its origin: a variable, or a file."""
    if fault.startswith("$"):
        return f"unset {fault[1:].partition(':')[0]}"
    for project in list_trusted_folders(settings, Path.cwd()):
        file = str(project / ".andy" / "config.toml")
        if file in fault:
            return suggest_edit(file)
    return EDIT


def look_at_instructions(settings: Settings) -> list[Finding]:
    """Name the files like AGENTS.md that models are told, and those that they are not."""
    instructions = find_instruction_files(settings, Path.cwd())
    findings = [
        Finding("instructions", "warn", note, extract_fix(note)) for note in instructions.notes
    ]
    if instructions.files:
        names = ", ".join(file.name for file in instructions.files)
        findings.append(Finding("instructions", "ok", names))
    return findings


def extract_fix(note: str) -> str:
    """The command that a sentence names, if it does."""
    _, _, after_backtick = note.partition("`")
    command, end, _ = after_backtick.partition("`")
    return command if end else ""


def look_at_keys() -> list[Finding]:
    """Name the variables that hold keys, never what is in them."""
    try:
        names = ", ".join(f"${name}" for _, name in select.keyed_providers())
    except UsageError as error:
        suggested_fix = suggest_edit(keys_file())
        return [Finding("keys", "fail", str(error), suggested_fix)]
    known_keys = names or "none in the environment"
    file = keys_file()
    # Windows has no such modes.
    if file.is_file() and os.name != "nt" and file.stat().st_mode & 0o077:
        message = f"{known_keys}; others on this machine may read {file}"
        return [Finding("keys", "warn", message, f"chmod 600 {shlex.quote(str(file))}")]
    return [Finding("keys", "ok", known_keys)]


def look_at_rules(settings: Settings) -> list[Finding]:
    """Find rules that are none or never match, and tools that cannot be loaded."""
    tools = Collection(settings, Path.cwd().resolve())
    findings = [
        Finding("tools", "warn", problem, "andy tools list") for problem in tools.take_problems()
    ]
    try:
        rules = read_rules(settings)
    except UsageError as error:
        suggested_fix = suggest_settings_fix(str(error), settings)
        return [*findings, Finding("rules", "fail", str(error), suggested_fix)]
    server_names: list[str] = []
    with contextlib.suppress(UsageError):  # the check of servers says it
        server_names = [server.name for server in find_servers(settings, Path.cwd().resolve())]
    names = [tool.name for tool in tools.registry]
    idle_rules = find_unreachable_rules(rules, names, server_names)
    findings += [Finding("rules", "warn", idle_rule, EDIT) for idle_rule in idle_rules]
    count = sum(map(len, rules))
    if not idle_rules:
        findings.append(
            Finding(
                "rules", "ok", f"{count_noun(count, 'rule')}, mode {settings.text('guard.mode')}"
            )
        )
    return findings


def look_at_google() -> Finding:
    """Tell whether mail, calendar and the rest of Google are set up; Google is not asked."""
    try:
        account = connected_account()
    except ToolError as error:
        return Finding("google", "fail", str(error), LOG_IN_COMMAND)
    if account is None:
        parts = ", ".join(scopes.PARTS)
        return Finding("google", "ok", f"not set up: `{LOG_IN_COMMAND}` connects {parts}")
    usable_parts = scopes.in_words(account.scopes)
    missing_parts = ", ".join(part for part in scopes.PARTS if part not in usable_parts)
    message = f"{account.email or 'connected'}, for {', '.join(usable_parts) or 'nothing'}"
    if missing_parts:
        message += f"; `{LOG_IN_COMMAND}` adds {missing_parts}"
    return Finding("google", "ok", message)


def look_at_disk() -> list[Finding]:
    """See whether what is kept can be written, and how much room there is."""
    return [*look_at_folder("state", state_folder()), *look_at_folder("data", data_folder())]


def look_at_folder(subject: str, folder: Path) -> Iterator[Finding]:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"andy")
            file.flush()
        free_bytes = shutil.disk_usage(folder).free
    except OSError as error:
        is_disk = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
        suggested_fix = f"df -h {folder}" if is_disk else f"ls -ld {folder} {folder.parent}"
        yield Finding(
            subject, "fail", f"{folder} cannot be written: {error.strerror}", suggested_fix
        )
        return
    message = f"{folder}, {free_bytes / 10**9:.1f} GB free"
    if free_bytes < FULL:
        yield Finding(subject, "fail", message, f"du -sh {folder}/*")
    elif free_bytes < TIGHT:
        yield Finding(subject, "warn", message, f"du -sh {folder}/*")
    else:
        yield Finding(subject, "ok", message)
