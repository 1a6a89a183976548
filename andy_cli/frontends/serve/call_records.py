"""The last calls, and figures of all: in memory alone, for the page and for /metrics."""

import asyncio
import json
import mmap
import struct
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

MAX_CALLS = 50
MAX_MODEL_NAMES = 200
"""Names of models that are counted on their own."""
OTHERS = "(others)"
MAX_SHARED_CHARACTERS = 4_000
"""Characters of each text of a call that the other processes are shown."""
SHOWN_AFTER = 0.2
"""Seconds until the other processes know of a call."""
MAX_REPLY_CHARACTERS = 32_000
"""Characters of what a model wrote, and of what was made of it, that are kept of a call."""
SLOT_SIZE = 2**20
"""Bytes of a process."""
HEAD = struct.Struct("=QQ")
"""The times it was written, odd while it is; the length of what is on it."""


class SharedStats:
    """Shared memory by which the processes of one server tell each other figures: a slot for each.

    Each writes its own alone; all read all. It is memory without a file: gone with the processes.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._memory = mmap.mmap(-1, slots * SLOT_SIZE)

    def write(self, slot_number: int, data: bytes) -> bool:
        """False where it does not fit."""
        if len(data) > SLOT_SIZE - HEAD.size:
            return False
        offset = slot_number * SLOT_SIZE
        times, _ = HEAD.unpack_from(self._memory, offset)
        times |= 1  # it may be odd: the writer before was killed while it wrote
        HEAD.pack_into(self._memory, offset, times, 0)
        self._memory[offset + HEAD.size : offset + HEAD.size + len(data)] = data
        HEAD.pack_into(self._memory, offset, times + 1, len(data))
        return True

    def read(self, slot_number: int) -> bytes:
        """Empty where nothing was written yet, or while it is."""
        offset = slot_number * SLOT_SIZE
        times, length = HEAD.unpack_from(self._memory, offset)
        data = self._memory[offset + HEAD.size : offset + HEAD.size + length]
        return data if HEAD.unpack_from(self._memory, offset)[0] == times and not times % 2 else b""


@dataclass(slots=True)
class CallRecord:
    """One call, while it goes on and afterwards."""

    wire: str
    model: str
    way: str = ""
    """passed: as it is; native: with the model's own calls; else the notation it was taught."""
    began: float = field(default_factory=time.time)
    seconds: float = 0.0
    status: int = 0
    asked: str = ""
    raw: str = ""
    compiled: str = ""
    repairs: tuple[str, ...] = ()
    calls: int = 0

    def add_raw(self, text: str) -> None:
        if len(self.raw) < MAX_REPLY_CHARACTERS:
            self.raw += text[: MAX_REPLY_CHARACTERS - len(self.raw)]


Key = tuple[str, ...]
"""requests SURFACE WAY STATUS | seconds SURFACE | open | calls | repaired
| answers MODEL | with_calls MODEL | failed MODEL
"""


class CallRecords:
    """Of this process; with shared stats, of all processes of the server."""

    def __init__(self, stats: SharedStats | None = None, slot_number: int = 0) -> None:
        self._stats = stats
        self._slot = slot_number
        self._due = False
        self._last: deque[CallRecord] = deque(maxlen=MAX_CALLS)
        self._figures: defaultdict[Key, float] = defaultdict(float, {("open",): 0})
        self._models: set[str] = set()

    def begin(self, record: CallRecord) -> CallRecord:
        self._figures[("open",)] += 1
        self._last.appendleft(record)
        self._schedule_share()
        return record

    def end(self, record: CallRecord, status: int) -> None:
        record.status = status
        record.seconds = round(time.time() - record.began, 4)
        figures, model = self._figures, self._limit_names(record.model)
        figures[("open",)] -= 1
        figures["requests", record.wire, record.way, str(status)] += 1
        figures["seconds", record.wire] += record.seconds
        figures[("calls",)] += record.calls
        figures[("repaired",)] += bool(record.repairs)
        figures["answers", model] += 1
        figures["with_calls", model] += bool(record.calls)
        figures["failed", model] += status >= 400
        self._schedule_share()

    def _schedule_share(self) -> None:
        if self._stats is not None and not self._due:
            self._due = True
            asyncio.get_running_loop().call_later(SHOWN_AFTER, self._share_calls)

    def _limit_names(self, model: str) -> str:
        """Clients may call models whatever they like: so many names are kept, and no more."""
        if model not in self._models:
            if len(self._models) >= MAX_MODEL_NAMES:
                return OTHERS
            self._models.add(model)
        return model

    def _share_calls(self) -> None:
        """To the other processes: as many of the last calls as there is room for."""
        self._due = False
        figures = [[*key, figure] for key, figure in self._figures.items()]
        calls = [render_record(record, MAX_SHARED_CHARACTERS) for record in self._last]
        while self._stats is not None:
            data = json.dumps({"figures": figures, "calls": calls}).encode()
            if self._stats.write(self._slot, data) or not calls:
                return
            calls = calls[: len(calls) // 2]

    def _read_other_slots(self) -> Iterator[Mapping[str, Any]]:
        if self._stats is not None:
            for other_slot in range(self._stats.slots):
                if other_slot != self._slot and (data := self._stats.read(other_slot)):
                    yield json.loads(data)

    def sum_figures(self) -> Mapping[Key, float]:
        figures = self._figures.copy()
        for other in self._read_other_slots():
            for *key, figure in other["figures"]:
                figures[tuple(key)] += figure
        return figures

    def list_last(self) -> list[dict[str, Any]]:
        last_calls = [render_record(record, MAX_REPLY_CHARACTERS) for record in self._last]
        for other in self._read_other_slots():
            last_calls += other["calls"]
        return sorted(last_calls, key=lambda call: str(call["began"]), reverse=True)[:MAX_CALLS]


def render_record(record: CallRecord, text_limit: int) -> dict[str, Any]:
    return {
        "began": datetime.fromtimestamp(record.began, UTC).isoformat(timespec="milliseconds"),
        "surface": record.wire,
        "model": record.model,
        "way": record.way,
        "status": record.status,
        "seconds": record.seconds,
        "calls": record.calls,
        "asked": record.asked,
        "raw": record.raw[:text_limit],
        "compiled": record.compiled[:text_limit],
        "repairs": list(record.repairs),
    }


METRICS = (
    ("requests", "andy_requests_total", "counter", ("surface", "way", "status")),
    ("seconds", "andy_request_seconds_total", "counter", ("surface",)),
    ("open", "andy_requests_open", "gauge", ()),
    ("calls", "andy_tool_calls_total", "counter", ()),
    ("repaired", "andy_repaired_total", "counter", ()),
)

ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def render_metrics(records: CallRecords) -> str:
    figures = records.sum_figures()
    lines = []
    for kind, name, type, labels in METRICS:
        lines.append(f"# TYPE {name} {type}")
        rows = sorted((key[1:], value) for key, value in figures.items() if key[0] == kind)
        if not (rows or labels):
            rows = [((), 0.0)]
        for values, value in rows:
            pairs = [
                f'{label}="{text.translate(ESCAPES)}"'
                for label, text in zip(labels, values, strict=True)
            ]
            shown_labels = "{" + ",".join(pairs) + "}" if labels else ""
            lines.append(f"{name}{shown_labels} {value:.10g}")
    return "\n".join(lines) + "\n"
