"""Every marker of a set of dialects in one expression. Built once, shared by all replies."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from andy_cli.compiler.bodies.calls import spellings
from andy_cli.compiler.dialect import Body, Dialect, Tools

Where = Literal["anywhere", "line", "reply", "behind"]

REASONING = {
    "<think>": ("</think>",),
    "[THINK]": ("[/THINK]",),
    "<thinking>": ("</thinking>",),
    "<reasoning>": ("</reasoning>",),
    "<scratchpad>": ("</scratchpad>",),
    "<reflection>": ("</reflection>",),
    "<seed:think>": ("</seed:think>",),
    "<mm:think>": ("</mm:think>",),
    "<ifm|think>": ("</ifm|think>", "<ifm|/think>"),
    "\u25c1think\u25b7": ("\u25c1/think\u25b7",),
    "<|START_THINKING|>": ("<|END_THINKING|>",),
    "<|channel>thought": ("<channel|>",),
    "<|open|>think<|sep|>": ("<|close|>think<|sep|>",),
}

TURN = (
    "<|im_end|>",
    "<|im_start|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<start_of_turn>",
    "<|end_of_text|>",
    "<|begin_of_text|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "</s>",
    "<eos>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<|role_end|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|END_OF_TURN_TOKEN|>",
)
"""Characters of a model's template: never part of what it says."""


class Marker(NamedTuple):
    kind: Literal["opener", "reasoning", "reasoned", "turn", "closer"]
    where: Where = "anywhere"
    dialects: tuple[Dialect, ...] = ()
    """Who may read what an opener begins, the likeliest first."""
    body: Callable[[str, Tools], Body] | None = None
    """Finds where it ends, for all of them."""


class Markers:
    """Finds markers in text that arrives in pieces."""

    def __init__(
        self, dialects: Sequence[Dialect], tools: Sequence[str] = (), first: str = ""
    ) -> None:
        """`first` is the dialect that is expected: of those with one opener it reads first."""
        self._expected = first
        self._exact: dict[str, Marker] = {}
        self._folded: dict[str, Marker] = {}
        self.all = tuple(dialects)
        self.fenced = tuple(each for each in dialects if each.fenced)
        for dialect in dialects:
            for text, where in openers(dialect, tools):
                self._add(text, where, dialect)
            for text in dialect.closers:
                self._exact.setdefault(text, Marker("closer"))
        opened = {text for text, marker in self._exact.items() if marker.kind == "opener"}
        self._exact |= {text: Marker("turn") for text in TURN if text not in opened}
        self._exact |= {text: Marker("reasoning") for text in REASONING}
        ends = {end for closers in REASONING.values() for end in closers}
        self._exact |= {end: Marker("reasoned") for end in ends}
        self.heads = frozenset(
            text for text, marker in self._exact.items() if marker.kind == "opener"
        )
        """Openers that may also end a stretch of reasoning."""
        self._prepare()

    def _add(self, text: str, where: Where, dialect: Dialect) -> None:
        table, key = (self._folded, text.lower()) if dialect.fold else (self._exact, text)
        there = table.get(key, Marker("opener", where, body=dialect.body))
        expected = dialect.name == self._expected
        readers = (dialect, *there.dialects) if expected else (*there.dialects, dialect)
        table[key] = there._replace(dialects=readers)

    def _prepare(self) -> None:
        known = {*self._exact, *self._folded}
        self.expression = self._alternatives(sorted(known, key=len, reverse=True))
        self._prefixes = frozenset(
            each.lower()[:cut] for each in known for cut in range(1, len(each))
        )
        self._longest = max(map(len, known), default=1) - 1
        firsts = {case for each in known for case in (each[0].lower(), each[0].upper())}
        self._first = re.compile("[" + "".join(map(re.escape, sorted(firsts | {"`"}))) + "]")

    def _alternatives(self, longest: Sequence[str]) -> re.Pattern[str]:
        """All markers, backticks and line breaks; the longest that fits is found.

        Grouped by their first character, which lets the engine skip to where one may begin.
        """
        groups: dict[str, list[str]] = {"`": ["`*"], "\n": [""]}
        for text in longest:
            folded = text not in self._exact
            if not folded and text != (plain := text.replace("\\_", "_")) and plain in self._exact:
                continue  # found with the plain spelling; there are thousands where there are tools
            rest = f"(?i:{re.escape(text[1:])})" if folded else escaped(text[1:])
            for first in {text[0].lower(), text[0].upper()} if folded else {text[0]}:
                groups.setdefault(first, []).append(rest)
        return re.compile(
            "|".join(f"{re.escape(first)}(?:{'|'.join(rests)})" for first, rests in groups.items()),
            re.ASCII,
        )

    def __getitem__(self, found: str) -> Marker:
        """The marker that the expression found."""
        marker = self._exact.get(found) or self._folded.get(found.lower())
        return marker or self._exact[found.replace("\\_", "_")]

    def unsure(self, text: str) -> int:
        """From where on the text might be the beginning of a marker, at its end."""
        at = max(0, len(text) - self._longest)
        while match := self._first.search(text, at):
            at = match.start()
            if text[at:].lower() in self._prefixes or not text[at:].strip("`"):
                return at
            at += 1
        # A run of backticks counts as a whole, however long.
        return len(text.rstrip("`"))


def escaped(text: str) -> str:
    """As an expression in which an underline may have a backslash, as Markdown wants it."""
    return re.escape(text).replace("_", r"\\?_")


def openers(dialect: Dialect, tools: Sequence[str]) -> Iterator[tuple[str, Where]]:
    for text in dialect.openers:
        yield text, "anywhere"
    for text in dialect.line_openers:
        yield text, "line"
    for text in dialect.reply_openers:
        yield text, "reply"
    for text in dialect.behind_openers:
        yield text, "behind"
    forms: list[tuple[str, Where]] = [(form, "line") for form in dialect.named_openers]
    forms += [(form, "anywhere") for form in dialect.named_anywhere]
    for form, where in forms:
        for name in tools:
            for spelling in spellings(name):
                yield form.replace("NAME", spelling), where
