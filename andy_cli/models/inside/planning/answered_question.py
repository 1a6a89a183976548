"""Remember the question that a file answered last, on which the next one may lean: `who is at
reception on Monday?`, `what about Friday?`, `what is her number?` Pure.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.planning.command_kinds import reads_file
from andy_cli.models.inside.planning.replies.dialogue import Exchange, name_command
from andy_cli.models.inside.values.calendar_words import MEANINGS
from andy_cli.models.inside.values.words import WORD, find_plain_words

AFTER_QUESTION, AFTER_ANSWER = 0.3, 0.3
"""The weights of a line as the answer to a question that goes on with the one before, or with the
answer to that, beside 1 for the question as it is typed: so the right line is first for 76 of 96
questions in conversations, and without for 39."""
SAME_FILE = 0.06
"""The weight of a file that answered the question before, as a rating."""


OWN_WORDS = 3.0
"""The weight of the words of such a question, of which there are few, that a line has too."""


class Reading(NamedTuple):
    """One way to understand a question."""

    text: str
    meaning: float
    """The weight of what lines mean,"""
    words: float
    """and of the words that they share with it."""


class AnsweredQuestion(NamedTuple):
    """A question that was answered from a file."""

    question: str
    file: str
    line: str
    """The line that was shown as the answer; empty where there was none."""


def find_last_calling(exchanges: Sequence[Exchange]) -> Exchange | None:
    """Find the latest turn in which something was called."""
    return next((exchange for exchange in reversed(exchanges) if exchange.calls), None)


def find_answered(
    exchanges: Sequence[Exchange], choices: Sequence[Choice]
) -> AnsweredQuestion | None:
    """Find what was answered last, unless something else was done since."""
    exchange = find_last_calling(exchanges)
    if exchange is None:
        return None
    reading = {choice.text for choice in choices if reads_file(choice)}
    file = exchange.calls[-1].partition(": ")[2].partition("\n")[0]
    if name_command(exchange.calls[-1]) not in reading or not file:
        return None
    answer, is_apart, _ = exchange.reply.partition("\n\n")
    line = answer.partition("\n")[0].removeprefix("- ").strip("`") if is_apart else ""
    return AnsweredQuestion(exchange.request, file, line)


def list_readings(question: str, answered: AnsweredQuestion | None) -> list[Reading]:
    """List the ways to understand a question: by itself, and as it goes on with what was answered
    before.
    """
    if answered is None:
        return [Reading(question, 1.0, 1.0)]
    before = rename_in_calendar(answered.question.rstrip("?!. "), question)
    readings = [
        Reading(question, 1.0, OWN_WORDS),
        Reading(f"{before}, {question}", AFTER_QUESTION, AFTER_QUESTION),
    ]
    if answered.line:
        line = rename_in_calendar(answered.line, question)
        readings.append(Reading(f"{line}, {question}", AFTER_ANSWER, AFTER_ANSWER))
    return readings


def rename_in_calendar(text: str, named: str) -> str:
    """Rename each month and weekday of a text to the one that another text names: `and in May?`
    goes on with `what was the rent in March`.
    """
    names = {MEANINGS[word][0]: word for word in find_plain_words(named) if word in MEANINGS}

    def rename(word: re.Match[str]) -> str:
        kinds = [MEANINGS[plain][0] for plain in find_plain_words(word[0]) if plain in MEANINGS]
        return names.get(kinds[0], word[0]) if kinds else word[0]

    return WORD.sub(rename, text)
