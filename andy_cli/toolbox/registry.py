"""The tools there are, and the one place that runs them."""

import asyncio
import importlib.util
import inspect
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path

from pydantic import BaseModel

from andy_cli.errors import ToolError, UsageError
from andy_cli.messages import Arguments, Effect, Problem, Schema, Status, ToolCall, ToolResult
from andy_cli.resources import bundled
from andy_cli.toolbox.tool import Outcome, Tool


class Registry:
    """Looks tools up by name and runs them."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.functions: Mapping[str, Schema] = {
            name: tool.as_function() for name, tool in self._tools.items()
        }

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def offered(self, carries_all: bool) -> Mapping[str, Schema]:
        """The tools for a model; those of the protocol only where everything is a call."""
        return {
            name: self.functions[name]
            for name, tool in self._tools.items()
            if carries_all or tool.effect is not Effect.PROTOCOL
        }

    def answers(self, name: str) -> bool:
        """Whether the model waits for what the tool returns."""
        tool = self._tools.get(name)
        return tool is None or (tool.answers and tool.effect is not Effect.PROTOCOL)

    def harmless(self, name: str) -> bool:
        """Whether the tool only reads."""
        tool = self._tools.get(name)
        return tool is not None and tool.effect is Effect.READ

    def check(self, name: str, arguments: Arguments) -> tuple[Problem, ...]:
        """What the tool itself finds wrong with the arguments."""
        tool = self._tools.get(name)
        return tool.check(arguments) if tool else ()

    async def call(self, call: ToolCall) -> ToolResult:
        """Run the tool; whatever goes wrong inside it becomes a result that says so."""
        tool = self._tools[call.name]
        started = time.monotonic()
        status, content, did = Status.SUCCESS, "", ""
        try:
            content, did = said(await finished(tool, call))
        except ToolError as error:
            status, content = Status.FAILED, str(error)
        except Exception as error:
            # A tool is somebody's code: its fault must not end the conversation.
            status, content = Status.FAILED, f"It failed: {type(error).__name__}: {error}"
        return ToolResult(
            call_id=call.id,
            name=call.name,
            content=content,
            status=status,
            seconds=round(time.monotonic() - started, 3),
            did=did or tool.intent(call.arguments),
        )


async def finished(tool: Tool, call: ToolCall) -> object:
    """What the tool returned; a plain function runs in a thread, so that nothing else waits."""
    if inspect.iscoroutinefunction(tool.run):
        return await tool.run(call.arguments)
    returned = await asyncio.to_thread(tool.run, call.arguments)
    return await returned if inspect.isawaitable(returned) else returned


def said(returned: object) -> tuple[str, str]:
    """What the model is told and what the user is told (C10)."""
    outcome = returned if isinstance(returned, Outcome) else Outcome(returned, "")
    if outcome.data is None:
        return outcome.did, outcome.did
    if isinstance(outcome.data, str):
        return outcome.data, outcome.did
    return json.dumps(camel(outcome.data), ensure_ascii=False, default=str), outcome.did


FIELD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""A key that is the name of a field; others are data and stay as they are."""


def camel(value: object) -> object:
    """Records of any kind as objects, with the names of their fields in camelCase (C10)."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {field_name(str(key)): camel(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [camel(each) for each in value]
    return value


def field_name(key: str) -> str:
    if not FIELD.fullmatch(key):
        return key
    return re.sub(r"_(\w)", lambda match: match[1].upper(), key)


def load(folder: Path | None = None) -> Registry:
    """The tools in the folder's files (default: those that ship with andy), in file order."""
    files = sorted((folder or bundled("tools")).glob("*.py"))
    return Registry(tool for file in files for tool in tools_in(file))


def tools_in(file: Path) -> list[Tool]:
    """The tools a file defines. Files are loaded by path: `tools` is nobody's package name."""
    spec = importlib.util.spec_from_file_location(f"andy_tools_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file} cannot be loaded as a tool file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [each for each in vars(module).values() if isinstance(each, Tool)]
