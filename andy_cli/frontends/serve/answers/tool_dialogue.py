"""Tool calls from a model that has none: the dialogue with the model that no client ever sees.

The model is taught a notation in its prompt; what it writes in it becomes the calls of the answer.
Where it leaves parameters open it is asked for them (A16 to A20); what does not fit is corrected,
or told to it once. Nothing is run and nothing is kept: the dialogue lives inside the request.
"""

import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from andy_cli.agent.calls.injection import is_copied, is_quoted, unescape_control_tokens
from andy_cli.agent.calls.request_resolution import (
    OfferedTools,
    ResolvedCall,
    resolve_tool_request,
)
from andy_cli.agent.history.result_pairing import new_id
from andy_cli.agent.model.reply import ModelReply, may_run_calls
from andy_cli.agent.prompt.shortlist import DESCRIBE
from andy_cli.compiler.bodies.constraint_schemas import call_constraint
from andy_cli.compiler.compiler import CompiledReply, Compiler, Opened, Visible
from andy_cli.compiler.detect import NATIVE
from andy_cli.compiler.dialect import InterviewQuestion, Tools
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.requested import asks_for_code
from andy_cli.frontends.serve.answers.opening_call import OpenCallReader, OpeningCall
from andy_cli.frontends.serve.answers.quote_aware_parser import QuoteAwareParser
from andy_cli.frontends.serve.upstream.sources import ReplySource
from andy_cli.frontends.serve.upstream.tool_catalogue import ToolCatalogue
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, ToolPrompt, make_tool_prompt
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
    TextRetracted,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.messages import (
    Arguments,
    CallDelta,
    Chunk,
    Constraint,
    Message,
    Request,
    ToolRequest,
    Usage,
    Wire,
)

TRIES = 3
"""Replies that are asked for until one can be used."""
MUST = "You must use one of the commands now; do not answer in words."
WORDS = "Answer in words: no command can be used now."
MUST_THIS = "You must use {} now; do not answer in words."
LOOK_UPS = 2
"""Replies more where tools can be looked up."""
LOOKED_UP = "These tools are described now: {}. Go on."


NOTHING_USED = Usage()


@dataclass(slots=True)
class ToolDialogue:
    """One answer while it is made."""

    chat_request: ChatRequest
    source: ReplySource
    tool_prompt: ToolPrompt
    thinks_first: set[str] = field(default_factory=set)
    """Models whose replies begin inside reasoning that the prompt opened, as far as was seen."""
    usage: Usage = NOTHING_USED
    side: list[Wire] = field(default_factory=list)
    """What was said to the model beside the client's history, and its replies to that."""
    repairs: tuple[str, ...] = ()
    said: bool = False
    """The client has seen text of this answer."""
    opening: OpeningCall | None = None
    """The first call, which goes on while it is written; None where it may not."""
    unsaid: list[str] = field(default_factory=list)
    """What the model said instead of calls to use; if `said`, the client saw the first."""
    again: str = ""
    """The tool that is asked for once more, as the arguments that it was called with do not fit."""
    catalogue: ToolCatalogue | None = None
    """All tools of the request, where they are more than the model can read."""

    @property
    def opened(self) -> OpeningCall | None:
        """The first call, once its client knows of it."""
        return self.opening if self.opening is not None and self.opening.begun else None

    @property
    def results(self) -> list[str]:
        return [message.content for message in self.chat_request.history if message.role == "tool"]

    @property
    def must(self) -> bool:
        return self.chat_request.choice.how == "required"

    @property
    def unmet_demand(self) -> str:
        """What a model is told that had to call a tool and did not; empty if it need not."""
        return self.demand if self.must else ""

    @property
    def demand(self) -> str:
        name = self.chat_request.choice.name
        return MUST_THIS.format(name) if name else MUST

    @property
    def due(self) -> str:
        """The one tool that has to be called now; nothing where it may be any."""
        return self.chat_request.choice.name or self.again

    @property
    def native(self) -> bool:
        """The model is given the tools themselves."""
        wanted = bool(self.chat_request.tools) and self.chat_request.choice.how != "none"
        return wanted and self.tool_prompt.dialect.name == NATIVE

    @property
    def callable_tools(self) -> Tools:
        """The tools that a reply may call: what is only named may be called too."""
        return self.catalogue.tools if self.catalogue else self.chat_request.tools

    @property
    def fields(self) -> Mapping[str, object]:
        """The fields that are passed on; with native calls also what is wanted of them."""
        if not self.native:
            return self.chat_request.fields
        choice: dict[str, object] = {}
        if self.must or self.again:
            function = {"type": "function", "function": {"name": self.due}}
            choice["tool_choice"] = function if self.due else "required"
        if not self.chat_request.parallel:
            choice["parallel_tool_calls"] = False
        return {**self.chat_request.fields, **choice}

    def build_request(
        self, more: Sequence[Wire] = (), constraint: Constraint | None = None
    ) -> Request:
        chat_request = self.chat_request
        # A model that is chosen for needs no words for it.
        demand = self.demand if self.must and not self.source.guided else ""
        if self.catalogue and self.chat_request.choice.how != "none":
            demand = "\n\n".join(filter(None, [self.catalogue.tell_others(), demand]))
        history = chat_request.history
        if self.source.guided:
            # A11 keeps words and not the call beside them; what is chosen next needs the call.
            history = tuple(
                message._replace(content="") if message.calls else message for message in history
            )
        teach = self.chat_request.choice.how != "none"
        messages = self.tool_prompt.render_messages(history, chat_request.parts, demand, teach)
        return Request(
            messages=(*messages, *self.side, *more),
            tools=tuple(self.chat_request.tools.values()) if self.native else (),
            constraint=constraint,
            stop=self.tool_prompt.dialect.stop,
        )

    def add_usage(self, usage: Usage) -> None:
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
        )

    def make_finish(self, reason: str, dialect: str = "") -> Finish:
        return Finish(reason, *self.usage, dialect=dialect, repairs=self.repairs)


