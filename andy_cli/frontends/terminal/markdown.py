"""Colour and markdown on a terminal. With the views of the chat all that knows rich."""

import os
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import (
    CodeBlock,
    Heading,
    HorizontalRule,
    Markdown,
    MarkdownElement,
    TableElement,
    TableRowElement,
)
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Column, Table
from rich.text import Text
from rich.theme import Theme

from andy_cli.guard.terminal_sanitizer import neutralize_text

NORMAL = Style()
ACTION = Style(color="cyan", dim=True)
WARNING = Style(color="yellow")
ERROR = Style(color="red")
QUIET = Style(dim=True)
ADDED = Style(color="green")
REMOVED = Style(color="red")
TITLE = Style(bold=True)
THEME = Theme(
    {
        # rich sets code on black, which is a hole in a light terminal.
        "markdown.code": "cyan",
        **{f"markdown.h{level}": "bold" for level in range(1, 7)},
    }
)
CODE_THEME = "ansi_dark"
"""The terminal's own sixteen colours."""
LEAST_COLUMN, COLUMN_GAP = 8, 2
"""Cells that a column of a table needs at least where its texts are longer, and its gap."""
ROW_MARK = " • "


def create_console(plain: bool = False) -> Console:
    """The terminal. `NO_COLOR` means no colour; plain and a dumb terminal also no redrawing."""
    is_dumb = plain or os.environ.get("TERM") == "dumb"
    return Console(
        file=sys.stdout,
        highlight=False,
        emoji=False,
        theme=THEME,
        no_color=True if is_dumb else None,
        force_terminal=False if is_dumb else None,
        soft_wrap=False,
    )


def style_text(text: str, style: Style) -> Text:
    """A text that did not come from us, made harmless, in one style."""
    return Text(neutralize_text(text), style=style)


class LeftHeading(Heading):
    """A first-level heading stands where all others stand."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class PlainCode(CodeBlock):
    """Code without a box and without filled-up lines, so that it can be copied as it is."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        text = Text(code)
        if self.lexer_name != "text" and not console.no_color:
            text = find_highlighter(self.lexer_name).highlight(code)
            text.rstrip()
        text.no_wrap, text.overflow = True, "ignore"
        yield text


@cache
def find_highlighter(language: str) -> Syntax:
    """Kept, because looking for a language takes longer than most code blocks take to colour."""
    lexer = Syntax("", language).lexer
    return Syntax("", lexer or "text", theme=CODE_THEME)


class PlainRule(HorizontalRule):
    """A line, without the empty one that rich puts below it."""

    new_line = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Rule(style="markdown.hr", characters="─")


class FoldedTable(TableElement):
    """A table that loses nothing on a narrow screen.

    Words that are wider than their column are broken. Where columns would be too narrow to be read
    each row is a list of `Column: value`.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heading = self.header.row if self.header is not None else None
        rows = self.body.rows if self.body is not None else []
        if heading is not None and rows and count_least_cells(heading, rows) > options.max_width:
            yield list_rows(heading, rows)
            return
        for part in super().__rich_console__(console, options):
            for column in part.columns if isinstance(part, Table) else ():
                column.overflow = "fold"
            yield part


def count_least_cells(heading: TableRowElement, rows: Sequence[TableRowElement]) -> int:
    """Count the cells of the screen that a table needs to be read."""
    columns = zip(*(row.cells for row in (heading, *rows)), strict=True)
    widths = (max(cell.content.cell_len for cell in column) for column in columns)
    return sum(min(width, LEAST_COLUMN) + COLUMN_GAP for width in widths)


def list_rows(heading: TableRowElement, rows: Sequence[TableRowElement]) -> Table:
    """Draw each row of a table as an item of a list, with one line for each column."""
    items = Table.grid("", Column(overflow="fold"))
    for row in rows:
        lines = [
            Text.assemble(name_column(title.content), cell.content)
            for title, cell in zip(heading.cells, row.cells, strict=True)
        ]
        items.add_row(Text(ROW_MARK), Text("\n").join(lines))
    return items


def name_column(title: Text) -> Text:
    """The title as it stands before a value; nothing for a column that has none."""
    named = Text.assemble(title, ": ") if title else Text()
    named.stylize("markdown.table.header")
    return named


class MarkdownBlock(Markdown):
    """One top-level block that has been parsed already."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "fence": PlainCode,
        "code_block": PlainCode,
        "hr": PlainRule,
        "table_open": FoldedTable,
    }


