"""What a model is trusted with, and what it is told of the rest."""

from typing import Any

import pytest

from andy_cli.agent.prompt.trust import (
    EMBEDDED,
    choose_trust,
    count_free_values,
    describe_limits,
    describe_trust,
    describe_untrusted,
    select_trusted_tools,
)
from andy_cli.messages import Effect, Learned
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool


def a_tool(name: str, effect: Effect, *values: str) -> Tool:
    properties = {value: {"type": "string"} for value in values}
    schema = {"type": "object", "properties": properties, "required": [*values]}
    return Tool(
        name=name,
        description=name,
        effect=effect,
        action=name,
        describe=lambda: schema,
        run=lambda arguments: "done",
    )


REGISTRY = Registry(
    [
        a_tool("look", Effect.READ, "a", "b", "c", "d"),
        a_tool("tidy", Effect.WRITE),
        a_tool("note", Effect.WRITE, "title", "text"),
        a_tool("shell", Effect.RUN, "command"),
        a_tool("remove", Effect.DESTROY, "path"),
        a_tool("mail", Effect.ACT, "to"),
    ]
)
LISTED = {"read": 3, "write": 1, "act": 1}


@pytest.mark.parametrize(
    ("properties", "free"),
    [
        ({"path": {"type": "string"}, "deep": {"type": "integer"}}, 2),
        ({"state": {"enum": ["on", "off"]}, "loud": {"type": "boolean"}}, 0),
        ({}, 0),
    ],
)
def test_a_free_value_is_needed_and_none_of_a_few(properties: dict[str, Any], free: int) -> None:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    assert count_free_values(schema) == free
    assert count_free_values({**schema, "required": []}) == 0


def test_a_tool_is_offered_up_to_the_number_of_values_that_the_model_gets_right() -> None:
    assert [*select_trusted_tools(REGISTRY.functions, REGISTRY, LISTED)] == [
        "look",
        "tidy",
        "remove",
        "mail",
    ]
    assert [*select_trusted_tools(REGISTRY.functions, REGISTRY, {})] == []
    assert select_trusted_tools(REGISTRY.functions, REGISTRY, None) == REGISTRY.functions


def test_what_deletes_takes_what_writing_and_acting_take() -> None:
    assert describe_untrusted("remove", REGISTRY, {"write": 3}) == "delete files"
    assert describe_untrusted("remove", REGISTRY, {"write": 3, "act": 0}).startswith(
        "delete files with a detail"
    )
    assert describe_untrusted("remove", REGISTRY, {"write": 3, "act": 1}) == ""


def test_what_is_not_offered_is_answered_in_plain_words() -> None:
    told = describe_limits("tiny", REGISTRY.functions, REGISTRY, LISTED)
    assert "change files with more than 1 detail to get right or run commands" in told
    assert '"tiny is too small to do that safely. /model in chat' in told
    assert describe_limits("tiny", REGISTRY.functions, REGISTRY, None) == ""
    everything = dict.fromkeys([each.value for each in Effect], 3)
    assert describe_limits("tiny", REGISTRY.functions, REGISTRY, everything) == ""


def test_whose_list_counts() -> None:
    learned = Learned(trusted=LISTED)
    assert choose_trust(False, learned, "auto") == LISTED
    assert choose_trust(False, Learned(), "auto") is None
    assert choose_trust(True, learned, "auto") is EMBEDDED  # measured with many more requests
    assert choose_trust(True, learned, "all") is None
    assert [*describe_trust({"read": 3, "write": 1, "run": 0})] == [
        "read",
        "write with 1 value at most",
        "run alone",
    ]
