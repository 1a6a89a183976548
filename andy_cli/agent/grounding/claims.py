"""The evidence that the audit is given, and the claims that it finds."""

from typing import NamedTuple

from andy_cli.messages import Effect, Status


class ActionRecord(NamedTuple):
    """A call that was made, in words: `play 01.mp3` was to be done, `started 01.mp3` was."""

    tool: str
    effect: Effect
    action: str
    did: str = ""
    status: Status = Status.SUCCESS
    arguments: str = ""
    """As text: what it was done to."""
    problem: str = ""
    """Why it failed, or what of it could not be looked at."""
    earlier: bool = False
    """It was made in an earlier turn."""

    @property
    def ok(self) -> bool:
        return self.status is Status.SUCCESS

    @property
    def is_new_success(self) -> bool:
        return self.ok and not self.earlier

    @property
    def text(self) -> str:
        return f"{self.tool}\n{self.action}\n{self.did}\n{self.arguments}"


class Evidence(NamedTuple):
    """All that an answer may rest on. `results` are texts or JSON, oldest first."""

    results: tuple[str, ...]
    user: str = ""
    history: tuple[str, ...] = ()
    actions: tuple[ActionRecord, ...] | None = None
    """None where it is not known which calls were made."""
    not_done: tuple[str, ...] = ()
    """Actions, in words, that were asked for and not done."""


class Claim(NamedTuple):
    """A piece of the answer that can be checked: `answer[start:end] == text`.

    `kind`: deed, file, path, url, address, id, code, quote, item, name; and with figures date,
    weekday, time, size, duration, percent, number, row.
    """

    text: str
    start: int
    end: int
    kind: str


class SentenceBacking(NamedTuple):
    """A sentence of an answer and the piece of a result that backs it."""

    sentence: str
    result: int | None
    """Which result, counted from 0; None if nothing ties it to one."""
    snippet: str = ""
