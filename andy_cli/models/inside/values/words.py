"""Words and things named in a request or in a tool's description. Pure."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from andy_cli.models.inside.values.calendar_words import WRITTEN_DATE

IDLE = frozenset(
    """a an the this that these those of in on at to for from with by and or but if as is are was
    were be been am do does did have has had i you he she it we they me my mine your our his her
    its their us them please could would can will shall may might should just some any all there
    here so too very then than into up down not no yes want like i'd i'm let let's give which
    what who how when where why one ones thing something anything called named times""".split()
)
"""Words that say nothing about which tool is meant."""

LEADS = frozenset(
    """about after at before between by during for from in into of on per to under via with
    an auf aus bei f\u00fcr im in nach um von vom zu zum zur
    a con de del en para por sobre
    \u00e0 au aux avec d dans de des du en par pour sur
    al alla con da dal della di in nel nella per su""".split()
)
"""Words that lead to a value, in the five languages that are tried."""
LINKS = (
    IDLE
    | LEADS
    | frozenset(
        """der die das den dem des ein eine einen einem einer am und oder mir mich dir mein meine
    meinen bitte mal was wie wo ist sind gib ich du es
    el la los las lo un una unos unas y o mi mis me tu qu\u00e9 que es
    le les l et ou moi mon ma mes te pla\u00eet quel est
    il i gli uno e mio mia miei che \u00e8""".split()
    )
)
"""Words that no value begins or ends with."""

INTERROGATIVES = frozenset(
    """what what's whats which who who's whos whom whose where where's wheres when when's whens
    how how's hows why
    was welche welchem welchen welcher welches wer wem wen wessen wo woher wohin womit
    wof\u00fcr wozu wann wie warum wieviel wieviele
    qu\u00e9 que cu\u00e1l cual cu\u00e1les cuales qui\u00e9n quien qui\u00e9nes quienes d\u00f3nde
    donde cu\u00e1ndo cuando c\u00f3mo como
    cu\u00e1nto cuanto cu\u00e1nta cuanta cu\u00e1ntos cuantos cu\u00e1ntas cuantas
    qu'est-ce est-ce quoi quel quelle quels quelles lequel laquelle qui o\u00f9 quand comment
    combien pourquoi
    cosa cos'\u00e8 cos'e quale quali qual chi dove dov'\u00e8 dov'e quando come com'\u00e8 com'e
    quanto quanta quanti quante perch\u00e9""".split()
)
"""Words that a question begins with, in the five languages that are tried."""

BEGINNING = INTERROGATIVES | {"che"}
"""Words that a question begins with at the very beginning of a text; elsewhere `che` is `that`."""
ASKING = frozenset("is are ist sind steht stehen gibt".split())
"""Verbs that questions begin with, and wishes do not."""
OWN_ASKING = frozenset(
    """did have had do am was were hab habe hatte haben hatten muss m\u00fcssen soll sollen brauch
    brauche brauchen""".split()
)
"""Verbs that a question of people about themselves begins with: `do I need milk`."""
SELVES = frozenset("i we ich wir".split())
INTRODUCTION = 5
"""Words; a question begins among them that is told as a wish: `can you tell me when`."""
NEGATIONS = frozenset(
    """not don't dont never nicht nie kein keine keinen pas jamais nunca jam\u00e1s non mai
    nessun nessuna ningun ning\u00fan ninguna""".split()
)
"""Words that turn a wish round, in the five languages that are tried."""

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")

URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"']+[^\s<>\"'.,;:!?)]|\bwww\.[^\s<>\"']+\w")
MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
QUOTED = re.compile(
    r"`([^`]+)`|\"([^\"]+)\"|\u201c([^\u201d]+)\u201d|\u201e([^\u201c\u201d]+)[\u201c\u201d]"
    r"|\u00ab\s*([^\u00bb]+?)\s*\u00bb|\u00bb([^\u00ab]+)\u00ab|(?<!\w)'((?:[^']|'(?=\w))+)'(?!\w)"
)
FILE = re.compile(
    r"(?<![\w@/~.\-])(?:~?/|\.{1,2}/)?(?:[\w.@+-]+/)*"
    r"[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,5}\b(?!/)"
    r"|(?<!\S)\.[A-Za-z][\w.@+-]*\b(?!/)"
)
FOLDER = re.compile(
    r"(?<![\w:/.~-])(?:~(?:/[\w.@+-]+)*/?|/(?:[\w.@+-]+/?)+|\.{1,2}/(?:[\w.@+-]+/?)*"
    r"|(?!and/or\b|\w{1,3}/\w{1,3}\b|\d)[\w.@+-]+/(?:[\w.@+-]+/?)*)(?<!\.)(?![\w/])"
)
PHONE = re.compile(r"(?<![\w.:-])(?!\d{4}-\d\d)\+?\d[\d ()/-]{6,}\d\b(?![:.]\d)")
DATE = re.compile(
    rf"{WRITTEN_DATE}|"
    r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])|(?<![\w.])\d{1,2}\.\d{1,2}\.(?:\d{4})?(?!\w)"
    r"|(?<![\w/])\d{1,2}/\d{1,2}/\d{4}(?![\w/])",
    re.I,
)
TIME = re.compile(
    r"(?<![\w:])\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?(?: ?[ap](?:m|\.m\.?))?(?![\w:])"
    r"|(?<!\w)\d{1,2} ?[ap](?:m\b|\.m\b\.?)",
    re.I,
)
SUM = re.compile(r"[\d.()]+(?:\s*[-+*/^x]\s*[\d.()]+)+")
CODE = re.compile(
    r"(?<![\w./-])(?=[A-Z0-9-]*[A-Z])(?=[A-Z0-9-]*\d|[A-Z0-9]+-[A-Z0-9]{2})"
    r"[A-Z0-9]+(?:-[A-Z0-9]+)*(?![\w./-]\w)\b|(?<![\w./-])[a-z]{1,4}-?\d{2,}(?![\w./-]\w)\b"
)
"""A name of letters and digits that something is numbered by: `UL050`, `B-04`, `D-EKLM`."""


ENDING = re.compile(r"(?<=.)\.(?=\d*[^\W\d])\w{1,5}$")
"""Of the name of a file; what has one and stands in backticks is a file."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing that a text names: what kind of thing, its text, where it stands."""

    kind: str
    text: str
    start: int
    end: int


