"""How what nothing supports is told: to the user by a marker, to the model by a request. Pure."""

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
    """The answer with MARKER after each claim; after a fence, on a line of its own, for what
    stands in it. Nothing is left out or changed (R16)."""
    blocks = [(start, end) for start, end, _ in find_fences(answer)]
    if answer.lstrip()[:1] in ("{", "[") and isinstance(parse_result(answer), dict | list):
        blocks = [(0, len(answer))]
    inline = sorted(each.span() for pattern in (CODE, LINK) for each in pattern.finditer(answer))
    places: dict[int, str] = {}
    for claim in claims:
        at, text = min(max(claim.end, 0), len(answer)), MARKER
        if block := find_span(at, blocks):
            at, text = block[1], f"\n{MARKER}"
        elif span := find_span(at, inline):
            at = span[1]
        else:
            while closing := CLOSING.match(answer, at):
                at = closing.end()
        places[at] = text
    parts, last = [], 0
    for at in sorted(places):
        parts += [answer[last:at], places[at]]
        last = at
    return "".join(parts) + answer[last:]


def find_span(at: int, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    return next(((start, end) for start, end in spans if start < at <= end), None)


def remove_markers(text: str) -> str:
    """What `marked` was given."""
    return text.replace(f"\n{MARKER}", "").replace(MARKER, "")


def write_rewrite_request(claims: Sequence[Claim]) -> str:
    """One message to the model that names the claims and asks for an answer from results alone."""
    names = [f"- {each.text}" for each in claims if each.kind != "deed"]
    deeds = [f"- {each.text}" for each in claims if each.kind == "deed"]
    parts = []
    if names:
        parts.append("Nothing you were given supports this in your answer:\n" + "\n".join(names))
    if deeds:
        parts.append("This was said to be done, but nothing did it:\n" + "\n".join(deeds))
    parts.append(
        "Answer again, from the results alone. Correct or leave out what they do not say, keep"
        " everything else, and do not speak of this message."
    )
    return "\n\n".join(parts)
