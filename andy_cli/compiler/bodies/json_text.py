"""JSON as models write it: strict where it is strict, and mended where it is not.

Only ever applied to what is already known to be a request: mended prose would be an invention.
The first reading that parses wins; what is cut off is never completed.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import chain

from andy_cli.compiler.bodies.json_scan import FULL_WIDTH, JsonScan
from andy_cli.compiler.expression import Expression
from andy_cli.foreign_values import read_float

SMART = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u00a0": " "})
MAX_REPAIRED_SIZE = 100_000
WINDOWS = Expression(r'"[A-Za-z]:\\(?![\\/"])[^"\n]*(?=")')
MAX_DEPTH = 200
"""Brackets inside brackets; more is an attack or an accident."""

ESCAPE = Expression(r"(?P<known>\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))|\\")
"""An escape that JSON knows, or a backslash that begins none."""
NEEDLESS = Expression(r"(?<!\\)\\([$ _])")
"""Escapes that JSON does not know and that mean the character."""
TRAILING_COMMA = Expression(r",(\s*[}\]])")
COMMENT = Expression(r"//[^\n]*$|/\*[\s\S]*?(?:\*/|\Z)", re.M)
# A string that nothing ends goes to the end of the text, or each quote in it were tried anew.
DOUBLE_QUOTED = r'"(?:[^"\\]++|\\.)*+(?:"|\Z|\\\Z)'
SINGLE_QUOTED = r"(?<=[{\[,:\s\uff0c\uff1a])'(?:[^'\\\n]++|\\[^\n])*+'(?=\s*+[,:}\]\uff0c\uff1a])"
STRING = Expression(DOUBLE_QUOTED, re.S)
QUOTED = Expression(rf"{DOUBLE_QUOTED}|{SINGLE_QUOTED}", re.S)
"""A text of JSON, or one that is written as Python's are where a value or a key may stand."""
BRACKET = Expression(r'"(?:[^"\\]++|\\.)*+(?:(?P<closed>")|\Z|\\\Z)|[{}\[\]]', re.S)
BARE_KEY = Expression(r"([{,]\s*)([A-Za-z_][\w-]*)(\s*:)")
CONSTANT = Expression(r"\b(True|False|None|nan|NaN|Infinity)\b")
CONSTANTS = {"True": "true", "False": "false", "None": "null"}
TRIPLE = Expression(r'"""(.*?)"""', re.S)
# The last repetition is greedy alone: Python before 3.11.5 loses a possessive one that goes back.
TEMPLATE = Expression(
    rf"{DOUBLE_QUOTED}|{SINGLE_QUOTED}"
    r"|(?P<before>[:\[,]\s*+)`"
    r"(?P<body>(?:[^`\\]++|\\.|`(?!\s*+(?:[,}\]]|\+\s*+`))(?:[^`\\]++|\\.)*+`)*)"
    r"(?:`|\Z|\\\Z)",
    re.S,
)
"""A text of JSON, or one between the backticks of JavaScript that is a value; what opens in it
closes in it, or half of a text were read that holds some of its own."""
INNER_QUOTE = Expression(r'\\.|"', re.S)
JOINED = Expression(r'"(?:[^"\\]++|\\.)*+"(?:(?:\s++\+\s*+|\+\s++)"(?:[^"\\]++|\\.)*+")*+', re.S)
"""A text of JSON and those that plus signs join to it; `"a "+" b"` speaks of the sign."""


def find_value_end(json_text: str, position: int, scan: JsonScan | None = None) -> int:
    """Find where the value ends that begins there: at the end of the text if nothing ends it."""
    scan = scan or JsonScan()
    end = scan.feed(json_text, position)
    while end is not None and scan.may_go_on and goes_on(json_text, end):
        end = scan.feed(json_text, end)
    return len(json_text) if end is None else end


