"""The values that packages hand to each other which may not import one another.

Names mark certainty: a `ToolRequest` is what a model wrote and may be nonsense; a `ToolCall` is
what we are willing to run. Only `agent/calls/request_resolution.py` turns one into the other.

Not pydantic models, here and in events.py: importing pydantic takes 70 ms, and these values exist
before the first prompt. Not dataclasses where named tuples do: defining one takes 0.4 ms of every
start, and there are sixty.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

Schema = Mapping[str, Any]
"""A JSON Schema, or a function tool in OpenAI's form that holds one."""

Arguments = Mapping[str, object]
Wire = Mapping[str, object]
"""One message as the chat API wants it: role, content, perhaps tool_calls or tool_call_id."""

Role = Literal["system", "user", "assistant", "tool"]


class Effect(StrEnum):
    """The effect of a tool on the world; the gate decides by it."""

    READ = "read"
    PLAY = "play"
    NETWORK = "network"
    WRITE = "write"
    RUN = "run"
    ACT = "act"
    DESTROY = "destroy"
    PROTOCOL = "protocol"


class Status(StrEnum):
    """The outcome of a call."""

    SUCCESS = "success"
    FAILED = "failed"
    DENIED = "denied"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class ToolRequest(NamedTuple):
    """A request for a tool, as the model wrote it."""

    name: str
    arguments: Arguments | None = None
    """None when the notation carries none and they must be asked for."""
    id: str = ""
    operation: str = ""
    priority: float = 0
    span: tuple[int, int] = (0, 0)
    """Its place in the reply: first character and one past the last."""
    quoted: bool = False
    """It stood in a quotation or a code fence."""


NO_ARGUMENTS: Arguments = MappingProxyType({})


class ToolCall(NamedTuple):
    """A call that we are willing to run: the tool exists and the arguments fit its schema."""

    id: str
    name: str
    arguments: Arguments = NO_ARGUMENTS


class Problem(NamedTuple):
    """One way in which arguments do not fit: where, by which rule of JSON Schema, in words."""

    path: str
    rule: str
    message: str


class Display(NamedTuple):
    """Details for the user beside the action; never told to the model, nor to scripts."""

    diff: str = ""
    """The change to a file: hunks of a unified diff, without the names of files."""
    output: str = ""
    """The output of a command, as far as it is kept."""
    exit_code: int = 0
    """The exit code of that command."""


NO_DISPLAY = Display()


class ToolResult(NamedTuple):
    """The result of a call, or the reason why there is none."""

    call_id: str
    name: str
    content: str
    """The text for the model: raw JSON where the tool returned data, else its message (C10)."""
    status: Status = Status.SUCCESS
    seconds: float = 0.0
    did: str = ""
    """The action in human words, e.g. `listed 3 files in ~/Music`; this is all a user sees."""
    problem: str = ""
    """The problem, in words for the user; empty where there was none."""
    partial: str = ""
    """The part of it that could not be looked at, in words for the user, e.g. `3 files could not be
    opened`."""
    display: Display = NO_DISPLAY
    changed_nothing: bool = False
    """There was nothing to do it to, and so nobody can say that it was done."""
    unfinished: str = ""
    """The part that is still to come, in words for the user: `lines 1,412 to 3,000 of a.log were
    not read`, `a program runs on`."""
    may_be_done: bool = False
    """It failed, and nobody knows whether it was done all the same."""

    @property
    def ok(self) -> bool:
        return self.status is Status.SUCCESS


class Message(NamedTuple):
    """One entry of the history: the canonical form, which each dialect renders for the wire."""

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    reasoning: str = ""
    partial: bool = False
    """The reply was cut off: by length, by a failure or by the user."""
    note: bool = False
    """Of a user message: Andy's words to the model in the middle of a turn, not the user's."""
    unverified: tuple[str, ...] = ()
    """The claims of an answer that nothing supports, where a session is read back."""


class CallDelta(NamedTuple):
    """A piece of a native tool call, as it streams."""

    position: int | None = None
    """The server's `index`; None where it sends none."""
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: object = None
    """Data that its server wants back beside the call: of Gemini the signature of a thought."""


class Usage(NamedTuple):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """The input tokens that the model's server had read before."""
    reasoning_tokens: int = 0
    """The output tokens that are thoughts."""

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Usage") -> "Usage":
        """Add up the tokens of two requests."""
        return Usage(*map(sum, zip(self, other, strict=True)))


class NotDone(NamedTuple):
    """An action, in the words of its tool or of the user, and why it was not done: a sentence that
    ends like one stands in the answer."""

    action: str
    reason: str

    def __str__(self) -> str:
        return f"Not done: {self.action} ({self.reason})"


