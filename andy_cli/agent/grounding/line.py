"""Numbers in order. Pure."""

from bisect import bisect_left
from collections.abc import Iterable

from andy_cli.agent.grounding.quantities import Figure


class Line:
    """Numbers in order, to be asked which lies near."""

    def __init__(self, values: Iterable[float]) -> None:
        self.values = sorted(values)

    def near(self, figure: Figure) -> bool:
        at = bisect_left(self.values, figure.value - figure.slack * 1.0001)
        if at == len(self.values):
            return False
        found = self.values[at]
        return found <= figure.value + figure.slack * 1.0001
