"""Pick the words of a request that are the value of a command, where no form shows it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.values.numbers import find_numbers
from andy_cli.models.inside.values.parameters import Parameter, list_parameters
from andy_cli.models.inside.values.spans import Span, find_phrases, find_proper_names, overlaps
from andy_cli.models.inside.values.templates import (
    ALIKE,
    GAP,
    Templates,
    find_templates,
    list_wish_openers,
)
from andy_cli.models.inside.values.words import (
    LEADS,
    find_plain_words,
    find_stem,
    find_things,
    find_words,
    meaningful_stems,
)

Pick = Callable[[str, str, Sequence[str]], str]
"""(request, what is asked for, pieces of the request) -> the piece that the model takes."""

MEANT = 0.003
"""By so much a request comes nearer to its command when a value is taken out of it."""
ELSEWHERE = frozenset({"url", "mail", "date", "time"})
"""Kinds of things that no other parameter takes than one for that kind."""
MAX_WORDS = 30
"""Of a part of a request whose values are found by what it is without them: each run of its words
is left out once, and what that costs grows with the square of them."""
STREET = re.compile(
    r"\b\d{1,4}[a-z]?(?: [A-Z\u00c0-\u00de][\w'\u2019-]+){1,4}"
    r"|(?:\b[A-Z\u00c0-\u00de][\w'\u2019-]+ ){1,3}\d{1,4}[a-z]?\b"
)
"""A house number beside the name of its street."""
NUMBER_BEHIND = re.compile(r" \d{1,3}[a-z]?$")
"""Of a name: `Orchard 2`."""
ARTICLES = frozenset("the a an my der die das el la los las le les il i lo l".split())


class PhrasePicker:
    """Picks values of one command from one request; no piece is taken twice."""

    def __init__(
        self, encoder: Encoder, pick: Pick, choice: Choice, text: str, is_chosen: bool
    ) -> None:
        """`is_chosen`: it is the command that is meant, and takes what it needs."""
        self.taken: list[range] = []
        self._is_chosen = is_chosen
        self._encoder = encoder
        self._ask_model = pick
        self._text = text
        self._examples = choice.examples
        parameters = list_parameters(choice)
        self._first = next(iter(parameters), None)
        self._wordings = [item for item in parameters if item.is_wording and not item.members]
        self._action = choice.about.partition("\n")[0]
        self.own = meaningful_stems(f"{self._action} {choice.text.rpartition(',')[2]}")
        """Stems of the command's own words, which are no values."""

    @property
    def untaken_text(self) -> str:
        return without_ranges(self._text, self.taken)

    def is_free(self, span: Span) -> bool:
        return not overlaps(span, self.taken)

    def find_free(self, spans: Iterable[Span]) -> Span | None:
        """Find the first that is free."""
        return next(filter(self.is_free, spans), None)

    def take(self, span: Span) -> str:
        self.taken.append(range(span.start, span.end))
        return span.text

    def pick(self, parameter: Parameter) -> str | None:
        """Pick a run of words: of several the one that the model takes.

        One that need not be, and any while a command is still to be chosen, is left out unless the
        request is nearer to its command without it.
        """
        span = self._find_formed(parameter)
        if span is None:
            templates = find_templates(self._examples)
            span = self._fit(parameter, templates) if templates else self._find_phrase(parameter)
        return self.take(span) if span else None

    def _find_formed(self, parameter: Parameter) -> Span | None:
        """Find a number or a street where one is asked for, or a thing that no other parameter
        takes.
        """
        if span := self._find_described(parameter):
            return span
        if not parameter.needed:
            return None
        things = (thing for thing in find_things(self._text) if thing.kind not in ELSEWHERE)
        spans = (Span(thing.text, thing.start, thing.end) for thing in things)
        return self.find_free(spans)

    def _find_described(self, parameter: Parameter) -> Span | None:
        if parameter.is_street:
            streets = STREET.finditer(self._text)
            return self.find_free(Span(match[0], *match.span()) for match in streets)
        if "number" not in find_words(f"{parameter.name} {parameter.about}"):
            return None
        numbers = find_numbers(self._text)
        return self.find_free(Span(self._text[start:end], start, end) for _, start, end in numbers)

    def _fit(self, parameter: Parameter, templates: Templates) -> Span | None:
        """Find the words without which the request is nearest to what people say without them."""
        if parameter != self._first or len(find_words(self._text)) > MAX_WORDS:
            return None
        scores = list(self._score_phrases(templates))
        highest = max((near for near, _ in scores), default=0.0)
        near_enough = [span for near, span in scores if near > highest - ALIKE]
        fitting = min(near_enough, key=lambda span: len(span.text), default=None)
        return fitting and self._prefer_name(fitting)

    def _score_phrases(self, templates: Templates) -> Iterator[tuple[float, Span]]:
        """Measure how near the request without a run of words is to what people say."""
        for span in find_phrases(self._text, self.taken, frozenset()):
            said = find_words(span.text)
            if templates.words & {said[0], said[-1]} and len(said) < len(find_words(self._text)):
                continue
            rest = f"{self._text[: span.start]}{GAP}{self._text[span.end :]}"
            if find_words(rest):
                yield max(self._encoder.closeness(rest, templates.texts)), span

    def _prefer_name(self, fitting: Span) -> Span:
        """Take the one proper name that stands elsewhere: `for Kemal, wherever he is mentioned`."""
        names = find_proper_names(self._text)
        if len(names) != 1 or not self.is_free(names[0]):
            return fitting
        is_within = overlaps(names[0], [range(fitting.start, fitting.end)])
        return fitting if is_within else names[0]

    def _find_phrase(self, parameter: Parameter) -> Span | None:
        names = self._list_names(parameter)
        found = names or self._list_phrases()
        if not found:
            return None
        by_text = {span.text: span for span in found}
        picked = by_text[self._ask_model(self._text, parameter.about, [*by_text])]
        if names or (parameter.needed and self._is_chosen):
            return picked
        return picked if self.find_gain(picked) > self._find_least_gain(parameter, picked) else None

    def _list_phrases(self) -> list[Span]:
        """List the runs of words that may be a value: not with the word that asks for it."""
        found = find_phrases(self._text, self.taken, self.own)
        if {*find_plain_words(self._text)[:1]} & list_wish_openers():
            return [span for span in found if span.start > 0] or found
        return found

    def _list_names(self, parameter: Parameter) -> list[Span]:
        """List what is called by a proper name, with the number behind it if there is one."""
        if not self._may_take_name(parameter):
            return []
        names = {span.text for span in find_proper_names(self._text)}
        phrases = find_phrases(self._text, self.taken, self.own)
        called = [span for span in phrases if NUMBER_BEHIND.sub("", span.text) in names]
        return [span for span in called if span.text not in names] or called

    def _may_take_name(self, parameter: Parameter) -> bool:
        """Tell whether a name is the value of a parameter: it is needed, or the only one that takes
        words."""
        may_take = parameter.needed or len(self._wordings) == 1
        return self._is_chosen and may_take and parameter.kind == "words"

    def _find_least_gain(self, parameter: Parameter, span: Span) -> float:
        if parameter.needed or self._is_led_to(span, meaningful_stems(parameter.about)):
            return -MEANT  # else it is one of the words by which the command is asked for
        return 2 * MEANT if parameter == self._first else 1.0

    def _is_led_to(self, span: Span, about: frozenset[str]) -> bool:
        """Tell whether a preposition or a word `about` the parameter precedes it: `branch`."""
        said = [word for word in find_words(self._text[: span.start]) if word not in ARTICLES]
        return any(word in LEADS or find_stem(word) in about - self.own for word in said[-1:])

    def find_gain(self, span: Span) -> float:
        """Find by how much the request comes nearer to its command without the span: a value does
        not belong to the words by which the command is asked for."""
        about = [self._action, *self._examples[:2]]
        rest = f"{self._text[: span.start]}{self._text[span.end :]}"
        whole = self._encoder.closeness(self._text, about)
        without = self._encoder.closeness(" ".join(rest.split()), about)
        return (sum(without) - sum(whole)) / len(about)


def without_ranges(text: str, ranges: Iterable[range]) -> str:
    """The text with blanks in these places."""
    for taken in ranges:
        text = text[: taken.start] + " " * len(taken) + text[taken.stop :]
    return text
