"""Find the member of an enumeration that a value means."""

from collections.abc import Iterator, Sequence

from andy_cli.compiler.mapper.json_values import NO, YES, equal_as_json, parse_number, write_json
from andy_cli.compiler.mapper.synonyms import (
    UNIT_LETTERS,
    UNITS,
    canonical_words,
    is_abbreviation,
    plain_name,
    singular_of,
    split_words,
    stem_word,
    stem_words,
)

SPELLED_ALIKE = """
    gray/grey color/colour center/centre catalog/catalogue theater/theatre fiber/fibre
    favorite/favourite license/licence program/programme aluminum/aluminium
    jewelry/jewellery canceled/cancelled labor/labour
    ascending/asc descending/desc average/avg maximum/max minimum/min standard/std
    monday/mon tuesday/tue tuesday/tues wednesday/wed thursday/thu thursday/thurs
    friday/fri saturday/sat sunday/sun january/jan february/feb march/mar april/apr
    june/jun july/jul august/aug september/sep october/oct november/nov december/dec
"""
SPELLINGS = {pair.partition("/")[2]: pair.partition("/")[0] for pair in SPELLED_ALIKE.split()}
"""Another spelling, or an abbreviation -> the word as it is compared."""
TURNS = frozenset("north south east west free proof less twice half semi non un not".split())
"""Words that make another thing of what stands beside them."""
COMPARED = frozenset("er est ish r st".split())
FILLERS = frozenset(
    map(stem_word, "by in a an the use with using on at degree degrees for it is".split())
)
TRUE_MEMBERS = frozenset(word for word in YES if len(word) > 1)
FALSE_MEMBERS = frozenset(word for word in NO if len(word) > 1)
"""A member of one character is a number or a letter of its own."""
NEGATIONS = frozenset("and or not no non never without un dis anti except".split())
SEPARATORS = frozenset(",;|&")
SIGNS_BEFORE = frozenset("-+!~^<>")
"""Signs that turn what stands behind them: `-created` is the other order, `!open` all but open."""


def find_members(value: object, choices: Sequence[object]) -> Iterator[tuple[int, object]]:
    """(cost, the member that is meant), the surest only; nothing where several may be."""
    if not choices or any(equal_as_json(value, choice) for choice in choices):
        return
    if isinstance(value, str) and _has_sign_before(value, choices):
        return
    exact = find_exact_member(value, choices)
    comparison_cost, matching_members = (
        (1, [exact]) if exact is not None else find_inexact_members(value, choices)
    )
    if len(matching_members) == 1:
        yield comparison_cost, matching_members[0]


def _has_sign_before(text: str, choices: Sequence[object]) -> bool:
    """Tell whether a sign that no member has stands before a word, and not before a number."""
    sign, first_letter, last_letter = text.strip()[:1], text.strip()[1:2], text.strip()[-1:]
    is_enclosed = sign == "<" and last_letter == ">"
    if sign not in SIGNS_BEFORE or is_enclosed or not first_letter.isalpha():
        return False
    return not any(str(choice).startswith(sign) for choice in choices)


def find_inexact_members(value: object, choices: Sequence[object]) -> tuple[int, Sequence[object]]:
    """(cost, the members that are meant) by the surest way to compare that finds any."""
    if isinstance(value, bool):
        words = TRUE_MEMBERS if value else FALSE_MEMBERS
        return 2, [choice for choice in choices if plain_name(str(choice)) in words]
    if not isinstance(value, str | int):
        return 0, []
    texts = [choice for choice in choices if isinstance(choice, str)]
    compared = find_similar_members(str(value), texts)
    return next((comparison for comparison in compared if comparison[1]), (0, []))


def find_exact_member(value: object, choices: Sequence[object]) -> object | None:
    """The member that is the same but for case, style and kind."""
    text = value if isinstance(value, str) else write_json(value)
    texts = [choice for choice in choices if isinstance(choice, str)]
    matching_members = find_same_texts(text.strip(), texts)
    if matching_members:
        return matching_members[0] if len(matching_members) == 1 else None
    if isinstance(value, float) and value.is_integer():
        return find_exact_member(int(value), choices)
    return find_written_member(value, choices) if isinstance(value, str) else None


def find_same_texts(text: str, choices: Sequence[str]) -> list[str]:
    """The members that are the same text, by the strictest way to compare that finds any."""
    for compare in (str.strip, str.casefold, plain_name):
        matching_members = [
            choice for choice in choices if compare(choice.strip()) == compare(text)
        ]
        if matching_members and (len(matching_members) > 1 or compare(text)):
            return matching_members
    return []


