"""Whole conversations: a text file, the user first, and the events it must produce."""

import json
from pathlib import Path

import pytest

from andy_cli import events
from andy_cli.events import Event
from tests.fakes import ScriptedModel
from tests.scripted_conversation import events_of

FOLDER = Path(__file__).parent / "transcripts"
TRANSCRIPTS = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: str(path.stem))
def test_a_conversation_produces_its_events(path: Path, update: bool) -> None:
    user, *replies = path.read_text(encoding="utf-8").rstrip("\n").split("\n---\n")
    happened = joined(events_of(ScriptedModel(replies), user))
    lines = [json.dumps(each, ensure_ascii=False, default=str) for each in plain(happened)]
    golden = path.with_suffix(".jsonl")
    if update:
        golden.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == golden.read_text(encoding="utf-8").splitlines()


def joined(happened: list[Event]) -> list[Event]:
    """Pieces of one text as one, so that a golden file does not depend on their size."""
    out: list[Event] = []
    for event in happened:
        last = out[-1] if out else None
        if isinstance(event, events.Said) and isinstance(last, events.Said) and last.delta:
            out[-1] = events.Said(last.role, last.content + event.content, delta=True)
        else:
            out.append(event)
    return out


def plain(happened: list[Event]) -> list[dict[str, object]]:
    """Without what differs from run to run; ids are numbered as they come."""
    ids: dict[str, str] = {}
    records = []
    for event in happened:
        record = events.as_dict(event)
        for name in ("timestamp", "seconds", "duration_ms", "session_id", "tools"):
            record.pop(name, None)
        if tool_id := record.get("tool_id"):
            record["tool_id"] = ids.setdefault(str(tool_id), f"call{len(ids) + 1}")
        records.append(record)
    return records
