"""Ask for what a command needs, and read the answers."""

import re
from collections.abc import Sequence

from andy_cli.call_notes import read_missing
from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning.choosing import Scorer, find_command_name
from andy_cli.models.inside.planning.part_reading import NAMED
from andy_cli.models.inside.planning.planned_request import Step
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.planning.replies.dialogue import Turn
from andy_cli.models.inside.values.filling import FilledArguments, Filler, Known
from andy_cli.models.inside.values.parameters import (
    Parameter,
    list_parameters,
    strip_description,
)
from andy_cli.models.inside.values.words import is_question

MAX_MEMBERS = 6
"""Members of an enumeration that a question lists."""
MAX_ANSWER_WORDS = 12
"""Words of an answer that is taken as a whole for the text that was asked for."""
MIN_ANSWER_NEARNESS = 0.9
"""Nearness of an answer to a question for yes or no: `jo`, `nah`."""
MIN_TALK_NEARNESS = 0.905
"""Nearness to talk of what is no answer to a question."""
SENTENCE_ENDS = (".", "!", "?", ":", ",")


class AnswerReader:
    """Reads what users answer when they are asked for what a command needs."""

    def __init__(self, encoder: Encoder, scorer: Scorer, filler: Filler) -> None:
        self._encoder = encoder
        self._scorer = scorer
        self._filler = filler

    def find_asking(self, turn: Turn, choices: Sequence[Choice]) -> Step | None:
        """Find the command whose question is answered."""
        asking = [at for at, choice in enumerate(choices) if turn.asked in list_questions(choice)]
        if not asking:
            return None
        questions = {question for at in asking for question in list_questions(choices[at])}
        answers = turn.list_answers(questions)
        scores = self._scorer.compare(answers[0].text, choices)
        best = max(asking, key=scores.commands.__getitem__)
        was_talk = scores.talk > scores.commands[best] + NAMED
        if not self._is_answer(turn, best, choices, was_talk):
            return None
        # Of andy's own only one thing is missing at a time: the answer is all of it.
        is_ours = bool(choices[best].examples)
        texts = [turn.request] if is_ours else [answer.text for answer in answers]
        return Step(best, join_sentences(texts), 1.0)

    def _is_answer(
        self, turn: Turn, asking: int, choices: Sequence[Choice], was_talk: bool
    ) -> bool:
        """Tell whether what the user says answers the question of a command; `was_talk`: what led
        to it was hardly a wish for that.
        """
        if self._is_other_wish(turn.request, asking, choices):
            return False
        is_talk = was_talk or self._is_talk(turn.request, choices)
        return not is_talk or self._holds_answer(turn, choices[asking])

    def _is_talk(self, text: str, choices: Sequence[Choice]) -> bool:
        """Tell whether a text asks something itself, or is talk: `forget it`."""
        scores = self._scorer.compare(text, choices)
        is_clear = scores.nearness > MIN_TALK_NEARNESS and scores.kind in small_talk.ANSWERS
        return is_question(text) or is_clear

    def _holds_answer(self, turn: Turn, choice: Choice) -> bool:
        """Tell whether one of the few values that were asked for is in what the user says; any
        words may be a text.
        """
        found = self._filler.fill(choice, turn.request, Known()).values
        return any(
            parameter.name in found
            or (parameter.is_yes_or_no and self._read_yes_or_no(turn.request))
            for parameter in list_parameters(choice)
            if ask_about(parameter) == turn.asked and (parameter.options or parameter.is_numeric)
        )

    def take(self, found: FilledArguments, choice: Choice, turn: Turn) -> FilledArguments:
        """Take answers as what was asked for and is still missing: as yes or no, or all of one as a
        text.
        """
        answers = {it.asked: it.text for it in turn.list_answers(list_questions(choice))}
        values = dict(found.values)
        for parameter in found.missing:
            answer = answers.get(ask_about(parameter))
            value = answer and self._read_answer(parameter, answer)
            if value:
                values[parameter.name] = value
        missing = [parameter for parameter in found.missing if parameter.name not in values]
        return FilledArguments(values, missing, found.used)

    def _read_answer(self, parameter: Parameter, answer: str) -> str | None:
        if parameter.is_yes_or_no:
            return self._read_yes_or_no(answer)
        is_text = parameter.is_wording and len(answer.split()) <= MAX_ANSWER_WORDS
        return answer.strip().rstrip(".!") if is_text else None

    def _read_yes_or_no(self, text: str) -> str | None:
        """Read a short answer; None where it is neither."""
        yes, no = (
            max(self._encoder.closeness(text, said)) for said in (small_talk.YES, small_talk.NO)
        )
        if max(yes, no) < MIN_ANSWER_NEARNESS:
            return None
        return "yes" if yes > no else "no"

    def _is_other_wish(self, text: str, asked: int, choices: Sequence[Choice]) -> bool:
        """Tell whether a text is clearly a wish, and no answer to what that command asked."""
        scores = self._scorer.compare(text, choices)
        return scores.best != asked and max(scores.commands) > scores.talk + NAMED


def list_questions(choice: Choice) -> list[str]:
    """List the questions for the values that a command needs: `Which song?`"""
    return [ask_about(parameter) for parameter in list_parameters(choice) if parameter.needed]


def ask_about(parameter: Parameter) -> str:
    """Ask for a value: `Urgent: yes or no?`, or as `ask_for` does."""
    if not parameter.is_yes_or_no:
        return ask_for(parameter.about, parameter.members)
    return f"{parameter.about[:1].upper()}{parameter.about[1:]}{list_members(parameter.options)}?"


def join_sentences(texts: Sequence[str]) -> str:
    return " ".join(
        text if text.endswith(SENTENCE_ENDS) else f"{text}." for text in map(str.strip, texts)
    )


def ask_for(about: str, members: Sequence[str] = ()) -> str:
    """`which song` is `Which song?`, `Text to write` is `What is the text to write?`, of a few
    members `What is the size: small or large?`
    """
    about = strip_description(about)
    if not re.match(r"(?:which|what|who|whose|where|when|why|how)\b", about, re.I):
        plain = re.sub(r"^(?:the|an?) ", "", about, flags=re.I)
        is_word = plain[1:2].islower()  # no `ISBN`, no `X position`
        about = f"what is the {plain[:1].lower() if is_word else plain[:1]}{plain[1:]}"
    return f"{about[:1].upper()}{about[1:]}{list_members(members)}?"


def list_members(members: Sequence[str]) -> str:
    """`: small or large`; nothing where there are too many."""
    if len(members) not in range(2, MAX_MEMBERS + 1):
        return ""
    *others, last = (member.replace("_", " ") for member in members)
    return f": {', '.join(others)} or {last}"


def repeat_question(result: str, choices: Sequence[Choice]) -> str:
    """Ask once more for the value that a result says was not given; empty where it says no such
    thing."""
    missing = read_missing(result.strip())
    if not missing:
        return ""
    found = [
        parameter
        for choice in choices
        if find_command_name(choice) == missing.command
        for parameter in list_parameters(choice)
        if parameter.name == missing.parameter
    ]
    return ask_about(found[0]) if found else ask_for(missing.parameter)
