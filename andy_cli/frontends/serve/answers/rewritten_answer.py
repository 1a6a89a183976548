"""An answer that came whole, read as a stream is: passed on where nothing is to be changed.

A server may leave a call in the text, in the reasoning, under another name or with arguments that
do not fit. Then the answer goes on as a dialogue that began with it, as on every other wire.
"""

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from andy_cli.agent.reply import may_ask
from andy_cli.frontends.serve.answers.tool_dialogue import Dialogue, converse
from andy_cli.frontends.serve.answers.wrapped_sources import Begun
from andy_cli.frontends.serve.wires.answer_parts import Over, Piece, Retracted, Said
from andy_cli.frontends.serve.wires.chat_writer import dumped, write_message
from andy_cli.frontends.serve.wires.freeform_tools import texted_tools
from andy_cli.messages import Chunk
from andy_cli.models.http.choices import plain_finish
from andy_cli.models.http.wire import WireReader

Choice = Mapping[str, object]


class ReadBack(NamedTuple):
    """The answer to give, and what it came of where it is another than the server's."""

    data: bytes
    over: Over | None = None
    called: bool = False
    counted: int = 0
    """Tokens of the prompt, as the server says."""


async def read_back(data: bytes, make: Callable[[], Dialogue]) -> ReadBack:
    """Read an answer of the chat API; `make` begins the dialogue that goes on with a choice.

    Raises Refused where the model is asked again and fails.
    """
    try:
        answer = json.loads(data)
        choices = answer["choices"]
        readable = all(isinstance(each["message"], dict) for each in choices)
    except (ValueError, KeyError, TypeError, RecursionError):
        return ReadBack(data)  # of another shape than is promised: passed on
    last: Over | None = None
    made: list[object] = []
    for choice in choices if readable else ():
        changed, over = await _read_choice(choice, make())
        made.append(changed)
        last = over or last
    called = any(isinstance(each, dict) and _has_calls(each) for each in made)
    counted = read_prompt_tokens(answer)
    if last is None:
        return ReadBack(data, None, called, counted)
    return ReadBack(dumped({**answer, "choices": made}), last, called, counted)


def read_prompt_tokens(answer: Mapping[str, object]) -> int:
    """Tokens of the prompt, as an answer or an event tells them; 0 if it does not."""
    usage = answer.get("usage")
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return counted if isinstance(counted, int) else 0


def _has_calls(choice: Choice) -> bool:
    message = choice.get("message")
    return isinstance(message, dict) and bool(
        message.get("tool_calls") or message.get("function_call")
    )


async def _read_choice(choice: Choice, dialogue: Dialogue) -> tuple[Choice, Over | None]:
    """The choice as the client gets it; with what it came of, if it was changed."""
    message, finish = choice["message"], plain_finish(str(choice.get("finish_reason") or "stop"))
    if not isinstance(message, dict) or message.get("function_call"):
        return choice, None
    if message.get("tool_calls") and not may_ask(finish):
        return choice, None  # cut off, and its client is told so
    dialogue.source = Begun(dialogue.source, _chunks(choice, finish))
    pieces: list[Piece] = []
    async for piece in converse(dialogue):
        if isinstance(piece, Retracted):
            pieces = [each for each in pieces if not isinstance(each, Said)]
        else:
            pieces.append(piece)
    texted = texted_tools(dialogue.asked.body.get("tools"))
    written = write_message(pieces, texted)
    if _says_the_same(message, written):
        return choice, None
    over = next(each for each in pieces if isinstance(each, Over))
    kept = {key: value for key, value in message.items() if key not in (*THOUGHTS, "tool_calls")}
    return {**choice, "message": {**kept, **written}, "finish_reason": over.reason}, over


THOUGHTS = ("reasoning_content", "reasoning")


def _chunks(choice: Choice, finish: str) -> list[Chunk]:
    """One choice as the chunks of a reply."""
    alone = {"choices": [{**choice, "index": 0, "finish_reason": finish}]}
    reader = WireReader()
    return [*reader.feed(dumped(alone)), *reader.finish()]


def _says_the_same(message: Choice, written: Choice) -> bool:
    """Whether a message means to a client what ours would; blanks around a text are no matter."""
    text, ours = message.get("content") or "", written["content"]
    if not isinstance(text, str) or text.strip() != str(ours).strip():
        return False
    return _meant(message.get("tool_calls")) == _meant(written.get("tool_calls"))


def _meant(calls: object) -> list[object]:
    """What calls say, without their ids and however their arguments are written."""
    listed = calls if isinstance(calls, list) else []
    return [_meaning(each) for each in listed]


def _meaning(call: object) -> object:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return {**call, "id": ""} if isinstance(call, dict) else call
    try:
        return function.get("name"), json.loads(str(function.get("arguments")))
    except (ValueError, RecursionError):
        return function
