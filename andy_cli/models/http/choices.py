"""Reading of a reply's events as chunks: text, reasoning, pieces of tool calls, the end.

Every key may be missing, null or of another type than the API promises.
"""

import json
from collections.abc import Mapping

from andy_cli.messages import CallDelta, Chunk, Usage

GIVEN_UP = frozenset(
    "error abort aborted cancelled canceled timeout failed network_error "
    "insufficient_system_resource malformed_function_call unexpected_tool_call".split()
)
"""Finish reasons of a server that did not let the model finish."""
LENGTHS = frozenset(
    "length max_tokens max_output_tokens max_length model_length token_limit incomplete "
    "model_context_window_exceeded".split()
)
FILTERS = frozenset(
    "content_filter content_filtered content-filter safety recitation blocklist spii sensitive "
    "prohibited_content guardrail_intervened refusal image_safety language".split()
)


def plain_finish(reason: str) -> str:
    """Why the reply ended in the words of the OpenAI API: what ends one early has many names."""
    name = reason.lower().rpartition(": ")[2]
    if name in LENGTHS:
        return "length"
    if name in FILTERS:
        return "content_filter"
    return "error" if name in GIVEN_UP else reason


class ChoiceReader:
    """Collects what choice 0 says over the events; the text of neighbours becomes one chunk."""

    def __init__(self) -> None:
        self.any = False
        """There was a choice: without one it is no reply, however it ended."""
        self.given_up = ""
        """The reason for which the server gave up."""
        self._chunks: list[Chunk] = []
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._half = ""
        self._usage: Usage | None = None
        self._said = False
        self._finished = False

    def take(self, is_last: bool = False) -> list[Chunk]:
        """Return the chunks read since; `is_last` also gives what waited for more."""
        if is_last:
            if self._half:
                self._texts.append("\N{REPLACEMENT CHARACTER}")
                self._half = ""
            if self._usage:
                self._flush_text()
                self._chunks.append(Chunk(usage=self._usage))
                self._usage = None
        if self._texts or self._thoughts:
            self._flush_text()
        chunks, self._chunks = self._chunks, []
        return chunks

    def finish_reply(self, is_sure: bool) -> None:
        """The server said that the reply is whole; `is_sure`: and nothing of it was unreadable."""
        if is_sure and not self._finished:
            self._finish_choice("stop")
        if self._usage:
            self._flush_text()
            self._chunks.append(Chunk(usage=self._usage))
            self._usage = None

    def read(self, event: Mapping[str, object], escaped: bool, is_sure: bool) -> None:
        usage = event.get("usage")
        if usage:
            self._usage = _read_usage(usage) or self._usage
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                self.any = True
                self._read_choice(choice, escaped)
                self._end_choice(choice, is_sure)
                return

    def _end_choice(self, choice: Mapping[str, object], is_sure: bool) -> None:
        finish = choice.get("finish_reason")
        reason = plain_finish(str(finish)) if finish else ""
        if reason == "error":
            self.given_up = str(finish)
        elif reason and is_sure:
            # vLLM's name for it, and SGLang's
            stop_reason = choice.get("stop_reason") or choice.get("matched_stop")
            self._finish_choice(reason, stop_reason if isinstance(stop_reason, str) else "")

    def _read_choice(self, choice: Mapping[str, object], escaped: bool) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            if self._said:  # the whole message after its deltas would be said twice
                return
            message = choice.get("message")
            delta = message if isinstance(message, dict) else {"content": choice.get("text")}
        self._read_words(delta, escaped)
        if calls := delta.get("tool_calls"):
            self._add_calls(calls if isinstance(calls, list) else [calls])
        elif call := delta.get("function_call"):
            self._add_calls([{"function": call}])

    def _read_words(self, delta: Mapping[str, object], escaped: bool) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            self._add_reasoning(reasoning)
        content = delta.get("content")
        if content:
            if not isinstance(content, str):
                content = self._join_parts(content)
            self._add_text(content, escaped)
        elif isinstance(refusal := delta.get("refusal"), str):
            self._add_text(refusal, escaped)

    def _add_text(self, text: str, escaped: bool) -> None:
        if escaped or self._half:
            text, self._half = whole_characters(self._half + text)
        if text:
            self._said = True
            if self._thoughts:
                self._flush_text()
            self._texts.append(text)

    def _add_reasoning(self, text: str) -> None:
        if self._texts:
            self._flush_text()
        self._thoughts.append("".join(whole_characters(text)))

    def _join_parts(self, content: object) -> str:
        """The text of a list of parts; an object is its own JSON, for a dialect to read."""
        if not isinstance(content, list):
            return json.dumps(content, ensure_ascii=False)
        texts = []
        for content_part in content:
            if isinstance(content_part, str):
                texts.append(content_part)
            elif isinstance(content_part, dict) and isinstance(content_part.get("text"), str):
                texts.append(content_part["text"])
            elif isinstance(content_part, dict) and (thought := content_part.get("thinking")):
                self._add_reasoning(
                    thought if isinstance(thought, str) else self._join_parts(thought)
                )
        return "".join(texts)

    def _add_calls(self, calls: list[object]) -> None:
        self._flush_text()
        for call in calls:
            if isinstance(call, dict):
                self._said = True
                self._chunks.append(Chunk(call=read_call_delta(call)))

    def _finish_choice(self, reason: str, stopped_at: str = "") -> None:
        self._finished = True
        self._flush_text()
        self._chunks.append(Chunk(finish=reason, stopped_at=stopped_at))

    def _flush_text(self) -> None:
        if self._thoughts:
            self._chunks.append(Chunk(reasoning="".join(self._thoughts)))
            self._thoughts = []
        if self._texts:
            self._chunks.append(Chunk("".join(self._texts)))
            self._texts = []


def whole_characters(text: str) -> tuple[str, str]:
    """The text with its surrogate pairs joined, and the first half of a pair that it ends with.

    Some servers cut an escaped emoji in two, and half of one cannot be shown or stored.
    """
    half_pair = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    text = text[: len(text) - len(half_pair)]
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text, half_pair


def read_call_delta(call: Mapping[str, object]) -> CallDelta:
    """One piece of a call, whatever of it is there."""
    function = call.get("function")
    if not isinstance(function, dict):
        function = call
    position, id, name = call.get("index"), call.get("id"), function.get("name")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return CallDelta(
        position=_call_position(position),
        id="" if id is None else str(id),
        name=name if isinstance(name, str) else "",
        arguments=arguments,
    )


def _call_position(index: object) -> int | None:
    """The place of a call; some gateways write it as a text."""
    if isinstance(index, str) and index.isdecimal() and len(index) < 4:
        return int(index)
    return index if type(index) is int else None


def _read_usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    input_count = usage.get("prompt_tokens") or usage.get("input_tokens")
    output_count = usage.get("completion_tokens") or usage.get("output_tokens")
    return Usage(
        input_count if isinstance(input_count, int) else 0,
        output_count if isinstance(output_count, int) else 0,
    )
