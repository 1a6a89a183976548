"""The faults of a model server behind a real `andy serve`, as its clients see them.

The client here is as patient as the common ones: it asks again, twice, where an answer may come
later and nothing of one was seen. What it reads it reads like andy, since bytes are passed on.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2

from andy_cli.compiler.dialects.native import NativeCalls
from andy_cli.models.http.wire import WireReader
from tests import faults
from tests.faults import FaultServer, Play, Row, Seen
from tests.serve_client import Served, serving

LATER = {408, 409, 429, *range(500, 600)}
TRIES = 3
CALL = {
    "id": "call_0123456789abcdefghij",
    "type": "function",
    "function": {"name": "list_mp3s", "arguments": '{"path": "music"}'},
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "what music is there?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": CALL["id"], "content": '["a.mp3"]'},
]
TOOLS = [dict(tool) for tool in faults.TOOLS.known_functions(False).values()]
QUICK = ("--set", "network.connect_timeout=1", "--set", "network.idle_timeout=0.3")


def behind_serve(
    rows: list[Row], server: FaultServer, folder: Path, stride: int
) -> Iterator[tuple[Row, int, list[str]]]:
    plan = faults.plan_cuts(rows, stride)
    with serving(server.server.url, *QUICK, home=folder, HOME=str(folder)) as served:
        for row in rows:
            if row.opens["op"] in faults.OPENS_ELSEWHERE:
                yield row, 1, play_elsewhere(row, server, folder)
                continue
            wrong = [problem] if (problem := play_once(row, server, served)) else []
            # A client takes an empty reply for what it is, and asks for no other.
            empty = "empty" in row.expect["outcome"]
            cuts = range(0) if empty else plan.get(row.id, range(0))
            for cut in cuts:
                if problem := play_cut(row, server, served, cut):
                    wrong.append(f"cut at {cut}: {problem}")
            yield row, 1 + len(cuts), wrong


def play_elsewhere(row: Row, server: FaultServer, folder: Path) -> list[str]:
    with (
        faults.opened_elsewhere(row, folder, server) as url,
        serving(url, *QUICK, home=folder, HOME=str(folder)) as served,
    ):
        seen = ask(served, row, row.id, None)
    wrong = find_wrong(row, seen)
    return [wrong] if wrong else []


def play_once(row: Row, server: FaultServer, served: Served) -> str:
    model = f"serve-{row.id}"
    seen = ask(served, row, model, server.begin(model, row, told=False))
    return find_wrong(row, seen)


def play_cut(row: Row, server: FaultServer, served: Served, cut: int) -> str:
    model = f"serve-{row.id}@{cut}"
    seen = ask(served, row, model, server.begin(model, row, cut, told=False))
    del server.plays[model]
    return faults.find_wrong_cut(row, seen, cut, client=True)


def find_wrong(row: Row, seen: Seen) -> str:
    """As for andy itself, but that the client decides how often it asks, and runs the calls."""
    expect = dict(row.serve or row.expect)
    for own in ("words", "attempts", "min_s"):
        expect.pop(own, None)
    if expect["outcome"] in ("answer_or_empty_notice", "empty_notice", "ask", "capped"):
        return ""  # what an empty reply or too many calls mean is the client's to say
    if expect["outcome"] in ("corrected_or_error",):
        return ""
    if expect.get("kind") in ("bad_request", "context") and seen.kind == "upstream_error":
        return f"the kind is {seen.kind!r}"
    if not row.serve:
        expect.pop("kind", None)
    return faults.find_wrong(row._replace(expect=expect), seen)


def ask(served: Served, row: Row, model: str, play: Play | None) -> Seen:
    """Ask until there is an answer or no sense in asking."""
    body = {
        "model": model,
        "messages": MESSAGES,
        "tools": TOOLS,
        "stream": row.mode == "stream",
        "stream_options": {"include_usage": True},
        **row.request,
        **row.request_too,
        **setting_fields(row),
    }
    began = time.monotonic()
    for _ in range(TRIES):
        seen, again = ask_once(served, body)
        if not again:
            break
    seen.seconds = time.monotonic() - began
    seen.bodies = list(play.requests) if play else []
    return seen


def setting_fields(row: Row) -> dict[str, int]:
    """What andy would send because of its settings, as a client sends it."""
    return {name: int(value) for name, _, value in (word.partition("=") for word in row.set)}


def ask_once(served: Served, body: Mapping[str, Any]) -> tuple[Seen, bool]:
    """What was seen, and whether to ask again."""
    response = served.post(body)
    if response.status_code != 200:
        return refused(response)
    reader, calls, seen = WireReader(), NativeCalls(), Seen()
    finish = ""
    for chunk in (*reader.feed(response.content), *reader.finish()):
        seen.text += chunk.text
        finish = chunk.finish or finish
        if chunk.call:
            calls.add(chunk.call)
    seen.ok = not reader.failure and finish not in ("", "length", "content_filter", "error")
    requests = calls.read(seen.ok).requests
    seen.runs = [(call.name, dict(call.arguments or {})) for call in requests]
    seen.said = finish or str(reader.failure or "")
    seen.kind = reader.failure.kind if reader.failure else finish
    broken = not seen.ok and not seen.text and not requests and not finish
    return seen, broken


def refused(response: httpx2.Response) -> tuple[Seen, bool]:
    try:
        error = response.json()["error"]
        said, kind = error["message"], error["type"]
    except (ValueError, KeyError, TypeError):
        return Seen(kind="none", said=""), False
    far = float(response.headers.get("retry-after", "0") or 0) > 60 if _is_number(response) else 0
    never = response.headers.get("x-should-retry") == "false"
    return Seen(said=said, kind=kind), response.status_code in LATER and not (far or never)


def _is_number(response: httpx2.Response) -> bool:
    return response.headers.get("retry-after", "").replace(".", "").isdigit()
