"""Choose the command that a request asks for, or none.

Every command is compared with the request in meaning: its description, its name, and what people
say when they want it; so are examples of talk. Of commands of others, of which nobody has said how
people ask for them, the language model decides where several are nearly as near: for which of them
are the user's very words the likeliest? Beside examples it adds nothing.
"""

import mimetypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.values.numbers import find_numbers
from andy_cli.models.inside.values.parameters import Parameter, list_parameters, summarize_command
from andy_cli.models.inside.values.spans import Match, find_named, find_proper_names
from andy_cli.models.inside.values.templates import (
    NAME_LETTERS,
    find_spoken_words,
    list_spoken_words,
)
from andy_cli.models.inside.values.words import (
    WORD,
    find_stem,
    find_things,
    find_words,
    is_question,
    meaningful_stems,
)
from andy_cli.phrases import load_phrases

Likelihoods = Callable[[Sequence[str], str], Sequence[float]]
"""(prompts, text) -> how likely the model goes on with the text after each (natural log)."""

SHORTLIST_SIZE = 5
MAX_KEPT = 500
"""Texts of which it is kept how near the commands are."""
NEIGHBOURS = 5
CLASS_WEIGHT = 0.1
"""The weight of the linear classifier's score, from 0 to 1, that is added to the cosine."""
TALK_PHRASES = 6
"""Phrases of each kind of talk beside commands of which nobody has said how people ask for them."""
UNCOMPARED = ("beyond", "reason")
"""Kinds of talk that commands of others are not compared with: what is beyond andy may be one of
them, and a reason is left out beside a wish alone."""
OWN_EXAMPLES = 5
"""Examples whose words count too."""
DECISIVE_LEAD = 0.025
"""A lead of one command over all others that the model need not confirm."""
WORDS_WEIGHT = 0.02
FORM_WEIGHT = 0.01
"""Of a number, a name or a member of an enumeration that fits or does not fit."""
MODEL_WEIGHT = 0.002
WISH_WEIGHT = 0.005
"""Of one unit of log-likelihood, beside cosines."""
MAX_TOKENS_PER_WORD = 1.5
"""Tokens a word that a request in a language that the model was taught has at most."""
PROMPT = (
    "A user asks a computer to do something. "
    "Each line gives the action that the computer takes and what the user said.\n"
    'Action: {action}. The user said: "'
)
TALK = "Just chat with the user"
MAX_CHARACTERS = 160
"""Characters of a request that the model is asked about; the rest seldom matters."""
FILE_NAMES = {"audio": "the song", "image": "the image file", "text": "the text file"}
OTHER_FILE = "the document"
PLACES = frozenset({"file", "folder", "url", "mail"})
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
    """Of talk, the nearest."""
    nearness: float = 0.0
    """Of that kind."""
    wish: float = 0.0
    """The model's preference for the words with the best command over those with talk."""
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


@dataclass(frozen=True)
class Profile:
    """The phrases and stems that a command, or a kind of talk, is compared by."""

    phrases: tuple[Phrase, ...]
    stems: frozenset[str] = frozenset()

    @classmethod
    def of(cls, choice: Choice) -> "Profile":
        description = summarize_command(choice)
        name = find_command_name(choice).replace("_", " ")
        hints = ", ".join(parameter.about for parameter in list_parameters(choice))
        detailed = f"{description} ({hints})" if hints else description
        texts = dict.fromkeys((description, name, detailed, *choice.examples[:OWN_EXAMPLES]))
        stems = frozenset().union(*map(meaningful_stems, texts))
        # What describes a command has no values; a file that it speaks of is no name.
        described = tuple(Phrase(text, text) for text in (description, name, detailed))
        return cls((*dict.fromkeys((*described, *map(make_phrase, choice.examples))),), stems)


