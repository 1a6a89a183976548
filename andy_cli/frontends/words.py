"""The few phrases that chat and run share."""

from andy_cli.events import Ended, ToolAnswered
from andy_cli.messages import Status

PUT_RIGHT = "Put right:"
"""Stands before what takes the place of a part of an answer that cannot be taken off the screen."""

ENDS = {
    Status.SUCCESS: "",
    Status.FAILED: "could not ",
    Status.DENIED: "was not allowed to ",
    Status.TIMED_OUT: "ran out of time: ",
    Status.CANCELLED: "was stopped: ",
}


def action_line(event: ToolAnswered) -> str:
    """`listed 3 songs in ~/Music, 0.1 s`: never an id, a marker or JSON (C1, R15)."""
    line = f"{ENDS[event.status]}{event.did}"
    if event.status is Status.SUCCESS:
        partly = f" ({event.problem})" if event.problem else ""
        return f"{line.rstrip('.')}{partly}, {event.seconds:.1f} s"
    if event.status is Status.DENIED or not event.problem:
        return line
    return f"{line}: {event.problem.splitlines()[0]}"


def not_done_lines(event: Ended) -> list[str]:
    """What andy itself says beneath an answer: what was asked for and not done."""
    return [f"Not done: {each['action']} ({each['reason']})" for each in event.not_done]


def changed_paragraphs(before: str, after: str) -> str:
    """The paragraphs of a text that do not stand in the one before it."""
    known = {each.strip() for each in before.split("\n\n")}
    return "\n\n".join(each for each in after.split("\n\n") if each.strip() not in known)


def problem(message: str, hint: str = "") -> str:
    return f"andy: {message}" + (f"\n  {hint}" if hint else "")
