"""The last calls, and figures of all: in memory alone, for the page and for /metrics."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

LAST = 50
"""Calls that are remembered."""
MODELS = 200
"""Names of models that are counted on their own."""
OTHERS = "(others)"
ROOM = 32_000
"""Characters of what a model wrote, and of what was made of it, that are kept of a call."""


@dataclass(slots=True)
class Record:
    """One call, while it goes on and afterwards."""

    surface: str
    model: str
    way: str = ""
    """passed: as it is; native: with the model's own calls; else the notation it was taught."""
    began: float = field(default_factory=time.time)
    seconds: float = 0.0
    status: int = 0
    asked: str = ""
    """The last thing the client said."""
    raw: str = ""
    """What the model wrote."""
    compiled: str = ""
    """What the client got, as JSON."""
    repairs: tuple[str, ...] = ()
    calls: int = 0

    def wrote(self, text: str) -> None:
        if len(self.raw) < ROOM:
            self.raw += text[: ROOM - len(self.raw)]


@dataclass(slots=True)
class Tally:
    """Of one model."""

    answers: int = 0
    with_calls: int = 0
    failed: int = 0


class Records:
    def __init__(self) -> None:
        self.last: deque[Record] = deque(maxlen=LAST)
        self.counts: Counter[tuple[str, str, int]] = Counter()
        """(surface, way, status) -> how often."""
        self.seconds: dict[str, float] = defaultdict(float)
        self.open = 0
        self.calls = 0
        self.repaired = 0
        self.models: dict[str, Tally] = {}

    def begin(self, record: Record) -> Record:
        self.open += 1
        self.last.appendleft(record)
        return record

    def end(self, record: Record, status: int) -> None:
        self.open -= 1
        record.status = status
        record.seconds = round(time.time() - record.began, 4)
        self.counts[record.surface, record.way, status] += 1
        self.seconds[record.surface] += record.seconds
        self.calls += record.calls
        self.repaired += bool(record.repairs)
        tally = self.models.get(record.model) or self._tally(record.model)
        tally.answers += 1
        tally.with_calls += bool(record.calls)
        tally.failed += status >= 400

    def _tally(self, model: str) -> Tally:
        """Clients may call models whatever they like: so many names are kept, and no more."""
        return self.models.setdefault(model if len(self.models) < MODELS else OTHERS, Tally())


def metrics(records: Records) -> str:
    """In the text format of Prometheus."""
    lines = ["# TYPE andy_requests_total counter"]
    for (surface, way, status), count in sorted(records.counts.items()):
        labels = labelled({"surface": surface, "way": way, "status": str(status)})
        lines.append(f"andy_requests_total{labels} {count}")
    lines.append("# TYPE andy_request_seconds_total counter")
    for surface, seconds in sorted(records.seconds.items()):
        lines.append(f"andy_request_seconds_total{labelled({'surface': surface})} {seconds:.4f}")
    lines += ["# TYPE andy_requests_open gauge", f"andy_requests_open {records.open}"]
    lines += ["# TYPE andy_tool_calls_total counter", f"andy_tool_calls_total {records.calls}"]
    lines += ["# TYPE andy_repaired_total counter", f"andy_repaired_total {records.repaired}"]
    return "\n".join(lines) + "\n"


def labelled(labels: Mapping[str, str]) -> str:
    quoted = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for name, value in labels.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in quoted.items()) + "}"
