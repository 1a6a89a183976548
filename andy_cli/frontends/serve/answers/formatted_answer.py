"""An answer that a client wants as JSON, where the model's server does not hold its model to it.

Such a model puts its JSON into a fence, or a sentence before it, or writes `"3"` for 3, and a
client's SDK fails at that.
"""

import json
from collections.abc import Callable, Collection, Iterator

from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.compiler import CompiledReply, Compiler, Visible
from andy_cli.compiler.mapper.mapper import map_call, takes_exactly
from andy_cli.compiler.mapper.prepared_schema import prepare_schema
from andy_cli.foreign_values import read_json
from andy_cli.frontends.serve.answers.quote_aware_parser import QuoteAwareParser, Span
from andy_cli.messages import Arguments, Chunk, Schema, ToolRequest

ANSWER = "answer"
OPENERS = ("{", "[")
MOST_VALUES = 100
"""Places where a value may begin that are tried at most."""


class FormattedAnswerParser(QuoteAwareParser):
    """Reads a reply and shows of its words the JSON that fits, if there is such.

    In a stream words that begin as JSON go on as they come, and those behind it not; others wait
    until the reply is whole.
    """

    def __init__(
        self,
        make_compiler: Callable[[Collection[Span]], Compiler],
        is_text: Callable[[ToolRequest, str], bool],
        schema: Schema,
        is_streamed: bool,
    ) -> None:
        super().__init__(make_compiler, is_text)
        self._tool = {"type": "function", "function": {"name": ANSWER, "parameters": schema}}
        self._is_streamed = is_streamed
        self._begin_answer()

    def _begin_answer(self) -> None:
        self._words = ""
        self._scan: JsonScan | None = None
        """Follows the value that the words begin with."""
        self._is_over = False
        self._answer = ""
        """The JSON that fits, once it is whole."""

    @property
    def blank(self) -> str | None:
        """As a compiler has it; that of words which wait or stay away waits too."""
        return None if self._scan is None or self._answer else super().blank

    def take(self, chunk: Chunk) -> Visible:
        visible = super().take(chunk)
        if visible.retracted:
            self._begin_answer()
        return visible._replace(text=self._show_text(visible.text))

    def finish(self, cut_off: bool = False) -> tuple[Visible, CompiledReply]:
        final_piece, reply = super().finish(cut_off)
        text = self._show_text(final_piece.text)
        if self._scan is None:
            self._answer = find_answer(self._words, self._tool)
            text = self._answer or self._words
        return final_piece._replace(text=text), reply._replace(text=self._answer or reply.text)

    def _show_text(self, text: str) -> str:
        """Return what of the words may go on now."""
        before, self._words = self._words, self._words + text
        if self._answer:
            return ""
        if self._scan is None:
            if not (self._is_streamed and self._words.lstrip().startswith(OPENERS)):
                return ""
            before, self._scan = "", JsonScan()
        return self._follow_value(self._scan, before)

    def _follow_value(self, scan: JsonScan, before: str) -> str:
        """Return the words behind those `before`, as far as the value that they begin with goes."""
        end = None if self._is_over else scan.feed(self._words, len(before))
        if end is not None:
            self._is_over = True
            values = find_values(self._words[:end])
            self._answer = next((text for value, text in values if fits(value, self._tool)), "")
        return self._words[len(before) : end if self._answer else None]


def find_arguments(text: str, tool: Schema) -> Arguments | None:
    """Find an object in a text that has the very names of a tool's parameters, and fits."""
    value = read_json(find_answer(text, tool), None)
    return value if isinstance(value, dict) and value and takes_exactly(tool, value) else None


def find_answer(text: str, tool: Schema) -> str:
    """Find the JSON in a text that fits a tool's schema: the value that it begins with, else the
    longest, else the longest once its values are corrected; empty where there is none."""
    values = [*find_values(text)]
    fitting = [written for value, written in values if fits(value, tool)]
    if fitting and text.lstrip().startswith(fitting[0]):
        return fitting[0]
    if not fitting:
        corrected = (correct_values(value, tool) for value, _ in values)
        fitting = [json.dumps(value, ensure_ascii=False) for value in corrected if value]
    return max(fitting, key=len, default="")


def fits(value: object, tool: Schema) -> bool:
    return not prepare_schema(tool).problems(value)


def correct_values(value: object, tool: Schema) -> Arguments | None:
    """Correct what an object with the very names of a tool's parameters holds, as in a call of it;
    None where that is not possible."""
    if not (isinstance(value, dict) and takes_exactly(tool, value)):
        return None
    mapped = map_call(ANSWER, value, {ANSWER: tool}, lambda name: False)
    is_sure = not mapped.problems and len(mapped.calls) == 1
    return mapped.calls[0].arguments if is_sure else None


def find_values(text: str) -> Iterator[tuple[object, str]]:
    """Find the JSON objects and lists in a text: each value, and as it is written."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(MOST_VALUES):
        places = [place for opener in OPENERS if (place := text.find(opener, position)) >= 0]
        if not places:
            return
        position = min(places)
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        yield value, text[position:end]
        position = end
