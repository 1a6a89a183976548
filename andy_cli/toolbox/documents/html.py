"""The text of a page without its marks: plain, in one pass, whatever the page is. Pure.

Not by the parser of the standard library: for some pages its time grows with the square of their
length.
"""

import html
import re
from collections.abc import Iterator

BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol
    option p pre section select summary table tbody tfoot thead title tr ul""".split()
)
CELLS = ("td", "th")
UNSEEN = ("script", "style", "template", "noscript", "iframe", "svg", "math", "object")
NAME = re.compile(r"/?[a-zA-Z][^\s/>]{0,40}")
BLANKS = re.compile(r"[\s\u00a0]+")
BREAKS = re.compile(r"[ \t]*\n[ \t]*(?:\n\s*)?")


def plain_text(page: str) -> tuple[str, str]:
    """Title and text; blocks stand on lines of their own, cells of a row in one."""
    title: list[str] = []
    text: list[str] = []
    in_title = in_pre = False
    for tag, between in _tokens(page):
        shown = html.unescape(between)
        (title if in_title else text).append(shown if in_pre else BLANKS.sub(" ", shown))
        name = tag.lstrip("/")
        text.append("\n" if name in BLOCKS else "\t" if tag in CELLS else "")
        in_title = tag == "title" and not title if name == "title" else in_title
        in_pre = tag == "pre" if name == "pre" else in_pre
    return _tidied(title), _tidied(text)


def _tokens(page: str) -> Iterator[tuple[str, str]]:
    """Names of tags, as in `p` and `/p`, each with the text before it."""
    at = begun = 0
    while (start := page.find("<", at)) >= 0:
        name = NAME.match(page, start + 1)
        if name is None and page[start + 1 : start + 2] not in ("!", "?", "/"):
            at = start + 1
            continue
        tag = name[0].lower() if name else ""
        at = _behind(page, start, tag)
        yield tag, page[begun:start]
        begun = at
    yield "", page[begun:]


def _behind(page: str, start: int, tag: str) -> int:
    """Where it goes on behind a tag, a comment, or an element nobody sees."""
    end, length = page.find(">", start), 1
    if page.startswith("<!--", start):
        end, length = page.find("-->", start + 4), 3
    if end < 0:
        return len(page)
    if tag not in UNSEEN or page[end - 1] == "/":
        return end + length
    closing = re.compile(f"</{tag}[^>]{{0,99}}>", re.IGNORECASE).search(page, end)
    return closing.end() if closing else len(page)


def _tidied(pieces: list[str]) -> str:
    lines = "".join(pieces).strip()
    return BREAKS.sub(lambda match: "\n\n" if match[0].count("\n") > 2 else "\n", lines)