def find_things(text: str) -> list[Thing]:
    """Find quotations, addresses, files, folders and numbers in order; none inside another."""
    found: list[Thing] = []
    if not SIGNS.search(text):
        return found
    for kind, pattern in KINDS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other.end and other.start < end for other in found):
                continue
            found.append(make_thing(kind, match))
    return sorted(found, key=lambda thing: thing.start)


def make_thing(kind: str, match: re.Match[str]) -> Thing:
    inner = next((group for group in match.groups() if group), match[0])
    if kind == "quote" and match[1]:  # in backticks
        if inner.endswith("/"):
            kind = "folder"
        elif ENDING.search(inner):
            kind = "file"
    return Thing(kind, inner, *match.span())


KINDS = (
    ("quote", QUOTED),
    ("url", URL),
    ("mail", MAIL),
    ("date", DATE),
    ("time", TIME),
    ("phone", PHONE),
    ("file", FILE),
    ("folder", FOLDER),
    ("sum", SUM),
    ("id", CODE),
)
SIGNS = re.compile(r"[\d.:/@~()`'\"\u201c\u201e\u00ab\u00bb-]")
"""Each of those kinds has one of them; most texts have none, and are told so in one go."""


ENDINGS = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("xes", "x"))


def find_stem(word: str) -> str:
    """Find the word without its ending: `playing`, `plays` and `play` are one."""
    word = word.lower().replace("\u2019", "'").removesuffix("'s")
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    return drop_verb_ending(word)


def drop_verb_ending(word: str) -> str:
    root = word.removesuffix("ing") if word.endswith("ing") else word.removesuffix("ed")
    if root == word or len(root) < 3 or set(root).isdisjoint("aeiouy"):
        return word.removesuffix("e") if len(word) > 4 else word
    is_doubled = root[-1] == root[-2] and root[-1] not in "lsz"
    return root[:-1] if is_doubled else root.removesuffix("e")


def meaningful_stems(text: str) -> frozenset[str]:
    """The stems of its words, without those that say nothing about what is meant."""
    return frozenset(find_stem(word) for word in find_words(text) if word not in IDLE)


def find_words(text: str) -> list[str]:
    """Find the words of a text, lower case, names of tools taken apart."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).replace("_", " ")
    return [word.lower() for word in WORD.findall(text)]


def is_question(text: str) -> bool:
    """Tell whether a text begins as a question does, or so after one word (`auf welchem Platz`);
    many are typed without a question mark.
    """
    first, second = [*find_words(text)[:2], "", ""][:2]
    if first in LEADS and second in BEGINNING:
        return True
    is_own = first in OWN_ASKING and second in SELVES
    return first in BEGINNING | ASKING or is_own


def holds_question(text: str) -> bool:
    """Tell whether a question begins a text, or one that stands after a few words: `tell me where
    the printer is`.
    """
    return is_question(text) or not INTERROGATIVES.isdisjoint(find_words(text)[:INTRODUCTION])


def find_question_lead(text: str) -> str:
    """Find the few words before the question that a wish holds: `google` of `google how bees fly`;
    empty where it begins with the question, or holds none.
    """
    for count, word in enumerate(WORD.finditer(text)):
        if word[0].lower() in INTERROGATIVES:
            return text[: word.start()].strip() if count < INTRODUCTION else ""
    return ""


def is_negated(text: str) -> bool:
    """Tell whether a wish may ask for the contrary: `don't play that`, `no pongas nada`."""
    words = find_words(text.replace("\u2019", "'"))
    return words[:1] == ["no"] or not NEGATIONS.isdisjoint(words)


def begins_negated(text: str) -> bool:
    """Tell whether a part begins with what turns it round: `not todo.md`, `nicht die Notizen`; a
    `no` before a sign turns nothing of it round: `no, stop it`.
    """
    first = "".join(text.split()[:1])
    return is_negated(first) and first[-1] not in ",.;:!"


def negates_any(text: str, stems: Collection[str]) -> bool:
    """Tell whether a word of these stems stands right after a word that turns it round: `do not
    cancel it`.
    """
    words = find_words(text.replace("\u2019", "'"))
    return any(word in NEGATIONS and find_stem(behind) in stems for word, behind in pairwise(words))


def find_plain_words(text: str) -> list[str]:
    """Find the words without accents."""
    if text.isascii():
        return find_words(text)
    split = unicodedata.normalize("NFKD", text)
    return find_words("".join(char for char in split if not unicodedata.combining(char)))
