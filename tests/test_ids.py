"""Ids of calls in the history, as each family wants them back."""

import pytest

from andy_cli.compiler import dialects
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.ids import rename_call_ids
from andy_cli.discover import discover
from andy_cli.messages import Message, ToolCall

DIALECTS = {each.name: each for each in discover(dialects, Dialect, "DIALECT")}


def history() -> list[Message]:
    """Two turns, three calls, with ids of different origins."""
    first = ToolCall("call_abc-123", "list_mp3s", {"path": "~/Music"})
    second, third = ToolCall("aB3dE6gH9", "play_mp3"), ToolCall("toolu_01", "stop_mp3")
    return [
        Message("user", "play something"),
        Message("assistant", "", (first,)),
        Message("tool", "[]", call_id=first.id, name=first.name),
        Message("assistant", "Nothing there."),
        Message("user", "play and stop"),
        Message("assistant", "", (second, third)),
        Message("tool", "playing", call_id=second.id, name=second.name),
        Message("tool", "stopped", call_id=third.id, name=third.name),
    ]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("kimi_k2", ["functions.list_mp3s:0", "functions.play_mp3:1", "functions.stop_mp3:2"]),
        ("kimi_k3", ["1", "2", "3"]),
        ("cohere_command", ["0", "1", "2"]),
        ("hermes", ["call_abc-123", "aB3dE6gH9", "toolu_01"]),
    ],
)
def test_a_family_gets_its_own_ids_back(name: str, ids: list[str]) -> None:
    told = rename_call_ids(history(), DIALECTS[name].id_form)
    assert [call.id for message in told for call in message.calls] == ids
    assert [message.call_id for message in told if message.role == "tool"] == ids


@pytest.mark.parametrize("name", ["mistral_pre_v11", "mistral_v11"])
def test_mistral_gets_nine_letters_and_digits(name: str) -> None:
    told = rename_call_ids(history(), DIALECTS[name].id_form)
    ids = [call.id for message in told for call in message.calls]
    assert all(len(id) == 9 and id.isalnum() and id.isascii() for id in ids)
    assert ids[1] == "aB3dE6gH9"
    assert len(set(ids)) == 3
    assert [message.call_id for message in told if message.role == "tool"] == ids
    assert rename_call_ids(told, DIALECTS[name].id_form) == told


def test_the_id_is_written_into_the_call() -> None:
    kimi = DIALECTS["kimi_k2"]
    wire = kimi.render(rename_call_ids(history(), kimi.id_form))
    text = "".join(str(message["content"]) for message in wire)
    assert "<|tool_call_begin|>functions.stop_mp3:2<|tool_call_argument_begin|>" in text
