"""The result of an MCP server, as the model is told it: data where there is data, else its text.

Pictures and sounds are named and not passed on; links are named and not followed.
"""

import json
from collections.abc import Iterable, Mapping, Set

from andy_cli.foreign_values import read_json
from andy_cli.guard.terminal_sanitizer import spell_out

MAX_CHARACTERS = 200_000
"""Characters of one result; what is longer keeps its beginning and its end."""

NO_JSON = object()


def result_content(content: Iterable[object], data: object, failed: bool = False) -> object:
    """Return what is told: the data of a result with all but the texts that say the same, or
    without any its blocks. Of a failure the texts say why, whatever data there is.
    """
    blocks = list(content)
    texts = "\n".join(_list_shown(blocks))
    if data is None or (failed and texts):
        return shorten_result(texts)
    if isinstance(data, dict) and data.keys() == {"result"}:
        data = data["result"]  # how servers wrap what is no object
    said = {_write_sorted(value) for value in [data, *_list_values(data)]}
    others = [block for block in blocks if not _repeats(block, said)]
    return _add_others(_replace_bytes(data, _name_bytes(blocks)), _list_shown(others))


def _list_shown(blocks: Iterable[object]) -> list[str]:
    """List what is told of blocks, without those of which nothing is."""
    return [text for block in blocks if (text := describe_block(block))]


def _repeats(block: object, said: Set[str]) -> bool:
    """Tell whether a block is a text that is the data or one of its values, as it is or as JSON."""
    if getattr(block, "type", "") != "text":
        return False
    text = describe_block(block)
    return _write_sorted(text) in said or _write_sorted(read_json(text, NO_JSON)) in said


def _write_sorted(value: object) -> str:
    """Write a value so that equal ones are written alike: so thousands are compared at once."""
    return json.dumps(value, sort_keys=True, default=repr)


def _list_values(data: object) -> Iterable[object]:
    if isinstance(data, dict):
        inner = [value for value in data.values() if isinstance(value, list)]
        return [*data.values(), *(item for values in inner for item in values)]
    return data if isinstance(data, list) else []


def _name_bytes(blocks: Iterable[object]) -> dict[str, str]:
    """Find the bytes that blocks hold, in base64, each with the words that stand for them."""
    words_by_bytes: dict[str, str] = {}
    for block in blocks:
        holder = getattr(block, "resource", block)
        encoded_bytes = getattr(holder, "data", None) or getattr(holder, "blob", None)
        if isinstance(encoded_bytes, str):
            words_by_bytes[encoded_bytes] = describe_block(block)
    return words_by_bytes


def _replace_bytes(data: object, words: Mapping[str, str]) -> object:
    """Write words in place of bytes: some servers repeat their pictures in the data."""
    if isinstance(data, str):
        return words.get(data, data)
    if isinstance(data, list):
        return [_replace_bytes(value, words) for value in data]
    if isinstance(data, dict):
        return {key: _replace_bytes(value, words) for key, value in data.items()}
    return data


def _add_others(data: object, others: list[str]) -> object:
    written = data if isinstance(data, str) else write_json(data)
    if others or written is data or len(written) > MAX_CHARACTERS:
        return shorten_result("\n".join([written, *others]))
    return data


def write_json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, default=str)


def describe_block(block: object) -> str:
    """Write one block of a result as text; of what is no text say what it is."""
    kind = str(getattr(block, "type", ""))
    if kind == "text":
        return str(getattr(block, "text", ""))
    if kind in ("image", "audio"):
        # Base64 writes three bytes as four letters.
        size = len(str(getattr(block, "data", ""))) * 3 // 4
        mime_type = spell_out(str(getattr(block, "mime_type", "")))
        return f"({kind}, {mime_type}, {size} bytes, not shown)"
    if kind == "resource_link":
        return f"(a link to {spell_out(str(getattr(block, 'uri', '')))}, not opened)"
    inner = getattr(block, "resource", None)
    text = getattr(inner, "text", None)
    return str(text) if text is not None else f"({spell_out(kind or 'something')}, not shown)"


def shorten_result(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    left_out = len(text) - MAX_CHARACTERS
    half_length = MAX_CHARACTERS // 2
    return f"{text[:half_length]}\n[... {left_out} characters left out ...]\n{text[-half_length:]}"
