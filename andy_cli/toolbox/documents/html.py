"""Turn HTML into text, in one pass, whatever the page is. Pure.

Not by the parser of the standard library: for some pages its time grows with the square of their
length, and mails and pages are hostile.
"""

import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

UNSEEN = (
    *("script", "style", "template", "noscript", "iframe", "svg", "math", "object"),
    "textarea",
)
"""Elements whose content nobody reads."""
BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol
    option p pre section select summary table tbody tfoot thead title tr ul""".split()
)
CELLS = ("td", "th")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MAX_TAG_LENGTH = 100_000
"""Characters up to which the end of a tag is looked for outside of quotes."""

NAME = re.compile(r"/?[a-zA-Z][^\s/>]{0,40}")
TAG = re.compile(r"<(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>")
HREF = re.compile(r"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
ALT = re.compile(r"\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
BLANKS = re.compile(r"\s+")
REPEATED_BLANKS = re.compile(r"[^\S\n\t]{2,}|[\r\f\v\u00a0]")
KEPT_BLANK = "\ue000"
"""A character that no text has, for a space within `<pre>`: there spaces are not collapsed."""
KEEP_BLANKS = str.maketrans({" ": KEPT_BLANK, "\t": KEPT_BLANK * 4, "\u00a0": KEPT_BLANK})
LINKED = ("http:", "https:", "mailto:")


class Token(NamedTuple):
    before: str
    """The text in front of it."""
    name: str
    """In lower case, `/p` where it closes; empty for a comment and for the end of the page."""
    tag: str


class TextStyle(NamedTuple):
    """The parts of a page's form that its text keeps."""

    cell: str = "\t"
    """The sign in front of a cell of a table."""
    headings: bool = False
    """True if headings are marked as in Markdown."""
    links: bool = False
    """True if addresses of links and descriptions of pictures are written out."""


def plain_text(page: str) -> tuple[str, str]:
    """Title and text; blocks stand on lines of their own, cells of a row in one."""
    return html_to_text(page, TextStyle())


def html_to_text(
    page: str, style: TextStyle, check_limits: Callable[[], None] = lambda: None
) -> tuple[str, str]:
    """Title and text. `check_limits` is called at every tag and may raise."""
    writer = _TextWriter(style)
    for token in _read_tokens(page):
        check_limits()
        writer.add_text(token.before)
        writer.add_tag(token)
    return _tidy_text(writer.title), _tidy_text(writer.text)


class _TextWriter:
    """The text so far. Links do not nest: one that begins within another ends that."""

    def __init__(self, style: TextStyle) -> None:
        self.title: list[str] = []
        self.text: list[str] = []
        self._style = style
        self._in_title = self._in_pre = False
        self._link, self._link_start = "", 0

    def add_text(self, between: str) -> None:
        if not between:
            return
        text = html.unescape(between)
        target = self.title if self._in_title else self.text
        is_kept = self._in_pre and not self._in_title
        target.append(text.translate(KEEP_BLANKS) if is_kept else BLANKS.sub(" ", text))

    def add_tag(self, token: Token) -> None:
        name = token.name.removeprefix("/")
        if name == "title":
            self._in_title = token.name == name and not self.title
        elif name == "pre":
            self._in_pre = token.name == name
        if name in BLOCKS:
            self.text.append("\n" + self._mark_block(token.name))
        elif token.name in CELLS:
            self.text.append(self._style.cell)
        elif self._style.links:
            self._add_link(token)

    def _mark_block(self, name: str) -> str:
        if name == "li":
            return "- "
        if self._style.headings and name in HEADINGS:
            return "#" * int(name[1]) + " "
        return ""

    def _add_link(self, token: Token) -> None:
        if token.name == "a":
            self._link, self._link_start = _read_attribute(HREF, token.tag), len(self.text)
        elif token.name == "/a":
            address, self._link = self._link, ""
            is_written = address == "".join(self.text[self._link_start :]).strip()
            if address.startswith(LINKED) and not is_written:
                self.text.append(f" ({address})")
        elif token.name == "img" and (description := _read_attribute(ALT, token.tag)):
            self.text.append(f"[{description}]")


def _pass_unseen(page: str, called: str, position: int) -> int:
    """Find where a page goes on after a tag; after its content where nobody sees that."""
    if called not in UNSEEN or page.endswith("/>", 0, position):
        return position
    closing = re.compile(rf"</{called}\b", re.IGNORECASE).search(page, position)
    return closing.start() if closing else len(page)


def _read_tokens(page: str) -> Iterator[Token]:
    position = text_start = unquoted_until = 0
    while (start := page.find("<", position)) >= 0:
        name = NAME.match(page, start + 1)
        if not name and not page.startswith(("!", "?", "/"), start + 1):
            position = start + 1
            continue
        position = _find_end(page, start)
        if name and start >= unquoted_until and not {'"', "'"}.isdisjoint(page[start:position]):
            if whole_tag := TAG.match(page, start, start + MAX_TAG_LENGTH):
                position = whole_tag.end()
            else:
                # Quotes that never close: until further on they mean nothing.
                unquoted_until = start + MAX_TAG_LENGTH
        called, tag = name[0].lower() if name else "", page[start:position]
        yield Token(page[text_start:start], called, tag)
        text_start = position = _pass_unseen(page, called, position)
    yield Token(page[text_start:], "", "")


def _find_end(page: str, start: int) -> int:
    """After a comment, or a tag whose end is the next `>` wherever it stands."""
    if page.startswith("<!--", start):
        end, length = page.find("-->", start + 4), 3
    else:
        end, length = page.find(">", start), 1
    return end + length if end >= 0 else len(page)


def _read_attribute(attribute: re.Pattern[str], tag: str) -> str:
    match = attribute.search(tag)
    value = match[match.lastindex or 0] if match else ""
    return " ".join(html.unescape(value).split())


def _tidy_text(text_pieces: list[str]) -> str:
    cells = "".join(text_pieces).split("\t")
    text = "\t".join(cell.strip(" ") for cell in cells)
    text = REPEATED_BLANKS.sub(" ", text)
    lines = "\n".join(line.strip().rstrip(KEPT_BLANK) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip().replace(KEPT_BLANK, " ")
