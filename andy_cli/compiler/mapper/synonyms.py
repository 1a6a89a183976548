"""Decide whether two names of a parameter say the same thing.

A name is a set of words. A written name may stand for a declared one if they share a word that
says something and if no word is left over that restricts or changes it: `artist_name` is `artist`,
`max_duration` is not `duration`, `created_date` is not `start_date`. The words are data, below.
"""

from functools import lru_cache
from itertools import product

from andy_cli.compiler.expression import Expression

WORD_BREAK = Expression(
    r"[^0-9A-Za-z\u0080-\uffff]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
)
SYNONYM_GROUPS = [
    line.split()
    for line in (
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
        "working_directory working_dir workdir work_dir cwd",
    )
]
"""Groups of names that stand for one another."""
OPPOSITES = {
    frozenset(pair.split())
    for pair in (
        "from to", "start end", "min max", "source destination", "src dst", "src dest", "old new",
        "before after", "width height", "latitude longitude", "lat lon", "lat lng", "first second",
        "first last", "begin end", "input output", "x y", "origin destination", "find replace",
        "sender recipient", "minimum maximum", "numerator denominator", "buy sell", "a b",
        "departure arrival", "home away", "lower upper", "left right", "initial final",
        "row column", "name id", "source target", "base exponent",
    )
}  # fmt: skip
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
"""Words for the same thing, of which `stem_words` makes one before names are compared."""
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
SYNONYMS = {
    word: line.split()[0]
    for line in (
        "from start begin source src origin departure departing",
        "to end destination dest dst target arrival arriving until till",
        "maximum max most lte le lt upper highest", "minimum min least gte ge gt lower lowest",
        "identifier id", "number num no nr count",
        "symbol ticker", "quantity qty", "amount amt", "length len",
        "message msg", "address addr", "temperature temp", "language lang", "country ctry",
        "description desc", "image img picture photo pic", "timezone tz", "percent pct percentage",
        "average avg mean", "directory dir folder", "document doc", "environment env",
        "information info", "latitude lat", "longitude lon lng", "command cmd", "color colour",
        "center centre", "repository repo", "department dept", "function func fn", "sequence seq",
        "reference ref", "position pos", "track song", "film movie", "currency ccy",
        "configuration config cfg", "parameter param", "distance dist", "duration dur",
        "velocity speed vel", "frequency freq", "postal zip postcode", "phone telephone tel",
        "email mail", "category cat", "organization org organisation", "password pwd passwd",
        "kind type", "location loc", "volume vol", "acceleration acc accel", "altitude alt",
        "population pop", "probability prob", "coordinate coord", "transaction tx txn",
        "account acct", "customer cust", "character char", "expression expr", "index idx",
        "initial init", "previous prev", "authentication auth", "attribute attr", "year yr",
        "week wk", "month mo", "apartment apt", "reservation resv", "gram gr", "kilogram kg kilo",
        "pound lb lbs", "ounce oz", "meter metre", "kilometer km kilometre",
        "centimeter cm centimetre", "millimeter mm millimetre", "mile mi", "foot ft feet",
        "inch inches", "yard yd", "hour hr hrs", "minute mins", "sec seconds secs",
        "millisecond ms msec", "liter litre", "milliliter ml", "pixel px", "radian rad",
        "degree deg",
    )
    for word in line.split()
}  # fmt: skip
"""Words for the same thing; the first of a line stands for all."""
BOUNDS = frozenset(
    "maximum minimum not non without exclude excluded excluding except avoid avoiding avoided "
    "ignore ignored skip skipped hide hidden disable disabled only limit before after since above "
    "below over under greater less more than between range around near next previous current "
    "created updated modified deleted due average median total sum delta change difference "
    "per ratio raw net gross other old new first last second third final initial "
    "optional default alternate alternative backup return".split()
)
"""Words that restrict what is meant, or turn it into something else."""
ENDS = frozenset(["from", "to", "sender", "recipient", "input", "output"])
"""Words for the place of a thing among two."""
UNITS = frozenset(
    "gram kilogram pound ounce stone ton meter kilometer centimeter millimeter mile foot inch yard "
    "hour minute sec millisecond day week month year liter milliliter gallon pixel byte kb mb "
    "gb radian degree celsius fahrenheit kelvin percent usd eur gbp hz khz mhz ghz volt watt mg "
    "mcg nm um nmi kwh joule calorie bar pascal psi atm".split()
)
"""Words for units that a name or a value may have; nothing is converted from one to another."""
MEASURES = frozenset(
    "height width length depth distance diameter radius weight mass temperature time duration "
    "timeout delay interval speed velocity size volume age position offset".split()
)
"""Things that are given in units."""
UNIT_LETTERS = dict(
    pair.split("=")
    for pair in (
        "m=meter g=gram h=hour l=liter c=celsius f=fahrenheit k=kelvin s=sec in=inch".split()
    )
)
EMPTY = frozenset(
    "the a an of in for by is are as at be on and given my your this parameter arg args argument "
    "input value val name field key str string text txt item items data obj object list array "
    "number integer int float content var variable entry element s".split()
)
"""Words that say nothing of what is meant."""
SILENT = EMPTY - frozenset("the a an of in for by is are as at be on and my your this name".split())
"""Words that may stand for whatever is asked for, alone."""
WANTING = frozenset("value values number numbers input list items elements array n".split())
"""Declared names that say nothing of what is wanted: the only one left over may stand there."""
CARRIERS = frozenset(
    "path location length amount level code title term query date time address point file word "
    "phrase sequence".split()
)
"""Words after another one that only say how it is given: `start_location`, `file_path`."""
ENTITIES = frozenset(
    "file track film book album user city country company stock product item order event person "
    "customer travel flight hotel restaurant museum player team patient artist author place page "
    "document message game recipe food car vehicle search email website web trip "
    "repository project task issue calendar channel group account".split()
)
"""Words before another one that only say what it belongs to: `song_title`, `travel_date`."""
CONTAINERS = frozenset(
    "query filter option setting detail coordinate criteria search request payload body config "
    "specification data json property attribute".split()
)
"""Words for an object that arguments are put in."""
LIMITS = frozenset(
    "limit maximum number result depth line token page size per top k row hit match entry "
    "item length level char character file".split()
)
"""Words of a parameter that only says how much is shown: `limit`, `max_results`, `page_size`."""
RIVALS = [
    frozenset(line.split())
    for line in (
        "radius diameter circumference area perimeter volume side",
        "frequency wavelength period", "voltage current resistance conductance power charge",
        "velocity acceleration time distance displacement", "mass weight force density",
        "half constant rate", "interest principal", "height width depth",
        "celsius fahrenheit kelvin", "latitude longitude", "numerator denominator",
        "dividend divisor quotient", "base exponent", "pressure temperature volume",
    )
]  # fmt: skip
"""Quantities of one formula; none is another."""
WHOSE = frozenset("full user person display complete".split())
"""Words before `name` that add nothing."""
OBJECTS_FIRST = frozenset("set adjust change run execute play".split())
"""Verbs in a tool's name after which stands what is given, not what comes out."""
CLAUSE = Expression(r"[.,;:(]| (?:of|in|for|to|from|that|which|by|at|on|with|as|per|like) ")
DIGITS = Expression(r"^([a-z]{3,})(\d+)$")
SAME_COST, FREE_COST, GUESS_COST = 2, 3, 5


