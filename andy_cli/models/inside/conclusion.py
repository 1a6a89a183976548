"""The sentence that ends a turn: what the last command did, and what it found. Pure."""

import json
import re
from collections.abc import Mapping, Sequence

from andy_cli.models.inside.words import words

LISTED = 20
"""Entries of a list that are named; of a longer one the first few."""
LONGEST = 160
"""Characters of a name or value that is copied."""
EXCERPT = 400
"""Characters of a long text that are copied."""
PAIRS = 4
ADVICE = re.compile(
    r"^(?:ask|correct|use|do not|don't|try|call|tell|give|repeat|look|choose)\b|\bthe user\b"
    r"|(?<![\w./-])[a-z]+[a-z0-9]*(?:_[a-z0-9]+)+(?![\w./-])",
    re.I,
)
"""Sentences that are meant for the model: what to do next, and by which tool."""
REWORDED = (
    # (how a failure is told to the model, how it is told to a person)
    (re.compile(r"cannot \S+ without (\w+)", re.I), r"What is the \1?"),
    (
        re.compile(r"This was not allowed: (.+?)\.?(?: Do not try .*)?", re.S),
        r"I may not do that: \1.",
    ),
    (
        re.compile(r"\S+ was not run, its arguments do not fit: (.+?)\. Correct .*", re.S),
        r"That does not fit: \1.",
    ),
    (
        re.compile(r"There is no (\S+)\.(?: The nearest are: .*?\.)? Use one that exists.*", re.S),
        "I cannot do that.",
    ),
)


def conclude_all(results: Sequence[str], done: Sequence[str]) -> str:
    """What is told of all results of a turn, a paragraph each where they are long."""
    deeds = [*done, *[""] * len(results)]
    told = [conclude(result, deed) for result, deed in zip(results, deeds, strict=False)]
    joint = "\n\n" if any("\n" in each for each in told) else "\n"
    return joint.join(dict.fromkeys(told))


def conclude(result: str, done: str = "") -> str:
    """What is told of a result, JSON or text; `done` is what the tool did, in the past tense."""
    value = _value(result)
    deed = f"{done[:1].upper()}{done[1:]}".rstrip(".")
    found = _found(value)
    if not deed:
        return found if found.endswith((".", "!", "?")) or "\n" in found else f"{found}."
    if (
        not found
        or (_entries(value) == [] and {*words(deed)} & {"no", "nothing", "empty"})
        or _says_it_all(deed, found, value)
    ):
        return f"{deed}."
    if plain(deed) in plain(found):
        return found if found.endswith((".", "!", "?")) else f"{found}."
    joint = ":\n" if "\n" in found else ": "
    return f"{deed}{joint}{found}"


def _says_it_all(deed: str, found: str, value: object) -> bool:
    """Whether the deed tells of it as well: a sentence is better than a record's names and values,
    and `started a.mp3` says the same as `playing a.mp3`."""
    if isinstance(value, Mapping) and _entries(value) is None:
        return ": " in deed
    said = {*words(deed)}
    new = {word for word in words(found) if not word.isdigit()}
    return new <= said or (3 * len(new - said) <= len(new) and len(new & said) > 1)


def _found(value: object) -> str:
    entries = _entries(value)
    if entries is not None:
        return _listing(entries)
    if isinstance(value, Mapping):
        return _record(value)
    text = told(value.strip()) if isinstance(value, str) else json.dumps(value)
    if not text or text in {"OK", "null"}:
        return "Done"
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT].rsplit(chr(10), 1)[0]}\n..."


def _listing(entries: Sequence[str]) -> str:
    if not entries:
        return "nothing was found"
    more = len(entries) - LISTED
    shown = "\n".join(f"- {each}" for each in entries[:LISTED])
    return f"{shown}\n- and {more} more" if more > 0 else ", ".join(entries)


def _record(record: Mapping[str, object]) -> str:
    """`time: 16:40, zone: Asia/Tokyo`"""
    pairs = [
        f"{' '.join(words(str(name))) or name}: {_short(value)}"
        for name, value in record.items()
        if isinstance(value, str | int | float) and str(value)
    ]
    return ", ".join(pairs[:PAIRS]) or json.dumps(record, ensure_ascii=False)[:EXCERPT]


def told(text: str) -> str:
    """What a tool said, without what is meant for the model alone."""
    for said, instead in REWORDED:
        if match := said.fullmatch(text.strip()):
            return re.sub(r"(?<=: )\w+: |(?<=; )\w+: ", "", match.expand(instead))
    first, *more = re.split(r"(?<=[.!?])\s+(?=[A-Z]|[a-z]+_)", text)
    return " ".join([first, *(each for each in more if not ADVICE.search(each))])


def plain(text: str) -> str:
    return " ".join(words(text))


def _entries(value: object) -> list[str] | None:
    """The entries of a list by name, of a record the list in it; None where there is no list."""
    if isinstance(value, Mapping):
        value = next((each for each in value.values() if isinstance(each, list)), None)
    if not isinstance(value, list):
        return None
    return [_short(_name(each)) for each in value]


def _name(entry: object) -> object:
    if isinstance(entry, Mapping):
        return next((each for each in entry.values() if isinstance(each, str) and each), entry)
    return entry


def _value(text: str) -> object:
    """What the text is as JSON, else the text itself."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:LONGEST]
