"""Where a piece of protocol ends that is no request: readers of text that arrives in pieces."""

import re
from collections.abc import Callable

from andy_cli.agent.plumbing.words import FENCES, ROLE_FOLLOWS
from andy_cli.compiler.bodies.ends import JsonScan
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression

ROLE = Expression(
    r"\s*(?:system|user|assistant|tool|model|developer|ipython|human|bot)?\b[ \t]*\n?"
)

ROLE_BEGINS = Expression(r"\s*[a-z]{0,9}[ \t]*\Z")

LABELLED = Expression(r"[*_]*:?[ \t]*(?P<name>[\w.\-/]*)[ \t]*:?(?P<gap>\s*)(?P<value>[{\[]?)")

LONGEST = 100_000
"""Characters of one piece of protocol that nothing but its end announces."""

ACTED = Expression(
    r"\**Action\**:[*\s]*(?P<name>[\w.\-/]+)(?=[^\w.\-/])[^\n]*"
    r"(?:\n+[ *]*(?P<input>Action[ _]Input))?",
    re.IGNORECASE,
)


class Now:
    """Ends where it begins; behind a token that opens a turn, behind the role."""

    def __init__(self, opener: str, tools: Tools) -> None:
        self._role = opener in ROLE_FOLLOWS
        self._held = ""

    def feed(self, text: str) -> int | None:
        if not self._role:
            return 0
        known = len(self._held)
        self._held += text
        if ROLE_BEGINS.match(self._held):
            return None
        match = ROLE.match(self._held)
        return max(0, match.end() - known) if match else 0


class Until:
    """Ends behind one of the closers; `begun` may say early that it is none."""

    def __init__(self, closers: tuple[str, ...], begun: Callable[[str], bool], most: int) -> None:
        self._closer = re.compile("|".join(map(re.escape, closers)), re.IGNORECASE)
        self._keep = max(map(len, closers)) - 1
        self._begun = begun
        self._most = most
        self._start = ""
        self._tail = ""
        self._size = 0

    def feed(self, text: str) -> int | None:
        self._size += len(text)
        if len(self._start) < 8:
            self._start += text[: 8 - len(self._start)]
        known = len(self._tail)
        tail = self._tail + text
        match = self._closer.search(tail)
        if match and self._begun(self._start):
            return match.end() - known
        if self._size > self._most or not self._begun(self._start):
            return -1
        self._tail = tail[-self._keep :]
        return None


class Rest:
    """Goes to the end of the text if nothing but white space follows."""

    def __init__(self, opener: str, tools: Tools) -> None:
        pass

    def feed(self, text: str) -> int | None:
        return -1 if text.strip() else None


class Labelled:
    """`[Tool Request]`: a name, if there is one, and the JSON behind it, over any lines."""

    def __init__(self, opener: str, tools: Tools) -> None:
        self._tools = tools
        self._held = ""
        self._scan: JsonScan | None = None

    def feed(self, text: str) -> int | None:
        if self._scan is not None:
            return self._scan.feed(text)
        if not self._held and text[:1] == "(":
            return -1  # a link
        known = len(self._held)
        self._held += text
        match = LABELLED.match(self._held)
        if match is None:
            return 0
        if match["value"] and belongs(match["name"], self._tools):
            self._scan = JsonScan()
            end = self._scan.feed(self._held, match.start("value"))
            return None if end is None else end - known
        if not match["value"] and match.end() == len(self._held) and len(self._held) < 200:
            return None
        return max(0, named_end(match, self._tools) - known)


def belongs(name: str, tools: Tools) -> bool:
    """Whether a label's value may have that name: a tool, or what could be one, or nothing."""
    return not name or name in tools or not name.isalpha()


def named_end(match: re.Match[str], tools: Tools) -> int:
    """The name of a tool belongs to the label, any other word to the answer."""
    return match.end("name") if match["name"] in tools else match.start("name")


class Named:
    """`Action:` and a tool, or any name with its input on the next line (ReAct)."""

    def __init__(self, opener: str, tools: Tools) -> None:
        self._tools = tools
        self._held: str | None = opener

    def feed(self, text: str) -> int | None:
        if self._held is None:
            return None
        self._held += text
        if acts(self._held, self._tools):
            self._held = None
            return None
        lines = self._held.count("\n")
        return -1 if lines > 2 or len(self._held) > 400 else None


def acts(text: str, tools: Tools) -> bool:
    match = ACTED.match(text)
    return bool(match and (match["input"] or match["name"] in tools))


class ProtocolFence:
    """A code fence: none of ours unless a word behind its backticks says so."""

    def __init__(self, opener: str, tools: Tools) -> None:
        self._run = opener
        self._info: str | None = ""
        self._line: str | None = None

    def feed(self, text: str) -> int | None:
        for at, character in enumerate(text):
            if character != "\n":
                self._within(character)
                if self._info is not None and len(self._info) > 40:
                    return -1
                continue
            if self._info is not None:
                if not protocol_info(self._info.lstrip("~")):
                    return -1
                self._info = None
            elif self._line is not None and self._closes(self._line):
                return at
            self._line = ""
        return None

    def _within(self, character: str) -> None:
        if self._info is not None:
            self._info += character
        elif self._line is not None:
            self._line = self._line + character if len(self._line) < 80 else None

    def _closes(self, line: str) -> bool:
        stripped = line.strip()
        return stripped.startswith(self._run) and not stripped.strip(self._run[0])


def protocol_info(info: str) -> bool:
    return not FENCES.isdisjoint(info.strip().lower().split())
