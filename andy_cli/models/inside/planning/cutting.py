"""List the ways to cut a request into parts, in the order in which they are wanted. Pure."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import NamedTuple

from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.values.calendar_words import NAMED
from andy_cli.models.inside.values.numbers import find_numbers
from andy_cli.models.inside.values.templates import find_first_words
from andy_cli.models.inside.values.words import (
    INTERROGATIVES,
    LINKS,
    WORD,
    find_plain_words,
    find_things,
    find_words,
    is_negated,
    is_question,
)
from andy_cli.phrases import load_phrases

SENTENCE_END = re.compile(r"(?:(?<=\w{4})\.|[!?\u2026]|\.{2,})[.!?\u2026]*\s+|\s*\n\s*")
"""After fewer than four letters a full stop may be that of an abbreviation."""
AND = (
    r"and|as well as|along with|(?<!\ble )(?<!\bla )(?<!\bles )plus(?! de\b| \d)|n"
    r"|(?<!all )(?<!everything )but|und|u|sowie|aber|(?<!\bil )y|pero"
    r"|et|ainsi que|mais|e|ma(?= prima)"
)
THEN = (
    "then|also|besides|after that|afterwards"
    "|dann|danach|au\u00dferdem|ausserdem|anschlie(?:\u00df|ss)end|hinterher|dahinter|nachher"
    "|luego|adem\u00e1s|ademas|a continuaci[o\u00f3]n|puis|ensuite|par la suite"
    "|poi|inoltre|dopodich[e\u00e9]|in seguito|successivamente"
)
MEANWHILE = (
    "while|meanwhile|w\u00e4hrend|inzwischen|nebenbei|mientras(?: tanto)?"
    "|pendant que|en attendant|mentre|intanto|nel frattempo"
)
TOO = r"despu[e\u00e9]s(?: de eso)?|apr[e\u00e8]s(?: (?:[\u00e7c]a|cela))?"
SIGN = r"\s+[&+\u2013\u2014-]"
STOP = (
    r"[,;]|(?<!\b(?-i:[A-Z][b-df-hj-np-tv-z]))(?<!\b(?-i:[A-Z][b-df-hj-np-tv-z]{2}))"
    rf"(?:(?<!\b\d)(?<!\b\d\d)|(?!\.\s+(?:{NAMED})\b))\."
)
"""No full stop of a title, nor of a day: `Mr. Pettersson`, `Mrs. Ferri`, `St. Anton`, `5. Juli`."""
JOINT = re.compile(
    rf"(?:\s*(?:{STOP})|{SIGN})?\s+(?:(?:{AND})(?:\s+(?:{THEN}|{TOO}|{MEANWHILE}))?|{THEN}|{MEANWHILE}),?\s+"
    rf"|\s*(?:{STOP})\s+|{SIGN}\s+",
    re.I,
)
"""Words and signs that may stand between two wishes, in the five languages that are tried."""
ADVERBS = frozenset(
    """then afterwards also too danach dann auch luego tambi\u00e9n tambien puis ensuite aussi
    poi anche""".split()
)
BEGINNING = re.compile(rf"^(?:(?:{AND})\s+)?(?:{THEN}|{TOO}),?\s+(?!de\b|ce)", re.I)
"""Words that a wish begins with which stands after another."""
SECOND_COMES_FIRST = re.compile(
    r"(?:before|bevor|ehe|antes de|avant de|prima di)\s+|avant d'", re.I
)
"""The beginning of a request of whose two wishes the second one comes first."""
COMES_BEFORE = re.compile(
    r"(?:(?:once|when|after|as soon as) you(?: have|'ve|ve)?|sobald|nachdem|wenn du|erst|en cuanto"
    r"|una vez que|d\u00e8s que|une fois que|quand tu(?: as)?|appena|una volta che|dopo che)\s+",
    re.I,
)
"""The beginning of a request of whose two wishes the first one is to be done before the second."""
COMES_FIRST = re.compile(
    r"(?<!\w)(?:before that|before|first|vorher|zuvor|zuerst|antes|primero|avant|d'abord|prima)"
    r",?\s+",
    re.I,
)
"""The beginning of a wish that comes before the one in front of it."""

MAX_CUTS = 8
"""Places to cut at of which every choice is compared."""
MAX_PARTS = 4
REST_WORDS = 2
"""Words of a part that is none without the question before it."""
UNMARKED = ("opening", "before")
"""Kinds of cuts at which nothing stands between the parts."""


class Cut(NamedTuple):
    """A place where one part may end and the next begin."""

    end: int
    """Of the part before it."""
    start: int
    """Of the part after it."""
    kind: str
    """`question` (after its mark), `sentence`, `joint`, `comma`, `sign`, `opening`, `name` or
    `before`."""


class Way(NamedTuple):
    """One way to cut a request."""

    cuts: tuple[str, ...]
    """The kinds of its cuts."""
    parts: tuple[str, ...]


def list_ways(text: str) -> list[Way]:
    """List the ways to cut a text, the whole first; quotations are never cut."""
    text = text.strip()
    cuts = find_cuts(text)
    if len(cuts) > MAX_CUTS:
        cuts = [cut for cut in cuts if cut.kind not in UNMARKED][:MAX_CUTS]
    found: dict[tuple[str, ...], Way] = {(text,): Way((), (text,))}
    for some in choose_cuts(text, cuts):
        way = make_way(text, some)
        says_all = all(says_something(part) for part in way.parts)
        if says_all and not any(is_rest(left, right) for left, right in pairwise(way.parts)):
            found.setdefault(way.parts, way)
    return list(found.values())


def choose_cuts(text: str, cuts: Sequence[Cut]) -> list[Sequence[Cut]]:
    """List the choices of a few cuts none of which is within another."""
    chosen: list[Sequence[Cut]] = []
    for count in range(MAX_PARTS):
        chosen += [some for some in combinations(cuts, count) if are_apart(some)]
    return chosen + find_ends_of_first(text, cuts)


def are_apart(cuts: Sequence[Cut]) -> bool:
    return all(cut.start <= another.end for cut, another in pairwise(cuts))


def make_way(text: str, cuts: Sequence[Cut]) -> Way:
    """Cut a text; it stays whole where a part that nothing marks would be a single word."""
    parts: list[str] = []
    start = 0
    for cut in cuts:
        part = text[start : cut.end].strip()
        # At the beginning one word may be a part: `hey play it`.
        is_greeting = not parts and cut.kind == "opening"
        if cut.kind in UNMARKED and " " not in part and not is_greeting:
            return Way((), (text,))
        parts.append(part)
        start = cut.start
    parts.append(text[start:].strip())
    return Way(tuple(cut.kind for cut in cuts), order_parts(parts))


def says_something(part: str) -> bool:
    """Tell whether a part is more than articles and words that order or join, as `before that`."""
    return not set(find_plain_words(COMES_FIRST.sub("", f"{part} "))) <= LINKS | ADVERBS


def is_rest(question: str, part: str) -> bool:
    """Tell whether a part, without a verb, asks one thing more of the question before: `who sings,
    and what time`. `What's` has one.
    """
    first, *others = [*find_words(part), ""]
    has_verb = "'" in first or first.removesuffix("s") in INTERROGATIVES - {first}
    is_short = len(others) <= REST_WORDS and not has_verb
    return is_short and first in INTERROGATIVES and is_question(question)


def order_parts(parts: Sequence[str]) -> tuple[str, ...]:
    """Put what is to come before another part before it, without the words that say so."""
    parts = [parts[0], *(drop_beginning(BEGINNING, part) for part in parts[1:])]
    for place, (left, right) in enumerate(pairwise(parts)):
        if SECOND_COMES_FIRST.match(left) or COMES_FIRST.match(right):
            first = drop_beginning(COMES_FIRST, right)
            parts[place : place + 2] = [first, drop_beginning(SECOND_COMES_FIRST, left)]
            break
    if len(parts) < 2 or SECOND_COMES_FIRST.match(parts[0]):
        return tuple(parts)
    return (drop_beginning(COMES_FIRST, drop_beginning(COMES_BEFORE, parts[0])), *parts[1:])


def drop_beginning(pattern: re.Pattern[str], text: str) -> str:
    """Drop what a text begins with; not the same words within it, as in `the first song`."""
    match = pattern.match(text)
    return text[match.end() :] if match else text


def find_cuts(text: str) -> list[Cut]:
    """Find where a part may end: after a sentence, at a word or sign that joins, and before a
    word that wishes begin with.
    """
    cuts = [
        Cut(mark.end(), mark.end(), "question" if "?" in mark[0] else "sentence")
        for mark in find_marks(SENTENCE_END, text)
    ]
    cuts += find_joint_cuts(text, cuts)
    starts = {start for cut in cuts for start in range(cut.end, cut.start + 1)}
    cuts += [Cut(at, at, "opening") for at in find_openings(text) if at not in starts]
    return sorted(cut for cut in cuts if text[: cut.end].strip() and text[cut.start :].strip())


def find_joint_cuts(text: str, sentences: Sequence[Cut]) -> list[Cut]:
    """Find the joints within sentences."""
    cuts = []
    for joint in find_joints(text):
        begun = max((cut.end for cut in sentences if cut.end <= joint.start()), default=0)
        is_end = any(joint.start() < cut.end <= joint.end() for cut in sentences)
        if not is_end and not is_adverb(joint, text[begun : joint.start()].strip()):
            cuts.append(Cut(*joint.span(), find_joint_kind(joint[0].strip())))
    return cuts


def find_joint_kind(joint: str) -> str:
    if joint in (",", ";", "."):
        return "comma"
    return "joint" if any(map(str.isalpha, joint)) else "sign"


def find_ends_of_first(text: str, cuts: Sequence[Cut]) -> list[Sequence[Cut]]:
    """`Before you play it show me my notes`: find where the first of two parts may end, of which
    the beginning says that there are two; nothing else shows that.
    """
    beginning = SECOND_COMES_FIRST.match(text) or COMES_BEFORE.match(text)
    if beginning is None:
        return []
    known_starts = {cut.start for cut in cuts}
    starts = [word.start() for word in find_marks(WORD, text)]
    return [
        (Cut(start, start, "before"),)
        for start in starts
        if start > beginning.end() and start not in known_starts
    ]


def split_sentences(text: str) -> list[str]:
    sentences: list[str] = []
    start = 0
    for mark in find_marks(SENTENCE_END, text):
        sentences.append(text[start : mark.end()].strip())
        start = mark.end()
    return [sentence for sentence in (*sentences, text[start:].strip()) if sentence]


def find_openings(text: str) -> list[int]:
    """Find where words stand that wishes may begin with, not after what turns them round."""
    openers = list_openers()
    return [
        word.start()
        for word in find_marks(WORD, text)
        if set(find_plain_words(word[0])[:1]) & openers
        and not is_negated(" ".join(text[: word.start()].split()[-1:]))
    ]


@cache
def list_openers() -> frozenset[str]:
    """List the words that phrases mostly begin with, and interrogatives."""
    kinds = [*load_phrases().values(), *small_talk.load_examples().values()]
    often = find_first_words(phrase for phrases in kinds for phrase in phrases)
    return often.union(*map(find_plain_words, INTERROGATIVES))


def split_at_joints(text: str) -> list[str]:
    """Split wherever two wishes, or two values, may be joined."""
    joints = find_joints(text)
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def find_joints(text: str) -> list[re.Match[str]]:
    """Find what may stand between two wishes; `line 2 and 3` is one."""
    numbers = find_numbers(text)
    starts, ends = {start for _, start, _ in numbers}, {end for _, _, end in numbers}
    return [
        joint
        for joint in find_marks(JOINT, text)
        if text[joint.end() :].strip() and not (joint.start() in ends and joint.end() in starts)
    ]


def is_adverb(joint: re.Match[str], left: str) -> bool:
    """Tell whether it stands after a verb alone: `spiel dann den letzten song` is one wish."""
    return " " not in left and joint[0].strip() in ADVERBS


def find_marks(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Find the matches outside of quotations, files and addresses."""
    covered = [range(thing.start, thing.end) for thing in find_things(text)]
    return [
        mark
        for mark in pattern.finditer(text)
        if not any(mark.start() in span or mark.end() - 1 in span for span in covered)
    ]