def values_and_rest(json_text: str) -> tuple[list[object], str]:
    """The JSON values that stand in the text one after another, with `,` `;` or blanks between,
    and what after them is no value."""
    json_values: list[object] = []
    decoder = json.JSONDecoder(strict=False, parse_constant=str, parse_float=read_float)
    position = 0
    while position < len(json_text):
        while position < len(json_text) and json_text[position] in " \t\r\n,;":
            position += 1
        if position >= len(json_text):
            break
        try:
            json_value, position = decoder.raw_decode(json_text, position)
        except (ValueError, RecursionError):
            break
        if goes_on(json_text, position):
            return [], json_text
        json_values.append(json_value)
    return json_values, json_text[position:]


TEXT_END = Expression(r"\"[}\]]+\Z")
QUOTE_AHEAD = Expression(r"[}\]]*+\"(?!\s*+(?:[<\[`]|\Z))")
"""A quotation mark that is not merely one too many at the end."""


def ends_with_text(json_text: str) -> bool:
    """Tell whether nothing but brackets stands behind the last text in it."""
    return TEXT_END.search(json_text[-MAX_DEPTH:]) is not None


def goes_on(json_text: str, position: int) -> bool:
    """Tell whether the value that ends there does not: a quotation mark right behind it, and what
    goes on after that, say that a text in it held a bracket in quotes (`"a { b: "}"; }"`)."""
    has_quote = QUOTE_AHEAD.compiled.match(json_text, position) is not None
    return has_quote and ends_with_text(json_text[max(0, position - MAX_DEPTH) : position])


def read_value(json_text: str) -> object | None:
    """The value the text holds, whatever had to be mended; None if nothing can be made of it."""
    return next(possible_values(json_text), None)


def possible_values(json_text: str) -> Iterator[object]:
    """Read all that the text may mean, the reading that mends least first."""
    json_text = json_text.strip().lstrip("\ufeff")
    if not json_text or is_too_deep(json_text):
        return
    for read_text in READINGS:
        json_value = read_text(json_text)
        if json_value is not None:
            yield json_value


def unescape_once(json_text: str) -> str:
    """Take away one layer of backslashes from text that was escaped once too often."""
    return json_text.replace("\\\\", "\\").replace('\\"', '"') if '\\"' in json_text else json_text


def parse_strict(json_text: str) -> object | None:
    """JSON, with raw line breaks in strings allowed and surplus closers ignored."""
    decoder = json.JSONDecoder(strict=False, parse_constant=str, parse_float=read_float)
    try:
        json_value, end = decoder.raw_decode(json_text)
    except (ValueError, RecursionError):
        return None
    return None if goes_on(json_text, end) else json_value


DOUBLED = Expression(r"\{\s*(?=\{)")
"""The beginning of an object in the braces of a template: `{{"name": ...}}`."""


def parse_doubled(json_text: str) -> object | None:
    """An object whose braces are doubled, all of them or the outer ones, as templates write them
    that show the form of a call (Qwen 2.5 Coder)."""
    opening = DOUBLED.match(json_text)
    if opening is None:
        return None
    single = json_text.replace("{{", "{").replace("}}", "}")
    return next(filter(None, map(parse_strict, (json_text[opening.end() :], single))), None)


def parse_python(json_text: str) -> object | None:
    """A Python literal: single quotes, True, None, trailing commas."""
    try:
        with warnings.catch_warnings():  # of escapes that Python does not know
            warnings.simplefilter("ignore")
            expression = parse_expression(NEEDLESS.sub(r"\1", json_text).lstrip(" \t"))
            literal_value: object = ast.literal_eval(expression)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, SystemError):
        return None
    return convert_tuples(literal_value)


def parse_expression(source: str) -> ast.expr:
    """By Python's parser, with its numbers as they are written. Raises what that raises."""
    expression = ast.parse(source, mode="eval").body
    lines = source.encode().splitlines()
    signed = {node.operand for node in ast.walk(expression) if isinstance(node, ast.UnaryOp)}
    for node in ast.walk(expression):
        # Python's reader of literals puts a sign before floats of its own alone.
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and node not in signed:
            line = lines[node.lineno - 1]
            node.value = read_float(line[node.col_offset : node.end_col_offset].decode())
    return expression