@lru_cache(maxsize=4096)
def split_words(name: str) -> tuple[str, ...]:
    """`maxResults`, `max_results` and `Max-Results` are `max`, `results`."""
    return tuple(word.lower() for word in WORD_BREAK.split(name[:200]) if word)


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


@lru_cache(maxsize=4096)
def stem_words(name: str) -> frozenset[str]:
    return frozenset(stem_word(STEM_SYNONYMS.get(word, word)) for word in split_words(name))


@lru_cache(maxsize=1)
def _index_synonym_groups() -> dict[str, list[frozenset[str]]]:
    """The groups that a name belongs to, as plain names."""
    groups: dict[str, list[frozenset[str]]] = {}
    for names in SYNONYM_GROUPS:
        group = frozenset(map(plain_name, names))
        for name in group:
            groups.setdefault(name, []).append(group)
    return groups


def are_opposite(first_name: str, second_name: str) -> bool:
    """`start_date` and `end_date`: alike, and never the same."""
    first_words, second_words = set(split_words(first_name)), set(split_words(second_name))
    only_first, only_second = first_words - second_words, second_words - first_words
    pairs = map(frozenset, product(only_first, only_second))
    if any(pair in OPPOSITES for pair in pairs):
        return True
    if (only_first & EARLY and only_second & LATE) or (only_first & LATE and only_second & EARLY):
        return True
    return bool((only_first | only_second) & DISTINGUISHING and first_words & second_words)


