"""What was given, on its way under the names that are declared."""

from collections.abc import Callable
from dataclasses import dataclass, field

from andy_cli.compiler.mapper.fits import FittedValue, MappingScope
from andy_cli.compiler.mapper.nodes import SchemaNode

FitProperty = Callable[[object, SchemaNode, str], FittedValue | None]
"""(value, place, name) -> how the value of a property fits."""


@dataclass(slots=True)
class Assignment:
    node: SchemaNode
    scope: MappingScope
    inner: FitProperty
    assigned: dict[str, object]
    """By declared name, and what else may stand there."""
    unknown: dict[str, object]
    """Names that nothing is known of."""
    cost: int = 0
    changes: list[str] = field(default_factory=list)
    ambiguous: bool = False
    """There is a question."""

    @property
    def missing_names(self) -> list[str]:
        return [name for name in self.node.required if name not in self.assigned]

    @property
    def free_names(self) -> list[str]:
        """Declared names that were not given."""
        return [name for name in self.node.properties if name not in self.assigned]

    def record_change(self, cost: int, change: str) -> None:
        self.cost += cost
        self.changes.append(change)

    def rename(self, written: str, name: str, cost: int) -> None:
        self.assigned[name] = self.unknown.pop(written)
        self.record_change(cost, f"{written} -> {name}")

    def fits(self, value: object, name: str) -> bool:
        child = self.node.child(name)
        return child is None or self.inner(value, child, name) is not None
