"""Values that others wrote, read without a fault: JSON, its members, texts with half characters."""

import json
from collections.abc import Mapping


def read_json(text: str | bytes, otherwise: object = None) -> object:
    """The value of a JSON text; `otherwise` for a text that is none, or nested too deeply."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
    return value


def text_of(record: Mapping[str, object], key: str) -> str:
    """The text under a key; empty for anything else."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def replace_surrogates(text: str) -> str:
    """Join the halves of characters, and replace those that are alone: no request can hold them.

    They come with file names that are not UTF-8, out of `\\ud83d` in what a model writes, and from
    servers that cut a text between them.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
