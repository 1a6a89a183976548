"""What a model says that each step is chosen for: a command with its values, a question, or words
that nothing in them can be wrong.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from andy_cli.actions import fill_action
from andy_cli.messages import Choice, Constraint, Wire
from andy_cli.models.inside import small_talk
from andy_cli.models.inside.choosing import DECISIVE, Scorer, describe, is_name, name_things
from andy_cli.models.inside.conclusion import conclude_all
from andy_cli.models.inside.dialogue import REFUSAL, Turn, clauses, read_turn
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.filling import (
    Arguments,
    Filler,
    Known,
    Parameter,
    find_entries,
    find_meant,
    is_list,
    is_readable,
    parameters,
    plain_description,
)
from andy_cli.models.inside.numbers import ordinal
from andy_cli.models.inside.spans import kind, named
from andy_cli.models.inside.words import LINKS, plain_words, things

REMEMBERED = 32
"""Plans; later steps of a turn ask for the same one again."""
UNSURE = 0.002
"""A lead over the next command below which what plays or acts is asked about first."""
ASKS = "Shall I "
NAMED = 0.04
"""What a file or an address in a request speaks for a command rather than for talk."""
CLOSE = 0.01
"""Commands nearer to each other than that are told apart by how much of the request they use."""
FAR = 0.81
"""Nearness below which a command is not meant, although none is nearer, where examples say how
people ask for it."""
DOUBTFUL = 0.04
"""A lead of a command over talk, or of talk over it, that the model has to confirm."""
WISH = 0.005
PLAIN = 0.01
NAMED_HERE = 0.03
"""The same of something that is there and is called by its name."""
UNLIKE = 0.03
"""By so much farther is a command that lists something else than what is pointed at."""
REFERRING = 0.035
"""By so much may a command that looks at what was found be farther than another."""
MEANT_LEAD = 0.03
"""By so much nearer in meaning to a question than the others is the file that answers it."""
SPLIT = 0.05
"""By so much a part may be farther from its command than the whole request from its own."""


class Said(NamedTuple):
    text: str
    is_command: bool = False


class Step(NamedTuple):
    at: int
    """Its place among the choices."""
    text: str
    """The part of the request that asks for it."""
    lead: float
    """Over the next command."""
    rival: bool = False
    """A command that the model is not trusted with is nearly as likely."""


class Planner:
    def __init__(self, name: str, encoder: Encoder, scorer: Scorer, filler: Filler) -> None:
        """`name` is the model's, as users are told it."""
        self._name = name
        self._encoder = encoder
        self._scorer = scorer
        self._filler = filler
        self._plans: dict[tuple[object, ...], list[Step]] = {}

    def say(self, messages: Sequence[Wire], constraint: Constraint) -> Said:
        """The whole reply."""
        turn, choices = read_turn(messages), constraint.choices
        if turn.refused:
            return Said(question_of_refusal(turn.results[-1], choices))
        confirmed = turn.said.startswith(ASKS) and self._agrees(turn.request)
        if confirmed:
            turn = replace(turn, request=turn.before)
        steps = self._plan(turn, constraint)
        done = len(turn.calls)
        if not (steps or constraint.free_text):
            steps = [self._best_step(turn.request, constraint)]
        if not turn.failed and done < len(steps):
            return self._carry_out(steps[done], turn, constraint, confirmed)
        if constraint.results:
            return Said(conclude_all(constraint.results, constraint.done))
        return Said(self._talk(turn.request, choices))

    def _carry_out(self, step: Step, turn: Turn, constraint: Constraint, confirmed: bool) -> Said:
        choice = constraint.choices[step.at]
        if choice.beyond:
            return Said(small_talk.too_small(self._name, choice, constraint.choices))
        known = Known((*constraint.earlier, *constraint.results), constraint.names, (turn.before,))
        found = self._filler.fill_by_meaning(choice, step.text, known)
        if found.missing:
            return Said(question(found.missing[0].about))
        if not (confirmed or step.lead >= UNSURE or (choice.harmless and not step.rival)):
            action = fill_action(choice.action, found.values) or choice.about
            return Said(f"{ASKS}{action}?")
        command = written(choice, found)
        if command in turn.calls:
            return Said(conclude_all(constraint.results, constraint.done))  # both parts meant it
        return Said(command, is_command=True)

    def _agrees(self, text: str) -> bool:
        return max(self._encoder.closeness(text, small_talk.YES)) > SAME

    def _talk(self, text: str, choices: Sequence[Choice]) -> str:
        scores = self._scorer.compare(text, choices)
        return small_talk.answer_talk(scores.kind, scores.nearness, choices)

    def _plan(self, turn: Turn, constraint: Constraint) -> list[Step]:
        commands = tuple(choice.text for choice in constraint.choices)
        listed = tuple(map(holds_list, constraint.results))
        key = (turn.request, turn.before, turn.said, bool(turn.earlier), commands, listed)
        if key not in self._plans:
            if len(self._plans) >= REMEMBERED:
                self._plans.clear()
            self._plans[key] = self.plan(turn, constraint)
        return self._plans[key]

    def plan(self, turn: Turn, constraint: Constraint) -> list[Step]:
        """The commands that the request needs, in order; none where it is talk."""
        choices = constraint.choices
        if not turn.request or not choices:
            return []
        asked = [at for at, choice in enumerate(choices) if turn.said in questions(choice)]
        if asked:
            scores = self._scorer.compare(turn.before, choices)
            best = max(asked, key=scores.commands.__getitem__)
            if scores.talk <= scores.commands[best] + NAMED:
                return [Step(best, turn.request, 1.0)]
        steps: list[Step] = []
        for part in self._parts(turn.request, constraint):
            if steps and self._is_value(part, choices[steps[-1].at], constraint.names):
                steps.append(steps[-1]._replace(text=part))
                continue
            for step in self._steps(part, constraint, bool(steps)):
                if steps and self._is_same_wish(steps[-1], step, turn.request, constraint):
                    whole = f"{steps[-1].text}, {step.text}"
                    steps[-1] = steps[-1]._replace(text=whole)
                elif not (steps and self._is_afterthought(step, turn.request, constraint)):
                    steps.append(step)
        if not steps:
            return self._read_what_is_meant(turn.request, constraint)
        return steps if turn.earlier else self._list_first(steps, constraint)

    def _read_what_is_meant(self, text: str, constraint: Constraint) -> list[Step]:
        """`How much was the rent in March?`: read the file whose name is about that, if one is."""
        choices = constraint.choices
        reading = [at for at, choice in enumerate(choices) if reads_file(choice)]
        names = [name for name in constraint.names if is_readable(name)]
        scores = self._scorer.compare(text, choices, constraint.names)
        if not reading or scores.kind not in small_talk.QUESTIONS:
            return []
        meant = find_meant(self._encoder, text, names, MEANT_LEAD)
        return [Step(max(reading, key=scores.commands.__getitem__), text, 1.0)] if meant else []

    def _is_same_wish(self, one: Step, other: Step, text: str, constraint: Constraint) -> bool:
        """Whether two parts ask for one call: the same command, of which one part has no value,
        or which stand beside each other with a comma alone between them."""
        if one.at != other.at:
            return False
        choice = constraint.choices[one.at]
        if all(self._names_something(step.text, choice, constraint.names) for step in (one, other)):
            return False
        known = Known((), constraint.names)
        filled = [self._filler.fill(choice, step.text, known) for step in (one, other)]
        return not all(found.values for found in filled) or self._is_behind_comma(other, text)

    def _is_behind_comma(self, step: Step, text: str) -> bool:
        return text[: text.find(step.text)].rstrip().endswith(",")

    def _is_afterthought(self, step: Step, text: str, constraint: Constraint) -> bool:
        """Whether a part is no wish of its own, as `s'il te plait`: it stands behind a comma, and
        its command lacks what it needs."""
        if not self._is_behind_comma(step, text) or ordinal(step.text) is not None:
            return False
        choice = constraint.choices[step.at]
        return bool(self._filler.fill(choice, step.text, Known((), constraint.names)).missing)

    def _names_something(self, text: str, choice: Choice, names: Sequence[str]) -> bool:
        """Whether something is called by its name: a file, an address, a value that is known."""
        return (
            bool(things(text)) or name_things(text, names) != text or self._has_member(text, choice)
        )

    def _parts(self, text: str, constraint: Constraint) -> list[str]:
        choices, names = constraint.choices, constraint.names
        compared = self._scorer.compare(text, choices, names)
        whole, likeliest = max(compared.commands), choices[compared.best]

        def is_more(before: str, part: str) -> bool:
            return self._is_value(part, likeliest, names) and self._names_something(
                before, likeliest, names
            )

        def is_wish(part: str) -> bool:
            if is_name(part, names):
                return False
            scores = self._scorer.compare(part, choices, names)
            best = max(scores.commands)
            return best > scores.talk and best > whole - SPLIT

        return clauses(text, is_wish, is_more)

    def _is_value(self, part: str, choice: Choice, names: Sequence[str]) -> bool:
        """Whether the part of a request is nothing but one more value for the command."""
        if is_name(part, names):
            return True
        rest = [word for word in plain_words(part) if word not in LINKS]
        return bool(rest) and self._has_member(" ".join(rest), choice, whole=True)

    def _has_member(self, text: str, choice: Choice, whole: bool = False) -> bool:
        """Whether a value that is known for the command is said; `whole`: and nothing else."""
        return any(
            match.is_clear and (not whole or all(map(match.is_part, plain_words(text))))
            for find in choice.members.values()
            for match in named(text, find(), frozenset())[:1]
        )

    def _steps(self, text: str, constraint: Constraint, follows: bool = False) -> list[Step]:
        """The command that a part of a request asks for; none where it is talk.

        `follows`: other parts stood before it, and it may refer to what they find."""
        scores = self._scorer.compare(text, constraint.choices, constraint.names)
        is_named = bool(things(text)) or name_things(text, constraint.names) != text
        lead = max(scores.commands) - scores.talk
        if not things(text):
            lead += NAMED_HERE * is_named
        elif scores.kind in small_talk.ANSWERS:
            lead += NAMED  # where it is a tool that is absent, that may take a file as well
        if not any(choice.examples for choice in constraint.choices):
            lead += PLAIN  # descriptions are farther from what people say than examples are
        if abs(lead) < DOUBTFUL and self._scorer.is_read(text):
            opinion = self._scorer.ask_model(text, constraint.choices, scores)
            lead += opinion.wish - WISH
        if lead < 0:
            return []
        step = self._best_step(text, constraint)
        chosen = constraint.choices[step.at]
        takes = any(item.needed for item in parameters(chosen))
        if follows and not is_named and chosen.harmless and not takes:
            step = self._refer_back(step, constraint)
        is_far = max(scores.commands) < FAR and bool(constraint.choices[step.at].examples)
        return [] if is_far and not is_named else [step]

    def _refer_back(self, step: Step, constraint: Constraint) -> Step:
        """`And open it`: a command that looks at what was found, where one is nearly as near."""
        choices = constraint.choices
        scores = self._scorer.compare(step.text, choices, constraint.names).commands
        taking = [
            at
            for at, choice in enumerate(choices)
            if choice.harmless
            and not choice.beyond
            and any(item.needed for item in parameters(choice))
        ]
        best = max(taking, key=scores.__getitem__, default=step.at)
        return step._replace(at=best) if scores[best] > scores[step.at] - REFERRING else step

    def _best_step(self, text: str, constraint: Constraint) -> Step:
        choices = constraint.choices
        scores = self._scorer.compare(text, choices, constraint.names)
        if scores.lead < DECISIVE and self._scorer.is_read(text):
            scores = self._scorer.ask_model(text, choices, scores)
        highest = max(scores.commands)
        close = [at for at, score in enumerate(scores.commands) if score > highest - CLOSE]
        if len(close) < 2:
            return Step(scores.best, text, scores.lead)
        beyond = bool(choices[scores.best].beyond)
        rival = any(bool(choices[at].beyond) != beyond for at in close)
        close = [at for at in close if bool(choices[at].beyond) == beyond]
        known = Known((*constraint.earlier, *constraint.results), constraint.names)
        used = {at: self._filler.fill(choices[at], text, known).use for at in close}
        best = max(close, key=lambda at: (used[at], scores.commands[at]))
        decided = all(used[best] > used[at] for at in close if at != best)
        return Step(best, text, CLOSE if decided and len(close) > 1 else scores.lead, rival)

    def _list_first(self, steps: list[Step], constraint: Constraint) -> list[Step]:
        """`The first one` of what has not been listed: list it before, by what lists its kind.

        Behind a list comes what takes one of its entries.
        """
        choices, names = constraint.choices, constraint.names
        ordered = next((step for step in steps if ordinal(step.text) is not None), None)
        pointing = ordered or self._find_unsaid(steps, constraint)
        if pointing is None or self._names_something(pointing.text, choices[pointing.at], names):
            return steps
        taken = choices[pointing.at]
        listing = [at for at, choice in enumerate(choices) if at != pointing.at and lists(choice)]
        if not listing or not any(parameter.needed for parameter in parameters(taken)):
            return steps
        near = self._encoder.closeness(describe(taken), [describe(choices[at]) for at in listing])
        best = listing[max(range(len(listing)), key=near.__getitem__)]
        place = steps.index(pointing)
        if not place:
            return [Step(best, pointing.text, 1.0), *steps]
        found = constraint.results[:place]
        if len(found) == place and not any(map(holds_list, found)):
            return [*steps[:place], Step(best, pointing.text, 1.0), *steps[place:]]
        before = steps[place - 1]
        if not lists(choices[before.at]):
            return steps
        scores = self._scorer.compare(before.text, choices, names).commands
        if ordered and scores[best] > scores[before.at] - DECISIVE:
            return [*steps[: place - 1], before._replace(at=best), *steps[place:]]
        if near[listing.index(before.at)] < max(near) - UNLIKE:
            pointing = self._refer_back(pointing, constraint)
        return [*steps[:place], pointing, *steps[place + 1 :]]

    def _find_unsaid(self, steps: Sequence[Step], constraint: Constraint) -> Step | None:
        """The step behind a list that has no value of its own: `and open the one from March`."""
        known = Known((), constraint.names)
        for before, step in pairwise(steps):
            choice = constraint.choices[step.at]
            if lists(constraint.choices[before.at]) and (
                self._filler.fill(choice, step.text, known).missing
            ):
                return step
        return None


