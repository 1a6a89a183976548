"""Choose the command that a request asks for, or none.

Every command is compared with the request in meaning: its description, its name, and what people
say when they want it; so are examples of talk. Commands of others, of which nobody has said how
people ask for them, are rated by weights that were learned from requests for other commands.
"""

import math
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning.form_fit import measure_form
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.values.parameters import list_parameters, summarize_command
from andy_cli.models.inside.values.spans import Match, find_named
from andy_cli.models.inside.values.templates import (
    NAME_LETTERS,
    find_spoken_words,
    list_spoken_words,
)
from andy_cli.models.inside.values.words import (
    WORD,
    find_things,
    is_question,
)
from andy_cli.phrases import load_phrases

MAX_KEPT = 500
"""Texts of which it is kept how near the commands are."""
NEIGHBOURS = 5
KIND_WEIGHT, LEAST_LIKELY = 0.02, -5.0
"""The weight of how likely a kind is, as a natural logarithm, beside the cosine: 0.1 at most. What
is less likely tells no more."""
SHARE_WEIGHT = 0.1
"""The weight of the likelihood itself, where the question is if a kind of talk is meant at all."""
NONE_WEIGHT, NONE_ODDS = 1.5, -0.5
"""Of log-odds that no command of others is asked for, which were learned from fewer such requests
than people write: their weight, and what is added."""
LOG_ODDS = 60.0
"""Log-odds that tell as much as a cosine of 1 does."""
SPOKEN_LEAD = 0.02
"""The least lead of a command that is asked for in just the words of an example, as a cosine."""
FILE_NAMES = {"audio": "the song", "image": "the image file", "text": "the text file"}
OTHER_FILE = "the document"
KIND_NAMES = {
    "url": "the web address",
    "mail": "the email address",
    "folder": "the folder",
    "phone": "the phone number",
    "sum": "the sum",
}


class Scores(NamedTuple):
    commands: list[float]
    talk: float
    kind: str = ""
    """The nearest kind of talk."""
    nearness: float = 0.0
    """The nearness of that kind."""
    reason: float = 0.0
    """The nearness of what is said beside a wish."""
    text_lead: float = -1.0
    """By how much a wish for a text of the model's own is nearer than the nearest talk; 0 at most,
    as it is talk."""

    @property
    def best(self) -> int:
        return max(range(len(self.commands)), key=self.commands.__getitem__)

    @property
    def lead(self) -> float:
        """Of the best command over the second."""
        first, *rest = sorted(self.commands, reverse=True)
        return first - rest[0] if rest else 1.0


class Phrase(NamedTuple):
    """Something that a request is compared with, and the same without the names in it."""

    text: str
    plain: str


@cache
def make_phrase(written: str) -> Phrase:
    """The values of what people say stand in brackets: `open [plan.txt]`."""
    text = written.replace("[", "").replace("]", "")
    return Phrase(text, name_things(text))


def list_phrases(choice: Choice) -> tuple[Phrase, ...]:
    """List the phrases that a command is compared by."""
    description = summarize_command(choice)
    name = find_command_name(choice).replace("_", " ")
    hints = ", ".join(parameter.about for parameter in list_parameters(choice))
    detailed = f"{description} ({hints})" if hints else description
    # What describes a command has no values; a file that it speaks of is no name.
    phrases = [Phrase(text, text) for text in (description, name, detailed)]
    phrases += [make_phrase(example) for example in choice.examples]
    return tuple(dict.fromkeys(phrases))


@dataclass(frozen=True)
class Profiles:
    """All that a request is compared with: the commands, then the kinds of talk."""

    choices: Sequence[Choice]
    commands: tuple[tuple[Phrase, ...], ...]
    talk: Mapping[str, tuple[Phrase, ...]]
    written: tuple[tuple[str, ...], tuple[str, ...]]
    """The texts, and the same without the names in them."""
    groups: tuple[int, ...]
    """Of each text: which profile it is of."""
    has_examples: bool
    spoken: Mapping[str, int]
    """Words in which people want a command -> the place of that command."""

    @classmethod
    def of(cls, choices: Sequence[Choice]) -> "Profiles":
        commands = tuple(list_phrases(choice) for choice in choices)
        has_examples = any(choice.examples for choice in choices)
        said = {**small_talk.load_examples(), **find_absent(choices)}
        talk = {kind: tuple(map(make_phrase, spoken)) for kind, spoken in said.items()}
        texts: list[str] = []
        plain_texts: list[str] = []
        groups: list[int] = []
        for at, profile in enumerate([*commands, *talk.values()]):
            texts += [phrase.text for phrase in profile]
            plain_texts += [phrase.plain for phrase in profile]
            groups += [at] * len(profile)
        written = (tuple(texts), tuple(plain_texts))
        spoken = {
            strip_end(phrase.text): at for at, profile in enumerate(commands) for phrase in profile
        }
        return cls(choices, commands, talk, written, tuple(groups), has_examples, spoken)

    @cached_property
    def refused(self) -> frozenset[str]:
        """The kinds that are not carried out: commands that the model is not trusted with, and
        talk.
        """
        beyond = (find_command_name(choice) for choice in self.choices if choice.beyond)
        return frozenset([*beyond, *filter(small_talk.is_refused, self.talk)])


