"""The terminal: run a command line.

What does the work is imported when it is first needed: it takes 10 ms, and this file is loaded at
every start.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from andy_cli.toolbox.runtime_context import in_thread
from andy_cli.toolbox.tool import (
    Outcome,
    ResourceAccess,
    ToolError,
    parameter,
    parameter_aliases,
    tool,
)

MAX_TIMEOUT = 600
ENDING = 2.0
"""Seconds in which a command that is stopped has ended with all that it started."""
MILLISECONDS = 1000
"""From here on a number of seconds is one of milliseconds (R19)."""


def _find_access(arguments: Mapping[str, object]) -> ResourceAccess:
    from andy_cli.toolbox.terminal import sandbox

    return sandbox.find_command_access(str(arguments.get("command") or ""))


@tool(
    effect="run",
    title="terminal",
    aliases=(
        "bash",
        "shell",
        "run_command",
        "execute_command",
        "run_shell_command",
        "run_terminal_cmd",
        "execute_bash",
    ),
    action="run {command|something}",
    find_access=_find_access,
    examples=(
        "run this command",
        "execute the program",
        "install a package",
        "restart the computer",
    ),
)
async def terminal_execute(
    command: Annotated[
        str,
        parameter(
            "the command line",
            aliases=["cmd", "line", "command_line", "script", "code"],
            min_length=1,
        ),
    ],
    timeout: Annotated[
        float,
        Field(
            description=f"seconds it may take, {MAX_TIMEOUT} at most",
            gt=0,
            json_schema_extra={
                "maximum": MAX_TIMEOUT,
                "x-unit": "s",
                **parameter_aliases("timeout_seconds", "timeout_ms", "seconds", "time_limit"),
            },
        ),
    ] = 30,
) -> Outcome:
    """Run a command line in the current folder.

    By bash, and nothing can be typed into it.
    """
    from andy_cli.toolbox.terminal import running

    notes = []
    if timeout >= MILLISECONDS:
        notes.append(f"A timeout of {timeout:g} was taken for milliseconds: {timeout / 1000:g} s.")
        timeout /= 1000
    if timeout > MAX_TIMEOUT:
        raise ToolError(f"A command may take {MAX_TIMEOUT} s at most.", "Give a smaller timeout.")
    return await in_thread(
        lambda work: running.run_outcome(command, timeout, notes, work), timeout, ENDING
    )
