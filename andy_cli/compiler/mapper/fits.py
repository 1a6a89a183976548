"""What a correction is and what it costs.

Every candidate has a cost: how many liberties it takes. The cheapest that validates wins; where two
different ones are equally cheap nothing is chosen, because that is a question.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from andy_cli.compiler.mapper.kinds import equal_as_json
from andy_cli.compiler.mapper.nodes import SchemaNode
from andy_cli.messages import Problem

CERTAIN = 3
"""The dearest step that takes no liberty: the schema leaves nothing else it could mean."""


class FittedValue(NamedTuple):
    """A value that fits."""

    cost: int
    value: object
    changes: tuple[str, ...] = ()
    """Receipts: `file -> path`, `"3" -> 3`."""


class Coercion(NamedTuple):
    """Another way to take a value; it need not fit yet."""

    cost: int
    value: object
    change: str = ""
    """The receipt; empty: it is made from the two values."""


@dataclass(slots=True)
class MappingScope:
    """One correction under way."""

    may_guess: bool
    """Steps dearer than FREE may be taken."""
    tool: str = ""
    questions: list[Problem] = field(default_factory=list)
    """Where two corrections were equally good, in words."""
    steps: int = 5000
    """How many more values may be looked at: hostile schemas must not take for ever."""

    def allows(self, cost: int) -> bool:
        return cost <= CERTAIN or self.may_guess

    def ask(self, path: str, rule: str, message: str) -> None:
        if all(each.message != message for each in self.questions):
            self.questions.append(Problem(path, rule, message))


def pick_cheapest(fits: Iterable[FittedValue], node: SchemaNode) -> FittedValue | None:
    """The one that takes the fewest liberties; None if there is none, or if two are as good."""
    ranked = sorted(fits, key=lambda fit: fit.cost)
    best: FittedValue | None = None
    for fit in ranked:
        if best is not None and fit.cost > best.cost:
            break
        if not node.fits(fit.value):
            continue
        if best is not None and not equal_as_json(best.value, fit.value):
            return None
        best = best or fit
    return best
