"""What a call would touch: the tool says it, the gate judges it, the user sees it."""

from typing import NamedTuple

from andy_cli.guard.workspace import Operation
from andy_cli.messages import Effect


class Claim(NamedTuple):
    places: tuple[str, ...] = ()
    """The paths, as they were written."""
    operation: Operation = "read"
    """What would be done with them."""
    command: str = ""
    """The command line that would be given to the shell."""
    address: str = ""
    """The URL that would be asked for."""
    method: str = "GET"
    trusted: bool = False
    """The address is one of the user's own settings."""
    shown: str = ""
    """What the user sees before a yes beside the action: the change to a file, the whole mail."""
    effect: Effect | None = None
    """That of this very call, where it is another than the tool's."""
    contained: bool = False
    """It can run where the kernel lets it read the workspace without its secrets, and no more."""


NOTHING = Claim()
