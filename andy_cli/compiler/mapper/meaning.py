"""Decide whether two names of a parameter say the same thing.

A name is a set of words. A written name may stand for a declared one if they share a word that
says something and if no word is left over that restricts or changes it: `artist_name` is `artist`,
`max_duration` is not `duration`, `created_date` is not `start_date`. The words are data, below.
"""

from functools import lru_cache

from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.words import drifts, opposite, plain, shortened, words

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
MEASURES = frozenset(
    "height width length depth distance diameter radius weight mass temperature time duration "
    "timeout delay interval speed velocity size volume age position offset".split()
)
"""What is given in units."""
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
"""Words behind another one that only say how it is given: `start_location`, `file_path`."""
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
"""Verbs in a tool's name behind which stands what is given, not what comes out."""
CLAUSE = Expression(r"[.,;:(]| (?:of|in|for|to|from|that|which|by|at|on|with|as|per|like) ")
DIGITS = Expression(r"^([a-z]{3,})(\d+)$")
SAME, FREE, LIBERTY = 2, 3, 5


@lru_cache(maxsize=4096)
def canonical(name: str) -> tuple[str, ...]:
    """The words of a name, without plurals, each by the word that stands for it."""
    said = [part for word in words(name) for part in DIGITS.sub(r"\1 \2", word).split()]
    spelled = [SYNONYMS.get(word) or SYNONYMS.get(singular(word), singular(word)) for word in said]
    if len(said) > 1 and spelled[-2] in MEASURES:
        spelled[-1] = UNIT_LETTERS.get(said[-1], spelled[-1])
    return tuple(spelled)


def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "as"))
    return word[:-1] if plural and len(word) > 3 else word


@lru_cache(maxsize=4096)
def content(name: str) -> frozenset[str]:
    """The words that say something."""
    return frozenset(canonical(name)) - EMPTY


def is_silent(name: str) -> bool:
    """Whether a name says nothing of what is meant: `value`, `input_text`."""
    return bool(words(name)) and set(canonical(name)) <= SILENT and "count" not in words(name)


def says_nothing(key: str) -> bool:
    """Whether a key in a wrapper is as good as none: `value`, `name`."""
    return set(canonical(key)) <= EMPTY


def are_synonyms(written: str, name: str) -> bool:
    """Whether people use the whole names for one another."""
    groups = drifts(written)
    return any(plain(name) in group for group in groups) and not opposite(written, name)


@lru_cache(maxsize=8192)
def relation(written: str, name: str, tool: str, about: str) -> int | None:
    """How many liberties it takes to read the written name as the declared one; None: it is not.

    `about`: the description of the declared parameter.
    """
    if are_synonyms(written, name):
        return SAME
    if opposite(written, name) or are_rivals(written, name):
        return None
    mine, theirs = content(written), content(name)
    if not mine:
        return said_by_kind(written, name)
    if mine == theirs or joined(written) == "".join(canonical(name)):
        return SAME
    if not theirs:
        known = content(tool) | content(about) | WHOSE
        ends_alike = canonical(written)[-1:] == canonical(name)[-1:]
        return FREE if ends_alike and mine <= known - BOUNDS - ENDS - UNITS else None
    spelled, cost = spell_out(mine, theirs)
    left = leftover(written, spelled - theirs, spelled & theirs, tool, about)
    if spelled & theirs and not left:
        return said_shorter(spelled, name) and max(cost, FREE)
    return described(mine, tool, about)


def joined(name: str) -> str:
    """The name as one word, without what only says how it is given."""
    said = list(canonical(name))
    while len(said) > 1 and said[-1] in CARRIERS:
        said.pop()
    return "".join(said)


def said_by_kind(written: str, name: str) -> int | None:
    """`name` for `playlist_name`: the words for a kind of thing, alone."""
    lacking = content(name) & (BOUNDS | ENDS)
    return FREE if set(canonical(written)) <= set(canonical(name)) and not lacking else None


def are_rivals(written: str, name: str) -> bool:
    mine, theirs = content(written), content(name)
    return any(mine & group - theirs and theirs & group - mine for group in RIVALS)