def is_abbreviation(abbreviation: str, full_word: str) -> bool:
    """`km` is kilometers: the letters of the one, in order, begin and stand in the other."""
    if not 0 < len(abbreviation) <= 4 or len(full_word) < 2 * len(abbreviation):
        return False
    if not full_word.startswith(abbreviation[0]):
        return False
    remaining_letters = iter(full_word)  # `in` goes on behind the letter that it found last
    return all(letter in remaining_letters for letter in abbreviation)


@lru_cache(maxsize=4096)
def canonical_words(name: str) -> tuple[str, ...]:
    """The words of a name, without plurals, each by the word that stands for it."""
    words: list[str] = []
    for word in split_words(name):
        words += DIGITS.sub(r"\1 \2", word).split()
    spelled = list(map(_find_canonical_word, words))
    if len(words) > 1 and spelled[-2] in MEASURES:
        spelled[-1] = UNIT_LETTERS.get(words[-1], spelled[-1])
    return tuple(spelled)


def _find_canonical_word(word: str) -> str:
    singular = singular_of(word)
    return SYNONYMS.get(word) or SYNONYMS.get(singular, singular)


def singular_of(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "as"))
    return word[:-1] if plural and len(word) > 3 else word


@lru_cache(maxsize=4096)
def content_words(name: str) -> frozenset[str]:
    """The words that say something."""
    return frozenset(canonical_words(name)) - EMPTY


def is_silent(name: str) -> bool:
    """Tell whether a name says nothing of what is meant: `value`, `input_text`."""
    words = split_words(name)
    if not words or "count" in words:
        return False
    return set(canonical_words(name)) <= SILENT


def says_nothing(key: str) -> bool:
    """Tell whether a key in a wrapper is as good as none: `value`, `name`."""
    return set(canonical_words(key)) <= EMPTY


def are_synonyms(written: str, name: str) -> bool:
    """Tell whether people use the whole names for one another."""
    if are_opposite(written, name):
        return False
    plain_names = plain_name(written), plain_name(name)
    # What is said of one is said of several: `files` is `paths`.
    singulars = singular_of(plain_names[0]), singular_of(plain_names[1])
    are_plural = singulars[0] != plain_names[0] and singulars[1] != plain_names[1]
    return _share_group(*plain_names) or (are_plural and _share_group(*singulars))


def _share_group(first_name: str, second_name: str) -> bool:
    return any(second_name in group for group in _index_synonym_groups().get(first_name, []))


@lru_cache(maxsize=8192)
def relation_cost(written: str, name: str, tool: str, about: str) -> int | None:
    """Count the liberties it takes to read the written name as the declared one; None: it is not.

    `about`: the description of the declared parameter.
    """
    if are_synonyms(written, name):
        return SAME_COST
    if are_opposite(written, name) or are_rivals(written, name):
        return None
    written_words, declared_words = content_words(written), content_words(name)
    if not written_words:
        return kind_word_cost(written, name)
    if written_words == declared_words or join_words(written) == "".join(canonical_words(name)):
        return SAME_COST
    if not declared_words:
        return context_cost(written, name, tool, about)
    return explained_cost(written, name, tool, about)


