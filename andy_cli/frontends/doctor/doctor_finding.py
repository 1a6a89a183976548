"""The result of one check of `andy doctor`."""

from typing import Literal, NamedTuple

Grade = Literal["ok", "warn", "fail"]


class Finding(NamedTuple):
    subject: str
    grade: Grade
    message: str
    fix: str = ""
    """The command that mends it, as it is typed."""


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
