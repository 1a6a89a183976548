"""Is `5 unread mails` true of what the results list? Pure."""

import re
from collections.abc import Sequence

from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.quantities import Figure, approximate, loosened, readings, spelled
from andy_cli.agent.grounding.shapes import COUNT, TALLY
from andy_cli.agent.grounding.subsets import bounds_of, holding, matching, singular, stem_known
from andy_cli.agent.grounding.totals import CORE, totals_of
from andy_cli.agent.grounding.vocabulary import COUNTING, ITEMS, STOP
from andy_cli.compiler.expression import Expression

PARTIAL = Expression(
    r"\b(?:first|last|top|next|latest|newest|oldest|largest|smallest|longest|shortest|biggest|other"
    r"|another|additional|more|remaining|these|those|following|previous|recent|different|random|any"
    r"|of|each|per|every|least|most|extra|further|main|key|erste[nr]?|letzte[nr]?"
    r"|weitere\w*|andere\w*"
    r"|autres|premi\w+|dernier\w*|otr[oa]s|primer\w*|últim\w*)\b",
    re.IGNORECASE,
)
"""The count is of some, not of all."""

MODIFIER = Expression(
    r"^\W{0,3}\s*(?:(?:that|which|who|are|were|is) )?(?:by|from|with|that|which|who|whose"
    r"|about|larger|bigger|over|under|longer"
    r"|shorter|smaller|above|below|more|less|after|before|of|containing|mentioning|due|for"
    r"|ending|named"
    r"|called|titled|matching|older|newer|since|between|on|today|tomorrow|this|next|marked"
    r"|flagged|sent"
    r"|modified|changed|updated|created|have|has|need|needs|are|is|were|was|match|matched"
    r"|mention|contain|contains|start|starts|end|require"
    r"|failed|passed|von|mit|vom|par|avec|de|du|con|at|scheduled|still|left|remain\w*"
    r"|tagged|assigned|related|per|to|without|long|in (?:19|20)\d\d"
    r"|with(?:in)?|starting|beginning|only|changed|waiting|open|done|pending|completed"
    r"|unread)\b(?P<rest>(?:(?!,\s)[^.;:!?\n(|]){0,90})",
    re.IGNORECASE,
)

GENERIC = STOP | frozenset(
    """found contains contain listed list lists shows show total altogether including include
    currently
    available saved stored located directory inbox calendar sorted named matching match matches mp3
    music audio item items entries results result account right exactly just mailbox library
    collection gesamt insgesamt gefunden trouvé encontrado""".split()
)

NONE = re.compile(r"no|kein\w*|aucune?|ningún|ninguna")
EMPTY = re.compile(
    r"\bno\b|\bnot\b|\bnone\b|\bempty\b|\[\s*\]|\b0\b|\berror|\bnothing\b|\bkein|\bmissing\b|n't\b"
)


def count_holds(text: str, before: str, after: str, listed: int, index: Index) -> bool:
    """`before` and `after` are the rest of the sentence; `listed` is how many items the answer's
    own list has that follows, 0 for none."""
    match = COUNT.match(text) or TALLY.match(text)
    if not match:
        return True
    noun, between = match["noun"].casefold(), match["between"].casefold()
    number = amount(match["number"])
    if number is None:
        return none_holds(before, between, after, index)
    if number == listed or index_says(number, noun, words_of(folded(between)), index):
        return True
    totals = totals_of(index, noun)
    if of_whole(match["number"], number, before, noun, totals, index):
        return True
    narrow = narrowed(between, after, index)
    if number in totals and not narrow:
        return True
    if number in rows_before(after, index):
        return True
    if ITEMS.get(noun) not in CORE and not narrow:
        asked = figures_of(match["number"], number, before)
        if index.has(asked) or number in rows_with(noun, index):
            return True
    return of_some(number, (before, between, after), noun, totals, index)


def figures_of(written: str, number: int, before: str) -> list[Figure]:
    return [loosened(each, before) for each in readings(written)] or [Figure(number, 0.5)]


def of_whole(
    written: str, number: int, before: str, noun: str, totals: set[int], index: Index
) -> bool:
    """Is it a figure that the results give, or roughly one of the totals?"""
    asked = figures_of(written, number, before)
    if (singular(noun) in index.measured or not totals) and index.has(asked):
        return True
    if approximate(before) and any(abs(each - number) <= 0.1 * each for each in totals):
        return True
    exact = Figure(number, 0.4)
    given = index.numbers.near(exact) or index.totals.near(exact)
    return given and number > 9


def rows_before(after: str, index: Index) -> set[int]:
    """How many rows hold each of the words that follow: `two invoices are open`."""
    clause = re.split(r"[:;,.(]", after[:40])[0]
    following = words_of(folded(clause))[:4]
    telling = [each for each in following if len(each) > 2 and each not in STOP]
    known = [each for each in telling if stem_known(each, index)]
    return {len(held) for rows in index.rows for held in holding(known, rows)}


