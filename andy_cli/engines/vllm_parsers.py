"""Tool calls and reasoning of any model for vLLM: loaded by vLLM alone, when one of them is named.

Both stream as vLLM's own newer parsers do (`engine_based_streaming`): they keep what they have read
and are told the end of the reply, so nothing is read twice and no call is lost at the end. A call
is one delta, sent when it is complete: its arguments are corrected to the schema before.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.reasoning import ReasoningParser
from vllm.renderers.chat_utils import make_tool_call_id
from vllm.tokenizers import TokenizerLike
from vllm.tool_parsers import ToolParser
from vllm.tool_parsers.utils import Tool

from andy_cli.engines.reasoning_splitter import (
    CLOSERS,
    OPENERS,
    ReasoningSplitter,
    SplitDelta,
    find_opener,
    split_reasoning,
)
from andy_cli.engines.reply_reader import (
    NO_DELTA,
    EngineReplyReader,
    FittedCall,
    ReplyDelta,
    read_reply,
)

PROMPT_END = 32
"""Tokens at the end of a prompt in which an opener of reasoning is looked for."""

ModelRequest: TypeAlias = ChatCompletionRequest | ResponsesRequest


class AndyToolParser(ToolParser):
    """Reads calls in every notation the compiler knows, whatever the model."""

    engine_based_streaming = True

    def __init__(self, tokenizer: TokenizerLike, tools: list[Tool] | None = None) -> None:
        super().__init__(tokenizer, tools)
        self._reader: EngineReplyReader | None = None

    def adjust_request(self, request: ModelRequest) -> ModelRequest:
        request = super().adjust_request(request)
        if request.tools and request.tool_choice != "none":
            # The markers of many notations are special tokens, which are skipped otherwise.
            request.skip_special_tokens = False
        return request

    def extract_tool_calls(
        self, model_output: str, request: ModelRequest
    ) -> ExtractedToolCallInformation:
        if not wants_calls(request):
            return ExtractedToolCallInformation(
                tools_called=False, tool_calls=[], content=model_output
            )
        reply = read_reply(model_output, self._describe_tools(request))
        calls = [
            ToolCall(function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in reply.calls
        ]
        return ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=reply.text or None
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: ModelRequest,
    ) -> DeltaMessage | None:
        if not wants_calls(request):
            return DeltaMessage(content=delta_text) if delta_text else None
        if self._reader is None:
            self._reader = EngineReplyReader(self._describe_tools(request))
        return self._write_delta(self._reader.feed(delta_text))

    def finish_streaming(self) -> DeltaMessage | None:
        """Return what the end of the reply completes; vLLM calls it once after the last delta."""
        reader, self._reader = self._reader, None
        return self._write_delta(reader.finish()) if reader else None

    def _describe_tools(self, request: ModelRequest) -> list[Mapping[str, object]]:
        tools = self.tools or getattr(request, "tools", None) or []
        return [tool.model_dump(exclude_none=True) for tool in tools]

    def _write_delta(self, delta: ReplyDelta) -> DeltaMessage | None:
        if delta is NO_DELTA:
            return None
        calls = [self._write_call(call) for call in delta.calls]
        if not (delta.text or delta.reasoning or calls):
            return None
        return DeltaMessage(
            content=delta.text or None, reasoning=delta.reasoning or None, tool_calls=calls
        )

    def _write_call(self, call: FittedCall) -> DeltaToolCall:
        # vLLM looks into both lists for the finish reason and for arguments still to be sent.
        self.prev_tool_call_arr.append({"name": call.name, "arguments": call.arguments})
        self.streamed_args_for_tool.append(call.arguments)
        self.current_tool_id += 1
        return DeltaToolCall(
            index=self.current_tool_id,
            type="function",
            id=make_tool_call_id(),
            function=DeltaFunctionCall(name=call.name, arguments=call.arguments),
        )


def wants_calls(request: ModelRequest) -> bool:
    return getattr(request, "tool_choice", None) != "none"


class AndyReasoningParser(ReasoningParser):
    """Splits off the reasoning at the start of a reply, whichever markers the model writes."""

    engine_based_streaming = True

    def __init__(self, tokenizer: TokenizerLike, *args: object, **kwargs: object) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self._opener = ""
        self._splitter = ReasoningSplitter()
        self._opener_ids = {self.vocab[opener] for opener in OPENERS if opener in self.vocab}
        self._closer_ids = {self.vocab[closer] for closer in CLOSERS if closer in self.vocab}

    def adjust_request(self, request: ModelRequest) -> ModelRequest:
        request.skip_special_tokens = False  # as with tool calls
        return request

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        end = list(prompt_token_ids[-PROMPT_END:])
        self._opener = find_opener(self.model_tokenizer.decode(end)) if end else ""
        self._splitter = ReasoningSplitter(self._opener)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        for token in reversed(input_ids):
            if token in self._opener_ids:
                return False
            if token in self._closer_ids:
                return True
        return False

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        closer_positions = (
            position for position, token in enumerate(input_ids) if token in self._closer_ids
        )
        end = next(closer_positions, None)
        return [] if end is None else input_ids[end + 1 :]

    def extract_reasoning(
        self, model_output: str, request: ModelRequest
    ) -> tuple[str | None, str | None]:
        split = split_reasoning(model_output, self._opener)
        return split.reasoning or None, split.content or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> DeltaMessage | None:
        return write_split(self._splitter.feed(delta_text))

    def has_engine_confirmed_reasoning_end(self) -> bool:
        return self._splitter.ended

    def finish_streaming(self) -> DeltaMessage | None:
        """Return what was held back; vLLM calls it once, when the reasoning or the reply ends."""
        return write_split(self._splitter.finish())


def write_split(split: SplitDelta) -> DeltaMessage | None:
    if not (split.reasoning or split.content):
        return None
    return DeltaMessage(reasoning=split.reasoning or None, content=split.content or None)
