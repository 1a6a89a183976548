"""Notes to a model on a call that was not run, each beside the function that reads it.

The agent writes them; the small model, which sees no more than any other, reads them and tells a
person in other words.
"""

from typing import NamedTuple

NOT_ALLOWED = "This was not allowed: "
TELL_USER = ". Do not try it again; tell the user."
USER_SAID = "the user said"
"""The reason of a user begins with it; then comes ` no`, or a colon and words."""
INVALID_ARGUMENTS = " was not run, its arguments do not fit: "
ITS_PARAMETERS = ". Its parameters are: "
CANNOT, WITHOUT = "cannot ", " without "


class MissingValue(NamedTuple):
    command: str
    parameter: str


def write_refusal(reason: str) -> str:
    """Write that the user or a rule refused a call."""
    return f"{NOT_ALLOWED}{reason}{TELL_USER}"


def read_refusal(note: str) -> str | None:
    """Read the reason of a refusal; None in any other text."""
    is_refusal = note.startswith(NOT_ALLOWED)
    return note.removeprefix(NOT_ALLOWED).partition(TELL_USER)[0] if is_refusal else None


def write_invalid_arguments(name: str, reasons: str, parameters: str) -> str:
    """Write what of a call's arguments does not fit, and that part of the schema."""
    invalid = f"{name}{INVALID_ARGUMENTS}{reasons}{ITS_PARAMETERS}{parameters}"
    return f"{invalid} Correct them and ask again."


def read_invalid_arguments(note: str) -> str | None:
    """Read the reasons why arguments are invalid; None in any other text."""
    name, is_invalid, reasons = note.partition(INVALID_ARGUMENTS)
    return reasons.partition(ITS_PARAMETERS)[0] if is_invalid and name.split() == [name] else None


def write_missing(name: str, parameter: str) -> str:
    """Write that a command cannot be done, since a value that it needs was not given (R4)."""
    return f"{CANNOT}{name.upper()}{WITHOUT}{parameter}"


def read_missing(note: str) -> MissingValue | None:
    """Read which value was not given; None in any other text."""
    name, is_missing, parameter = note.removeprefix(CANNOT).partition(WITHOUT)
    if not (note.startswith(CANNOT) and is_missing and len((name + parameter).split()) == 1):
        return None
    return MissingValue(name.lower(), parameter)
