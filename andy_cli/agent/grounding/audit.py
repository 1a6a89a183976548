"""The grounding audit: what in an answer does nothing support? (C2, C23, C32, R16)

Deeds are held against the calls of the turn, names are looked up, figures are judged for those who
ask. Pure, and linear in the answer and the evidence.
"""

from collections.abc import Sequence

from andy_cli.agent.grounding.action_claims import find_action_claims
from andy_cli.agent.grounding.backing import find_backing
from andy_cli.agent.grounding.claims import ActionRecord, Claim, Evidence, SentenceBacking
from andy_cli.agent.grounding.evidence import EvidenceIndex
from andy_cli.agent.grounding.figures.answer_figures import find_figures
from andy_cli.agent.grounding.figures.evidence_figures import EvidenceFigures
from andy_cli.agent.grounding.figures.figure_claims import find_figure_claims
from andy_cli.agent.grounding.figures.row_claims import find_row_claims
from andy_cli.agent.grounding.marking import mark_claims, write_rewrite_request
from andy_cli.agent.grounding.name_claims import NameChecker
from andy_cli.agent.grounding.text.layout import OUTPUT, blank_spans, find_fences, split_sentences

__all__ = [
    "ActionRecord", "Claim", "Evidence", "SentenceBacking", "find_backing",
    "find_unsupported_claims", "mark_claims", "write_rewrite_request",
]  # fmt: skip


def find_unsupported_claims(
    answer: str, evidence: Evidence, figures: bool = False
) -> tuple[Claim, ...]:
    """The claims in the answer that nothing supports, in order, each text once.

    NameChecker are looked up where there are results; `figures`: numbers and dates too.
    """
    index = EvidenceIndex(evidence)
    blocks = find_fences(answer)
    shown = [each for each in blocks if each[2] not in OUTPUT]
    prose = blank_spans(answer, [(start, end) for start, end, _ in shown])
    spoken = split_sentences(prose)
    found = list(find_action_claims(spoken, index, prose))
    if evidence.results:
        names = NameChecker(prose, spoken, index)
        found += names.find_claims()
        if figures:
            known = EvidenceFigures(index)
            told = find_figures(prose, names.taken)
            found += find_figure_claims(prose, told, spoken, known)
            found += find_row_claims(told, spoken, known)
    return drop_overlaps(found)


def drop_overlaps(found: Sequence[Claim]) -> tuple[Claim, ...]:
    """In order; of two that overlap the first."""
    kept: dict[str, Claim] = {}
    end = -1
    for claim in sorted(found, key=lambda each: (each.start, -each.end)):
        if claim.start >= end and claim.text not in kept:
            kept[claim.text] = claim
            end = claim.end
    return tuple(kept.values())
