"""The grounding audit: what in an answer does nothing support? (C2, C23, C32, R16)

Looked at are names, addresses, ids, titles and figures, and only when there are results; and what
the answer says was done, always. What everybody knows is never looked at: offers, questions,
examples, code, ordinary knowledge. Pure, and linear in the answer and the evidence.
"""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.assertions import NAMES, asserted
from andy_cli.agent.grounding.backing import backing
from andy_cli.agent.grounding.claim import Backed, Claim, Deed, Evidence
from andy_cli.agent.grounding.deeds import deed_claims
from andy_cli.agent.grounding.entities import entities
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded
from andy_cli.agent.grounding.layout import OUTPUT, blanked, fences, sentences
from andy_cli.agent.grounding.marking import marked, rewrite_request
from andy_cli.agent.grounding.names import strange_names
from andy_cli.agent.grounding.reading import Reading
from andy_cli.agent.grounding.reckoning import given, held
from andy_cli.agent.grounding.shapes import TALLY
from andy_cli.agent.grounding.strangers import is_file_name, strangers
from andy_cli.agent.grounding.subsets import singular
from andy_cli.agent.grounding.support import holds

__all__ = [
    "Backed", "Claim", "Deed", "Evidence", "backing", "marked", "rewrite_request", "unsupported",
]  # fmt: skip

EMPHATIC = re.compile(r"(?<![\w*])\*{1,3}(?P<number>\w{1,9})\*{1,3} (?P<noun>[a-zA-Z]{3,20})\b")
INNER_CAPITAL = re.compile(r"\S\s[\"'(*_“„«]{0,4}[A-ZÀ-Þ]")


def unsupported(answer: str, evidence: Evidence) -> tuple[Claim, ...]:
    """The claims in the answer that results, user and history do not hold, in order, each text
    once."""
    index = Index(evidence)
    blocks = fences(answer)
    prose = blanked(answer, [(start, end) for start, end, _ in blocks])
    spoken = sentences(prose)
    found = list(deed_claims(spoken, index, answer))
    if evidence.results:
        found += claims(Reading(answer, prose, spoken, index))
        for start, end, language in blocks:
            if language in OUTPUT:
                found += shown_output(answer, start, end, index)
    return once(found)


def once(found: Sequence[Claim]) -> tuple[Claim, ...]:
    seen: dict[str, Claim] = {}
    for claim in sorted(found, key=lambda each: (each.start, -each.end)):
        seen.setdefault(claim.text, claim)
    return tuple(seen.values())


def shown_output(answer: str, start: int, end: int, index: Index) -> Iterator[Claim]:
    """A fence that shows a result, not code: some of its names are known, so all must be."""
    named = [each for each in entities(answer[start:end], ()) if each.kind in {*NAMES, "size"}]
    known = [holds(each, "", index) for each in named]
    if sum(known) * 2 < len(known):
        return
    for claim, good in zip(named, known, strict=True):
        if not good:
            yield claim._replace(start=claim.start + start, end=claim.end + start)


def claims(reading: Reading) -> Iterator[Claim]:
    entries = [each for group in (*reading.lists, *reading.tables) for each in group]
    named = [
        Claim(each.text, each.start, each.end, "file")
        for each in entries
        if is_file_name(each.text)
    ]
    taken = [(each.start, each.end) for each in named]
    for claim in entities(reading.prose, taken):
        if given(reading, claim):
            continue
        sentence = reading.sentence(claim.start)
        if claim.kind == "tally":
            claim = settled(reading, claim)
        if sentence and asserted(reading, claim, sentence) and not held(reading, claim, sentence):
            yield claim
    yield from emphatic_counts(reading)
    for sentence in reading.spoken:
        if INNER_CAPITAL.search(sentence.text) and not (sentence.question or sentence.offer):
            yield from strange_names(sentence, reading.index)
    yield from (each for each in named if not holds(each, "", reading.index))
    for group in reading.lists:
        yield from strangers(reading, group, listed=True)
    for column in reading.tables:
        yield from strangers(reading, column, listed=False)


def emphatic_counts(reading: Reading) -> Iterator[Claim]:
    """`**four** songs`: the marks between a number and its noun hide the count."""
    for match in EMPHATIC.finditer(reading.prose):
        start, end = match.span()
        bare = next(iter(entities(f"{match['number']} {match['noun']}", ())), None)
        sentence = reading.sentence(start)
        if bare is None or sentence is None:
            continue
        bare = settled(reading, bare) if bare.kind == "tally" else bare
        bare = bare._replace(start=start, end=end)
        if bare.kind != "count" or given(reading, bare):
            continue
        if asserted(reading, bare, sentence) and not held(reading, bare, sentence):
            yield bare._replace(text=match[0])


def settled(reading: Reading, claim: Claim) -> Claim:
    """A count of what the results list or the user asked for; else a number like any other."""
    match = TALLY.match(claim.text)
    if match and (noun := singular(match["noun"])):
        named = {noun, singular(folded(match["noun"]))}
        known = named & reading.index.stems
        spelled = not match["number"][0].isdigit()
        if named & reading.index.asked_of or (known and (spelled or named & reading.index.keys)):
            return claim._replace(kind="count")
        if match["number"][0].isdigit():
            end = claim.start + match.end("number")
            return Claim(match["number"], claim.start, end, "number")
    return claim
