"""Say what a dialect is: a notation for tool requests inside a model's text.

A dialect is data and pure functions over finished text. `write` is the inverse of `parse`, which
gives the example in the prompt and the property tests at no cost. A reply arrives in pieces, and
all that a dialect has to know of that is where a request ends: its `EndDetector` is fed the pieces
until it has found the end, and then `parse` sees the whole request.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol

from andy_cli.compiler import dialects
from andy_cli.discover import discover
from andy_cli.messages import Arguments, Constraint, Message, Schema, ToolCall, ToolRequest, Wire

Tools = Mapping[str, Schema]
"""The tools on offer: name -> function tool in OpenAI's form."""


class Parsed(NamedTuple):
    """The text from a start marker to the end of the request, as read by a dialect."""

    requests: tuple[ToolRequest, ...] = ()
    repairs: tuple[str, ...] = ()
    """Repairs without which it could not be read, in words."""
    fault: str = ""
    """Why it cannot be read, in words the model can act on."""
    incomplete: bool = False
    """It was cut off: whatever it says must not be run."""
    text: str = ""
    """Words of the request itself for the user, e.g. a final answer inside a protocol."""
    text_behind: str = ""
    """Words after it that count only in an answer in which nothing is run."""
    reasoning: str = ""
    thinks_until: tuple[str, ...] = ()
    """It was the head of a stretch of reasoning that ends at one of these."""
    settled: bool = False
    """Whatever might have followed, it would mean the same: a cut-off reply does not void it."""
    explicit: bool = False
    """It names its arguments as such: also in the middle of a sentence it is no mention."""
    ends_reply: bool = False
    """Somebody else's turn begins here: nothing from here on is the model's."""

    @property
    def is_request(self) -> bool:
        """It is a request, or was meant as one."""
        return bool(self.requests or self.incomplete or self.fault)


class EndDetector(Protocol):
    """Finds the end of one request; a new one for each start marker."""

    def feed(self, text: str) -> int | None:
        """Take the next text after the start marker.

        Returns how many of its characters belong to the request once the end is seen, None while
        it is not, and -1 as soon as this cannot be a request at all.
        """
        ...


MakeEndDetector = Callable[[str, Tools], EndDetector]
"""(start marker as written, tools) -> what finds the end of the request that it begins."""
Parse = Callable[[str, Tools], Parsed | None]
"""Reads a request, start marker included; None: this is text after all."""


class InterviewQuestion(NamedTuple):
    """One step of an interview."""

    text: str
    parameter: str
    schema: Schema
    required: bool
    constraint: Constraint | None = None
    """The form of the answer, as far as the schema says."""


class InterviewRefusal(NamedTuple):
    """The interview came to nothing; `text` tells the model why."""

    text: str


Interview = Callable[
    [str, Schema, Arguments], Generator[InterviewQuestion, str, Arguments | InterviewRefusal]
]
"""(tool's name, schema of its arguments, what is known already) -> questions -> arguments."""


class Constrain(Protocol):
    """Says what a reply may be; `demanded`: it must ask for a tool, and words are no answer."""

    def __call__(self, tools: Tools, demanded: bool = False) -> Constraint: ...


IdForm = Callable[[ToolCall, int], str]
"""(call, how many came before it in the conversation) -> its id as the model's family writes it."""


class Dialect(NamedTuple):
    name: str
    make_end_detector: MakeEndDetector
    parse: Parse
    start_markers: tuple[str, ...] = ()
    """The characters a request starts with, wherever they stand (but in code)."""
    write: Callable[[ToolRequest], str] = lambda request: ""
    render: Callable[[Sequence[Message]], list[Wire]] = lambda history: []
    """The history as this dialect's models know it."""
    render_tools: Callable[[Tools], str] = lambda tools: ""
    """The tools as the prompt names them."""
    prompt_template: str = ""
    """The template in prompts/ that teaches the dialect; empty if there is nothing to teach."""
    format_violation: Callable[[str, bool], str] | None = None
    """(reply, strictly) -> what breaks the form of the protocol; empty if nothing does."""
    interview: Interview | None = None
    constraint: Constrain | None = None
    """The form of a reply, for clients that can hold a model to it."""
    calls_only: bool = False
    """Everything is a call: `send_chat` shows a text, `end_turn` ends the turn."""
    case_insensitive: bool = False
    """Start markers count in upper and lower case."""
    line_start_markers: tuple[str, ...] = ()
    """Start markers that count at the start of a line only."""
    reply_start_markers: tuple[str, ...] = ()
    """Start markers that count at the start of the reply only."""
    named_start_markers: tuple[str, ...] = ()
    """Start markers at the start of a line with `NAME` for the name of a tool: `CALL NAME(`."""
    named_anywhere: tuple[str, ...] = ()
    """Start markers with `NAME` that count wherever they stand: forms that prose does not take."""
    continuation_markers: tuple[str, ...] = ()
    """Start markers that count right after a request only: how lists of them go on."""
    end_markers: tuple[str, ...] = ()
    """Framing that may stand after a request and is never shown there."""
    fenced: bool = False
    """Requests may stand in a code fence of their own; `parse` is given it with its fence."""
    atomic: bool = False
    """If what a start marker began is no request, nothing inside it is one either."""
    models: tuple[str, ...] = ()
    """Names of models that write it (`qwen2.5*`), without vendor, tag and quantisation."""
    id_form: IdForm | None = None
    """The form of ids in the history; None where any will do."""
    stop: tuple[str, ...] = ()
    """Texts that the model must not write itself: sent as stop sequences."""


@cache
def dialects_by_name() -> Mapping[str, Dialect]:
    """Collect the dialects there are: one file each in `dialects/`."""
    return {dialect.name: dialect for dialect in discover(dialects, Dialect, "DIALECT")}
