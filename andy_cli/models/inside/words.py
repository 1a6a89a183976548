"""Words, meanings and things named in a request or in a tool's description. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase

from andy_cli.models.inside.thesaurus import TOPICS, VERBS

IDLE = frozenset(
    """a an the this that these those of in on at to for from with by and or but if as is are was
    were be been am do does did have has had i you he she it we they me my mine your our his her
    its their us them please could would can will shall may might should just some any all there
    here so too very then than into up down not no yes want like i'd i'm let let's give which
    what who how when where why one ones thing something anything called named times""".split()
)
"""Words that say nothing about which tool is meant."""

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")

URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"']+[^\s<>\"'.,;:!?)]|\bwww\.[^\s<>\"']+\w")
MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
QUOTED = re.compile(
    r"`([^`]+)`|\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|(?<!\w)'((?:[^']|'(?=\w))+)'(?!\w)"
)
FILE = re.compile(
    r"(?<![\w@/~.\-])(?:~?/|\.{1,2}/)?(?:[\w.@+-]+/)*"
    r"[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,5}\b(?!/)"
)
FOLDER = re.compile(
    r"(?<![\w:/.~-])(?:~(?:/[\w.@+-]+)*/?|/(?:[\w.@+-]+/?)+|\.{1,2}/(?:[\w.@+-]+/?)*"
    r"|(?!and/or\b|\w{1,3}/\w{1,3}\b|\d)[\w.@+-]+/(?:[\w.@+-]+/?)*)(?<!\.)(?![\w/])"
)
PHONE = re.compile(r"(?<![\w.:-])(?!\d{4}-\d\d)\+?\d[\d ()/-]{6,}\d\b(?![:.]\d)")
SUM = re.compile(r"[\d.()]+(?:\s*[-+*/^x]\s*[\d.()]+)+")
MUSIC_FILE = re.compile(r"\.(?:mp3|ogg|wav|flac|m4a|opus|aac)$", re.I)
SHELL = frozenset(
    """ls cd pwd grep git npm pip python python3 node cargo docker df du ps chmod chown curl wget
    ssh unzip uname whoami sudo apt systemctl wc sed awk pytest mkdir""".split()
)
"""Commands of a shell that are no English words."""
SHELL_ENGLISH = frozenset(
    """cat find make top kill echo touch tar zip date uptime free ping brew head tail sort which
    env export yarn go java""".split()
)
"""Those that are; they count only after `run` and in quotation marks."""


@dataclass(frozen=True, slots=True)
class Found:
    """A thing that a text names: what kind of thing, its text, where it stands."""

    kind: str
    text: str
    start: int
    end: int


def things(text: str) -> list[Found]:
    """Quotations, addresses, files, folders and numbers in order; none inside another."""
    found: list[Found] = []
    for kind, pattern in KINDS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            inner = next((group for group in match.groups() if group), match[0])
            found.append(Found(kind, inner, start, end))
    return sorted(found, key=lambda each: each.start)


KINDS = (
    ("quote", QUOTED),
    ("url", URL),
    ("mail", MAIL),
    ("phone", PHONE),
    ("file", FILE),
    ("folder", FOLDER),
    ("sum", SUM),
)


def stem(word: str) -> str:
    """The word without its ending: `playing`, `plays` and `play` are one."""
    word = word.lower().replace("\u2019", "'").removesuffix("'s")
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("xes", "x")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 2 and re.search("[aeiouy]", root):
            doubled = root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root.removesuffix("e")
    return word.removesuffix("e") if len(word) > 4 else word


def words(text: str) -> list[str]:
    """The words of a text, lower case, names of tools taken apart."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).replace("_", " ")
    return [each.lower() for each in WORD.findall(text)]


def meanings(word: str) -> frozenset[str]:
    """The lines of the thesaurus that the word stands in, e.g. `play`, `+music`."""
    return _index().get(stem(word), frozenset())


def mistyped(word: str) -> str:
    """The verb that was meant where letters changed places, or one is missing or typed twice."""
    if len(word) < 4:
        return ""
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    shorter = {word[:at] + word[at + 1 :] for at in range(1, len(word)) if word[at] == word[at - 1]}
    longer = {
        word[:at] + each + word[at:] for at in range(1, len(word)) for each in ascii_lowercase
    }
    meant = [*sorted(swapped | shorter), *sorted(each for each in longer if len(stem(each)) > 4)]
    return next((each for each in meant if verbs(each)), "")


def verbs(word: str) -> frozenset[str]:
    return frozenset(each for each in meanings(word) if not each.startswith("+"))


def topics(word: str) -> frozenset[str]:
    return frozenset(each for each in meanings(word) if each.startswith("+"))


@cache
def _index() -> dict[str, frozenset[str]]:
    index: dict[str, set[str]] = {}
    for mark, lines in (("", VERBS), ("+", TOPICS)):
        for name, each in _lines(lines):
            for word in each:
                index.setdefault(stem(word), set()).add(mark + name)
    return {word: frozenset(found) for word, found in index.items()}


def _lines(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    for line in text.strip().replace("\n ", " ").splitlines():
        name, _, rest = line.partition(":")
        yield name, rest.split()
