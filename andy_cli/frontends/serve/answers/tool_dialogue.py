"""Tool calls from a model that has none: the dialogue with the model that no client ever sees.

The model is taught a notation in its prompt; what it writes in it becomes the calls of the answer.
Where it leaves parameters open it is asked for them (A16 to A20); what does not fit is corrected,
or told to it once. Nothing is run and nothing is kept: the dialogue lives inside the request.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from andy_cli.agent.calls.injection import is_copied, is_quoted
from andy_cli.agent.calls.request_resolution import OfferedTools, ResolvedCall, resolve_tool_request
from andy_cli.agent.calls.tool_runner import WRITE_ALONE
from andy_cli.agent.history.history import new_id, normalize_value
from andy_cli.agent.model.reply import ModelReply, exchange, may_run_calls
from andy_cli.agent.prompt.shortlist import DESCRIBE
from andy_cli.compiler.compiler import CompiledReply, Compiler, Opened, Visible, asks_for_code
from andy_cli.compiler.library import word_markers
from andy_cli.compiler.mapper.mapper import find_tool
from andy_cli.errors import ModelError
from andy_cli.foreign_values import text_of
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue, constrain_reply
from andy_cli.frontends.serve.answers.formatted_answer import FormattedAnswerParser, find_arguments
from andy_cli.frontends.serve.answers.quote_aware_parser import QuoteAwareParser, Span
from andy_cli.frontends.serve.answers.streamed_calls import EarlyCall
from andy_cli.frontends.serve.upstream.tool_catalogue import ToolCatalogue
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, make_tool_prompt
from andy_cli.frontends.serve.upstream.tool_support import estimate
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
    TextRetracted,
)
from andy_cli.frontends.serve.wires.field_checks import list_stops
from andy_cli.frontends.serve.wires.freeform_tools import fit_freeform_arguments
from andy_cli.messages import Arguments, CallDelta, Chunk, Constraint, ToolRequest, Usage, Wire
from andy_cli.models.token_count import estimate_tokens

WORDS = "Answer in words: no command can be used now."


def find_in_reasoning(dialogue: ToolDialogue, reply: ModelReply) -> tuple[CompiledReply, str]:
    """The reply and its text; where it says nothing and asks for nothing, what its reasoning does.

    A server that knows no end of the reasoning takes the calls after it for a part of it.
    """
    compiled = reply.compiled
    is_silent = not (compiled.requests or compiled.text.strip())
    may_call = bool(dialogue.chat_request.tools) and may_run_calls(reply.finish)
    if is_silent and may_call and compiled.reasoning:
        reasoning_reader = make_reader(dialogue)
        reasoning_reader.take(Chunk(compiled.reasoning))
        _, compiled_reasoning = reasoning_reader.finish()
        if compiled_reasoning.requests:
            return compiled_reasoning, compiled.reasoning
    return compiled, reply.raw


def make_reader(dialogue: ToolDialogue) -> QuoteAwareParser:
    make_compiler = choose_compiler(dialogue)
    is_quotation = partial(is_text, dialogue)
    schema, is_streamed = dialogue.chat_request.answer_schema, dialogue.chat_request.stream
    if schema is None:
        return QuoteAwareParser(make_compiler, is_quotation)
    return FormattedAnswerParser(make_compiler, is_quotation, schema, is_streamed)


def choose_compiler(dialogue: ToolDialogue) -> Callable[[Collection[Span]], Compiler]:
    """Choose what reads a reply, with these spans of it as text."""
    thinks_first = dialogue.source.endpoint.model in dialogue.thinks_first
    reasoning_opened: Opened = "likely" if thinks_first else ""
    if not dialogue.chat_request.tools:
        compiler = Compiler(word_markers(), reasoning_open=reasoning_opened)  # nothing is a request
        return lambda plain_spans: compiler
    words = [message.content for message in dialogue.chat_request.history if message.role == "user"]
    return partial(
        dialogue.tool_prompt.make_compiler,
        wants_code=asks_for_code("".join(words[-1:])),
        reasoning_opened=reasoning_opened,
    )


class UnderstoodReply(NamedTuple):
    """The calls that a reply asks for, and the texts that are none."""

    calls: tuple[CompletedCall, ...] = ()
    shown: tuple[str, ...] = ()
    """Texts of requests that are none: quotations, and what the protocol says aloud."""
    dialect: str = ""
    note: str = ""
    invalid_calls: tuple[CompletedCall, ...] = ()
    """Calls with arguments that do not fit, as the client may see for itself."""
    foreign: tuple[str, ...] = ()
    """Texts of requests that name no tool."""

    def choose_calls(self, is_last: bool) -> tuple[CompletedCall, ...]:
        """Choose what the client gets: at the end a call that does not fit is better than none."""
        return self.calls or (self.invalid_calls if is_last else ())


def find_shown_text(dialogue: ToolDialogue, request: ToolRequest, reply_text: str) -> str | None:
    """Find the text that a request is shown as; None if it is a call."""
    if is_spoken(dialogue, request):
        return "" if request.name == "end_turn" else text_of(request.arguments or {}, "content")
    return reply_text[slice(*request.span)] if is_text(dialogue, request, reply_text) else None


async def understand_reply(
    dialogue: ToolDialogue, compiled: CompiledReply, reply_text: str
) -> "UnderstoodReply":
    """Sort the requests of a reply into calls and texts. `reply_text`: as it was written."""
    choice = dialogue.chat_request.choice
    shown_texts: list[str] = []
    foreign_texts: list[str] = []
    note = compiled.fault
    resolved_calls: list[ResolvedCall] = []
    for request in compiled.requests:
        spoken = find_shown_text(dialogue, request, reply_text)
        if spoken is not None:
            shown_texts.append(spoken)
        elif choice.how == "none":
            note = note if dialogue.said else WORDS
        else:
            resolved_requests = await resolve_request(dialogue, request, compiled.dialect)
            if names_no_tool(dialogue, resolved_requests) and is_unmarked(request, reply_text):
                foreign_texts.append(reply_text[slice(*request.span)])
            resolved_calls += resolved_requests
    fitting, invalid_calls = sort_by_validity(dialogue, resolved_calls)
    for resolved in fitting:
        dialogue.repairs += resolved.changes
    return UnderstoodReply(
        make_calls(fitting),
        tuple(filter(None, shown_texts)),
        compiled.dialect,
        next((resolved.fault for resolved in resolved_calls if resolved.fault), note),
        make_calls(invalid_calls),
        tuple(filter(None, foreign_texts)),
    )


def names_no_tool(dialogue: ToolDialogue, resolved_requests: Sequence[ResolvedCall]) -> bool:
    tools = dialogue.callable_tools
    return all(resolved.fault and resolved.call.name not in tools for resolved in resolved_requests)


def sort_by_validity(
    dialogue: ToolDialogue, resolved_calls: Sequence[ResolvedCall]
) -> tuple[list[ResolvedCall], list[ResolvedCall]]:
    """Sort the calls of known tools: those that fit, and those that do not; as many as may be."""
    wanted, most_calls = dialogue.wanted_tools, dialogue.most_calls
    known_calls = [resolved for resolved in resolved_calls if resolved.call.name in wanted]
    fitting = [resolved for resolved in known_calls if not resolved.fault]
    invalid_calls = [resolved for resolved in known_calls if resolved.fault]
    return fitting[:most_calls], invalid_calls[:most_calls]


async def understand_call(dialogue: ToolDialogue, delta: CallDelta) -> tuple[CompletedCall, ...]:
    """Read what one native call means: several where it has several objects for arguments.

    Raises ApiError where they cannot be read: its client knows of the call.
    """
    compiler = make_reader(dialogue)
    compiler.take(Chunk(call=delta))
    _, compiled = compiler.finish()
    if compiled.incomplete:
        message = f"The model wrote arguments of {delta.name} that cannot be read."
        raise ApiError(502, message, "upstream_error")
    understood = await understand_reply(dialogue, compiled, "")
    return understood.choose_calls(is_last=True)


ALOUD = ("send_chat", "write", "end_turn")
"""Requests of a protocol in which everything is one: they are the answer, and its end."""


def is_spoken(dialogue: ToolDialogue, request: ToolRequest) -> bool:
    return dialogue.tool_prompt.dialect.calls_only and request.name.lower() in ALOUD


def is_text(dialogue: ToolDialogue, request: ToolRequest, reply_text: str) -> bool:
    """Tell whether a request is a quotation, or no call is wanted: then its text is text (P9).

    What merely resembles a result is a call: nothing is run here, and who runs it can ask.
    """
    if is_spoken(dialogue, request):
        return False
    if dialogue.chat_request.choice.how == "none" and is_unmarked(request, reply_text):
        return True
    dialect = dialogue.tool_prompt.dialect
    is_framed = dialect.format_violation is not None or dialect.calls_only
    if is_quoted(request, reply_text) or (request.quoted and not is_framed):
        return True
    return is_copied(request, reply_text, dialogue.results)


def is_unmarked(request: ToolRequest, reply_text: str) -> bool:
    """Tell whether it is JSON or code, and may be an answer; with markers it is nobody's text."""
    written = reply_text[slice(*request.span)].lstrip("`")
    return written.startswith(("{", "[{", "json", "python", "\n"))


