"""The parameters of a command, and what they are called."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.messages import Choice, Schema
from andy_cli.models.inside.values.spans import find_kind

YES_OR_NO = frozenset({"yes", "no"})
FORMED = ("url", "mail", "phone")
"""Kinds of values that are told by their form alone."""


class Parameter(NamedTuple):
    name: str
    schema: Schema
    needed: bool

    @property
    def about(self) -> str:
        """`song` of `song (file name or title)`; the name in words where nothing describes it."""
        written = str(self.schema.get("description") or self.name.replace("_", " "))
        return strip_description(written)

    @property
    def kind(self) -> str:
        return find_kind(self.name, self.schema)

    @property
    def members(self) -> Sequence[str]:
        """The values that it takes; none where it takes others, or only yes and no."""
        return (
            [] if self.is_yes_or_no else [str(member) for member in self.schema.get("enum") or ()]
        )

    @property
    def options(self) -> Sequence[str]:
        """The members, or yes and no; none where it takes anything else."""
        return ["yes", "no"] if self.is_yes_or_no else self.members

    @property
    def is_yes_or_no(self) -> bool:
        """It takes yes or no."""
        is_boolean = self.schema.get("type") == "boolean"
        return is_boolean or set(self.schema.get("enum") or ()) == YES_OR_NO

    @property
    def is_numeric(self) -> bool:
        return self.schema.get("type") in ("integer", "number")

    @property
    def is_wording(self) -> bool:
        """It takes words that are of no form and in no list."""
        is_text = self.schema.get("type") in (None, "string") and not self.schema.get("enum")
        return is_text and self.kind not in ("date", "time")

    @property
    def is_sought(self) -> bool:
        """It takes words to look for, and no place to look in."""
        return self.is_wording and self.kind not in ("file", "folder", "url")

    @property
    def is_clock_time(self) -> bool:
        """It takes a time of day alone, as its schema says."""
        return self.schema.get("format") == "time"

    @property
    def has_form(self) -> bool:
        """Its values are told by their form alone."""
        return self.kind in FORMED or self.is_clock_time

    def allows(self, number: float) -> bool:
        """Tell whether a number is within the schema's bounds, and whole where it has to be."""
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        is_within = (low is None or number >= low) and (high is None or number <= high)
        return is_within and (self.schema.get("type") != "integer" or number.is_integer())


def strip_description(text: str) -> str:
    """`which song` of `which song (file name or title).`"""
    return re.sub(r"\s*\([^)]*\)", "", " ".join(text.replace("_", " ").split())).strip(" .?;:,")


def list_parameters(choice: Choice) -> list[Parameter]:
    whole = choice.parameters or {}
    required = whole.get("required") or ()
    properties: Mapping[str, Schema | bool] = whole.get("properties") or {}
    return [
        # A schema may be `true`: it takes anything.
        Parameter(name, {} if isinstance(schema, bool) else schema, name in required)
        for name, schema in properties.items()
    ]


def summarize_command(choice: Choice) -> str:
    """Take the first line of its description, without the full stop."""
    return choice.about.partition("\n")[0].strip().rstrip(".")
