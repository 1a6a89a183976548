"""The grounding audit: find what nothing supports in an answer (C2, C23, C32, R16).

Deeds are held against the calls of the turn, names are looked up, figures are judged for those who
ask. Pure, and linear in the answer and the evidence.
"""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.action_claims import find_action_claims
from andy_cli.agent.grounding.evidence import Claim, Evidence, EvidenceIndex, is_json
from andy_cli.agent.grounding.figures.evidence_figures import EvidenceFigures
from andy_cli.agent.grounding.figures.figure_claims import (
    YEAR,
    count_digits,
    find_figure_claims,
    find_figures,
    is_precise,
)
from andy_cli.agent.grounding.figures.row_claims import find_row_claims
from andy_cli.agent.grounding.name_claims import NameChecker
from andy_cli.agent.grounding.text.segmentation import (
    OUTPUT,
    Sentence,
    blank_spans,
    find_fences,
    find_quoted_lines,
    split_sentences,
)
from andy_cli.compiler.expression import Expression


def find_unsupported_claims(
    answer: str, evidence: Evidence, figures: bool = False
) -> tuple[Claim, ...]:
    """Find the claims in the answer that nothing supports, in order, each text once.

    Names are looked up where there are results; `figures`: numbers and dates too.
    """
    index = EvidenceIndex(evidence)
    code = [(start, end) for start, end, kind in find_fences(answer) if kind not in OUTPUT]
    prose = blank_spans(answer, code)
    spoken = split_sentences(prose)
    quoted = find_quoted_lines(prose)
    own = [sentence for sentence in spoken if not find_span(sentence.end, quoted)]
    claims = list(find_action_claims(own, index, prose))
    code_text = "\n".join(answer[start:end] for start, end in code)
    if evidence.results:
        claims += find_strange_values(prose, code_text, spoken, index, figures)
    return drop_overlaps(claims)


def find_strange_values(
    prose: str, code: str, spoken: Sequence[Sentence], index: EvidenceIndex, figures: bool
) -> Iterator[Claim]:
    """Find the names that stand nowhere; `figures`: and the figures that nothing supports."""
    names = NameChecker(prose, code, spoken, index)
    yield from names.find_claims()
    if figures:
        evidence_figures = EvidenceFigures(index)
        stated = find_figures(prose, names.taken)
        yield from find_figure_claims(prose, stated, spoken, evidence_figures)
        yield from find_row_claims(stated, spoken, evidence_figures)


def is_worth_asking(claim: Claim) -> bool:
    """Tell whether the model is asked for another answer: for a deed, a name and a figure that is
    hardly right by chance, nor known to everybody as a year."""
    if claim.kind in MIN_DIGITS:
        is_amount = claim.kind == "entry" or ":" not in claim.text
        return is_amount and count_digits(claim.text) >= MIN_DIGITS[claim.kind]
    if claim.kind in COUNTED_KINDS:
        return is_precise(claim.text) and not YEAR.fullmatch(claim.text)
    return claim.kind != "item"


def is_figure(claim: Claim) -> bool:
    """Tell whether a claim is a figure: what a model makes of others may be right."""
    return claim.kind in FIGURE_KINDS


def list_digits(claim: Claim) -> str:
    """The digits of a figure, which are the same however it is written: `3,296` and `3296`."""
    return "".join(filter(str.isdigit, claim.text))


def drop_overlaps(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Put claims in order; of two that overlap keep the first."""
    kept_claims: dict[str, Claim] = {}
    end = -1
    for claim in sorted(claims, key=lambda claim: (claim.start, -claim.end)):
        if claim.start >= end and claim.text not in kept_claims:
            kept_claims[claim.text] = claim
            end = claim.end
    return tuple(kept_claims.values())


OF_ANOTHER_ROW = " (what was found has this figure in another row)"
MIN_DIGITS = {"entry": 2, "row": 4}
"""Digits from which a figure of another row is worth asking about: more in a sentence (`row`) than
in a line of a table or a list (`entry`), which is more certain."""
FIGURE_KINDS = frozenset("date weekday time size duration percent number row entry".split())
COUNTED_KINDS = frozenset("number percent size duration".split())
"""Kinds of figures of which a few digits tell little."""
MARKER = " (not verified)"
CODE = Expression(r"(`{1,4})(?!`).+?(?<!`)\1(?!`)")
LINK = Expression(r"\[[^\]\n]*\]\([^)\n]*\)")
CLOSING = re.compile(r"[*_~]{1,3}(?!\w)|[\"“”’](?!\w)|\s?»(?!\w)")


def mark_claims(answer: str, claims: Sequence[Claim]) -> str:
    """Put MARKER after each claim; after a fence, on a line of its own, for what stands in it.
    Nothing is left out or changed (R16)."""
    blocks = [(start, end) for start, end, _ in find_fences(answer)]
    if is_json(answer):
        blocks = [(0, len(answer))]
    inline = sorted(match.span() for pattern in (CODE, LINK) for match in pattern.finditer(answer))
    markers = dict(place_marker(answer, claim.end, blocks, inline) for claim in claims)
    answer_parts, last_position = [], 0
    for position in sorted(markers):
        answer_parts += [answer[last_position:position], markers[position]]
        last_position = position
    return "".join(answer_parts) + answer[last_position:]


def place_marker(
    answer: str, end: int, blocks: Sequence[tuple[int, int]], inline: Sequence[tuple[int, int]]
) -> tuple[int, str]:
    """Find the position after a claim at which a marker breaks nothing, and its text there."""
    position = min(max(end, 0), len(answer))
    if block_span := find_span(position, blocks):
        return block_span[1], f"\n{MARKER}"
    if inline_span := find_span(position, inline):
        return inline_span[1], MARKER
    while closing := CLOSING.match(answer, position):
        position = closing.end()
    return position, MARKER


def find_span(position: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    return next(((start, end) for start, end in spans if start < position <= end), None)


def describe_claim(claim: Claim) -> str:
    """Give the text of a claim; of a figure of another row, that this is what it is."""
    return f"{claim.text}{OF_ANOTHER_ROW if claim.kind in MIN_DIGITS else ''}"


def write_rewrite_request(claims: Sequence[Claim]) -> str:
    """Write one message to the model that names the claims and asks for an answer from results
    alone."""
    names = [f"- {describe_claim(claim)}" for claim in claims if claim.kind != "deed"]
    actions = [f"- {claim.text}" for claim in claims if claim.kind == "deed"]
    paragraphs = []
    if names:
        paragraphs.append(
            "Nothing you were given supports this in your answer:\n" + "\n".join(names)
        )
    if actions:
        paragraphs.append("This was said to be done, but nothing did it:\n" + "\n".join(actions))
    paragraphs.append(
        "Answer again, from the results alone. Correct or leave out what they do not say, keep"
        " everything else, and do not speak of this message."
    )
    return "\n\n".join(paragraphs)
