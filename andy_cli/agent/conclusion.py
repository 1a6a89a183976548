"""The shape of a small model's concluding sentence, as a GBNF grammar. Pure.

So small a model makes things up with any words of its own. It therefore picks how to begin and
what to call things; names, figures and texts are copied from the latest result. What the answer
names exists by construction.
"""

import json
import re
from collections.abc import Mapping, Sequence

from andy_cli.models.inside.words import IDLE, words

LISTED = 8
"""Entries of a list that are named; of a longer one the first few."""
LONGEST = 160
"""Characters of a name or value that is copied."""
EXCERPT = 400
"""Characters of a long text that are copied."""
PAIRS = 4

NOUNS = ("results", "entries", "files")
PAST = re.compile(r"\w+ed\b|wrote|went|sent|ran|found|made|put|set|took|began|kept|saw|did|got")
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
STRANGE = re.compile(r"[^\S\n]+")


def talk_grammar(results: Sequence[str], user: str) -> str:
    """GBNF for the answer that concludes a turn; empty when there was no result.

    `results` are those of the turn, oldest first, as JSON or text.
    """
    if not results:
        return ""
    value = _value(results[-1])
    entries = _entries(value)
    if entries is not None:
        return _root(_listing(entries, user))
    if isinstance(value, Mapping):
        return _root(_record(value))
    text = results[-1].strip() if isinstance(value, str) else json.dumps(value)
    if not text or text in {"OK", "null"}:
        return _root(_either(["Done.", "That is done."]))
    return _root(_line(text) if "\n" not in text and len(text) <= EXCERPT else _excerpt(text))


def _root(rule: str) -> str:
    return f"root ::= {rule}\n"


def _listing(entries: Sequence[str], user: str) -> str:
    """`I found 3 songs: a, b and c.`; what they are called is up to the model."""
    if not entries:
        return _either(["I found nothing.", "There is nothing there."])
    if len(entries) == 1:
        return _literal(f"I found {entries[0]}.")
    shown, more = list(entries[:LISTED]), len(entries) - LISTED
    if more > 0:
        listed = f"{', '.join(shown)} and {more} more."
    else:
        listed = f"{', '.join(shown[:-1])} and {shown[-1]}."
    said = [word for word in words(user) if word.endswith("s") and word not in IDLE]
    nouns = [word for word in said if len(word) > 3 and not word.endswith(("ss", "'s"))]
    return " ".join(
        [
            _literal(f"I found {len(entries)} "),
            f"({_either([*dict.fromkeys([*nouns, *NOUNS])])})",
            _literal(f": {listed}"),
        ]
    )


def _record(record: Mapping[str, object]) -> str:
    """`The time is 16:40 and the zone is Asia/Tokyo.`"""
    pairs = [
        f"{' '.join(words(str(name))) or name} is {_short(value)}"
        for name, value in record.items()
        if isinstance(value, str | int | float) and str(value)
    ]
    if not pairs:
        return _line(json.dumps(record, ensure_ascii=False)[:EXCERPT])
    return _literal(f"The {' and the '.join(pairs[:PAIRS])}.")


def _line(text: str) -> str:
    """One line that says what happened becomes a sentence: `playing a.mp3` is `Now playing ...`"""
    text = told(text)
    end = "" if text.endswith((".", "!", "?")) else "."
    first = text.split()[0]
    if first.endswith("ing") and first not in {"nothing", "something"}:
        return f"({_either(['Now ', 'I am '])}) {_literal(text + end)}"
    if PAST.fullmatch(first) and first != text:
        return _literal(f"I {text}{end}")
    if first[0].isdigit() and len(text.split()) <= 4:
        return _literal(f"It is {text}{end}")
    if first == text:
        return _literal(f"Done: {text}{end}")
    return _literal(text[0].upper() + text[1:] + end)


def told(text: str) -> str:
    """What a tool said, without what is meant for the model alone."""
    for said, instead in REWORDED:
        if match := said.fullmatch(text.strip()):
            return re.sub(r"(?<=: )\w+: |(?<=; )\w+: ", "", match.expand(instead))
    first, *more = re.split(r"(?<=[.!?])\s+(?=[A-Z]|[a-z]+_)", text)
    return " ".join([first, *(each for each in more if not ADVICE.search(each))])


def _excerpt(text: str) -> str:
    shown = text[:EXCERPT].rsplit("\n", 1)[0] if len(text) > EXCERPT else text
    more = "\n..." if len(shown) < len(text) else ""
    said = _literal("\n" + shown + more)
    return f"({_either(['It says:', 'Here it is:'])}) {said}"


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


def _either(texts: Sequence[str]) -> str:
    return " | ".join(map(_literal, texts))


def _literal(text: str) -> str:
    """The text in quotes for GBNF, without what cannot be printed."""
    plain = "".join(each for each in STRANGE.sub(" ", text) if each.isprintable() or each == "\n")
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
