"""The schema of a function's parameters is the one pydantic would make."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from andy_cli.toolbox import collection
from andy_cli.toolbox.function_schema import describe_function
from andy_cli.toolbox.tool import (
    Tool,
    arguments_model,
    parameter_aliases,
    parameter_hints,
    tidy_schema,
    tool,
)
from tests.cases import loop_over


def plain(
    text: str,
    count: Annotated[int, Field(description="how many", ge=1, le=9)] = 3,
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    sure: bool = False,
    path: Path = Path("a"),
    folder: Annotated[Path | None, Field(json_schema_extra=parameter_aliases("directory"))] = None,
    kind: Literal["a", "b"] = "a",
    only: Literal["x"] = "x",
    name: Annotated[str, Field(min_length=1, max_length=20, pattern="^a")] = "a",
    items: Annotated[list[str], Field(min_length=1)] = ["x"],  # noqa: B006
    rows: list[list[object]] | None = None,
    headers: dict[str, str] | None = None,
    body: dict[str, Any] | None = None,
    either: int | str = 1,
) -> None:
    """Every plain type."""


def nothing() -> None:
    """Without parameters."""


class Point(BaseModel):
    x: int


def rich(point: Point) -> None:
    """With a model of its own."""


@pytest.mark.parametrize("function", [plain, nothing])
def test_it_is_pydantics(function: Callable[..., object]) -> None:
    described = describe_function(function, parameter_hints(function))
    assert described == tidy_schema(arguments_model(function).model_json_schema())


def test_what_is_not_plain_is_left_to_pydantic() -> None:
    assert describe_function(rich, parameter_hints(rich)) is None
    made = tool(effect="read", action="x")(rich)
    assert made.schema["$defs"]["Point"]["properties"]["x"] == {"type": "integer", "title": "X"}


@loop_over("shipped", [*collection.load_tool_files()], ids=lambda each: str(each.name))
def test_every_tool_that_ships_is_described_as_pydantic_would(shipped: Tool) -> None:
    function = shipped.function_itself
    assert function is not None
    assert shipped.schema == tidy_schema(arguments_model(function).model_json_schema())
