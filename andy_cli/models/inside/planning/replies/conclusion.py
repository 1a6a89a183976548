"""The sentence that ends a turn: what the last command did, and what it found. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andy_cli.actions import fill_action
from andy_cli.call_notes import USER_SAID, read_invalid_arguments, read_missing, read_refusal
from andy_cli.fenced_text import fence_text
from andy_cli.messages import Choice
from andy_cli.models.inside.planning.command_kinds import reads_one
from andy_cli.models.inside.values.line_ranges import count_last_lines
from andy_cli.models.inside.values.parameters import list_parameters
from andy_cli.models.inside.values.words import find_words

MAX_LISTED = 20
"""Entries of a list that are named; of a longer one the first few."""
MAX_CHARACTERS = 160
"""Characters of a name or value that is copied."""
MAX_EXCERPT = 400
"""Characters of a long text that are copied."""
MAX_PAGE = 4000
"""Characters that are copied of a file or page whose contents were asked for."""
MAX_PAIRS = 4
ADVICE = re.compile(
    r"^(?:ask|correct|use|do not|don't|try|call|tell|give|repeat|look|choose)\b|\bthe user\b"
    r"|(?<![\w./-])[a-z]+[a-z0-9]*(?:_[a-z0-9]+)+(?![\w./-])",
    re.I,
)
"""Sentences that are meant for the model: what to do next, and by which tool."""
NOTE = re.compile(r"\n\[[^\n]*\]\Z")
"""The last line of a result, in brackets: what was left out, and how to get it."""
MARKDOWN_FILE = re.compile(r"\.(?:md|markdown)\b", re.I)
READ_AS_MARKDOWN = re.compile(r"^[ \t]+\S|^#|\*\S[^*\n]*\*|__|`|\\|<\w", re.M)
"""Marks that Markdown does not show as they are."""


class ToldResult(NamedTuple):
    """A result of a tool, and what is known of how it came about."""

    result: str
    """JSON or text."""
    done: str = ""
    """The action of the tool, in the past tense; empty where it failed, or nobody knows."""
    choice: Choice | None = None
    wish: str = ""
    """The part of the request that asked for it."""
    answers: Sequence[str] = ()
    """The lines of it that may answer a question."""


def conclude_all(results: Sequence[ToldResult], replies: Sequence[str] = ()) -> str:
    """Tell of all results of a turn, in paragraphs where one is long; `replies` are those of the
    turns before.
    """
    told = [conclude(result, replies) for result in results]
    joint = "\n\n" if any("\n" in part for part in told) else "\n"
    return joint.join(dict.fromkeys(told))


def conclude(told: ToldResult, replies: Sequence[str] = ()) -> str:
    """Tell of a result, with the lines that may answer a question first; what a reply shows already
    is not shown below them once more.
    """
    sentence = _explain_refusal(told) or _conclude_result(
        told.result, told.done, told.choice, told.wish
    )
    lines = [protect_line(line) for line in told.answers]
    if not lines:
        return sentence
    deed, is_page, _ = sentence.partition(":\n")
    if is_page and any(sentence in reply for reply in replies):
        sentence = f"{deed}, shown above."
    if len(lines) > 1:
        lines = [f"- {line}" for line in lines]
    return "\n".join([*lines, "", sentence])


def _explain_refusal(told: ToldResult) -> str:
    action = fill_action(told.choice.action, {}) if told.choice else ""
    return reword_note(told.result.strip(), action or "do that")


def protect_line(line: str) -> str:
    """Put a line into backticks that would look otherwise as Markdown."""
    plain = line.strip().lstrip("-*# ").replace("`", "'")
    return f"`{plain}`" if READ_AS_MARKDOWN.search(plain) else plain


def _conclude_result(result: str, done: str, choice: Choice | None, wish: str) -> str:
    deed = f"{done[:1].upper()}{done[1:]}".rstrip(".")
    if deed and choice and reads_one(choice):
        contents = _drop_parameter_note(result, choice).strip("\n")
        shown, lines = count_last_lines(wish), contents.split("\n")
        if contents == result.strip("\n") and shown and shown < len(lines):
            deed, contents = f"{deed}, the last {shown}", "\n".join(lines[-shown:])
        page = _cut_page(contents)
        return join_deed(deed, page if MARKDOWN_FILE.search(deed) else protect_from_markdown(page))
    return _conclude_deed(result, deed, looked=bool(choice and choice.only_looks))


def _conclude_deed(result: str, deed: str, looked: bool) -> str:
    value = _read_value(result)
    found = _describe(value)
    sentence = found if found.endswith((".", "!", "?")) else f"{found}."
    if not deed:
        return found if "\n" in found else sentence
    if not found or _says_it_all(deed, found, value, looked):
        return f"{deed}."
    if join_words(deed) in join_words(found):
        return sentence
    told, _, named = deed.partition(": ")
    if named and found.removeprefix("- ").startswith(named.partition(", ")[0]):
        deed = told  # what is listed is named once
    return join_deed(deed, found)


def join_deed(deed: str, found: str) -> str:
    if not found:
        return f"{deed}."
    return f"{deed}:\n{found}" if "\n" in found else f"{deed}: {found.strip()}"


def protect_from_markdown(contents: str) -> str:
    """Put contents of several lines into a fence that would look otherwise as Markdown."""
    has_marks = "\n" in contents and READ_AS_MARKDOWN.search(contents)
    return fence_text(contents) if has_marks else contents


def _drop_parameter_note(contents: str, choice: Choice) -> str:
    """Leave out the last line where it tells how to get the rest: by which parameter."""
    note = NOTE.search(contents)
    names = [parameter.name for parameter in list_parameters(choice)]
    is_ours = note and any(re.search(rf"\b{re.escape(name)}=\d", note[0]) for name in names)
    return contents[: note.start()] if note and is_ours else contents


def _cut_page(contents: str) -> str:
    """Cut what is longer than a page after a line, and say how much follows."""
    if len(contents) <= MAX_PAGE:
        return contents
    shown = contents[:MAX_PAGE].rpartition("\n")[0] or contents[:MAX_PAGE]
    rest = contents[len(shown) :].strip("\n")
    return f"{shown}\n... and {len(rest):,} characters more"


def _says_it_all(deed: str, found: str, value: object, looked: bool) -> bool:
    """Tell whether the deed tells of it as well: a sentence is better than a record's names and
    values, and `started a.mp3` says the same as `playing a.mp3`. What was looked for is told.
    """
    if isinstance(value, Mapping) and _list_entries(value) is None:
        return ": " in deed
    said = set(find_words(deed))
    if _list_entries(value) == [] and said & {"no", "nothing", "empty"}:
        return True
    if looked:
        return join_words(found) in join_words(deed)
    new = {word for word in find_words(found) if not word.isdigit()}
    return new <= said or (3 * len(new - said) <= len(new) and len(new & said) > 1)


def _describe(value: object) -> str:
    entries = _list_entries(value)
    if entries is not None:
        return _describe_list(entries)
    if isinstance(value, Mapping):
        return describe_record(value)
    text = drop_advice(value.strip()) if isinstance(value, str) else json.dumps(value)
    if not text or text in {"OK", "null"}:
        return "Done"
    return text if len(text) <= MAX_EXCERPT else f"{text[:MAX_EXCERPT].rsplit(chr(10), 1)[0]}\n..."


def _describe_list(entries: Sequence[str]) -> str:
    if not entries:
        return "nothing was found"
    more = len(entries) - MAX_LISTED
    shown = "\n".join(f"- {entry}" for entry in entries[:MAX_LISTED])
    if more > 0:
        return f"{shown}\n- and {more} more"
    has_lines = len(entries) > 1 and any(": " in entry for entry in entries)
    return shown if has_lines else ", ".join(entries)


def describe_record(record: Mapping[str, object]) -> str:
    """`time: 16:40, zone: Asia/Tokyo`"""
    pairs = [
        f"{' '.join(find_words(str(name))) or name}: {_shorten(value)}"
        for name, value in record.items()
        if isinstance(value, str | int | float) and str(value)
    ]
    return ", ".join(pairs[:MAX_PAIRS]) or json.dumps(record, ensure_ascii=False)[:MAX_EXCERPT]


def drop_advice(text: str) -> str:
    """Return what a tool said, without what is meant for the model alone."""
    if (note := NOTE.search(text)) and ADVICE.search(note[0]):
        text = text[: note.start()]
    first, *more = re.split(r"(?<=[.!?])(\s+)(?=[A-Z]|[a-z]+_)", text)
    kept = [
        f"{space}{sentence}"
        for space, sentence in zip(more[::2], more[1::2], strict=True)
        if not ADVICE.search(sentence)
    ]
    return "".join([first, *kept])


def reword_note(note: str, action: str) -> str:
    """Tell a person why a call was not run, of which `action` says what it would have done; empty
    where the text says no such thing.
    """
    reason = read_refusal(note)
    if reason is not None and reason.startswith(USER_SAID):
        return f"I did not {action}. You said{reason.removeprefix(USER_SAID)}."
    if reason is not None:
        return f"I may not {action}: {reason}."
    if missing := read_missing(note):
        return f"What is the {missing.parameter}?"
    if invalid := read_invalid_arguments(note):
        reasons = [reason.partition(": ")[2] or reason for reason in invalid.split("; ")]
        return f"That does not fit: {'; '.join(reasons)}."
    return ""


def join_words(text: str) -> str:
    return " ".join(find_words(text))


def _list_entries(value: object) -> list[str] | None:
    """The entries of a list by name, of a record the list in it; None where there is no list."""
    if isinstance(value, Mapping):
        value = next((part for part in value.values() if isinstance(part, list)), None)
    if not isinstance(value, list):
        return None
    return [_shorten(_find_name(entry), 2 * MAX_CHARACTERS) for entry in value]


def _find_name(entry: object) -> object:
    """Find what an entry is called; of a text that was found in a file, or on a page, that too."""
    if not isinstance(entry, Mapping):
        return entry
    texts = [text for text in entry.values() if isinstance(text, str) and text]
    if "text" in entry and len(texts) > 1:
        return f"{', '.join(texts[:-1])}: {texts[-1]}"
    if texts and entry.get("snippet"):
        return f"{texts[0]}: {entry['snippet']}"
    return texts[0] if texts else entry


def _read_value(text: str) -> object:
    """Read a text as JSON, else return the text itself."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _shorten(value: object, longest: int = MAX_CHARACTERS) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())[:longest]
