"""Plan one request: which commands it needs, in which order, from which of its words."""

from collections.abc import Sequence

from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.planning.choosing import DECISIVE, Scores, find_command_name
from andy_cli.models.inside.planning.command_kinds import (
    needs_value,
    reads_file,
    reads_one,
    takes_file,
)
from andy_cli.models.inside.planning.list_fitting import ListFitter
from andy_cli.models.inside.planning.mentions import LONG_WORD, Mentions, find_called, is_file
from andy_cli.models.inside.planning.opening import find_opener
from andy_cli.models.inside.planning.part_splitting import TALK_LEAD, PartSplitter
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.planning.splitting import ADVERBS, BEGINNING, split_at_joints
from andy_cli.models.inside.values.entries import is_readable
from andy_cli.models.inside.values.numbers import find_ordinal
from andy_cli.models.inside.values.parameters import list_parameters
from andy_cli.models.inside.values.spans import find_named
from andy_cli.models.inside.values.words import find_plain_words, find_things, is_question

NAMED = 0.04
"""The weight of a file or an address in a request for a command rather than for talk."""
NAMED_HERE = 0.03
"""The same of something that is there and is called by its name."""
CLOSE = 0.01
"""Commands nearer to each other than that are told apart by how much of the request they use."""
FAR = 0.81
"""Nearness below which a command is not meant, although none is nearer, where examples say how
people ask for it."""
DOUBTFUL = 0.04
"""A lead of a command over talk, or of talk over it, that the model has to confirm."""
WISH = 0.005
PLAIN = 0.01
SEARCHING = "which of my files says something about it?"
"""The wish for a search of the user's files."""
KNOWLEDGE = 0.07
"""By so much nearer than any command is a question of knowledge that no file is about."""


