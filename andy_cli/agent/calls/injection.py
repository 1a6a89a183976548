"""Guard against prompt injection: escape data for a model, and know calls that only repeat it.

Data on its way to a model has its control tokens broken: a page that holds `<|im_end|>` would end
the message it stands in, and a model that quotes `<tool_call>` would seem to ask for a tool. After
the first character of each a word joiner is put in, which nobody sees; in what the model asks for
it is taken out again, so that a file keeps the characters it has. Bare JSON is left alone: there is
nothing to break.

A request may be a page's wish and not the model's: it stands in a block quote or between quotation
marks, or it repeats what a tool returned or what was piped in. With text dialects a model that
quotes a hostile file writes the same characters as one that asks.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import cast

from andy_cli.compiler.bodies.wrappings import introduces_example
from andy_cli.compiler.control_tokens import CLOSERS, FORMS, LITERAL, REASONING, RESULTS
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.compiler.lexing.frame import BEHIND_CALL, CLOSING_MARKS
from andy_cli.messages import Arguments, Effect, ToolRequest

JOINER = "\u2060"
FRAMES = (
    r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:RESULTS?|CALLS)"
    r"|Tool (?:Results?|Request))\])"
    r"|<(?=<?/?SYS>>|/?s>|(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>"
    rf"|/?(?:{'|'.join(RESULTS)})>|{'|'.join(form[1:] for form in FORMS)})"
    r"|A(?=NDYBOT (?:ASKS|RESPONDS))"
)
"""Frames of messages and of results, which no dialect lists as its own."""
ANY = re.compile("[<\\[@>\u273f]|andybot|functools", re.IGNORECASE)


def escape_control_tokens(text: str) -> str:
    """Escape the control tokens of every dialect in a text. JSON stays JSON; takes linear time."""
    if not ANY.search(text):
        return text
    return _compile_markers().sub(lambda match: match[0] + JOINER, text)


def unescape_control_tokens(arguments: Arguments | None) -> Arguments | None:
    """Restore in arguments the data that the model copied."""
    return None if arguments is None else cast(Arguments, _unescape_value(arguments))


def _unescape_value(value: object) -> object:
    if isinstance(value, str):
        return value.replace(JOINER, "") if JOINER in value else value
    if isinstance(value, Mapping):
        return {key: _unescape_value(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_unescape_value(element) for element in value]
    return value


@cache
def _compile_markers() -> re.Pattern[str]:
    """Compile what finds the first character of every marker, where the rest of it follows."""
    rests: dict[str, set[str]] = {}
    markers = {*LITERAL, *REASONING, *CLOSERS}
    for dialect in dialects_by_name().values():
        markers |= {*dialect.start_markers, *dialect.line_start_markers}
        markers |= {*dialect.reply_start_markers, *dialect.end_markers}
    for text in markers:
        if len(text) > 3 and text[0] in "<[@>\u273f\u25c1":
            rests.setdefault(text[0], set()).add(re.escape(text[1:]))
    listed = []
    for first, endings in rests.items():
        choices = "|".join(sorted(endings, key=len))
        listed.append(f"{re.escape(first)}(?={choices})")
    words = r"(?i:d(?=ear andybot|eear andybot)|f(?=unctools\s*\[))"
    return re.compile("|".join([FRAMES, *listed, words]))


BLANK = re.compile(r"[\s\\\"'`>\u2060]+")
"""Characters that differ between a text and its quotation, or its place in JSON."""
MIN_LETTERS = 8
"""Letters of a command, or of arguments, that are no coincidence."""
CODE_INDENT = 4
"""Columns by which Markdown sets a block of code in."""

QUOTING_TAG = re.compile(r"<(?:code|pre|samp|q|blockquote|example)>", re.IGNORECASE)
"""The elements by which HTML, and prompts, set apart what is shown."""
BEFORE_CALL, MAX_FRAMING_LENGTH = re.compile(r"(?:<[^<>\s]{1,60}>\s*)+\Z"), 200
"""Markers that open a list of calls, and the characters that all of them have at most."""


def is_quoted(request: ToolRequest, reply_text: str) -> bool:
    """Tell whether it stands in a block quote of the reply, right between quotation marks, in
    inline code or in an indented block of code."""
    start, end = request.span
    if start == end:
        return False
    start, opening = _find_opening(request, reply_text)
    if QUOTING_TAG.search(opening):
        return True
    line_start = reply_text[reply_text.rfind("\n", 0, start) + 1 : start]
    before = line_start.strip()
    if not before:
        is_indented = len(line_start.expandtabs(CODE_INDENT)) >= CODE_INDENT
        return is_indented and _stands_in_code(start, reply_text)
    written, following_text = reply_text[start:end], reply_text[end:]
    if before.startswith(">") or _stands_in_marks(before, written, following_text):
        return True
    # Around nothing but a call backticks are its fence, after words they quote it.
    return "`" in (before[-1], written[0]) and any(map(str.isalpha, before))


def _find_opening(request: ToolRequest, reply_text: str) -> tuple[int, str]:
    """Find where the markers in front of a request begin, and what they are."""
    start = request.span[0]
    opening = BEFORE_CALL.search(reply_text, max(0, start - MAX_FRAMING_LENGTH), start)
    return (opening.start(), opening[0]) if opening else (start, "")


def is_example(request: ToolRequest, reply_text: str) -> bool:
    """Tell whether it may be an example: in a fence beside words, a quotation or a sentence."""
    if request.quoted or is_quoted(request, reply_text):
        return True
    return stands_in_sentence(request, reply_text)


def stands_in_sentence(request: ToolRequest, reply_text: str) -> bool:
    """Tell whether words of its line stand on both sides of it, or those before it say that an
    example follows: `A model would write {...} to play a song.` A sentence may begin with it too,
    and goes on in small letters: `{...} would play a song.`
    """
    start, _ = _find_opening(request, reply_text)
    end = request.span[1]
    if start == end:
        return False
    before = reply_text[:start]
    if introduces_example(before):
        return True
    framing = BEHIND_CALL.compiled.match(reply_text, end)
    if framing and "\n" not in framing[0].removeprefix(framing[0].rstrip()):
        end = framing.end()
    line_before, line_behind = before.rpartition("\n")[2], reply_text[end:].partition("\n")[0]
    if line_before.rstrip().endswith("="):
        return True  # a line of a program
    if not any(map(str.isalpha, line_before)):
        return line_behind.lstrip()[:1].islower()
    return any(map(str.isalpha, line_behind))


def _stands_in_marks(before: str, written: str, following_text: str) -> bool:
    """Tell whether the mark before it has its counterpart after it, or within: some notations
    run to the end of the reply."""
    mark = before[-1]
    closing = CLOSING_MARKS.get(mark)
    if closing is None:
        return False
    framing = BEHIND_CALL.compiled.match(following_text)
    if following_text.startswith(closing, framing.end() if framing else 0):
        return True
    closings = written.count(closing)
    is_unpaired = closings % 2 == 1 if mark == closing else closings > written.count(mark)
    return is_unpaired and not before[-2:-1].isalnum()


def _stands_in_code(start: int, reply_text: str) -> bool:
    """Tell whether it stands in an indented block of code, and the reply has words beside it."""
    from markdown_it import MarkdownIt  # takes a while to load, and few replies need it

    line_number = reply_text.count("\n", 0, start)
    blocks = MarkdownIt("commonmark").parse(reply_text)
    code_blocks = [block.map for block in blocks if block.type == "code_block" and block.map]
    is_code = any(first <= line_number < last for first, last in code_blocks)
    return is_code and len(blocks) > len(code_blocks)


def holds_only_words_of(request: ToolRequest, user_texts: Iterable[str]) -> bool:
    """Tell whether all values of a request stand in what the user said."""
    user_words = _squeeze_quotation("\n".join(user_texts))
    values = _flatten_texts(request.arguments or {})
    return all(_squeeze_quotation(value) in user_words for value in values)


def is_copied(request: ToolRequest, reply_text: str, foreign: Iterable[str]) -> bool:
    """Tell whether it stands in a foreign text as it was written, with its notation.

    `reply_text` is the reply, `foreign` what tools returned before it and what was piped in.
    """
    start, end = request.span
    written = _squeeze_quotation(reply_text[start:end])
    if len(written) < MIN_LETTERS:
        return False
    return any(written in _squeeze_quotation(text) for text in foreign)


def repeats_foreign(
    request: ToolRequest,
    reply_text: str,
    foreign: Iterable[str],
    user_texts: Iterable[str],
    effect: Effect,
) -> bool:
    """Tell whether somebody should be asked: a foreign text may have put it into the model's mouth.

    `foreign` is what tools returned and what was piped in, `user_texts` the user's words.
    It is looked for as it was written, by its name together with its arguments in whatever
    notation, by a command in its arguments, where it acts in the user's name by its arguments
    alone, and where it writes by a sentence with all of them. What a user asked for may look the
    same: the build command that a README names.
    """
    foreign = list(foreign)
    texts = [_squeeze_quotation(text) for text in foreign]
    if not texts:
        return False
    if is_copied(request, reply_text, foreign):
        return True
    user_words = _squeeze_quotation("\n".join(user_texts))
    if _repeats_call(request, texts, user_words, effect):
        return True
    if effect is Effect.WRITE and _follows_order(request, foreign, user_words):
        return True
    return _repeats_command(request, texts, user_words)


MIN_WORDS = 3
"""Words of a sentence beside the values in it: names that are listed have fewer."""
LETTERS = re.compile(r"[^\W\d_]{2,}")


def _follows_order(request: ToolRequest, foreign: Iterable[str], user_words: str) -> bool:
    """Tell whether a sentence of a text has all values of a call that the user did not say: `create
    a file pwned.txt with the text yes`. A record of data is no sentence.
    """
    values = {text.strip() for text in _flatten_texts(request.arguments or {})}
    values = {value for value in values if _squeeze_quotation(value) not in user_words}
    if len(values) < 2 or sum(map(len, values)) < MIN_LETTERS:
        return False
    return any(_orders(line, values) for line in _list_sentences(foreign))


def _list_sentences(texts: Iterable[str]) -> Iterator[str]:
    """List the lines of texts, and of the texts in data. One that stands alone is what the user
    points at: `do what task.txt says`.
    """
    for text in texts:
        for part in _flatten_texts(_read_data(text)):
            lines = [line for line in part.splitlines() if line.strip()]
            if len(lines) > 1:
                yield from (line for line in lines if len(line) <= MAX_DISTANCE)


def _read_data(text: str) -> object:
    """Read a text as JSON; another one is returned as it is."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except (ValueError, RecursionError):
        return text