async def resolve_request(
    dialogue: ToolDialogue, request: ToolRequest, dialect: str
) -> tuple[ResolvedCall, ...]:
    identified = request._replace(id=new_id())
    written_in = DIALECTS.get(dialect, dialogue.tool_prompt.dialect)
    tools = {**dialogue.callable_tools, **dialogue.tool_prompt.tools}
    called = find_tool(request.name, request.arguments, tools)
    if called and request.arguments:
        arguments = fit_freeform_arguments(request.arguments, tools[called.name])
        identified = identified._replace(arguments=arguments)
    offer = OfferedTools(tools, lambda name: False)
    return await resolve_tool_request(identified, written_in, offer, partial(ask_aside, dialogue))


def make_calls(resolved: Sequence[ResolvedCall]) -> tuple[CompletedCall, ...]:
    calls = []
    for position, resolved_call in enumerate(resolved):
        call = resolved_call.call
        arguments = write_arguments(call.arguments)
        calls.append(CompletedCall(position, f"call_{call.id}", call.name, arguments))
    return tuple(calls)


def write_arguments(arguments: Arguments) -> str:
    """Write the arguments of a call as its client reads them: a JSON text."""
    return json.dumps(normalize_value(arguments), ensure_ascii=False)


def pass_call(request: ToolRequest, position: int) -> CompletedCall:
    arguments = write_arguments(request.arguments or {})
    return CompletedCall(position, request.id or f"call_{new_id()}", request.name, arguments)