async def stream_answer(
    chat_request: ChatRequest,
    source: ReplySource,
    tool_prompt: ToolPrompt,
    thinks_first: set[str],
    streams_call: Callable[[str], bool],
    catalogue: ToolCatalogue | None = None,
) -> AsyncGenerator[AnswerPart | TextRetracted, None]:
    """The answer, in pieces as it is made. Raises ApiError.

    `streams_call`: whether the client can be shown a call of this tool while it is written.
    """
    dialogue = ToolDialogue(chat_request, source, tool_prompt, thinks_first, catalogue=catalogue)
    dialogue.opening = open_call(dialogue, streams_call)
    async for piece in continue_dialogue(dialogue):
        yield piece


def open_call(dialogue: ToolDialogue, streams_call: Callable[[str], bool]) -> OpeningCall | None:
    """Make the reader that shows a call while it is written; None where it must be whole."""
    chat_request = dialogue.chat_request
    if (
        not (chat_request.stream and chat_request.tools)
        or chat_request.choice.how == "none"
        or dialogue.source.guided
    ):
        return None
    names = [chat_request.choice.name] if chat_request.choice.name else chat_request.tools
    tools = {
        name: chat_request.tools[name] for name in names if name != DESCRIBE and streams_call(name)
    }
    return OpeningCall(tools, dialogue.results)


async def continue_dialogue(
    dialogue: ToolDialogue, tries: int = TRIES
) -> AsyncGenerator[AnswerPart | TextRetracted, None]:
    """Ask until a reply can be used, and yield the answer; some of it may be said already."""
    source = dialogue.source
    behind: list[AnswerPart] = []
    """What is said behind a call that is being written: its client gets one after the other."""
    tries += LOOK_UPS * (dialogue.catalogue is not None)
    for attempt in range(1, tries + 1):
        last = attempt == tries
        silent = is_silent(dialogue, last)
        reading = make_reader(dialogue)
        reply = ModelReply(
            source.reply(dialogue.build_request(constraint=next_step(dialogue)), dialogue.fields),
            reading,
            room=WHOLE,
        )
        async for piece in stream_words(dialogue, reply, silent, reading):
            if isinstance(piece, TextDelta | ReasoningDelta) and dialogue.opened:
                behind.append(piece)
            else:
                yield piece
        note_reply(dialogue, reply, silent)
        found = await find_requests(dialogue, reply)
        note = found.note or dialogue.unmet_demand
        if found.calls or last or not note:
            break
        ask_again(dialogue, found, reply.raw, note)
    calls = found.choose_calls(last)
    for piece in closing_pieces(dialogue, found, calls, behind):
        yield piece
    yield end_answer(dialogue, reply, found.dialect, bool(calls))


