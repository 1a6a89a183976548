"""Arguments as they come, as plain JSON values."""

from collections.abc import Iterable, Mapping
from math import isfinite
from types import NoneType

DEEPEST_VALUE = 60
PLAIN_TYPES = frozenset([bool, int, NoneType])
CONTAINER_TYPES = frozenset([dict, list])


class NotJson(Exception):
    """The arguments hold what JSON cannot say."""


def copy_as_json(value: object) -> object:
    """The value itself if it is made of plain dictionaries and lists, else a copy that is.

    Raises NotJson.
    """
    return value if _is_plain_json(value, 0) else _copy_value(value, 0)


def _is_plain_json(value: object, depth: int) -> bool:
    """Whether nothing needs to be copied; quick, and in doubt it says no."""
    if depth > DEEPEST_VALUE:
        return False
    if isinstance(value, dict):
        each_key = all(type(key) is str and key.isascii() for key in value)
        return type(value) is dict and each_key and _are_plain_json(value.values(), depth)
    if isinstance(value, list):
        return _are_plain_json(value, depth)
    return _are_plain_json((value,), depth)


def _are_plain_json(values: Iterable[object], depth: int) -> bool:
    for each in values:
        kind = type(each)
        if kind in PLAIN_TYPES:
            continue
        if isinstance(each, str):
            if not each.isascii():
                return False
        elif isinstance(each, float):
            if not isfinite(each):
                return False
        elif kind not in CONTAINER_TYPES or not _is_plain_json(each, depth + 1):
            return False
    return True


def _copy_value(value: object, depth: int) -> object:
    if depth > DEEPEST_VALUE:
        raise NotJson("it is nested too deeply")
    if isinstance(value, str):
        return _check_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise NotJson(f"{value} is no number that JSON knows")
        return value
    if isinstance(value, Mapping):
        return {_check_text(str(key)): _copy_value(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_copy_value(each, depth + 1) for each in value]
    raise NotJson(f"a {type(value).__name__} is no value that JSON knows")


def _check_text(text: str) -> str:
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        raise NotJson("it holds half a character")
    return text


def nesting_depth(value: object) -> int:
    """How deep lists and objects stand in one another."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(nesting_depth, inner), default=0) if isinstance(value, dict | list) else 0
