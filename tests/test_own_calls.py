"""Careless calls of our own tools become what was meant, or are asked about."""

import json
from pathlib import Path
from typing import Any

from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.toolbox.collection import load_tool_files
from tests.cases import loop_over

CORPUS = Path(__file__).parent / "corpora" / "mapper" / "own_tools.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
REGISTRY = load_tool_files()


@loop_over("case", CASES, ids=lambda case: case["id"])
def test_a_careless_call_of_our_own_is_corrected_or_asked_about(case: dict[str, Any]) -> None:
    name = case["tool"]
    made = map_call(name, case["arguments"], REGISTRY.functions, REGISTRY.only_reads)
    found = made.problems or REGISTRY.check(name, made.calls[0].arguments)
    if case["expected"] is None:
        assert found, made
    else:
        assert not found
        assert [call.arguments for call in made.calls] == [case["expected"]]
