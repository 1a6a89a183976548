"""The files that a message names: those that it attaches with `@`, and those nothing looked at.

    why does @src/a.py:10-20 fail? the log is @"build logs/last one.txt"

A word that begins with `@` and is the path of something that is there is attached; any other stays
as it is: an address (`a@b.c`), a package (`@types/node`), a decorator, whatever stands in a fence
of code. It is read by the tools that read for a model, and by way of the same gate: rules that
forbid hold, and what may hold secrets needs a yes. A text is attached from its beginning, as much
of it as there is room for; both the user and the model are told how much that is.
"""

import contextlib
import difflib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding.evidence import ActionRecord
from andy_cli.agent.grounding.text.languages import detect_languages
from andy_cli.agent.grounding.text.segmentation import (
    blank_spans,
    find_fences,
    split_sentences,
)
from andy_cli.agent.grounding.text.vocabulary import EXTENSIONS
from andy_cli.agent.history.compression import truncate_result
from andy_cli.agent.history.history import ATTACHED, MENTION, new_id
from andy_cli.agent.prompt.request import SMALL_RESULT
from andy_cli.errors import ConsentError, ToolError
from andy_cli.fenced_text import fence_text
from andy_cli.foreign_values import replace_surrogates
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.guard.workspace import is_secret_file, resolve
from andy_cli.messages import Arguments, Effect, Status, ToolCall, ToolResult
from andy_cli.models.token_count import estimate_tokens
from andy_cli.toolbox.files.kinds import is_document
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.nearby import find_nearby_names

MAX_ATTACHMENTS = 20
"""Attachments of one message."""
MAX_MENTIONS = 100
"""Words with `@` in one message; of more, which somebody pasted, no misspelt one is told of."""
SHARE = 2
"""The attachments of a message take one part in so many of the model's window."""

CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
LINES = re.compile(r"(?P<path>.+?):(?P<first>[1-9]\d{0,8})(?:-(?P<last>[1-9]\d{0,8}))?")
ENDING = re.compile(
    rf"[\w./~-]*\w\.(?:{'|'.join(sorted(EXTENSIONS, key=len, reverse=True))})", re.IGNORECASE
)
"""A path with an ending that files have."""
BEHIND = ".,;:!?)]}'"
"""The signs that may follow a path in a sentence."""


class PathMention(NamedTuple):
    """A path that is there, and which lines of it."""

    path: str
    is_folder: bool
    first: int | None = None
    last: int | None = None


class Attachments(NamedTuple):
    text: str = ""
    """The blocks that stand after the user's words."""
    notices: tuple[str, ...] = ()
    """Sentences for the user, one an attachment."""


async def attach_mentions(conversation: Conversation, words: str, written: str = "") -> Attachments:
    """Read what the user's words name with `@`. Raises ConsentError for what may not be read.

    `written` is sent with them and not the user's own: no place counts as inside for it.
    """
    if "@" not in words + written:
        return Attachments()
    own_mentions, _ = find_mentions(words, conversation.folder)
    mentions, notices = find_mentions(f"{words}\n{written}", conversation.folder)
    blocks: list[str] = []
    available = 0
    for mention in mentions[:MAX_ATTACHMENTS]:
        if mention in own_mentions:
            with contextlib.suppress(ToolError):  # it went away: whoever reads it says so
                conversation.gate.note_attachment(mention.path)
        if conversation.client.guided:
            continue  # it takes each word of a message for what is wanted; its tools read the path
        result = await read_mention(conversation, mention)
        content, cut_note = result.content, ""
        if len(content) + sum(map(len, blocks)) > SMALL_RESULT:
            available = available or await conversation.budget.find_window() // SHARE
            content, cut_note = shorten_attachment(
                result, available - sum(map(estimate_tokens, blocks)), mention
            )
        notices.append(summarize_attachment(mention, result, cut_note))
        blocks.append(render_attachment(mention, result, content))
    if len(mentions) > MAX_ATTACHMENTS:
        limit_note = f"Only the first {MAX_ATTACHMENTS} of {len(mentions)} are attached."
        notices.append(limit_note)
        blocks.append(limit_note)
    return Attachments(ATTACHED + "\n\n".join(blocks) if blocks else "", tuple(notices))


