"""Corrections keep the meaning: pairs of what is written and what is declared, and whole calls.

`corpora/mapper/pairs.jsonl` says of each pair whether it means the same or something else;
`unseen.jsonl` holds calls that were written before the code was read. The expectations of
`careless.jsonl` were recorded from the code and then read over: it guards, it measures nothing.
"""

import json
from pathlib import Path
from typing import Any

from andy_cli.compiler.mapper.mapper import Mapped, map_call
from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.map import PART
from tests.cases import loop_over

FOLDER = Path(__file__).parent / "corpora" / "mapper"
ARGUMENTS: dict[str, object] = {"string": "Oslo", "number": 7, "array": [1, 2]}
ITEMS = {"type": "number"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


PAIRS = rows("pairs.jsonl")
UNSEEN = [*rows("unseen.jsonl"), *rows("careless.jsonl")]


def declare(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return {"name": name, "parameters": schema}


def map_name(pair: dict[str, Any]) -> tuple[Mapped, object, object]:
    """What becomes of the written name, what would mean the same, and what was given."""
    name, value = pair["name"], ARGUMENTS[pair["type"]]
    kind = {"type": pair["type"], "description": pair.get("about", "")}
    declared = {name: {**kind, "items": ITEMS} if pair["type"] == "array" else kind}
    tool = pair.get("tool", "look_up")
    made = map_call(
        tool, {pair["written"]: value}, {tool: declare(tool, declared, [name])}, lambda _: True
    )
    return made, (tool, {name: value}), value


def map_tool(pair: dict[str, Any]) -> tuple[Mapped, object, object]:
    tool = declare(pair["name"], {"topic": {"type": "string"}}, ["topic"])
    given = {"topic": "birds"}
    made = map_call(pair["written"], given, {pair["name"]: tool}, lambda _: True)
    return made, (pair["name"], given), given


def map_value(pair: dict[str, Any]) -> tuple[Mapped, object, object]:
    name, required = pair["name"], [] if pair.get("optional") else [pair["name"]]
    tool = declare("look_up", {name: pair["schema"], "topic": {"type": "string"}}, required)
    made = map_call("look_up", {name: pair["given"]}, {"look_up": tool}, lambda _: True)
    return made, ("look_up", {name: pair.get("expected")}), pair["given"]


WAYS = {"name": map_name, "tool": map_tool, "value": map_value}


@loop_over("pair", PAIRS, ids=lambda pair: pair["id"])
def test_the_same_meaning_is_taken_and_another_is_asked_about(pair: dict[str, Any]) -> None:
    made, same, given = WAYS[pair["what"]](pair)
    if pair["verdict"] == "same":
        assert not made.problems
        assert json.dumps(made.calls[0]) == json.dumps(same)
    else:
        several = len(made.calls) > 1 and isinstance(given, list)
        assert made.problems or several, made.calls


@loop_over("case", UNSEEN, ids=lambda case: case["id"])
def test_a_call_of_the_unseen_batch_is_mended_kept_or_asked_about(case: dict[str, Any]) -> None:
    out = PART.answer({"tools": case["tools"], "calls": [case["call"]]}, ChunkCut())
    expect = case["expect"]
    assert out["valid"] is expect["valid"], out["errors"]
    if expect["valid"]:
        wanted = [{"name": expect["name"], "arguments": expect["arguments"]}]
        assert json.dumps(out["calls"], sort_keys=True) == json.dumps(wanted, sort_keys=True)
    if case["class"] == "pass":
        assert out["changes"] == []


def test_the_table_holds_both_verdicts_of_every_kind() -> None:
    kinds = {(pair["what"], pair["verdict"]) for pair in PAIRS}
    assert len(kinds) == 6
    assert len(PAIRS) >= 120
