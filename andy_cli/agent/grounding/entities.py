"""What in an answer can be checked: each entity with where it stands and what kind it is. Pure."""

import re
from collections.abc import Callable, Sequence
from functools import partial

from andy_cli.agent.grounding.claim import Claim
from andy_cli.agent.grounding.dates import DATE, TIME
from andy_cli.agent.grounding.layout import blanked
from andy_cli.agent.grounding.quantities import DURATION, SIZE
from andy_cli.agent.grounding.shapes import (
    ACCOUNT,
    ADDRESS,
    COMMON,
    COUNT,
    DAY_NAME,
    DELIMITED,
    DOTTED,
    EXTENSION,
    FILE,
    HOST,
    ID,
    LABELLED,
    ORDINAL,
    PATH,
    PERCENT,
    PHONE,
    PLAIN_NUMBER,
    SPELLED,
    TALLY,
    URL,
    UUID,
    VERSION,
)
from andy_cli.agent.grounding.vocabulary import LIBRARIES
from andy_cli.compiler.expression import Expression

Spans = Sequence[tuple[int, int]]

Reader = Callable[[re.Match[str]], tuple[int, int] | None]


class Finder:
    """Takes entities out of a text, the most telling kinds first; what is taken is not looked at
    again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rest = text
        self.found: list[Claim] = []

    def take(self, pattern: Expression, kind: str, read: Reader, within: Spans = ()) -> None:
        """Only within these spans, where any are given."""
        parts, last = [], 0
        for first, stop in within or ((0, len(self.rest)),):
            for match in pattern.compiled.finditer(self.rest, first, stop):
                if (span := read(match)) and span[0] >= last:
                    self.found.append(Claim(self.text[span[0] : span[1]], *span, kind))
                    parts += [self.rest[last : span[0]], "\0" * (span[1] - span[0])]
                    last = span[1]
        self.rest = "".join(parts) + self.rest[last:] if parts else self.rest

    def drop(self, pattern: Expression) -> None:
        self.rest = pattern.sub(lambda match: "\0" * len(match[0]), self.rest)


def entities(text: str, taken: Sequence[tuple[int, int]]) -> list[Claim]:
    """All that may have to be checked, in the order of the text, outside of what is taken."""
    finder = Finder(text)
    finder.rest = blanked(text, sorted(taken))
    named(finder)
    figures(finder)
    return sorted(finder.found, key=lambda each: each.start)


def named(finder: Finder) -> None:
    """Addresses, files, paths and what is quoted."""
    text = finder.rest
    if "://" in text or "www." in text:
        finder.take(URL, "url", trimmed)
    if "@" in text:
        finder.take(ADDRESS, "address", trimmed)
    if figured := lines(finder.rest, FIGURED):
        finder.take(UUID, "id", whole, figured)
        finder.take(HOST, "id", whole, figured)
    if QUOTING.search(finder.rest):
        delimited(finder)
    if "/" in finder.rest or "\\" in finder.rest:
        finder.take(PATH, "path", path)
    if inner := lines(finder.rest, INNER_STOP):
        finder.take(DOTTED, "id", whole, inner)
        finder.take(FILE, "file", file, lines(finder.rest, INNER_STOP))


def figures(finder: Finder) -> None:
    """Dates, times, quantities, ids and counts: on lines with a figure or the word for one."""
    figured = lines(finder.rest, FIGURED)
    if figured:
        finder.take(LABELLED, "id", labelled, figured)
        finder.take(DATE, "date", date, figured)
        finder.take(SIZE, "size", size, figured)
        finder.take(TIME, "time", whole, figured)
    counted = lines(finder.rest, COUNTED, ". ")
    if counted:
        finder.take(DURATION, "duration", duration, counted)
    if figured:
        finder.take(PERCENT, "percent", whole, figured)
        finder.take(VERSION, "version", whole, figured)
        finder.take(PHONE, "id", phone, figured)
        finder.take(ID, "id", record_id, figured)
        finder.take(ACCOUNT, "id", account, figured)
        finder.drop(ORDINAL)
    if counted:
        finder.take(COUNT, "count", count, counted)
        finder.take(TALLY, "tally", count, counted)
    if daily := lines(finder.rest, DAYLIKE, ". "):
        finder.take(DAY_NAME, "weekday", whole, daily)
    if figured:
        finder.take(PLAIN_NUMBER, "number", whole, figured)


QUOTING = Expression(r"[`\"“„«*_'‘]")
INNER_STOP = Expression(r"\w[)\]]?\.\w")
FIGURED = Expression(r"\d")
COUNTED = Expression(
    rf"\d|\b(?:{SPELLED}|thirty|forty|fifty|sixty|seventy|eighty|no|kein\w*|aucune?|ningún|ninguna)\b",
    re.IGNORECASE,
)

DAYLIKE = Expression(
    r"day\b|days\b|tags?\b|woch|di\b|dis\b|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado"
    r"|manche|domingo",
    re.IGNORECASE,
)


def lines(text: str, sign: Expression, stop: str = "\n") -> Spans:
    """The lines that hold the sign, or the pieces between other stops."""
    found: list[tuple[int, int]] = []
    at = 0
    while match := sign.search(text, at):
        start = max(text.rfind("\n", at, match.start()), text.rfind(stop, at, match.start())) + 1
        ends = [text.find("\n", match.end()), text.find(stop, match.end())]
        end = min((each for each in ends if each >= 0), default=len(text))
        found.append((max(at, start), end))
        at = end
    return found


def whole(match: re.Match[str]) -> tuple[int, int]:
    text = match[0].rstrip()
    if text.endswith(".") and not text.endswith(".m."):
        text = text[:-1]
    return match.start(), match.start() + len(text)


def trimmed(match: re.Match[str]) -> tuple[int, int]:
    """Without the punctuation of the sentence it stands in."""
    text = match[0].rstrip(".,;:!?*_'\"”’…")
    while text.endswith(")") and text.count("(") < text.count(")"):
        text = text[:-1].rstrip(".,;:!?*_")
    return match.start(), match.start() + len(text)


def delimited(finder: Finder) -> None:
    """What is quoted, emphasised or set as code is one name, if it is a file, a path or a title."""
    for wanted in ("file", "path", "code", "subject"):
        finder.take(DELIMITED, wanted, partial(inner_span, kind=wanted))
    emphasised = Finder(finder.text)
    emphasised.rest = finder.rest
    emphasised.take(DELIMITED, "title", partial(inner_span, kind="title"))
    finder.found += emphasised.found


def inner_span(match: re.Match[str], kind: str) -> tuple[int, int] | None:
    group = next(at for at, each in enumerate(match.groups(), 1) if each is not None)
    inner = match[group]
    if "\0" in inner or named_kind(inner, group) != kind:
        return None
    start, end = match.span(group)
    start += len(inner) - len(inner.lstrip(" *_`\"'"))
    end -= len(inner) - len(inner.rstrip(" *_`\"',.!?"))
    return (start, end) if end > start else None


def named_kind(inner: str, group: int) -> str | None:
    """Is it a file, a path or a subject? None leaves it to be read as any other text."""
    plain = inner.strip(" *_`\"',")
    if re.search(rf"\.(?:{EXTENSION})$", plain, re.IGNORECASE) and "\n" not in plain:
        if not re.search(
            r"[{}()=<>;$]|^\w+ -\w|^(?:cd|cat|rm|ls|mv|cp|git|python3?|pip|npm|node|open) ", plain
        ) or re.search(r"\(\d|\([A-Z]", plain):
            if re.match(r"[a-z][\w-]*\s(?:.*\s)?[-~/.]", plain):
                return "code"
            parts = plain.split(", ")
            if len(parts) > 1 and all("." in each for each in parts):
                return None
            return "path" if "/" in plain or "\\" in plain else "file"
        return None
    if re.fullmatch(
        r"(?:~|\.{1,2})?/[^\s{}()=<>;$|]*|[A-Za-z]:\\.*|~|[\w.-]+(?:/[\w. -]+)*/", plain
    ):
        return "path" if len(plain) > 1 else None
    if group in {1, 6} and re.fullmatch(r"\w[\w.-]*(?:/[\w.-]+)+", plain):
        return "path"
    if group == 1:
        return None if re.fullmatch(r"[\w.:@+#-]+", plain) else "code"
    return "title" if group in (6, 7, 8) else "subject"


def path(match: re.Match[str]) -> tuple[int, int] | None:
    start, end = trimmed(match)
    text = match[0][: end - start]
    if text[0] in "~./" or re.match(r"[A-Za-z]:\\", text):
        return (start, end) if re.search(r"\w", text) and not re.fullmatch(r"/\w", text) else None
    # `and/or`, `10/12`, `km/h`: a relative path shows itself by a file name or by its depth.
    if re.fullmatch(r"[\d./-]+", text):
        return None
    if re.search(rf"\.(?:{EXTENSION})$", text, re.IGNORECASE):
        return start, end
    return (start, end) if re.match(r"[A-Za-z][\w.-]+/[\w.-]{3,}", text) else None


def file(match: re.Match[str]) -> tuple[int, int] | None:
    stem, _, ending = match[0].rpartition(".")
    if ending.lower() in {"js", "net", "io", "com"} and stem.lower() in LIBRARIES:
        return None
    start = match.start()
    before = match.string[max(0, start - 80) : start]
    if joint := re.search(
        r"(?:(?<![\w\0])[\w#.()&'’-]+ [-–&+] |(?<![\w\0.])\d{1,3}[ .)]+[-–] )+$", before
    ):
        start -= len(joint[0])
    return start, match.end()


def size(match: re.Match[str]) -> tuple[int, int] | None:
    # `from 15 to 16` is no quantity of terabytes.
    return None if match["unit"] == "to" else whole(match)


def date(match: re.Match[str]) -> tuple[int, int] | None:
    word = match["m3"] or match["m4"] or match["m5"]
    # Only a capital tells the month from the verb.
    if (
        word
        and word in {"may", "march", "mar", "mai", "dec", "ago", "sep", "mars", "set"}
        and (word != "mars" and word != "mai")
    ):
        return None
    if match["d6"] and not re.search(
        r"\b(?:am|vom|bis|zum|ab|den|der|seit)\s$", match.string[: match.start()][-6:]
    ):
        return None
    return whole(match)


def duration(match: re.Match[str]) -> tuple[int, int] | None:
    if match["first"] and match["first"].casefold() in {"one", "ein", "eine", "un", "une", "una"}:
        return None
    return whole(match)


def phone(match: re.Match[str]) -> tuple[int, int] | None:
    digits = re.sub(r"\D", "", match[0])
    if match[0].count("(") != match[0].count(")"):
        return None
    return whole(match) if 7 <= len(digits) <= 15 and re.search(r"[ ()/+-]", match[0]) else None


def account(match: re.Match[str]) -> tuple[int, int] | None:
    """`4471-09` and `40-7781`, but no span of figures, which goes up by little."""
    first, second = match[1], match[2]
    falls = len(first) > 3 and int(first) > int(second)
    return whole(match) if falls or len(second) > len(first) + 1 else None


def labelled(match: re.Match[str]) -> tuple[int, int]:
    return match.span(1)


SERIES = re.compile(r"[A-Z]{1,3}-?\d{1,3}|[a-z]{3,}[_-]?\d{1,2}")
"""One of several of a name: a claim where the results have others of the same name."""


def record_id(match: re.Match[str]) -> tuple[int, int] | None:
    if len(match[0]) < 3 and not re.fullmatch(r"\d[A-Z]|[A-Z]\d", match[0]):
        return None
    if COMMON.fullmatch(match[0]) and not SERIES.fullmatch(match[0]):
        return None
    return whole(match)


def count(match: re.Match[str]) -> tuple[int, int] | None:
    return whole(match)