def find_mentions(words: str, folder: Path) -> tuple[list[PathMention], list[str]]:
    """Find the mentions of a message, each once, and write a hint where a word nearly is one."""
    mentions: dict[PathMention, None] = {}
    hints: list[str] = []
    outside_code = CODE.sub(lambda code: "x" * len(code[0]), words)
    matches = dict.fromkeys(MENTION.findall(outside_code))
    for quoted, plain in matches:
        written = quoted or plain
        spellings = (written,) if quoted else (written, written.rstrip(BEHIND))
        candidates = (find_mentioned_path(spelling, folder) for spelling in spellings)
        mention = next(filter(None, candidates), None)
        if mention is not None:
            mentions[mention] = None
        elif len(matches) <= MAX_MENTIONS:
            hints += explain_missing(spellings[-1], folder, is_path=bool(quoted))
    return list(mentions), hints


def explain_missing(written: str, folder: Path, is_path: bool) -> Iterator[str]:
    """Say that there is no such file; nothing of a word that is not written as a path is.

    `is_path`: it is surely meant as one.
    """
    lines = LINES.fullmatch(written)
    path = lines["path"] if lines else written
    if nearest_path := find_nearest_path(path, folder):
        yield f"There is no file {spell_out(path)}; the nearest is {spell_out(nearest_path)}."
    elif is_path or looks_like_path(path, folder):
        yield f"There is no file {spell_out(path)}: it was sent as text."


def looks_like_path(written: str, folder: Path) -> bool:
    """Tell whether a word has the ending of a file, or begins with a folder that is there.

    `@types/node` is a package, `@cache.setter` a line of code and `@bea@example.org` somebody.
    """
    if "://" in written or "@" in written:
        return False
    first_folder, slash, _ = written.partition("/")
    if slash and find_existing_path(first_folder or slash, folder) is not None:
        return True
    return ENDING.fullmatch(written) is not None


def find_mentioned_path(written: str, folder: Path) -> PathMention | None:
    """Find what a word after `@` names; None where nothing is there."""
    written = replace_surrogates(written)  # as a name of bytes that are no UTF-8 is told a model
    if (existing_path := find_existing_path(written, folder)) is not None:
        return PathMention(written, existing_path.is_dir())
    lines = LINES.fullmatch(written)
    existing_path = find_existing_path(lines["path"], folder) if lines else None
    if lines is None or existing_path is None or existing_path.is_dir():
        return None
    first = int(lines["first"])
    return PathMention(lines["path"], False, first, int(lines["last"] or first))


def find_existing_path(written: str, folder: Path) -> Path | None:
    if not written:
        return None
    try:
        existing_path = resolve(written, folder)
        return existing_path if existing_path.exists() else None
    except (ToolError, OSError):
        return None


def find_nearest_path(written: str, folder: Path) -> str:
    """Find a path beside one that is not there; empty unless what was written looks like a path."""
    if "://" in written or not ("/" in written or Path(written).suffix):
        return ""
    try:
        nearby_paths = resolve(written, folder).parent.iterdir()
        names = [replace_surrogates(path.name) for path in nearby_paths]
    except (ToolError, OSError):
        return ""
    written_path = Path(written)
    same_stem = sorted(name for name in names if Path(name).stem == written_path.stem)
    close = difflib.get_close_matches(written_path.name, names, n=1, cutoff=0.75) or same_stem
    return str(written_path.with_name(close[0])) if close else ""


async def read_mention(conversation: Conversation, mention: PathMention) -> ToolResult:
    """Read it as a model's own calls would. Raises ConsentError where the gate does not let it."""
    lines = {"start_line": mention.first, "end_line": mention.last, "line_numbers": True}
    line_range = lines if mention.first is not None else {}
    if mention.is_folder:
        reading_calls: list[tuple[str, Arguments]] = [("list_directory", {})]
    else:
        reading_calls = [("read_file", line_range)]
        if not line_range:  # what is no text may be a document
            is_encoded = is_document("", mention.path)
            reading_calls.insert(0 if is_encoded else 1, ("file_ingest", {}))
    result = ToolResult("", "", "", Status.FAILED, problem="no tool that could read it is enabled")
    for name, arguments in reading_calls:
        if conversation.registry.get(name) is not None:
            result = await call_reading_tool(
                conversation, name, {"path": mention.path, **arguments}
            )
        if result.ok:
            break
    return result


