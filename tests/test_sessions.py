"""The example sessions of the documents, whole, on a real HTTP server.

A session is a text file of sections parted by `---`. `# key=value ...` says which model is talked
to from there on, `> ` is what the user says, all else the next reply of the server: text, or lines
of `call ID NAME {arguments}` for native calls. What happens, and what the server was sent, is
golden.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.events import Event
from andy_cli.guard.gate import Gate
from andy_cli.settings import load
from tests.model_server import Answer, ModelServer, Received, event, raw, status, streamed
from tests.scripted_conversation import MUSIC
from tests.scripted_tools import DESK, agreed, client
from tests.shell import ROOT, andy
from tests.test_transcripts import joined

FOLDER = Path(__file__).parent / "sessions"
SESSIONS = sorted(FOLDER.glob("*.txt"))
REGISTRIES = {"desk": DESK, "music": MUSIC}
CALL = re.compile(r"call (\S+) (\S+) (\{.*\})")
CHANGING = ("timestamp", "seconds", "duration_ms", "session_id", "tools", "total_cost_usd")
SECTION = "\n---\n"


def sections(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").rstrip("\n").split(SECTION)


def script(path: Path) -> list[Answer]:
    return [answer(each) for each in sections(path) if not each.startswith(("# ", "> "))]


def answer(text: str) -> Answer:
    calls = CALL.findall(text)
    if not calls:
        return streamed(*[text[at : at + 7] for at in range(0, len(text), 7)])
    said = CALL.sub("", text).strip()
    deltas = [
        {"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": given}}
        for at, (id, name, given) in enumerate(calls)
    ]
    spoken = [event({"content": f"{said}\n\n"})] if said else []
    called = [event({"tool_calls": [each]}) for each in deltas]
    return [status(), *spoken, *called, event({}, "tool_calls"), raw("data: [DONE]\n\n")]


async def held(path: Path, url: str) -> list[Event]:
    """All that happens in the session."""
    chat: Conversation | None = None
    seen: list[Event] = []
    for section in sections(path):
        if section.startswith("# "):
            said = dict(each.split("=", 1) for each in section[2:].split())
            model = client(url, said.get("model", "m"), said.get("tools") != "no")
            if chat is None:
                settings = load([f"dialect={said.get('dialect', 'auto')}"], environment={})
                registry = REGISTRIES[said.get("registry", "desk")]
                gate = Gate(Path.cwd(), ask=agreed)
                chat = Conversation(model, registry, gate, settings, Path.cwd())
            else:
                await chat.client.close()
                chat.switch_model(model)
        elif section.startswith("> "):
            assert chat is not None
            seen += [each async for each in turn(chat, section[2:])]
    assert chat is not None
    await chat.client.close()
    return seen


def golden(seen: Sequence[Event], requests: Sequence[Received]) -> list[str]:
    """Events, then requests without system prompts; ids are numbered as they come."""
    records = [events.as_dict(each) for each in joined(list(seen))]
    ids = [str(each["tool_id"]) for each in records if each["type"] == "tool_use"]
    for each in records:
        for name in CHANGING:
            each.pop(name, None)
    lines = [json.dumps(each, ensure_ascii=False, default=str) for each in records]
    lines += [json.dumps(asked(each.body), ensure_ascii=False) for each in requests]
    for at, id in enumerate(dict.fromkeys(ids)):
        lines = [re.sub(rf"\b{re.escape(id)}\b", f"call{at + 1}", line) for line in lines]
    return lines


def asked(body: Mapping[str, Any]) -> dict[str, object]:
    return {
        "type": "request",
        "model": body["model"],
        "tools": len(body.get("tools", [])),
        "messages": [each for each in body["messages"] if each["role"] != "system"],
    }


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: str(path.stem))
def test_a_session_goes_as_its_document_says(path: Path, update: bool) -> None:
    answers = script(path)
    with ModelServer(answers) as server:
        seen = asyncio.run(held(path, server.url))
        requests = [*server.requests]
    assert len(requests) == len(answers), "every reply is asked for, and none twice"
    for each in requests:
        assert [*faults(each.body["messages"], native="tools" in each.body)] == []
    lines = golden(seen, requests)
    file = path.with_suffix(".jsonl")
    if update:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == file.read_text(encoding="utf-8").splitlines()


def faults(messages: Sequence[Mapping[str, Any]], native: bool) -> Iterator[str]:
    """What a server would refuse: ids that do not fit, roles that do not alternate."""
    roles = [each["role"] for each in messages if each["role"] != "system"]
    if not native:
        expected = [("user", "assistant")[at % 2] for at in range(len(roles))]
        yield from ["roles do not alternate"] * (roles != expected)
        yield from ["calls in a text dialect"] * any("tool_calls" in each for each in messages)
    open_ids: list[str] = []
    for each in messages:
        if each["role"] == "tool":
            if each["tool_call_id"] not in open_ids:
                yield f"nobody asked for {each['tool_call_id']}"
            else:
                open_ids.remove(each["tool_call_id"])
            continue
        yield from (f"{id} has no result" for id in open_ids)
        open_ids = [call["id"] for call in each.get("tool_calls", [])]
    yield from (f"{id} has no result" for id in open_ids)


def test_the_first_session_from_a_shell_with_real_music(tmp_path: Path) -> None:
    music = tmp_path / "mp3"
    music.mkdir()
    for at, song in enumerate(sorted((ROOT / "tests" / "music").glob("*.mp3"))[:2]):
        (music / f"song{at + 1}.mp3").write_bytes(song.read_bytes())
    replies = ["DEAR ANDYBOT, LIST_MP3S", "~/mp3"]
    replies += ["DEAR ANDYBOT, PLAY_MP3", "song1.mp3", "~/mp3", "skip"]
    replies += ["I've started playing song1.mp3 from your ~/mp3 directory!"]
    with ModelServer([streamed(each) for each in replies]) as server:
        done = andy(
            *("run", "--base-url", server.url, "--model", "m", "--set", "dialect=andybot"),
            *("--no-wait", "-o", "stream-json", "look at files in ~/mp3 and play the first one"),
            home=tmp_path,
        )
        told = [each.body["messages"][-1]["content"] for each in server.requests]
    records = [json.loads(line) for line in done.out.splitlines()]
    used = [each for each in records if each["type"] == "tool_use"]
    assert [each["tool_name"] for each in used] == ["list_mp3s", "play_mp3"]
    assert used[1]["parameters"] == {"file": "song1.mp3", "path": "~/mp3"}
    assert told[1].startswith("ANDYBOT ASKS: ")
    assert told[2].startswith("ANDYBOT RESPONDS: song1.mp3")
    assert records[-1]["result"] == replies[-1]
    assert done.code == 0