def is_silent(dialogue: ToolDialogue, last: bool) -> bool:
    """Whether no words are wanted of a reply: said once, the same is not said in other words."""
    return dialogue.said or (dialogue.must and not last)


def end_answer(dialogue: ToolDialogue, reply: ModelReply, dialect: str, calls: bool) -> Finish:
    if calls:
        return dialogue.make_finish("tool_calls", dialect)
    stopped_at = find_stop_sequence(dialogue.chat_request, reply)
    return dialogue.make_finish(find_finish_reason(reply))._replace(stopped_at=stopped_at)


async def find_requests(dialogue: ToolDialogue, reply: ModelReply) -> "UnderstoodReply":
    """Find what a reply asks for; the tools that it looks up are told to it on the side."""
    compiled, raw = find_in_reasoning(dialogue, reply)
    found = await understand_reply(dialogue, compiled, raw)
    return await look_up_tools(dialogue, dialogue.catalogue, found) if dialogue.catalogue else found


def ask_again(dialogue: ToolDialogue, found: "UnderstoodReply", raw: str, note: str) -> None:
    """Put a reply that cannot be used on the side, and what is wrong with it behind it."""
    if dialogue.opened:
        dialogue.opened.note_unfit(found.unfit)
    dialogue.again = next((call.name for call in found.unfit), "")
    dialogue.side += [
        {"role": "assistant", "content": raw.strip() or "..."},
        {"role": "user", "content": note},
    ]


async def look_up_tools(
    dialogue: ToolDialogue, catalogue: ToolCatalogue, found: "UnderstoodReply"
) -> "UnderstoodReply":
    """Show the model the tools that its reply looks up; the client's calls are left."""
    wanted = [json.loads(call.arguments)["what"] for call in found.calls if call.name == DESCRIBE]
    calls = tuple(call for call in found.calls if call.name != DESCRIBE)
    wanted += [call.name for call in found.unfit]
    if not wanted:
        return found
    names = await catalogue.look_up(wanted)
    shown = catalogue.shorten_request(dialogue.chat_request)
    dialogue.chat_request = shown
    dialogue.tool_prompt = make_tool_prompt(dialogue.tool_prompt.dialect, shown.tools)
    note = found.note or LOOKED_UP.format(", ".join(names))
    return found._replace(calls=calls, note=note)


def note_reply(dialogue: ToolDialogue, reply: ModelReply, silent: bool) -> None:
    """Note what a reply said, and how; `silent`: its client saw none of its words."""
    dialogue.add_usage(reply.usage)
    if reply.compiled.thought_first:
        dialogue.thinks_first.add(dialogue.source.endpoint.model)
    words = reply.compiled.text.strip()
    if silent:
        dialogue.unsaid.append(words)
    elif dialogue.said:
        dialogue.unsaid = [words]


def find_in_reasoning(dialogue: ToolDialogue, reply: ModelReply) -> tuple[CompiledReply, str]:
    """The reply and its text; where it says nothing and asks for nothing, what its reasoning does.

    A server that knows no end of the reasoning takes the calls behind it for a part of it.
    """
    compiled = reply.compiled
    silent = not (compiled.requests or compiled.text.strip())
    if (
        silent
        and compiled.reasoning
        and may_run_calls(reply.finish)
        and dialogue.chat_request.tools
    ):
        again = make_reader(dialogue)
        again.take(Chunk(compiled.reasoning))
        _, found = again.finish()
        if found.requests:
            return found, compiled.reasoning
    return compiled, reply.raw


WHOLE = 2**25
"""Characters of a reply: what is quoted in it is looked up."""


