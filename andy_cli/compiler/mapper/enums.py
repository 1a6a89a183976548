"""A value to a member of an enumeration."""

from collections.abc import Iterator, Sequence

from andy_cli.compiler.mapper.kinds import same
from andy_cli.compiler.mapper.texts import number_of, written
from andy_cli.compiler.mapper.words import plain, shortened, stems, words

NEGATIONS = frozenset("and or not no non never without un dis anti except".split())


def members(value: object, choices: Sequence[object]) -> Iterator[tuple[int, object]]:
    """(cost, the member that is meant), the surest only; nothing where several may be."""
    if not choices or any(same(value, each) for each in choices):
        return
    found = exact(value, choices)
    if found is not None:
        yield 1, found
        return
    if isinstance(value, bool):
        said = ("true", "yes", "on", "enabled") if value else ("false", "no", "off", "disabled")
        named = [each for each in choices if plain(str(each)) in said]
        if len(named) == 1:
            yield 2, named[0]
        return
    if isinstance(value, str | int):
        for cost, hits in looser(str(value), [each for each in choices if isinstance(each, str)]):
            if len(hits) == 1:
                yield cost, hits[0]
            if hits:
                return


def exact(value: object, choices: Sequence[object]) -> object | None:
    """The member that is the same but for case, style and kind."""
    text = value if isinstance(value, str) else written(value)
    texts = [each for each in choices if isinstance(each, str)]
    hits: list[str]
    for compare in (str.strip, str.casefold, plain):
        hits = [each for each in texts if compare(each.strip()) == compare(text.strip())]
        if len(hits) == 1 and compare(text.strip()):
            return hits[0]
        if hits:
            return None
    number = number_of(text) if isinstance(value, str) else None
    if isinstance(value, float) and value.is_integer():
        return exact(int(value), choices)
    hits_number = [each for each in choices if number is not None and same(each, number)]
    if hits_number:
        return hits_number[0]
    if isinstance(value, str):
        return next(
            (
                each
                for each in choices
                if not isinstance(each, str) and written(each) == plain(text)
            ),
            None,
        )
    return None


def looser(text: str, choices: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """From the surest way to compare to the loosest; each with all members that it finds."""
    asked, said = plain(text), set(words(text))
    if not asked:
        return
    if asked.isdigit():
        yield 4, [each for each in choices if asked in words(each)]
        return
    yield 3, [each for each in choices if stems(each) == stems(text)]
    yield 3, [each for each in choices if plain(each).startswith(asked)]
    if said & NEGATIONS or any(mark in text for mark in ",;|&"):
        return
    yield 3, [each for each in choices if len(plain(each)) > 2 and asked.startswith(plain(each))]
    yield 4, [each for each in choices if words(each) and stems(each) <= stems(text)]
    yield 4, [each for each in choices if stems(text) <= stems(each)]
    yield 6, [each for each in choices if len(asked) > 1 and shortened(asked, plain(each))]
    yield 6, [each for each in choices if len(asked) > 4 and mistyped(asked, plain(each))]


def mistyped(one: str, other: str) -> bool:
    # Costs 45 ms and is needed only where nothing surer was found.
    from rapidfuzz.distance import DamerauLevenshtein

    return bool(DamerauLevenshtein.distance(one, other, score_cutoff=1) <= 1)
