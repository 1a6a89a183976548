"""How an answer is laid out: fences, code, sentences and their mood, lists and tables. Pure."""

import re
from functools import lru_cache
from typing import NamedTuple

from andy_cli.compiler.expression import Expression

FENCE = Expression(r"^[ \t]*(`{3,12}|~{3,12})([^\n]*)\n(.*?)(?:^[ \t]*\1[^\S\n]*$|\Z)", re.M | re.S)
OUTPUT = frozenset(["", "text", "txt", "console", "output", "plaintext", "log", "csv", "tree"])
"""What stands behind the opening of a fence that shows a result rather than code."""

END = Expression(
    r"(?<=[.!?…])[\"'”’)*_`]{0,3}\s+(?=[\"'“‘(*_`\[¿¡]{0,3}[A-ZÀ-Þ0-9~/])|(?<=[:;])\s*\n|\n"
)

ABBREVIATED = Expression(
    r"(?:(?<!\d\s)\b(?:e\.g|i\.e|etc|approx|no|vs|dr|mr|mrs|ms|st|ca|z\.b|jan|feb|mar|apr|jun"
    r"|jul|aug|sep"
    r"|sept|oct|nov|dec|feat|ft|[ap]\.m)\.)\s*$",
    re.IGNORECASE,
)

NUMBERED = Expression(r"[\s>]*\d{1,3}[.)]\s*")
DAY_OF = re.compile(r"\D?\d{1,2}\.\s(?:jan|feb|märz|apr|mai|jun|jul|aug|sep|okt|nov|dez)", re.I)
OFFER = Expression(
    r"\b(?:(?:i|we|you|one|that) (?:can(?! (?:see|tell|confirm|report|find))|could|may"
    r"|might|would|will|shall)|i(?:'ll|’ll)|i['’]d (?:like|love|be|suggest|recommend|need"
    r"|do|start|go)|let me"
    r"|would you|do you want|shall i|should i|should we|if you|if it|want me to|let us"
    r"|let's|feel free"
    r"|happy to|able to|going to|plan to|try|for example|e\.g\.|such as|for instance|you(?:'d|’d)"
    r"|next steps?|i suggest|i recommend|suggestion|consider|please|möchten sie|soll ich"
    r"|wenn (?:sie"
    r"|du)|kann ich|ich kann|ich könnte|ich werde|puis-je|je peux|si vous|si tu|voulez|souhaitez"
    r"|puedo|si quieres|quieres|podría|desea|could be|typically|usually|commonly|often|in general"
    r"|generally|by default|conventionally|willst du|magst du|zum beispiel|par exemple"
    r"|por ejemplo)\b",
    re.IGNORECASE,
)

NEGATION = Expression(
    r"\b(?:not|no|never|none|nothing|neither|nor|without|unable|cannot|missing|failed|fails|absent"
    r"|instead of|rather than|other than|kein\w*|nicht|nichts|ohne|pas|aucune?|sans|ningun[oa]?|sin"
    r"|wasn|isn|nowhere)\b|n't\b|n’t\b|\bno (?:hay|existe|encontr)",
    re.IGNORECASE,
)

IMPERATIVE = Expression(
    r"\s*(?:[-*•+]|\d{1,2}[.)])\s+[*_]{0,2}(?:create|move|leave|delete|rename|save|add"
    r"|open|check|remove|put|copy"
    r"|play|send|show|list|find|search|run|install|use|make|write|read|sort|group|keep"
    r"|look|ask|set|reply"
    r"|schedule|book|download|archive|update|review|compare|export|summari[sz]e|draft"
    r"|start|stop)\s(?![-–—])",
    re.IGNORECASE,
)
"""An item that says what to do: of a plan or an offer."""

IN_QUOTES = Expression(r"[\"“„«][^\"“”»\n]*[\"”“»]|\*\*[^*\n]*\*\*")


class Sentence(NamedTuple):
    text: str
    start: int
    end: int
    question: bool

    @property
    def offer(self) -> bool:
        """Does it offer, advise, suppose or give an example, and state nothing?"""
        return offers(self.text)

    @property
    def negated(self) -> bool:
        return denies(self.text)


@lru_cache(maxsize=64)
def offers(text: str) -> bool:
    # Asked once for each claim in it.
    return OFFER.search(text) is not None or IMPERATIVE.match(text) is not None


@lru_cache(maxsize=64)
def denies(text: str) -> bool:
    return NEGATION.search(IN_QUOTES.sub("", text)) is not None


class Entry(NamedTuple):
    """The name an item of a list or a cell of a table begins with."""

    text: str
    start: int
    end: int
    label: bool
    """A colon follows: it may be the name of what follows."""


