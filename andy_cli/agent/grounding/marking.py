"""Tell what nothing supports: the user by a marker, the model by a request. Pure."""

import re
from collections.abc import Sequence

from andy_cli.agent.grounding.claims import Claim
from andy_cli.agent.grounding.result_tables import parse_result
from andy_cli.agent.grounding.text.layout import find_fences
from andy_cli.compiler.expression import Expression

MARKER = " (not verified)"
CODE = Expression(r"(`{1,4})(?!`).+?(?<!`)\1(?!`)")
LINK = Expression(r"\[[^\]\n]*\]\([^)\n]*\)")
CLOSING = re.compile(r"[*_~]{1,3}(?!\w)|[\"”’»](?!\w)")


def mark_claims(answer: str, claims: Sequence[Claim]) -> str:
    """Put MARKER after each claim; after a fence, on a line of its own, for what stands in it.
    Nothing is left out or changed (R16)."""
    blocks = [(start, end) for start, end, _ in find_fences(answer)]
    if answer.lstrip()[:1] in ("{", "[") and isinstance(parse_result(answer), dict | list):
        blocks = [(0, len(answer))]
    inline = sorted(match.span() for pattern in (CODE, LINK) for match in pattern.finditer(answer))
    places = dict(place_marker(answer, claim.end, blocks, inline) for claim in claims)
    parts, last = [], 0
    for position in sorted(places):
        parts += [answer[last:position], places[position]]
        last = position
    return "".join(parts) + answer[last:]


def place_marker(
    answer: str,
    end: int,
    blocks: Sequence[tuple[int, int]],
    inline: Sequence[tuple[int, int]],
) -> tuple[int, str]:
    """Find the position behind a claim at which a marker breaks nothing, and its text there."""
    position = min(max(end, 0), len(answer))
    if block := find_span(position, blocks):
        return block[1], f"\n{MARKER}"
    if span := find_span(position, inline):
        return span[1], MARKER
    while closing := CLOSING.match(answer, position):
        position = closing.end()
    return position, MARKER


def find_span(position: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    return next(((start, end) for start, end in spans if start < position <= end), None)


def remove_markers(text: str) -> str:
    """Undo `mark_claims`."""
    return text.replace(f"\n{MARKER}", "").replace(MARKER, "")


def write_rewrite_request(claims: Sequence[Claim]) -> str:
    """Write one message to the model that names the claims and asks for an answer from results
    alone."""
    names = [f"- {claim.text}" for claim in claims if claim.kind != "deed"]
    actions = [f"- {claim.text}" for claim in claims if claim.kind == "deed"]
    parts = []
    if names:
        parts.append("Nothing you were given supports this in your answer:\n" + "\n".join(names))
    if actions:
        parts.append("This was said to be done, but nothing did it:\n" + "\n".join(actions))
    parts.append(
        "Answer again, from the results alone. Correct or leave out what they do not say, keep"
        " everything else, and do not speak of this message."
    )
    return "\n\n".join(parts)
