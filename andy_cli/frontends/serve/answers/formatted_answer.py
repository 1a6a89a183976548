"""An answer that a client wants as JSON, where the model's server does not hold its model to it.

Such a model puts its JSON into a fence, or a sentence before it, and a client's SDK fails at that.
"""

import json
from collections.abc import Callable, Collection, Iterator

from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.compiler import CompiledReply, Compiler, Visible
from andy_cli.compiler.mapper.prepared_schema import prepare_schema
from andy_cli.frontends.serve.answers.quote_aware_parser import QuoteAwareParser, Span
from andy_cli.messages import Chunk, Schema, ToolRequest

OPENERS = ("{", "[")
MOST_VALUES = 100
"""Places where a value may begin that are tried at most."""


class FormattedAnswerParser(QuoteAwareParser):
    """Reads a reply and shows of its words the JSON that fits, if there is such.

    Words that begin as JSON go on as they come, and those behind it not; others wait until the
    reply is whole.
    """

    def __init__(
        self,
        make_compiler: Callable[[Collection[Span]], Compiler],
        is_text: Callable[[ToolRequest, str], bool],
        schema: Schema,
    ) -> None:
        super().__init__(make_compiler, is_text)
        self._schema = schema
        self._begin_answer()

    def _begin_answer(self) -> None:
        self._words = ""
        self._scan: JsonScan | None = None
        """Follows the value that the words begin with."""
        self._is_over = False
        """True once that value has ended."""
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
            self._answer = max(find_fitting_values(self._words, self._schema), key=len, default="")
            text = self._answer or self._words
        return final_piece._replace(text=text), reply._replace(text=self._answer or reply.text)

    def _show_text(self, text: str) -> str:
        """Return what of the words may go on now."""
        before, self._words = self._words, self._words + text
        if self._answer:
            return ""
        if self._scan is None:
            if not self._words.lstrip().startswith(OPENERS):
                return ""
            before, self._scan = "", JsonScan()
        return self._follow_value(self._scan, before)

    def _follow_value(self, scan: JsonScan, before: str) -> str:
        """Return the words behind those `before`, as far as the value that they begin with goes."""
        end = None if self._is_over else scan.feed(self._words, len(before))
        if end is not None:
            self._is_over = True
            self._answer = next(find_fitting_values(self._words[:end], self._schema), "")
        return self._words[len(before) : end if self._answer else None]


def find_fitting_values(text: str, schema: Schema) -> Iterator[str]:
    """Find the JSON values in a text, as they are written, that a schema allows."""
    prepared = prepare_schema({"type": "function", "function": {"parameters": schema}})
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
        if not prepared.problems(value):
            yield text[position:end]
        position = end
