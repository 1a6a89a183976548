"""The tools that ship, one by one: found, claimed and run as a conversation would, without one."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from andy_cli.guard.workspace import ResourceAccess
from andy_cli.messages import ToolCall, ToolResult
from andy_cli.resources import bundled_folder
from andy_cli.settings import load
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.collection import tools_in
from andy_cli.toolbox.registry import Registry


def shipped(file: str) -> Registry:
    """The tools of one file in tools/, such as `music`."""
    return Registry(tools_in(bundled_folder("tools") / f"{file}.py"))


def ran(
    tools: Registry, name: str, /, granted: Sequence[Path] = (), **arguments: object
) -> ToolResult:
    """What a call gives; arguments that do not fit fail as they would in a turn."""
    problems = tools.check(name, arguments)
    assert not problems, problems
    paths = {str(path): path for path in granted}
    return asyncio.run(tools.call(ToolCall("call00001", name, arguments), paths))


def claimed(tools: Registry, name: str, /, **arguments: object) -> ResourceAccess:
    return tools.find_access(ToolCall("call00001", name, arguments))


def work_in(folder: Path, *overrides: str) -> None:
    """Let tools work in this folder, with these settings; nothing is read from the environment."""
    runtime_context.enter_context(load(overrides, environment={}), folder)