def keep_line_ends(state: StateCore) -> None:
    """Let a line end where it does in the text: an address, a poem and a file have their lines."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"


def show_addresses(state: StateCore) -> None:
    """Make images links, and links that are named by their own address that address alone.

    rich sets an image before the paragraph that it stands in, and leaves its address out.
    """
    for token in state.tokens:
        if token.children:
            linked = [part for child in token.children for part in link_image(child)]
            token.children = write_addresses_once(linked)


def link_image(token: Token) -> list[Token]:
    if token.type != "image":
        return [token]
    address = str(token.attrs["src"])
    words = token.children or [Token("text", "", 0, content=address)]
    opening = Token("link_open", "a", 1, attrs={"href": address})
    return [opening, *words, Token("link_close", "a", -1)]


def write_addresses_once(tokens: Sequence[Token]) -> list[Token]:
    written: list[Token] = []
    for token in tokens:
        written.append(token)
        if [part.type for part in written[-3:]] == ["link_open", "text", "link_close"]:
            opening, words, _ = written[-3:]
            if opening.attrs["href"] in (words.content, f"mailto:{words.content}"):
                written[-3:] = [words]
    return written


# Tags are text here: rich leaves them out, and what a model says may not vanish.
READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
READER.core.ruler.push("line_ends", keep_line_ends)
READER.core.ruler.push("addresses", show_addresses)
BLOCKS = MarkdownIt("commonmark", {"html": False}).enable("table")
BLOCKS.disable("inline")
# A link shows where it leads, as text: a model may not hide an address behind a friendly word.
EMPTY = MarkdownBlock("", hyperlinks=False)


class MarkdownPage:
    """Markdown, rendered block by block with one empty line between two blocks.

    However a text is cut at its block borders, its pages look as the page of the whole text.
    """

    def __init__(self, text: str, first: bool = True) -> None:
        self.text = text
        self._blocks = list(split_blocks(READER.parse(text)))
        self._first = first

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = self._first
        for tokens in self._blocks:
            block = copy(EMPTY)
            block.parsed = tokens
            lines = list(Segment.split_lines(console.render(block, options)))
            # rich sets empty lines before and after some kinds of blocks: so we set them all.
            written = [index for index, line in enumerate(lines) if not is_blank(line)]
            if not written:
                continue
            if not first:
                yield Segment.line()
            first = False
            for line in lines[written[0] : written[-1] + 1]:
                yield from strip_end(line)
                yield Segment.line()


def is_blank(line: Sequence[Segment]) -> bool:
    return all(not segment.text.strip() for segment in line)


def strip_end(line: list[Segment]) -> list[Segment]:
    """The line without the spaces at its end: who copies it wants the words alone."""
    while line and not line[-1].text.strip():
        line.pop()
    if line:
        line[-1] = Segment(line[-1].text.rstrip(), line[-1].style)
    return line


def split_blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    depth, begun = 0, 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield list(tokens[begun : index + 1])
            begun = index + 1


def count_finished(text: str) -> int:
    """Count the characters of a growing text in blocks that nothing added can change.

    A number at its end may become the next item of the list before it.
    """
    head, line_break, last_line = text.rpartition("\n")
    growing = head + line_break if last_line.strip().isdigit() else text
    blocks = [token for token in BLOCKS.parse(growing) if token.level == 0 and token.nesting >= 0]
    starts = [block.map[0] for block in blocks if block.map]
    if len(starts) < 2 or not starts[-1]:
        return 0
    lines_before = text.split("\n")[: starts[-1]]
    return sum(len(line) + 1 for line in lines_before)
