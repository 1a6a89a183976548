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
    """Find the claims in the answer that nothing supports, in order, each text once.

    Names are looked up where there are results; `figures`: numbers and dates too.
    """
    index = EvidenceIndex(evidence)
    code = [(start, end) for start, end, kind in find_fences(answer) if kind not in OUTPUT]
    prose = blank_spans(answer, code)
    spoken = split_sentences(prose)
    claims = list(find_action_claims(spoken, index, prose))
    if evidence.results:
        names = NameChecker(prose, spoken, index)
        claims += names.find_claims()
        if figures:
            known = EvidenceFigures(index)
            stated = find_figures(prose, names.taken)
            claims += find_figure_claims(prose, stated, spoken, known)
            claims += find_row_claims(stated, spoken, known)
    return drop_overlaps(claims)


def drop_overlaps(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Put claims in order; of two that overlap keep the first."""
    kept: dict[str, Claim] = {}
    end = -1
    for claim in sorted(claims, key=lambda claim: (claim.start, -claim.end)):
        if claim.start >= end and claim.text not in kept:
            kept[claim.text] = claim
            end = claim.end
    return tuple(kept.values())
