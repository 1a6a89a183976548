"""Answers of an MCP server, mended so far that the SDK takes them.

The SDK takes a list of tools whole or not at all: one tool that is not as the protocol has it would
cost all others. And a call that was done it reports as a failure where the result does not fit the
schema that its tool declares. So of a tool only that is passed on which is used here, without a
schema of results, and each broken part of it is left out. Of a result, a block that is none is
named beside those that are.
"""

import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

from mcp.client._transport import ReadStream, Transport, TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import ContentBlock, JSONRPCResponse
from pydantic import TypeAdapter, ValidationError

from andy_cli.foreign_values import as_record, text_of
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.mcp.servers import FITS_NOTHING

Received = SessionMessage | Exception
BLOCK: TypeAdapter[ContentBlock] = TypeAdapter(ContentBlock)
CHECKED_TYPES = {"properties": dict, "required": list, "$schema": str}
"""The types of the parts of a schema that the SDK looks at."""


class MendedStream:
    """The messages of a stream, the answers among them mended."""

    def __init__(self, stream: ReadStream[Received]) -> None:
        self._stream = stream

    @property
    def last_context(self) -> object:
        """The context of the sender of the last message, which the SDK asks for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Received:
        return mend_message(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Received:
        return mend_message(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


@contextlib.asynccontextmanager
async def mend_transport(transport: Transport) -> AsyncIterator[TransportStreams]:
    """Open the transport; what comes in through it is mended."""
    async with transport as (read_stream, write_stream):
        yield MendedStream(read_stream), write_stream


def mend_message(received: Received) -> Received:
    if isinstance(received, SessionMessage) and isinstance(received.message, JSONRPCResponse):
        result = received.message.result
        if isinstance(result.get("tools"), list):
            result["tools"] = list(map(_mend_tool, result["tools"]))
        if isinstance(result.get("content"), list):
            result["content"] = _mend_content(result["content"])
    return received


def _mend_content(blocks: list[object]) -> list[object]:
    """Name blocks that are not as the protocol has them, where others are: those are not lost."""
    is_good = list(map(_is_block, blocks))
    if all(is_good) or not any(is_good):
        return blocks
    return [
        block if good else {"type": "text", "text": _name_block(block)}
        for block, good in zip(blocks, is_good, strict=True)
    ]


def _is_block(block: object) -> bool:
    try:
        BLOCK.validate_python(block)
    except ValidationError:
        return False
    return True


def _name_block(block: object) -> str:
    """Return the text of a block, if it has one, else its kind."""
    written = as_record(block)
    kind = text_of(written, "type") or "something"
    return text_of(written, "text") or f"({spell_out(kind)[:100]}, not shown)"


def _mend_tool(written: object) -> dict[str, Any]:
    """Keep the used parts of a tool; one without a name gets an empty one, and cannot be used."""
    tool = as_record(written)
    hints = as_record(tool.get("annotations"))
    title = text_of(tool, "title") or text_of(hints, "title")
    schema = tool.get("inputSchema")
    return {
        "name": text_of(tool, "name"),
        "title": title,
        "description": text_of(tool, "description"),
        "annotations": {"readOnlyHint": hints.get("readOnlyHint") is True},
        "inputSchema": _mend_schema({} if schema is None else schema),
    }


def _mend_schema(schema: object) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {**FITS_NOTHING}
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return {**FITS_NOTHING}
    mended = {keyword: value for keyword, value in schema.items() if keyword not in CHECKED_TYPES}
    for keyword, expected_type in CHECKED_TYPES.items():
        if isinstance(schema.get(keyword), expected_type):
            mended[keyword] = _drop_broken(schema[keyword])
    return {**mended, "type": "object"}


def _drop_broken(value: object) -> object:
    """Drop properties that are no schemas, and required names that are none."""
    if isinstance(value, dict):
        return {name: inner for name, inner in value.items() if isinstance(inner, dict | bool)}
    if isinstance(value, list):
        return [name for name in value if isinstance(name, str)]
    return value
