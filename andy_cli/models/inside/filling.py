"""Find the arguments of a command: every value is a piece of what was said or found, or a member
of an enumeration, and no piece is used twice.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from mimetypes import guess_type
from typing import NamedTuple

from andy_cli.messages import Choice, Schema
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.numbers import numbers, ordinal, without_things
from andy_cli.models.inside.spans import (
    Match,
    Span,
    is_near,
    kind,
    named,
    overlaps,
    phrases,
    texts,
    typed,
)
from andy_cli.models.inside.words import IDLE, LEADS, WORD, stem, things, words

Pick = Callable[[str, str, Sequence[str]], str]
"""(request, what is asked for, pieces of the request) -> the piece that the model takes."""

MEANT = 0.01
"""By so much a request comes nearer to its command when a value is taken out of it."""
LISTED_LEAD = 0.012
"""By so much nearer in meaning than the next is what is meant of a list, or of the files that are
there where one of them is asked for."""
MOST_MEANT = 40
"""Names that are compared in meaning: 8 ms each where they are new."""
UNREAD = ("audio/", "image/", "video/")
NAME_KEYS = ("file", "name", "path", "title", "subject", "url", "id", "summary")


class Parameter(NamedTuple):
    name: str
    schema: Schema
    needed: bool

    @property
    def about(self) -> str:
        """`song` of `song (file name or title)`; the name in words where nothing describes it."""
        written = str(self.schema.get("description") or self.name.replace("_", " "))
        return plain_description(written)


def plain_description(text: str) -> str:
    """`which song` of `which song (file name or title).`"""
    return re.sub(r"\s*\([^)]*\)", "", " ".join(text.replace("_", " ").split())).strip(" .?;:,")


def parameters(choice: Choice) -> list[Parameter]:
    schema = choice.parameters or {}
    required = schema.get("required") or ()
    properties: Mapping[str, Schema] = schema.get("properties") or {}
    return [Parameter(name, each, name in required) for name, each in properties.items()]


@dataclass
class Arguments:
    """What was found for one command."""

    values: dict[str, str] = field(default_factory=dict)
    missing: list[Parameter] = field(default_factory=list)
    """Those that are needed and that nothing was found for."""
    used: int = 0
    """Letters of the request that are in the values."""

    @property
    def use(self) -> tuple[bool, int]:
        """How well the request fits the command: nothing is missing, and much of it is used."""
        return not self.missing, self.used


class Known(NamedTuple):
    """What is known beside the part of the request that is looked at."""

    results: Sequence[str] = ()
    """What tools returned, the newest last, as JSON or text."""
    names: Sequence[str] = ()
    """Files and folders that are there, folders with a slash at the end."""
    before: Sequence[str] = ()
    """What the user said before, the newest last."""


class Filler:
    def __init__(self, encoder: Encoder, pick: Pick) -> None:
        self._encoder = encoder
        self._pick = pick

    def fill(self, choice: Choice, text: str, known: Known) -> Arguments:
        return _Filling(self._encoder, self._pick, choice, text, known).fill()

    def fill_by_meaning(self, choice: Choice, text: str, known: Known) -> Arguments:
        """The same; a file that is missing is the entry of the newest list, or the file that can
        be read, whose name comes nearest to what was said."""
        found = self.fill(choice, text, known)
        missing = found.missing[0] if found.missing else None
        if missing is None or kind(missing.name, missing.schema) != "file":
            return found
        listed = next(
            (entries for r in reversed(known.results) if (entries := find_entries(r))), []
        )
        names = {entry.words: entry.name for entry in listed}
        if not names and choice.harmless:
            names = {name: name for name in known.names if is_readable(name)}
        if meant := find_meant(self._encoder, text, [*names], LISTED_LEAD):
            found.values[missing.name] = find_path(names[meant], known.names)
            found.missing = found.missing[1:]
        return found


class _Filling:
    """One command that is filled in."""

    def __init__(
        self, encoder: Encoder, pick: Pick, choice: Choice, text: str, known: Known
    ) -> None:
        self._encoder = encoder
        self._pick = pick
        self._choice = choice
        self._text = text
        self._known = known
        self._taken: list[range] = []
        self._parameters = parameters(choice)
        self._action = choice.about.partition("\n")[0]
        name = choice.text.rpartition(",")[2]
        self._own = frozenset(
            stem(word) for word in words(f"{self._action} {name}") if word not in IDLE
        )

    def fill(self) -> Arguments:
        found = Arguments()
        for parameter in sorted(self._parameters, key=self._order):
            value = self._value(parameter)
            if value is not None:
                found.values[parameter.name] = value
            elif parameter.needed:
                found.missing.append(parameter)
        found.used = sum(map(len, self._taken))
        return found

    def _order(self, parameter: Parameter) -> tuple[int, bool]:
        """What can be told by its form comes before what only the model can tell."""
        schema = parameter.schema
        if schema.get("enum"):
            return 0, not parameter.needed
        if schema.get("type") in ("integer", "number", "boolean"):
            # Behind what is called by its name: there may be a number in that.
            return 2, not parameter.needed
        if self._known.names and kind(parameter.name, schema) == "file":
            return 1, not parameter.needed
        place = (
            *("url", "mail", "phone", "sum", "date", "time"),
            *("id", "file", "folder", "text", "words"),
        )
        return 3 + place.index(kind(parameter.name, schema)), not parameter.needed

    def _value(self, parameter: Parameter) -> str | None:
        schema = parameter.schema
        if allowed := schema.get("enum"):
            return self._member([str(each) for each in allowed], parameter)
        if schema.get("type") == "boolean":
            return self._is_wanted(parameter)
        if schema.get("type") in ("integer", "number"):
            return self._number(parameter)
        if parameter.name in self._choice.members:
            return self._known_member(parameter)
        wanted = kind(parameter.name, schema)
        if span := next((each for each in typed(wanted, self._text) if self._free(each)), None):
            return self._there(wanted, self._take(span))
        if wanted in ("file", "folder"):
            entry = self._entry(wanted, parameter) or self._folder_as_file(wanted)
            known = entry or self._known.names or not parameter.needed
            return entry if known else self._phrase(parameter)
        if wanted in ("url", "mail", "phone"):
            return self._listed(parameter) if wanted == "url" else None
        if wanted == "id" and (listed := self._listed(parameter, "id")):
            return listed
        if wanted == "text" and (span := next(filter(self._free, texts(self._text)), None)):
            return self._take(span)
        return self._phrase(parameter)

    def _free(self, span: Span) -> bool:
        return not overlaps(span, self._taken)

    def _take(self, span: Span) -> str:
        self._taken.append(range(span.start, span.end))
        return span.text

    def _member(self, allowed: Sequence[str], parameter: Parameter) -> str | None:
        """The member that is said; else, where one is needed, the nearest in meaning."""
        said = f" {' '.join(words(self._text))} "
        exact = [each for each in allowed if f" {' '.join(words(each))} " in said]
        if exact:
            member = max(exact, key=len)
            if at := re.search(re.escape(member.replace("_", " ")), self._text, re.I):
                self._taken.append(range(*at.span()))
            return member
        spoken = [" ".join(words(each)) for each in allowed]
        near = self._encoder.closeness(
            self._text, [f"{parameter.about}: {each}" for each in spoken]
        )
        best = max(range(len(allowed)), key=near.__getitem__)
        others = sorted(near)[:-1] or [0.0]
        if parameter.needed or near[best] - others[-1] > CLEAR:
            return allowed[best]
        return None

    def _known_member(self, parameter: Parameter) -> str | None:
        """The first that is called by its name, whatever its case, accents or a typing error."""
        text = without_ranges(self._text, self._taken)
        found = [
            (span, match.name)
            for match in named(text, self._choice.members[parameter.name](), frozenset())
            if match.is_clear and (span := _find_words(text, match))
        ]
        if not found:
            return None
        span, name = min(found, key=lambda item: item[0].start)
        self._taken.append(span)
        return name

    def _is_wanted(self, parameter: Parameter) -> str | None:
        """Yes when the request speaks of what the parameter is about."""
        about = f"{parameter.name} {parameter.about.partition(' instead')[0]}"
        wanted = {stem(word) for word in words(about) if word not in IDLE} - self._own
        said = {stem(word) for word in words(without_things(self._text))}
        if wanted & said:
            return "yes"
        return "no" if parameter.needed else None

    def _number(self, parameter: Parameter) -> str | None:
        schema = parameter.schema
        low, high = schema.get("minimum"), schema.get("maximum")
        fits = []
        for value, start, end in numbers(self._text):
            outside = (low is not None and value < low) or (high is not None and value > high)
            whole = schema.get("type") == "integer" and not value.is_integer()
            is_pronoun = not parameter.needed and self._text[start:end].lower() == "one"
            if not (outside or whole or is_pronoun) and self._free(Span("", start, end)):
                fits.append(Span(f"{value:g}", start, end))
        about = {stem(word) for word in words(f"{parameter.name} {parameter.about}")} - IDLE
        beside = [span for span in fits if about & {*map(stem, self._words_beside(span))}]
        if beside:
            return self._take(beside[0])
        numeric = [each for each in self._parameters if each.schema.get("type") in NUMERIC]
        if not fits or not (parameter.needed or len(numeric) == 1):
            return None
        span = fits[0]
        if len(fits) > 1 and len(numeric) > 1:
            spoken = [" ".join([*self._words_beside(each)]) for each in fits]
            near = self._encoder.closeness(f"{parameter.name}: {parameter.about}", spoken)
            span = fits[max(range(len(fits)), key=near.__getitem__)]
        return self._take(span) if parameter.needed or self._gain(span) > 0 else None

    def _words_beside(self, span: Span) -> list[str]:
        text = without_things(self._text)
        return [*words(text[: span.start])[-2:], *words(text[span.end :])[:2]]

    def _there(self, wanted: str, written: str) -> str:
        return find_path(written, self._known.names) if wanted in ("file", "folder") else written

    def _entry(self, wanted: str, parameter: Parameter) -> str | None:
        """A file or folder that is spoken of: in the newest list, or by its name."""
        if wanted == "file" and (listed := self._listed(parameter)):
            return self._there(wanted, listed)
        if wanted == "folder" and ordinal(self._text) is not None:
            # `The second one` is in the folder that was spoken of.
            spoken = [span for said in reversed(self._known.before) for span in typed(wanted, said)]
            return spoken[0].text if spoken else None
        own = self._own | {stem(word) for word in words(parameter.about) if word not in IDLE}
        names = [each for each in self._known.names if each.endswith("/") == (wanted == "folder")]
        text = without_ranges(self._text, self._taken)
        found = named(text, names, own)
        if not found or (wanted == "folder" and not found[0].is_clear):
            return None
        spans = [each.span() for each in WORD.finditer(text) if found[0].is_part(each[0])]
        self._taken += [range(*span) for span in spans]
        return found[0].name.rstrip("/")

    def _folder_as_file(self, wanted: str) -> str | None:
        """What reads like a folder, where no other parameter takes one: `peek into ~/.bashrc`."""
        if wanted == "folder" or any(
            kind(each.name, each.schema) == "folder" for each in self._parameters
        ):
            return None
        span = next(filter(self._free, typed("folder", self._text)), None)
        return self._take(span) if span else None

    def _listed(self, parameter: Parameter, key: str = "") -> str | None:
        """An entry of the newest list that is pointed at or named in it."""
        for result in reversed(self._known.results):
            listed = find_entries(result, key)
            if not listed:
                continue
            at = ordinal(self._text)
            if at is not None and is_list(result) and -len(listed) <= at < len(listed):
                return listed[at].name
            by_words = {each.words: each.name for each in listed}
            if match := named(self._text, [*by_words], self._own):
                return by_words[match[0].name]
            return (
                listed[0].name
                if len(listed) == 1 and not named(self._text, self._known.names, self._own)
                else None
            )
        return None

    def _phrase(self, parameter: Parameter) -> str | None:
        """A run of words: of several the one that the model takes.

        One that need not be is left out unless the request is nearer to its command without it.
        """
        if "number" in words(f"{parameter.name} {parameter.about}"):
            written = (Span(self._text[a:b], a, b) for _, a, b in numbers(self._text))
            if span := next(filter(self._free, written), None):
                return self._take(span)
        if parameter.needed and (left := self._left_over()):
            return self._take(left)
        if templates := find_templates(self._choice.examples):
            span = self._fit_template(templates) if parameter == self._parameters[0] else None
            return self._take(span) if span else None
        own = self._own | {stem(word) for word in words(parameter.about) if word not in IDLE}
        found = self._phrases(own)
        if not found:
            return None
        picked = self._pick_phrase(parameter, found)
        if self._gain(picked) <= self._least_gain(parameter, picked, own):
            return None
        return self._take(picked)

    def _fit_template(self, templates: "Templates") -> Span | None:
        """The words without which the request is nearest to what people say without a value."""
        best: list[tuple[float, Span]] = []
        for span in phrases(self._text, self._taken, frozenset()):
            said = words(span.text)
            if templates.words & {said[0], said[-1]} and len(said) < len(words(self._text)):
                continue
            rest = f"{self._text[: span.start]}{GAP}{self._text[span.end :]}"
            if words(rest):
                best.append((max(self._encoder.closeness(rest, templates.texts)), span))
        highest = max((near for near, _ in best), default=0.0)
        near_enough = [span for near, span in best if near > highest - ALIKE]
        return min(near_enough, key=lambda span: len(span.text), default=None)

    def _phrases(self, own: frozenset[str]) -> list[Span]:
        """The runs of words that may be a value. A request for a command seldom begins with one:
        what it begins with counts where the request is nearer to the command without it."""
        found = phrases(self._text, self._taken, own)
        first = words(self._text)[:1]
        if len(found) > 1 and self._gain(Span("", 0, len(first[0]) if first else 0)) <= MEANT:
            return [each for each in found if each.start > 0] or found
        return found

    def _pick_phrase(self, parameter: Parameter, found: Sequence[Span]) -> Span:
        """The one that the model takes; another where that is a word of the command."""
        by_text = {each.text: each for each in found}
        picked = by_text[self._pick(self._text, parameter.about, [*by_text])]
        gain = self._gain(picked)
        if parameter == self._parameters[0] and not parameter.needed and gain <= 2 * MEANT:
            return max(found[:MOST_COMPARED], key=self._gain)
        others = [each for each in found if not overlaps(each, [range(picked.start, picked.end)])]
        if gain <= 0 and others:
            return max(others[:MOST_COMPARED], key=self._gain)
        return self._without_command_words(picked, found)

    def _without_command_words(self, picked: Span, found: Sequence[Span]) -> Span:
        """Its end alone, where what it begins with belongs to the command: `the word lemon`."""
        ends = [each for each in found if picked.start < each.start and each.end == picked.end]
        for end in sorted(ends, key=lambda each: -each.start):
            if self._gain(Span("", picked.start, end.start)) < -MEANT / 2:
                return end
        return picked

    def _least_gain(self, parameter: Parameter, span: Span, own: frozenset[str]) -> float:
        if parameter.needed:
            return -MEANT  # else it is one of the words by which the command is asked for
        if self._is_led_to(span, own):
            return MEANT
        return 2 * MEANT if parameter == self._parameters[0] else 1.0

    def _left_over(self) -> Span | None:
        """A file, a folder or an address that is said and that no other parameter takes."""
        spans = (
            Span(each.text, each.start, each.end)
            for each in things(self._text)
            if each.kind not in ("url", "mail")
        )
        return next((span for span in spans if self._free(span)), None)

    def _is_led_to(self, span: Span, own: frozenset[str]) -> bool:
        """Whether a preposition or the parameter's own word stands before it: `in`, `branch`."""
        before = [word for word in words(self._text[: span.start]) if word not in ARTICLES][-1:]
        return any(word in LEADS or stem(word) in own - self._own for word in before)

    def _gain(self, span: Span) -> float:
        """By how much the request comes nearer to its command without the span: a value does not
        belong to the words by which the command is asked for."""
        about = [self._action, *self._choice.examples[:2]]
        rest = f"{self._text[: span.start]}{self._text[span.end :]}"
        whole = self._encoder.closeness(self._text, about)
        without = self._encoder.closeness(" ".join(rest.split()), about)
        return (sum(without) - sum(whole)) / len(about)


