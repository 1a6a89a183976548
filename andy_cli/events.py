"""Everything that can happen in a turn.

The grammar of the stream is the contract; `--output-format stream-json` prints it, one object a
line, under the names below:

    init message(user) compressed? (reasoning | message | compile | error
        | correction? tool_use consent? tool_result)* audit? result

Readers ignore types they do not know.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from andy_cli.messages import NO_DISPLAY, Arguments, Display, Status

NOT_SENT: Mapping[str, bool] = {"sent": False}
"""Marks a field that is for the terminal alone, and no part of the JSON."""

DecisionWord = Literal["allowed", "denied"]
Subtype = Literal[
    "success",
    "error_empty",
    "error_cut_off",
    "error_filtered",
    "error_unreadable",
    "error_unsupported",
    "error_not_done",
    "error_limit",
    "error_permission",
    "error_provider",
    "error_usage",
    "error_cancelled",
    "error_unclear",
]


@dataclass(frozen=True, slots=True)
class Init:
    type: ClassVar[str] = "init"
    session_id: str
    model: str
    dialect: str
    tools: tuple[str, ...] = ()
    """Names of the tools that the model is offered."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message, or with `delta` the next piece of one.

    An assistant's whole message after pieces of one takes their place.
    """

    type: ClassVar[str] = "message"
    role: Literal["user", "assistant"]
    content: str
    delta: bool = False


@dataclass(frozen=True, slots=True)
class Reasoned:
    type: ClassVar[str] = "reasoning"
    content: str
    delta: bool = True


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling one reply; `spans` are the character ranges it consumed.

    `hidden` lists what is neither shown nor run, as (kind, start, end): `framing` of the protocol,
    what the model said in somebody else's name (`invented`), a request that is none.
    """

    type: ClassVar[str] = "compile"
    dialect: str
    spans: tuple[tuple[int, int], ...] = ()
    repairs: tuple[str, ...] = ()
    incomplete: bool = False
    hidden: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Corrected:
    type: ClassVar[str] = "correction"
    tool_id: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consented:
    """The user's answer to a call, or the refusal of one that nobody was asked about."""

    type: ClassVar[str] = "consent"
    tool_id: str
    effect: str
    decision: DecisionWord
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    type: ClassVar[str] = "tool_use"
    tool_id: str
    tool_name: str
    parameters: Arguments
    action: str
    """The action that is about to happen, in human words."""


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    type: ClassVar[str] = "tool_result"
    tool_id: str
    status: Status
    output: str = ""
    error: str = ""
    seconds: float = 0.0
    did: str = ""
    """The action that happened, in human words."""
    problem: str = ""
    """The problem, in words for the user."""
    display: Display = field(default=NO_DISPLAY, metadata=NOT_SENT)


@dataclass(frozen=True, slots=True)
class Compressed:
    """The history was shortened to what the model's window has room for."""

    type: ClassVar[str] = "compressed"
    before: int
    after: int
    """Estimated tokens of what the model is told of the history."""
    cut_texts: int = 0
    """Messages of the user or the model that were cut, and not results only."""
    left_out: int = 0
    """Messages that are left out, those included that were before."""


@dataclass(frozen=True, slots=True)
class Audited:
    """The parts of the answer that nothing supports, and markers that had to be taken out of it."""

    type: ClassVar[str] = "audit"
    unsupported: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    type: ClassVar[str] = "error"
    severity: Literal["warning", "error"]
    kind: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the turn. `result` and `response` are both the answer: scripts read either."""

    type: ClassVar[str] = "result"
    subtype: Subtype
    is_error: bool
    result: str
    response: str
    session_id: str
    num_turns: int
    """Rounds: requests to the model and their replies, as other agents count them."""
    duration_ms: int
    exit_code: int
    total_cost_usd: float | None = None
    usage: dict[str, int] = field(default_factory=dict)
    permission_denials: tuple[str, ...] = ()
    grounding: dict[str, object] = field(default_factory=dict)
    not_done: tuple[Mapping[str, str], ...] = ()
    """The actions that were asked for and not done: `action` and `reason` of each."""
    error: Mapping[str, str] | None = None
    """On failure: `kind`, `message` and `hint`."""


Event = (
    Init
    | Said
    | Reasoned
    | Compiled
    | Corrected
    | Consented
    | ToolUsed
    | ToolAnswered
    | Compressed
    | Audited
    | Failed
    | Ended
)


def as_dict(event: Event) -> dict[str, object]:
    """The event as a flat object: `type` first, then `timestamp` (seconds), then its fields."""
    flat: dict[str, object] = {"type": event.type, "timestamp": round(time.time(), 3)}
    for part in fields(event):
        if part.metadata.get("sent", True):
            flat[part.name] = getattr(event, part.name)
    return flat


def as_json(event: Event) -> str:
    return json.dumps(as_dict(event), ensure_ascii=False, default=str)
