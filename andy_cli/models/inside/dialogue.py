"""What has been said in the turn so far, read back from messages in the andybot notation. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from andy_cli.messages import Wire
from andy_cli.models.inside.words import stem, things, verbs, words

ANDYBOT = re.compile(r"^ANDYBOT (RESPONDS|ASKS):[ \t]*", re.M)
LETTER = re.compile(r"DEAR ANDYBOT,\s*(\S+)([^\0]*)", re.I)
FAILURE = re.compile(
    r"\b(?:error|failed|failure|cannot|can't|could not|couldn't|unable|denied|refused|not allowed|"
    r"not permitted|no such|not found|there is no|does not exist|doesn't exist|timed out|"
    r"not configured|not run|invalid|needs?)\b",
    re.I,
)


REFUSAL = re.compile(r"cannot (\S+) without (\w+)", re.I)
"""What an interview that got no answer ends with."""


@dataclass(frozen=True, slots=True)
class Turn:
    request: str = ""
    calls: tuple[str, ...] = ()
    """The letters written since, values included."""
    results: tuple[str, ...] = ()
    question: str = ""
    """What is being asked, if the last message asks something."""
    earlier: tuple[str, ...] = ()
    """Results of the turns before."""
    before: str = ""
    """The request of the turn before."""
    said: str = ""
    """What it was answered with."""

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
    r"\s*(?:[,;.]\s*)?\b(?:and then|and also|after that|afterwards|then|and)\b,?\s+|;\s+|\.\s+|,\s+"
)
POLITE = frozenset({"please", "also", "then", "now", "just", "you", "can", "could"})


def clauses(text: str) -> list[str]:
    """The parts of a request that each ask for one thing; quotations are never cut."""
    covered = [range(each.start, each.end) for each in things(text)]
    parts: list[str] = []
    start = 0
    for joint in JOINT.finditer(text):
        inside = any(joint.start() in span or joint.end() - 1 in span for span in covered)
        if inside or not ordered(text[joint.end() :]) or not text[start : joint.start()].strip():
            continue
        parts.append(text[start : joint.start()])
        start = joint.end()
    parts.append(text[start:])
    whole = parts[:1]
    for part in parts[1:]:
        if reports(part):
            continue  # "... and tell me what it says" asks for nothing more
        whole.append(part)
    return whole


def ordered(text: str) -> bool:
    """Whether the text starts like an order: with a verb, after courtesies."""
    first = next((word for word in words(text) if word not in POLITE), "")
    return bool(verbs(first)) and first not in NO_ORDER


NO_ORDER = frozenset({stem("any"), "where", "about", "which", "what's", "out", "off", "loud"})
REPORT = re.compile(
    r"^\W*(?:please )?(?:tell|show|give|let) me (?:know )?"
    r"(?:what|how|if|whether|the (?:result|answer|contents?|output)|about it|it|them)\b",
    re.I,
)


def reports(text: str) -> bool:
    return bool(REPORT.search(text))


CONCLUDE = "You are a helpful assistant. Say in one short sentence what was done or found."
EXAMPLES = (
    ("how late is it?", "09:15", "It is 09:15 now."),
    ("play rain.mp3", "playing rain.mp3", "Now playing rain.mp3."),
    ("what is in docs?", "a.txt, b.txt", "I found 2 files: a.txt and b.txt."),
    (
        "put 'eggs' in list.txt",
        "wrote 4 characters to list.txt",
        "I wrote 4 characters to list.txt.",
    ),
    ("show the folder /old", "There is no folder /old.", "There is no folder /old."),
)
QUESTIONS = (
    ("What is the capital of Spain?", "The capital of Spain is Madrid."),
    ("Who wrote Hamlet?", "William Shakespeare wrote Hamlet."),
    ("How many days has a week?", "A week has seven days."),
    ("What is gravity?", "Gravity is the force that pulls things towards each other."),
    ("What is 5 times 3?", "5 times 3 is 15."),
)
"""How to answer: left alone, so small a model strays from what was asked."""
KNOWLEDGE = re.compile(
    r"^\W*(?:what|who|whose|when|where|which|how (?:many|old|tall|big|far|long|much)|is|are|does)\b"
    r"(?!.*\byou\b)",
    re.I,
)
CHAT = "You are a helpful AI assistant. Answer briefly."
REMEMBERED = 6
"""Messages of the past that go with a chat."""
RESULT_LENGTH = 600
"""Characters of a result that a concluding sentence is made from."""


def talk_messages(messages: Sequence[Wire]) -> list[Wire]:
    """What a small model is shown when it is to talk: no commands, which it would only repeat."""
    turn = read_turn(messages)
    if turn.results:
        shown: list[Wire] = [{"role": "system", "content": CONCLUDE}]
        for request, result, answer in (*EXAMPLES, (turn.request, turn.results[-1], "")):
            text = f"{request}\nResult: {result[:RESULT_LENGTH]}"
            shown.append({"role": "user", "content": text})
            shown += [{"role": "assistant", "content": answer}] if answer else []
        return shown
    said = [each for each in messages if each.get("role") != "system" and _is_talk(each)]
    if KNOWLEDGE.search(turn.request):
        said = [
            {"role": role, "content": text}
            for pair in QUESTIONS
            for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        said.append({"role": "user", "content": turn.request})
        return [{"role": "system", "content": CHAT}, *said]
    return [{"role": "system", "content": CHAT}, *_alternating(said[-REMEMBERED:])]


def _is_talk(message: Wire) -> bool:
    content = str(message.get("content") or "")
    return not ANDYBOT.search(content) and not LETTER.match(content.strip())


def _alternating(messages: Sequence[Wire]) -> list[Wire]:
    """Without what was left unanswered or answers nothing: the user begins and ends."""
    kept: list[Wire] = []
    for message in messages:
        if kept and kept[-1].get("role") == message.get("role"):
            kept.pop()
        if kept or message.get("role") == "user":
            kept.append(message)
    return kept