async def ask_aside(
    dialogue: ToolDialogue, side_messages: Sequence[Wire], constraint: Constraint | None
) -> str:
    """Ask the model something that its client never sees; returns its answer."""
    held_to = None if dialogue.source.guided else constraint
    all_fields = dialogue.chat_request.fields
    fields = {key: value for key, value in all_fields.items() if key in KEPT_FIELDS}
    request = dialogue.build_request(side_messages, held_to)
    replies = dialogue.source.reply(request, fields)
    reply = await ModelReply(replies, Compiler(word_markers())).read_whole()
    dialogue.add_usage(reply.usage)
    return reply.compiled.text


KEPT_FIELDS = frozenset("temperature top_p seed frequency_penalty presence_penalty user".split())
"""Fields that mean the same for an answer to a question of ours."""


MAX_TRIES = 3
"""Replies that are asked for until one can be used."""
LOOK_UPS = 2
"""Replies more where tools can be looked up."""
UNREADABLE = "Your call could not be read whole, so nothing was done. Write it again."
LOOKED_UP = "These tools are described now: {}. Go on."


def make_early_call(
    dialogue: ToolDialogue, streams_call: Callable[[str], bool]
) -> EarlyCall | None:
    """Make the reader that shows a call while it is written; None where it must be whole.

    `streams_call`: whether the client can be shown a call of this tool while it is written.
    """
    chat_request = dialogue.chat_request
    if not (chat_request.stream and chat_request.tools) or dialogue.source.guided:
        return None
    if chat_request.choice.how == "none":
        return None
    names = [chat_request.choice.name] if chat_request.choice.name else chat_request.tools
    tools = {
        name: chat_request.tools[name] for name in names if name != DESCRIBE and streams_call(name)
    }
    return EarlyCall(tools, dialogue.results)


