"""Split a request into its wishes, in the order in which they are to be carried out. Pure."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache

from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.values.words import (
    INTERROGATIVES,
    WORD,
    find_plain_words,
    find_things,
)
from andy_cli.phrases import load_phrases

SENTENCE_END = re.compile(r"(?:(?<=\w{4})\.|[!?\u2026]|\.{2,})[.!?\u2026]*\s+|\s*\n\s*")
"""Behind fewer than four letters a full stop may be that of an abbreviation."""
AND = r"and|n|but|und|u|sowie|aber|(?<!\bil )y|pero|et|mais|e|ma(?= prima)"
THEN = "then|also|after that|afterwards|dann|danach|luego|puis|ensuite|poi"
MEANWHILE = (
    "while|meanwhile|w\u00e4hrend|inzwischen|nebenbei|mientras(?: tanto)?"
    "|pendant que|en attendant|mentre|intanto|nel frattempo"
)
TOO = r"despu[e\u00e9]s(?: de eso)?|apr[e\u00e8]s(?: (?:[\u00e7c]a|cela))?"
SIGN = r"\s+[&+\u2013\u2014-]"
JOINT = re.compile(
    rf"(?:\s*[,;.]|{SIGN})?\s+(?:(?:{AND})(?:\s+(?:{THEN}|{TOO}|{MEANWHILE}))?|{THEN}|{MEANWHILE}),?\s+"
    rf"|\s*[;,.]\s+|{SIGN}\s+",
    re.I,
)
"""Words and signs that may stand between two wishes, in the five languages that are tried."""
ADVERBS = frozenset("then afterwards danach dann luego puis ensuite poi".split())
BEGINNING = re.compile(rf"^(?:(?:{AND})\s+)?(?:{THEN}|{TOO}),?\s+(?!de\b)", re.I)
"""Words that a wish begins with which stands behind another."""
SECOND_COMES_FIRST = re.compile(
    r"(?:before|bevor|ehe|antes de|avant de|prima di)\s+|avant d'", re.I
)
"""The beginning of a request of whose two wishes the second one comes first."""
COMES_BEFORE = re.compile(
    r"(?:(?:once|when|after|as soon as) you(?: have|'ve|ve)?|sobald|nachdem|wenn du|en cuanto"
    r"|una vez que|d\u00e8s que|une fois que|quand tu(?: as)?|appena|una volta che|dopo che)\s+",
    re.I,
)
"""The beginning of a request of whose two wishes the first one is to be done before the second."""
COMES_FIRST = re.compile(
    r"(?:before that|before|first|vorher|zuvor|zuerst|antes|primero|avant|d'abord|prima),?\s+", re.I
)
"""The beginning of a wish that comes before the one in front of it."""

OFTEN = 4
"""Phrases that begin with a word which a wish may begin with in the middle of a sentence."""
MOSTLY = 0.4
"""The part of the phrases with the word that these have to be."""


def split_wishes(
    text: str,
    is_wish: Callable[[str], bool],
    is_more: Callable[[str, str], bool] = lambda before, part: False,
) -> list[str]:
    """Split a request into sentences, and these where two wishes are joined; quotations are never
    cut.

    `is_more`: whether the second part is nothing but one more value for what the first asks for.
    """
    parts: list[str] = []
    for sentence in split_sentences(text):
        parts += split_sentence(sentence, is_wish, is_more)
    return parts


def split_sentences(text: str) -> list[str]:
    sentences: list[str] = []
    start = 0
    for mark in find_marks(SENTENCE_END, text):
        sentences.append(text[start : mark.end()].strip())
        start = mark.end()
    return [sentence for sentence in (*sentences, text[start:].strip()) if sentence]


def split_sentence(
    text: str, is_wish: Callable[[str], bool], is_more: Callable[[str, str], bool]
) -> list[str]:
    """Split a sentence where there are wishes on both sides."""
    parts: list[str] = []
    start = 0
    for joint, clause in find_joints(text):
        left, right = text[start : joint.start()].strip(), text[joint.end() :].strip()
        if is_adverb(joint, left) or not left:
            continue
        are_wishes = is_wish(left) and (is_wish(right) or is_wish(clause))
        if not (are_wishes or is_more(left, right)):
            continue
        if comes_second(left, right):
            first = split_sentence(COMES_FIRST.sub("", right, 1), is_wish, is_more)
            return [*parts, *first, SECOND_COMES_FIRST.sub("", left, 1)]
        parts.append(left)
        start = joint.end()
    return [*parts, text[start:].strip()]


def split_unjoined(text: str, are_wishes: Callable[[str, str], bool]) -> list[str]:
    """Split where nothing stands between two wishes: `stop the music open notes.txt`."""
    for start in find_openings(text):
        left, right = text[:start].strip(), text[start:]
        if " " in left and are_wishes(left, right):
            second = SECOND_COMES_FIRST.sub("", left, 1)
            return [right, second] if comes_second(left, right) else [left, right]
    return [text]


def find_openings(text: str) -> list[int]:
    """Find where words stand that wishes may begin with."""
    openers = list_openers()
    return [
        word.start()
        for word in find_marks(WORD, text)
        if {*find_plain_words(word[0])[:1]} & openers
    ]


def comes_second(left: str, right: str) -> bool:
    """Tell whether the first of two wishes is to be carried out behind the other."""
    return bool(SECOND_COMES_FIRST.match(left) or COMES_FIRST.match(right))


@cache
def list_openers() -> frozenset[str]:
    """List the words that phrases mostly begin with, where they have them, and interrogatives."""
    kinds = [*load_phrases().values(), *small_talk.load_examples().values()]
    spoken = [find_plain_words(phrase) for phrases in kinds for phrase in phrases]
    first = Counter(words[0] for words in spoken if words)
    known = Counter(word for words in spoken for word in {*words})
    often = {word for word, count in first.items() if count >= max(OFTEN, MOSTLY * known[word])}
    return frozenset(often.union(*map(find_plain_words, INTERROGATIVES)))


def split_at_joints(text: str) -> list[str]:
    """Split wherever two wishes, or two values, may be joined."""
    joints = [joint for joint, _ in find_joints(text)]
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def find_joints(text: str) -> list[tuple[re.Match[str], str]]:
    """Find what may stand between two wishes, and the clause behind it: behind that there may be a
    reason.
    """
    joints = [joint for joint in find_marks(JOINT, text) if text[joint.end() :].strip()]
    ends = [*(joint.start() for joint in joints[1:]), len(text)]
    return [
        (joint, text[joint.end() : end].strip()) for joint, end in zip(joints, ends, strict=False)
    ]


def is_adverb(joint: re.Match[str], left: str) -> bool:
    """Tell whether it stands behind a verb alone: `spiel dann den letzten song` is one wish."""
    return " " not in left and joint[0].strip() in ADVERBS


def find_marks(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Find the matches outside of quotations, files and addresses."""
    covered = [range(thing.start, thing.end) for thing in find_things(text)]
    return [
        mark
        for mark in pattern.finditer(text)
        if not any(mark.start() in span or mark.end() - 1 in span for span in covered)
    ]