async def call_reading_tool(
    conversation: Conversation, name: str, arguments: Arguments
) -> ToolResult:
    requested = ToolCall(new_id(), name, arguments)
    approval_request = conversation.tools.propose(requested)
    verdict = await conversation.tools.decide(requested, approval_request)
    if not verdict.allowed:
        path = spell_out(str(arguments["path"]))
        is_users_no = verdict.asked and conversation.gate.ask is not None
        reason = "you said no" if is_users_no else verdict.reason
        raise ConsentError(f"{path} is not attached: {reason}.", "Nothing was sent.")
    return await conversation.registry.call(requested, verdict.granted)


def shorten_attachment(result: ToolResult, available: int, mention: PathMention) -> tuple[str, str]:
    """Cut the content to so many tokens, and say how much of it that is where it is not all.

    Of a text these are its first lines; data stays valid.
    """
    content = result.content
    if not result.ok or estimate_tokens(content) <= available:
        return content, ""
    if mention.is_folder:
        return truncate_result(content, available, "list_directory"), "room for a part of it"
    lines = list(take_leading_lines(content, available))
    cut_note = "no room for any of it"
    if lines:
        cut_note = f"room for the first {count_noun(len(lines), 'line')}"
    return "\n".join([*lines, f"[There was {cut_note}; read_file shows the rest.]"]), cut_note


def take_leading_lines(content: str, available: int) -> Iterator[str]:
    for line in content.split("\n"):
        available -= estimate_tokens(line) + 1
        if available < 0:
            return
        yield line


def render_attachment(mention: PathMention, result: ToolResult, content: str) -> str:
    """Render one attachment for the model."""
    if not result.ok:
        return f"@{mention.path}: its path alone, for {result.problem}"
    return f"@{mention.path} ({result.did}):\n{fence_text(content)}"


def summarize_attachment(mention: PathMention, result: ToolResult, cut_note: str) -> str:
    """Tell the user of one attachment."""
    if not result.ok:
        return f"Attached {spell_out(mention.path)} by its path alone: {result.problem}"
    return (
        f"Attached: {result.did}; there was {cut_note}." if cut_note else f"Attached: {result.did}."
    )


SEARCHED_REQUEST = 2_000
"""Characters of a request in which names of files are looked for."""
MAX_READ_CHARACTERS = 64_000
"""Of a file, of which results may tell."""
TELLING_LINES = 20
"""Of a file, the longest: what stands in a result of it is hardly in one of another."""
MIN_TOLD_FILES = 2
"""Files that are told of a folder, beneath which they may be a proposal."""
MIN_LETTERS = 4
"""Letters of a name without its ending that tell which file is meant."""
TEXT_ENDINGS = frozenset([".txt", ".md", ".csv", ".docx", ".xlsx", ".odt", ".pdf"])
"""Files that people call by their names without the ending: `my notes`."""
NUMBER = re.compile(r"\d+")
SEVERAL_DIGITS = re.compile(r"\d[\d.,]*\d")
CODE_WORDS = re.compile(r"`[^`\n]*[^\W\d][^`\n]*`")
"""A span of code that is no mere figure: a command, a setting."""
SEPARATOR = re.compile(r"(?<=\d)[,.\u00a0\u202f ](?=\d{3})")
"""Between the digits of a figure: `1,411`."""
FILE_WORD = re.compile(r"(?<![\w.~/+-])(?![~/])[\w.~/+-]*\w")
WORD = re.compile(r"\w+")
SPACED = r"[^\W\u2e80-\u9fff\uac00-\ud7af]"
"""A letter of a word; Chinese, Japanese and Korean have no blank behind a name."""
FILE_NAME = re.compile(r"\S*\w\.\w+")
"""The name of a file with its ending: that file is meant, or none."""


