"""The definition of a tool, and how a plain function becomes one.

    @tool(effect="read", title="list of songs", action="list the music in {path}")
    def list_mp3s(path: Annotated[Path, Field(description="where to look")] = Path()) -> Outcome:
        \"\"\"List the MP3 files in a folder.\"\"\"

Name, description, schema and defaults come from the function itself: the first paragraph of the
docstring is what models read, so it says what the tool is for and nothing else.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.fields import FieldInfo

from andy_cli.actions import fill_action
from andy_cli.errors import ToolError, UsageError
from andy_cli.guard.workspace import NO_ACCESS, Operation, ResourceAccess
from andy_cli.messages import NO_DISPLAY, Arguments, Display, Effect, Problem, Schema
from andy_cli.toolbox.function_schema import describe_function

__all__ = [
    "Display",
    "Outcome",
    "ResourceAccess",
    "Tool",
    "ToolError",
    "parameter",
    "parameter_aliases",
    "progress",
    "tool",
]


class Outcome(NamedTuple):
    """The result of a tool that has more to say than its data.

    `data` is told to the model as JSON (a text as it is); `summary` tells the user what happened,
    in human words and the past tense: `listed 3 songs in ~/Music`. `partial` tells the user what of
    it could not be looked at because of errors: `3 files could not be opened`. `display` is what
    the user may look at besides: the change to a file, what a command wrote. `changed_nothing`:
    there was nothing to do it to, as where a pause is wanted and nothing plays. `unfinished`: what
    of it is still to come, as the lines of a file behind those that fit into the result.
    """

    data: object
    summary: str
    partial: str = ""
    display: Display = NO_DISPLAY
    changed_nothing: bool = False
    unfinished: str = ""


Runner = Callable[[Arguments], object | Awaitable[object]]
Check = Callable[[Arguments], tuple[Problem, ...]]


PROGRESS: ContextVar[Callable[[str], None]] = ContextVar("progress", default=lambda text: None)


def progress(text: str) -> None:
    """Show what a tool is at: a short text after its action, or lines below it.

    The next takes its place.
    """
    PROGRESS.get()(text)


def ready() -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Tool:
    name: str
    description: str
    effect: Effect
    action: str
    """The action, with `{parameter}` slots: `play {file|a song}`; a user sees this, not the name.
    What stands after the bar is said where there is no value."""
    title: str = ""
    """Its name in a sentence for the user: a short plain noun phrase in English without
    article, as in `I used the file search`. Where none is given, the words of its name."""
    aliases: tuple[str, ...] = ()
    """Names by which it is called by models that learned another agent's tools: `bash`. No model
    is told them, and a tool that has such a name of its own goes before."""
    examples: tuple[str, ...] = ()
    """Sentences of people who want it, in English and in a few words; no model is told, they
    are compared in meaning with what is said to one that is too small to choose."""
    members: Mapping[str, Callable[[], Sequence[str]]] = field(default_factory=dict)
    """The values of a parameter, where people say it in words of their own: places, for example. No
    model is told; a model that is too small to choose takes no other value."""
    repeated_as: str = ""
    """The tool that is meant by a second of it in one request: `play this, then that` adds that."""
    describe: Callable[[], Schema]
    """Makes the JSON Schema of the arguments, an object with properties; asked for once."""
    run: Runner
    check: Check = lambda arguments: ()
    find_access: Callable[[Arguments], ResourceAccess] = lambda arguments: NO_ACCESS
    """Finds what a call would touch. It may look at files of the workspace, and changes nothing."""
    unavailable_reason: Callable[[], str] = ready
    """Says in one line what it still needs before it can work, and what to do; empty if nothing.
    Quick: it looks at settings and for files, never at the network."""
    returns_result: bool = True
    """True if its result is something the model has to know; opening a page has none."""
    background: bool = False
    """It goes on by itself: nothing waits for it."""
    source: str = ""
    """Its origin, if not with andy: a file, an MCP server."""
    function_itself: Callable[..., object] | None = None
    """The Python function, where it is one."""
    fingerprint: str = ""
    """Of a tool from elsewhere: a hash of all a yes to it stands on."""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", words_of_name(self.name))

    @cached_property
    def schema(self) -> Schema:
        return self.describe()

    @cached_property
    def function(self) -> Schema:
        """The tool in the form of OpenAI's `tools`."""
        function = {"name": self.name, "description": self.description, "parameters": self.schema}
        if self.aliases:
            function["x-aliases"] = list(self.aliases)
        return {"type": "function", "function": function}

    def intent(self, arguments: Arguments) -> str:
        """Fill the slots of the action; see `fill_action`."""
        return fill_action(self.action, arguments)

    @property
    def action_end(self) -> str:
        """The words of the action behind its last slot."""
        return self.action.rpartition("}")[2].strip() if "}" in self.action else ""


HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The places where an inner capital begins a word: `search|Memory`, `get|HTTP|Page`."""


def words_of_name(name: str) -> str:
    """Write a name as plain words: `searchMemory` and `search_memory` become `search memory`."""
    return " ".join(split_name(HUMP.sub(" ", name))).lower() or "tool"


def split_name(name: str) -> list[str]:
    """Split a name at whatever signs divide its parts."""
    return [part for part in re.split(r"[\W_]+", name) if part]


def parameter_aliases(*aliases: str) -> dict[str, Any]:
    """For `Field(json_schema_extra=...)`: other names that models use for a parameter."""
    return {"x-aliases": list(aliases)}


def parameter(
    description: str,
    *,
    aliases: Sequence[str] = (),
    is_path: bool = False,
    min_length: int | None = None,
    max_length: int | None = None,
    ge: int | None = None,
    le: int | None = None,
) -> FieldInfo:
    """Describe a parameter, within `Annotated`: a field of pydantic with what a tool adds to it.

    `aliases` are other names that models use for it; a text that `is_path` is meant as a path.
    """
    extra: dict[str, Any] = {"format": "path"} if is_path else {}
    if aliases:
        extra |= parameter_aliases(*aliases)
    described: FieldInfo = Field(
        description=description,
        json_schema_extra=extra,
        min_length=min_length,
        max_length=max_length,
        ge=ge,
        le=le,
    )
    return described


def tool(
    *,
    effect: str,
    action: str,
    title: str = "",
    aliases: Sequence[str] = (),
    examples: Sequence[str] = (),
    members: Mapping[str, Callable[[], Sequence[str]]] = MappingProxyType({}),
    repeated_as: str = "",
    find_access: Callable[[Arguments], ResourceAccess] | None = None,
    unavailable_reason: Callable[[], str] = ready,
    returns_result: bool = True,
    background: bool = False,
) -> Callable[[Callable[..., object]], Tool]:
    """Make a tool of a function. Its parameters need type hints; every one may be described.

    Without `find_access` every parameter of type `Path` is a place it reads, or writes if that is
    its effect. Raises UsageError for another effect than those of `Effect`.
    """
    if effect not in list(Effect):
        raise UsageError(f"effect={effect!r} is none of {', '.join(Effect)}.")
    kind = Effect(effect)

    def make(function: Callable[..., object]) -> Tool:
        described = _Described(function)

        def run(arguments: Arguments) -> object:
            return function(**described.bind_arguments(arguments))

        async def run_async(arguments: Arguments) -> object:
            awaited = function(**described.bind_arguments(arguments))
            return await awaited if inspect.isawaitable(awaited) else awaited

        def find_path_access(arguments: Arguments) -> ResourceAccess:
            paths = described.paths
            given_paths = [str(arguments[name]) for name in paths if arguments.get(name)]
            if paths and not given_paths:
                given_paths = ["."]
            operation: Operation = "write" if kind is Effect.WRITE else "read"
            return ResourceAccess(tuple(given_paths), operation)

        return Tool(
            name=function.__name__,
            function_itself=function,
            description=_first_paragraph(function),
            describe=lambda: described.schema,
            effect=kind,
            action=action,
            title=title,
            aliases=tuple(aliases),
            examples=tuple(examples),
            members=members,
            repeated_as=repeated_as,
            run=run_async if inspect.iscoroutinefunction(function) else run,
            check=described.check,
            find_access=find_access or find_path_access,
            unavailable_reason=unavailable_reason,
            returns_result=returns_result and not background,
            background=background,
        )

    return make


class _Described:
    """The parameters of a function; looked at when first asked for, as pydantic takes its time."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    @cached_property
    def model(self) -> type[BaseModel]:
        return arguments_model(self._function)

    @cached_property
    def schema(self) -> Schema:
        plain_schema = describe_function(self._function, parameter_hints(self._function))
        return plain_schema or tidy_schema(self.model.model_json_schema())

    @property
    def paths(self) -> list[str]:
        properties = self.schema["properties"]
        return [name for name, property in properties.items() if property.get("format") == "path"]

    def bind_arguments(self, arguments: Arguments) -> dict[str, object]:
        fitting = self.model.model_validate(dict(arguments))
        return {name: getattr(fitting, name) for name in type(fitting).model_fields}

    def check(self, arguments: Arguments) -> tuple[Problem, ...]:
        return _list_problems(self.model, arguments)


def parameter_hints(function: Callable[..., object]) -> dict[str, object]:
    """Return the type hint of each parameter. Raises UsageError for a parameter without one."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UsageError(f"{parameter} is no parameter that a model can fill: name each one.")
        if parameter.name not in hints:
            name = parameter.name
            raise UsageError(f"{name} has no type hint: write it as in `{name}: str`.")
    return {parameter.name: hints[parameter.name] for parameter in parameters}


def arguments_model(function: Callable[..., object]) -> type[BaseModel]:
    """Make a model of the parameters. Raises UsageError for one that cannot be written as JSON."""
    hints = parameter_hints(function)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    try:
        return create_model(
            function.__name__, __config__=ConfigDict(extra="forbid", frozen=True), **fields
        )
    except PydanticUserError as error:
        types = "str, int, float, bool, list, dict, Path or a pydantic model"
        reason = error.message.partition(". ")[0]
        raise UsageError(f"the type of a parameter has to be {types}. {reason}.") from error


def _first_paragraph(function: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def tidy_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles pydantic adds, which only cost tokens; nullable types made plain."""
    properties = {
        name: _plain_schema(property) for name, property in schema.get("properties", {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }


def _plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`str | None = None` is an optional text: models do better without the null."""
    plain = {key: value for key, value in schema.items() if key != "title"}
    kinds = [kind for kind in plain.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del plain["anyOf"]
        plain = {**kinds[0], **plain}
    if plain.get("default", 0) is None:
        del plain["default"]
    return plain


RULES = {
    "missing": "required",
    "extra_forbidden": "additionalProperties",
    "literal_error": "enum",
    "enum": "enum",
    "greater_than_equal": "minimum",
    "less_than_equal": "maximum",
}
"""pydantic's error types under the names of JSON Schema's rules; all others are `type`."""


def _list_problems(model: type[BaseModel], arguments: Arguments) -> tuple[Problem, ...]:
    try:
        model.model_validate(dict(arguments))
    except ValidationError as error:
        details = error.errors(include_url=False)
    else:
        return ()
    problems = []
    for detail in details:
        path = "/".join(map(str, detail["loc"]))
        rule = RULES.get(detail["type"], "type")
        problems.append(Problem(path, rule, detail["msg"]))
    return tuple(problems)