def explained_cost(written: str, name: str, tool: str, about: str) -> int | None:
    """A name that shares words with the declared one, where its other words are explained."""
    written_words, declared_words = content_words(written), content_words(name)
    spelled_words, spelling_cost = spell_out(written_words, declared_words)
    shared_words, unmatched = spelled_words & declared_words, spelled_words - declared_words
    if not shared_words or unexplained_words(written, unmatched, shared_words, tool, about):
        return described_cost(written_words, tool, about)
    return shortened_cost(spelled_words, name) and max(spelling_cost, FREE_COST)


def context_cost(written: str, name: str, tool: str, about: str) -> int | None:
    """`song_name` for `name` of a tool for songs: its other words say what is known anyway."""
    known_words = content_words(tool) | content_words(about) | WHOSE
    ends_alike = canonical_words(written)[-1:] == canonical_words(name)[-1:]
    is_known = content_words(written) <= known_words - BOUNDS - ENDS - UNITS
    return FREE_COST if ends_alike and is_known else None


def join_words(name: str) -> str:
    """The name as one word, without what only says how it is given."""
    name_words = list(canonical_words(name))
    while len(name_words) > 1 and name_words[-1] in CARRIERS:
        name_words.pop()
    return "".join(name_words)


def kind_word_cost(written: str, name: str) -> int | None:
    """`name` for `playlist_name`: the words for a kind of thing, alone."""
    if content_words(name) & (BOUNDS | ENDS):
        return None
    return FREE_COST if set(canonical_words(written)) <= set(canonical_words(name)) else None


def are_rivals(written: str, name: str) -> bool:
    written_words, declared_words = content_words(written), content_words(name)
    return any(
        written_words & group - declared_words and declared_words & group - written_words
        for group in RIVALS
    )


def spell_out(
    written_words: frozenset[str], declared_words: frozenset[str]
) -> tuple[frozenset[str], int]:
    """Abbreviations as the words they stand for, and what that costs."""
    spelled_words, spelling_cost = set[str](), 0
    for word in written_words:
        full_words = [
            full_word
            for full_word in declared_words
            if word not in declared_words and abbreviates(word, full_word)
        ]
        spelled_words.add(full_words[0] if len(full_words) == 1 else word)
        if full_words:
            spelling_cost = GUESS_COST if len(word) == 1 else FREE_COST
    return frozenset(spelled_words), spelling_cost


def abbreviates(abbreviation: str, full_word: str) -> bool:
    """`m` is mass, `mgr` is manager: the first letter, and consonants.

    What only begins a word may be another one: `art` is no artist. Those that are none are data.
    """
    if len(abbreviation) == 1:
        return full_word.startswith(abbreviation) and len(full_word) > 2
    if abbreviation in UNITS or abbreviation in BOUNDS or not any(map(str.isalpha, abbreviation)):
        return False
    if full_word.startswith(abbreviation) or set(abbreviation[1:]) & set("aeiou"):
        return False
    return is_abbreviation(abbreviation, full_word)


def unexplained_words(
    written: str, unmatched: frozenset[str], shared_words: frozenset[str], tool: str, about: str
) -> frozenset[str]:
    """The words of the written name that the declared one neither has nor implies."""
    order = canonical_words(written)
    shared_places = [index for index, word in enumerate(order) if word in shared_words]
    words_behind: frozenset[str] = frozenset()
    if shared_places:
        words_behind = frozenset(order[shared_places[-1] + 1 :])
    known_words = content_words(tool) | content_words(about)
    if shared_words <= UNITS:
        known_words |= MEASURES
    if "identifier" not in shared_words:
        known_words |= ENTITIES
    carried = CARRIERS & words_behind
    implied = (carried | (known_words - words_behind)) - BOUNDS - ENDS - UNITS
    implied |= UNITS & content_words(about)  # a unit is implied by nothing but its description
    return unmatched - frozenset(word for word in implied if len(word) > 1 and not word.isdigit())


