"""`andy doctor`: look at everything a conversation rests on, and name the command that mends it.

All looks are made at once and given five seconds; what is not known by then is said to be so.
"""

import asyncio
import sys
from collections.abc import Awaitable, Sequence
from pathlib import Path

from andy_cli.errors import AndyError
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.doctor.endpoint_checks import check_endpoint, find_endpoints
from andy_cli.frontends.doctor.machine_checks import (
    Finding,
    extract_fix,
    look_at_disk,
    look_at_google,
    look_at_instructions,
    look_at_keys,
    look_at_python,
    look_at_rules,
    look_at_settings,
    look_at_terminal,
)
from andy_cli.frontends.management.mcp_command import suggest_fix, try_server
from andy_cli.frontends.terminal.tables import format_table, print_json
from andy_cli.guard.redactor import redact_text
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.settings import Settings
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.mcp.servers import McpServer, describe_unread_files, find_servers
from andy_cli.toolbox.runtime_context import enter_context, leave_context

TIMEOUT = 5.0
"""Seconds for everything that waits for somebody else."""


def run_doctor(options: Options, as_json: bool) -> int:
    """Print what was found; returns 1 where something fails."""
    findings = asyncio.run(check_everything(options))
    print_findings(findings, as_json)
    return 1 if any(finding.grade == "fail" for finding in findings) else 0


async def check_everything(options: Options) -> list[Finding]:
    """All that is found, in the order in which it is told, secrets left out."""
    findings = [look_at_python(), look_at_terminal()]
    settings, about_settings = look_at_settings(options)
    findings += [*about_settings, *look_at_instructions(settings)]
    findings += [*look_at_keys(), *look_at_rules(settings), look_at_google()]
    # Else a tool that describes itself by a setting would read the file that cannot be read.
    enter_context(settings, Path.cwd())
    try:
        findings += await look_around(settings)
    finally:
        leave_context()
    findings += look_at_disk()
    return [finding._replace(message=redact_text(finding.message)) for finding in findings]


async def look_around(settings: Settings) -> list[Finding]:
    """All that is outside of this process: servers of models and of tools."""
    folder = Path.cwd().resolve()
    until = asyncio.get_running_loop().time() + TIMEOUT
    try:
        known_servers = find_servers(settings, folder)
    except AndyError as error:
        known_servers = []
        broken = [Finding("mcp", "fail", str(error), error.hint)]
    else:
        broken = [
            Finding("mcp", "warn", note, extract_fix(note))
            for note in describe_unread_files(settings, folder)
        ]
    about_models = asyncio.create_task(check_models(settings, folder, until))
    about_servers = [
        asyncio.create_task(
            check_in_time(f"mcp {server.name}", check_server(server), suggest_fix(server), until)
        )
        for server in known_servers
    ]
    model_findings = await about_models
    return [*model_findings, *broken, *await asyncio.gather(*about_servers)]


async def check_models(settings: Settings, folder: Path, until: float) -> list[Finding]:
    chosen, others, findings = await find_endpoints(settings, TIMEOUT)
    looks = []
    for model in [chosen, *others] if chosen else others:
        subject = f"model {model.endpoint.provider}"
        check = check_endpoint(model, settings, folder, is_used=model is chosen)
        looks.append(check_in_time(subject, check, "andy models list", until))
    return [*findings, *await asyncio.gather(*looks)]


async def check_in_time(
    subject: str, check_coroutine: Awaitable[Finding], suggested_fix: str, until: float
) -> Finding:
    """Wait for a check, or report that it did not end in time."""
    task = asyncio.ensure_future(check_coroutine)
    left = until - asyncio.get_running_loop().time()
    finished, _ = await asyncio.wait([task], timeout=max(0.1, left))
    if finished:
        try:
            return task.result()
        except AndyError as error:  # the other checks are none the worse for it
            return Finding(subject, "fail", str(error), suggested_fix)
    # What it started is ended, for a moment: a server that will not go is not waited for.
    task.cancel()
    await asyncio.wait([task], timeout=1.0)
    return Finding(subject, "fail", f"no answer within {TIMEOUT:g} seconds", suggested_fix)


async def check_server(server: McpServer) -> Finding:
    """Start or reach an MCP server, list its tools, end it."""
    if server.is_off:
        return Finding(f"mcp {server.name}", "ok", server.fault)
    subject, began = f"mcp {server.name}", asyncio.get_running_loop().time()
    trial = await try_server(server)
    seconds = asyncio.get_running_loop().time() - began
    if trial.state != "ready":
        return Finding(subject, "fail", trial.state, suggest_fix(server, trial.state))
    message = f"{count_noun(len(trial.tools), 'tool')}, {seconds:.1f} s"
    if trial.left_out:
        return Finding(subject, "warn", f"{message}; left out: {trial.left_out}")
    return Finding(subject, "ok", message)


def print_findings(findings: Sequence[Finding], as_json: bool) -> None:
    if as_json:
        failed = any(finding.grade == "fail" for finding in findings)
        print_json({"ok": not failed, "findings": [finding._asdict() for finding in findings]})
        return
    sys.stdout.write("".join(f"{neutralize_text(line)}\n" for line in format_findings(findings)))


def format_findings(findings: Sequence[Finding]) -> Sequence[str]:
    rows: list[tuple[str, str, str]] = []
    for finding in findings:
        rows.append((f"{finding.grade:<4}", finding.subject, finding.message))
        if finding.fix:
            rows.append(("", "", f"fix: {finding.fix}"))
    return format_table(rows)