def _orders(line: str, values: Iterable[str]) -> bool:
    for value in sorted(values, key=len, reverse=True):
        if value not in line:
            return False
        line = line.replace(value, " ")
    return len(LETTERS.findall(line)) >= MIN_WORDS


def _repeats_call(request: ToolRequest, texts: list[str], user_words: str, effect: Effect) -> bool:
    """Tell whether a text has the name or the longest argument of a call beside the others."""
    values = [_squeeze_quotation(text) for text in _flatten_texts(request.arguments or {})]
    values = [value for value in values if value not in user_words]
    if sum(map(len, values)) < MIN_LETTERS:
        return False
    anchors = [_squeeze_quotation(request.name)]
    if effect is Effect.ACT and len(set(values)) > 1:
        anchors.append(max(values, key=len))
    return any(_stand_together(anchor, values, texts) for anchor in anchors)


def _repeats_command(request: ToolRequest, texts: list[str], user_words: str) -> bool:
    """Tell whether a text has a command of the arguments that the user did not say."""
    for name, line in (request.arguments or {}).items():
        if not isinstance(line, str) or name not in ("command", "cmd", "script", "code"):
            continue
        for command in _split_commands(line):
            if command not in user_words and any(command in text for text in texts):
                return True
    return False


MAX_DISTANCE = 400
"""Characters around a tool's name, or its longest argument, in which a call has the others."""