def find_path(written: str, names: Sequence[str]) -> str:
    """The file that is there where only its case or some letters are other ones."""
    if written in names:
        return written
    base = written.rpartition("/")[2].casefold()
    bases = {name: name.rstrip("/").rpartition("/")[2].casefold() for name in names}
    same = [name for name in bases if bases[name] == base]
    alike = same or [name for name in bases if is_near(base, bases[name])]
    return alike[0].rstrip("/") if len(alike) == 1 else written


def find_meant(encoder: Encoder, text: str, names: Sequence[str], lead: float) -> str | None:
    """Find the name that is nearest in meaning, in any language; None without such a lead over
    the next: `einkaufsliste` is `shopping.txt`. Folders do not count for what is in them."""
    compared = [name.rpartition("/")[2] for name in names[:MOST_MEANT]]
    if len(compared) < 2:
        return None
    near = encoder.closeness(text, compared)
    *_, second, first = sorted(range(len(compared)), key=near.__getitem__)
    return names[first] if near[first] - near[second] > lead else None


def is_readable(name: str) -> bool:
    """Whether it is the name of a file, and of no recording or picture."""
    return not name.endswith("/") and not (guess_type(name)[0] or "").startswith(UNREAD)


def without_ranges(text: str, ranges: Sequence[range]) -> str:
    """The text with blanks in these places."""
    for taken in ranges:
        text = text[: taken.start] + " " * len(taken) + text[taken.stop :]
    return text