async def continue_dialogue(
    dialogue: ToolDialogue, tries: int = MAX_TRIES
) -> AsyncGenerator[AnswerPart | TextRetracted, None]:
    """Ask until a reply can be used, and yield the answer; some of it may be said already."""
    try:
        async for answer_part in exchange(DialogueAsker(dialogue, tries)):
            yield answer_part
    except ApiError:
        if not dialogue.was_asked_about_shown or dialogue.begun_call:
            raise
        yield dialogue.make_finish("stop")  # the first reply was the answer, and is said


class DialogueAsker:
    """Asks the model for one answer (agent/model/reply.py), at most so many times."""

    def __init__(self, dialogue: ToolDialogue, tries: int) -> None:
        self._dialogue = dialogue
        # A model that is chosen for takes a note of ours for the user's words, and what it is told
        # to say is the same each time.
        replies = 1 if dialogue.source.guided else tries
        self._tries_left = replies + LOOK_UPS * (dialogue.catalogue is not None)
        self._is_answered = False
        self._reader = make_reader(dialogue)
        self._silent = self._is_silent
        """The client is shown no words of the reply that was asked for."""
        self._behind: list[AnswerPart] = []
        """Words after a call that is being written: its client gets one after the other."""

    def begin_round(self) -> bool:
        self._tries_left -= 1
        return not self._is_answered

    @property
    def _is_last(self) -> bool:
        return self._tries_left == 0

    @property
    def _is_silent(self) -> bool:
        """A reply is wanted without words: what was said is not said again in others."""
        return self._dialogue.said or (self._dialogue.must and not self._is_last)

    async def ask(self) -> ModelReply:
        dialogue = self._dialogue
        self._silent, self._reader = self._is_silent, make_reader(dialogue)
        request = dialogue.build_request(constraint=constrain_reply(dialogue))
        return ModelReply(
            dialogue.source.reply(request, dialogue.fields), self._reader, raw_limit=MAX_CHARACTERS
        )

    async def show(self, reply: ModelReply) -> AsyncIterator[AnswerPart | TextRetracted]:
        async for answer_part in stream_words(self._dialogue, reply, self._silent, self._reader):
            if isinstance(answer_part, TextDelta | ReasoningDelta) and self._dialogue.begun_call:
                self._behind.append(answer_part)
            else:
                yield answer_part
        note_reply(self._dialogue, reply, self._silent)
        if self._reader.over and not any(reply.usage):  # its server would have told it at the end
            prompt = estimate(self._dialogue.chat_request, 0)
            written_tokens = estimate_tokens(reply.raw)
            self._dialogue.add_usage(Usage(prompt.messages + prompt.tools, written_tokens))

    async def recover(self, error: ModelError) -> AnswerPart | TextRetracted:
        raise error  # what a server refused is an ApiError here, and goes to the client

    async def use(self, reply: ModelReply) -> AsyncIterator[AnswerPart | TextRetracted]:
        dialogue = self._dialogue
        understood = await find_requests(dialogue, reply)
        note = choose_note(dialogue, understood, reply)
        if note and not (understood.calls or self._is_last):
            ask_again(dialogue, understood, reply.raw, note)
            return
        self._is_answered = True
        calls = complete_calls(dialogue, understood, reply, self._is_last)
        answer_parts = [*closing_pieces(dialogue, understood, calls, self._behind)]
        are_whole = any(call.is_whole for call in calls)
        finish = end_answer(dialogue, reply, understood.dialect, are_whole)
        if finish.reason == "stop" and not (answer_parts or dialogue.said):
            refuse_empty_answer(dialogue, note)
        for answer_part in answer_parts:
            yield answer_part
        yield finish


def refuse_empty_answer(dialogue: ToolDialogue, note: str) -> None:
    """Raise ApiError where a model was told this and gave nothing that can be used.

    Who wants words alone gets those that there are, and be it none.
    """
    if note and dialogue.chat_request.choice.how != "none":
        message = f"The model gave no answer that can be used. It was told: {note}"
        raise ApiError(502, message, "upstream_error")


def choose_note(dialogue: ToolDialogue, understood: UnderstoodReply, reply: ModelReply) -> str:
    """Choose what the model is told of a reply that may not do; else nothing."""
    note = understood.note or dialogue.demand
    if not note and dialogue.said and shows_request(dialogue, reply.compiled):
        note, dialogue.was_asked_about_shown = WRITE_ALONE, True
    return note