def find_unread_files(conversation: Conversation, answer: str) -> Sequence[str]:
    """Find the files of the folder that the user's words name, and that no call was about so far,
    nor told of: a list of files tells nothing of what they hold.

    A text that is called by one word, without its ending, counts if the answer has that word too:
    `any good recipes?` seldom means recipes.txt. None where a text came with the words, as it may
    be what a file holds. A folder counts if the answer tells files of it that are not there, and a
    file that the answer alone names if it tells figures of it.
    """
    history = conversation.history
    if history.attached_texts:
        return []
    request = history.user_request[:SEARCHED_REQUEST]
    named = {*find_written_paths(request, conversation.folder)}
    named.update(find_called_files(request, answer, find_nearby_names(conversation.folder)))
    named.update(find_told_files(conversation, answer))
    results = "\n".join(message.content for message in history.messages if message.role == "tool")
    calls = "\n".join(action.text for action in conversation.tools.actions if action.action)
    folder = conversation.folder
    unread = {name for name in named if not is_told_of(name, folder, results)}
    unread.update(find_invented_folders(request, answer, folder, results))
    return [name for name in sorted(unread) if name not in calls]


def find_mistaken_files(conversation: Conversation, answer: str) -> Sequence[str]:
    """Find the unread files that the request and the answer name although all calls of the turn
    were looks at other single files: a search may have looked at any, and beside a change it may
    be said what was left alone."""
    folder, request = conversation.folder, conversation.history.user_request
    if not all(is_of_file(action, folder) for action in conversation.tools.turn_actions):
        return []
    told = {*find_written_paths("\n".join(list_statements(answer)), folder)}
    told.intersection_update(find_written_paths(request[:SEARCHED_REQUEST], folder))
    if not told:
        return []
    messages = conversation.history.messages
    results = "\n".join(message.content for message in messages if message.role == "tool")
    unread = find_unread_files(conversation, answer)
    return [name for name in unread if name in told and name not in results]


def find_unread_parts(actions: Sequence[ActionRecord], answer: str) -> Iterator[str]:
    """Find what of long files was not read, where no later call is about the file, nor an earlier
    one that left nothing over, and the answer does not say, roughly at least, up to which line it
    was."""
    figures = {*NUMBER.findall(SEPARATOR.sub("", answer))}
    for position, action in enumerate(actions):
        unread = NUMBER.search(SEPARATOR.sub("", action.unfinished))
        if unread is None or figures & {unread[0], *round_roughly(int(unread[0]) - 1)}:
            continue
        name = PurePath(str(json.loads(action.arguments).get("path"))).name
        others = [*filter(is_complete, actions[:position]), *actions[position + 1 :]]
        if not any(name in other.arguments for other in others):
            yield action.unfinished


def is_complete(action: ActionRecord) -> bool:
    return action.ok and not action.unfinished


def round_roughly(number: int) -> Iterator[str]:
    """The number itself, to tens, to hundreds and so on: about 700 lines of 707."""
    return (str(round(number, -places)) for places in range(len(str(number))))


def is_of_file(action: ActionRecord, folder: Path) -> bool:
    is_look = action.effect is Effect.READ
    values = json.loads(action.arguments).values() if is_look else ()
    return any(isinstance(value, str) and is_present_file(folder / value) for value in values)


def find_told_files(conversation: Conversation, answer: str) -> Iterator[str]:
    """Find the files that are there and of which an answer tells figures, of several digits and
    outside of code, and that nothing said or found before names."""
    if not SEVERAL_DIGITS.search(answer):
        return  # before the words of a language are compiled, which takes longer than all else
    history = conversation.history
    before = [message.content for message in history.messages[: history.turn_start + 1]]
    known = "\n".join([*before, *conversation.instructions.texts()])
    for text in list_statements(answer):
        if SEVERAL_DIGITS.search(ENDING.sub(" ", CODE_WORDS.sub(" ", text))):
            told = find_written_paths(text, conversation.folder)
            yield from (name for name in told if name not in known)