def convert_tuples(literal_value: object) -> object | None:
    """The value with tuples as lists; None if it holds what JSON cannot."""
    if isinstance(literal_value, tuple | set):
        literal_value = list(literal_value)
    if isinstance(literal_value, list):
        return [convert_tuples(element) for element in literal_value]
    if isinstance(literal_value, dict):
        return {str(key): convert_tuples(element) for key, element in literal_value.items()}
    return literal_value if isinstance(literal_value, str | int | float | bool | None) else None


def mend_json(json_text: str) -> object | None:
    """With typographic quotes, triple quotes, backticks, illegal escapes, comments and bare keys
    mended."""
    if "`" in json_text:
        json_text = TEMPLATE.sub(_quote_template, json_text)
    mended_text = NEEDLESS.sub(r"\1", json_text).replace("\\'", "'")
    mended_text = TRIPLE.sub(lambda match: json.dumps(match[1]), mended_text)
    return _read_normalized(mended_text) or _read_normalized(json_text.translate(SMART))


def _quote_template(match: re.Match[str]) -> str:
    """A text between backticks in the quotes of JSON; one that has these is left."""
    if match["before"] is None:
        return match[0]
    body = match["body"].replace("\\`", "`")
    quoted = INNER_QUOTE.sub(lambda part: part[0] if len(part[0]) > 1 else '\\"', body)
    return f'{match["before"]}"{quoted}"'


def join_texts(json_text: str) -> object | None:
    """With the texts that a plus sign joins as one: `"a" + "b"`."""
    if "+" not in json_text:
        return None
    joined_text = JOINED.sub(_write_joined, json_text)
    return parse_strict(joined_text) if joined_text != json_text else None


def _write_joined(match: re.Match[str]) -> str:
    return f'"{"".join(text[0][1:-1] for text in STRING.finditer(match[0]))}"'


def _read_normalized(json_text: str) -> object | None:
    doubled_escapes = ESCAPE.sub(lambda match: match["known"] or r"\\", json_text)
    normalized_text = change_outside_strings(doubled_escapes, normalize_literals)
    return parse_strict(normalized_text) or parse_python(normalized_text)


def normalize_literals(json_text: str) -> str:
    json_text = COMMENT.sub("", json_text).translate(FULL_WIDTH)
    json_text = TRAILING_COMMA.sub(r"\1", json_text)
    json_text = CONSTANT.sub(lambda match: CONSTANTS.get(match[1], match[1]), json_text)
    return BARE_KEY.sub(r'\1"\2"\3', json_text)


def change_outside_strings(json_text: str, change_text: Callable[[str], str]) -> str:
    """Change what stands outside strings; a gap of it is changed as a whole."""
    held_strings: list[str] = []

    def keep(match: re.Match[str]) -> str:
        held_strings.append(match[0])
        return f"\0{len(held_strings) - 1}\0"

    changed_text = change_text(QUOTED.sub(keep, json_text.replace("\0", "")))
    return re.sub(r"\0(\d+)\0", lambda match: held_strings[int(match[1])], changed_text)


def escape_inner_quotes(json_text: str) -> object | None:
    """With the quotes inside strings escaped."""
    return parse_strict(write_escaped(json_text, JsonScan()))


def escape_lone_quotes(json_text: str) -> str:
    """The text with also those quotes escaped that open and close nothing: only where a marker
    says that the value ended, or one that is cut off would be taken for whole."""
    return write_escaped(json_text, JsonScan(pairs_quotes=False))


def write_escaped(json_text: str, scan: JsonScan) -> str:
    find_value_end(json_text, 0, scan)
    starts, ends = [0, *scan.inner_quotes], [*scan.inner_quotes, len(json_text)]
    return "\\".join(json_text[start:end] for start, end in zip(starts, ends, strict=True))


def escape_windows_paths(json_text: str) -> object | None:
    """Take the single backslashes of what begins like a path of Windows for no escapes."""
    if not WINDOWS.search(json_text):
        return None
    doubled_text = WINDOWS.sub(lambda match: match[0].replace("\\", "\\\\"), json_text)
    return parse_strict(doubled_text) or mend_json(doubled_text)


