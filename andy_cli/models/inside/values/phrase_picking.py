"""Pick the words of a request that are the value of a command, where no form shows it."""

from collections.abc import Iterable, Iterator

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.values.parameters import Parameter, list_parameters
from andy_cli.models.inside.values.spans import Span, find_phrases, find_proper_names, overlaps
from andy_cli.models.inside.values.templates import (
    ALIKE,
    GAP,
    VALUE,
    Templates,
    find_templates,
)
from andy_cli.models.inside.values.words import (
    find_things,
    find_words,
    is_question,
    meaningful_stems,
)

ELSEWHERE = frozenset({"url", "mail", "date", "time"})
"""Kinds of things that no other parameter takes than one for that kind."""
MAX_WORDS = 30
"""Of a part of a request whose values are found by what it is without them: each run of its words
is left out once, and what that costs grows with the square of them."""


class PhrasePicker:
    """Picks values of one command from one request; no piece is taken twice."""

    def __init__(self, encoder: Encoder, choice: Choice, text: str) -> None:
        self.taken: list[range] = []
        self._encoder = encoder
        self._text = text
        self.templates = find_templates(choice.examples)
        """Of what people say who want the command; None where nobody has said."""
        parameters = list_parameters(choice)
        self._first = next(iter(parameters), None)
        self._choice = choice
        self._is_only = sum(parameter.is_wording for parameter in parameters) == 1
        action = choice.about.partition("\n")[0]
        self.own = meaningful_stems(f"{action} {choice.text.rpartition(',')[2]}")
        """Stems of the command's own words, which are no values."""

    @property
    def _asks_as_typed(self) -> bool:
        """Tell whether the request is a question, which all is searched for: `[who won last night]`
        is an example of what people say."""
        is_value = any(VALUE.fullmatch(example) for example in self._choice.examples)
        asks = is_question(self._text) or self._text.rstrip().endswith("?")
        return is_value and asks

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
        """Pick a run of words without which the request is what people say who want the command."""
        span = self._find_thing(parameter)
        if span is None and self._asks_as_typed and not self.taken:
            question = self._text.strip(" ?!.")
            start = self._text.index(question)
            span = Span(question, start, start + len(question))
        if span is None and self.templates:
            span = self._fit(parameter, self.templates)
        return self.take(span) if span else None

    def _find_thing(self, parameter: Parameter) -> Span | None:
        """Find a thing that no other parameter takes."""
        if not parameter.needed:
            return None
        things = (thing for thing in find_things(self._text) if self._may_take(thing.kind))
        spans = (Span(thing.text, thing.start, thing.end) for thing in things)
        return self.find_free(spans)

    def _may_take(self, kind: str) -> bool:
        """Tell whether the command may take such a thing for words; where it takes several words,
        and nobody has said what people say, how a thing stands in the request tells of which."""
        is_clear = bool(self.templates) or self._is_only
        return kind == "quote" or (is_clear and kind not in ELSEWHERE)

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


def without_ranges(text: str, ranges: Iterable[range]) -> str:
    """The text with blanks in these places."""
    for taken in ranges:
        text = text[: taken.start] + " " * len(taken) + text[taken.stop :]
    return text
