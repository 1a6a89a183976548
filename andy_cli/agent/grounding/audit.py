"""The grounding audit: what in an answer does nothing support? (C2, C23, C32, R16)

Deeds are held against the calls of the turn, names are looked up, figures are judged for those who
ask. Pure, and linear in the answer and the evidence.
"""

from collections.abc import Sequence

from andy_cli.agent.grounding.backing import backing
from andy_cli.agent.grounding.claim import Backed, Claim, Deed, Evidence
from andy_cli.agent.grounding.deeds import deed_claims
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.figures import Figures, find_figures, unsupported_figures
from andy_cli.agent.grounding.layout import OUTPUT, blanked, fences, sentences
from andy_cli.agent.grounding.marking import marked, rewrite_request
from andy_cli.agent.grounding.names import Names
from andy_cli.agent.grounding.rows import wrong_rows

__all__ = [
    "Backed", "Claim", "Deed", "Evidence", "backing", "marked", "rewrite_request", "unsupported",
]  # fmt: skip


def unsupported(answer: str, evidence: Evidence, figures: bool = False) -> tuple[Claim, ...]:
    """The claims in the answer that nothing supports, in order, each text once.

    Names are looked up where there are results; `figures`: numbers and dates too.
    """
    index = Index(evidence)
    blocks = fences(answer)
    shown = [each for each in blocks if each[2] not in OUTPUT]
    prose = blanked(answer, [(start, end) for start, end, _ in shown])
    spoken = sentences(prose)
    found = list(deed_claims(spoken, index, prose))
    if evidence.results:
        names = Names(prose, spoken, index)
        found += names.unsupported()
        if figures:
            known = Figures(index)
            told = find_figures(prose, names.taken)
            found += unsupported_figures(prose, told, spoken, known)
            found += wrong_rows(told, spoken, known)
    return once(found)


def once(found: Sequence[Claim]) -> tuple[Claim, ...]:
    """In order; of two that overlap the first."""
    kept: dict[str, Claim] = {}
    end = -1
    for claim in sorted(found, key=lambda each: (each.start, -each.end)):
        if claim.start >= end and claim.text not in kept:
            kept[claim.text] = claim
            end = claim.end
    return tuple(kept.values())