def repair_json(json_text: str) -> object | None:
    """Mend it with a library for that: the last resort, for what has to fit a schema."""
    if len(json_text) > MAX_REPAIRED_SIZE:
        return None
    from json_repair import repair_json  # 50 ms, and hardly any reply needs it

    try:
        repaired_value: object = repair_json(json_text, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError, TypeError, IndexError):
        return None
    if not repaired_value or not isinstance(repaired_value, dict | list):
        return None
    return repaired_value if _is_whole(repaired_value, json_text) else None


def _is_whole(repaired_value: object, json_text: str) -> bool:
    """Tell whether a repaired value has all keys that were written, and says nothing else."""
    written_keys = set(KEY.compiled.findall(json_text))
    return written_keys <= set(_keys_of(repaired_value)) and _is_said(repaired_value, json_text)


KEY = Expression(r"(?<!\\)\"(\w{1,80})\"\s*:")


def _keys_of(json_value: object) -> Iterator[str]:
    if isinstance(json_value, dict):
        for key, inner_value in json_value.items():
            yield str(key)
            yield from _keys_of(inner_value)
    elif isinstance(json_value, list):
        for inner_value in json_value:
            yield from _keys_of(inner_value)


def _is_said(repaired_value: object, json_text: str) -> bool:
    """Tell whether every text in a repaired value stood in quotation marks, or is one word."""
    if isinstance(repaired_value, dict):
        return all(_is_said(part, json_text) for part in chain(*repaired_value.items()))
    if isinstance(repaired_value, list):
        return all(_is_said(element, json_text) for element in repaired_value)
    if not isinstance(repaired_value, str) or WORD.fullmatch(repaired_value):
        return True
    return _is_text_said(repaired_value, json_text)


def _is_text_said(repaired_text: str, json_text: str) -> bool:
    if not repaired_text:
        return any(empty_text in json_text for empty_text in EMPTY_TEXTS)
    text_start = repaired_text[:20].replace('"', '\\"')
    text_end = repaired_text[-20:].replace('"', '\\"')
    for quotation_mark in "\"'\u201c\u201d":
        if f"{quotation_mark}{text_start}" in json_text:
            return True
        if f"{text_end}{quotation_mark}" in json_text:
            return True
    return False


WORD = Expression(r"[\w.\-/:@+]+")
EMPTY_TEXTS = ('""', "''", "\u201c\u201d")
READINGS: tuple[Callable[[str], object | None], ...] = (
    *(escape_windows_paths, parse_strict, parse_doubled, join_texts, parse_python, mend_json),
    escape_inner_quotes,
)


def is_too_deep(json_text: str) -> bool:
    """Tell whether brackets nest deeper than in any request; cheap, and sure where it says yes."""
    if json_text.count("{") + json_text.count("[") <= MAX_DEPTH:
        return False
    depth = deepest = 0
    for match in BRACKET.finditer(json_text):
        if match[0] in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "}]":
            depth -= 1
    return deepest > MAX_DEPTH


def close_brackets(json_text: str) -> str:
    """The text with the brackets closed that are open at its end, unless a string is open too.

    Only where a marker says that nothing is missing but brackets: never for what was cut off.
    """
    open_brackets: list[str] = []
    for match in BRACKET.finditer(json_text):
        bracket_mark = match[0]
        if bracket_mark in "{[":
            open_brackets.append("}" if bracket_mark == "{" else "]")
        elif bracket_mark in "}]":
            if not open_brackets:
                return json_text
            open_brackets.pop()
        elif len(bracket_mark) < 2 or bracket_mark[-1] != '"':
            return json_text
    return json_text + "".join(reversed(open_brackets))


def close_last(json_text: str) -> str:
    """The text with its one missing bracket, where a whole value stands before it; else itself."""
    if json_text.rstrip()[-1:] not in ("}", "]"):
        return json_text
    closed_text = close_brackets(json_text)
    return closed_text if len(closed_text) == len(json_text) + 1 else json_text


def is_balanced(json_text: str) -> bool:
    """Tell whether every bracket and string that was opened is closed: the text was not cut off."""
    depth = 0
    for match in BRACKET.finditer(json_text):
        if match[0] in "{[":
            depth += 1
        elif match[0] in "}]":
            depth -= 1
        elif not match["closed"]:
            return False
    return depth <= 0
