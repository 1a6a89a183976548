"""What a tool is, and how a plain function becomes one.

    @tool(effect="read", action="list the music in {path}")
    def list_mp3s(path: Annotated[Path, Field(description="where to look")] = Path()) -> Outcome:
        \"\"\"List the MP3 files in a folder.\"\"\"

Name, description, schema and defaults come from the function itself: the first paragraph of the
docstring is what models read, so it says what the tool is for and nothing else.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from andy_cli.errors import ToolError
from andy_cli.messages import Arguments, Effect, Problem, Schema

__all__ = ["Outcome", "Tool", "ToolError", "also", "tool"]


class Outcome(NamedTuple):
    """What a tool returns when it has more to say than its data.

    `data` is told to the model as JSON (a text as it is); `did` tells the user what happened, in
    human words and the past tense: `listed 3 songs in ~/Music`.
    """

    data: object
    did: str


Runner = Callable[[Arguments], object | Awaitable[object]]
Check = Callable[[Arguments], tuple[Problem, ...]]


class Tool(NamedTuple):
    name: str
    description: str
    schema: Schema
    """JSON Schema of the arguments: an object with properties."""
    effect: Effect
    action: str
    """What it does, with `{parameter}` slots: `play {file}`; a user sees this, not the name."""
    run: Runner
    check: Check
    places: Callable[[Arguments], Sequence[str]]
    """The paths a call would touch, as written; the gate judges where they lie."""
    answers: bool = True
    """Whether its result is something the model has to know; opening a page has none."""
    background: bool = False
    """It goes on by itself: nothing waits for it."""

    def intent(self, arguments: Arguments) -> str:
        """The action with its slots filled; slots without a value fall away with their words."""
        return fill(self.action, arguments)

    def as_function(self) -> Schema:
        """The tool in the form of OpenAI's `tools`."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.schema,
        }
        return {"type": "function", "function": function}


def fill(action: str, arguments: Arguments) -> str:
    """`list the music in {path}` with no path is `list the music`."""
    said, _, rest = action.partition("{")
    while rest:
        name, _, tail = rest.partition("}")
        value = arguments.get(name)
        if value in (None, "", ".", Path()):
            # The preposition that led to the value goes with it.
            said = said.rstrip().rsplit(" ", 1)[0]
        else:
            said += str(value)
        between, _, rest = tail.partition("{")
        said += between
    return " ".join(said.split())


def also(*aliases: str) -> dict[str, Any]:
    """For `Field(json_schema_extra=...)`: other names that models use for a parameter."""
    return {"x-aliases": list(aliases)}


def tool(
    *,
    effect: str,
    action: str,
    places: Callable[[Arguments], Sequence[str]] | None = None,
    answers: bool = True,
    background: bool = False,
) -> Callable[[Callable[..., object]], Tool]:
    """Make a tool of a function. Its parameters need type hints; every one may be described.

    Without `places` every parameter of type `Path` is a place.
    """

    def make(function: Callable[..., object]) -> Tool:
        model = _arguments_model(function)
        schema = _tidy(model.model_json_schema())
        paths = [
            name
            for name, each in schema.get("properties", {}).items()
            if each.get("format") == "path"
        ]

        def given(arguments: Arguments) -> dict[str, object]:
            fitting = model.model_validate(dict(arguments))
            return {name: getattr(fitting, name) for name in type(fitting).model_fields}

        def run(arguments: Arguments) -> object:
            return function(**given(arguments))

        async def run_async(arguments: Arguments) -> object:
            awaited = function(**given(arguments))
            return await awaited if inspect.isawaitable(awaited) else awaited

        def named(arguments: Arguments) -> list[str]:
            return [str(arguments[name]) for name in paths if arguments.get(name)] or ["."] * bool(
                paths
            )

        return Tool(
            name=function.__name__,
            description=_first_paragraph(function),
            schema=schema,
            effect=Effect(effect),
            action=action,
            run=run_async if inspect.iscoroutinefunction(function) else run,
            check=lambda arguments: _problems(model, arguments),
            places=places or named,
            answers=answers and not background,
            background=background,
        )

    return make


def _arguments_model(function: Callable[..., object]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], default)
    return create_model(
        function.__name__, __config__=ConfigDict(extra="forbid", frozen=True), **fields
    )


def _first_paragraph(function: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles pydantic adds, which only cost tokens; nullable types made plain."""
    properties = {name: _plain(each) for name, each in schema.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
        **({"$defs": schema["$defs"]} if "$defs" in schema else {}),
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`str | None = None` is an optional text: models do better without the null."""
    plain = {key: value for key, value in schema.items() if key != "title"}
    kinds = [each for each in plain.get("anyOf", []) if each != {"type": "null"}]
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


def _problems(model: type[BaseModel], arguments: Arguments) -> tuple[Problem, ...]:
    try:
        model.model_validate(dict(arguments))
    except ValidationError as error:
        return tuple(
            Problem(
                path="/".join(map(str, each["loc"])),
                rule=RULES.get(each["type"], "type"),
                message=each["msg"],
            )
            for each in error.errors(include_url=False)
        )
    return ()