def description_head(about: str) -> frozenset[str]:
    """Find what a description calls the thing: the words before its first clause ends."""
    match = CLAUSE.search(about)
    return content_words(about[: match.start()] if match else about[:40])


def shortened_cost(written_words: frozenset[str], name: str) -> int | None:
    """The cost of a name that lacks words of the declared one; None where they matter."""
    declared_words = content_words(name)
    lacking_words = declared_words - written_words
    if lacking_words and written_words - declared_words:
        return None
    if written_words & declared_words <= BOUNDS | ENDS:
        return FREE_COST
    if lacking_words & (BOUNDS | ENDS):
        return None
    changes_kind = head_word(name) in lacking_words - CARRIERS - UNITS - {"identifier"}
    return None if changes_kind else FREE_COST


def head_word(name: str) -> str:
    """Find what a name is about: its last word, or the last before `of`."""
    name_words = list(canonical_words(name))
    words_before = name_words[: name_words.index("of")] if "of" in name_words else name_words
    telling_words = [word for word in words_before if word not in EMPTY]
    return (telling_words or [word for word in name_words if word not in EMPTY])[-1]


def described_cost(written_words: frozenset[str], tool: str, about: str) -> int | None:
    """The cost of a name that only the description, or the name of the tool, knows."""
    if written_words & (BOUNDS | ENDS | UNITS) or min(map(len, written_words)) < 3:
        return None
    if written_words <= description_head(about):
        return GUESS_COST
    tool_verb = split_words(tool)[:1]
    acts_on_object = bool(tool_verb) and tool_verb[0] in OBJECTS_FIRST
    return GUESS_COST + 1 if acts_on_object and written_words <= content_words(tool) else None


def begins_as(name: str, written: str) -> bool:
    """Tell whether a name begins as the written one, which may be it cut short: `op`."""
    return len(plain_name(written)) > 1 and plain_name(name).startswith(plain_name(written))


def may_fill(written: str, name: str, alone: bool) -> bool:
    """Tell whether an argument may be what is missing, if only the names speak against it.

    `alone`: it is the only one left over, for the only one missing.
    """
    if are_opposite(written, name):
        return False
    if is_silent(written):
        return True
    restricted = content_words(written) & (BOUNDS | ENDS | UNITS)
    return alone and plain_name(name) in WANTING and not restricted


def is_about(written: str, name: str) -> bool:
    """Tell whether a name speaks of the same thing in any sense: it must not be dropped."""
    general = BOUNDS | ENDS | frozenset(["include", "show"])
    shared_words = content_words(written) & content_words(name)
    says_all_of_it = bool(shared_words) and shared_words == content_words(written)
    return says_all_of_it or bool(shared_words - general)


def only_limits(name: str) -> bool:
    """Tell whether a parameter says no more than how much is shown."""
    name_words = frozenset(canonical_words(name))
    limit_words = (
        name_words & {"limit", "depth", "maximum", "top", "per"} or {"page", "size"} <= name_words
    )
    return name_words <= LIMITS and (bool(limit_words) or is_count(name))


def is_count(name: str) -> bool:
    """Tell whether a name asks how many: `num_results`, `result_count`."""
    name_words = split_words(name)
    return bool(name_words) and (name_words[0] in ("num", "number") or name_words[-1] == "count")


def is_wrapper(key: str, tool: str) -> bool:
    """Tell whether a name says nothing but what the arguments in it belong to."""
    return content_words(key) <= ENTITIES | CARRIERS | CONTAINERS | content_words(tool)