def find_absent(choices: Sequence[Choice]) -> Mapping[str, Sequence[str]]:
    """Find what people say who want a tool that ships with andy and cannot be used now."""
    if not any(choice.examples for choice in choices):
        return {}  # other tools than andy's
    there = {find_command_name(choice) for choice in choices}
    return {name: said for name, said in load_phrases().items() if name not in there}


def find_command_name(choice: Choice) -> str:
    """`play_mp3` of `DEAR ANDYBOT, PLAY_MP3`."""
    return choice.text.rpartition(",")[2].strip().lower()


class Scorer:
    """Scores requests against the same commands again and again."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._profiles: Profiles | None = None
        self._compared: dict[tuple[str, Sequence[str]], Scores] = {}

    def prepare(self, choices: Sequence[Choice]) -> Profiles:
        """Make ready what requests are compared with; the last is kept."""
        if self._profiles is None or self._profiles.choices != choices:
            self._profiles = Profiles.of(choices)
            self._compared.clear()
            self._encoder.prepare([text for written in self._profiles.written for text in written])
            if not self._profiles.has_examples:
                described = [phrase.text for own in self._profiles.commands for phrase in own]
                self._encoder.prepare_commands(described)
        return self._profiles

    def compare(self, text: str, choices: Sequence[Choice], names: Sequence[str] = ()) -> Scores:
        """Measure how near each command and talk are in meaning.

        `names` are those of the files and folders that are there. A plan compares the same parts
        again and again, so what was found is kept.
        """
        profiles = self.prepare(choices)
        key = (text, tuple(names))
        if key not in self._compared:
            if len(self._compared) >= MAX_KEPT:
                self._compared.clear()
            self._compared[key] = self._compare(text, choices, names, profiles)
        return self._compared[key]

    def _compare(
        self, text: str, choices: Sequence[Choice], names: Sequence[str], profiles: Profiles
    ) -> Scores:
        plain = name_things(text, names)
        texts, plain_texts = profiles.written
        nearness = self._encoder.closeness(text, texts)
        plain_nearness = self._encoder.closeness(plain, plain_texts)
        values: list[list[float]] = [[] for _ in range(len(choices) + len(profiles.talk))]
        for group, near, plain_near in zip(profiles.groups, nearness, plain_nearness, strict=True):
            values[group].append((near + plain_near) / 2)
        scores = [sum_nearest(group) for group in values]
        talk = dict(zip(profiles.talk, scores[len(choices) :], strict=True))
        text_lead = talk["create"] - max(talk.values())
        # Tools of strangers bring no examples, from which the odds of a kind could be learned.
        if not profiles.has_examples:
            kind = max(talk, key=talk.__getitem__)
            commands, none = self._rate_described(text, plain, profiles)
            none = NONE_WEIGHT * none + NONE_ODDS / LOG_ODDS
            return Scores(commands, none, kind, talk[kind], text_lead=text_lead)
        likely = self._rate_kinds((text, plain), profiles)
        talk_nearness = talk
        scores = [score + weigh_kind(odds) for score, odds in zip(scores, likely, strict=True)]
        talk = dict(zip(profiles.talk, scores[len(choices) :], strict=True))
        kind = max(talk, key=talk.__getitem__)
        commands = weigh_form(text, plain != text, scores, choices)
        if (meant := profiles.spoken.get(strip_end(text))) is not None:
            # `che tempo fa` asks for the weather, however near it is to a question of the time.
            others = [*commands[:meant], *commands[meant + 1 :], *talk.values()]
            commands[meant] = max(commands[meant], max(others) + SPOKEN_LEAD)
        share = math.exp(likely[len(choices) + list(talk).index(kind)])
        return Scores(
            commands,
            talk[kind],
            kind,
            talk_nearness[kind] + SHARE_WEIGHT * share,
            talk["reason"],
            text_lead,
        )

    def _rate_kinds(self, written: Sequence[str], profiles: Profiles) -> Sequence[float]:
        """Rate how likely a text is of each kind by what was learned: natural logarithms."""
        likely = {**self._encoder.rate_kinds(written)}
        # What nothing was learned of, as a tool of the user's own, is not held back for it.
        unknown = max(likely.values(), default=LEAST_LIKELY)
        refused = profiles.refused & likely.keys()
        if refused:
            # Which of them it is matters less than that it is one: `put the times into plan.txt`.
            shares = [math.exp(likely[kind]) for kind in refused]
            more = math.log(sum(shares) / max(shares))
            likely |= {kind: likely[kind] + more for kind in refused}
        kinds = [*map(find_command_name, profiles.choices), *profiles.talk]
        return [likely.get(kind, unknown) for kind in kinds]

    def _rate_described(
        self, text: str, plain: str, profiles: Profiles
    ) -> tuple[list[float], float]:
        """Rate commands of which nobody has said how people ask for them, and that none is wanted,
        on the scale of cosines.
        """
        commands = [[phrase.text for phrase in profile] for profile in profiles.commands]
        fits = [measure_form(text, plain != text, choice) for choice in profiles.choices]
        *rated, none = self._encoder.rate_commands((text, plain), commands, fits)
        return [rating / LOG_ODDS for rating in rated], none / LOG_ODDS


def strip_end(text: str) -> str:
    """Strip what says no more: capitals, and the signs at the end."""
    return text.casefold().strip(" .?!")


def weigh_kind(likely: float) -> float:
    """Weigh how likely a kind is beside a cosine."""
    return KIND_WEIGHT * max(0.0, likely - LEAST_LIKELY)


def weigh_form(
    text: str, is_named: bool, scores: Sequence[float], choices: Sequence[Choice]
) -> list[float]:
    """Add to the score of each command what the form of the request says for it."""
    asks = is_question(text)
    is_marked = asks and text.rstrip().endswith("?")
    weighed = []
    for score, choice in zip(scores, choices, strict=False):
        # Who asks wants nothing changed. `When this is over play it` is no question, and nobody
        # knows what the commands of others do.
        plays = bool(choice.examples) and not choice.only_looks
        unasked = (asks and bool(choice.beyond)) or (is_marked and plays)
        fit = measure_form(text, is_named, choice).weigh_known(bool(choice.examples))
        weighed.append(score + fit - unasked)
    return weighed


def sum_nearest(values: Sequence[float]) -> float:
    """The nearest text counts half, the mean of the nearest few the other half."""
    nearest = sorted(values, reverse=True)[:NEIGHBOURS]
    return (nearest[0] + sum(nearest) / len(nearest)) / 2


def describe_command(choice: Choice) -> str:
    """The command's description, or its name in words."""
    return summarize_command(choice) or find_command_name(choice).replace("_", " ")


