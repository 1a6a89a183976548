"""Sort what a reply of a dialogue says into calls for the client, and texts."""

import json
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from andy_cli.agent.calls.injection import is_copied, is_quoted
from andy_cli.agent.calls.request_resolution import OfferedTools, ResolvedCall, resolve_tool_request
from andy_cli.agent.history.rendering import new_id
from andy_cli.agent.model.reply import ModelReply, may_run_calls
from andy_cli.compiler.compiler import CompiledReply, Compiler, Opened, asks_for_code
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.mapper.mapper import find_tool
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.frontends.serve.answers.quote_aware_parser import QuoteAwareParser
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS
from andy_cli.frontends.serve.wires.answer_parts import ApiError, CompletedCall
from andy_cli.frontends.serve.wires.freeform_tools import fit_freeform_arguments
from andy_cli.messages import CallDelta, Chunk, Constraint, ToolRequest, Wire

WORDS = "Answer in words: no command can be used now."


def find_in_reasoning(dialogue: ToolDialogue, reply: ModelReply) -> tuple[CompiledReply, str]:
    """The reply and its text; where it says nothing and asks for nothing, what its reasoning does.

    A server that knows no end of the reasoning takes the calls after it for a part of it.
    """
    compiled = reply.compiled
    is_silent = not (compiled.requests or compiled.text.strip())
    if (
        is_silent
        and compiled.reasoning
        and may_run_calls(reply.finish)
        and dialogue.chat_request.tools
    ):
        reasoning_reader = make_reader(dialogue)
        reasoning_reader.take(Chunk(compiled.reasoning))
        _, compiled_reasoning = reasoning_reader.finish()
        if compiled_reasoning.requests:
            return compiled_reasoning, compiled.reasoning
    return compiled, reply.raw


def make_reader(dialogue: ToolDialogue) -> Compiler | QuoteAwareParser:
    reasoning_opened: Opened = (
        "likely" if dialogue.source.endpoint.model in dialogue.thinks_first else ""
    )
    if not dialogue.chat_request.tools:
        return Compiler(Markers([]), reasoning_open=reasoning_opened)  # nothing is a request
    words = [message.content for message in dialogue.chat_request.history if message.role == "user"]
    make_compiler = partial(
        dialogue.tool_prompt.make_compiler,
        wants_code=asks_for_code("".join(words[-1:])),
        reasoning_opened=reasoning_opened,
    )
    return QuoteAwareParser(make_compiler, partial(is_text, dialogue))


class UnderstoodReply(NamedTuple):
    """The calls that a reply asks for, and the texts that are none."""

    calls: tuple[CompletedCall, ...] = ()
    shown: tuple[str, ...] = ()
    """Texts of requests that are none: quotations, and what the protocol says aloud."""
    dialect: str = ""
    note: str = ""
    """The note for the model if there is nothing to use."""
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
        return find_spoken_text(request)
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


def find_spoken_text(request: ToolRequest) -> str:
    text = (request.arguments or {}).get("content")
    return text if isinstance(text, str) and request.name != "end_turn" else ""


def is_spoken(dialogue: ToolDialogue, request: ToolRequest) -> bool:
    return dialogue.tool_prompt.dialect.calls_only and request.name.lower() in ALOUD


def is_text(dialogue: ToolDialogue, request: ToolRequest, reply_text: str) -> bool:
    """Tell whether a request is a quotation, or no call is wanted: then its text is text (P9).

    What merely resembles a result is a call: nothing is run here, and who runs it can ask.
    """
    dialect = dialogue.tool_prompt.dialect
    is_framed = dialect.format_violation is not None or dialect.calls_only
    return not is_spoken(dialogue, request) and (
        (dialogue.chat_request.choice.how == "none" and is_unmarked(request, reply_text))
        or (request.quoted and not is_framed)
        or is_quoted(request, reply_text)
        or is_copied(request, reply_text, dialogue.results)
    )


def is_unmarked(request: ToolRequest, reply_text: str) -> bool:
    """Tell whether it is JSON or code, and may be an answer; with markers it is nobody's text."""
    return (
        reply_text[slice(*request.span)].lstrip("`").startswith(("{", "[{", "json", "python", "\n"))
    )


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
    return tuple(
        CompletedCall(
            position,
            f"call_{resolved_call.call.id}",
            resolved_call.call.name,
            json.dumps(dict(resolved_call.call.arguments), ensure_ascii=False),
        )
        for position, resolved_call in enumerate(resolved)
    )


async def ask_aside(
    dialogue: ToolDialogue, side_messages: Sequence[Wire], constraint: Constraint | None
) -> str:
    """Ask the model something that its client never sees; returns its answer."""
    held_to = None if dialogue.source.guided else constraint
    fields = {
        key: value for key, value in dialogue.chat_request.fields.items() if key in KEPT_FIELDS
    }
    replies = dialogue.source.reply(dialogue.build_request(side_messages, held_to), fields)
    reply = await ModelReply(replies, Compiler(Markers([]))).read_whole()
    dialogue.add_usage(reply.usage)
    return reply.compiled.text


KEPT_FIELDS = frozenset("temperature top_p seed frequency_penalty presence_penalty user".split())
"""Fields that mean the same for an answer to a question of ours."""
