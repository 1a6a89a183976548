"""Read the parts of a request: of all ways to cut it the likeliest, and what each part asks for."""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.planning.choosing import (
    FILE_NAMES,
    Scores,
    find_command_name,
    is_name,
)
from andy_cli.models.inside.planning.command_kinds import (
    find_entry_kind,
    is_lister,
    needs_value,
    reads_file,
)
from andy_cli.models.inside.planning.cutting import (
    MAX_CUTS,
    Way,
    find_cuts,
    list_ways,
    split_sentences,
)
from andy_cli.models.inside.planning.entry_openers import find_opener
from andy_cli.models.inside.planning.list_fitting import ListFitter
from andy_cli.models.inside.planning.mentions import Mentions, list_unasked_words
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.values.parameters import list_parameters
from andy_cli.models.inside.values.spans import find_titles, pad_words
from andy_cli.models.inside.values.superlatives import find_superlative
from andy_cli.models.inside.values.words import (
    INTERROGATIVES,
    LINKS,
    begins_negated,
    find_plain_words,
    find_question_lead,
    find_stem,
    find_things,
    find_words,
    holds_question,
    is_question,
    negates_any,
)
from andy_cli.phrases import load_phrases

NAMED = 0.04
"""The weight of a file or an address in a request for a command rather than for talk."""
NAMED_HERE = 0.03
"""The weight of something in a request that is there and is called by its name."""
CLOSE_COMMANDS = 0.01
"""Commands nearer to each other than that are told apart by how much of the request they use."""
CLOSE_DESCRIBED = 0.004
"""CLOSE_COMMANDS for commands of which descriptions alone say what they are for."""
DOUBTFUL = 0.04
"""A lead of a command over talk, or of talk over it, that is doubtful."""
EXAMPLE_LEAD = 0.01
"""By so much nearer to its command than to talk is a wish that examples say how people ask for."""
MIN_DECLINED = 0.97
"""Nearness to a command, from which it is said of it that the model is too small for it."""
REFUSED_LEAD = 0.025
"""By so much nearer than any command, and than a reason, is a wish that cannot be fulfilled."""
MAX_LEAD = 0.1
"""A larger lead of a command over the others says no more for a way to cut."""
CERTAIN_LEAD = 0.05
"""By so much nearer than talk is a command that no line of a file was ever a clearer answer than:
the lines are not read."""
LEANING_LEAD = 0.05
"""By so much less is a command nearer to a question that may go on with what a file answered."""
CLEAR_LOOKUP = 0.035
"""By so much nearer to a search of the web than to any other command are words that ask for one."""
WISHED = 0.885
"""Nearness of what is a wish that cannot be fulfilled: of 112 that were 3 are farther."""
UNASKED = 0.02
"""The doubt whether what has not the form of a question asks for something."""
COMMENT = 0.08
"""The doubt where something was answered just before: `he's getting fat haha`."""
NAMED_ALONE, MAX_NAME = 0.05, 6
"""The doubt of what names a thing in few words and nothing that is to be done: `karl's phone`."""
WISHED_FOR = 0.025
"""The doubt of a question that is clearly nearest to a wish that cannot be fulfilled."""


SUBORDINATORS = frozenset({"que", "che"})
"""Words that a clause begins with in Spanish and Italian, and a question too."""


class Part(NamedTuple):
    """A part of a request."""

    text: str
    label: str
    """A `command`, one more `value` for the command before, an `opener` of what that
    finds, a `reading` of the file that it is about, a wish that is `refused`, a `question`, one
    that is `answered` by another part, or `talk`.
    """
    step: Step | None = None


def is_clear_wish(scores: Scores) -> bool:
    """Tell whether it is sure that a command is asked for: `and lost track` asks for none."""
    return max(scores.commands) > MIN_DECLINED