@dataclass(frozen=True)
class Profiles:
    """All that a request is compared with: the commands, then the kinds of talk."""

    choices: Sequence[Choice]
    commands: tuple[Profile, ...]
    talk: Mapping[str, Profile]
    written: tuple[tuple[str, ...], tuple[str, ...]]
    """The texts, and the same without the names in them."""
    groups: tuple[int, ...]
    """Of each text: which profile it is of."""
    has_examples: bool

    @classmethod
    def of(cls, choices: Sequence[Choice]) -> "Profiles":
        commands = tuple(Profile.of(choice) for choice in choices)
        has_examples = any(choice.examples for choice in choices)
        talk = {
            kind: Profile(tuple(map(make_phrase, said)))
            for kind, said in small_talk.load_examples().items()
        }
        for name, said in find_absent(choices).items():
            talk[name] = Profile(tuple(map(make_phrase, said)))
        profiles = [*commands, *talk.values()]
        phrases = [
            (at, phrase) for at, profile in enumerate(profiles) for phrase in profile.phrases
        ]
        return cls(
            choices,
            commands,
            talk,
            (
                tuple(phrase.text for _, phrase in phrases),
                tuple(phrase.plain for _, phrase in phrases),
            ),
            tuple(at for at, _ in phrases),
            has_examples,
        )


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

    def __init__(
        self, encoder: Encoder, likelihoods: Likelihoods, tokens: Callable[[str], Sequence[int]]
    ) -> None:
        self._encoder = encoder
        self._profiles: Profiles | None = None
        self._compared: dict[tuple[str, Sequence[str]], Scores] = {}
        self._likelihoods = likelihoods
        self._tokens = tokens

    def prepare(self, choices: Sequence[Choice]) -> Profiles:
        """Make ready what requests are compared with; the last is kept."""
        if self._profiles is None or self._profiles.choices != choices:
            self._profiles = Profiles.of(choices)
            self._compared.clear()
            self._encoder.prepare([text for written in self._profiles.written for text in written])
        return self._profiles

    def compare(self, text: str, choices: Sequence[Choice], names: Sequence[str] = ()) -> Scores:
        """Measure how near each command and talk are in meaning, the model not asked.

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
        near, nearer = map(self._encoder.closeness, (text, plain), profiles.written)
        values: list[list[float]] = [[] for _ in range(len(choices) + len(profiles.talk))]
        for group, one, other in zip(profiles.groups, near, nearer, strict=True):
            values[group].append((one + other) / 2)
        scores = [sum_nearest(group) for group in values]
        talk = dict(zip(profiles.talk, scores[len(choices) :], strict=True))
        text_lead = talk["create"] - max(talk.values())
        if not profiles.has_examples:
            described = self._compare_described(text, plain, scores, profiles)
            return described._replace(text_lead=text_lead)
        belongs = self._encoder.classify((text, plain), profiles.written, profiles.groups)
        scores = [
            score + CLASS_WEIGHT * share for score, share in zip(scores, belongs, strict=True)
        ]
        talk = dict(zip(profiles.talk, scores[len(choices) :], strict=True))
        kind = max(talk, key=talk.__getitem__)
        commands = weigh_words(text, plain, scores, profiles)
        return Scores(
            commands, talk[kind], kind, talk[kind], reason=talk["reason"], text_lead=text_lead
        )

    def _compare_described(
        self,
        text: str,
        plain: str,
        scores: Sequence[float],
        profiles: Profiles,
    ) -> Scores:
        """The same for commands of which nobody has said how people ask for them."""
        first = len(profiles.commands)
        nearest = self._encoder.closeness(plain, profiles.written[1])
        # Few words describe such a command: against many of talk it would lose.
        few: dict[int, list[float]] = {}
        for near, group in zip(nearest, profiles.groups, strict=True):
            if group >= first and len(said := few.setdefault(group, [])) < TALK_PHRASES:
                said.append(near)
        kinds = dict(zip(profiles.talk, scores[first:], strict=True))
        for kind in UNCOMPARED:
            few.pop(first + [*kinds].index(kind))
        best = sorted((near for said in few.values() for near in said), reverse=True)[:3]
        kind = max(kinds, key=kinds.__getitem__)
        commands = weigh_words(text, plain, scores, profiles)
        return Scores(commands, sum(best) / len(best), kind, kinds[kind])

    def can_ask(self, text: str) -> bool:
        """Tell whether the model's opinion is worth its time: no examples say how people ask for
        the commands, and it knows the words; those of another language it has to spell.
        """
        if self._profiles is None or self._profiles.has_examples:
            return False
        plain = find_words(name_things(text))
        return len(self._tokens(f" {' '.join(plain)}")) <= MAX_TOKENS_PER_WORD * len(plain)

    def ask_model(self, text: str, choices: Sequence[Choice], scores: Scores) -> Scores:
        """The scores with the model's opinion of the best few."""
        order = sorted(range(len(choices)), key=lambda at: -scores.commands[at])[:SHORTLIST_SIZE]
        actions = [TALK, *(describe_command(choices[at]) for at in order)]
        prompts = [PROMPT.format(action=action) for action in actions]
        talk, *found = self._likelihoods(prompts, text[:MAX_CHARACTERS] + '"')
        commands = [score - 1 for score in scores.commands]
        for at, likelihood in zip(order, found, strict=True):
            commands[at] = scores.commands[at] + MODEL_WEIGHT * (likelihood - talk)
        likeliest = found[order.index(max(order, key=commands.__getitem__))]
        wish = WISH_WEIGHT * (likeliest - talk)
        return scores._replace(commands=commands, wish=wish)


