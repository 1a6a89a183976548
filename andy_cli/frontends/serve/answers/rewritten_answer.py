"""An answer that came whole, read as a stream is: passed on where nothing is to be changed.

A server may leave a call in the text, in the reasoning, under another name or with arguments that
do not fit. Then the answer goes on as a dialogue that began with it, as on every other wire.
"""

import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

from andy_cli.agent.model.reply import may_run_calls
from andy_cli.foreign_values import as_record
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.frontends.serve.answers.streamed_calls import choose_call_id
from andy_cli.frontends.serve.answers.tool_dialogue import continue_dialogue
from andy_cli.frontends.serve.upstream.sources import BegunSource
from andy_cli.frontends.serve.wires.answer_parts import Finish, collect_parts, find_finish
from andy_cli.frontends.serve.wires.chat_writer import dump_json, write_message
from andy_cli.messages import Chunk
from andy_cli.models.http.wire import WireReader, plain_finish

Choice = Mapping[str, object]


class RewrittenAnswer(NamedTuple):
    """The answer to give, and how it ended where it is another than the server's."""

    data: bytes
    ending: Finish | None = None
    called: bool = False
    counted: int = 0
    """Tokens of the prompt, as the server says."""


async def rewrite_answer(
    data: bytes, begin_dialogue: Callable[[], ToolDialogue]
) -> RewrittenAnswer:
    """Read an answer of the chat API; `begin_dialogue` begins that which goes on with a choice.

    Raises ApiError where the model is asked again and fails.
    """
    try:
        answer = json.loads(data.decode("utf-8", "replace"))
        choices = answer["choices"]
        readable = all(isinstance(choice["message"], dict) for choice in choices)
    except (ValueError, KeyError, TypeError, RecursionError):
        return RewrittenAnswer(data)  # of another shape than is promised: passed on
    last_finish: Finish | None = None
    rewritten_choices: list[Choice] = []
    for choice in choices if readable else ():
        changed, ending = await _read_choice(choice, begin_dialogue())
        rewritten_choices.append(changed)
        last_finish = ending or last_finish
    messages = [as_record(choice["message"]) for choice in rewritten_choices]
    called = any(message.get("tool_calls") or message.get("function_call") for message in messages)
    if last_finish is not None:
        data = dump_json({**answer, "choices": rewritten_choices})
    return RewrittenAnswer(data, last_finish, called, read_prompt_tokens(answer))


def read_prompt_tokens(answer: Mapping[str, object]) -> int:
    """Tokens of the prompt, as an answer or an event tells them; 0 if it does not."""
    counted = as_record(answer.get("usage")).get("prompt_tokens")
    return counted if isinstance(counted, int) else 0


async def _read_choice(choice: Choice, dialogue: ToolDialogue) -> tuple[Choice, Finish | None]:
    """Return the choice as the client gets it, and how it ended, if it was changed."""
    message, finish = choice["message"], plain_finish(str(choice.get("finish_reason") or "stop"))
    if not isinstance(message, dict):
        return choice, None
    if message.get("tool_calls") and not may_run_calls(finish):
        return choice, None  # cut off, and its client is told so
    dialogue.source = BegunSource(dialogue.source, _replay_chunks(choice, finish))
    answer_parts = await collect_parts(continue_dialogue(dialogue))
    written = write_message(answer_parts, dialogue.chat_request.freeform_tools)
    ending = find_finish(answer_parts)
    if _is_same_answer(message, written):
        corrected = _correct_form(choice, message)
        return corrected, None if corrected == choice else ending
    kept_fields = {key: value for key, value in message.items() if key not in REWRITTEN}
    return {**choice, "message": kept_fields | written, "finish_reason": ending.reason}, ending


def _correct_form(choice: Choice, message: Mapping[str, object]) -> Choice:
    """The choice, if it has calls with their reason, and an id for each of them alone."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return choice
    corrected_calls: list[Mapping[str, object]] = []
    for call in calls:
        used_ids = [str(corrected["id"]) for corrected in corrected_calls]
        corrected_calls.append({**call, "id": choose_call_id(str(call.get("id") or ""), used_ids)})
    corrected_message = {**message, "tool_calls": corrected_calls}
    return {**choice, "message": corrected_message, "finish_reason": "tool_calls"}


REWRITTEN = ("reasoning_content", "reasoning", "tool_calls", "function_call")
"""Fields of a message that are written anew where it is changed."""


def _replay_chunks(choice: Choice, finish: str) -> list[Chunk]:
    alone = {"choices": [{**choice, "index": 0, "finish_reason": finish}]}
    reader = WireReader()
    return [*reader.feed(dump_json(alone)), *reader.finish()]


def _is_same_answer(message: Choice, written: Choice) -> bool:
    """Tell whether a message means to a client what ours would; blanks around it are no matter."""
    text = message.get("content") or message.get("refusal") or ""
    our_text = written["content"]
    if not isinstance(text, str) or text.strip() != str(our_text).strip():
        return False
    calls, our_calls = message.get("tool_calls"), written.get("tool_calls")
    return _normalize_calls(calls) == _normalize_calls(our_calls)


def _normalize_calls(calls: object) -> list[object]:
    """Calls as they compare: without ids, and with their arguments in one way to write them."""
    if isinstance(calls, list):
        return [_normalize_call(call) for call in calls]
    return [_normalize_call(calls)] if calls else []


def _normalize_call(call: object) -> object:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return {**call, "id": ""} if isinstance(call, dict) else call
    try:
        arguments = json.loads(str(function.get("arguments")))
        # As JSON, since to Python 1 and true are equal.
        return function.get("name"), json.dumps(arguments, sort_keys=True)
    except (ValueError, RecursionError):
        return function