def _find_words(text: str, match: Match) -> range | None:
    """Where a name is said."""
    spans = [word.span() for word in WORD.finditer(text) if match.is_part(word[0])]
    return range(spans[0][0], spans[-1][1]) if spans else None


class Templates(NamedTuple):
    """What people say when they want a command, with a gap for the value."""

    texts: tuple[str, ...]
    words: frozenset[str]
    """Those of several templates: no value begins or ends with one."""


GAP = "..."
ALIKE = 0.008
"""Nearness to a template in which two pieces do not differ; the shorter is the value."""
VALUE = re.compile(r"\[[^\]]*\]")


@cache
def find_templates(examples: tuple[str, ...]) -> Templates | None:
    """Make templates of the examples that have a value in brackets; None if none has."""
    texts = tuple(VALUE.sub(GAP, example) for example in examples if "[" in example)
    if not texts:
        return None
    counted = Counter(word for text in texts for word in {*words(text)})
    return Templates(texts, frozenset(word for word, times in counted.items() if times > 1))


MOST_COMPARED = 12
ARTICLES = frozenset("the a an my der die das el la los las le les il i lo l".split())
CLEAR = 0.03
"""So much nearer than any other is a member that is meant though it is not said."""
NUMERIC = ("integer", "number")


class Entry(NamedTuple):
    """One entry of a result."""

    name: str
    words: str
    """All its texts, ` - ` between them."""


