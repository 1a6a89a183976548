"""Fit the form of a request to what a command takes: numbers, days, names, members. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.values.numbers import find_numbers
from andy_cli.models.inside.values.parameters import Parameter, list_parameters
from andy_cli.models.inside.values.spans import find_proper_names
from andy_cli.models.inside.values.words import find_things, find_words

PLACES = frozenset({"file", "folder", "url", "mail"})
KNOWN_FORM_WEIGHT = 0.01
"""Of what fits or does not fit where it is known how people ask for a command, beside cosines."""


class FormFit(NamedTuple):
    """Counts of what fits and of what does not."""

    members: int
    """Members of enumerations that are said."""
    numbers_lacking: int
    numbers_left: int
    addresses_lacking: int
    places_left: int
    """2 where a file or an address is named and nothing takes one, 1 where nothing needs it."""
    days_left: int
    names_left: int

    def weigh_known(self, has_examples: bool) -> float:
        """Weigh it beside cosines of examples; a proper name counts only without them."""
        misfits = self.numbers_lacking + self.numbers_left + self.addresses_lacking
        left = self.places_left + 2 * self.days_left + (0 if has_examples else self.names_left)
        return KNOWN_FORM_WEIGHT * (self.members - misfits - left)


def measure_form(text: str, is_named: bool, choice: Choice) -> FormFit:
    """Measure how well what a text holds fits what a command takes; `is_named`: something that is
    there is named in it.
    """
    taken = list_parameters(choice)
    said = f" {' '.join(find_words(text))} "
    kinds = [thing.kind for thing in find_things(text)]
    numeric = [item.needed for item in taken if item.is_numeric]
    numbers = len(find_numbers(text))
    return FormFit(
        members=sum(has_said_member(item, said) for item in taken),
        numbers_lacking=max(0, sum(numeric) - numbers),
        numbers_left=max(0, numbers - len(numeric)),
        addresses_lacking="url" not in kinds and needs_address(taken),
        places_left=count_unplaced(taken) if is_named else 0,
        days_left="date" in kinds and all(item.kind != "date" for item in taken),
        names_left=bool(find_proper_names(text)) and not takes_words(taken),
    )


def needs_address(taken: Sequence[Parameter]) -> bool:
    return any(item.needed and item.kind == "url" for item in taken)


def count_unplaced(taken: Sequence[Parameter]) -> int:
    """Count 2 where nothing takes a file or an address, 1 where nothing needs one."""
    places = [item.needed for item in taken if item.kind in PLACES]
    return 2 - bool(places) - any(places)


def takes_words(taken: Sequence[Parameter]) -> bool:
    return any(item.is_wording for item in taken)


def has_said_member(parameter: Parameter, said: str) -> bool:
    """Tell whether a member of its enumeration is among the words, which blanks surround."""
    allowed = parameter.schema.get("enum") or ()
    return any(f" {' '.join(find_words(str(member)))} " in said for member in allowed)
