"""Requests that are quotations stay in the text of a reply, where they stand and as they stand."""

from collections.abc import Callable, Collection

from andy_cli.compiler.compiler import CompiledReply, Compiler, Visible
from andy_cli.messages import Chunk, ToolRequest

Span = tuple[int, int]
REREAD = 8
"""The times a reply is read once more at most, for each stretch of quotations in it."""


class QuoteAwareParser:
    """Reads a reply as a `Compiler` does; what `is_text` says is a quotation is text.

    That is known only after it. Then all so far is read once more, with what was a quotation as
    plain text, so what is shown does not depend on how the reply was cut.
    """

    def __init__(
        self,
        make_compiler: Callable[[Collection[Span]], Compiler],
        is_text: Callable[[ToolRequest, str], bool],
    ) -> None:
        """`make_compiler` makes one that reads these spans as text.

        `is_text` is asked about a request and the reply as it was written, until now.
        """
        self._make = make_compiler
        self._is_text = is_text
        self.compiler = make_compiler(())
        """The one that has read all so far."""
        self._chunks: list[Chunk] = []
        self._shown: list[str] = []
        self._again = ""
        self._plain: frozenset[Span] = frozenset()
        self._judged: set[Span] = set()
        self._beside_words: dict[Span, ToolRequest] = {}
        """Requests in code beside words that are read as text: they may be meant all the same."""
        self._left = REREAD

    @property
    def over(self) -> bool:
        return self.compiler.over

    @property
    def blank(self) -> str | None:
        return self.compiler.blank

    def take(self, chunk: Chunk) -> Visible:
        self._chunks.append(chunk)
        visible = self.compiler.take(chunk)
        if visible.text and self._read_again(self._find_quotations(self._find_unjudged())):
            visible = visible._replace(text=self._again)
        self._shown.append(visible.text)
        return visible

    def finish(self, cut_off: bool = False) -> tuple[Visible, CompiledReply]:
        final_piece, reply = self.compiler.finish(cut_off)
        if self._read_again(self._find_quotations(reply.requests)):
            reread_piece, reply = self.compiler.finish(cut_off)
            final_piece = final_piece._replace(text=self._again + reread_piece.text)
        shown_requests = (*reply.shown_requests, *self._beside_words.values())
        return final_piece, reply._replace(shown_requests=shown_requests)

    def _find_unjudged(self) -> list[ToolRequest]:
        """Requests that something has followed: now it can be said what they are."""
        unjudged = [
            request for request in self.compiler.followed if request.span not in self._judged
        ]
        self._judged.update(request.span for request in unjudged)
        return unjudged

    def _find_quotations(self, requests: Collection[ToolRequest]) -> frozenset[Span]:
        if not requests or not self._left:
            return frozenset()
        reply_text = self._join_raw()
        written = [request for request in requests if request.span[0] < request.span[1]]
        quotations = [request for request in written if self._is_text(request, reply_text)]
        self._beside_words |= {request.span: request for request in quotations if request.quoted}
        return frozenset(request.span for request in quotations)

    def _read_again(self, plain_spans: frozenset[Span]) -> bool:
        """Read with these as text; `_again` is then what was not shown yet.

        False if there are none, or too much was shown already.
        """
        if not plain_spans:
            return False
        self._left -= 1
        compiler = self._make(self._plain | plain_spans)
        text = "".join([compiler.take(chunk).text for chunk in self._chunks])
        shown_text = "".join(self._shown)
        if not text.startswith(shown_text):
            return False
        self.compiler, self._plain = compiler, self._plain | plain_spans
        self._again = text[len(shown_text) :]
        return True

    def _join_raw(self) -> str:
        return "".join([chunk.text for chunk in self._chunks])