class PartReader:
    """Reads the parts of one request."""

    def __init__(self, request: PlannedRequest, mentions: Mentions, lists: ListFitter) -> None:
        self._request = request
        self._mentions = mentions
        self._lists = lists

    def read(self, text: str) -> list[Part]:
        first, *others = self.choose_parts(text)
        return self._read_parts([first, *filter(self._may_ask_for, others)], asks=True)

    def _may_ask_for(self, text: str) -> bool:
        """Tell whether a part may be more than a clause that gives a reason: `que llaman a la
        puerta`, which begins as a question does.
        """
        scores = self._request.compare(text)
        is_clause = set(find_words(text)[:1]) <= SUBORDINATORS and not text.endswith("?")
        return not is_clause or max(scores.commands) > scores.talk

    def choose_parts(self, text: str) -> Sequence[str]:
        """Choose the likeliest of all ways to cut the text; many sentences one by one."""
        sentences = split_sentences(text)
        if len(sentences) > 1 and len(find_cuts(text)) > MAX_CUTS:
            return [part for sentence in sentences for part in self.choose_parts(sentence)]
        titles = find_titles(text, self._request.names)
        ways = [way for way in list_ways(text) if keeps_whole(way, titles)]
        if len(ways) < 2:
            return [text]
        weights = load_weights("known" if self._request.has_examples else "described")
        whole = self._find_nearness(text)

        def weigh(way: Way) -> float:
            measured = self.measure(way, whole)
            return sum(weights.get(name, 0.0) * value for name, value in measured.items())

        return max(ways, key=weigh).parts

    def _find_nearness(self, text: str) -> float:
        """Find how near a text is to what it is nearest to, a command or talk."""
        scores = self._request.compare(text)
        return max(*scores.commands, scores.talk)

    def measure(self, way: Way, whole: float) -> Mapping[str, float]:
        """Measure what says for or against a way to cut the request: where it is cut, what each
        part is, how much nearer to it than the `whole` is to what that is nearest to, and how many
        values the parts name.
        """
        if not self._request.has_examples:
            return self._measure_described(way)
        found: Counter[str] = Counter(f"cut at {kind}" for kind in way.cuts)
        values: list[tuple[int, str | None]] = []
        for part in self._read_parts(way.parts, asks=False):
            found[part.label] += 1
            found.update(self._measure_part(part, whole))
            if part.step and part.label != "opener":
                values.append((part.step.at, self._find_value(part)))
        found["values"] = len({value for _, value in values if value})
        found["the same again"] = len(values) - len(set(values))
        return found

    def _measure_described(self, way: Way) -> Mapping[str, float]:
        """Measure a way by commands of which nobody has said how people ask for them."""
        found = defaultdict[str, float](float, Counter(f"cut at {kind}" for kind in way.cuts))
        chosen = []
        for part in self._read_parts(way.parts, asks=False):
            is_command = part.step is not None
            found["command" if is_command else "talk"] += 1
            if len(find_plain_words(part.text)) < 2:
                found["one word that is a command" if is_command else "one word"] += 1
            if part.step:
                chosen.append(part.step.at)
                found["lead over others"] += min(part.step.lead, MAX_LEAD)
        found["the same again"] = len(chosen) - len(set(chosen))
        return found

    def _measure_part(self, part: Part, whole: float) -> Mapping[str, float]:
        scores = self._request.compare(part.text)
        best = max(scores.commands)
        words = find_plain_words(part.text)
        is_talk = part.step is None
        label = "command" if part.label == "command" else "other"
        kind = "talk" if is_talk else label
        measured = {f"nearness of {kind}": max(best, scores.talk) - whole}
        if kind != "other":
            measured[f"lead of {kind}"] = scores.talk - best if is_talk else best - scores.talk
        if len(words) < 2 and not is_name(part.text, self._request.names):
            measured["one word that is a command" if kind == "command" else "one word"] = 1.0
        return measured

    def _find_value(self, part: Part) -> str | None:
        assert part.step
        choice = self._request.choices[part.step.at]
        named = self._mentions.find_value(part.text, choice)
        return named or self._mentions.find_file_of(part.step)

    def _read_parts(self, texts: Sequence[str], asks: bool) -> list[Part]:
        """Read texts as the parts of one request; `asks`: what is doubtful is weighed too."""
        parts: list[Part] = []
        is_alone = len(texts) == 1
        for text in texts:
            if not is_alone and begins_negated(text):
                parts.append(Part(text, "talk"))
            else:
                parts.append(self._read_part(text, parts, is_alone, asks))
        return parts

    def _read_part(self, text: str, others: Sequence[Part], is_alone: bool, asks: bool) -> Part:
        """Read a part that stands after others."""
        before = next((part.step for part in reversed(others) if part.step), None)
        if before and (part := self._read_addition(text, before)):
            return part
        if lookup := self._find_lookup(text):
            return Part(text, "command", lookup)
        step = self.find_only_step(text, asks) if is_alone else self.find_step(text, asks)
        if step:
            return Part(text, "command", step)
        return Part(text, self._find_talk(text))

    def _find_lookup(self, text: str) -> Step | None:
        """`Google how bees fly`: search the web where the words before a question ask for that,
        whatever the question is about, unless a file or an address is written there.
        """
        lead = "" if find_things(text) else find_question_lead(text)
        scores = self._request.compare(lead) if lead else None
        if scores is None or scores.lead < CLEAR_LOOKUP or max(scores.commands) < scores.talk:
            return None
        finds_pages = find_entry_kind(self._request.choices[scores.best]) == "url"
        is_lookup = finds_pages and self._request.has_examples
        return Step(scores.best, text, scores.lead) if is_lookup else None

    def find_only_step(self, text: str, asks: bool = True) -> Step | None:
        """Find the command that a whole request asks for, or what answers it more clearly."""
        is_forbidden = self._request.has_examples and begins_negated(text)
        if is_forbidden and not self._mentions.names_recording(text):
            return None  # a song may be called `Don't stop me now`
        step = self.find_step(text, asks)
        return step and (self.find_clearer_answer(text) or step)

    def _read_addition(self, text: str, before: Step) -> Part | None:
        """Read what is nothing by itself: one more value, or a word on what was found."""
        if self._mentions.is_value(text, self._request.choices[before.at]):
            return Part(text, "value", before._replace(text=text))
        opened = find_opener(self._request, before, text)
        is_played = self._mentions.names_recording(text) and not is_asking(text)
        return Part(text, "opener", opened) if opened and not is_played else None

    def _find_talk(self, text: str) -> str:
        """Find which talk it is: a wish that cannot be fulfilled, a question, or nothing else."""
        scores = self._request.compare(text)
        is_clear = max(scores.talk, *scores.commands) > scores.reason + REFUSED_LEAD
        if self._request.has_examples and small_talk.is_refused(scores.kind):
            if is_clear:
                return "refused"
            return "question" if holds_question(text) else "talk"
        return "question" if scores.kind in small_talk.QUESTIONS else "talk"

    def find_step(self, text: str, asks: bool) -> Step | None:
        """Find the command that a part of a request asks for; None where it is talk. `asks`: the
        model too where it is doubtful.
        """
        scores = self._request.compare(text)
        is_named = self._mentions.is_meant(text, self._request.choices[scores.best])
        lead = self._find_lead(text, scores, is_named)
        if asks and self._request.has_examples and is_doubtful(lead, text):
            lead -= EXAMPLE_LEAD
        if lead < 0:
            return None
        step = self.find_best_step(text) if asks else Step(scores.best, text, scores.lead)
        return self._ask_of_entry(step)

    def _ask_of_entry(self, step: Step) -> Step:
        """`Wer singt Volare?`: what is asked of one of the songs is not told by a command that
        takes none, but by their list; `is Volare playing?` is.
        """
        choice, text = self._request.choices[step.at], step.text
        tells_of_one = self._mentions.names_recording(text) or find_superlative(text) is not None
        name = find_command_name(choice).replace("_", " ")
        own_stems = set(map(find_stem, find_words(name)))
        stems = set(map(find_stem, find_words(text)))
        asks_what = own_stems.isdisjoint(stems) and not INTERROGATIVES.isdisjoint(find_words(text))
        if choice.beyond or list_parameters(choice) or not (tells_of_one and asks_what):
            return step
        listing = self.find_best_of(FILE_NAMES["audio"], is_lister)
        return listing._replace(text=text, questions=(text,)) if listing else step

    def _is_turned_round(self, text: str, best: int) -> bool:
        """`Do not cancel it`: tell whether the very word that a command of others is called by is
        turned round; `don't let him in` may well be a wish for it.
        """
        name = find_command_name(self._request.choices[best]).replace("_", " ")
        stems = set(map(find_stem, find_words(name)))
        return negates_any(text, stems)

    def _find_lead(self, text: str, scores: Scores, is_named: bool) -> float:
        """Find by how much the best command is likelier than talk."""
        lead = max(scores.commands) - scores.talk
        if not self._request.has_examples:
            return -1.0 if self._is_turned_round(text, scores.best) else lead
        if not find_things(text):
            # Nobody plays a song by asking who wrote it.
            is_wish = self._request.choices[scores.best].only_looks or not is_question(text)
            if is_named and is_wish and scores.kind in small_talk.ANSWERS:
                lead += NAMED_HERE
        elif not small_talk.is_refused(scores.kind):
            lead += NAMED  # what is wished for may take a file, or a time, as well
        return lead

    def find_best_step(self, text: str) -> Step:
        """Find the command that is likeliest, whether or not one is meant."""
        scores = self._request.compare(text)
        highest = max(scores.commands)
        near = CLOSE_COMMANDS if self._request.has_examples else CLOSE_DESCRIBED
        close = [at for at, score in enumerate(scores.commands) if score > highest - near]
        if len(close) < 2:
            return Step(scores.best, text, scores.lead)
        return self._choose_by_use(text, scores, close)

    def _choose_by_use(self, text: str, scores: Scores, close: Sequence[int]) -> Step:
        """Choose of commands that are equally likely the one that uses most of the request."""
        alike = self._list_alike(text, scores.best, close)
        filled = (self._request.fill_by_meaning(Step(at, text, 1.0)) for at in alike)
        used = {at: found.use for at, found in zip(alike, filled, strict=True)}
        best = max(alike, key=lambda at: (used[at], scores.commands[at]))
        is_decided = len(alike) > 1 and all(at == best or used[best] > used[at] for at in alike)
        return Step(
            best, text, CLOSE_COMMANDS if is_decided else scores.lead, len(alike) < len(close)
        )

    def _list_alike(self, text: str, best: int, close: Sequence[int]) -> Sequence[int]:
        """List those that are beyond the model, as the best is, or those that are not. Beside a
        file that is not there what would read it is no better than what would write it.
        """
        beyond = [at for at in close if self._request.choices[at].beyond]
        trusted = [at for at in close if at not in beyond]
        if best in beyond or (beyond and self._reads_nothing(best, text)):
            return beyond
        return trusted

    def _reads_nothing(self, at: int, text: str) -> bool:
        """Tell whether a command would read a file that is named and not there."""
        found = self._request.fill(Step(at, text, 1.0)).values.values()
        is_read = names_file(text) and reads_file(self._request.choices[at])
        return is_read and set(found).isdisjoint(self._request.names)

    def find_answer(self, text: str, lead: float = 0.0) -> Step | None:
        """`What colour did I want for the fence?`: read the file that a question of the user's own
        things is answered in, if one is there; more clearly so than by the `lead` of a command.
        """
        reading = self.find_reading_command(text)
        doubt = None if begins_negated(text) else self._find_doubt(text)
        if reading is None or doubt is None:
            return None
        # What a question of knowledge, or a command, shares with a line stands there by chance.
        is_other = lead > 0 or self._request.compare(text).kind == "knowledge"
        found = self._mentions.find_answering_file(text, lead + doubt, counts_words=not is_other)
        if found is None:
            return None
        if names_file(text):
            return Step(reading, text, 1.0, questions=(text,))
        return Step(reading, f"`{found.name}`", 1.0, is_guess=not found.is_sure, questions=(text,))

    def _find_doubt(self, text: str) -> float | None:
        """Find by how much more clearly a text has to be answered by a file as it may be no
        question of the user's own things; None where it is none.

        A question that is nearest to other talk is as doubtful as it is nearer to that than to a
        command.
        """
        scores = self._request.compare(text)
        lead = max(0.0, scores.talk - max(scores.commands))
        if scores.kind == "own":
            return 0.0
        asks = holds_question(text) or is_asking(text)
        is_comment = self._request.answered is not None and not asks
        if scores.kind in ("knowledge", "reason") and is_comment:
            return COMMENT
        if scores.kind == "knowledge":
            return lead
        if small_talk.is_refused(scores.kind):
            return self._doubt_wish(text, scores)
        if scores.kind == "reason":
            return UNASKED
        return max(UNASKED, lead) if asks else None

    def _doubt_wish(self, text: str, scores: Scores) -> float | None:
        """Find the same for what is nearest to a wish that cannot be fulfilled."""
        is_wish = scores.talk > max(*scores.commands, scores.reason) + REFUSED_LEAD
        if is_question(text) or (holds_question(text) and not is_wish):
            return 0.0
        if names_file(text):
            return None
        if holds_question(text) or is_asking(text):
            return WISHED_FOR
        if scores.talk < WISHED and not is_wish:
            return UNASKED
        return NAMED_ALONE if names_thing(text) else None

    def find_clearer_answer(self, text: str) -> Step | None:
        """Find what answers a question more clearly than the command for it is one."""
        scores = self._request.compare(text)
        if not self._may_ask(text, scores) or self._find_lookup(text):
            return None
        if self._tells_of_file(text, scores.best):
            return self.find_answer(text)
        lead = max(scores.commands) - scores.talk
        if self._may_lean(scores.best):
            lead -= LEANING_LEAD
        elif lead >= CERTAIN_LEAD:
            return None
        return self.find_answer(text, max(0.0, lead))

    def _may_lean(self, best: int) -> bool:
        """Tell whether a question that its command takes nothing of may go on with what a file
        answered before: `which film is it`, `wie ist die markiert`.
        """
        return self._request.answered is not None and not list_parameters(
            self._request.choices[best]
        )

    def _may_ask(self, text: str, scores: Scores) -> bool:
        """Tell whether a text may be a question of what a file says, although a command is near."""
        choice = self._request.choices[scores.best]
        return (
            is_asking(text)
            or (scores.kind == "own" and not (choice.beyond and is_clear_wish(scores)))
            or (scores.kind == "reason" and choice.only_looks)
            or (find_entry_kind(choice) == "url" and holds_question(text))
        )

    def _tells_of_file(self, text: str, best: int) -> bool:
        """Tell whether a question has words of a file that its command takes for nothing: what
        time it is does not depend on `Colbert`."""
        choice = self._request.choices[best]
        if not choice.only_looks or needs_value(choice) or reads_file(choice):
            return False
        values = self._request.fill_by_meaning(Step(best, text, 1.0)).values.values()
        return self._mentions.has_telling_word(text, values)

    def searches_idly(self, step: Step, *kinds: str) -> bool:
        """Tell whether a step looks for nothing but words that people ask with, in files or, by the
        kind `url`, on the web.
        """
        searched = self.list_searched(step, *kinds)
        return bool(searched) and not list_unasked_words(" ".join(searched))

    def list_searched(self, step: Step, *kinds: str) -> Sequence[str]:
        """List what a step looks for; nothing where it does something else."""
        choice = self._request.choices[step.at]
        if find_entry_kind(choice) not in kinds:
            return []
        found = self._request.fill_by_meaning(step).values
        return [
            found[parameter.name]
            for parameter in list_parameters(choice)
            if parameter.name in found and parameter.kind != "folder"
        ]

    def find_best_of(self, text: str, is_kind: Callable[[Choice], bool]) -> Step | None:
        """Find the command of a kind that a text is nearest to."""
        choices, scores = self._request.choices, self._request.compare(text).commands
        alike = [at for at, choice in enumerate(choices) if is_kind(choice) and not choice.beyond]
        best = max(alike, key=scores.__getitem__, default=None)
        return None if best is None else Step(best, text, 1.0)

    def find_reading_command(self, text: str) -> int | None:
        """Find the command that reads a file, of several the nearest to the text."""
        reading = [at for at, choice in enumerate(self._request.choices) if reads_file(choice)]
        return max(reading, key=self._request.compare(text).commands.__getitem__, default=None)