def name_things(text: str, names: Sequence[str] = ()) -> str:
    """Write `the text file` in place of `notes.txt`: its name says nothing of the wish.

    A file or folder that is there needs no ending to be known.
    """
    found = find_things(text)
    for thing in reversed(found):
        kind_name = find_kind_name(thing.kind, thing.text)
        text = f"{text[: thing.start]}{kind_name}{text[thing.end :]}"
    if any(thing.kind in ("file", "folder") for thing in found):
        return text
    matches = find_named(text, names, frozenset()) if names else ()
    if not matches or not is_called(matches[0]):
        return text
    match = matches[0]
    kind = "folder" if match.name.endswith("/") else "file"
    spans = [span.span() for span in WORD.finditer(text) if match.is_part(span[0])]
    start, end = spans[0][0], spans[-1][1]
    return f"{text[:start]}{find_kind_name(kind, match.name)}{text[end:]}"


def is_called(match: Match) -> bool:
    """Tell whether a file or folder is called by its name, or by a word of it that nobody says who
    asks for something: `some celentano`.
    """
    said = {word for word in match.words if len(word) >= NAME_LETTERS}
    return match.is_clear or not said <= list_said_words()


@cache
def list_said_words() -> frozenset[str]:
    """List the words that people say who want a tool, or talk."""
    talk = small_talk.load_examples().values()
    return list_spoken_words() | find_spoken_words(said for kind in talk for said in kind)


def is_name(text: str, names: Sequence[str]) -> bool:
    """Tell whether the text is nothing but what something is called."""
    plain = name_things(text, names)
    return plain != text and plain in {*FILE_NAMES.values(), *KIND_NAMES.values(), OTHER_FILE}


def find_kind_name(kind: str, text: str) -> str:
    if kind == "file":
        form = (mimetypes.guess_type(text)[0] or "text").partition("/")[0]
        return FILE_NAMES.get(form, OTHER_FILE)
    return KIND_NAMES.get(kind, text)
