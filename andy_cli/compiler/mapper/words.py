"""Names as words: how they are compared, and which of them people use for one another."""

from functools import lru_cache

from andy_cli.compiler.expression import Expression

WORD_BREAK = Expression(
    r"[^0-9A-Za-z\u0080-\uffff]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
)

SYNONYM_GROUPS = [
    each.split()
    for each in (
        "path file_path file filepath filename file_name pathname target_file absolute_path",
        "path directory dir folder folder_path directory_path location root",
        "source src from source_path from_path origin old_path",
        "destination dest to dst target destination_path to_path target_path new_path",
        "search_pattern pattern find old_string regex search old_text find_text old_str "
        "search_text",
        "replace_text replace new_text new_string replacement new_str replacement_text",
        "content contents text data body file_text file_content message",
        "query q search search_query search_term keywords keyword term question",
        "limit max_results page_size top_k num_results count max_count n k per_page number_results",
        "voice_id voice speaker",
        "url uri link href address website",
        "command cmd command_line shell_command script",
        "title subject heading",
        "title summary",
        "title name",
        "title updates",
        "id identifier uid",
        "language lang locale",
        "recipient to recipients email_to to_email",
        "latitude lat",
        "longitude lon lng long",
        "temperature temp",
        "timeout timeout_seconds time_limit max_time",
        "start_time time_min start begin from start_date",
        "end_time time_max end until to end_date",
        "max_depth depth",
        "max_tokens tokens token_limit",
        "quantity qty amount count",
        "utterance text speech",
        "point location coordinates coords position",
        "text sentence phrase paragraph passage",
        "city town location place venue",
        "artist band singer musician performer",
        "sql query statement",
        "principal loan_amount loan",
        "guests people persons party_size number_of_people num_people number_of_guests",
        "code source_code snippet",
        "values rows data",
        "range cell_range cells",
        "headers header",
        "model model_name model_id",
        "encoding charset",
    )
]
"""Groups of names that stand for one another."""

OPPOSITES = {
    frozenset(each.split())
    for each in (
        "from to", "start end", "min max", "source destination", "src dst", "src dest", "old new",
        "before after", "width height", "latitude longitude", "lat lon", "lat lng", "first second",
        "first last", "begin end", "input output", "x y", "origin destination", "find replace",
        "sender recipient", "minimum maximum", "numerator denominator", "buy sell", "a b",
        "departure arrival", "home away", "lower upper", "left right", "initial final",
        "row column", "name id", "source target", "base exponent",
    )
}  # fmt: skip


@lru_cache(maxsize=4096)
def split_words(name: str) -> tuple[str, ...]:
    """`maxResults`, `max_results` and `Max-Results` are `max`, `results`."""
    return tuple(each.lower() for each in WORD_BREAK.split(name[:200]) if each)


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """For comparing: case and separators do not matter."""
    return "".join(filter(str.isalnum, name[:200])).lower()


@lru_cache(maxsize=4096)
def stem_word(word: str) -> str:
    """`files` is `file`, `solver` and `solving` are `solv`."""
    for end in ("ings", "ing", "ers", "er", "ors", "or", "ation", "ations", "ed", "es", "s", "e"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)]
    return word


STEM_SYNONYMS = dict(
    pair.split("=")
    for pair in (
        "from=start begin=start since=start to=end until=end till=end src=source origin=source "
        "dst=destination dest=destination num=number no=number max=maximum min=minimum "
        "qty=quantity amt=amount len=length msg=message addr=address temp=temperature "
        "lang=language "
        "desc=description img=image tz=timezone pct=percent avg=average id=identifier "
        "dir=directory doc=document env=environment info=information lat=latitude lon=longitude "
        "lng=longitude cmd=command"
    ).split()
)
"""Words for the same thing."""


@lru_cache(maxsize=4096)
def stem_words(name: str) -> frozenset[str]:
    return frozenset(stem_word(STEM_SYNONYMS.get(word, word)) for word in split_words(name))


def find_synonym_groups(name: str) -> list[frozenset[str]]:
    """The groups the name belongs to, as plain names."""
    return _index_synonym_groups().get(plain_name(name), [])


@lru_cache(maxsize=1)
def _index_synonym_groups() -> dict[str, list[frozenset[str]]]:
    groups: dict[str, list[frozenset[str]]] = {}
    for names in SYNONYM_GROUPS:
        group = frozenset(map(plain_name, names))
        for name in group:
            groups.setdefault(name, []).append(group)
    return groups


def are_opposite(one: str, other: str) -> bool:
    """`start_date` and `end_date`: alike, and never the same."""
    first, second = set(split_words(one)), set(split_words(other))
    mine, theirs = first - second, second - first
    if any(frozenset((a, b)) in OPPOSITES for a in mine for b in theirs):
        return True
    if (mine & EARLY and theirs & LATE) or (mine & LATE and theirs & EARLY):
        return True
    return bool((mine | theirs) & DISTINGUISHING and first & second)


EARLY = frozenset(
    "from start begin source src origin departure initial first old before min minimum lower left "
    "input sender since earliest low".split()
)
LATE = frozenset(
    "to end destination dest dst target arrival final last new after max maximum upper right "
    "output recipient until latest high stop".split()
)
DISTINGUISHING = frozenset(
    "1 2 3 4 5 6 7 8 9 first second third not no non without exclude un disable "
    "disabled skip ignore".split()
)


def is_abbreviation(short: str, long: str) -> bool:
    """`km` is kilometers: the letters of the one, in order, begin and stand in the other."""
    if not 0 < len(short) <= 4 or not long.startswith(short[0]) or len(long) < 2 * len(short):
        return False
    rest = iter(long)
    return all(letter in rest for letter in short)
