"""Plan a reply in a protocol that carries everything: texts to show, calls, and when it is over.

In the envelope a model speaks by `send_chat` and ends its turn by `end_turn` (B4 to B12). They are
notation, not actions: neither is ever run, and the history holds the text they carried.
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
    """Plan the requests of one reply: by priority, then as written (B12, R12).

    `answers`: whether a tool has a result that the model waits for. `text_of`: what a request
    to say something says; None if there is no text in it. What stands behind `end_turn` is not
    done.
    """
    names = [request.name for request in requests]
    end_position = names.index(ENDED) if ENDED in names else len(requests)
    texts: list[str] = []
    to_run: list[ToolRequest] = []
    waiting = held_back = unsaid = False
    for request in sorted(requests[:end_position], key=lambda request: -request.priority):
        if request.name != SPOKEN:
            to_run.append(request)
            waiting = waiting or answers(request.name)
        elif waiting:
            held_back = True
        elif (text := text_of(request)) is not None:
            texts.append(text)
        else:
            unsaid = True
    # A claim about results that are owed has to wait for them: the end is put off.
    ends_turn = end_position < len(requests) and not (waiting or unsaid)
    return EnvelopePlan(
        tuple(filter(str.strip, texts)), tuple(to_run), held_back, unsaid, ends_turn
    )
