"""One spelling for all: lower case, plain quotes and dashes, words without their signs. Pure."""

import re
from collections.abc import Iterable

from andy_cli.agent.grounding.vocabulary import STOP
from andy_cli.compiler.expression import Expression

PLAIN = str.maketrans(
    {each: "'" for each in "’‘‚ʼ`´"}
    | {each: '"' for each in "“”„«»"}
    | {each: "-" for each in "–—‑−‐"}
    | {each: " " for each in "\u00a0\u202f\u2009\t"}
    | {"…": "...", "\u200b": "", "\ufeff": ""}
)

ESCAPE = Expression(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/])|([nrt]))")
WORD = Expression(r"[^\W_]+")
HIGH_HALF = re.compile("[\ud800-\udfff]")


def folded(text: str) -> str:
    """In one spelling: lower case, plain quotes and dashes, no markdown escapes."""
    if not text.isascii():
        text = text.translate(PLAIN)
    return text.casefold().replace("`", "'")


def unescaped(text: str) -> str:
    """JSON's escapes undone, whether or not the text is JSON as a whole."""
    if "\\" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else match[2] or "\n"

    text = ESCAPE.sub(plain, text)
    if HIGH_HALF.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


ONLY_WORDS = bytes(each if chr(each).isalnum() and each < 128 else 32 for each in range(256))


def words_of(text: str) -> list[str]:
    if text.isascii():
        return text.encode().translate(ONLY_WORDS).decode().split()
    return WORD.compiled.findall(text)


CAPITALS = Expression(
    r"[A-ZÀ-Þ][^\W\d_]*(?:[ -](?:(?:of|the|a|de|la|van|von|and) )?[A-ZÀ-Þ][^\W\d_]+){1,3}"
)


def half_names(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """The names of two to four words, each with one of its words left out."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        for run in set(CAPITALS.compiled.findall(text)):
            words = [each for each in words_of(folded(run)) if each not in STOP]
            found.update((*words[:at], "", *words[at + 1 :]) for at in range(len(words)))
    return frozenset(found)
