"""The values that a model gave as arguments: as plain JSON, by kind, and as texts of a format.

Formats are judged as people use them: a moment without its time zone is a date-time all the same.
Only what cannot be meant is refused.
"""

import contextlib
import datetime as dates
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from types import NoneType

from andy_cli.compiler.bodies import json_text
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.synonyms import stem_word, stem_words

MONTHS = "january february march april may june july august september october november december"
MONTH = {name[:3]: at for at, name in enumerate(MONTHS.split(), 1)}
CLOCK = r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d|:60)?([.,]\d+)?"
ZONE = r"(Z|z|[+-]\d\d:?\d\d)?"
DATE = Expression(r"(\d{4})-(\d\d)-(\d\d)")
MOMENT = Expression(rf"\d{{4}}-\d\d-\d\d[Tt ]{CLOCK} ?{ZONE}")
TIME = Expression(CLOCK + ZONE)
EMAIL = Expression(r"[^\s@<>,;:]+@[^\s@<>,;:]+")
UUID = Expression(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
URI = Expression(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
BIG_FIRST = Expression(r"(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})")
COMPACT = Expression(r"(\d{4})(\d\d)(\d\d)")
SMALL_FIRST = Expression(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
MONTH_FIRST = Expression(r"([A-Za-z]{3,9})\.? +(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})")
DAY_FIRST = Expression(r"(\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -]+([A-Za-z]{3,9})\.?,?[ -]+(\d{4})")
TWELVE = Expression(r"(1[0-2]|0?[1-9])(?::([0-5]\d))?(?::([0-5]\d))? *([AaPp])\.?[Mm]\.?")
MARKED_EMAIL = Expression(r"(?:mailto:|[^<>]*<)([^\s@<>]+@[^\s@<>]+)>?")
BARE_HOST = Expression(r"(?:www\.|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev)\b)\S*")
MAX_FORMATTED_LENGTH = 300


def follows_format(text: str, format_name: str) -> bool:
    """Tell whether the text is of that format; formats that are not known here are never judged."""
    if format_name == "date":
        return _is_date(text)
    if format_name == "date-time":
        return bool(MOMENT.fullmatch(text)) and _is_date(text[:10])
    if format_name == "time":
        return bool(TIME.fullmatch(text))
    if format_name == "email":
        return bool(EMAIL.fullmatch(text))
    if format_name == "uuid":
        return bool(UUID.fullmatch(text))
    if format_name in ("uri", "url"):
        return bool(URI.fullmatch(text.strip()))
    return True


def _is_date(text: str) -> bool:
    match = DATE.fullmatch(text)
    if match is None:
        return False
    return _make_date(*map(int, match.groups())) is not None


def _make_date(year: int, month: int, day: int) -> dates.date | None:
    try:
        return dates.date(year, month, day)
    except ValueError:
        return None


Rewritten = tuple[bool, str]
"""(nothing is guessed, the text in the format)."""


def rewrite_in_format(text: str, format_name: str) -> Iterator[Rewritten]:
    """All that a text may mean in a format of JSON Schema."""
    text = text.strip()
    rewrite = REWRITERS.get(format_name)
    if rewrite is not None and len(text) <= MAX_FORMATTED_LENGTH:
        yield from rewrite(text)


def _rewrite_date(text: str) -> Iterator[Rewritten]:
    yield from ((True, day.isoformat()) for day in parse_dates(text))
    if follows_format(text, "date-time"):
        yield True, text[:10]


def _rewrite_time(text: str) -> Iterator[Rewritten]:
    yield from ((True, clock) for clock in parse_times(text))
    if follows_format(text, "date-time"):
        yield True, text[11:].strip()


def _rewrite_email(text: str) -> Iterator[Rewritten]:
    if match := MARKED_EMAIL.fullmatch(text):
        yield True, match[1]


def _rewrite_uri(text: str) -> Iterator[Rewritten]:
    if "://" in text or text.startswith("mailto:"):
        yield True, text.replace(" ", "%20")
    elif BARE_HOST.fullmatch(text):
        yield False, f"https://{text}"


def _rewrite_uuid(text: str) -> Iterator[Rewritten]:
    import uuid  # 4 ms, and few tools want one

    with contextlib.suppress(ValueError):
        yield True, str(uuid.UUID(text))


def parse_dates(text: str) -> Iterator[dates.date]:
    """The days a text may mean; two where day and month cannot be told apart."""
    possible_days: list[dates.date | None] = []
    if match := BIG_FIRST.fullmatch(text) or COMPACT.fullmatch(text):
        possible_days.append(_make_date(int(match[1]), int(match[2]), int(match[3])))
    elif match := SMALL_FIRST.fullmatch(text):
        year, first_number, second_number = int(match[4]), int(match[1]), int(match[3])
        possible_days += [
            _make_date(year, first_number, second_number),
            _make_date(year, second_number, first_number),
        ]
    elif match := MONTH_FIRST.fullmatch(text):
        possible_days.append(_make_date_of_named_month(int(match[3]), match[1], int(match[2])))
    elif match := DAY_FIRST.fullmatch(text):
        possible_days.append(_make_date_of_named_month(int(match[3]), match[2], int(match[1])))
    yield from dict.fromkeys(day for day in possible_days if day)


def _make_date_of_named_month(year: int, name: str, day: int) -> dates.date | None:
    word = name.lower()
    month = MONTH.get(word[:3])
    if month is None or not MONTHS.split()[month - 1].startswith(word[:4]):
        return None
    return _make_date(year, month, day)


def _rewrite_date_time(text: str) -> Iterator[Rewritten]:
    for day in parse_dates(text):
        yield False, f"{day.isoformat()}T00:00:00"
    if follows_format(text, "date"):
        yield False, f"{text}T00:00:00"
    for day_text, clock_text in _split_clock(text):
        clocks = _read_clocks(clock_text)
        if clocks:
            days = parse_dates(day_text.strip())
            yield from ((True, f"{day.isoformat()}T{clock}") for day in days for clock in clocks)
            return


def _read_clocks(text: str) -> list[str]:
    """The times a text may mean, with seconds."""
    clocks = [text] if TIME.fullmatch(text) else parse_times(text)
    return [clock if clock.count(":") > 1 else f"{clock}:00" for clock in clocks]


def _split_clock(text: str) -> Iterator[tuple[str, str]]:
    """The ways to split a moment into day and clock; that is one word, or two: `10:30 pm`."""
    for separator in (" at ", ", ", "T"):
        day_text, separator_found, clock_text = text.rpartition(separator)
        if separator_found:
            yield day_text, clock_text
    words = text.split()
    has_half = bool(words) and words[-1].lower().rstrip(".") in ("am", "pm", "a.m", "p.m")
    clock_words = 2 if has_half else 1
    if len(words) > clock_words:
        yield " ".join(words[:-clock_words]), " ".join(words[-clock_words:])


def parse_times(text: str) -> Iterator[str]:
    if match := TWELVE.fullmatch(text):
        hour = int(match[1]) % 12 + (12 if match[4] in "Pp" else 0)
        yield f"{hour:02}:{match[2] or '00'}:{match[3] or '00'}"


REWRITERS: Mapping[str, Callable[[str], Iterator[Rewritten]]] = {
    "date": _rewrite_date,
    "date-time": _rewrite_date_time,
    "time": _rewrite_time,
    "email": _rewrite_email,
    "uuid": _rewrite_uuid,
    "uri": _rewrite_uri,
    "url": _rewrite_uri,
}


KIND_NAMES = {
    "string": "string str text char character varchar uuid url uri path date datetime",
    "integer": "integer int long short byte bigint int32 int64 uint",
    "number": "number float double decimal real numeric",
    "boolean": "boolean bool",
    "array": "array list tuple set sequence arraylist vector",
    "object": "object dict map dictionary hashmap struct record json",
    "null": "null none nil void undefined nonetype",
    "": "any anything object|any mixed unknown variant",
}
KINDS = {word: kind for kind, words in KIND_NAMES.items() for word in words.split()}
STANDARD_KINDS = frozenset(["string", "integer", "number", "boolean", "array", "object", "null"])
FLOAT_NAMES = frozenset(["float", "double"])
MAX_VALUE_DEPTH = 60
PLAIN_TYPES = frozenset([bool, int, NoneType])
CONTAINER_TYPES = frozenset([dict, list])
NUMBER = Expression(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
GROUPED = Expression(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
WITH_DECIMAL_COMMA = Expression(
    r"[+-]?(?:[1-9]\d{0,2}(\.\d{3})+,\d+|0,\d+|\d+,(?:\d{1,2}|\d{4,})|\d{4,},\d{3})"
)
"""A number as half of the world writes it: `1.234,56`, `9,50`; no comma in it parts thousands."""
LONE_GROUP = Expression(r"[+-]?[1-9]\d{0,2},\d{3}")
"""A thousand and more, or what has three decimals: `1,500`."""
UNDERSCORED = Expression(r"[+-]?\d{1,3}(_\d{3})+")
MEASURED = Expression(
    r"[$€£¥]? ?([+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?) ?"
    r"(%|[$€£¥]|[A-Za-z][A-Za-z/²³^]{0,11})?"
)
CURRENCIES = {"$": "dollar usd", "€": "euro eur", "£": "pound gbp", "¥": "yen jpy yuan cny"}
UNESCAPED = Expression(r"\\([\"\\])")
FENCE = Expression(r"\A```[a-z]*\s*(.*?)\s*```\Z", 16)
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
YES = frozenset("true yes on y 1 t enabled".split())
NO = frozenset("false no off n 0 f disabled".split())
NULL_WORDS = frozenset(["", "null", "none", "undefined", "nil", "n/a"])
MAX_NUMBER_LENGTH = 400
"""Characters of a number; Python reads no integer of more than 4300 digits."""
ENCODE_JSON = json.JSONEncoder(ensure_ascii=False).encode
MAX_STRUCTURE_SIZE = 200_000
"""Characters of a text that is read as JSON or Python."""


def parse_kind(name: str) -> str:
    """The JSON Schema type a name means; empty where anything may stand.

    `List[str]` and `array<string>` are arrays.
    """
    plain = name.strip().lower()
    return KINDS.get(plain) or KINDS.get(plain.partition("[")[0].partition("<")[0], "")


def equal_as_json(first_value: object, second_value: object) -> bool:
    """Equal as JSON: 3 and 3.0 are, 1 and true are not."""
    if isinstance(first_value, dict) and isinstance(second_value, dict):
        if first_value.keys() != second_value.keys():
            return False
        return all(equal_as_json(first_value[key], second_value[key]) for key in first_value)
    if isinstance(first_value, list) and isinstance(second_value, list):
        if len(first_value) != len(second_value):
            return False
        return all(map(equal_as_json, first_value, second_value))
    if isinstance(first_value, bool) is not isinstance(second_value, bool):
        return False
    return first_value == second_value


class NotJson(Exception):
    """The arguments hold what JSON cannot say."""


def copy_as_json(value: object) -> object:
    """The value itself if it is made of plain dictionaries and lists, else a copy that is.

    Raises NotJson.
    """
    return value if _is_plain_json(value, 0) else _copy_value(value, 0)


def _is_plain_json(value: object, depth: int) -> bool:
    """Tell whether nothing needs to be copied; quick, and in doubt it says no."""
    if depth > MAX_VALUE_DEPTH:
        return False
    if isinstance(value, dict):
        each_key = all(type(key) is str and key.isascii() for key in value)
        return type(value) is dict and each_key and _are_plain_json(value.values(), depth)
    if isinstance(value, list):
        return _are_plain_json(value, depth)
    return _are_plain_json((value,), depth)


def _are_plain_json(values: Iterable[object], depth: int) -> bool:
    for value in values:
        kind = type(value)
        if kind in PLAIN_TYPES:
            continue
        if isinstance(value, str):
            if not value.isascii():
                return False
        elif isinstance(value, float) and kind is float:
            if not isfinite(value):
                return False
        elif kind not in CONTAINER_TYPES or not _is_plain_json(value, depth + 1):
            return False
    return True


def _copy_value(value: object, depth: int) -> object:
    if depth > MAX_VALUE_DEPTH:
        raise NotJson("it is nested too deeply")
    match value:
        case str():
            return _check_text(value)
        case None | bool() | int():
            return value
        case float():
            if not isfinite(value):
                raise NotJson(f"{value} is no number that JSON knows")
            return value
        case Mapping():
            pairs = value.items()
            return {_check_text(str(key)): _copy_value(item, depth + 1) for key, item in pairs}
        case list() | tuple():
            return [_copy_value(item, depth + 1) for item in value]
    raise NotJson(f"a {type(value).__name__} is no value that JSON knows")


def _check_text(text: str) -> str:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise NotJson("it holds half a character")
    return text


def nesting_depth(value: object) -> int:
    """Count how deep lists and objects stand in one another."""
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(nesting_depth, inner), default=0)


def parse_number(text: str) -> int | float | None:
    """The number the whole text is: `3`, `3.0`, `1,000`, `9,50`, `two`; nothing is rounded."""
    text = text.strip()
    if len(text) > MAX_NUMBER_LENGTH:
        return None
    if WITH_DECIMAL_COMMA.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    if GROUPED.fullmatch(text) or UNDERSCORED.fullmatch(text):
        text = text.replace(",", "").replace("_", "")
    if not NUMBER.fullmatch(text):
        return NUMBER_WORDS.get(text.lower())
    if text.lstrip("+-").isdigit():
        return int(text)
    return simplify_number(float(text)) if float("-inf") < float(text) < float("inf") else None


def simplify_number(number: float) -> int | float:
    """3.0 as 3, where nothing is lost."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def parse_quantity(text: str, about: str) -> int | float | None:
    """The number in `$1,200`, or in `10 km` where `about` says that it is in km."""
    match = MEASURED.fullmatch(text.strip()) if len(text) < 40 else None
    if match is None or is_other_currency(text, about):
        return None
    unit = match[2]
    if unit == "%" and "percent" not in about:
        return None
    if unit and unit[0].isalpha() and stem_word(unit.lower()) not in stem_words(about):
        return None
    return parse_number(match[1])


def is_other_currency(text: str, about: str) -> bool:
    """Tell whether a price has the sign of another currency than the schema names."""
    named_words = stem_words(about)
    named_signs = {
        currency_sign
        for currency_sign, words in CURRENCIES.items()
        if named_words & stem_words(words)
    }
    if not named_signs:
        return False
    return any(other_sign in text for other_sign in CURRENCIES.keys() - named_signs)


def parse_boolean(value: object) -> bool | None:
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in YES:
        return True
    return False if word in NO else None


def parse_structure(text: str) -> list[object] | dict[str, object] | None:
    """The list or object the whole text is, written as JSON or as Python."""
    text = text.strip()
    if text.startswith("`"):
        text = FENCE.sub(r"\1", text)
    begins = text[:1] in ("[", "{", "(", '"')
    if not begins or len(text) > MAX_STRUCTURE_SIZE or json_text.is_too_deep(text):
        return None
    value = _parse_all(text)
    if value is None and '\\"' in text:
        # Escaped once more than it was quoted: `[\"a\"]`.
        value = _parse_all(UNESCAPED.sub(r"\1", text))
    if isinstance(value, str):
        return parse_structure(value) if len(value) < len(text) else None
    return value if isinstance(value, list | dict) else None


def _parse_all(text: str) -> object | None:
    """Nothing may be left over: what follows would be lost."""
    for read in (text, json_text.change_outside_strings(text, json_text.normalize_literals)):
        try:
            value: object = json.loads(read, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            value = json_text.parse_python(read)
        if value is not None:
            return value
    return None


def is_bracketed(value: object) -> bool:
    """Tell whether it is a text that begins as a list or an object does."""
    return isinstance(value, str) and value.lstrip()[:1] in ("[", "{")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def write_json(value: object) -> str:
    """A value as JSON, for receipts and for parameters that are texts."""
    try:
        return ENCODE_JSON(value)
    except (ValueError, TypeError, RecursionError):
        return repr(value)


def write_short(value: object) -> str:
    """Short enough for a receipt."""
    text = write_json(value)
    return text if len(text) <= 60 else f"{text[:40]}...{text[-15:]}"