def of_some(
    number: int, said: tuple[str, str, str], noun: str, totals: set[int], index: Index
) -> bool:
    """`3 of 14 files`, `the last 3 mails`, `3 mails from Ann`; `said` is what stands before the
    number, between it and the noun, and after."""
    before, between, after = said
    if of_all := re.search(r"\bof\b.*?(\d+)", between):
        return number <= int(of_all[1]) and (
            int(of_all[1]) in totals or index_says(int(of_all[1]), noun, (), index)
        )
    if PARTIAL.search(between) or PARTIAL.search(before[-12:]):
        return number <= max(totals, default=0)
    return part_holds(number, between, after, noun, max(totals, default=0), index)


def rows_with(noun: str, index: Index) -> set[int]:
    """How many rows hold the word itself: `two errors` of a log."""
    return {len(holding([noun], rows)[0]) for rows in index.rows}


def narrowed(between: str, after: str, index: Index) -> bool:
    """Do words of the results say of which ones: `3 unread mails`?"""
    wanted = [each for each in words_of(folded(between)) if each not in GENERIC]
    if any(len(each) > 2 and stem_known(each, index) for each in wanted):
        return True
    modifier = MODIFIER.match(after)
    if not modifier:
        return False
    if bounds_of(folded(modifier[0])):
        return True
    owner = re.match(r"\W*(?:by|from|with|tagged|named|called)\s+([A-ZÀ-Þ][\w-]+)", modifier[0])
    return owner is not None and folded(owner[1]) in index.given_words


def amount(written: str) -> int | None:
    if NONE.fullmatch(written.casefold()):
        return None
    word = spelled(written)
    return int(readings(written)[0].value) if word is None else word


def none_holds(before: str, between: str, after: str, index: Index) -> bool:
    """`There are no files` is wrong where every result lists some."""
    plain = not between.strip() and not MODIFIER.search(after)
    if not plain or not re.search(
        r"(?:there (?:are|is)|found|contains?|ha(?:ve|s))\s$", before, re.I
    ):
        return True
    return any(len(each) < 3 or EMPTY.search(each[:400]) for each in index.results)


def index_says(number: int, noun: str, beside: Sequence[str], index: Index) -> bool:
    """Does the evidence itself put the number beside such a noun, or under a counting key?"""
    text, digits, at = index.text, str(number), -1
    family = ITEMS.get(noun)
    for _ in range(200):
        at = text.find(digits, at + 1)
        if at < 0:
            break
        end = at + len(digits)
        if (
            text[at - 1].isalnum()
            or text[end].isalnum()
            or (text[at - 1] in ".:-/" and text[at - 2].isdigit())
            or (text[end] in ":/.,-" and text[end + 1 : end + 2].isdigit())
        ):
            continue
        near = [*words_of(text[end : end + 30])[:2], *words_of(text[max(0, at - 24) : at])[-2:]]
        if any(
            (family and ITEMS.get(each) == family)
            or singular(each) == singular(noun)
            or each in beside
            for each in near
        ):
            return True
        line = text[text.rfind("\n", 0, at) + 1 : at]
        if re.search(r"[:=]\s*$", line[-3:]) and COUNTING.search(
            re.split(r"[,{]", line)[-1].replace("_", " ")
        ):
            return True
        if (
            not text[max(0, at - 1)].strip()
            and not text[end].strip()
            and line.strip() == ""
            and len(index.given) < 40
        ):
            return True
    said = words_of(index.said)
    values = [spelled(each) for each in said]
    return number in values


def part_holds(number: int, between: str, after: str, noun: str, most: int, index: Index) -> bool:
    """A count of some: by the words that say of which, or by what they have more or less of."""
    modifier = MODIFIER.match(after)
    said = folded(f"{between} {modifier[0] if modifier else ''}")
    wanted = [each for each in words_of(said) if each not in GENERIC and not each.isdigit()]
    if not modifier and not wanted:
        return False
    if number > most:
        return False
    return matching(number, said, wanted, index)


LONG = re.compile(r"^[\s-]?(days?|nights?|weeks?|months?|years?)\b", re.IGNORECASE)
DAYS = {"d": 1, "n": 1, "w": 7, "m": 30.4, "y": 365.25}
TIMES = re.compile(r"^\s?(?:times|x\b|×|fold|mal\b|fois|veces)", re.IGNORECASE)


def some_hold(number: str, after: str, index: Index) -> bool:
    """`3 shipped`: how many rows hold the word that follows; `14 times as much`: how one figure
    relates to another."""
    figures = readings(number.strip(" -+$€£¥"))
    if not figures:
        return False
    if unit := LONG.match(after):
        seconds = DAYS[unit[1][0].lower()] * 86400
        asked = [Figure(each.value * seconds, each.slack * seconds) for each in figures]
        apart = {abs(a - b) * 86400.0 for a in index.ordinals for b in index.ordinals}
        return any(map(index.seconds.near, asked)) or any(
            abs(each.value - gap) <= each.slack for each in asked for gap in apart
        )
    if TIMES.match(after):
        times = (Figure(each.value * 100, each.slack * 100) for each in figures)
        return any(map(index.percents.near, times))
    following = words_of(folded(after[:40]))[:2]
    known = [
        each for each in following if len(each) > 2 and each not in STOP and stem_known(each, index)
    ]
    counts = {len(held) for rows in index.rows for held in holding(known, rows)}
    return figures[0].value in counts - {0}