def closing_pieces(
    dialogue: ToolDialogue,
    found: "UnderstoodReply",
    calls: tuple[CompletedCall, ...],
    behind: Sequence[AnswerPart],
) -> Iterator[AnswerPart]:
    """The calls, and what of the answer was not said while it came."""
    words = [*behind, *map(TextDelta, closing_words(dialogue, found))]
    if dialogue.opened:
        yield from dialogue.opened.complete_calls(calls)
    yield from words
    if not dialogue.opened:
        yield from calls


def closing_words(dialogue: ToolDialogue, found: "UnderstoodReply") -> Iterator[str]:
    """Find the words of an answer that were not said while it came."""
    yield from found.shown
    if found.calls or found.unfit:
        return
    words = list(dict.fromkeys(filter(None, dialogue.unsaid)))
    if dialogue.said:
        yield from (f"\n\n{text}" for text in words[1:])
    elif not found.shown:
        # Nothing else was said: what looked like a call, and named no tool, was the answer.
        yield from found.foreign or words[-1:]


def make_reader(dialogue: ToolDialogue) -> Compiler | QuoteAwareParser:
    opened: Opened = "likely" if dialogue.source.endpoint.model in dialogue.thinks_first else ""
    if not dialogue.chat_request.tools:
        return Compiler(Markers([]), reasoning_open=opened)  # nothing is a request
    words = [message.content for message in dialogue.chat_request.history if message.role == "user"]
    make = partial(
        dialogue.tool_prompt.make_compiler,
        wants_code=asks_for_code("".join(words[-1:])),
        opened=opened,
    )
    return QuoteAwareParser(make, partial(is_text, dialogue))


def list_visible_parts(
    dialogue: ToolDialogue, visible: Visible, silent: bool
) -> Iterator[AnswerPart | TextRetracted]:
    if not dialogue.side:
        if visible.retracted:
            yield TextRetracted()
        if visible.reasoning:
            yield ReasoningDelta(visible.reasoning)
    if visible.text and not silent:
        dialogue.said = True
        yield TextDelta(visible.text)


async def stream_words(
    dialogue: ToolDialogue, reply: ModelReply, silent: bool, reading: OpenCallReader
) -> AsyncIterator[AnswerPart | TextRetracted]:
    """Yield what may be shown of a reply as it comes; `silent`: words were not asked for.

    `reading` is who reads the reply.
    """
    failure: ApiError | None = None
    try:
        async for visible in reply:
            for part in list_visible_parts(dialogue, visible, silent):
                yield part
            if dialogue.opening and (more := dialogue.opening.read_more(reading)):
                yield more
    except ApiError as api_error:
        failure = api_error
    if failure is not None:
        held_back = reply.rest.text if dialogue.said and not silent else ""
        if held_back:
            yield TextDelta(held_back)
        raise failure


def find_finish_reason(reply: ModelReply) -> str:
    """Why the reply ended, as far as the client may know: a call that was cut off is no call."""
    if reply.finish in ("length", "content_filter"):
        return reply.finish
    return "stop"


def find_stop_sequence(chat_request: ChatRequest, reply: ModelReply) -> str:
    """The stop sequence that ended it, if the client gave it: notations have some of their own."""
    given = chat_request.fields.get("stop")
    own = given if isinstance(given, list) else [given]
    return reply.stopped_at if reply.stopped_at in own else ""


class UnderstoodReply(NamedTuple):
    """The calls that a reply asks for, and the texts that are none."""

    calls: tuple[CompletedCall, ...] = ()
    shown: tuple[str, ...] = ()
    """Texts of requests that are none: quotations, and what the protocol says aloud."""
    dialect: str = ""
    note: str = ""
    """What the model is told if there is nothing to use."""
    unfit: tuple[CompletedCall, ...] = ()
    """Calls with arguments that do not fit, as the client may see for itself."""
    foreign: tuple[str, ...] = ()
    """Texts of requests that name no tool."""

    def choose_calls(self, last: bool) -> tuple[CompletedCall, ...]:
        """Choose what the client gets: at the end a call that does not fit is better than none."""
        return self.calls or (self.unfit if last else ())