def holds_list(result: str) -> bool:
    return is_list(result) and bool(find_entries(result))


def reads_file(choice: Choice) -> bool:
    """Whether it needs one file, and changes nothing."""
    needed = [parameter for parameter in parameters(choice) if parameter.needed]
    return (
        choice.harmless
        and not choice.beyond
        and [kind(parameter.name, parameter.schema) for parameter in needed] == ["file"]
    )


def lists(choice: Choice) -> bool:
    """Whether it looks at something that need not be named."""
    own = parameters(choice)
    return choice.harmless and bool(own) and not any(each.needed for each in own)


SAME = 0.93
"""Nearness of two short answers that mean the same."""


def written(choice: Choice, found: Arguments) -> str:
    """The command with its values, one a line."""
    lines = [f"{name}: {' '.join(value.split())}" for name, value in found.values.items()]
    return "\n".join([choice.text, *lines])


def questions(choice: Choice) -> list[str]:
    """For each parameter that is needed what a person would be asked: `Which song?`"""
    return [question(each.about) for each in parameters(choice) if each.needed]


def question(about: str) -> str:
    """`which song` is `Which song?`, `text to write` is `What is the text to write?`"""
    about = plain_description(about)
    if not re.match(r"(?:which|what|who|where|when|how)\b", about, re.I):
        about = f"what is the {re.sub(r'^(?:the|an?) ', '', about, flags=re.I)}"
    return f"{about[:1].upper()}{about[1:]}?"


def question_of_refusal(result: str, choices: Sequence[Choice]) -> str:
    """The question behind `cannot NAME without PARAMETER`."""
    match = REFUSAL.fullmatch(result.strip())
    if not match:
        return ""
    found: list[Parameter] = [
        parameter
        for choice in choices
        if choice.text.rpartition(",")[2].strip().upper() == match[1].upper()
        for parameter in parameters(choice)
        if parameter.name == match[2]
    ]
    return question(found[0].about if found else match[2])
