"""Tool calls that a model left in its text, for LiteLLM's proxy: one line of its configuration.

    litellm_settings:
      callbacks: andy_cli.engines.litellm.andy

Loaded by LiteLLM alone. Replies to requests without tools, and those with real calls, are left as
they are.
"""

from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence

from litellm.integrations.custom_logger import CustomLogger
from litellm.types.utils import (
    ChatCompletionDeltaToolCall,
    ChatCompletionMessageToolCall,
    Choices,
    Delta,
    Function,
    ModelResponse,
    ModelResponseStream,
    StreamingChoices,
)

from andy_cli.engines.reply_reader import (
    EngineReplyReader,
    FittedCall,
    Functions,
    ReplyDelta,
    read_reply,
)

CUT_OFF = ("length", "content_filter")


class AndyCallback(CustomLogger):
    """Reads calls in every notation the compiler knows, whatever the model."""

    async def async_post_call_success_hook(
        self, data: Mapping[str, object], user_api_key_dict: object, response: object
    ) -> object:
        tools = find_tools(data)
        if tools and isinstance(response, ModelResponse):
            for choice in response.choices:
                rewrite_choice(choice, tools)
        return response

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: object,
        response: AsyncIterable[ModelResponseStream],
        request_data: Mapping[str, object],
    ) -> AsyncGenerator[ModelResponseStream, None]:
        tools = find_tools(request_data)
        readers: dict[int, EngineChoiceReader] = {}
        async for chunk in response:
            if not tools or not isinstance(chunk, ModelResponseStream):
                yield chunk
                continue
            for choice in chunk.choices:
                reader = readers.setdefault(choice.index, EngineChoiceReader(tools))
                if last_choice := reader.take_choice(choice):
                    yield chunk.model_copy(update={"choices": [last_choice], "usage": None})
            if is_worth_sending(chunk):
                yield chunk


def find_tools(request: Mapping[str, object]) -> Functions:
    """The tools of a request, if the model may call them."""
    tools = request.get("tools")
    if not isinstance(tools, list) or request.get("tool_choice") == "none":
        return []
    return [tool for tool in tools if isinstance(tool, Mapping)]


def rewrite_choice(choice: Choices, tools: Functions) -> None:
    """Put calls that stand in the text of a whole reply where they belong."""
    message = choice.message
    if message.tool_calls or not isinstance(message.content, str):
        return
    reply = read_reply(message.content, tools, choice.finish_reason in CUT_OFF)
    if reply == ReplyDelta(message.content):
        return
    message.content = reply.text or None
    if reply.reasoning:
        message.reasoning_content = reply.reasoning
    if reply.calls:
        choice.finish_reason = "tool_calls"
        message.tool_calls = [
            ChatCompletionMessageToolCall(function=write_function(call)) for call in reply.calls
        ]


class EngineChoiceReader:
    """Rewrites the pieces of one streamed choice."""

    def __init__(self, tools: Functions) -> None:
        self._reader = EngineReplyReader(tools)
        self._native = False
        """The server makes calls itself: the text is text."""
        self._calls = 0

    def _turns_native(self, delta: Delta) -> bool:
        """Let go of what was held back where the model calls natively from here on."""
        if getattr(delta, "tool_calls", None):
            self._native = True
            delta.content = (self._reader.finish().text + (delta.content or "")) or None
        return self._native

    def take_choice(self, choice: StreamingChoices) -> StreamingChoices | None:
        """Rewrite a piece in place; returns what has to be sent before it, at the end."""
        delta = choice.delta
        if self._native or self._turns_native(delta):
            return None
        if isinstance(delta.content, str) and delta.content:
            self._rewrite_delta(delta, self._reader.feed(delta.content))
        if not choice.finish_reason:
            return None
        remaining_delta = self._reader.finish(choice.finish_reason in CUT_OFF)
        last_choice = StreamingChoices(index=choice.index, delta=Delta(content=None))
        self._rewrite_delta(last_choice.delta, remaining_delta)
        if self._calls and choice.finish_reason == "stop":
            choice.finish_reason = "tool_calls"
        return last_choice if remaining_delta != ReplyDelta() else None

    def _rewrite_delta(self, delta: Delta, read: ReplyDelta) -> None:
        delta.content = read.text or None
        if read.reasoning:
            delta.reasoning_content = read.reasoning
        if read.calls:
            delta.tool_calls = self._write_calls(read.calls)

    def _write_calls(self, calls: Sequence[FittedCall]) -> list[ChatCompletionDeltaToolCall]:
        first, self._calls = self._calls, self._calls + len(calls)
        return [
            ChatCompletionDeltaToolCall(
                # The class of whole replies makes an id, that of pieces does not.
                id=ChatCompletionMessageToolCall(function=write_function(call)).id,
                type="function",
                index=first + offset,
                function=write_function(call),
            )
            for offset, call in enumerate(calls)
        ]


def write_function(call: FittedCall) -> Function:
    return Function(name=call.name, arguments=call.arguments)


def is_worth_sending(chunk: ModelResponseStream) -> bool:
    """Tell whether anything is left in a piece whose text is held back."""
    if not chunk.choices or getattr(chunk, "usage", None):
        return True
    return any(is_said(choice) for choice in chunk.choices)


def is_said(choice: StreamingChoices) -> bool:
    delta = choice.delta
    words = delta.content or getattr(delta, "reasoning_content", None)
    calls = getattr(delta, "tool_calls", None)
    return bool(choice.finish_reason or delta.role or calls or words)


andy = AndyCallback()
