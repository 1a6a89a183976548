"""The few phrases that chat and run share."""

import re
from collections.abc import Iterable, Sequence

from andy_cli.errors import CHAT_WAYS, AndyError
from andy_cli.events import Compressed, Ended, ToolAnswered
from andy_cli.messages import Status

CORRECTION_MARK = "Put right:"
"""Stands before what takes the place of a part of an answer that cannot be taken off the screen."""
WITHDRAWN = "The answer above was sent back: nothing that was done supports it."
"""Stands below an answer that stays on the screen while the model looks again."""

MAX_CORRECTIONS = 2
NOT_WORDS = re.compile(r"[{}\[\]<]|.{80}")
"""Signs of a correction of data, and not one of a name or a simple value."""

MAX_ACTION_LENGTH = 240
"""Characters of an action that are shown: a question shows the whole of a script."""

STATUS_WORDS = {
    Status.SUCCESS: "",
    Status.FAILED: "could not ",
    Status.DENIED: "was not allowed to ",
    Status.TIMED_OUT: "ran out of time: ",
    Status.CANCELLED: "stopped: ",
}


def format_action(event: ToolAnswered) -> str:
    """`listed 3 songs in ~/Music, 0.1 s`: never an id, a marker or JSON (C1, R15)."""
    line = f"{STATUS_WORDS[event.status]}{shorten_action(event.did)}"
    if event.status is Status.SUCCESS:
        partly = f" ({event.problem})" if event.problem else ""
        whole_line = line if line.endswith("...") else line.rstrip(".")  # one is cut, one is ended
        return f"{whole_line}{partly}, {event.seconds:.1f} s"
    if not event.problem:
        return line
    return f"{line}: {event.problem.splitlines()[0]}"


def shorten_action(action: str, longest: int = MAX_ACTION_LENGTH) -> str:
    """The beginning of an action that would fill the screen, such as a script as one line."""
    return action if len(action) <= longest else f"{action[:longest].rstrip()}..."


def describe_corrections(changes: Sequence[str], tool_name: str) -> str:
    """Say what andy corrected of what the model wrote: names and short values, no data.

    "corrected the model's `file` to `path`"; the name of the tool is the protocol's, and left out.
    """
    corrections = []
    for change in changes:
        written, arrow, meant_name = change.partition(" -> ")
        if not arrow or meant_name == tool_name or NOT_WORDS.search(change):
            continue
        corrections.append(f"`{written.rpartition(': ')[2]}` to `{meant_name}`")
    if not corrections:
        return ""
    more_note = (
        f" and {len(corrections) - MAX_CORRECTIONS} more"
        if len(corrections) > MAX_CORRECTIONS
        else ""
    )
    shown = ", ".join(corrections[:MAX_CORRECTIONS])
    return f"corrected the model's {shown}{more_note}"


def list_not_done(event: Ended) -> list[str]:
    """Describe what was asked for and not done, to stand beneath an answer; the reason only where
    the answer does not say it in the same sentence. Nothing of what the answer itself declines.
    """
    lines = []
    for entry in event.not_done:
        if entry["reason"].endswith((".", "?")) and entry["reason"] in event.result:
            continue
        is_told = entry["reason"][:1].isupper() and entry["reason"] in event.result
        reason_note = "" if is_told else f" ({entry['reason']})"
        lines.append(f"Not done: {shorten_action(entry['action'])}{reason_note}")
    return lines


def describe_shortening(event: Compressed) -> str:
    """Say what the model is sent less of; the conversation itself is kept whole."""
    if event.left_out:
        plural = "messages are" if event.left_out > 1 else "message is"
        parts = f"{event.left_out:,} earlier {plural} left out"
    else:
        parts = f"Earlier {'messages' if event.cut_texts else 'results'} are shortened"
    return f"{parts} in what the model is sent: its window has no room for the whole conversation."


def find_changed_paragraphs(earlier_text: str, later_text: str) -> str:
    """The paragraphs of a text that do not stand in the one before it."""
    known_paragraphs = {paragraph.strip() for paragraph in earlier_text.split("\n\n")}
    return "\n\n".join(
        paragraph
        for paragraph in later_text.split("\n\n")
        if paragraph.strip() not in known_paragraphs
    )


def explain_error(error: AndyError) -> str:
    """Explain an error to somebody in a chat."""
    return format_problem(str(error), error.hint_for(CHAT_WAYS))


def format_problem(message: str, advice: str = "") -> str:
    return f"andy: {message}" + (f"\n  {advice}" if advice else "")


def list_choices(names: Iterable[str]) -> str:
    """Say which names there are to choose from."""
    joined_names = ", ".join(names)
    return f"There are: {joined_names}." if joined_names else "There are none."
