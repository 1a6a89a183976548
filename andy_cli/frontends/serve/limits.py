"""Limits that are none: `max_tokens` as -1, as some clients write that there is no limit."""

from collections.abc import Mapping

LIMITS = ("max_tokens", "max_completion_tokens")


def has_unlimited(fields: Mapping[str, object]) -> bool:
    return any(is_unlimited(fields.get(name)) for name in LIMITS)


def is_unlimited(value: object) -> bool:
    return type(value) is int and value == -1


def drop_unlimited(fields: Mapping[str, object]) -> dict[str, object]:
    """Without limits that are none: not every server knows them."""
    return {
        name: value
        for name, value in fields.items()
        if not (name in LIMITS and is_unlimited(value))
    }