def weigh_words(text: str, plain: str, scores: Sequence[float], profiles: Profiles) -> list[float]:
    """Add to the score of each command what the words and forms of the request say for it."""
    said = {find_stem(word) for word in find_words(plain)}
    asks = is_question(text)
    is_marked = asks and text.rstrip().endswith("?")
    weighed = []
    for score, profile, choice in zip(scores, profiles.commands, profiles.choices, strict=False):
        shared = len(profile.stems & said) / (len(said) or 1)
        # Who asks wants nothing changed. `When this is over play it` is no question, and nobody
        # knows what the commands of others do.
        plays = bool(choice.examples) and not choice.only_looks
        unasked = (asks and bool(choice.beyond)) or (is_marked and plays)
        fit = fit_form(text, plain != text, choice)
        weighed.append(score + WORDS_WEIGHT * shared + fit - unasked)
    return weighed


def fit_form(text: str, is_named: bool, choice: Choice) -> float:
    """Weigh how well what the text holds fits what the command takes: numbers, names, members."""
    taken = list_parameters(choice)
    misfits = count_misplaced_numbers(text, taken) + lacks_address(text, taken)
    said = f" {' '.join(find_words(text))} "
    members = sum(has_said_member(item, said) for item in taken)
    places = [item.needed for item in taken if item.kind in PLACES]
    unplaced = 2 - bool(places) - any(places) if is_named else 0
    unplaced += count_unplaced(text, choice)
    return FORM_WEIGHT * (members - misfits - unplaced)


def count_misplaced_numbers(text: str, taken: Sequence[Parameter]) -> int:
    """Count the numbers that the command needs and the text does not hold, or that are left."""
    count = len(find_numbers(text))
    numeric = [item for item in taken if item.schema.get("type") in ("integer", "number")]
    wanting = max(0, sum(item.needed for item in numeric) - count)
    return wanting + max(0, count - len(numeric))


def lacks_address(text: str, taken: Sequence[Parameter]) -> bool:
    """Tell whether the command needs the address of a page, and the text holds none."""
    needs_address = any(item.needed and item.kind == "url" for item in taken)
    return needs_address and not any(thing.kind == "url" for thing in find_things(text))


def count_unplaced(text: str, choice: Choice) -> int:
    """Count what the text holds and the command cannot take: a day twice; a proper name where
    nobody has said how people ask for the command.
    """
    taken = list_parameters(choice)
    is_day = any(thing.kind == "date" for thing in find_things(text))
    takes_day = any(item.kind == "date" for item in taken)
    takes_name = bool(choice.examples) or any(item.is_wording for item in taken)
    return 2 * (is_day and not takes_day) + (not takes_name and bool(find_proper_names(text)))


def has_said_member(parameter: Parameter, said: str) -> bool:
    """Tell whether a member of its enumeration is among the words, which blanks surround."""
    allowed = parameter.schema.get("enum") or ()
    return any(f" {' '.join(find_words(str(member)))} " in said for member in allowed)


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
    match = next(iter(find_named(text, names, frozenset())), None) if names else None
    if (
        not match
        or not is_called(match)
        or any(thing.kind in ("file", "folder") for thing in found)
    ):
        return text
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
