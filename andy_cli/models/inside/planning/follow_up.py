"""Read what is no request by itself: `and Ben's?`, `no, I meant Volare`. What it leaves out stands
in the request before, whose last command takes the new value, or whose question is asked anew.
"""

import re
from typing import NamedTuple

from andy_cli.models.inside.planning.cutting import AND, list_openers
from andy_cli.models.inside.planning.mentions import Mentions
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.values.words import find_words

MAX_WORDS = 6
"""Of what leaves something out."""
ADDITION = re.compile(rf"^[\W_]*(?:{AND})\s+", re.I)
DENIAL = re.compile(r"^\W*\w+\s*[,.;:!\u2013-]\s*")
"""The first word, if a sign stands after it: `no pongas eso` turns its own verb round."""


SIGNED_REPAIRS = "no|nein|nee|non|wait|warte|rather|doch"
PLAIN_REPAIRS = (
    "(?:no|non|nein|nee) (?:wait|warte|doch|sorry)|actually|sorry|pardon|scusa|perd\u00f3n|"
    "i mean(?:t)?|make that|ich mein(?:e|te)|lieber(?! als\\b)|je veux dire|plut\u00f4t"
    "|mejor|quiero decir|anzi|volevo dire"
)
SIGN = r"\s*[,.;:\u2013\u2014-]+\s+"
REPAIR = re.compile(
    rf"{SIGN}(?:(?:{SIGNED_REPAIRS})\s+)*"
    rf"(?:(?:{SIGNED_REPAIRS}){SIGN}|(?:{PLAIN_REPAIRS})\b[\s,;:\u2013\u2014-]*)+"
    r"(?!also\b|auch\b|and\b|und\b)",
    re.I,
)
"""Words between what somebody began to say and what they mean, in the five languages that are
tried: `play Azzurro, no wait, Volare`."""


class Fragment(NamedTuple):
    """A text without the words that it begins with and that join it to the turn before."""

    text: str
    denies: bool
    """It is said in place of what was done, and not beside it."""


def read_fragment(text: str) -> Fragment | None:
    """Read a text that may leave something out; None where it has the words of a whole wish."""
    rest = drop_repair(text)
    denies = rest != text or may_deny(text)
    if rest == text:
        beginning = DENIAL if denies else ADDITION
        rest = beginning.sub("", text, count=1)
    words = find_words(rest)
    is_part = rest != text and 0 < len(words) <= MAX_WORDS
    return Fragment(rest, denies) if is_part and list_openers().isdisjoint(words) else None


def drop_denial(text: str) -> str:
    """Drop a `no` before a sign, at the beginning: `no, stop it`."""
    return DENIAL.sub("", text, count=1) if may_deny(text) else text


def may_deny(text: str) -> bool:
    """Tell whether a text begins with a `no`, or has no word."""
    words = find_words(text)
    return not words or words[0] in small_talk.NO


def split_repair(text: str) -> tuple[str, str] | None:
    """Split a text into what somebody took back and what they mean; None where they do not."""
    taken_back, *others = REPAIR.split(text)
    meant = others[-1] if others else ""
    return (taken_back, meant) if taken_back and find_words(meant) else None


def drop_repair(text: str) -> str:
    """Drop the words that a text begins with and that take back what was said in the turn before:
    `sorry, I meant the blue one`; a lone `sorry` takes nothing back.
    """
    taken_back = REPAIR.match(f", {text}")
    is_repair = taken_back is not None and len(find_words(taken_back[0])) > 1
    return text[taken_back.end() - 2 :] if taken_back and is_repair else text


def find_follow_up(fragment: Fragment, request: PlannedRequest, mentions: Mentions) -> Step | None:
    """Find the step that does with a new value what was done last."""
    at = request.find_last_command()
    if at is None:
        return None
    step = Step(at, fragment.text, 1.0)
    filled = request.fill(step)
    answered = request.answered
    is_shown = answered is not None and answered.file in filled.values.values()
    if filled.values and not filled.missing and not is_shown:
        return step
    found = mentions.find_answering_file(fragment.text) if answered else None
    return found and Step(at, f"`{found.name}`", 1.0, questions=(fragment.text,))
