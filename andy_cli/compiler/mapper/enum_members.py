"""Find the member of an enumeration that a value means."""

from collections.abc import Iterator, Sequence

from andy_cli.compiler.mapper.json_input import NO, YES, equal_as_json, parse_number, write_json
from andy_cli.compiler.mapper.synonyms import (
    UNIT_LETTERS,
    UNITS,
    canonical_words,
    is_abbreviation,
    plain_name,
    split_words,
    stem_word,
    stem_words,
)

SPELLINGS = {
    other: word
    for word, other in (
        pair.split("/")
        for pair in (
            "gray/grey color/colour center/centre catalog/catalogue theater/theatre fiber/fibre "
            "favorite/favourite license/licence program/programme aluminum/aluminium "
            "jewelry/jewellery canceled/cancelled labor/labour "
            "ascending/asc descending/desc average/avg maximum/max minimum/min standard/std "
            "monday/mon tuesday/tue tuesday/tues wednesday/wed thursday/thu thursday/thurs "
            "friday/fri saturday/sat sunday/sun january/jan february/feb march/mar april/apr "
            "june/jun july/jul august/aug september/sep october/oct november/nov december/dec"
        ).split()
    )
}
TURNS = frozenset("north south east west free proof less twice half semi non un not".split())
"""Words that make another thing of what stands beside them."""
COMPARED = frozenset("er est ish r st".split())
FILLERS = frozenset(
    map(stem_word, "by in a an the use with using on at degree degrees for it is".split())
)
NEGATIONS = frozenset("and or not no non never without un dis anti except".split())


def find_members(value: object, choices: Sequence[object]) -> Iterator[tuple[int, object]]:
    """(cost, the member that is meant), the surest only; nothing where several may be."""
    if not choices or any(equal_as_json(value, each) for each in choices):
        return
    found = find_exact_member(value, choices)
    if found is not None:
        yield 1, found
        return
    if isinstance(value, bool):
        said = ("true", "yes", "on", "enabled") if value else ("false", "no", "off", "disabled")
        named = [each for each in choices if plain_name(str(each)) in said]
        if len(named) == 1:
            yield 2, named[0]
        return
    if isinstance(value, str | int):
        for cost, hits in find_similar_members(
            str(value), [each for each in choices if isinstance(each, str)]
        ):
            if len(hits) == 1:
                yield cost, hits[0]
            if hits:
                return


def find_exact_member(value: object, choices: Sequence[object]) -> object | None:
    """The member that is the same but for case, style and kind."""
    text = value if isinstance(value, str) else write_json(value)
    texts = [each for each in choices if isinstance(each, str)]
    hits: list[str]
    for compare in (str.strip, str.casefold, plain_name):
        hits = [each for each in texts if compare(each.strip()) == compare(text.strip())]
        if len(hits) == 1 and compare(text.strip()):
            return hits[0]
        if hits:
            return None
    number = parse_number(text) if isinstance(value, str) else None
    if isinstance(value, float) and value.is_integer():
        return find_exact_member(int(value), choices)
    hits_number = [each for each in choices if number is not None and equal_as_json(each, number)]
    if hits_number:
        return hits_number[0]
    if isinstance(value, str):
        return next(
            (
                each
                for each in choices
                if not isinstance(each, str) and write_json(each) == plain_name(text)
            ),
            None,
        )
    return None


def find_similar_members(text: str, choices: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """From the surest way to compare to the loosest; each with all members that it finds."""
    asked = plain_name(text)
    if not asked:
        return
    if asked.isdigit():
        yield 4, [each for each in choices if asked in split_words(each)]
        return
    alike = [each for each in choices if normalize_spelling(each) == normalize_spelling(text)]
    begun = [each for each in choices if len(asked) == 1 and is_member_prefix(each, asked)]
    yield 2, begun if len(begun) > 1 else alike
    if asked in YES | NO or (find_unit(text) and any(map(find_unit, choices))):
        return
    compared = {member for member in choices if asked.removeprefix(plain_name(member)) in COMPARED}
    choices = [member for member in choices if member not in compared]
    yield 3, [each for each in choices if stem_words(each) == stem_words(text)]
    yield 3, [each for each in choices if is_member_prefix(each, text)]
    if set(split_words(text)) & NEGATIONS or any(mark in text for mark in ",;|&"):
        return
    yield 3, [each for each in choices if is_inflected(asked, plain_name(each))]
    yield 4, [each for each in choices if is_named_in(text, each)]
    yield (
        6,
        [each for each in choices if len(asked) > 1 and is_abbreviation(asked, plain_name(each))],
    )
    yield (
        6,
        [each for each in choices if len(asked) > 4 and is_one_typo_away(asked, plain_name(each))],
    )


def normalize_spelling(text: str) -> tuple[str, ...]:
    """The words as they are spelled in America, units by their names."""
    return tuple(find_unit(word) or americanize_word(word) for word in split_words(text))


def americanize_word(word: str) -> str:
    return SPELLINGS.get(word) or word.replace("isation", "ization").replace("ising", "izing")


def find_unit(text: str) -> str:
    """The unit that a text is, `km` or `kilometers`; empty: none."""
    word = plain_name(text)
    unit = UNIT_LETTERS.get(word) or "".join(canonical_words(word))
    return unit if unit in UNITS else ""


def is_member_prefix(member: str, text: str) -> bool:
    """Whether a member begins with what was written, and what follows does not turn it round."""
    rest = plain_name(member).removeprefix(plain_name(text))
    further = set(split_words(member)) - set(split_words(text))
    return rest != plain_name(member) and rest not in COMPARED and not further & TURNS


def is_inflected(asked: str, member: str) -> bool:
    """`trapezoidal` is trapezoid."""
    rest = asked.removeprefix(member)
    return 2 < len(member) < len(asked) and len(rest) <= 3 and rest not in COMPARED


def is_named_in(text: str, member: str) -> bool:
    """`by car` and `car ride` are car; `premium car` is another one."""
    asked, own = (
        [stem_word(word) for word in split_words(text)],
        [stem_word(word) for word in split_words(member)],
    )
    for at in range(len(asked) - len(own) + 1 if own else 0):
        if asked[at : at + len(own)] == own:
            return set(asked[:at]) <= FILLERS and not set(asked[at:]) & TURNS - set(own)
    return False


def is_one_typo_away(one: str, other: str) -> bool:
    """Whether one slip makes the one of the other, behind the first letter."""
    if one[0] != other[0]:
        return False
    # Costs 45 ms and is needed only where nothing surer was found.
    from rapidfuzz.distance import DamerauLevenshtein

    return bool(DamerauLevenshtein.distance(one, other, score_cutoff=1) <= 1)
