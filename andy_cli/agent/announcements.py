"""Tell replies that only say what the model will do from answers, by their text alone. Pure.

A reply that announces a deed, or writes a call in words of its own, did nothing: the model is told
once to go on.
"""

import re
from collections.abc import Sequence

from andy_cli.agent.grounding.action_claims import mask_quotations
from andy_cli.agent.grounding.text.languages import detect_languages
from andy_cli.agent.grounding.text.segmentation import split_sentences
from andy_cli.compiler.compiler import asks_for_code
from andy_cli.compiler.dialect import Tools
from andy_cli.foreign_values import read_json

MAX_CHARACTERS = 160
"""Characters of a line; a longer one is an answer."""
MIN_WORDS = 4
"""Words of an announcement; fewer are an answer too, and few enough beside a bare call."""
STEM_LETTERS = 4
"""Letters by which words are the same: `list` and `listing`, `Lied` and `Lieder`."""
MAX_LEADING_WORDS = 2
"""Words that may stand before an intention of the speaker: `Now`, `So then`."""
OPEN_END = (":", "\uff1a", "...", "\u2026")
"""Ends of a reply that has more to come."""
SUBSTANCE = re.compile(r"[\d`\"'\u2018\u201c\u201e\u00ab/\\<>\n|*#]")
"""Signs that a line says something of its own: a figure, a quotation, a place, a list."""
CONTRACTION = re.compile(r"(?<=\w)['\u2019](?=\w)")
"""An apostrophe within a word, which quotes nothing."""
WORD = re.compile(r"[^\W\d_]+")
VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|\w+\s*=\s*[^\s,)]+")
"""A value of a bare call: in quotation marks, or after the name of its parameter."""


def only_announces(user: str, reply: str, is_done: bool = False) -> bool:
    """Tell whether a reply that calls nothing announces what the user asked for, and stops.

    No words of any language are looked for. A reply that stops at a colon or an ellipsis has more
    to come. Else it is one short line that repeats a wish of the user and adds nothing to it: no
    figure, no name, no quotation, no place.

    `is_done`: something was done before; then its end alone tells.
    """
    if not is_short_line(reply):
        return False
    line = CONTRACTION.sub(" ", reply.strip())
    if line.endswith(OPEN_END):
        return True
    is_question = "?" in user or asks_something(line)
    words = WORD.findall(line)
    if is_done or len(words) < MIN_WORDS or SUBSTANCE.search(line) or is_question:
        return False
    return _only_repeats_wish(words, user)


def _only_repeats_wish(words: Sequence[str], user: str) -> bool:
    """Tell whether words repeat a wish of the user, and name nothing that the user does not."""
    wished = set(map(_cut_to_stem, WORD.findall(user)))
    repeated_words = [word for word in words if _cut_to_stem(word) in wished]
    if not any(len(word) >= STEM_LETTERS for word in repeated_words):
        return False
    # The first word of a sentence has a capital without being a name, and so has `I`.
    names = [word for word in words[1:] if word[0].isupper() and len(word) > 1]
    return all(_cut_to_stem(name) in wished for name in names)


def _cut_to_stem(word: str) -> str:
    return word.lower()[:STEM_LETTERS]


def intends_action(text: str) -> bool:
    """Tell whether the last sentence begins with what the speaker is going to do, without an `if`;
    what is quoted is somebody else's."""
    sentence = mask_quotations(split_sentences(text)[-1].text)
    for language in detect_languages(text):
        match = language.intends.search(sentence)
        if match is None:
            continue
        before, behind = sentence[: match.start()], sentence[match.end() :]
        if may_lead(before) and not language.unreal.search(f"{before} {behind}"):
            return True
    return False


def may_lead(words: str) -> bool:
    """Tell whether words before an intention leave it the speaker's own: `Now`, no `She says:`."""
    return ":" not in words and len(WORD.findall(words)) <= MAX_LEADING_WORDS


def is_bare_call(reply: str, user: str, tools: Tools) -> bool:
    """Tell whether a reply is one line with the name of a tool, values and next to no words: a call
    in a notation of the model's own. Not JSON, nor where the user speaks of that tool or of code.
    """
    if not is_short_line(reply) or reply.endswith(".") or asks_for_code(user):
        return False
    named = [name for name in tools if "_" in name and name in reply]
    if len(named) != 1 or named[0] in user:
        return False
    rest = VALUE.sub(" ", reply.replace(named[0], " ", 1))
    return len(WORD.findall(rest)) < MIN_WORDS and read_json(reply) is None


def is_short_line(reply: str) -> bool:
    """Tell whether a reply is one line that is too short to be more than a word about a wish."""
    return 0 < len(reply.strip()) <= MAX_CHARACTERS and "\n" not in reply.strip()


def asks_something(text: str) -> bool:
    return "?" in text or "\uff1f" in text