def find_shown_text(dialogue: ToolDialogue, request: ToolRequest, raw: str) -> str | None:
    """Find the text that a request is shown as; None if it is a call."""
    if is_spoken(dialogue, request):
        return find_spoken_text(request)
    return raw[slice(*request.span)] if is_text(dialogue, request, raw) else None


async def understand_reply(
    dialogue: ToolDialogue, compiled: CompiledReply, raw: str
) -> "UnderstoodReply":
    """Sort the requests of a reply into calls and texts. `raw`: the reply as it was written."""
    choice = dialogue.chat_request.choice
    shown: list[str] = []
    foreign: list[str] = []
    note = compiled.fault
    found: list[ResolvedCall] = []
    for request in compiled.requests:
        spoken = find_shown_text(dialogue, request, raw)
        if spoken is not None:
            shown.append(spoken)
        elif choice.how == "none":
            note = note if dialogue.said else WORDS
        else:
            made = await resolve_request(dialogue, request, compiled.dialect)
            if names_no_tool(dialogue, made) and is_unmarked(request, raw):
                foreign.append(raw[slice(*request.span)])
            found += made
    fitting, unfit = sort_by_fit(dialogue, found)
    for resolved in fitting:
        dialogue.repairs += resolved.changes
    return UnderstoodReply(
        make_calls(fitting),
        tuple(filter(None, shown)),
        compiled.dialect,
        next((resolved.fault for resolved in found if resolved.fault), note),
        make_calls(unfit),
        tuple(filter(None, foreign)),
    )


def names_no_tool(dialogue: ToolDialogue, made: Sequence[ResolvedCall]) -> bool:
    tools = dialogue.callable_tools
    return all(resolved.fault and resolved.call.name not in tools for resolved in made)


def sort_by_fit(
    dialogue: ToolDialogue, found: Sequence[ResolvedCall]
) -> tuple[list[ResolvedCall], list[ResolvedCall]]:
    """Sort the calls of known tools: those that fit, and those that do not; as many as may be."""
    request = dialogue.chat_request
    wanted = (
        [request.choice.name]
        if request.choice.name
        else {**dialogue.callable_tools, **request.tools}
    )
    known = [resolved for resolved in found if resolved.call.name in wanted]
    most = None if request.parallel else 1
    fitting = [resolved for resolved in known if not resolved.fault]
    unfit = [resolved for resolved in known if resolved.fault]
    return fitting[:most], unfit[:most]


async def understand_call(dialogue: ToolDialogue, delta: CallDelta) -> Arguments | None:
    """The arguments that were meant by one native call; None if they do not fit."""
    compiler = make_reader(dialogue)
    compiler.take(Chunk(call=delta))
    _, compiled = compiler.finish()
    found = await understand_reply(dialogue, compiled, "")
    return json.loads(found.calls[0].arguments) if len(found.calls) == 1 else None


ALOUD = ("send_chat", "write", "end_turn")
"""Requests of a protocol in which everything is one: they are the answer, and its end."""


def find_spoken_text(request: ToolRequest) -> str:
    text = (request.arguments or {}).get("content")
    return text if isinstance(text, str) and request.name != "end_turn" else ""


def is_spoken(dialogue: ToolDialogue, request: ToolRequest) -> bool:
    return dialogue.tool_prompt.dialect.calls_only and request.name.lower() in ALOUD


def is_text(dialogue: ToolDialogue, request: ToolRequest, raw: str) -> bool:
    """Whether a request is a quotation, or no call is wanted: then its text is text (P9).

    What merely resembles a result is a call: nothing is run here, and who runs it can ask.
    """
    dialect = dialogue.tool_prompt.dialect
    framed = dialect.format_violation is not None or dialect.calls_only
    return not is_spoken(dialogue, request) and (
        (dialogue.chat_request.choice.how == "none" and is_unmarked(request, raw))
        or (request.quoted and not framed)
        or is_quoted(request, raw)
        or is_copied(request, raw, dialogue.results)
    )


def is_unmarked(request: ToolRequest, raw: str) -> bool:
    """Whether it is JSON or code, and may be an answer; with markers it is no text for anybody."""
    return raw[slice(*request.span)].lstrip("`").startswith(("{", "[{", "json", "python", "\n"))


