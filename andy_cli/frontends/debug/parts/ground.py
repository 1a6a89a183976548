"""`andy debug ground`: an answer, held against results, the user's words and the history."""

import json
from collections.abc import Mapping

from andy_cli.agent.grounding.audit import find_unsupported_claims
from andy_cli.agent.grounding.evidence import Evidence
from andy_cli.frontends.debug.debug_part import (
    MAX_CHARACTERS,
    ChunkCut,
    DebugPart,
    Record,
    list_of,
    text_of,
)


def text_from(value: object) -> str:
    """A text as it is, the content of a message, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and "content" in value and "role" in value:
        return text_from(value["content"])
    return json.dumps(value, ensure_ascii=False)


def ground_answer(record: Record, chunk_cut: ChunkCut) -> dict[str, object]:
    answer = text_of(record, "answer")
    results = tuple(map(text_from, list_of(record, "results")))
    history = tuple(map(text_from, list_of(record, "history")))
    if len(answer) + sum(map(len, results)) + sum(map(len, history)) > MAX_CHARACTERS:
        raise ValueError(f"more than {MAX_CHARACTERS:,} characters are refused")
    user = text_from(record.get("user") or "")
    not_done = tuple(
        str(action.get("action") or "")
        for action in list_of(record, "not_done")
        if isinstance(action, Mapping)
    )
    evidence = Evidence(results, user, history, not_done=not_done)
    unsupported_claims = find_unsupported_claims(answer, evidence, bool(record.get("strict")))
    return {
        "supported": not unsupported_claims,
        "unsupported": [claim.text for claim in unsupported_claims],
    }


PART = DebugPart("ground", ground_answer)
