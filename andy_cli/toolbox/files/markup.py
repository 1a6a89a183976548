"""The text of an HTML page, roughly: tags away, blocks on lines of their own. Pure.

Not by html.parser: what is malformed on purpose takes it quadratic time.
"""

import html
import re
from collections.abc import Callable, Iterator

LONGEST_TAG = 100_000
"""Characters up to which the end of a tag is looked for outside of quotes."""

NAME = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)")
TAG = re.compile(r"<(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>")
UNSEEN = frozenset("script style template noscript svg math iframe object head".split())
"""Elements whose content nobody reads; of the head only the title is."""
BLOCKS = frozenset(
    """p div br hr li ul ol dl dt dd table tr section article header footer nav aside main form
    fieldset blockquote pre figure figcaption address details summary h1 h2 h3 h4 h5 h6 title
    body option""".split()
)
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)} | {"li": "- ", "title": "# "}
CELLS = frozenset(["td", "th"])


def text_of_page(page: str, go_on: Callable[[], None] = lambda: None) -> str:
    """What a reader would see; `go_on` is called now and then, and may raise."""
    text = html.unescape("".join(_parts(page, go_on)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _parts(page: str, go_on: Callable[[], None]) -> Iterator[str]:
    at = muddled = 0
    while (start := page.find("<", at)) >= 0:
        go_on()
        yield _flowing(page[at:start])
        if page.startswith("<!--", start):
            at = _behind(page, "-->", start + 4)
        elif page.startswith(("<!", "<?"), start):
            at = _behind(page, ">", start)
        elif not (name := NAME.match(page, start)):
            yield "<"
            at = start + 1
        else:
            tag = TAG.match(page, start, start + LONGEST_TAG) if start >= muddled else None
            if not tag:
                # Quotes that never close: until further on they mean nothing.
                muddled = max(muddled, start + LONGEST_TAG)
            at = tag.end() if tag else _behind(page, ">", start)
            yield _break(name[2].lower(), closing=bool(name[1]))
            if name[2].lower() in UNSEEN and not name[1] and page[at - 2 : at] != "/>":
                at = _unseen(page, name[2].lower(), at)
    yield _flowing(page[at:])


def _flowing(text: str) -> str:
    """Line breaks in the source are blanks."""
    return text.replace("\r", " ").replace("\n", " ")


def _break(name: str, closing: bool) -> str:
    if name in CELLS:
        return "" if closing else " | "
    if name not in BLOCKS:
        return ""
    return "\n" if closing else "\n" + HEADINGS.get(name, "")


def _unseen(page: str, name: str, at: int) -> int:
    """Where an element that is not read ends; a head already at its title."""
    end = r"<(?:title|/head|body)\b" if name == "head" else rf"</{name}\b"
    found = re.compile(end, re.IGNORECASE).search(page, at)
    return found.start() if found else len(page)


def _behind(page: str, end: str, start: int) -> int:
    at = page.find(end, start)
    return at + len(end) if at >= 0 else len(page)