def list_statements(answer: str) -> list[str]:
    """List the sentences of an answer that state something: no questions, offers or denials, and
    no code."""
    fences = [(start, end) for start, end, _ in find_fences(answer)]
    languages = detect_languages(answer)
    return [
        sentence.text
        for sentence in split_sentences(blank_spans(answer, fences))
        if not sentence.question
        and not any(language.unreal.search(sentence.text) for language in languages)
    ]


def is_told_of(name: str, folder: Path, results: str) -> bool:
    """Tell whether results have a line of a file; of one that is no text, or may hold secrets, its
    name."""
    path = folder / name
    if is_secret_file(path, folder) or not is_present_file(path):
        return name in results
    try:
        with path.open(encoding="utf-8") as file:
            lines = [line.strip() for line in file.read(MAX_READ_CHARACTERS).splitlines()]
    except (OSError, ValueError):
        return name in results
    telling = sorted(set(lines), key=len)[-TELLING_LINES:]
    longest = len(telling[-1]) if telling else 0
    if longest < MIN_LETTERS:
        return name in results
    # Short lines stand in many files: an import, a rule.
    return any(line in results for line in telling if len(line) >= longest / 2)


def find_written_paths(request: str, folder: Path) -> Iterator[str]:
    """Find the words that are the path of a file."""
    paths = map(PurePath, FILE_WORD.findall(request))
    return (path.as_posix() for path in paths if is_present_file(folder / path))


def is_present_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word longer than any name
        return False


def find_invented_folders(request: str, answer: str, folder: Path, results: str) -> Iterator[str]:
    """Find the folders that a request names and of which an answer tells several files that are
    not there, nor in any result.
    """
    told = {*ENDING.findall(answer)}
    if any(name in results for name in told):
        return
    for word in FILE_WORD.findall(request) if len(told) >= MIN_TOLD_FILES else ():
        with contextlib.suppress(OSError):
            inside = folder / word
            absent = [name for name in told if inside.is_dir() and not (inside / name).exists()]
            if len(absent) >= MIN_TOLD_FILES:  # some may be there, as customary ones
                yield PurePath(word).as_posix()


def find_called_files(request: str, answer: str, names: Sequence[str]) -> Iterator[str]:
    """Find the files whose names stand in a request, and the texts that it calls by theirs without
    the ending: `my shopping list`.
    """
    written, called = request.casefold(), spread_words(FILE_NAME.sub(" ", request))
    told, called_words = spread_words(answer), {*called.split()}
    for name in names:
        file_name = name.rstrip("/").rpartition("/")[2]
        if not name.endswith("/") and stands_in(file_name.casefold(), written):
            yield name
        elif called_words.isdisjoint(split_words(file_name)):
            continue  # of thousands of names hardly one is called: the rest takes 10 µs each
        elif may_be_called(file_name):
            stem = spread_words(PurePath(file_name).stem)
            is_told = stem in told or " " in stem.strip() or is_coded(stem)
            if stem in called and is_told:
                yield name


def may_be_called(file_name: str) -> bool:
    """Tell whether people may call a file by the words of its name alone."""
    path = PurePath(file_name)
    is_text = path.suffix.lower() in TEXT_ENDINGS or is_coded(path.stem)
    return is_text and len(spread_words(path.stem).strip()) >= MIN_LETTERS


def is_coded(stem: str) -> bool:
    """Tell whether a name has letters and figures, as nothing else is called: `kapitel2`."""
    return any(map(str.isdigit, stem)) and any(map(str.isalpha, stem))


def stands_in(name: str, text: str) -> bool:
    if name not in text:  # of thousands of names hardly one is: each expression takes 0.1 ms
        return False
    return re.search(rf"(?<!{SPACED}){re.escape(name)}(?!{SPACED})", text) is not None


def spread_words(text: str) -> str:
    """The words of a text in lower case, a blank before, after and between them."""
    return f" {' '.join(split_words(text))} "


def split_words(text: str) -> list[str]:
    return WORD.findall(text.casefold().replace("_", " "))
