"""The turn so far, read back from messages in the andybot notation. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from andy_cli.call_notes import read_missing, read_refusal
from andy_cli.messages import Wire

ANDYBOT = re.compile(r"^ANDYBOT (RESPONDS|ASKS):[ \t]*", re.M)
LETTER = re.compile(r"DEAR ANDYBOT,\s*(\S+)([^\0]*)", re.I)
FAILURE = re.compile(
    r"\b(?:error|failed|failure|cannot|can't|could not|couldn't|unable|denied|refused|not allowed|"
    r"not permitted|no such|not found|there is no|does not exist|doesn't exist|timed out|"
    r"not configured|not run|invalid|needs?)\b",
    re.I,
)


KEPT_EXCHANGES = 8
"""The latest, in which what a command needs may have been asked for one by one."""


class Exchange(NamedTuple):
    """A request of the user, the reply to it, and what was called in between."""

    request: str
    reply: str
    calls: tuple[str, ...] = ()
    """The letters that were written for it, values included."""

    @property
    def asked(self) -> str:
        """The last line of the reply, which may ask something."""
        return self.reply.rpartition("\n")[2]


class Answer(NamedTuple):
    """The user's words, and the question that they answer."""

    asked: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    request: str = ""
    calls: tuple[str, ...] = ()
    """The letters written since, values included."""
    results: tuple[str, ...] = ()
    question: str = ""
    """The question, if the last message asks something."""
    earlier: tuple[str, ...] = ()
    """Results of the turns before."""
    exchanges: tuple[Exchange, ...] = ()
    """The turns before."""

    @property
    def before(self) -> str:
        """The request of the turn before."""
        return self.exchanges[-1].request if self.exchanges else ""

    @property
    def said(self) -> str:
        """The reply to it."""
        return self.exchanges[-1].reply if self.exchanges else ""

    @property
    def asked(self) -> str:
        """The last line of that, which may ask something."""
        return self.exchanges[-1].asked if self.exchanges else ""

    @property
    def was_asked_twice(self) -> bool:
        """Tell whether the last two replies asked the same."""
        return len(self.exchanges) > 1 and self.exchanges[-2].asked == self.asked

    def list_answers(self, questions: Collection[str]) -> list[Answer]:
        """List the request that led to one of the questions, and the answers since."""
        said = self.request
        found: list[Answer] = []
        for exchange in reversed(self.exchanges):
            if exchange.asked not in questions:
                break
            found.append(Answer(exchange.asked, said))
            said = exchange.request
        return [Answer("", said), *reversed(found)]

    @property
    def lacks_value(self) -> bool:
        """The last result is that an interview got no answer."""
        return bool(self.results) and read_missing(self.results[-1].strip()) is not None

    @property
    def not_allowed(self) -> bool:
        """The user or a rule refused the last call."""
        return bool(self.results) and read_refusal(self.results[-1]) is not None

    @property
    def failed(self) -> bool:
        """The last result is short and begins with a failure, or says nothing at all."""
        last = re.split(r"(?<=[.!?])\s", self.results[-1])[0] if self.results else ""
        return bool(self.results) and (
            last.strip() in {"", "OK"} or (len(last) < 300 and bool(FAILURE.search(last)))
        )


def read_turn(messages: Sequence[Wire]) -> Turn:
    turn, said = Turn(), ""
    for message in messages:
        content = str(message.get("content") or "")
        if message.get("role") == "assistant":
            if letter := LETTER.search(content):
                turn = replace(turn, calls=(*turn.calls, letter[0].strip()), question="")
            else:
                said = content.strip()
        elif message.get("role") == "user":
            for kind, text in _parts(content):
                turn = _with_part(turn, kind, text, said)
    return turn


def name_command(call: str) -> str:
    """Name the command of a letter, without its values."""
    return call.partition("\n")[0].strip()


def is_about_command(message: Wire) -> bool:
    """Tell whether a message calls a command, or tells of its result or what it asks."""
    content = str(message.get("content") or "")
    pattern = LETTER if message.get("role") == "assistant" else ANDYBOT
    return pattern.search(content) is not None


def _with_part(turn: Turn, kind: str, text: str, said: str) -> Turn:
    if kind == "RESPONDS":
        return replace(turn, results=(*turn.results, text), question="")
    if kind == "ASKS":
        return replace(turn, question=text)
    exchanges = (*turn.exchanges, Exchange(turn.request, said, turn.calls))[-KEPT_EXCHANGES:]
    return Turn(text, earlier=turn.earlier + turn.results, exchanges=exchanges)


def _parts(content: str) -> Iterator[tuple[str, str]]:
    """A user message taken apart: the user's own words, answers and questions of ANDYBOT."""
    kind, start = "", 0
    for mark in ANDYBOT.finditer(content):
        if text := content[start : mark.start()].strip():
            yield kind, text
        kind, start = mark[1], mark.end()
    if (text := content[start:].strip()) or kind:
        yield kind, text
