"""The text of an HTML mail, with line ends where a reader sees them and links written out.

Not html.parser: mail is hostile, and that takes minutes for a megabyte of `<!--`. This goes once
over it, and takes a `>` for the end of its tag wherever it stands.
"""

import re

LARGEST = 1_000_000
"""Characters of HTML that are looked at."""

SILENT = frozenset(["script", "style", "head", "title", "template", "textarea"])
BLOCKS = frozenset(
    "p div br tr ul ol table section article header footer blockquote pre hr h1 h2 h3 h4 h5 h6 "
    "dd dt dl address center li".split()
)
NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]*")
HREF = re.compile(r"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))", re.IGNORECASE)
ALT = re.compile(r"\salt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


class _Text:
    """What was read so far. Links do not nest: one that begins within another ends that."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._link = ""
        self._linked = 0

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def begin_link(self, address: str) -> None:
        self._link, self._linked = address, len(self._pieces)

    def end_link(self) -> None:
        address, self._link = self._link, ""
        if not address.startswith(("http:", "https:", "mailto:")):
            return
        if address != "".join(self._pieces[self._linked :]).strip():
            self.add(f" ({address})")

    def whole(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def text_of(html: str) -> str:
    """The text; what is not closed goes on to the end, as in a browser."""
    html, text, at = html[:LARGEST], _Text(), 0
    while (tag := html.find("<", at)) >= 0:
        if at < tag:
            text.add(_plain(html[at:tag]))
        at = _after(html, tag, text)
    text.add(_plain(html[at:]))
    return text.whole()


def _after(html: str, tag: int, text: _Text) -> int:
    """Take in what begins with the `<` there; where to go on."""
    named = NAME.match(html, tag + 1)
    if named is None and html[tag + 1 : tag + 2] not in ("!", "?"):
        text.add("<")
        return tag + 1
    closed = "-->" if html.startswith("<!--", tag) else ">"
    end = html.find(closed, tag + 1)
    if end < 0:
        return len(html)
    name = named[0].lower() if named else ""
    if name not in SILENT:
        _take(name, html[tag:end], text)
        return end + len(closed)
    over = re.compile(f"</{name}", re.IGNORECASE).search(html, end)
    return over.start() if over else len(html)


def _take(name: str, tag: str, text: _Text) -> None:
    bare = name.removeprefix("/")
    if bare in BLOCKS:
        text.add("\n- " if name == "li" else "\n")
    elif name in ("td", "th"):
        text.add("\t")
    elif name == "a":
        text.begin_link(_value(HREF, tag))
    elif name == "/a":
        text.end_link()
    elif name == "img" and (described := _value(ALT, tag)):
        text.add(f"[{described}]")


def _value(attribute: re.Pattern[str], tag: str) -> str:
    found = attribute.search(tag)
    return _plain(next((each for each in found.groups() if each), "")).strip() if found else ""


def _plain(text: str) -> str:
    from html import unescape  # 2 ms, and few mails have nothing but HTML

    return re.sub(r"[ \t\r\n\f\xa0]+", " ", unescape(text))
