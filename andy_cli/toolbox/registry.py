"""The tools there are, and the one place that runs them."""

import inspect
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, is_dataclass
from pathlib import Path

from pydantic import BaseModel

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.workspace import NO_GRANTS, Grants, ResourceAccess, resolve
from andy_cli.messages import (
    Arguments,
    Display,
    Effect,
    Problem,
    Schema,
    Status,
    ToolCall,
    ToolResult,
)
from andy_cli.toolbox.printing import printing_aside
from andy_cli.toolbox.runtime_context import (
    current_context,
    find_meant_paths,
    granting_places,
    run_in_daemon_thread,
)
from andy_cli.toolbox.tool import PROGRESS, Outcome, Tool


class Registry:
    """Looks tools up by name and runs them. Tools may come and go while a conversation lasts."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._functions: dict[str, Schema] = {}
        self.version = 0
        """Counts how often tools came or went."""
        self.progress: Callable[[str], None] = lambda text: None
        """Told what a running tool is at, from any thread."""

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def put(self, tools: Iterable[Tool]) -> None:
        """Add tools; one of the same name is replaced."""
        self._tools.update((tool.name, tool) for tool in tools)
        self._reset_caches()

    def drop(self, source: str) -> None:
        """Take away what came from there."""
        self._tools = {name: tool for name, tool in self._tools.items() if tool.source != source}
        self._reset_caches()

    def _reset_caches(self) -> None:
        self._functions = {}
        self.version += 1

    @property
    def functions(self) -> Mapping[str, Schema]:
        """All tools, in the form of OpenAI's `tools`."""
        if not self._functions:
            self._functions = {name: tool.function for name, tool in self._tools.items()}
        return self._functions

    def known_functions(self, calls_only: bool) -> Mapping[str, Schema]:
        """List what a model may ask for; the protocol's own only where everything is a call."""
        return {
            name: tool.function
            for name, tool in self._tools.items()
            if calls_only or tool.effect is not Effect.PROTOCOL
        }

    def ready_functions(self, functions: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """List what can be used now; the rest is not offered, and says what it needs if asked."""
        return {
            name: function
            for name, function in functions.items()
            if not self._tools[name].unavailable_reason()
        }

    def answers(self, name: str) -> bool:
        """Tell whether the model waits for what the tool returns."""
        tool = self._tools.get(name)
        return tool is None or (tool.returns_result and tool.effect is not Effect.PROTOCOL)

    def only_reads(self, name: str) -> bool:
        """Tell whether the tool only reads."""
        tool = self._tools.get(name)
        return tool is not None and tool.effect is Effect.READ

    def find_meant_paths(
        self, name: str, arguments: Arguments
    ) -> tuple[Arguments, tuple[str, ...]]:
        """The arguments with the paths that were meant, and what was changed, in words."""
        tool = self._tools.get(name)
        if tool is None or tool.source:
            return arguments, ()
        return find_meant_paths(arguments, tool.schema, current_context().workspace)

    def list_needs(self) -> dict[str, str]:
        """List what those tools need that cannot be used now."""
        needs = {name: tool.unavailable_reason() for name, tool in self._tools.items()}
        return {name: needed for name, needed in needs.items() if needed}

    def check(self, name: str, arguments: Arguments) -> tuple[Problem, ...]:
        """List what the tool itself finds wrong with the arguments."""
        tool = self._tools.get(name)
        return tool.check(arguments) or _list_blanks(tool, arguments) if tool else ()

    def find_access(self, call: ToolCall) -> ResourceAccess:
        """Find what a call would touch. Raises ToolError where its tool cannot say.

        Raises it too for a tool that still needs something: nobody is asked about what cannot be.
        """
        tool = self._tools[call.name]
        if needed := tool.unavailable_reason():
            raise ToolError(needed)
        try:
            return tool.find_access(call.arguments)
        except ToolError:
            raise
        except Exception as error:
            # A tool may be somebody's code, and raise anything.
            raise ToolError(f"It cannot be said what {call.name} would touch.") from error

    async def call_typed(self, call: ToolCall) -> ToolResult:
        """Carry out what the user typed: nothing of it is asked about.

        Raises ToolError where that cannot be said.
        """
        access = self.find_access(call)
        places = [resolve(path, Path.cwd(), operation) for path, operation in access.uses]
        return await self.call(call, access.grants(places))

    async def call(self, call: ToolCall, granted: Grants = NO_GRANTS) -> ToolResult:
        """Run the tool; whatever goes wrong inside it becomes a result that says so.

        `granted` is where its paths led when they were judged: it may use these places although
        they are outside the workspace.
        """
        tool = self._tools[call.name]
        started = time.monotonic()
        status, content, problem = Status.SUCCESS, "", ""
        outcome, may_be_done = Outcome(None, ""), False
        try:
            if needed := tool.unavailable_reason():
                raise ToolError(needed)
            PROGRESS.set(self.progress)
            with granting_places(granted), printing_aside() if tool.source else nullcontext():
                returned = as_outcome(await finish_call(tool, call))
                content = render_content(returned)
                outcome = returned
        except ToolError as error:
            status = Status.FAILED
            if isinstance(error, ToolTimeout):
                status = Status.TIMED_OUT
                outcome = outcome._replace(display=Display(output=error.output))
            content, problem, may_be_done = error.content, str(error), error.may_be_done
        except (Exception, SystemExit) as error:
            # A tool is somebody's code: its fault must not end the conversation.
            status = Status.FAILED
            content = problem = f"It failed: {type(error).__name__}: {error}"
        return ToolResult(
            call_id=call.id,
            name=call.name,
            content=content,
            status=status,
            seconds=round(time.monotonic() - started, 3),
            did=outcome.summary or tool.intent(call.arguments),
            problem=problem,
            partial=outcome.partial,
            display=outcome.display,
            changed_nothing=outcome.changed_nothing,
            unfinished=outcome.unfinished,
            may_be_done=may_be_done,
        )


async def finish_call(tool: Tool, call: ToolCall) -> object:
    """Run the tool; a plain function runs in a thread, so that nothing else waits."""
    if inspect.iscoroutinefunction(tool.run):
        return await tool.run(call.arguments)
    returned = await run_in_daemon_thread(lambda: _run_guarded(tool, call.arguments))
    return await returned if inspect.isawaitable(returned) else returned


def _run_guarded(tool: Tool, arguments: Arguments) -> object:
    """Run it in its thread: what ends a program, or a generator, ends this call alone."""
    try:
        return tool.run(arguments)
    except (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration) as error:
        raise RuntimeError(f"{type(error).__name__} {error}".strip()) from error


def as_outcome(returned: object) -> Outcome:
    return returned if isinstance(returned, Outcome) else Outcome(returned, "")


def render_content(outcome: Outcome) -> str:
    """Write what the model is told: data as JSON, a text as it is (C10)."""
    if outcome.data is None:
        return outcome.summary
    if isinstance(outcome.data, str):
        return outcome.data
    return json.dumps(camel_case_fields(outcome.data), ensure_ascii=False, default=str)


FIELD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""A key that is the name of a field; others are data and stay as they are."""


def _as_plain_record(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value._asdict() if isinstance(value, tuple) and hasattr(value, "_asdict") else value


def camel_case_fields(value: object) -> object:
    """Records of any kind as objects, with the names of their fields in camelCase (C10)."""
    value = _as_plain_record(value)
    if isinstance(value, Mapping):
        return {
            field_name(str(key)): camel_case_fields(field_value)
            for key, field_value in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [camel_case_fields(element) for element in value]
    return value


def field_name(key: str) -> str:
    if not FIELD.fullmatch(key):
        return key
    first_word, *other_words = key.split("_")
    return first_word + "".join(map(str.capitalize, other_words))


def _list_blanks(tool: Tool, arguments: Arguments) -> tuple[Problem, ...]:
    """List the values without which the tool's action says nothing, and that are blank: such a
    call does nothing, and would be told as done. A text that may be empty may be blank."""
    problems = []
    for name, schema in tool.schema.get("properties", {}).items():
        is_in_action = "{" + name in tool.action
        if is_in_action and _is_blank(arguments.get(name), schema):
            problems.append(Problem(name, "minLength", "is blank"))
    return tuple(problems)


def _is_blank(value: object, schema: Schema) -> bool:
    """Tell whether it is a text of white space that may not be empty, or a list with one in it."""
    if isinstance(value, list):
        return any(isinstance(item, str) and not item.strip() for item in value)
    return isinstance(value, str) and bool(schema.get("minLength")) and not value.strip()