def fences(text: str) -> list[tuple[int, int, str]]:
    """First and last position and the language of each fence."""
    if "```" not in text and "~~~" not in text:
        return []
    return [(*each.span(), each[2].strip().lower()) for each in FENCE.compiled.finditer(text)]


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """The text, as long as before, with nothing but line ends where these spans are."""
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        parts.append("".join("\n" if each == "\n" else "\0" for each in text[start:end]))
        at = end
    return "".join(parts) + text[at:]


def sentences(text: str) -> list[Sentence]:
    """The text in pieces; those of one line share the mood that its question mark gives."""
    found: list[Sentence] = []
    start = 0
    for match in END.compiled.finditer(text):
        piece = text[start : match.start()]
        if "\n" not in match[0] and ABBREVIATED.search(piece[-8:]):
            continue
        if NUMBERED.fullmatch(piece):
            continue
        if piece[-2:-1].isdigit() and DAY_OF.match(text, match.start() - 3):
            continue
        if piece.strip():
            found.append(judged(piece, start))
        start = match.end()
    if text[start:].strip():
        found.append(judged(text[start:], start))
    return found


def judged(piece: str, start: int) -> Sentence:
    return Sentence(
        piece,
        start,
        start + len(piece),
        "?" in piece and piece.rstrip("\"'”’)*_` \n").endswith("?"),
    )


CODED = Expression(r"(?=\S*\d)[\w#-]+")
"""An id that stands before the name of an item."""

ITEM = Expression(
    r"^(?P<lead>[ \t>]*(?:[-*•+–◦]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)(?P<rest>\S.*)$", re.M
)

LEAD_END = Expression(
    r"\s{1,8}[-–—|→>]{1,8}\s|\s{0,8}[–—]|:(?=[\s*_]|$)|\s?\(|;|\s\|\s|\*\*\s|[.!?]\s|[.!?]$"
)

PEEL = " \t*_`\"'“”‘’~[]\0"


def lists(text: str) -> list[list[Entry]]:
    """The lists of a text, each as the names its items begin with."""
    groups: list[list[Entry]] = []
    last = -9
    for match in ITEM.compiled.finditer(text):
        # Lines of one list follow each other with at most one other line between.
        if text.count("\n", last, match.start()) > 2 or last < 0:
            groups.append([])
        last = match.end()
        first = entry(match["rest"], match.start("rest"))
        groups[-1].append(first)
        if CODED.fullmatch(first.text):
            behind = first.end - match.start("rest")
            gone = len(match["rest"][behind:]) - len(match["rest"][behind:].lstrip(" `*_:-–—|,"))
            rest = match["rest"][behind + gone :].split(", ")[0]
            groups[-1].append(entry(rest, match.start("rest") + behind + gone))
    return groups


def entry(text: str, start: int) -> Entry:
    """The name at the beginning: what is emphasised or quoted, else all before a separator."""
    peeled = len(text) - len(text.lstrip(PEEL))
    opener = text[:peeled]
    body = text[peeled:]
    close = ""
    for mark in ("**", "__", "`", '"', "”", "*", "_"):
        if mark in opener.replace("“", "”"):
            close = mark
            break
    end = body.find(close) if close else -1
    if end < 0:
        stop = LEAD_END.search(body)
        end = stop.start() if stop else len(body)
    rest = body[end:].lstrip(" *_`\"”'")
    name = body[:end].rstrip(PEEL)
    label = rest.startswith(":") or name.endswith(":")
    name = name.rstrip(":").rstrip(PEEL)
    return Entry(name, start + peeled, start + peeled + len(name), label)


def tables(text: str) -> list[list[Entry]]:
    """The columns of the tables, each as its cells without the head."""
    columns: list[list[Entry]] = []
    head, at, labelled = -1, 0, False
    width: list[list[Entry]] = []
    for line in text.split("\n"):
        if line.count("|") >= 2 or (line.lstrip().startswith("|")):
            head += 1
            if head == 0:
                labelled = re.match(r"\s*\|\s*\|", line) is not None
            if head > 0 and not set(line.strip()) <= set("|-: +"):
                for place, cell in enumerate(cells(line, at)):
                    if place == 0 and labelled:
                        # The first column names what the others tell.
                        cell = cell._replace(text="")
                    while len(width) <= place:
                        width.append([])
                    width[place].append(cell)
        elif head >= 0:
            columns += width
            head, width = -1, []
        at += len(line) + 1
    return columns + width


def cells(line: str, at: int) -> list[Entry]:
    found = []
    for piece in line.split("|"):
        name = piece.strip(PEEL)
        start = at + piece.find(name) if name else at
        found.append(Entry(name, start, start + len(name), False))
        at += len(piece) + 1
    inner = line.strip()
    return found[(1 if inner.startswith("|") else 0) : (-1 if inner.endswith("|") else None)]
