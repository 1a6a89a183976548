"""Find the arguments of a command: every value is a piece of what was said or found, or a member
of an enumeration, and no piece is used twice.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from mimetypes import guess_type
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.values.calendar_words import DAYS, is_same_in_calendar, rewrite_date
from andy_cli.models.inside.values.clock_times import (
    find_clock_times,
    find_loose_times,
    find_times_with_h,
    rewrite_time,
)
from andy_cli.models.inside.values.entries import (
    LISTED_LEAD,
    ListedEntry,
    find_entries,
    find_files,
    find_meant,
    find_meant_behind_verb,
    find_path,
    is_list,
    is_readable,
)
from andy_cli.models.inside.values.learned_values import ValueFinder
from andy_cli.models.inside.values.line_ranges import find_bounds, read_line_range
from andy_cli.models.inside.values.numbers import (
    HOMONYMS,
    find_dotted_thousands,
    find_hours,
    find_long_numbers,
    find_numbers,
    find_ordinal,
    without_things,
    write_number,
)
from andy_cli.models.inside.values.parameters import Parameter, list_parameters
from andy_cli.models.inside.values.phrase_picking import PhrasePicker
from andy_cli.models.inside.values.quantities import (
    Number,
    convert_durations,
    find_measure,
    find_quantities,
    find_unit,
    join_hundredths,
    list_ordinals,
)
from andy_cli.models.inside.values.spans import (
    Match,
    Span,
    find_named,
    find_texts,
    find_typed,
    overlaps,
)
from andy_cli.models.inside.values.superlatives import find_superlative, says_which
from andy_cli.models.inside.values.templates import NAME_LETTERS, list_spoken_words
from andy_cli.models.inside.values.words import (
    WORD,
    find_plain_words,
    find_stem,
    find_words,
    meaningful_stems,
)

ORDER = ("url", "mail", "phone", "sum", "date", "time", "id", "file", "folder", "text", "words")
"""Kinds of values; what can be told by its form comes first."""
IN_PLACES = frozenset("in im auf en \u00e0 au aux".split())
"""Words that lead to a place, in the five languages that are tried."""
CLEAR_FILE = 0.03
"""So much nearer than any other is a file that all of a request means."""


@dataclass
class FilledArguments:
    """The arguments that were found for one command."""

    values: dict[str, str] = field(default_factory=dict)
    missing: list[Parameter] = field(default_factory=list)
    """The parameters that are needed and that nothing was found for."""
    used: int = 0
    """Letters of the request that are in the values."""

    @property
    def use(self) -> tuple[bool, int, int]:
        """The fit of the request to the command: nothing is missing, and how much of it is used."""
        return bool(self.values) and not self.missing, len(self.values), self.used


class Known(NamedTuple):
    """The knowledge beside the part of the request that is looked at."""

    results: Sequence[str] = ()
    """The results of tools, the newest last, as JSON or text."""
    names: Sequence[str] = ()
    """Files and folders that are there, folders with a slash at the end."""
    before: Sequence[str] = ()
    """The user's words before, the newest last."""


class Filler:
    def __init__(self, encoder: Encoder, is_rough: bool = False) -> None:
        self._encoder = encoder
        self._is_rough = is_rough

    @cached_property
    def rough(self) -> "Filler":
        """A faster filler, for comparison only: words are rated apart from where they stand."""
        return Filler(self._encoder, is_rough=True)

    def fill(self, choice: Choice, text: str, known: Known) -> FilledArguments:
        return _Filling(self._encoder, choice, text, known, self._is_rough).fill()

    def fill_by_meaning(self, choice: Choice, text: str, known: Known) -> FilledArguments:
        """Fill as `fill` does; a file that is missing is the entry of the newest list, or the file
        that can be read, whose name comes nearest to what was said."""
        found = self.fill(choice, text, known)
        missing = found.missing[0] if found.missing else None
        if missing is None or missing.kind != "file":
            return found
        if find_superlative(text) or not says_which(text):
            return found
        names = self._list_in_folder(list_meant(choice, known), text, known)
        meant = find_meant(self._encoder, text, list(names), LISTED_LEAD)
        meant = meant or find_meant_behind_verb(self._encoder, text, list(names))
        if meant:
            found.values[missing.name] = find_path(names[meant], known.names)
            found.missing = found.missing[1:]
            if find_meant(self._encoder, text, list(names), CLEAR_FILE):
                found.used += len(text)  # all of it means the file
        return found

    def _list_in_folder(self, meant: dict[str, str], text: str, known: Known) -> dict[str, str]:
        """List those in the folder that is called by its name, if one is and holds some."""
        folders = [name for name in known.names if name.endswith("/")]
        called = next(iter(find_named(text, folders, frozenset())), None)
        if called is None or not called.is_clear:
            return meant
        inside = {words: name for words, name in meant.items() if name.startswith(called.name)}
        return inside or meant