def shows_request(dialogue: ToolDialogue, compiled: CompiledReply) -> bool:
    """Tell whether the first reply shows a request beside its words, as many models do that mean
    it; the model is told once to write it alone."""
    is_first = not dialogue.side and dialogue.chat_request.choice.how != "none"
    return is_first and bool(compiled.shown_requests)


def end_answer(dialogue: ToolDialogue, reply: ModelReply, dialect: str, calls: bool) -> Finish:
    if calls:
        return dialogue.make_finish("tool_calls", dialect)
    finish = dialogue.make_finish(find_finish_reason(reply))
    # Notations have stop sequences of their own.
    if reply.stopped_at in list_stops(dialogue.chat_request.fields):
        finish = finish._replace(stopped_at=reply.stopped_at)
    return finish


async def find_requests(dialogue: ToolDialogue, reply: ModelReply) -> UnderstoodReply:
    """Find what a reply asks for; the tools that it looks up are told to it on the side."""
    compiled, reply_text = find_in_reasoning(dialogue, reply)
    if compiled.requests and not dialogue.chat_request.tools:
        # Its server's own: who sends no tools gets of them what the chat API passes on.
        return UnderstoodReply(
            tuple(pass_call(request, at) for at, request in enumerate(compiled.requests))
        )
    understood = await understand_reply(dialogue, compiled, reply_text)
    if may_run_calls(reply.finish):
        understood = await add_bare_arguments(dialogue, compiled, understood)
    if compiled.incomplete and may_run_calls(reply.finish) and not understood.note:
        note = WORDS if dialogue.chat_request.choice.how == "none" else UNREADABLE
        understood = understood._replace(note=note)
    if dialogue.catalogue is None:
        return understood
    return await look_up_tools(dialogue, dialogue.catalogue, understood)


async def add_bare_arguments(
    dialogue: ToolDialogue, compiled: CompiledReply, understood: UnderstoodReply
) -> UnderstoodReply:
    """Add the call that is demanded where its arguments alone were written, and are those of one
    tool: so do many models that are asked for data by a tool."""
    if not dialogue.must or understood.calls or understood.invalid_calls:
        return understood
    text = "\n".join((compiled.text, *understood.foreign))
    found = ((name, find_arguments(text, tool)) for name, tool in dialogue.wanted_tools.items())
    requests = tuple(ToolRequest(name, arguments) for name, arguments in found if arguments)
    if len(requests) != 1:
        return understood
    return await understand_reply(dialogue, compiled._replace(requests=requests), "")


def ask_again(
    dialogue: ToolDialogue, understood: UnderstoodReply, reply_text: str, note: str
) -> None:
    """Put a reply that cannot be used on the side, and what is wrong with it after it."""
    if dialogue.begun_call:
        dialogue.begun_call.note_invalid_calls(understood.invalid_calls)
    dialogue.again = next((call.name for call in understood.invalid_calls), "")
    dialogue.side += [
        {"role": "assistant", "content": reply_text.strip() or "..."},
        {"role": "user", "content": note},
    ]


async def look_up_tools(
    dialogue: ToolDialogue, catalogue: ToolCatalogue, understood: UnderstoodReply
) -> UnderstoodReply:
    """Show the model the tools that its reply looks up; the client's calls are left."""
    wanted_words = [
        json.loads(call.arguments)["what"] for call in understood.calls if call.name == DESCRIBE
    ]
    calls = tuple(call for call in understood.calls if call.name != DESCRIBE)
    wanted_words += [call.name for call in understood.invalid_calls]
    if not wanted_words:
        return understood
    names = await catalogue.look_up(wanted_words)
    shortened = catalogue.shorten_request(dialogue.chat_request)
    dialogue.chat_request = shortened
    dialogue.tool_prompt = make_tool_prompt(dialogue.tool_prompt.dialect, shortened.tools)
    note = understood.note or LOOKED_UP.format(", ".join(names))
    return understood._replace(calls=calls, note=note)


