"""Is `5 unread mails` true of what the results list? Pure."""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.entities import COUNT, TALLY
from andy_cli.agent.grounding.evidence import Index, folded, words_of
from andy_cli.agent.grounding.figures import NAMED, Table
from andy_cli.agent.grounding.quantities import (
    Figure,
    approximate,
    loosened,
    readings,
    spelled,
)
from andy_cli.agent.grounding.subsets import bounds_of, holding, matching, singular, stem_known
from andy_cli.agent.grounding.vocabulary import COUNTING, ITEMS, STOP
from andy_cli.compiler.expression import Expression

CORE = frozenset(["file", "folder", "song", "mail", "event", "task", "result"])
"""Families whose words in an answer are always about results."""
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
    asked = [loosened(each, before) for each in readings(match["number"])]
    asked = asked or [Figure(number, 0.5)]
    totals = totals_of(index, noun)
    if (singular(noun) in index.measured or not totals) and index.has(asked):
        return True
    if number in totals and not narrowed(between, after, index):
        return True
    if approximate(before) and any(abs(each - number) <= 0.1 * each for each in totals):
        return True
    if ITEMS.get(noun) not in CORE or number > 9:
        if index.numbers.near(Figure(number, 0.4)) or index.totals.near(Figure(number, 0.4)):
            return True
    following = [each for each in words_of(folded(after[:40]))[:4]
        if len(each) > 2 and each not in STOP and stem_known(each, index)]  # fmt: skip
    if number in {len(rows) for each in index.tables for rows in holding(following, each)}:
        return True
    plain = ITEMS.get(noun) not in CORE and not narrowed(between, after, index)
    if plain and (index.has(asked) or number in rows_with(noun, index)):
        return True
    if of_all := re.search(r"\bof\b.*?(\d+)", between):
        return number <= int(of_all[1]) and (
            int(of_all[1]) in totals or index_says(int(of_all[1]), noun, (), index)
        )
    if PARTIAL.search(between) or PARTIAL.search(before[-12:]):
        return number <= max(totals, default=0)
    return part_holds(number, between, after, noun, max(totals, default=0), index)


def rows_with(noun: str, index: Index) -> set[int]:
    """How many rows hold the word itself: `two errors` of a log."""
    return {len(holding([noun], each)[0]) for each in index.tables}


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


def totals_of(index: Index, noun: str) -> set[int]:
    """How long the lists are, together too, and how many different values a column has."""
    if found := special(noun, index) or folders_of(noun, index):
        return found
    found = {len(each.rows) for each in index.tables if each.rows and lists_such(each, noun)}
    found |= {len(index.results), len(index.evidence.deeds)}
    longest = [max((len(each.rows) for each in tables), default=0) for tables in index.by_result]
    if len(longest) > 1:
        found.add(sum(longest))
    for table in index.tables:
        found.update(different(table, singular(noun)))
        found.update(kinds_of(table, noun))
    return found - {0}


def folders_of(noun: str, index: Index) -> set[int]:
    if ITEMS.get(noun) != "folder":
        return set()
    return {sum(map(is_folder, map(str.casefold, each.rows))) for each in index.tables} - {0}


def lists_such(table: Table, noun: str) -> bool:
    """Is each of its rows one of these? Not where folders are marked as such, nor where several
    lines are of one file."""
    family = ITEMS.get(noun)
    if family in {"file", "song"} and singular(noun) not in {"item", "entry", "entrie", "element"}:
        return not any(map(is_folder, map(str.casefold, table.rows))) and not (
            family == "file" and repeats_names(table)
        )
    return True


def different(table: Table, stem: str) -> Iterator[int]:
    """How many values the columns of this name have."""
    for key, values in table.columns.items():
        if stem in folded(key):
            yield len({str(each) for each in values})
            yield sum(len(each) for each in values if isinstance(each, list))


def repeats_names(table: Table) -> bool:
    found = [NAMED.search(each) for each in table.rows]
    names = [each[0] for each in found if each]
    return len(names) == len(found) and len(set(names)) < len(names)


MEDIA = {
    "photo": "jpe?g|png|heic|gif|webp|tiff?|bmp|raw",
    "picture": "jpe?g|png|heic|gif|webp|tiff?|bmp|svg",
    "image": "jpe?g|png|heic|gif|webp|tiff?|bmp|svg|iso", "foto": "jpe?g|png|heic|gif|webp",
    "bilder": "jpe?g|png|heic|gif|webp", "video": "mp4|mkv|avi|mov|webm|m4v",
    "script": "sh|py|js|ps1|bat|rb|pl", "recording": "mp3|wav|m4a|ogg|flac|mp4",
    "log": "log", "pdf": "pdf", "mp3": "mp3", "csv": "csv", "png": "png", "jpg": "jpe?g",
}  # fmt: skip


def special(noun: str, index: Index) -> set[int]:
    """`two photos` are counted by their file names."""
    ending = MEDIA.get(singular(noun))
    if not ending:
        return set()
    pattern = re.compile(rf"\.(?:{ending})\b", re.IGNORECASE)
    found = {sum(bool(pattern.search(row)) for row in each.rows) for each in index.tables}
    return found - {0}


def kinds_of(table: Table, noun: str) -> Iterator[int]:
    """Files and folders of one listing are counted apart."""
    family = ITEMS.get(noun)
    if family not in {"file", "folder", "song"}:
        return
    rows = [each.casefold().rstrip() for each in table.rows]
    folders = sum(is_folder(each) for each in rows)
    if folders:
        yield folders if family == "folder" else len(rows) - folders
    ending = f".{singular(noun)}"
    if found := sum(ending in each for each in rows):
        yield found
    if family == "song":
        yield sum(bool(re.search(r"\.(?:mp3|wav|flac|ogg|m4a|opus|aac)\b", each)) for each in rows)


def is_folder(row: str) -> bool:
    return row.endswith("/") or bool(
        re.search(
            r"\bd[rwx-]{9}|\[dir\]|<dir>|=(?:dir|directory|folder)\b|isdir\w*=true|[/\\]\s", row
        )
    )


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
    counts = {len(rows) for table in index.tables for rows in holding(known, table)}
    return figures[0].value in counts - {0}