def is_list(result: str) -> bool:
    """Whether a result is, or holds, a list: of one record no entry is the first."""
    try:
        value: object = json.loads(result)
    except (ValueError, RecursionError):
        return True  # lines
    held = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(part, list) for part in held)


def find_entries(result: str, key: str = "") -> list[Entry]:
    """The entries of a result: of a JSON list of texts or records, or of lines.

    They are called by what the records have under the `key`, or by their name.
    """
    try:
        value: object = json.loads(result)
    except (ValueError, RecursionError):
        lines = [line.strip() for line in result.splitlines() if line.strip()]
        return [Entry(line, line) for line in lines] if len(lines) > 1 else []
    keys = (key, *NAME_KEYS) if key else NAME_KEYS
    if isinstance(value, Mapping):
        held = next((each for each in value.values() if isinstance(each, list)), None)
        # A record by itself is no entry unless it is called by a name: the time is none.
        value = held if held is not None else [value] if {*keys} & {*value} else []
    if not isinstance(value, list):
        return []
    return [entry for record in value if (entry := _entry(record, keys)).name]


def _entry(record: object, keys: Sequence[str]) -> Entry:
    if isinstance(record, str):
        return Entry(record, record)
    if not isinstance(record, Mapping):
        return Entry("", "")
    known = [str(record[key]) for key in keys if isinstance(record.get(key), str | int)]
    texts = [each for each in record.values() if isinstance(each, str)]
    return Entry((known or texts or [""])[0], " - ".join(texts))
