"""One spelling for all: lower case, plain quotes and dashes, words without their signs. Pure."""

import re

from andy_cli.compiler.expression import Expression

PLAIN = str.maketrans(
    {each: "'" for each in "’‘‚ʼ`´"}
    | {each: '"' for each in "“”„«»"}
    | {each: "-" for each in "–—‑−‐"}
    | {each: " " for each in "\u00a0\u202f\u2009\t"}
    | {"…": "...", "\u200b": "", "\ufeff": "", "：": ":", "／": "/", "（": "(", "）": ")"}
)
ESCAPE = Expression(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/_*`#~.()\[\]-])|([nrt]))")
PERCENT = Expression(r"(?:%[0-9a-fA-F]{2})+")
WORD = Expression(r"[^\W_]+")
HIGH_HALF = re.compile("[\ud800-\udfff]")
ONLY_WORDS = bytes(each if chr(each).isalnum() and each < 128 else 32 for each in range(256))


def fold_text(text: str) -> str:
    """In one spelling: lower case, plain quotes and dashes."""
    if not text.isascii():
        text = text.translate(PLAIN)
    return text.casefold().replace("`", "'")


def remove_escapes(text: str) -> str:
    """The escapes of JSON and Markdown undone, whether or not the text is JSON as a whole."""
    if "\\" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else match[2] or "\n"

    text = ESCAPE.sub(plain, text)
    if HIGH_HALF.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def split_words(text: str) -> list[str]:
    """The words of a folded text; a run of Chinese or Japanese is one."""
    if text.isascii():
        return text.encode().translate(ONLY_WORDS).decode().split()
    return WORD.compiled.findall(text)
