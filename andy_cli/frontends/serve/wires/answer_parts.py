"""The parts of an answer, whatever wire it is written on.

(ReasoningDelta | TextDelta | ToolCallDelta | CompletedCall)* Finish       or ApiError, anywhere
"""

from collections.abc import AsyncIterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from andy_cli.models.http.refusals import ServerRefusal


class TextDelta(NamedTuple):
    text: str


class ReasoningDelta(NamedTuple):
    text: str


class TextRetracted(NamedTuple):
    """All that was said before has turned out to be thought; a stream cannot take it back."""

    kind: type[TextDelta] | type[ReasoningDelta] = TextDelta
    """ReasoningDelta: all that was thought was said; of an answer that is not streamed."""


class ToolCallDelta(NamedTuple):
    """More of the arguments of a call that is being written; the first one announces it.

    A `CompletedCall` with its id follows, whose arguments begin with all that came before.
    """

    position: int
    id: str
    name: str
    text: str


class CompletedCall(NamedTuple):
    """A whole call; `arguments` is a JSON text."""

    position: int
    id: str
    name: str
    arguments: str
    is_whole: bool = True
    """False for a call that a client knows of and that was cut off: a part of JSON."""


class Finish(NamedTuple):
    reason: str
    """stop, length, tool_calls, content_filter."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """The input tokens that the model's server had read before, as it says."""
    reasoning_tokens: int = 0
    dialect: str = ""
    """In which notation its calls were written; empty if there were none."""
    repairs: tuple[str, ...] = ()
    stopped_at: str = ""
    """The stop sequence of the client that ended it, where the model's server tells."""


class ApiError(Exception):
    """An error as the client gets it: the status, and a message in the protocol's own words."""

    refusal = ServerRefusal()
    """The words of the model's server, if it is the one that refuses."""
    details: Mapping[str, object] = MappingProxyType({})
    """Details that a program can act on, where the API has it beside the message."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "invalid_request_error",
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code
        self.headers = dict(headers or {})
        self.param = param


class ToolsNotSupported(ApiError):
    """The model's server takes no tools."""


AnswerPart = TextDelta | ReasoningDelta | ToolCallDelta | CompletedCall | Finish


async def collect_parts(stream: AsyncIterable[AnswerPart | TextRetracted]) -> list[AnswerPart]:
    """Collect the parts of an answer without the words that were taken back."""
    answer_parts: list[AnswerPart] = []
    async for part in stream:
        if isinstance(part, TextRetracted):
            answer_parts = [kept for kept in answer_parts if not isinstance(kept, part.kind)]
        else:
            answer_parts.append(part)
    return answer_parts


def find_finish(answer_parts: Sequence[AnswerPart]) -> Finish:
    """The end of an answer: each has one."""
    return next(part for part in answer_parts if isinstance(part, Finish))


def list_calls(answer_parts: Sequence[AnswerPart]) -> list[CompletedCall]:
    return [part for part in answer_parts if isinstance(part, CompletedCall)]


def join_texts(
    answer_parts: Sequence[AnswerPart], kind: type[TextDelta] | type[ReasoningDelta]
) -> str:
    return "".join(piece.text for piece in answer_parts if isinstance(piece, kind))