def note_reasoning(dialogue: ToolDialogue, compiled: CompiledReply) -> None:
    """Note whether the model's next reply may begin inside reasoning that its prompt opened."""
    if compiled.thought_first:
        dialogue.thinks_first.add(dialogue.source.endpoint.model)
    elif compiled.thought_first is False:
        dialogue.thinks_first.discard(dialogue.source.endpoint.model)


def note_reply(dialogue: ToolDialogue, reply: ModelReply, silent: bool) -> None:
    """Note what a reply said, and how; `silent`: its client saw none of its words."""
    dialogue.add_usage(reply.usage)
    note_reasoning(dialogue, reply.compiled)
    words = reply.compiled.text.strip()
    if silent:
        dialogue.unsaid.append(words)
    elif dialogue.said:
        dialogue.unsaid = [words]


MAX_CHARACTERS = 2**25
"""Characters of a reply: what is quoted in it is looked up."""


def complete_calls(
    dialogue: ToolDialogue, understood: UnderstoodReply, reply: ModelReply, is_last: bool
) -> tuple[CompletedCall, ...]:
    """Choose the calls of the answer; the one that has begun is among them. Raises ApiError."""
    calls = understood.choose_calls(is_last)
    if not dialogue.begun_call:
        return calls
    cut_off = find_finish_reason(reply) != "stop"
    completed = dialogue.begun_call.complete_calls(calls, understood.invalid_calls, cut_off)
    return completed[: dialogue.most_calls]


def closing_pieces(
    dialogue: ToolDialogue,
    understood: UnderstoodReply,
    calls: tuple[CompletedCall, ...],
    held_parts: Sequence[AnswerPart],
) -> Iterator[AnswerPart | TextRetracted]:
    """The calls, and what of the answer was not said while it came."""
    if calls and (corrected_words := find_corrected_words(dialogue)):
        yield TextRetracted()
        yield TextDelta(corrected_words)
    words = [*held_parts, *map(TextDelta, closing_words(dialogue, understood))]
    yield from (*calls, *words) if dialogue.begun_call else (*words, *calls)


def closing_words(dialogue: ToolDialogue, understood: UnderstoodReply) -> Iterator[str]:
    yield from understood.shown
    if understood.calls or understood.invalid_calls:
        return
    words = list(dict.fromkeys(filter(None, dialogue.unsaid)))
    if dialogue.was_asked_about_shown:
        return  # the first reply was the answer, and is said
    if dialogue.said:
        yield from (f"\n\n{text}" for text in words[1:])
    elif not understood.shown:
        # Nothing else was said: what looked like a call, and named no tool, was the answer.
        yield from understood.foreign or words[-1:]


def find_corrected_words(dialogue: ToolDialogue) -> str:
    """Find the words beside calls that were written anew: they take the place of those beside the
    calls that were of no use, as long as the client has seen nothing."""
    if dialogue.chat_request.stream or not dialogue.said:
        return ""
    return next(filter(None, reversed(dialogue.unsaid[1:])), "")


def list_visible_parts(
    dialogue: ToolDialogue, visible: Visible, silent: bool
) -> Iterator[AnswerPart | TextRetracted]:
    if not dialogue.side:
        if visible.retracted:
            yield TextRetracted()
        if visible.reasoning:
            yield ReasoningDelta(visible.reasoning)
        if visible.unthought and not dialogue.chat_request.stream:
            yield TextRetracted(ReasoningDelta)
    if visible.text and not silent:
        dialogue.said = True
        yield TextDelta(visible.text)


async def stream_words(
    dialogue: ToolDialogue, reply: ModelReply, silent: bool, reader: QuoteAwareParser
) -> AsyncIterator[AnswerPart | TextRetracted]:
    """Yield what may be shown of a reply as it comes; `silent`: words were not asked for."""
    try:
        async for visible in reply:
            for visible_part in list_visible_parts(dialogue, visible, silent):
                yield visible_part
            early_call = dialogue.early_call
            if early_call and (call_delta := early_call.read_more(reader.compiler)):
                yield call_delta
    except ApiError:
        held_back = reply.rest.text if dialogue.said and not silent else ""
        if held_back:
            yield TextDelta(held_back)
        raise


def find_finish_reason(reply: ModelReply) -> str:
    """Why the reply ended, as far as the client may know: a call that was cut off is no call."""
    return reply.finish if reply.finish in ("length", "content_filter") else "stop"