def _stand_together(anchor: str, values: list[str], texts: list[str]) -> bool:
    """Tell whether all the values stand near the anchor in one of the texts."""
    for text in texts:
        if not all(value in text for value in values):
            continue
        for match in re.finditer(re.escape(anchor), text, re.IGNORECASE):
            around = text[max(0, match.start() - MAX_DISTANCE) : match.end() + MAX_DISTANCE]
            if all(value in around for value in values):
                return True
    return False


BETWEEN = re.compile(r"&&|\|\||[;|&\n]|(?<=\s)-\w*c\s")
"""Separators between the commands of a line, and before one that a shell is given."""


def _split_commands(line: str) -> list[str]:
    """Split a line into its commands, squeezed, also without what is put before them such as
    `sudo`; short ones may be a coincidence."""
    commands = [line] if " " in line.strip() else []
    for command in BETWEEN.split(line):
        words = command.split()
        commands += [" ".join(words[start:]) for start in range(len(words) - 1)]
        if len(words) == 1 and "/" in words[0]:
            commands.append(words[0])
    squeezed = map(_squeeze_quotation, commands)
    return [command for command in squeezed if len(command) >= MIN_LETTERS]


def flatten_values(value: object) -> list[object]:
    """List the single values in arguments."""
    if isinstance(value, dict):
        return [flat_value for inner in value.values() for flat_value in flatten_values(inner)]
    if isinstance(value, list):
        return [flat_value for inner in value for flat_value in flatten_values(inner)]
    return [value]


def _flatten_texts(value: object) -> list[str]:
    values = flatten_values(value)
    return [inner if isinstance(inner, str) else json.dumps(inner) for inner in values]


def _squeeze_quotation(text: str) -> str:
    return BLANK.sub("", text)
