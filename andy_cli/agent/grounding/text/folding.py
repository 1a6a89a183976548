"""One spelling for all: lower case, plain quotes and dashes, words without their signs. Pure."""

import re

from andy_cli.compiler.expression import Expression

PLAIN = str.maketrans(
    dict.fromkeys("’‘‚ʼ`´", "'")
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("–—‑−‐", "-")
    | dict.fromkeys("\u00a0\u202f\u2009\t", " ")
    | {"…": "...", "\u200b": "", "\ufeff": "", "：": ":", "／": "/", "（": "(", "）": ")"}
)
ESCAPE = Expression(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/_*`#~.()\[\]-])|([nrt]))")
PERCENT_ESCAPES = Expression(r"(?:%[0-9a-fA-F]{2})+")
WORD = Expression(r"[^\W_]+")
HIGH_HALF = Expression("[\ud800-\udfff]")
ONLY_WORDS = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))


def fold_text(text: str) -> str:
    """Fold into one spelling: lower case, plain quotes and dashes."""
    if not text.isascii():
        text = text.translate(PLAIN)
    return text.casefold().replace("`", "'")


def remove_escapes(text: str) -> str:
    """Undo the escapes of JSON and Markdown, whether or not the text is JSON as a whole."""
    if "\\" not in text:
        return text

    def read_escape(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else match[2] or "\n"

    text = ESCAPE.sub(read_escape, text)
    if HIGH_HALF.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def split_words(text: str) -> list[str]:
    """Split a folded text into words; a run of Chinese or Japanese is one."""
    if text.isascii():
        return text.encode().translate(ONLY_WORDS).decode().split()
    return WORD.compiled.findall(text)
