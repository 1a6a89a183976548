"""What was given, on its way under the names that are declared."""

from collections.abc import Callable
from dataclasses import dataclass, field

from andy_cli.compiler.mapper.fits import Fit, Scope
from andy_cli.compiler.mapper.nodes import Node

Inner = Callable[[object, Node, str], Fit | None]
"""(value, place, name) -> how the value of a property fits."""


@dataclass(slots=True)
class Sorting:
    node: Node
    scope: Scope
    inner: Inner
    kept: dict[str, object]
    """By declared name, and what else may stand there."""
    rest: dict[str, object]
    """Names that nothing is known of."""
    cost: int = 0
    changes: list[str] = field(default_factory=list)
    torn: bool = False
    """There is a question."""

    @property
    def missing(self) -> list[str]:
        return [name for name in self.node.required if name not in self.kept]

    @property
    def free(self) -> list[str]:
        """Declared names that were not given."""
        return [name for name in self.node.properties if name not in self.kept]

    def paid(self, cost: int, change: str) -> None:
        self.cost += cost
        self.changes.append(change)

    def rename(self, written: str, name: str, cost: int) -> None:
        self.kept[name] = self.rest.pop(written)
        self.paid(cost, f"{written} -> {name}")

    def fits(self, value: object, name: str) -> bool:
        child = self.node.child(name)
        return child is None or self.inner(value, child, name) is not None
