"""The things that a call would touch: the tool says it, the gate judges it, the user sees it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from andy_cli.guard.workspace import Operation
from andy_cli.messages import Effect

Grants = Mapping[str, Path]
"""The places that the paths of a call led to when they were judged, by how they are written."""
NO_GRANTS: Grants = MappingProxyType({})


class ResourceAccess(NamedTuple):
    places: tuple[str, ...] = ()
    """The paths, as they were written."""
    operation: Operation = "read"
    """The operation on them."""
    command: str = ""
    """The command line that would be given to the shell."""
    address: str = ""
    """The URL that would be asked for."""
    method: str = "GET"
    trusted: bool = False
    """The address is one of the user's own settings."""
    shown: str = ""
    """The text beside the action that is seen before a yes: the whole mail, what goes where."""
    summary: str = ""
    """The size of the change, in a few words behind the action: `new file, 3 lines`."""
    diff: str = ""
    """The change to a file, as in `Display`."""
    effect: Effect | None = None
    """The effect of this very call, where it is another than the tool's."""
    contained: bool = False
    """It can run where the kernel lets it read the workspace without its secrets, and no more."""
    operations: tuple[Operation, ...] = ()
    """The operation on each place, where it is not the same for all."""

    @property
    def uses(self) -> tuple[tuple[str, Operation], ...]:
        """Each path with what would be done with it."""
        operations = self.operations or (self.operation,) * len(self.places)
        return tuple(zip(self.places, operations, strict=True))

    def grants(self, resolved_paths: Sequence[Path]) -> Grants:
        """Find where each path leads, by how a tool is given it: `./a//b` as `a/b`."""
        written = (str(Path(path)) for path in self.places)
        return dict(zip(written, resolved_paths, strict=True))


NOTHING = ResourceAccess()
