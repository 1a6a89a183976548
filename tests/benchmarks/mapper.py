"""What it costs to correct the arguments of a call, and to leave a valid call alone."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jsonschema_rs
from pydantic import ValidationError, create_model

from andy_cli.compiler.mapper.mapper import map_call
from tests.benchmarks.measure import per_item, table

ROUNDS = 300
KINDS = ("string", "integer", "number", "boolean", "array")
VALID: dict[str, object] = {
    "string": "notes", "integer": 3, "number": 0.5, "boolean": True, "array": ["a", "b"],
}  # fmt: skip
WRONG: dict[str, object] = {
    "string": 5, "integer": "3", "number": "1,000", "boolean": "yes", "array": "a",
}  # fmt: skip


def schema(count: int) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for at in range(count):
        kind = KINDS[at % len(KINDS)]
        properties[f"field_{at}"] = {"type": kind, "description": "what it is for"}
        if kind == "array":
            properties[f"field_{at}"]["items"] = {"type": "string"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties)[: count // 2],
        "additionalProperties": False,
    }


def arguments(count: int, wrong: int) -> dict[str, object]:
    made = {f"field_{at}": VALID[KINDS[at % len(KINDS)]] for at in range(count)}
    for at in range(wrong):
        made[f"field_{at}"] = WRONG[KINDS[at % len(KINDS)]]
    return made


def mapping(tool: dict[str, Any], given: object) -> Callable[[], None]:
    tools = {"do": tool}

    def work() -> None:
        for _ in range(ROUNDS):
            map_call("do", given, tools, lambda _: True)

    return work


def validating(tool: dict[str, Any], given: object) -> Callable[[], None]:
    validator = jsonschema_rs.Draft202012Validator(tool["parameters"])

    def work() -> None:
        for _ in range(ROUNDS):
            list(validator.iter_errors(given))

    return work


def coercing(given: dict[str, object]) -> Callable[[], None]:
    """pydantic's own coercion: faster, and it gives up at the first thing it does not know."""
    types: dict[str, type] = {
        "string": str, "integer": int, "number": float, "boolean": bool, "array": list[str],
    }  # fmt: skip
    fields: dict[str, Any] = {
        name: (types[KINDS[at % len(KINDS)]], None) for at, name in enumerate(given)
    }
    model = create_model("Do", **fields)

    def work() -> None:
        for _ in range(ROUNDS):
            try:
                model.model_validate(given)
            except ValidationError as error:
                error.errors(include_url=False)

    return work


def first_import(module: str) -> float:
    code = (
        f"import time; at = time.perf_counter(); import {module}; print(time.perf_counter() - at)"
    )
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    return sorted(runs)[2] * 1000


def main() -> None:
    tool = {"name": "do", "parameters": schema(30)}
    rows = []
    cases = [
        ("a valid call", arguments(30, 0), ""),
        ("one value wrong", arguments(30, 1), "(<= 300)"),
        ("five values wrong", arguments(30, 5), "(<= 300)"),
        ("all thirty wrong", arguments(30, 30), "(<= 300)"),
        ("a name wrong", renamed(arguments(30, 0), "field_1", "Field-1"), "(<= 300)"),
        ("a wrapper around it", {"arguments": arguments(30, 1)}, "(<= 300)"),
        ("all of it one text", json.dumps(arguments(30, 1)), "(<= 300)"),
        ("no correction is possible", {**arguments(30, 1), "field_1": "maybe"}, "(<= 300)"),
    ]
    for what, given, goal in cases:
        measured = per_item(mapping(tool, given), ROUNDS)
        floor = per_item(validating(tool, given), ROUNDS)
        peer = f"{floor:.1f}  validation alone"
        if isinstance(given, dict):
            peer += (
                f", {per_item(coercing(given), ROUNDS):.1f}  pydantic" if len(given) == 30 else ""
            )
        rows.append((what, f"{measured:.1f}", peer, goal))
    table("mapper: microseconds a call, 30 parameters", rows)
    table(
        "mapper: milliseconds until the first call",
        [
            (f"import {name}", f"{first_import(name):.0f}", "", "")
            for name in ("andy_cli.compiler.mapper.mapper", "jsonschema_rs", "jsonschema")
            if name != "jsonschema" or installed(name)
        ],
    )


def renamed(given: dict[str, object], name: str, other: str) -> dict[str, object]:
    return {(other if key == name else key): value for key, value in given.items()}


def installed(name: str) -> bool:
    return (
        subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode
        == 0
    )