def spell_out(mine: frozenset[str], theirs: frozenset[str]) -> tuple[frozenset[str], int]:
    """Abbreviations as the words they stand for, and what that costs."""
    made, cost = set[str](), 0
    for word in mine:
        longer = [other for other in theirs if word not in theirs and abbreviates(word, other)]
        made.add(longer[0] if len(longer) == 1 else word)
        if longer:
            cost = LIBERTY if len(word) == 1 else FREE
    return frozenset(made), cost


def abbreviates(short: str, long: str) -> bool:
    """`m` is mass, `mgr` is manager: the first letter, and consonants.

    What only begins a word may be another one: `art` is no artist. Those that are none are data.
    """
    if len(short) == 1:
        return long.startswith(short) and len(long) > 2
    if short in UNITS or short in BOUNDS or not any(map(str.isalpha, short)):
        return False
    consonants = not set(short[1:]) & set("aeiou")
    return consonants and not long.startswith(short) and shortened(short, long)


def leftover(
    written: str, left: frozenset[str], common: frozenset[str], tool: str, about: str
) -> frozenset[str]:
    """The words of the written name that the declared one neither has nor implies."""
    order = canonical(written)
    last = max((at for at, word in enumerate(order) if word in common), default=-1)
    behind = frozenset(order[last + 1 :]) if last >= 0 else frozenset()
    known = content(tool) | content(about)
    if common <= UNITS:
        known |= MEASURES
    if "identifier" not in common:
        known |= ENTITIES
    carried = CARRIERS & behind
    implied = (carried | known - behind) - BOUNDS - ENDS - UNITS | (UNITS & content(about))
    return left - frozenset(word for word in implied if len(word) > 1 and not word.isdigit())


def head(about: str) -> frozenset[str]:
    """What a description calls the thing: the words before its first clause ends."""
    match = CLAUSE.search(about)
    return content(about[: match.start()] if match else about[:40])


def said_shorter(mine: frozenset[str], name: str) -> int | None:
    """The cost of a name that lacks words of the declared one; None where they matter."""
    theirs = content(name)
    lacking = theirs - mine
    if lacking and mine - theirs:
        return None
    if mine & theirs <= BOUNDS | ENDS:
        return FREE
    if lacking & (BOUNDS | ENDS):
        return None
    changes_kind = head_word(name) in lacking - CARRIERS - UNITS - {"identifier"}
    return None if changes_kind else FREE


def head_word(name: str) -> str:
    """What a name is about: its last word, or the last before `of`."""
    said = list(canonical(name))
    before = said[: said.index("of")] if "of" in said else said
    telling = [word for word in before if word not in EMPTY]
    return (telling or [word for word in said if word not in EMPTY])[-1]


def described(mine: frozenset[str], tool: str, about: str) -> int | None:
    """The cost of a name that only the description, or the name of the tool, knows."""
    if mine & (BOUNDS | ENDS | UNITS) or min(map(len, mine)) < 3:
        return None
    if mine <= head(about):
        return LIBERTY
    verb = words(tool)[:1]
    acts = bool(verb) and verb[0] in OBJECTS_FIRST
    return LIBERTY + 1 if acts and mine <= content(tool) else None


def may_fill(written: str, name: str, alone: bool) -> bool:
    """Whether an argument may be what is missing where nothing but the names speaks against it.

    `alone`: it is the only one left over, for the only one missing.
    """
    if opposite(written, name):
        return False
    if is_silent(written):
        return True
    restricted = content(written) & (BOUNDS | ENDS | UNITS)
    return alone and plain(name) in WANTING and not restricted


def is_about(written: str, name: str) -> bool:
    """Whether a name speaks of the same thing, be it in another sense: it must not be dropped."""
    general = BOUNDS | ENDS | frozenset(["include", "show"])
    return bool((content(written) & content(name)) - general)


def only_limits(name: str) -> bool:
    """Whether a parameter says no more than how much is shown."""
    said = frozenset(canonical(name))
    told = said & {"limit", "depth", "maximum", "top", "per"} or {"page", "size"} <= said
    return said <= LIMITS and (bool(told) or is_count(name))


def is_count(name: str) -> bool:
    """Whether a name asks how many: `num_results`, `result_count`."""
    said = words(name)
    return bool(said) and (said[0] in ("num", "number") or said[-1] == "count")


def is_wrapper(key: str, tool: str) -> bool:
    """Whether a name says nothing but what the arguments in it belong to."""
    return content(key) <= ENTITIES | CARRIERS | CONTAINERS | content(tool)
