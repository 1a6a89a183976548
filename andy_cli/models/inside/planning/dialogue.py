"""The turn so far, read back from messages in the andybot notation. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from andy_cli.messages import Wire
from andy_cli.models.inside.values.words import find_things

ANDYBOT = re.compile(r"^ANDYBOT (RESPONDS|ASKS):[ \t]*", re.M)
LETTER = re.compile(r"DEAR ANDYBOT,\s*(\S+)([^\0]*)", re.I)
FAILURE = re.compile(
    r"\b(?:error|failed|failure|cannot|can't|could not|couldn't|unable|denied|refused|not allowed|"
    r"not permitted|no such|not found|there is no|does not exist|doesn't exist|timed out|"
    r"not configured|not run|invalid|needs?)\b",
    re.I,
)


REFUSAL = re.compile(r"cannot (\S+) without (\w+)", re.I)
"""The end of an interview that got no answer."""


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
    before: str = ""
    """The request of the turn before."""
    said: str = ""
    """The answer to it."""

    @property
    def refused(self) -> bool:
        """The last result is that an interview got no answer."""
        return bool(self.results) and bool(REFUSAL.fullmatch(self.results[-1].strip()))

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


def _with_part(turn: Turn, kind: str, text: str, said: str) -> Turn:
    if kind == "RESPONDS":
        return replace(turn, results=(*turn.results, text), question="")
    if kind == "ASKS":
        return replace(turn, question=text)
    return Turn(text, earlier=turn.earlier + turn.results, before=turn.request, said=said)


def _parts(content: str) -> Iterator[tuple[str, str]]:
    """A user message taken apart: the user's own words, answers and questions of ANDYBOT."""
    kind, start = "", 0
    for mark in ANDYBOT.finditer(content):
        if text := content[start : mark.start()].strip():
            yield kind, text
        kind, start = mark[1], mark.end()
    if (text := content[start:].strip()) or kind:
        yield kind, text


JOINT = re.compile(
    r"\s*[,;.!?]?\s+(?:and then|and also|and|then|after that|afterwards|und dann|und|danach|dann"
    r"|y luego|y despu\u00e9s|y|luego|et puis|et ensuite|et|puis|ensuite|e poi|e|poi)\b,?\s+"
    r"|\s*[;,.!?]\s+",
    re.I,
)
"""Words that may stand between two wishes, in the five languages that are tried."""
ADVERBS = frozenset("then afterwards danach dann luego puis ensuite poi".split())


def split_wishes(
    text: str,
    is_wish: Callable[[str], bool],
    is_more: Callable[[str, str], bool] = lambda before, part: False,
) -> list[str]:
    """Split a request into parts that each ask for something; quotations are never cut.

    `is_more`: whether the second part is nothing but one more value for what the first asks for.
    """
    parts: list[str] = []
    start = 0
    for joint in find_joints(text):
        left, right = text[start : joint.start()].strip(), text[joint.end() :].strip()
        if not left or not right:
            continue
        if " " not in left and joint[0].strip() in ADVERBS:
            continue  # `spiel dann den letzten song` is one wish
        if is_wish(left) and (is_more(left, right) or is_wish(right)):
            parts.append(left)
            start = joint.end()
    return [*parts, text[start:].strip()]


def find_joints(text: str) -> list[re.Match[str]]:
    """Find what may stand between two wishes, outside of quotations, files and addresses."""
    covered = [range(thing.start, thing.end) for thing in find_things(text)]
    return [
        joint
        for joint in JOINT.finditer(text)
        if not any(joint.start() in span or joint.end() - 1 in span for span in covered)
    ]