async def resolve_request(
    dialogue: ToolDialogue, request: ToolRequest, dialect: str
) -> tuple[ResolvedCall, ...]:
    named = request._replace(id=new_id(), arguments=unescape_control_tokens(request.arguments))
    written_in = DIALECTS.get(dialect, dialogue.tool_prompt.dialect)
    tools = {**dialogue.callable_tools, **dialogue.tool_prompt.tools}
    offer = OfferedTools(tools, lambda name: False)
    return await resolve_tool_request(named, written_in, offer, make_interviewer(dialogue, named))


def make_calls(resolved: Sequence[ResolvedCall]) -> tuple[CompletedCall, ...]:
    return tuple(
        CompletedCall(
            at,
            f"call_{found.call.id}",
            found.call.name,
            json.dumps(dict(found.call.arguments), ensure_ascii=False),
        )
        for at, found in enumerate(resolved)
    )


def make_interviewer(
    dialogue: ToolDialogue, request: ToolRequest
) -> Callable[[InterviewQuestion], Awaitable[str]]:
    """Puts questions to the model; the side conversation grows (A18)."""
    side: list[Wire] = [
        {"role": "assistant", "content": dialogue.tool_prompt.dialect.write(request)}
    ]

    async def ask(question: InterviewQuestion) -> str:
        side.append({"role": "user", "content": question.text})
        request = dialogue.build_request(side, constrain_answer(dialogue, question))
        fields = {key: value for key, value in dialogue.chat_request.fields.items() if key in KEPT}
        reply = ModelReply(dialogue.source.reply(request, fields), Compiler(Markers([])))
        async for _ in reply:
            pass
        dialogue.add_usage(reply.usage)
        side.append({"role": "assistant", "content": reply.compiled.text})
        return reply.compiled.text

    return ask


KEPT = frozenset("temperature top_p seed frequency_penalty presence_penalty user".split())
"""Fields that mean the same for an answer to a question of ours."""


# What a reply may be.


def next_step(dialogue: ToolDialogue) -> Constraint | None:
    """Constrain the next reply, for sources that can hold a model to it."""
    dialect = dialogue.tool_prompt.dialect
    choice = dialogue.chat_request.choice
    if not dialogue.source.guided:
        return next_reply(dialogue)
    if not dialect.constraint or choice.how == "none":
        return None
    tools = dialogue.tool_prompt.tools
    base = dialect.constraint({choice.name: tools[choice.name]} if choice.name else tools)
    if base.schema:
        return base
    results, _ = collect_results(dialogue.chat_request.history)
    earlier, _ = collect_results(dialogue.chat_request.history, everything=True)
    # What is due is asked for first, and only then what is due of commands alone.
    free = choice.how != "required" or not dialogue.side
    past = earlier[: len(earlier) - len(results)]
    return base._replace(free_text=free, results=(*results,), earlier=(*past,))


def next_reply(dialogue: ToolDialogue) -> Constraint | None:
    """The same for a model that writes by itself: words stay free unless a call is due."""
    chat_request, tool_prompt = dialogue.chat_request, dialogue.tool_prompt
    if dialogue.native or not chat_request.tools or chat_request.choice.how == "none":
        return None
    if dialogue.source.endpoint.model in dialogue.thinks_first:
        return None  # held to a call it could not think first
    tools = {dialogue.due: tool_prompt.tools[dialogue.due]} if dialogue.due else tool_prompt.tools
    due = dialogue.must or bool(dialogue.again)
    if tool_prompt.dialect.constraint is not None:
        return tool_prompt.dialect.constraint(tools, due)
    return call_constraint(tools) if due else None


def constrain_answer(dialogue: ToolDialogue, question: InterviewQuestion) -> Constraint | None:
    return None if dialogue.source.guided else question.constraint


def collect_results(
    history: Sequence[Message], everything: bool = False
) -> tuple[list[str], list[str]]:
    """Collect what tools returned since the user spoke last (or ever), and what users said."""
    words = [message.content for message in history if message.role == "user"]
    start = (
        0
        if everything
        else max((at for at, message in enumerate(history) if message.role == "user"), default=0)
    )
    return [message.content for message in history[start:] if message.role == "tool"], words