def find_written_member(text: str, choices: Sequence[object]) -> object | None:
    """The member that is no text and was written as one: `3`, `true`, `null`."""
    number = parse_number(text)
    if number is not None:
        for choice in choices:
            if equal_as_json(choice, number):
                return choice
    for choice in choices:
        if not isinstance(choice, str) and write_json(choice) == plain_name(text):
            return choice
    return None


def find_similar_members(text: str, choices: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """From the surest way to compare to the loosest; each with all members that it finds."""
    plain_text = plain_name(text)
    if plain_text.isdigit():
        yield 4, [member for member in choices if plain_text in split_words(member)]
    elif plain_text:
        yield 2, find_same_spelling(text, choices)
        are_units = find_unit(text) and any(map(find_unit, choices))
        if plain_text not in YES | NO and not are_units:
            yield from _compare_words(text, choices)


def _compare_words(text: str, choices: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Compare by the words of a text that may be inflected, shortened or part of a phrase."""
    plain_text = plain_name(text)
    # Where `warmer` is asked, `warm` is another one.
    choices = [
        member for member in choices if plain_text.removeprefix(plain_name(member)) not in COMPARED
    ]
    names_several = set(split_words(text)) & NEGATIONS or set(text) & SEPARATORS
    for comparison_cost, is_meant in STRICT_COMPARISONS if names_several else COMPARISONS:
        yield comparison_cost, [member for member in choices if is_meant(text, member)]


def find_same_spelling(text: str, choices: Sequence[str]) -> list[str]:
    """The members that are spelled alike; for one letter all that begin with it, if several do."""
    plain_text, spelled = plain_name(text), normalize_spelling(text)
    if len(plain_text) == 1:
        initials = [member for member in choices if is_member_prefix(plain_text, member)]
        if len(initials) > 1:
            return initials
    return [member for member in choices if normalize_spelling(member) == spelled]


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


def has_same_stems(text: str, member: str) -> bool:
    """`pharmacies` is pharmacy, `running` is run."""
    if stem_words(member) == stem_words(text):
        return True
    text_words, member_words = split_words(text), split_words(member)
    return list(map(singular_of, text_words)) == list(map(singular_of, member_words))


def is_member_prefix(text: str, member: str) -> bool:
    """Tell whether a member begins with the text, and what follows does not turn it round."""
    member_ending = plain_name(member).removeprefix(plain_name(text))
    if member_ending == plain_name(member) or member_ending in COMPARED:
        return False
    further = set(split_words(member)) - set(split_words(text))
    return not further & TURNS


def is_inflected(text: str, member: str) -> bool:
    """`trapezoidal` is trapezoid."""
    plain_text, plain_member = plain_name(text), plain_name(member)
    if not 2 < len(plain_member) < len(plain_text):
        return False
    text_ending = plain_text.removeprefix(plain_member)
    return len(text_ending) <= 3 and text_ending not in COMPARED


def is_named_in(text: str, member: str) -> bool:
    """`by car` and `car ride` are car; `premium car` is another one."""
    text_stems = list(map(stem_word, split_words(text)))
    member_stems = list(map(stem_word, split_words(member)))
    if not member_stems:
        return False
    for start in range(len(text_stems) - len(member_stems) + 1):
        if text_stems[start : start + len(member_stems)] == member_stems:
            other_stems = set(text_stems[start:]) - set(member_stems)
            return set(text_stems[:start]) <= FILLERS and not other_stems & TURNS
    return False


def is_member_abbreviation(text: str, member: str) -> bool:
    plain_text = plain_name(text)
    return len(plain_text) > 1 and is_abbreviation(plain_text, plain_name(member))


def is_one_typo_away(text: str, member: str) -> bool:
    """Tell whether one slip after the first letter of a longer word makes the one of the other."""
    plain_text, plain_member = plain_name(text), plain_name(member)
    if len(plain_text) <= 4 or plain_text[0] != plain_member[:1]:
        return False
    # Costs 45 ms and is needed only where nothing surer was found.
    from rapidfuzz.distance import DamerauLevenshtein

    return bool(DamerauLevenshtein.distance(plain_text, plain_member, score_cutoff=1) <= 1)


STRICT_COMPARISONS = ((3, has_same_stems), (3, is_member_prefix))
COMPARISONS = (
    *STRICT_COMPARISONS,
    (3, is_inflected),
    (4, is_named_in),
    (6, is_member_abbreviation),
    (6, is_one_typo_away),
)
"""(cost, whether a text means a member), the surest first."""
