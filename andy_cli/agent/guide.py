"""What a small model may say next: the answers to one question, and the shape of a conclusion.

The model chooses and joins; every name and figure it can choose is one that the user or a result
has given. Pure.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.agent.conclusion import talk_grammar
from andy_cli.agent.numbers import numbers, ordinal, without_things
from andy_cli.agent.spans import labelled, role, spans
from andy_cli.messages import Choice, Schema
from andy_cli.models.inside.words import IDLE, meanings, stem, words

__all__ = ["answer_choices", "talk_grammar"]

SKIP = Choice("skip", "leave it out")
MOST = 8
"""Answers offered at most."""

NAME_KEYS = ("file", "name", "path", "title", "subject", "url", "id", "summary")


def answer_choices(
    parameter_name: str,
    schema_of_parameter: Schema,
    required: bool,
    user_texts: Sequence[str],
    results: Sequence[str],
) -> tuple[Choice, ...]:
    """The candidate answers, the most plausible first; none when nothing is known.

    `user_texts` and `results` are oldest first; a result is the JSON or the text a tool returned.
    """
    sure, unsure = _candidates(parameter_name, schema_of_parameter, required, user_texts, results)
    answers = [*sure] if sure or not required else [*unsure]
    if not required:
        answers = [*sure, SKIP.text, *unsure]
    elif sure:
        answers = [*sure, *unsure]
    unique = dict.fromkeys(each for each in answers if each.strip())
    return tuple(SKIP if each == SKIP.text and not required else Choice(each) for each in unique)[
        :MOST
    ]


Split = tuple[list[str], list[str]]
"""What the user surely meant, and what would also fit."""


def _candidates(
    name: str, schema: Schema, required: bool, user_texts: Sequence[str], results: Sequence[str]
) -> Split:
    text = user_texts[-1] if user_texts else ""
    if allowed := schema.get("enum"):
        return _of_enum([str(each) for each in allowed], text)
    kind = schema.get("type")
    if kind == "boolean":
        return _yes_or_no(name, schema, text)
    if kind in ("integer", "number"):
        return _numbers(name, schema, text)
    return _texts(name, schema, required, user_texts, results)


ALSO_SAID = {"off": {"out"}, "walk": {"foot"}, "walking": {"foot"}, "bike": {"bicycl", "cycl"}}
"""Values of enumerations that people say in other words."""


def _of_enum(allowed: Sequence[str], text: str) -> Split:
    """`next_week` is said as `next week`; a value is also meant by a word of the same meaning."""
    said = " ".join(words(text))
    exact = [each for each in allowed if f" {' '.join(words(each))} " in f" {said} "]
    if exact:
        exact.sort(key=len, reverse=True)
        return exact, [each for each in allowed if each not in exact]
    stems = {stem(word) for word in words(text)}
    alike = [each for each in allowed if {stem(word) for word in words(each)} & (stems - IDLE)]
    alike += [value for value in allowed if stems & ALSO_SAID.get(value, set())]
    sure = alike if len(set(alike)) == 1 else []
    return sure, [each for each in allowed if each not in sure]


def _yes_or_no(name: str, schema: Schema, text: str) -> Split:
    """Yes when the request speaks of what the parameter is about."""
    about = [name, str(schema.get("description") or "").partition(" instead")[0]]
    wanted = {stem(word) for word in words(" ".join(about)) if word not in IDLE}
    named = {each for word in words(name) for each in meanings(word)}
    rest = [word for word in words(without_things(text)) if word not in IDLE]
    hit = any(stem(word) in wanted or meanings(word) & named for word in rest)
    return (["yes"], ["no"]) if hit else ([], ["no", "yes"])


# Numbers.

COUNTED = frozenset(
    "number count amount maximum max min limit most many how at of to the in".split()
)
UNITS = {
    "percent": {"%", "percent"},
    "second": {"s", "sec"},
    "minut": {"min"},
    "degre": {"\u00b0", "c"},
}


def _numbers(name: str, schema: Schema, text: str) -> Split:
    low, high = schema.get("minimum"), schema.get("maximum")
    whole = schema.get("type") == "integer"
    about = {
        stem(w)
        for w in words(f"{name} {schema.get('description') or ''}")
        if w not in COUNTED | IDLE
    }
    for unit, others in UNITS.items():
        about |= others if unit in about else set()
    sure: list[str] = []
    unsure: list[str] = []
    for value, start, end in numbers(text):
        outside = (low is not None and value < low) or (high is not None and value > high)
        if outside or (whole and not value.is_integer()):
            continue
        written = str(int(value)) if value.is_integer() else str(value)
        plain = without_things(text)
        near = {stem(w) for w in words(plain[max(0, start - 18) : start])[-2:]}
        near |= {stem(w) for w in words(plain[end : end + 24])[:2]} | set(
            plain[end : end + 2].strip()[:1]
        )
        (sure if near & about else unsure).append(written)
    if not sure and re.search(r"index|position|number of the|which", " ".join([name, *about])):
        sure = [str(each + 1) for each in [ordinal(text)] if each is not None and each >= 0]
    return sure, unsure


# Texts.

VAGUE = frozenset({"text", "id"})
"""Roles that nearly any words fit."""


def _texts(
    name: str, schema: Schema, required: bool, user_texts: Sequence[str], results: Sequence[str]
) -> Split:
    text = user_texts[-1] if user_texts else ""
    kind = role(name, schema)
    found = spans(kind, name, schema, text)
    if kind in VAGUE and not required:
        sure = [*labelled(name, text)]
        return sure, [each for each in found if each not in sure]
    if kind == "titled":
        return _named_work(found, text, results)
    picked = picks(name, kind, text, results)
    if kind in {"file", "id"} and picked and not _named(found, picked):
        return picked, found
    if kind == "folder" and not found:
        earlier = [
            each for said in reversed(user_texts[:-1]) for each in spans(kind, name, schema, said)
        ]
        found = earlier if ordinal(text) is not None and results else []
        return found, ["."]
    return found, picked


def _named_work(found: Sequence[str], text: str, results: Sequence[str]) -> Split:
    """What is called by its title: an entry of the newest list when it fits, else the words."""
    listed = next((each for each in map(entries, reversed(results)) if each), [])
    said = [(name, {stem(word) for word in words(name)} - IDLE) for name in found]
    for _, stems in sorted(said, key=lambda each: -len(each[1])):
        alike = [each.name for each in listed if len(stems) > 1 and stems <= each.stems]
        if alike:
            return alike, [*found]
    at = ordinal(text)
    if at is not None and -len(listed) <= at < len(listed):
        return [listed[at].name], [each.name for each in listed if each is not listed[at]]
    alike = [each.name for _, stems in said for each in listed if stems and stems <= each.stems]
    if alike:
        return alike, [*found]
    return [*found], []


def _named(found: Sequence[str], picked: Sequence[str]) -> bool:
    """The user named a file that is none of the results: that one is meant."""
    return any(re.search(r"\.\w{1,5}$", each) for each in found)


def picks(name: str, kind: str, text: str, results: Sequence[str]) -> list[str]:
    """Items of the results that the user points at: the first one, the last one, by its title."""
    for result in reversed(results):
        values = items(result, name if kind == "id" else "")
        if not values:
            continue
        at = ordinal(text)
        if at is not None and -len(values) <= at < len(values):
            first = values[at]
            return [first, *(each for each in values if each != first)][:MOST]
        said = {stem(word) for word in words(text)} - IDLE
        alike = sorted(values, key=lambda each: -len(said & {stem(w) for w in words(each)}))
        return alike[:MOST]
    return []


class Entry(NamedTuple):
    """One entry of a result: what it is called, and the stems of all its words."""

    name: str
    stems: frozenset[str]


def items(result: str, key: str = "") -> list[str]:
    """The entries of a result by name."""
    return [each.name for each in entries(result, key)]


def entries(result: str, key: str = "") -> list[Entry]:
    """Of a JSON list of texts or records, or of lines of text."""
    try:
        value: object = json.loads(result)
    except (ValueError, RecursionError):
        lines = [line.strip() for line in result.splitlines() if line.strip()]
        return [_entry(line, line) for line in lines] if len(lines) > 1 else []
    if isinstance(value, Mapping):
        value = next((each for each in value.values() if isinstance(each, list)), [value])
    if not isinstance(value, list):
        return []
    return [_entry(named, each) for each in value if (named := _item_name(each, key))]


def _entry(name: str, whole: object) -> Entry:
    texts = map(str, whole.values()) if isinstance(whole, Mapping) else [name]
    return Entry(name, frozenset(stem(word) for text in texts for word in words(text)))


def _item_name(entry: object, key: str) -> str:
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, Mapping):
        return ""
    keys = (key, "id", *NAME_KEYS) if key else NAME_KEYS
    named = [entry[each] for each in keys if isinstance(entry.get(each), str | int)]
    texts = [each for each in entry.values() if isinstance(each, str)]
    return str((named or texts or [""])[0])
