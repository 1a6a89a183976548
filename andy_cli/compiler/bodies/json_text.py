"""JSON as models write it: strict where it is strict, and mended where it is not.

Only ever applied to what is already known to be a request: mended prose would be an invention.
The first reading that parses wins; what is cut off is never completed.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator

from andy_cli.compiler.expression import Expression

SMART = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u00a0": " "})
LARGEST_REPAIRED = 100_000
WINDOWS = Expression(r'"[A-Za-z]:\\(?![\\/"])[^"\n]*(?=")')
DEEPEST = 200
"""Brackets inside brackets; more is an attack or an accident."""

ESCAPE = Expression(r"\\(?![\"\\/bfnrtu])|\\u(?![0-9a-fA-F]{4})")
NEEDLESS = Expression(r"(?<!\\)\\([$ _])")
"""Escapes that JSON does not know and that mean the character."""
TRAILING_COMMA = Expression(r",(\s*[}\]])")
COMMENT = Expression(r"//[^\n]*$|/\*[\s\S]*?(?:\*/|\Z)", re.M)
# A string that nothing ends goes to the end of the text, or each quote in it were tried anew.
STRING = Expression(r'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)', re.S)
BRACKET = Expression(r'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)|[{}\[\]]', re.S)
BARE_KEY = Expression(r"([{,]\s*)([A-Za-z_][\w-]*)(\s*:)")
CONSTANT = Expression(r"\b(True|False|None|nan|NaN|Infinity)\b")
CONSTANTS = {"True": "true", "False": "false", "None": "null"}
BEHIND = Expression(r"\s*(.?)", re.S)
TRIPLE = Expression(r'"""(.*?)"""', re.S)


def iterate_values(text: str) -> Iterator[object]:
    """The JSON values that stand in the text one after another, with `,` `;` or blanks between."""
    return iter(values_and_rest(text)[0])


def values_and_rest(text: str) -> tuple[list[object], str]:
    """The same as a list, and what behind them is no value."""
    found: list[object] = []
    decoder = json.JSONDecoder(strict=False, parse_constant=str)
    at = 0
    while at < len(text):
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
        if at >= len(text):
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return found, text[at:]


def read_value(text: str) -> object | None:
    """The value the text holds, whatever had to be mended; None if nothing can be made of it."""
    return next(possible_values(text), None)


def possible_values(text: str) -> Iterator[object]:
    """Read all that the text may mean, the reading that mends least first."""
    text = text.strip().lstrip("\ufeff")
    if not text or is_too_deep(text):
        return
    for reading in READINGS:
        value = reading(text)
        if value is not None:
            yield value


def unescape_once(text: str) -> str:
    """Take away one layer of backslashes from text that was escaped once too often."""
    return text.replace("\\\\", "\\").replace('\\"', '"') if '\\"' in text else text


def parse_strict(text: str) -> object | None:
    """JSON, with raw line breaks in strings allowed and surplus closers ignored."""
    try:
        value: object = json.JSONDecoder(strict=False, parse_constant=str).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
    return value


def parse_python(text: str) -> object | None:
    """A Python literal: single quotes, True, None, trailing commas."""
    try:
        with warnings.catch_warnings():  # of escapes that Python does not know
            warnings.simplefilter("ignore")
            value: object = ast.literal_eval(NEEDLESS.sub(r"\1", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, SystemError):
        return None
    return convert_tuples(value)


def convert_tuples(value: object) -> object | None:
    """The value with tuples as lists; None if it holds what JSON cannot."""
    if isinstance(value, tuple | set):
        value = list(value)
    if isinstance(value, list):
        return [convert_tuples(item) for item in value]
    if isinstance(value, dict):
        return {str(key): convert_tuples(item) for key, item in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else None


def mend_json(text: str) -> object | None:
    """With typographic quotes, triple quotes, illegal escapes, comments and bare keys mended."""
    fixed = NEEDLESS.sub(r"\1", text).replace("\\'", "'")
    fixed = TRIPLE.sub(lambda match: json.dumps(match[1]), fixed)
    fixed = change_outside_strings(ESCAPE.sub(r"\\\\", fixed), normalize_literals)
    return parse_strict(fixed) or parse_python(fixed) or replace_typography(text)


def replace_typography(text: str) -> object | None:
    fixed = change_outside_strings(ESCAPE.sub(r"\\\\", text.translate(SMART)), normalize_literals)
    return parse_strict(fixed) or parse_python(fixed)


def normalize_literals(text: str) -> str:
    text = TRAILING_COMMA.sub(r"\1", COMMENT.sub("", text))
    text = CONSTANT.sub(lambda match: CONSTANTS.get(match[1], match[1]), text)
    return BARE_KEY.sub(r'\1"\2"\3', text)


def change_outside_strings(text: str, change: Callable[[str], str]) -> str:
    """Change what stands outside double-quoted strings; a gap of it is changed as a whole."""
    held: list[str] = []

    def keep(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\0{len(held) - 1}\0"

    changed = change(STRING.sub(keep, text.replace("\0", "")))
    return re.sub(r"\0(\d+)\0", lambda match: held[int(match[1])], changed)


def escape_inner_quotes(text: str) -> object | None:
    """With quotes inside strings escaped: one ends a string only before `, } ] :`."""
    out: list[str] = []
    inside = escaped = False
    for at, character in enumerate(text):
        if character == '"' and not escaped:
            inner = inside and not _may_end_string(text, at + 1)
            if inner:
                out.append("\\")
            inside = inner or not inside
        escaped = inside and character == "\\" and not escaped
        out.append(character)
    return parse_strict("".join(out))


def _may_end_string(text: str, at: int) -> bool:
    """Tell whether what stands there could follow a string."""
    behind = BEHIND.compiled.match(text, at)
    return behind is None or behind[1] in ("", *",}]:")


def escape_windows_paths(text: str) -> object | None:
    """Take the single backslashes of what begins like a path of Windows for no escapes."""
    if not WINDOWS.search(text):
        return None
    doubled = WINDOWS.sub(lambda match: match[0].replace("\\", "\\\\"), text)
    return parse_strict(doubled) or mend_json(doubled)


def repair_json(text: str) -> object | None:
    """Mend it with a library for that: the last resort, for what has to fit a schema."""
    if len(text) > LARGEST_REPAIRED:
        return None
    from json_repair import repair_json  # 50 ms, and hardly any reply needs it

    try:
        value: object = repair_json(text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, TypeError, IndexError):
        return None
    return value if isinstance(value, dict | list) and value and _is_whole(value, text) else None


def _is_whole(value: object, text: str) -> bool:
    """Tell whether a repaired value has all keys that were written, and says nothing else."""
    return set(KEY.compiled.findall(text)) <= set(_keys_of(value)) and _is_said(value, text)


KEY = Expression(r"(?<!\\)\"(\w{1,80})\"\s*:")


def _keys_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys_of(inner)


def _is_said(value: object, text: str) -> bool:
    """Tell whether every text in a repaired value stood in quotation marks, or is one word."""
    if isinstance(value, dict):
        return all(_is_said(word, text) for pair in value.items() for word in pair)
    if isinstance(value, list):
        return all(_is_said(item, text) for item in value)
    if not isinstance(value, str) or WORD.fullmatch(value):
        return True
    start, end = value[:20].replace('"', '\\"'), value[-20:].replace('"', '\\"')
    return any(f"{mark}{start}" in text or f"{end}{mark}" in text for mark in "\"'\u201c\u201d")


WORD = Expression(r"[\w.\-/:@+]*")
READINGS: tuple[Callable[[str], object | None], ...] = (
    *(escape_windows_paths, parse_strict, parse_python, mend_json, escape_inner_quotes),
)


def is_too_deep(text: str) -> bool:
    """Tell whether brackets nest deeper than in any request; cheap, and sure where it says yes."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    depth = deepest = 0
    for match in BRACKET.finditer(text):
        if match[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "}]":
            depth -= 1
    return deepest > DEEPEST


def close_brackets(text: str) -> str:
    """The text with the brackets closed that are open at its end, unless a string is open too.

    Only where a marker says that nothing is missing but brackets: never for what was cut off.
    """
    open_brackets: list[str] = []
    for match in BRACKET.finditer(text):
        mark = match[0]
        if mark in "{[":
            open_brackets.append("}" if mark == "{" else "]")
        elif mark in "}]":
            if not open_brackets:
                return text
            open_brackets.pop()
        elif len(mark) < 2 or mark[-1] != '"':
            return text
    return text + "".join(reversed(open_brackets))


def close_last(text: str) -> str:
    """The text with its one missing bracket, where a whole value stands before it; else itself."""
    if text.rstrip()[-1:] not in ("}", "]"):
        return text
    made = close_brackets(text)
    return made if len(made) == len(text) + 1 else text


def is_balanced(text: str) -> bool:
    """Tell whether every bracket and string that was opened is closed: the text was not cut off."""
    depth = 0
    quote = ""
    escaped = False
    for character in text:
        if quote:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                quote = ""
        elif character == '"':
            quote = character
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
    return depth <= 0 and not quote
