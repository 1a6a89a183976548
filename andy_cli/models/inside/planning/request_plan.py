"""Plan one request: which commands it needs, in which order, from which of its words."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from andy_cli.messages import Choice, Constraint
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.planning.choosing import (
    DECISIVE,
    Scorer,
    Scores,
    describe_command,
    find_command_name,
    is_name,
    name_things,
)
from andy_cli.models.inside.planning.splitting import (
    ADVERBS,
    BEGINNING,
    split_at_joints,
    split_wishes,
)
from andy_cli.models.inside.values.entries import (
    LISTED_LEAD,
    find_entries,
    find_files,
    find_meant,
    is_list,
    is_readable,
    is_text,
)
from andy_cli.models.inside.values.filling import Arguments, Filler, Known
from andy_cli.models.inside.values.numbers import find_ordinal
from andy_cli.models.inside.values.parameters import list_parameters
from andy_cli.models.inside.values.spans import find_named
from andy_cli.models.inside.values.words import (
    INTERROGATIVES,
    LINKS,
    find_plain_words,
    find_things,
    find_words,
)

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
UNLIKE = 0.03
"""By so much farther is a command that lists something else than what is pointed at."""
REFERRING = 0.035
"""By so much may a command that looks at what was found be farther than another."""
MEANT_LEAD = 0.03
"""By so much nearer in meaning to a question than the others is the file that answers it."""
LONG_WORD = 4
"""Letters; longer ones may be what a file is called."""
TALK_LEAD = 0.01
"""By so much nearer to talk than to any command is a reason that stands behind a wish."""
ENTRIES = frozenset({"file", "folder", "url", "id"})
"""Kinds of values that an entry of a list may be."""
SPLIT = 0.05
"""By so much a part may be farther from its command than the whole request from its own."""


class Step(NamedTuple):
    at: int
    """Its place among the choices."""
    text: str
    """The part of the request that asks for it."""
    lead: float
    """Over the next command."""
    rival: bool = False
    """A command that the model is not trusted with is nearly as likely."""


class RequestPlan:
    """Plans requests under one constraint."""

    def __init__(
        self, encoder: Encoder, scorer: Scorer, filler: Filler, constraint: Constraint
    ) -> None:
        self._encoder = encoder
        self._scorer = scorer
        self._filler = filler
        self._constraint = constraint
        self._choices = constraint.choices
        self._names = constraint.names

    def list_steps(self, text: str, is_first: bool) -> list[Step]:
        """List the commands that the request needs, in order; none where it is talk.

        `is_first`: nothing was found in the turns before, that it could point at.
        """
        steps = self._find_steps(text) or self._find_whole(text)
        steps = [repeated for step in steps for repeated in self._repeat_for_names(step)]
        steps = [self._follow_up(steps, place) for place in range(len(steps))]
        return self._fit_to_list(steps) if is_first else steps

    def _find_steps(self, text: str) -> list[Step]:
        """Find the command of each part."""
        steps: list[Step] = []
        parts = self._split(text)
        for part in parts:
            if steps and self._is_value(part, self._choices[steps[-1].at]):
                self._add_value(steps, part)
            elif step := self._find_step(part, bool(steps)):
                self._add_step(steps, self._take_values(step, text), text)
            elif len(parts) > 1:
                steps += self._read_what_is_meant(part)
        return steps

    def _add_value(self, steps: list[Step], part: str) -> None:
        """Add a call with one more value; the first value is that of the step before."""
        last = steps[-1]
        if self._fill(last).missing:
            steps[-1] = last._replace(text=f"{last.text}, {part}")
        else:
            steps.append(last._replace(text=part))

    def _take_values(self, step: Step, text: str) -> Step:
        """`Volare now, and then Azzurro`: a part whose command takes no value, and that holds one
        of what the whole asks for, asks for that; else for a nearly as likely command that takes
        it.
        """
        if self._fill(step).values or self._find_value(step.text, self._choices[step.at]):
            return step
        likeliest = self._compare(text).best
        if self._find_value(step.text, self._choices[likeliest]) is not None:
            return step._replace(at=likeliest)
        found = find_named(step.text, list(filter(is_file, self._names)), frozenset())
        if not found or found[0].letters < LONG_WORD:
            return step
        return self._find_taker(step, is_readable(found[0].name))

    def _find_taker(self, step: Step, is_read: bool) -> Step:
        """Find the command that takes a file of the kind, where it is nearly as likely."""
        scores = self._compare(step.text).commands
        taking = [
            at
            for at, choice in enumerate(self._choices)
            if takes_file(choice) and reads_file(choice) == is_read
        ]
        best = max(taking, key=scores.__getitem__, default=step.at)
        return step._replace(at=best) if scores[best] > scores[step.at] - DECISIVE else step

    def _repeat_for_names(self, step: Step) -> list[Step]:
        """`The January and March reports`: a command that takes one file is meant for each."""
        if not takes_file(self._choices[step.at]):
            return [step]
        files = list(filter(is_file, self._names))
        pieces = [piece for piece in split_at_joints(step.text) if find_called(piece, files)]
        named = {find_called(piece, files): piece for piece in pieces}
        return [step._replace(text=piece) for piece in named.values()] if len(named) > 1 else [step]

    def list_unanswered(self, text: str) -> list[str]:
        """List the parts that ask for what cannot be known, where others are carried out."""
        parts = self._split(text)
        return [
            part.rstrip("?!. ")
            for part in parts
            if len(parts) > 1
            and is_question(part)
            and not (self._find_step(part, follows=True) or self._read_what_is_meant(part))
        ]

    def _find_whole(self, text: str) -> list[Step]:
        step = self._find_step(text, follows=False)
        return [step] if step else self._read_what_is_meant(text)

    def _add_step(self, steps: list[Step], step: Step, text: str) -> None:
        if steps and self._is_same_wish(steps[-1], step, text):
            steps[-1] = steps[-1]._replace(text=f"{steps[-1].text}, {step.text}")
        elif not (steps and self._is_afterthought(step, steps[-1], text)):
            steps.append(step)

    def _follow_up(self, steps: Sequence[Step], place: int) -> Step:
        """`Play this, then that`: what is asked for a second time, with another value, is what the
        command's tool says it then is; the first of several of those is the command itself.
        """
        step, names = steps[place], [find_command_name(choice) for choice in self._choices]
        repeated = [choice.repeated_as for choice in self._choices]
        if names[step.at] in repeated:
            return self._find_first_call(step, repeated.index(names[step.at]), steps[:place])
        meant = self._choices[step.at].repeated_as
        others = [other for other in steps[:place] if other.at == step.at]
        if not (meant in names and others):
            return step
        values = self._fill(step).values
        if any(self._fill(other).values == values for other in others):
            return step
        return step._replace(at=names.index(meant))

    def _find_first_call(self, step: Step, first: int, before: Sequence[Step]) -> Step:
        """Find the command itself where a call of it stands behind none, and may be meant."""
        said = BEGINNING.sub("", step.text, count=1).split()
        plain = " ".join(word for word in said if word.lower() not in ADVERBS)
        scores = self._compare(plain).commands
        is_close = scores[first] > scores[step.at] - CLOSE
        is_second = any(other.at == first for other in before)
        return step._replace(at=first) if is_close and not is_second else step

    def find_best_step(self, text: str) -> Step:
        """Find the command that is likeliest, whether or not one is meant."""
        scores = self._compare(text)
        if scores.lead < DECISIVE and self._scorer.is_read(text):
            scores = self._scorer.ask_model(text, self._choices, scores)
        highest = max(scores.commands)
        close = [at for at, score in enumerate(scores.commands) if score > highest - CLOSE]
        if len(close) < 2:
            return Step(scores.best, text, scores.lead)
        return self._choose_by_use(text, scores, close)

    def _choose_by_use(self, text: str, scores: Scores, close: Sequence[int]) -> Step:
        """Choose of commands that are equally likely the one that uses most of the request."""
        beyond = bool(self._choices[scores.best].beyond)
        alike = [at for at in close if bool(self._choices[at].beyond) == beyond]
        known = Known((*self._constraint.earlier, *self._constraint.results), self._names)
        used = {
            at: self._filler.fill_by_meaning(self._choices[at], text, known).use for at in alike
        }
        best = max(alike, key=lambda at: (used[at], scores.commands[at]))
        is_decided = len(alike) > 1 and all(used[best] > used[at] for at in alike if at != best)
        return Step(best, text, CLOSE if is_decided else scores.lead, len(alike) < len(close))

    def _compare(self, text: str) -> Scores:
        return self._scorer.compare(text, self._choices, self._names)

    def _fill(self, step: Step) -> Arguments:
        """Fill a command with what was said alone."""
        return self._filler.fill(self._choices[step.at], step.text, Known((), self._names))

    def _split(self, text: str) -> list[str]:
        compared = self._compare(text)
        nearest, likeliest = max(compared.commands), self._choices[compared.best]

        def is_more(before: str, part: str) -> bool:
            one, other = (self._find_value(said, likeliest) for said in (before, part))
            return self._is_value(part, likeliest) and one is not None and one != other

        def is_wish(part: str) -> bool:
            if is_name(part, self._names) or {*find_plain_words(part)} <= LINKS | ADVERBS:
                return False
            scores = self._compare(part)
            best = max(scores.commands)
            if scores.kind in small_talk.QUESTIONS and best < scores.talk:
                return is_question(part) or self._means_file(part)
            return best > scores.talk and best > nearest - SPLIT

        return [self._leave_reason(part) for part in split_wishes(text, is_wish, is_more)]

    def _leave_reason(self, part: str) -> str:
        """`Stop the music, I am on the phone`: leave what is talk behind the wish, and names
        nothing.
        """
        wish, comma, reason = part.partition(", ")
        if not comma or self._has_name(reason, self._choices[self._compare(part).best]):
            return part
        alone, behind = self._compare(wish), self._compare(reason)
        is_talk = behind.talk > max(behind.commands) + TALK_LEAD
        return wish if is_talk and max(alone.commands) > max(self._compare(part).commands) else part

    def _find_step(self, text: str, follows: bool) -> Step | None:
        """Find the command that a part of a request asks for; None where it is talk.

        `follows`: other parts stood before it, and it may refer to what they find."""
        scores = self._compare(text)
        is_named = bool(find_things(text)) or name_things(text, self._names) != text
        if self._find_lead(text, scores, is_named) < 0:
            return None
        step = self.find_best_step(text)
        if follows and not is_named:
            step = self._refer_to_found(step)
        is_far = max(scores.commands) < FAR and bool(self._choices[step.at].examples)
        return None if is_far and not is_named else step

    def _find_lead(self, text: str, scores: Scores, is_named: bool) -> float:
        """Find by how much the best command is likelier than talk."""
        lead = max(scores.commands) - scores.talk
        if not find_things(text):
            lead += NAMED_HERE * is_named
        elif scores.kind in small_talk.ANSWERS:
            lead += NAMED  # where it is a tool that is absent, that may take a file as well
        if not any(choice.examples for choice in self._choices):
            lead += PLAIN  # descriptions are farther from what people say than examples are
        if abs(lead) < DOUBTFUL and self._scorer.is_read(text):
            lead += self._scorer.ask_model(text, self._choices, scores).wish - WISH
        return lead

    def _read_what_is_meant(self, text: str) -> list[Step]:
        """`How much was the rent in March?`: read the file whose name is about that, if one is."""
        reading = [at for at, choice in enumerate(self._choices) if reads_file(choice)]
        scores = self._compare(text)
        if not reading or scores.kind not in small_talk.QUESTIONS:
            return []
        if not self._means_file(text):
            return []
        return [Step(max(reading, key=scores.commands.__getitem__), text, 1.0)]

    def _is_same_wish(self, step: Step, other: Step, text: str) -> bool:
        """Tell whether two parts ask for one call: the same command, of which one part has no
        value, or which stand beside each other with a comma alone between them.
        """
        if step.at != other.at:
            return False
        one, another = (self._find_file(part) for part in (step, other))
        if one and another and one != another:
            return False
        if all(map(self._names_value, (step, other))):
            return False
        has_values = all(self._fill(part).values for part in (step, other))
        return not has_values or is_behind_comma(other, text)

    def _names_value(self, step: Step) -> bool:
        """Tell whether a value of its command is called by its name, or a file by what it means."""
        choice = self._choices[step.at]
        is_meant = reads_file(choice) and self._means_file(step.text)
        return is_meant or self._has_name(step.text, choice)

    def _find_file(self, step: Step) -> str | None:
        """Find the file to read that is meant, said by its name or not."""
        if not reads_file(self._choices[step.at]):
            return None
        names = [name for name in self._names if is_readable(name)]
        return find_meant(self._encoder, step.text, names, LISTED_LEAD)

    def _means_file(self, text: str) -> bool:
        """Tell whether the text, or a word of it, means one of the files clearly more than others:
        `wie viele zitronen stehen auf der einkaufsliste`.
        """
        names = [name for name in self._names if is_readable(name)]
        if find_called(text, names):
            return True
        said = [word for word in find_words(text) if len(word) > LONG_WORD and word not in LINKS]
        return any(find_meant(self._encoder, part, names, MEANT_LEAD) for part in (text, *said))

    def _is_afterthought(self, step: Step, before: Step, text: str) -> bool:
        """Tell whether a part is no wish of its own: its command lacks what it needs, and it stands
        behind a comma, as `s'il te plait`, or asks to see what is read anyway: `open example.org
        and show what's on it`.
        """
        if find_ordinal(step.text) is not None or not self._fill(step).missing:
            return False
        are_readers = all(reads_one(self._choices[other.at]) for other in (step, before))
        is_seen = are_readers and not self._means_file(step.text)
        return is_seen or is_behind_comma(step, text)

    def _has_name(self, text: str, choice: Choice) -> bool:
        """Tell whether something is called by its name: a file, an address, a known value."""
        is_named = bool(find_things(text)) or name_things(text, self._names) != text
        return is_named or find_member(text, choice) is not None

    def _is_value(self, part: str, choice: Choice) -> bool:
        """Tell whether the part of a request is nothing but one more value for the command."""
        if is_name(part, self._names):
            return True
        rest = [word for word in find_plain_words(part) if word not in LINKS | ADVERBS]
        return bool(rest) and self._find_value(" ".join(rest), choice, whole=True) is not None

    def _find_value(self, text: str, choice: Choice, whole: bool = False) -> str | None:
        """Find what is said by its name and the command takes; `whole`: and nothing else."""
        member = find_member(text, choice, whole)
        kinds = {parameter.kind for parameter in list_parameters(choice)}
        if member or "file" not in kinds:
            return member
        is_fit = is_readable if reads_file(choice) else is_file
        return find_called(text, list(filter(is_fit, self._names)), whole)

    def _refer_to_found(self, step: Step) -> Step:
        """Let a part that names nothing, and may refer to what was found, look at that."""
        choice = self._choices[step.at]
        if choice.beyond:
            return self._refer_back(step, CLOSE)
        looks_around = choice.harmless and not needs_value(choice)
        return self._refer_back(step) if looks_around else step

    def _refer_back(self, step: Step, lead: float = REFERRING) -> Step:
        """`And open it`: a command that looks at what was found, where one is nearly as near."""
        scores = self._compare(step.text).commands
        taking = [
            at
            for at, choice in enumerate(self._choices)
            if choice.harmless and not choice.beyond and needs_value(choice)
        ]
        best = max(taking, key=scores.__getitem__, default=step.at)
        return step._replace(at=best) if scores[best] > scores[step.at] - lead else step

    def _fit_to_list(self, steps: list[Step]) -> list[Step]:
        """`The first one` of what has not been listed: list it before, by what lists its kind.

        Behind a list comes what takes one of its entries.
        """
        ordered = next((step for step in steps if find_ordinal(step.text) is not None), None)
        pointing = ordered or self._find_unsaid(steps)
        if pointing is None or not self._points_at_entry(pointing):
            return steps
        return self._fit_step_to_list(steps, steps.index(pointing), is_ordered=bool(ordered))

    def _fit_step_to_list(self, steps: list[Step], place: int, is_ordered: bool) -> list[Step]:
        pointing = steps[place]
        near = self._compare_lists(pointing.at)
        if not near:
            return steps
        best = max(near, key=near.__getitem__)
        if self._found_no_list(place, self._choices[pointing.at]):
            return [*steps[:place], Step(best, pointing.text, 1.0), *steps[place:]]
        before = steps[place - 1]
        if before.at not in near:
            return steps
        scores = self._compare(before.text).commands
        if is_ordered and scores[best] > scores[before.at] - DECISIVE:
            return [*steps[: place - 1], before._replace(at=best), *steps[place:]]
        if near[before.at] < near[best] - UNLIKE:
            pointing = self._refer_back(pointing)
        return [*steps[:place], pointing, *steps[place + 1 :]]

    def _points_at_entry(self, step: Step) -> bool:
        choice = self._choices[step.at]
        needed = {parameter.kind for parameter in list_parameters(choice) if parameter.needed}
        takes_entry = bool(needed & ENTRIES) and not choice.beyond
        return takes_entry and not self._has_name(step.text, choice)

    def _compare_lists(self, at: int) -> dict[int, float]:
        """Compare a command with those that list something."""
        lists = [
            other for other, choice in enumerate(self._choices) if other != at and is_lister(choice)
        ]
        descriptions = [describe_command(self._choices[other]) for other in lists]
        near = self._encoder.closeness(describe_command(self._choices[at]), descriptions)
        return dict(zip(lists, near, strict=True))

    def _found_no_list(self, count: int, choice: Choice) -> bool:
        """Tell whether so many commands were carried out, and none found a list for this one."""
        found = self._constraint.results[:count]
        needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
        if needed == ["file"]:  # lines that were read are no files, but what was searched is meant
            names = self._constraint.names
            found = tuple(text for text in found if not is_text(text) or find_files(text, names))
        return len(self._constraint.results) >= count and not any(map(holds_list, found))

    def _find_unsaid(self, steps: Sequence[Step]) -> Step | None:
        """Find the step behind a list that has no value of its own: `open the one from March`."""
        for before, step in pairwise(steps):
            if is_lister(self._choices[before.at]) and self._fill(step).missing:
                return step
        return None


def is_question(part: str) -> bool:
    """Tell whether it begins as a question does; many are typed without a question mark."""
    return bool({*find_words(part)[:1]} & INTERROGATIVES)


def is_behind_comma(step: Step, text: str) -> bool:
    return text[: text.find(step.text)].rstrip().endswith(",")


def find_member(text: str, choice: Choice, whole: bool = False) -> str | None:
    """Find the value that is known for the command and is said; `whole`: and nothing else."""
    found = (find_called(text, find(), whole) for find in choice.members.values())
    return next(filter(None, found), None)


def is_file(name: str) -> bool:
    return not name.endswith("/")


def find_called(text: str, names: Sequence[str], whole: bool = False) -> str | None:
    match = next(iter(find_named(text, names, frozenset())), None)
    if match is None:
        return None
    is_called = all(map(match.is_part, find_plain_words(text))) if whole else match.is_clear
    return match.name if is_called else None


def holds_list(result: str) -> bool:
    return is_list(result) and bool(find_entries(result))


def needs_value(choice: Choice) -> bool:
    return any(parameter.needed for parameter in list_parameters(choice))


def is_lister(choice: Choice) -> bool:
    """Tell whether it looks at something that need not be named."""
    return choice.harmless and bool(list_parameters(choice)) and not needs_value(choice)


def takes_file(choice: Choice) -> bool:
    """Tell whether it needs one file, and the model is trusted with it."""
    needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
    return not choice.beyond and needed == ["file"]


def reads_one(choice: Choice) -> bool:
    """Tell whether it shows the content of one file or page."""
    needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
    return choice.harmless and not choice.beyond and needed in (["file"], ["url"])


def reads_file(choice: Choice) -> bool:
    """Tell whether it needs one file, and changes nothing."""
    return choice.harmless and takes_file(choice)
