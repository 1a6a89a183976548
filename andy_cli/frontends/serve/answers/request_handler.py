"""One request for an answer: passed on as it is, read along, or made by a dialogue.

Several answers to a request (`n`) of a model that gives one at a time are made one after the other.
Whole, they are put together in the end; streamed, the events of one follow those of the other, as
their `index` tells.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from andy_cli.compiler.detect import NATIVE
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue, constrain_reply
from andy_cli.frontends.serve.answers.passthrough import PassthroughRewriter
from andy_cli.frontends.serve.answers.rewritten_answer import rewrite_answer
from andy_cli.frontends.serve.answers.tool_dialogue import continue_dialogue, make_early_call
from andy_cli.frontends.serve.call_records import MAX_REPLY_CHARACTERS, CallRecord
from andy_cli.frontends.serve.http.http_exchange import HttpExchange
from andy_cli.frontends.serve.upstream.reply_start import (
    MARKER_BYTES,
    begin_reply,
    begins_with_words,
    explain_no_choice,
    has_choice,
    has_end,
    interrupted_error,
    peek_words,
    read_sound,
)
from andy_cli.frontends.serve.upstream.sources import (
    BegunSource,
    RecordingSource,
    RemoteSource,
    ReplySource,
    read_data,
)
from andy_cli.frontends.serve.upstream.tool_catalogue import ToolCatalogue
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS
from andy_cli.frontends.serve.upstream.upstreams import Upstream, select_source
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    TextDelta,
    TextRetracted,
    ToolCallDelta,
    ToolsNotSupported,
    collect_parts,
    find_finish,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, check_results
from andy_cli.frontends.serve.wires.chat_writer import (
    AnswerPosition,
    ChatWriter,
    dump_json,
    new_answer_id,
)
from andy_cli.frontends.serve.wires.client_wire import AnswerWriter, ClientWire
from andy_cli.messages import Chunk, Usage
from andy_cli.models.http.features import refuses_any_tools
from andy_cli.models.server.own_server import is_own_server


class ToolsIgnored(Exception):
    """The model did not see the tools, and nothing was answered yet: now it is taught them."""


PlacedWriter = Callable[[ChatRequest, str, AnswerPosition], ChatWriter]


@dataclass(slots=True)
class RequestHandler:
    """One request for an answer, and all that is known about it."""

    exchange: HttpExchange
    wire: ClientWire
    chat_request: ChatRequest
    body: bytes
    upstream: Upstream
    record: CallRecord
    catalogue: ToolCatalogue | None = None
    """All tools of the request, where they are more than the model can read."""
    rests_tools: bool = False
    """The server failed over the tools themselves: for this request the model is taught them."""

    def __post_init__(self) -> None:
        if self.catalogue is not None:
            self.chat_request = self.catalogue.shorten_request(self.chat_request)

    async def answer(self) -> None:
        """Write the answer. Raises ApiError, ToolsIgnored."""
        source = self._find_source()
        if self.chat_request.parts and not isinstance(source, RemoteSource):
            raise ApiError(400, "This model reads text alone; the request holds something else.")
        try:
            await self._answer_from(source)
        except ToolsNotSupported as api_error:
            if self.read_dialect() or self.exchange.begun or self.upstream.dialect != "auto":
                raise
            support = self.upstream.find_support(self.chat_request.model)
            support.note_refusal(self.chat_request.tools, refuses_any_tools(api_error.refusal))
            raise ToolsIgnored from api_error
        except ApiError as api_error:
            if not await self._may_rest_tools(source, api_error):
                raise
            self.rests_tools = True
            raise ToolsIgnored from api_error

    async def _may_rest_tools(self, source: ReplySource, api_error: ApiError) -> bool:
        """Tell whether a server of the user's own may have failed over the tools themselves: its
        template may, or its reading of the model's call."""
        if api_error.status != 500 or self.exchange.begun or not self.chat_request.tools:
            return False
        if api_error.headers.get("x-should-retry") == "false":
            return False
        is_own = isinstance(source, RemoteSource) and is_own_server(source.endpoint.base_url)
        return is_own and self.upstream.dialect == "auto" and await self._sends_tools()

    def _find_source(self) -> ReplySource:
        """Find the model to ask, or what chooses each step for it. Raises ApiError."""
        source = select_source(self.upstream, self.chat_request.model)
        dialect_name = self.read_dialect()
        is_guided = self._with_tools and not (dialect_name or self.chat_request.parts)
        if is_guided and self.upstream.guides(self.chat_request.model):
            from andy_cli.frontends.serve.upstream.guidance import guide_source  # few need it

            return guide_source(source, self.chat_request)
        return source

    def read_dialect(self) -> str:
        """Read the dialect of this request, if its client names one. Raises ApiError."""
        wanted_dialect = self.exchange.headers.get("x-andy-dialect", "")
        if wanted_dialect and wanted_dialect not in DIALECTS:
            known_dialects = ", ".join(sorted(DIALECTS))
            raise ApiError(
                400, f"X-Andy-Dialect: there is no {wanted_dialect!r}; there are: {known_dialects}."
            )
        return wanted_dialect

    @property
    def dry(self) -> bool:
        return self.exchange.headers.get("x-andy-dry-run") == "1"

    @property
    def _with_tools(self) -> bool:
        has_results = any(message.role == "tool" for message in self.chat_request.history)
        return bool(self.chat_request.tools) or has_results

    @property
    def _reads_along(self) -> bool:
        """True if an answer is read, however it begins."""
        source = select_source(self.upstream, self.chat_request.model)
        thinks_first = source.endpoint.model in self.upstream.thinks_first
        has_schema = self.chat_request.answer_schema is not None
        return self._with_tools or has_schema or thinks_first

    async def _sends_tools(self) -> bool:
        if self.read_dialect() or self.rests_tools or not self._with_tools:
            return False
        return await self.upstream.sends_tools(self.chat_request)

    async def _find_passing(self, source: ReplySource) -> RemoteSource | None:
        """The server whose answer may go on as it comes; None where it is made here."""
        if self.catalogue is not None:
            return None
        if not (self.wire.passes and isinstance(source, RemoteSource) and source.passes):
            return None
        return source if not self._with_tools or await self._sends_tools() else None

    async def _choose_dialect(self, source: ReplySource) -> str:
        """Choose the dialect of an answer that is made here; empty for that of the upstream."""
        # A server that is only asked for words is taught nothing: no stop sequences either.
        only_words = isinstance(source, RemoteSource) and not self._with_tools
        is_native = only_words or await self._sends_tools()
        return self.read_dialect() or (NATIVE if is_native else "")

    async def _answer_from(self, source: ReplySource) -> None:
        if passing := await self._find_passing(source):
            if self.dry:
                passed_request = json.loads(self._build_passed_body(passing))
                await self._show_request(source.endpoint.model, passed_request)
            else:
                await self._pass_answer(passing)
            return
        check_results(self.chat_request.history)
        number = self.chat_request.fields.get("n")
        if self.dry:
            dialect_name = await self._choose_dialect(source)
            await self._show_dialogue(self._begin_dialogue(source, dialect_name))
        elif self.wire.placed is not None and isinstance(number, int) and number > 1:
            await self._answer_several(source, number, self.wire.placed)
        else:
            writer = self.wire.writer(self.chat_request, self._model)
            headers, data = await self._make_answer(source, writer)
            await self._end_answer(data, headers)

    async def _answer_several(
        self, source: ReplySource, number: int, make_writer: PlacedWriter
    ) -> None:
        id, used, choices = new_answer_id(), Usage(), []
        answer: dict[str, Any] = {}
        for index in range(number):
            handler = replace(self, chat_request=ask_for_one(self.chat_request, index))
            position = AnswerPosition(index, index == number - 1, used, id)
            writer = make_writer(handler.chat_request, self._model, position)
            _, data = await handler._make_answer(source, writer)
            prompt = used.input_tokens if index else writer.used.input_tokens
            used = Usage(prompt, used.output_tokens + writer.used.output_tokens)
            if data:
                answer = json.loads(data)
                choices += answer["choices"]
        await self._end_answer(dump_json({**answer, "choices": choices}), {})

    async def _end_answer(self, data: bytes, headers: dict[str, str]) -> None:
        """Respond with an answer that is whole; end one that is streamed."""
        if self.chat_request.stream:
            await self.exchange.write_chunk(b"", has_more=False)
        else:
            await self.exchange.respond(200, data, headers=headers)

    @property
    def _model(self) -> str:
        return self.chat_request.model or self.record.model

    def _note_reply(self, called: bool, counted: int) -> None:
        """Note what a complete reply shows of whether the model sees tools that are sent to it.

        Raises ToolsIgnored if they were left out and the client has nothing of the answer yet.
        """
        if not self.chat_request.tools or self.chat_request.choice.how == "none":
            return
        support = self.upstream.find_support(self.chat_request.model)
        if self.record.way not in ("passed", NATIVE):
            support.note_taught(called)
        elif support.note_native(self.chat_request, called, counted) and not self.exchange.begun:
            raise ToolsIgnored

    def _compiled_header(self, how_made: str) -> dict[str, str]:
        """The header that says how the answer was made, and what its server did not take."""
        source = select_source(self.upstream, self.chat_request.model)
        if isinstance(source, RemoteSource):
            left_out = source.find_left_out(self.chat_request.body)
            how_made += f";without={','.join(left_out)}" if left_out else ""
        return {"x-andy-compiled": how_made}

    async def _show_dialogue(self, dialogue: ToolDialogue) -> None:
        source = dialogue.source
        self.record.way = dialogue.tool_prompt.dialect.name
        request = dialogue.build_request(constraint=constrain_reply(dialogue))
        messages = list(request.messages)
        fields = {**self.chat_request.fields, "messages": messages, "stop": request.stop}
        if isinstance(source, RemoteSource):
            fields |= await source.find_constraint(request, self.chat_request.fields)
        await self._show_request(source.endpoint.model, fields)

    async def _show_request(self, model: str, request: Mapping[str, object]) -> None:
        """A dry run: what would be sent, and nothing is."""
        shown_request = {**request, "model": model or self.chat_request.model}
        await self.exchange.respond(200, dump_json({"dry_run": True, "request": shown_request}))

    def _build_passed_body(self, source: RemoteSource) -> bytes:
        """The request as it came, unless the model is called otherwise here."""
        model = source.endpoint.model
        if not model or self.chat_request.model == model:
            return self.body
        return dump_json({**self.chat_request.body, "model": model})

    async def _pass_answer(self, source: RemoteSource) -> None:
        """Bytes as they come; what may hold more than words is read along."""
        self.record.way = "passed"
        async with source.send(self._build_passed_body(source)) as upstream_request:
            is_stream = upstream_request.kind.startswith("text/event-stream")
            if not (is_stream and self.chat_request.stream):
                data = await upstream_request.read_whole()
                if not has_choice(data):
                    raise explain_no_choice(data)
                if is_stream or self.chat_request.stream:
                    # A stream whose client wants it whole, or the other way round.
                    writer = self.wire.writer(self.chat_request, self._model)
                    headers, answer = await self._make_answer(source, writer, read_data(data))
                    await self._end_answer(answer, headers)
                    return
                self.record.add_raw(data[:MAX_REPLY_CHARACTERS].decode("utf-8", "replace"))
                await self._rewrite_whole(data, upstream_request.kind, source)
                return
            received = upstream_request.read_chunks()
            is_read = self._reads_along
            chunks = await begin_reply(received if is_read else read_sound(received))
            if not is_read:
                is_plain, chunks = await peek_words(chunks)
                is_read = not is_plain
            await self.exchange.start_response(
                200, upstream_request.kind, self._compiled_header("native;repairs=0")
            )
            if is_read:
                await self._pass_rewritten(chunks, source)
            else:
                await self._pass_bytes(chunks)
            await self.exchange.write_chunk(b"", has_more=False)

    async def _rewrite_whole(self, data: bytes, kind: str, source: RemoteSource) -> None:
        """A whole answer: as it came, unless its client has to have another."""
        how_made = "native;repairs=0"
        if self._reads_along or not begins_with_words(data):
            data, finish, called, counted = await rewrite_answer(
                data, lambda: self._begin_dialogue(source)
            )
            self._note_reply(called, counted)
            if finish is not None:
                how_made = summarize_compilation(finish)
                self.record.repairs = finish.repairs
                self.record.compiled = data.decode()[:MAX_REPLY_CHARACTERS]
                self.record.calls += finish.reason == "tool_calls"
        await self.exchange.respond(200, data, kind, self._compiled_header(how_made))

    def _begin_dialogue(self, source: ReplySource, dialect_name: str = NATIVE) -> ToolDialogue:
        """A dialogue with a model that is sent the client's tools, or taught them."""
        tool_prompt = self.upstream.make_tool_prompt(
            self.chat_request.tools, self.chat_request.model, dialect_name
        )
        thinkers, catalogue = self.upstream.thinks_first, self.catalogue
        return ToolDialogue(self.chat_request, source, tool_prompt, thinkers, catalogue=catalogue)

    async def _pass_rewritten(self, chunks: AsyncIterator[bytes], source: RemoteSource) -> None:
        rewriter = PassthroughRewriter(lambda: self._begin_dialogue(source), self.record)
        failure: ApiError | None = None
        async with self.exchange.kept_alive(partial(self.exchange.write_chunk, self.wire.comment)):
            try:
                async for data in chunks:
                    if rewritten := rewriter.take_bytes(data):
                        await self.exchange.write_chunk(rewritten)
            except ApiError as api_error:
                failure = api_error
            async for rewritten in rewriter.write_rest():
                await self.exchange.write_chunk(rewritten)
        if failure or not rewriter.ended:
            raise failure or interrupted_error()
        self._note_reply(rewriter.called, rewriter.counted)

    async def _pass_bytes(self, chunks: AsyncIterator[bytes]) -> None:
        ended, last_bytes = False, b""
        async for data in chunks:
            self.record.add_raw(data[:MAX_REPLY_CHARACTERS].decode("utf-8", "replace"))
            await self.exchange.write_chunk(data)
            ended = ended or has_end(last_bytes + data)
            last_bytes = data[-MARKER_BYTES:]
        if not ended:
            raise interrupted_error()

    async def _make_answer(
        self, source: ReplySource, writer: AnswerWriter, received: Sequence[Chunk] = ()
    ) -> tuple[dict[str, str], bytes]:
        """Make one answer: its headers and itself; empty where it was streamed.

        `received`: the first reply, where it has come already.
        """
        asked = BegunSource(source, received) if received else source
        recording = RecordingSource(asked, self.record)
        # Anew for each answer: a trial of another notation is one reply.
        dialogue = self._begin_dialogue(recording, await self._choose_dialect(source))
        self.record.way = dialogue.tool_prompt.dialect.name
        dialogue.early_call = make_early_call(dialogue, writer.streams_call)
        if self.chat_request.stream:
            await self._write_stream(dialogue, writer, recording)
            return {}, b""
        collected = await collect_parts(continue_dialogue(dialogue))
        for answer_part in collected:
            self._note_piece(answer_part)
        finish = find_finish(collected)
        self._note_made_reply(recording)
        data = writer.write_answer(collected)
        self.record.compiled = data.decode()[:MAX_REPLY_CHARACTERS]
        return self._compiled_header(summarize_compilation(finish)), data

    def _note_made_reply(self, recording: RecordingSource) -> None:
        counted = recording.counted if recording.replies == 1 else 0
        self._note_reply(self.record.calls > 0, counted)

    async def _write_stream(
        self, dialogue: ToolDialogue, writer: AnswerWriter, recording: RecordingSource
    ) -> None:
        """Events as they are made; an error before the first of them is an answer of its own."""
        self.exchange.write_failure = writer.write_failure

        async def keep_alive() -> None:
            if recording.begun and not self.exchange.begun:
                await self._start_stream()
            if self.exchange.begun:
                sign = self.wire.comment or writer.write_event(TextDelta(""))
                await self.exchange.write_chunk(sign)

        answer_parts = continue_dialogue(dialogue)
        async with aclosing(answer_parts), self.exchange.kept_alive(keep_alive):
            async for streamed_part in answer_parts:
                answer_part = streamed_part
                if isinstance(answer_part, TextRetracted):
                    answer_part = TextDelta("\n\n")  # what was sent was sent: a new paragraph
                self._note_piece(answer_part)
                if not self.exchange.begun:
                    await self._start_stream()
                await self.exchange.write_chunk(writer.write_event(answer_part))
                if isinstance(answer_part, Finish):
                    self._note_made_reply(recording)

    async def _start_stream(self) -> None:
        headers = self._compiled_header(self.record.way)
        await self.exchange.start_response(200, self.wire.streamed_as, headers)

    def _note_piece(self, answer_part: AnswerPart) -> None:
        if isinstance(answer_part, CompletedCall):
            self.record.calls += 1
            self.record.compiled += f"{answer_part.name} {answer_part.arguments}\n"[:2000]
        elif isinstance(answer_part, Finish):
            self.record.repairs = answer_part.repairs
        elif not isinstance(answer_part, ToolCallDelta):
            self.record.compiled = (self.record.compiled + answer_part.text)[:MAX_REPLY_CHARACTERS]


def summarize_compilation(finish: Finish) -> str:
    """`hermes;repairs=1`."""
    return f"{finish.dialect or 'text'};repairs={len(finish.repairs)}"


async def answer_request(handler: RequestHandler) -> None:
    while True:
        try:
            await handler.answer()
            return
        except ToolsIgnored:
            continue  # it is known from now on, and the request made otherwise
        except ApiError as api_error:
            # Of `messages[2].name`, that which the client sent.
            field = (api_error.param or "").partition(".")[0].partition("[")[0]
            if field not in handler.chat_request.body:
                api_error.param = None  # the name of it on the wire of the model's server
            raise


def ask_for_one(chat_request: ChatRequest, index: int) -> ChatRequest:
    """With a seed of its own, or all answers would be the same."""
    fields = {name: value for name, value in chat_request.fields.items() if name != "n"}
    random_seed = fields.get("seed")
    if isinstance(random_seed, int):
        fields["seed"] = random_seed + index
    return chat_request._replace(fields=fields)
