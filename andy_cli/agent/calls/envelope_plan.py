"""What the calls of a protocol that carries everything mean: texts to show, and when it is over.

In the envelope a model speaks by `send_chat` and ends its turn by `end_turn` (B4 to B12). They are
notation, not deeds: neither is ever run, and the history holds the text they carried.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from andy_cli.messages import ToolRequest

SPOKEN, ENDED = "send_chat", "end_turn"
TOO_EARLY = (
    "What you wrote for the user behind that was not shown, for the results were not known yet:"
    " say it now that they are."
)
NO_TEXT = "send_chat needs the text for the user as content: write it again with it."
SHOWN = "This was shown to the user. Go on, or end your turn with end_turn."


class EnvelopePlan(NamedTuple):
    """One reply, in the order in which it is carried out."""

    texts: tuple[str, ...]
    """Shown at once, before anything is run."""
    requests: tuple[ToolRequest, ...]
    held_back: bool = False
    """Texts were written behind a request whose result they could not know (R7)."""
    unsaid: bool = False
    """Something was to be said, and its text was missing."""
    ends: bool = False


TextReader = Callable[[ToolRequest], str | None]


def plan_envelope(
    requests: Sequence[ToolRequest], answers: Callable[[str], bool], text_of: TextReader
) -> EnvelopePlan:
    """`answers`: whether a tool has a result that the model waits for. `text_of`: what a request
    to say something says; None if there is no text in it.

    By priority, then as written (B12, R12); what stands behind `end_turn` is not done.
    """
    last = next((at for at, each in enumerate(requests) if each.name == ENDED), len(requests))
    order = sorted(requests[:last], key=lambda request: -request.priority)
    said: list[str] = []
    wanted: list[ToolRequest] = []
    waiting = held_back = unsaid = False
    for request in order:
        if request.name != SPOKEN:
            wanted.append(request)
            waiting = waiting or answers(request.name)
        elif waiting:
            held_back = True
        elif (text := text_of(request)) is not None:
            said.append(text)
        else:
            unsaid = True
    # A claim about results that are owed has to wait for them: the end is put off.
    ends = last < len(requests) and not (waiting or unsaid)
    return EnvelopePlan(tuple(filter(str.strip, said)), tuple(wanted), held_back, unsaid, ends)