def keeps_whole(way: Way, titles: Iterable[str]) -> bool:
    """Tell whether each title that is said stands in one part."""
    return all(any(f" {title} " in pad_words(part) for part in way.parts) for title in titles)


def is_doubtful(lead: float, text: str) -> bool:
    """Tell whether a lead of a command is to be weighed: not of one that names its file."""
    return abs(lead) < DOUBTFUL and not (lead > 0 and names_file(text))


def names_file(text: str) -> bool:
    return any(thing.kind == "file" for thing in find_things(text))


def is_asking(text: str) -> bool:
    return is_question(text) or text.endswith("?")


def names_thing(text: str) -> bool:
    """Tell whether a text is a few words that begin as no wish does: `email of priya`."""
    words = find_plain_words(text)
    return 0 < len(words) <= MAX_NAME and words[0] not in list_wish_openers()


@cache
def list_wish_openers() -> frozenset[str]:
    """List the words that wishes begin with, be they fulfilled or not."""
    talk = small_talk.load_examples()
    refused = (talk[kind] for kind in talk if small_talk.is_refused(kind))
    phrases = chain.from_iterable([*load_phrases().values(), *refused])
    return frozenset(find_plain_words(phrase)[0] for phrase in phrases) - LINKS


@cache
def load_weights(kind: str) -> Mapping[str, float]:
    """Load how much each measure says for a way to cut (.ci/part_weights.py makes them): of
    commands of which it is `known` how people ask for them, or which are only `described`.
    """
    file = Path(__file__).with_name("parts.toml")
    weights: Mapping[str, Mapping[str, float]] = tomllib.loads(file.read_text(encoding="utf-8"))
    return weights[kind]