class RequestPlan:
    """Plans one request."""

    def __init__(self, request: PlannedRequest) -> None:
        self._request = request
        self._mentions = Mentions(request)
        self._splitter = PartSplitter(request, self._mentions)
        self._lists = ListFitter(request, self._mentions)

    def list_steps(self, text: str, is_first: bool) -> list[Step]:
        """List the commands that the request needs, in order; none where it is talk.

        `is_first`: nothing was found in the turns before, that it could point at.
        """
        steps = self._find_steps(text) or self._find_whole(text)
        if len(steps) == 1:
            steps = [self._fill_from_beside(steps[0], text)]
        steps = [repeated for step in steps for repeated in self._repeat_for_names(step)]
        for place in range(len(steps)):
            steps[place] = self._follow_up(steps, place)
        return self._lists.fit(steps) if is_first else [self._read_entry(step) for step in steps]

    def _read_entry(self, step: Step) -> Step:
        """`And the first one`, behind a list of texts: what nothing of it can be played is read."""
        choice = self._request.choices[step.at]
        plays = takes_file(choice) and not choice.harmless
        if not plays or find_ordinal(step.text) is None:
            return step
        is_missing = bool(self._request.fill_by_meaning(step).missing)
        return self._lists.refer_back(step, lead=1.0) if is_missing else step

    def _find_steps(self, text: str) -> list[Step]:
        """Find the command of each part."""
        steps: list[Step] = []
        parts = self._splitter.split(text)
        for place, part in enumerate(parts):
            if steps and self._mentions.is_value(part, self._request.choices[steps[-1].at]):
                self._add_value(steps, part)
            elif steps and (opened := find_opener(self._request, steps[-1], part)):
                steps.append(opened)
            elif (step := self._find_step(part, place > 0)) and self._is_meant(step, parts):
                step = self._borrow_value(steps, step)
                self._add_step(steps, self._take_values(step, text), text)
            elif len(parts) > 1:
                steps += self._read_what_is_meant(part)
        return steps

    def _fill_from_beside(self, step: Step, text: str) -> Step:
        """`Are the trains running? Check online`: take what the only command lacks from the whole
        request.
        """
        whole = step._replace(text=text)
        is_missing = self._request.fill_by_meaning(step).missing
        return whole if is_missing and not self._request.fill_by_meaning(whole).missing else step

    def _borrow_value(self, steps: list[Step], step: Step) -> Step:
        """`The one by Queen, then play it`: take the value of a part whose command takes none."""
        choices = self._request.choices
        if (
            not steps
            or list_parameters(choices[steps[-1].at])
            or not self._request.fill(step).missing
        ):
            return step
        before = steps[-1]
        if not self._mentions.names_part(before.text, choices[step.at]):
            return step
        steps.pop()
        return step._replace(text=f"{before.text} {step.text}")

    def _is_meant(self, step: Step, parts: Sequence[str]) -> bool:
        """Tell whether one of several parts asks for what it may: to see something by few words, as
        `open it`, but to play or to stop clearly, as `it is full stop` does not.
        """
        choice = self._request.choices[step.at]
        if (
            len(parts) == 1
            or choice.harmless
            or not choice.examples
            or self._mentions.is_named(step.text, choice)
        ):
            return True
        scores = self._request.compare(step.text)
        return max(scores.commands) > scores.talk + TALK_LEAD

    def _add_value(self, steps: list[Step], part: str) -> None:
        """Add a call with one more value; the first value is that of the step before."""
        last = steps[-1]
        if self._request.fill_by_meaning(last).missing:
            steps[-1] = last._replace(text=f"{last.text}, {part}")
        else:
            steps.append(last._replace(text=part))

    def _take_values(self, step: Step, text: str) -> Step:
        """`Volare now, and then Azzurro`: a part whose command takes no value, and that holds one
        of what the whole asks for, asks for that; else for a nearly as likely command that takes
        it.
        """
        if self._mentions.find_value(step.text, self._request.choices[step.at]):
            return step
        values = self._request.fill(step).values
        likeliest = self._request.compare(text).best
        taken = self._mentions.find_value(step.text, self._request.choices[likeliest])
        if taken is not None and not values:
            return step._replace(at=likeliest)
        found = find_named(step.text, list(filter(is_file, self._request.names)), frozenset())
        if not found or found[0].letters < LONG_WORD:
            return step
        used = {*find_plain_words(" ".join(values.values()))}
        if values and not (found[0].is_clear and used.isdisjoint(found[0].words)):
            return step
        return self._find_taker(step, is_readable(found[0].name))

    def _find_taker(self, step: Step, is_read: bool) -> Step:
        """Find the command that takes a file of the kind, where it is nearly as likely."""
        scores = self._request.compare(step.text).commands
        taking = [
            at
            for at, choice in enumerate(self._request.choices)
            if takes_file(choice) and reads_file(choice) == is_read
        ]
        best = max(taking, key=scores.__getitem__, default=step.at)
        return step._replace(at=best) if scores[best] > scores[step.at] - DECISIVE else step

    def _repeat_for_names(self, step: Step) -> list[Step]:
        """`The January and March reports`: a command that takes one file is meant for each."""
        if not takes_file(self._request.choices[step.at]):
            return [step]
        files = list(filter(is_file, self._request.names))
        pieces = [piece for piece in split_at_joints(step.text) if find_called(piece, files)]
        named = {find_called(piece, files): piece for piece in pieces}
        return [step._replace(text=piece) for piece in named.values()] if len(named) > 1 else [step]

    def list_unanswered(self, text: str, steps: Sequence[Step]) -> list[str]:
        """List sentences on the parts that cannot be answered or done, where the steps were."""
        parts = self._splitter.split(text)
        left = [part for part in parts if not any(part in step.text for step in steps)]
        return [told for part in left if len(parts) > 1 and (told := self._describe_left(part))]

    def _describe_left(self, part: str) -> str:
        """Say that a part cannot be answered or done; nothing where it is, or asks for nothing."""
        if self._find_step(part, follows=True) or self._read_what_is_meant(part):
            return ""
        said = part.rstrip("?!. ")
        if self._splitter.is_refused(part):
            return small_talk.CANNOT_DO.format(part=said)
        return small_talk.CANNOT_ANSWER.format(part=said) if is_question(part) else ""

    def _find_whole(self, text: str) -> list[Step]:
        step = self._find_step(text, follows=False)
        questions = list(filter(is_question, self._splitter.split(text)))
        asked = questions[0] if len(questions) == 1 else self._splitter.leave_reasons(text)
        if step:
            return [step]
        reading = self._read_what_is_meant(text)
        is_clear = reading and not self._request.fill_by_meaning(reading[0]).missing
        return reading if is_clear else self._look_up(asked) or reading

    def _look_up(self, text: str) -> list[Step]:
        """`What colour did I want for the fence?`: search the user's files for what is asked."""
        if self._request.compare(text).kind != "own" or not is_question(text):
            return []
        best = self._request.compare(SEARCHING).best
        searcher = self._request.choices[best]
        step = Step(best, text, 1.0, is_lookup=True)
        can_search = searcher.harmless and not searcher.beyond and bool(searcher.examples)
        return [step] if can_search and self._request.fill(step).values else []

    def _add_step(self, steps: list[Step], step: Step, text: str) -> None:
        if steps and self._is_same_wish(steps[-1], step, text):
            steps[-1] = steps[-1]._replace(text=f"{steps[-1].text}, {step.text}")
        elif not (steps and self._is_afterthought(step, steps[-1], text)):
            steps.append(step)

    def _follow_up(self, steps: Sequence[Step], place: int) -> Step:
        """`Play this, then that`: what is asked for a second time, with another value, is what the
        command's tool says it then is; the first of several of those is the command itself.
        """
        step, names = steps[place], [find_command_name(choice) for choice in self._request.choices]
        repeated = [choice.repeated_as for choice in self._request.choices]
        if names[step.at] in repeated:
            return self._find_first_call(step, repeated.index(names[step.at]), steps[:place])
        meant = self._request.choices[step.at].repeated_as
        others = [other for other in steps[:place] if other.at == step.at]
        if not (meant in names and others):
            return step
        values = self._request.fill(step).values
        if any(self._request.fill(other).values == values for other in others):
            return step
        return step._replace(at=names.index(meant))

    def _find_first_call(self, step: Step, first: int, before: Sequence[Step]) -> Step:
        """Find the command itself where a call of it stands behind none, and may be meant."""
        said = BEGINNING.sub("", step.text, count=1).split()
        plain = " ".join(word for word in said if word.lower() not in ADVERBS)
        scores = self._request.compare(plain).commands
        is_close = scores[first] > scores[step.at] - CLOSE
        is_second = any(other.at == first for other in before)
        return step._replace(at=first) if is_close and not is_second else step

    def find_best_step(self, text: str) -> Step:
        """Find the command that is likeliest, whether or not one is meant."""
        scores = self._request.compare(text)
        if scores.lead < DECISIVE and self._request.scorer.is_read(text):
            scores = self._request.scorer.ask_model(text, self._request.choices, scores)
        highest = max(scores.commands)
        close = [at for at, score in enumerate(scores.commands) if score > highest - CLOSE]
        if len(close) < 2:
            return Step(scores.best, text, scores.lead)
        return self._choose_by_use(text, scores, close)

    def _choose_by_use(self, text: str, scores: Scores, close: Sequence[int]) -> Step:
        """Choose of commands that are equally likely the one that uses most of the request."""
        choices = self._request.choices
        beyond = bool(choices[scores.best].beyond)
        alike = [at for at in close if bool(choices[at].beyond) == beyond]
        used = {at: self._request.fill_by_meaning(Step(at, text, 1.0)).use for at in alike}
        best = max(alike, key=lambda at: (used[at], scores.commands[at]))
        is_decided = len(alike) > 1 and all(used[best] > used[at] for at in alike if at != best)
        return Step(best, text, CLOSE if is_decided else scores.lead, len(alike) < len(close))

    def _find_step(self, text: str, follows: bool) -> Step | None:
        """Find the command that a part of a request asks for; None where it is talk.

        `follows`: other parts stood before it, and it may refer to what they find."""
        scores = self._request.compare(text)
        is_named = self._mentions.is_named(text, self._request.choices[scores.best])
        lead = self._find_lead(text, scores, is_named)
        if lead < 0:
            return None
        step = self.find_best_step(text)
        if follows and not is_named:
            step = self._refer_to_found(step)
        is_far = max(scores.commands) < FAR and bool(self._request.choices[step.at].examples)
        return None if is_far and not is_named else step

    def _find_lead(self, text: str, scores: Scores, is_named: bool) -> float:
        """Find by how much the best command is likelier than talk."""
        lead = max(scores.commands) - scores.talk
        if not find_things(text):
            lead += NAMED_HERE * is_named
        elif scores.kind in small_talk.ANSWERS:
            lead += NAMED  # where it is a tool that is absent, that may take a file as well
        if not any(choice.examples for choice in self._request.choices):
            lead += PLAIN  # descriptions are farther from what people say than examples are
        if abs(lead) < DOUBTFUL and self._request.scorer.is_read(text):
            lead += self._request.scorer.ask_model(text, self._request.choices, scores).wish - WISH
        return lead

    def _read_what_is_meant(self, text: str) -> list[Step]:
        """`How much was the rent in March?`: read the file whose name is about that, if one is."""
        reading = [at for at, choice in enumerate(self._request.choices) if reads_file(choice)]
        scores = self._request.compare(text)
        if not reading or scores.kind not in small_talk.QUESTIONS:
            return []
        is_known = scores.kind == "knowledge" and scores.talk > max(scores.commands) + KNOWLEDGE
        if is_known or not self._mentions.means_file(text):
            return []
        return [Step(max(reading, key=scores.commands.__getitem__), text, 1.0)]

    def _is_same_wish(self, step: Step, other: Step, text: str) -> bool:
        """Tell whether two parts ask for one call: the same command, of which one part has no
        value, or which stand beside each other with a comma alone between them.
        """
        if step.at != other.at:
            return False
        one, another = (self._mentions.find_file_of(part) for part in (step, other))
        if one and another and one != another:
            return False
        if all(map(self._mentions.names_value, (step, other))):
            return False
        has_values = all(self._request.fill(part).values for part in (step, other))
        return not has_values or is_behind_comma(other, text)

    def _is_afterthought(self, step: Step, before: Step, text: str) -> bool:
        """Tell whether a part is no wish of its own: its command lacks what it needs, and it stands
        behind a comma, as `s'il te plait`, or asks to see what is read anyway: `open example.org
        and show what's on it`.
        """
        if find_ordinal(step.text) is not None or not self._request.fill(step).missing:
            return False
        are_readers = all(reads_one(self._request.choices[other.at]) for other in (step, before))
        is_seen = are_readers and not self._mentions.means_file(step.text)
        return is_seen or is_behind_comma(step, text)

    def _refer_to_found(self, step: Step) -> Step:
        """Let a part that names nothing, and may refer to what was found, look at that."""
        choice = self._request.choices[step.at]
        if choice.beyond:
            return self._lists.refer_back(step, CLOSE)
        looks_around = choice.harmless and not needs_value(choice)
        is_filled = bool(self._request.fill(step).values)
        return self._lists.refer_back(step) if looks_around and not is_filled else step


def is_behind_comma(step: Step, text: str) -> bool:
    return text[: text.find(step.text)].rstrip().endswith(",")