class Chunk(NamedTuple):
    """A piece of a reply. A tuple, not a dataclass: it is made for every streamed event."""

    text: str = ""
    reasoning: str = ""
    call: CallDelta | None = None
    finish: str = ""
    """The server's finish reason, on the last piece: stop, length, tool_calls, ..."""
    usage: Usage | None = None
    stopped_at: str = ""
    """The stop sequence that ended it, of servers that tell."""
    not_done: tuple[NotDone, ...] = ()
    """On the last piece of a planned reply: what of the wishes is not done, or asked about first.
    Its text says so, with the reason."""


class Choice(NamedTuple):
    """One thing a reply may be, and what it means in words (for the model that chooses)."""

    text: str
    about: str = ""
    beyond: str = ""
    """The kind of action, as `change files`, where the model is too small to be trusted with it."""
    parameters: Schema | None = None
    """Of a command: the JSON Schema of its arguments."""
    action: str = ""
    """Of a command: what it does, with `{parameter}` slots; see `andy_cli.actions`."""
    examples: tuple[str, ...] = ()
    """Of a command: what people say when they want it."""
    members: Mapping[str, Callable[[], Sequence[str]]] = MappingProxyType({})
    """Of a command: finds what a parameter can be, where no enumeration says it."""
    repeated_as: str = ""
    """Of a command: the name of the one that is meant by a second of it in one request."""
    only_looks: bool = True
    """Of a command: it only looks, so it need not be asked about where it may not be meant."""


class TurnContext(NamedTuple):
    """The facts that a client goes by which chooses by itself what to do next."""

    results: tuple[str, ...] = ()
    """The results of tools in this turn, oldest first, as JSON or text."""
    done: tuple[str, ...] = ()
    """The action behind each of them, in words and the past tense; empty where nobody knows."""
    earlier: tuple[str, ...] = ()
    """The results of tools in the turns before."""
    names: tuple[str, ...] = ()
    """Files and folders that are there, folders with a slash at the end."""
    read_lines: Callable[[], Mapping[str, Sequence[str]]] = dict
    """Reads the lines of the short texts among them, by name."""
    absent: Mapping[str, str] = MappingProxyType({})
    """The tools that are not set up and that the model would be too small for: the kind of action,
    by name."""


class Constraint(NamedTuple):
    """Limits on what the reply may be. A client that cannot hold a model to it ignores it.

    `choices` (with `free_text`: or anything else) is for clients that can score, and is sent as
    a grammar or an enum by those that can only constrain.
    """

    choices: tuple[Choice, ...] = ()
    free_text: bool = False
    grammar: str = ""
    """GBNF, for the free text when there are choices, else for the whole reply."""
    schema: Schema | None = None
    """JSON of this schema, for the same; it goes before the grammar."""
    context: TurnContext = TurnContext()


class Sampling(NamedTuple):
    """The parameters by which tokens are drawn; None is the default of the model."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None


class Request(NamedTuple):
    """One request to a model, rendered for the wire."""

    messages: tuple[Wire, ...]
    tools: tuple[Schema, ...] = ()
    """Function tools in OpenAI's form; empty when the dialect teaches them in the prompt."""
    constraint: Constraint | None = None
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    """Of the reply; -1 for as many as the context holds."""
    sampling: Sampling = Sampling()
    keep_whole: bool = False
    """Messages that do not fit in the context are refused (ContextLengthError), never left out."""


class Learned(NamedTuple):
    """The facts that a model at one endpoint has shown so far; empty where nothing is known."""

    native: bool | None = None
    """False: its server refuses or ignores tools. True: it has called them."""
    native_on: str = ""
    """The day that was learned on, as `2026-11-21`."""
    instead: str = ""
    """The dialect that was found for it then, from its template perhaps; `why` says so."""
    why: str = ""
    dialect: str = ""
    """The dialect that did best in a probe; empty if there was none, or nothing worked."""
    right: int = 0
    tasks: int = 0
    """The tasks it carried out in that dialect, and those it was given."""
    tokens: int = 0
    """The tokens that these tasks took, the prompts included."""
    on: str = ""
    """The day of the probe, as `2026-11-21`."""
    constrained: bool | None = None
    """True if it did better in a probe when its server held it to what it may write."""
    trusted: Mapping[str, int] | None = None
    """By effect how many free values of a call it got right in a probe; what is missing, none."""
    without: tuple[str, ...] = ()
    """The features of requests that its server refused, in the words of models/http/features.py."""
    silent: int = 0
    """Replies in a row that called no tool, while nothing else told whether it sees them."""


NOTHING_LEARNED = Learned()