def list_meant(choice: Choice, known: Known) -> dict[str, str]:
    """List what may be meant, and its name: entries of the newest list, else files.

    What only reads can do nothing with a list of songs, and what plays with none of texts.
    """
    for result in reversed(known.results):
        listed = find_files(result, known.names)
        if fitting := [entry for entry in listed if takes_entry(choice, entry.name)]:
            return {call_entry(entry, known.names): entry.name for entry in fitting}
    return {name: name for name in known.names if choice.only_looks and is_readable(name)}


def takes_entry(choice: Choice, entry: str) -> bool:
    """Tell whether an entry of a list is of the kind that a command takes: texts are read, and
    andy's own plays recordings.
    """
    if choice.only_looks:
        return is_readable(entry)
    return bool(choice.beyond) or not choice.examples or is_recording(entry)


def is_recording(entry: str) -> bool:
    return (guess_type(entry)[0] or "").startswith("audio/")


def call_entry(entry: ListedEntry, names: Sequence[str]) -> str:
    """Call an entry by its words; a file that is there by its name, not by when it was changed."""
    return entry.name if entry.name in names else entry.words


class _Filling:
    """One command that is filled in."""

    def __init__(
        self, encoder: Encoder, choice: Choice, text: str, known: Known, is_rough: bool
    ) -> None:
        self._encoder = encoder
        self._picker = PhrasePicker(encoder, choice, text)
        self._choice = choice
        self._text = text
        self._known = known
        # Of andy's own commands only numbers are found so, and nothing was learned of those.
        is_ours = bool(choice.examples)
        self._finder = ValueFinder(encoder, choice, text, is_rough or is_ours)
        self._parameters = list_parameters(choice)
        self._bounds = find_bounds(self._parameters)
        self._values: dict[str, str] = {}

    def fill(self) -> FilledArguments:
        for parameter in sorted(self._parameters, key=self._order):
            value = self._find_value(parameter)
            if value is not None:
                self._values[parameter.name] = value
        self._assign_runs()
        missing = [item for item in self._parameters if self._is_missing(item)]
        return FilledArguments(self._values, missing, sum(map(len, self._picker.taken)))

    def _is_missing(self, parameter: Parameter) -> bool:
        """Tell whether nothing was found for a parameter without which nothing is done: one that is
        needed, or the first for words of a command of andy's own that looks for some in any place.
        """
        if parameter.needed:
            return parameter.name not in self._values
        searched = [item.name for item in self._parameters if item.is_sought]
        is_search = bool(self._choice.examples) and parameter.name in searched[:1]
        return is_search and self._values.keys().isdisjoint(searched)

    def _assign_runs(self) -> None:
        """Give the parameters that no form decides their numbers and words."""
        open_ones = [item for item in self._parameters if self._is_open(item)]
        if not open_ones:
            return
        finder = self._finder
        words = finder.list_runs(self._picker.taken)
        wanted = [
            (item, finder.list_covered(self._list_numbers(item)) if item.is_numeric else words)
            for item in open_ones
        ]
        for parameter, run in zip(open_ones, finder.assign(wanted), strict=True):
            if run is not None:
                self._values[parameter.name] = self._picker.take(run.span)

    def _is_open(self, parameter: Parameter) -> bool:
        """Tell whether a parameter without a value takes a number or words that have no form."""
        is_filled = parameter.name in self._values or parameter.name in self._bounds
        is_listed = parameter.members or parameter.name in self._choice.members
        if is_filled or is_listed or parameter.is_yes_or_no:
            return False
        is_file = parameter.kind in ("file", "folder")
        is_free = self._picker.templates is None and not parameter.has_form
        return parameter.is_numeric or (is_free and not (is_file and self._known.names))

    def _order(self, parameter: Parameter) -> tuple[int, bool]:
        """Put what can be told by its form before what only the model can tell."""
        if parameter.members:
            return 0, not parameter.needed
        if parameter.is_numeric or parameter.is_yes_or_no:
            return 2, not parameter.needed
        if self._known.names and parameter.kind == "file":
            return 1, not parameter.needed
        return 3 + ORDER.index(parameter.kind), not parameter.needed

    def _find_value(self, parameter: Parameter) -> str | None:
        if parameter.members:
            return self._find_member(parameter)
        if parameter.is_yes_or_no:
            return self._find_wish(parameter)
        if parameter.name in self._bounds:
            return read_line_range(self._text)[self._bounds.index(parameter.name)]
        if parameter.is_numeric:
            return None
        if parameter.name in self._choice.members:
            return self._find_known_member(parameter)
        if span := self._picker.find_free(self._find_formed(parameter)):
            return self._find_spelling(parameter, self._picker.take(span))
        return self._find_formless(parameter)

    def _find_formed(self, parameter: Parameter) -> list[Span]:
        """Find what a form shows."""
        is_time = parameter.kind == "time"
        return self._list_times(parameter) if is_time else find_typed(parameter.kind, self._text)

    def _list_times(self, parameter: Parameter) -> list[Span]:
        """List the times in their order: also those that are said in words, and for what takes
        nothing else those that only may be one, where there are not enough.
        """
        text = self._text
        found = [*find_clock_times(text), *find_times_with_h(text), *find_typed("time", text)]
        if parameter.is_clock_time:
            places = [range(span.start, span.end) for span in found]
            is_short = len(found) < sum(other.kind == "time" for other in self._parameters)
            loose = find_loose_times(text)
            found = [time for time in loose if is_short or overlaps(time, places)] + found
        return sorted(found, key=lambda span: (span.start, -span.end))

    def _find_formless(self, parameter: Parameter) -> str | None:
        """Find a text that no form shows: in the newest list, by what leads to it, by its words."""
        match parameter.kind:
            case "file" | "folder":
                return self._find_entry(parameter) or self._find_folder_as_file(parameter)
            case "url":
                return self._find_address()
            case "mail" | "phone":
                return None
            case "date":
                return self._find_weekday()
            case "id":
                listed = self._find_listed("id")
                return listed if listed is not None else self._picker.pick(parameter)
            case "text":
                span = self._picker.find_free(find_texts(self._text))
                return self._picker.take(span) if span else self._picker.pick(parameter)
            case _:
                return self._picker.pick(parameter)

    def _find_address(self) -> str | None:
        """Find the address that is pointed at in the newest list; a file in one has none."""
        listed = self._find_listed("url")
        return listed if listed and find_typed("url", listed) else None

    def _find_weekday(self) -> str | None:
        """Find the name of a weekday, as it is written."""
        words = (Span(word[0], *word.span()) for word in WORD.finditer(self._text))
        days = (word for word in words if not DAYS.keys().isdisjoint(find_plain_words(word.text)))
        span = self._picker.find_free(days)
        return self._picker.take(span) if span else None

    def _find_member(self, parameter: Parameter) -> str | None:
        """Find the member that is meant; where it stands in the request nothing else is a value."""
        members = parameter.members
        if clear := self._find_day(members) or self._find_measure(members):
            return clear
        member = self._finder.choose_member(parameter)
        spoken = re.escape((member or "").replace("_", " "))
        if member and (at := re.search(spoken, self._text, re.I)):
            self._picker.taken.append(range(*at.span()))
        return member

    def _find_day(self, allowed: Sequence[str]) -> str | None:
        """Find the weekday or month that is said in another language: `martes` is `tuesday`."""
        for word in WORD.finditer(self._text):
            for plain in find_plain_words(word[0]):
                for member in allowed:
                    if is_same_in_calendar(plain, member.lower()):
                        self._picker.taken.append(range(*word.span()))
                        return member
        return None

    def _find_measure(self, members: Sequence[str]) -> str | None:
        """Find the unit or currency that stands beside a number, where others' commands take it."""
        if self._choice.examples:
            return None
        return find_measure(self._text, find_numbers(self._text), members)

    def _find_known_member(self, parameter: Parameter) -> str | None:
        """Find what is called by its name first, whatever its case, accents or a typing error; else
        what is asked about and is not known, which the tool says.
        """
        text = self._picker.untaken_text
        found = find_said(text, self._choice.members[parameter.name]())
        if not found:
            return next(iter(find_unknown_places(text)), None)
        span, name = min(found, key=lambda item: item[0].start)
        self._picker.taken.append(span)
        return name

    def _find_wish(self, parameter: Parameter) -> str | None:
        """Say yes or no: of a command of others what the request means; of andy's own no where it
        is needed and nobody speaks of it.
        """
        if self._choice.examples:
            said = "yes" if self._speaks_of(parameter) else "no"
            return said if said == "yes" or parameter.needed else None
        return self._finder.choose_member(parameter) or (
            "yes" if self._speaks_of(parameter) else None
        )

    def _speaks_of(self, parameter: Parameter) -> bool:
        """Tell whether a request has all of a parameter's name, or of a command of andy's own
        another word of what it is about. `Line numbers` are not meant by a phone number.
        """
        name = meaningful_stems(parameter.name)
        about = meaningful_stems(parameter.about.partition(" instead")[0]) - self._picker.own
        said = {find_stem(word) for word in find_words(without_things(self._text))}
        is_named = name <= said and (parameter.needed or not name <= self._picker.own)
        return is_named or bool(self._choice.examples and (about - name) & said)

    def _list_numbers(self, parameter: Parameter) -> list[Span]:
        """List the numbers that fit the schema; `the one` is none where none is needed."""
        hours = find_hours(self._text) if parameter.kind == "time" else []
        numbers = hours or find_numbers(self._text)
        if not self._choice.examples:
            numbers = self._add_quantities(parameter, numbers)
        spans = [Span(write_number(it), *place) for it, *place in numbers if parameter.allows(it)]
        return [
            span for span in spans if self._picker.is_free(span) and self._may_mean(parameter, span)
        ]

    def _add_quantities(self, parameter: Parameter, numbers: Sequence[Number]) -> list[Number]:
        """Add quantities in other words than numbers; convert durations to the parameter's unit."""
        numbers = join_hundredths(self._text, numbers)
        numbers += [*find_long_numbers(self._text), *find_quantities(self._text)]
        if parameter.needed:
            numbers += list_ordinals(self._text)
        if parameter.schema.get("type") == "integer":
            numbers += find_dotted_thousands(self._text)
        unit = find_unit([parameter.name, str(parameter.schema.get("description") or "")])
        return convert_durations(self._text, numbers, unit) if unit else numbers

    def _may_mean(self, parameter: Parameter, span: Span) -> bool:
        """Tell whether a word is a number: `one`, and `once`, which is eleven in Spanish."""
        said = self._text[span.start : span.end].lower()
        return parameter.needed or said not in HOMONYMS

    def _find_spelling(self, parameter: Parameter, written: str) -> str:
        if parameter.kind == "date":
            return rewrite_date(written)
        if parameter.is_clock_time:
            return rewrite_time(written)
        is_path = parameter.kind in ("file", "folder")
        return find_path(written, self._known.names) if is_path else written

    def _find_entry(self, parameter: Parameter) -> str | None:
        """Find a file or folder that is spoken of: in the newest list, or by its name."""
        is_folder = parameter.kind == "folder"
        if not is_folder and (listed := self._find_listed(is_file=True)):
            return find_path(listed, self._known.names)
        found = self._find_name(parameter)
        if found is None and is_folder and find_ordinal(self._text) is not None:
            return self._find_folder_before()
        return found

    def _find_name(self, parameter: Parameter) -> str | None:
        """Find a file or folder that is there and is called by its name."""
        is_folder = parameter.kind == "folder"
        own = self._picker.own | meaningful_stems(parameter.about)
        names = self._list_names(is_folder)
        text = self._picker.untaken_text
        best = next(iter(find_named(text, names, own)), None)
        if best is None or (is_folder and not best.is_clear):
            return None
        spans = [word.span() for word in WORD.finditer(text) if best.is_part(word[0])]
        self._picker.taken += [range(*span) for span in spans]
        return best.name.rstrip("/")

    def _list_names(self, is_folder: bool) -> list[str]:
        """List the folders, or the files that the command may take: a recording is not read, and
        what can be read is not played.

        Of a tool of others nobody knows whether it reads.
        """
        names = [name for name in self._known.names if name.endswith("/") == is_folder]
        if is_folder or self._choice.beyond or not self._choice.examples:
            return names
        return [name for name in names if is_readable(name) == self._choice.only_looks]

    def _find_folder_before(self) -> str | None:
        """`The second one` is in the folder that was spoken of."""
        for said in reversed(self._known.before):
            if spoken := find_typed("folder", said):
                return spoken[0].text
        return None

    def _find_folder_as_file(self, parameter: Parameter) -> str | None:
        """Find what reads like a folder, if no other parameter takes one: `peek into ~/.bashrc`."""
        if any(other.kind == "folder" for other in (parameter, *self._parameters)):
            return None
        span = self._picker.find_free(find_typed("folder", self._text))
        return self._picker.take(span) if span else None

    def _find_listed(self, key: str = "", is_file: bool = False) -> str | None:
        """Find an entry of the newest list, or list of files, that is pointed at or named in it."""
        names = self._known.names
        for result in reversed(self._known.results):
            listed = find_files(result, names) if is_file else find_entries(result, key, names)
            # Of a list with recordings none is read, which is told of the one that is pointed at.
            is_any = not is_file or self._choice.only_looks
            taken = [entry for entry in listed if is_any or takes_entry(self._choice, entry.name)]
            if taken:
                return self._choose_entry(taken, is_list(result))
        return None

    def _list_takable(self, listed: Sequence[ListedEntry]) -> list[ListedEntry]:
        """List the entries that can be read, where a command of andy's own reads files."""
        reads = bool(self._choice.examples) and self._choice.only_looks
        return [entry for entry in listed if not reads or is_readable(entry.name)]

    def _choose_entry(self, listed: Sequence[ListedEntry], is_ordered: bool) -> str | None:
        if superlative := find_superlative(self._text):
            return superlative.find_extreme(self._list_takable(listed))
        at = find_ordinal(self._text)
        if at is not None and is_ordered and -len(listed) <= at < len(listed):
            return listed[at].name
        by_words = {entry.words: entry.name for entry in listed}
        if match := find_named(self._text, list(by_words), self._picker.own):
            return by_words[match[0].name]
        names = {entry.name for entry in listed}
        return self._choose_only(names.pop()) if len(names) == 1 else None

    def _choose_only(self, entry: str) -> str | None:
        """Choose the only one of a list, unless something else that is there is meant."""
        if find_named(self._text, self._known.names, self._picker.own):
            return None
        texts = [name for name in self._known.names if is_readable(name)]
        return find_meant_behind_verb(self._encoder, self._text, texts) or entry


def find_unknown_places(text: str) -> list[str]:
    """Find what is asked about as a place is, and that nobody says who wants something: `osaka`."""
    spoken = list_spoken_words()
    places = [word for before, word in pairwise(find_words(text)) if before in IN_PLACES]
    named = [word for word in places if len(word) >= NAME_LETTERS]
    return [word for word in named if spoken.isdisjoint(find_plain_words(word))]


def find_said(text: str, names: Sequence[str]) -> list[tuple[range, str]]:
    """Find the names that are clearly said, and where."""
    matches = [match for match in find_named(text, names, frozenset()) if match.is_clear]
    return [(span, match.name) for match in matches if (span := find_range(text, match))]


def find_range(text: str, match: Match) -> range | None:
    """Find where a name is said."""
    spans = [word.span() for word in WORD.finditer(text) if match.is_part(word[0])]
    return range(spans[0][0], spans[-1][1]) if spans else None
