"""The few phrases that chat and run share."""

from andy_cli.events import ToolAnswered
from andy_cli.messages import Status

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
        return f"{line.rstrip('.')}, {event.seconds:.1f} s"
    if event.status is Status.DENIED or not event.error:
        return line
    return f"{line}: {for_people(event.error.splitlines()[0])}"


def for_people(error: str) -> str:
    """What a tool says of its failure, without what the model shall do about it."""
    return error.partition(" Ask the user")[0]


def problem(message: str, hint: str = "") -> str:
    return f"andy: {message}" + (f"\n  {hint}" if hint else "")
