"""Do what a reply asks for: resolve its requests, ask the gate, run the tools, tell the model.

Nothing here happens before the reply is complete (C27); one thing is done after the other (R12).

In a protocol that carries everything a model speaks by `send_chat` and ends its turn by `end_turn`
(B4 to B12). They are notation, not actions: neither is ever run, and the history holds the text
they carried.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from andy_cli import events
from andy_cli.agent.calls.injection import flatten_values, is_example
from andy_cli.agent.calls.request_resolution import (
    USE_EXISTING_TOOL,
    ResolvedCall,
    ask_for_clarification,
    resolve_tool_request,
)
from andy_cli.agent.calls.tool_runner import InjectionReason
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.history import new_id
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.turn_state import TurnState
from andy_cli.events import Event
from andy_cli.guard.gate import ApprovalRequest, Decision
from andy_cli.messages import Arguments, Effect, Message, Status, ToolCall, ToolRequest, ToolResult
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.tool import words_of_name

SPOKEN, ENDED = "send_chat", "end_turn"
TOO_EARLY = (
    "What you wrote for the user after that was not shown, for the results were not known yet:"
    " say it now that they are."
)
NO_TEXT = "send_chat needs the text for the user as content: write it again with it."
SHOWN = "This was shown to the user. Go on, or end your turn with end_turn."


class ReplyPlan(NamedTuple):
    """The texts and requests of one reply, in the order in which they are carried out."""

    texts: tuple[str, ...]
    """Shown at once, before anything is run."""
    requests: tuple[ToolRequest, ...]
    held_back: bool = False
    """Texts were written after a request whose result they could not know (R7)."""
    unsaid: bool = False
    """Something was to be said, and its text was missing."""
    ends: bool = False


TextReader = Callable[[ToolRequest], str | None]


def plan_reply(
    requests: Sequence[ToolRequest], answers: Callable[[str], bool], text_of: TextReader
) -> ReplyPlan:
    """Plan the requests of one reply: by priority, then as written (B12, R12).

    `answers`: whether a tool has a result that the model waits for. `text_of`: what a request
    to say something says; None if there is no text in it. What stands after `end_turn` is not
    done.
    """
    names = [request.name for request in requests]
    end_position = names.index(ENDED) if ENDED in names else len(requests)
    texts: list[str] = []
    to_run: list[ToolRequest] = []
    waiting = held_back = unsaid = False
    for request in sorted(requests[:end_position], key=lambda request: -request.priority):
        if request.name != SPOKEN:
            to_run.append(request)
            waiting = waiting or answers(request.name)
        elif waiting:
            held_back = True
        elif (text := text_of(request)) is not None:
            texts.append(text)
        else:
            unsaid = True
    # A claim about results that are owed has to wait for them: the end is put off.
    ends_turn = end_position < len(requests) and not (waiting or unsaid)
    return ReplyPlan(tuple(filter(str.strip, texts)), tuple(to_run), held_back, unsaid, ends_turn)


REPEATED = "You did this before and got the same result. Go on with what you know."
UNCLEAR_ARGUMENTS = "it was not clear with what"
INVALID_ARGUMENTS = "what it was given does not fit"
UNCLEAR_RULES = ("required", "name")
"""The rules that a call breaks of which something is missing: a value, or the tool itself."""
VANISHED = "its server has ended"


@dataclass(slots=True)
class CallRun:
    """The run of one call, and its result."""

    effect: Effect
    action: str
    """The action of the call, in words."""
    result: ToolResult


async def run_tool_calls(
    conversation: Conversation, state: TurnState, reply: ModelReply
) -> AsyncIterator[Event]:
    """Show what the reply says, put its calls in the history, run them in order, tell the model."""
    compiled = reply.compiled
    if repeats_examples(conversation, state, reply):
        accept_examples(conversation, state, reply)
        return
    reply_plan = plan_reply(
        compiled.requests, conversation.registry.answers, conversation.tools.read_spoken_text
    )
    allowed = reply_plan.requests[: conversation.limits.calls_per_reply]
    are_cut = len(allowed) < len(reply_plan.requests)
    limit = f"only {len(allowed)} steps of one reply are done"
    if are_cut:
        yield events.Failed("warning", "limit", f"{limit.capitalize()}.")
    calls = await resolve_requests(conversation, allowed, compiled.dialect)
    text = "\n\n".join(filter(None, [compiled.text, *reply_plan.texts]))
    written = tuple(restore_written_call(resolved) for resolved in calls)
    conversation.history.add(Message("assistant", text, written, reasoning=compiled.reasoning))
    for event in show_texts(conversation, state, reply_plan):
        yield event
    async for event in run_in_order(conversation, state, reply, calls):
        yield event
    # After those that were done: none of them makes up for one that was not.
    conversation.tools.record_left_out(reply_plan.requests[len(allowed) :], limit)
    append_feedback(conversation, state, reply, reply_plan, len(allowed) if are_cut else 0)


def show_texts(
    conversation: Conversation, state: TurnState, reply_plan: ReplyPlan
) -> Iterator[Event]:
    """Show what the calls of an envelope say; while an answer is rewritten, later."""
    texts = [conversation.sanitizer.sanitize(text) for text in reply_plan.texts]
    if texts and not reply_plan.requests and state.answer.endswith("\n\n".join(texts)):
        state.is_done = True  # a reply that says what the last one said, and nothing else
        return
    for text in texts:
        event = state.append_paragraph(text)
        if not state.rejected_answer:
            yield event


async def run_in_order(
    conversation: Conversation, state: TurnState, reply: ModelReply, calls: Sequence[ResolvedCall]
) -> AsyncIterator[Event]:
    """Run the calls until one ends the turn; whatever happens, each has a result afterwards."""
    pending = [resolved.call for resolved in calls]
    try:
        for resolved in calls:
            async for event in run_tool_call(conversation, state, reply, resolved):
                yield event
            pending.remove(resolved.call)
            if state.is_over:
                break
    except BaseException as error:
        for event in report_cancelled(conversation, pending, error):
            yield event
        await cancel_pending(conversation, pending, "interrupted by the user")
        raise
    await cancel_pending(conversation, pending, "not done: the turn was stopped")


def restore_written_call(resolved: ResolvedCall) -> ToolCall:
    """Restore the arguments that the model wrote, as the history keeps them of a corrected call."""
    request, call = resolved.request, resolved.call
    # One of several has only its part.
    if request.arguments and resolved.changes and request.id == call.id:
        return call._replace(arguments=request.arguments)
    return call


def describe_lost_values(resolved: ResolvedCall) -> str:
    """Tell the model of a correction by which something that it wrote was not used."""
    if not resolved.changes or resolved.fault:
        return ""
    if fold_values(resolved.request.arguments or {}) <= fold_values(resolved.call.arguments):
        return ""
    return f"\n\n(Corrected before it was run: {'; '.join(resolved.changes)}.)"


def fold_values(arguments: Arguments) -> set[str]:
    """Fold all values of arguments, for comparing what was written with what is used."""
    return {str(value).strip().lower() for value in flatten_values(dict(arguments))}


def append_feedback(
    conversation: Conversation,
    state: TurnState,
    reply: ModelReply,
    reply_plan: ReplyPlan,
    done_count: int,
) -> None:
    """Say after the results what the model has to know, and note how it wrote."""
    compiled = reply.compiled
    note = compose_feedback(state, reply_plan, compiled.fault, done_count)
    state.ended_by_call = reply_plan.ends and not note
    state.is_done = state.is_done or state.ended_by_call
    if state.has_repeated:
        note, state.has_repeated = "\n".join(filter(None, [note, REPEATED])), False
    if note or not (reply_plan.requests or state.is_done):
        conversation.history.add(Message("user", note or SHOWN, note=True))
    if any(not request.quoted for request in compiled.requests):
        conversation.model.follow_dialect(compiled.dialect)


def compose_feedback(state: TurnState, reply_plan: ReplyPlan, fault: str, done_count: int) -> str:
    """Compose what the model is told after the results.

    `done_count`: so many of too many requests.
    """
    notes: list[str] = []
    if reply_plan.held_back:
        notes.append(TOO_EARLY)
    if reply_plan.unsaid and state.count_resend():
        notes.append(NO_TEXT)
    if done_count:
        notes.append(f"Only the first {done_count} requests of your reply were done.")
    if fault and state.count_resend():
        notes.append(fault)
    return "\n".join(notes)


def report_cancelled(
    conversation: Conversation, pending: Sequence[ToolCall], error: BaseException
) -> Iterator[Event]:
    """Say which step was under way when the user stopped the turn."""
    tool = conversation.registry.get(pending[0].name) if pending else None
    if tool and isinstance(error, asyncio.CancelledError):
        action = tool.intent(pending[0].arguments)
        yield events.ToolAnswered(pending[0].id, Status.CANCELLED, did=action)


async def cancel_pending(
    conversation: Conversation, pending: Sequence[ToolCall], reason: str
) -> None:
    """Give the calls that were not run a result: no call may stand without one."""
    for call in pending:
        may_be_done = conversation.tools.may_be_done(call)
        content = f"{reason}; it may have been done all the same" if may_be_done else reason
        result = ToolResult(call.id, call.name, content, Status.CANCELLED, may_be_done=may_be_done)
        await conversation.add_result(result)
        tool = conversation.registry.get(call.name)
        if tool is not None:
            action = tool.intent(call.arguments)
            conversation.tools.record_result(call, tool.effect, action, result)


async def resolve_requests(
    conversation: Conversation, requests: Sequence[ToolRequest], written_in: str
) -> list[ResolvedCall]:
    """Resolve requests in the dialect they were written in, which need not be the taught one."""
    dialect = conversation.model.dialects[written_in]
    calls: list[ResolvedCall] = []
    used_ids = {call.id for message in conversation.history.messages for call in message.calls}
    for request in requests:
        # Some models count from one again in every reply.
        is_fresh = request.id and request.id not in used_ids
        identified = request._replace(id=request.id if is_fresh else new_id())
        used_ids.add(identified.id)
        offer = conversation.tools.offer(conversation.model.profile.known)
        calls += await resolve_tool_request(
            identified, dialect, offer, conversation.requests.ask_aside
        )
    return calls


async def run_tool_call(
    conversation: Conversation, state: TurnState, reply: ModelReply, resolved: ResolvedCall
) -> AsyncIterator[Event]:
    """Run one call, if it may be run, and put the result where the model will look for it."""
    call = resolved.call
    tool = conversation.registry.get(call.name)
    effect, action = (tool.effect, tool.intent({})) if tool else (Effect.PROTOCOL, "")
    if resolved.changes:
        state.corrections += resolved.changes
        yield events.Corrected(call.id, resolved.changes)
    problem = explain_rejection(resolved)
    rejected = ToolResult(call.id, call.name, resolved.fault, Status.FAILED, problem=problem)
    call_run = CallRun(effect, action, rejected)
    if resolved.fault:
        count_invalid_call(conversation, state, resolved)
        yield events.ToolUsed(call.id, call.name, call.arguments, "")
    elif tool is None:
        call_run.action, call_run.result = report_vanished_tool(call)
        yield events.ToolUsed(call.id, call.name, call.arguments, call_run.action)
    else:
        async for event in approve_and_execute(conversation, state, reply, resolved, call_run):
            yield event
    result = call_run.result
    state.count_result(result)
    await conversation.add_result(result, describe_lost_values(resolved))
    conversation.tools.record_result(call, call_run.effect, call_run.action, result)
    guard_against_loops(conversation, state, call, result)
    output, error = (result.content, "") if result.ok else ("", result.content)
    problem = result.partial if result.ok else result.problem
    yield events.ToolAnswered(
        call.id, result.status, output, error, result.seconds, result.did, problem, result.display
    )


def explain_rejection(resolved: ResolvedCall) -> str:
    """Explain to the user why a request was not taken for a call, by its first problem."""
    rule = resolved.problems[0].rule if resolved.problems else "required"
    return UNCLEAR_ARGUMENTS if rule in UNCLEAR_RULES else INVALID_ARGUMENTS


async def approve_and_execute(
    conversation: Conversation,
    state: TurnState,
    reply: ModelReply,
    resolved: ResolvedCall,
    call_run: CallRun,
) -> AsyncIterator[Event]:
    """Ask the gate about a call that fits, and run it; how that ended is noted in `call_run`."""
    request, call = resolved.request, resolved.call
    # In a protocol that is one object its own fence is framing.
    is_framed = (
        reply.compiled.dialect == conversation.dialect.name
        and conversation.model.profile.is_one_object
    )
    proposed = conversation.tools.propose(call)._replace(guessed=resolved.guessed)
    injection_reason = conversation.tools.find_injection_reason(
        request, proposed.effect, reply.raw, request.quoted and not is_framed
    )
    approval_request = conversation.tools.add_doubt(proposed, injection_reason)
    call_run.effect, call_run.action = approval_request.effect, approval_request.action
    yield events.ToolUsed(call.id, call.name, call.arguments, approval_request.action)
    decision = await conversation.tools.decide(call, approval_request)
    for event in report_decision(call, approval_request, decision):
        yield event
    if call_run.effect is Effect.RUN and decision.needed_no_consent:
        call_run.effect = Effect.READ
    call_run.result = await conversation.tools.execute(call, approval_request, decision)
    if injection_reason is InjectionReason.QUOTED and not call_run.result.ok:
        for event in show_as_text(conversation, state, reply, call.name):
            yield event


def report_decision(
    call: ToolCall, approval_request: ApprovalRequest, decision: Decision
) -> Iterator[Event]:
    """Report an answer of the user, or that a call is refused without asking."""
    is_refused = not decision.allowed and not approval_request.fault
    if decision.asked or is_refused:
        word: events.DecisionWord = "allowed" if decision.allowed else "denied"
        yield events.Consented(call.id, approval_request.effect.value, word, decision.reason)


def report_vanished_tool(call: ToolCall) -> tuple[str, ToolResult]:
    """Say that a tool went away after the reply that asks for it, as with its MCP server."""
    content = f"{call.name} is no longer there: the server that has it ended. {USE_EXISTING_TOOL}"
    result = ToolResult(call.id, call.name, content, Status.FAILED, problem=VANISHED)
    return f"use {words_of_name(call.name)}", result


def list_example_spans(reply: ModelReply) -> list[tuple[int, int]]:
    requests = reply.compiled.requests
    return [request.span for request in requests if is_example(request, reply.raw)]


def repeats_examples(conversation: Conversation, state: TurnState, reply: ModelReply) -> bool:
    """Tell whether a reply that was shown, as its requests may be examples, is written again."""
    spans = list_example_spans(reply)
    if not state.examples or len(spans) < len(reply.compiled.requests):
        return False
    text = conversation.model.profile.read_as_text(reply.raw, spans)
    return state.answer.strip().endswith(text.strip())


def accept_examples(conversation: Conversation, state: TurnState, reply: ModelReply) -> None:
    """Accept a reply that is written again as it was, although its requests were to be written
    alone: they are examples, and it is the answer."""
    conversation.history.add(Message("assistant", reply.compiled.text))
    state.answer, state.is_done = state.answer.rstrip(), True


def show_as_text(
    conversation: Conversation, state: TurnState, reply: ModelReply, tool_name: str
) -> Iterator[Event]:
    """Show a reply with the requests that are not run, once: they were examples after all, and
    their text is not lost."""
    spans, compiled = list_example_spans(reply), reply.compiled
    text = conversation.model.profile.read_as_text(reply.raw, spans)
    state.examples[tool_name] = text
    if state.example_round == state.rounds:
        return
    state.example_round = state.rounds
    # The words before the first of them are on the screen already.
    written = "\n\n".join(reply.raw[start:end] for start, end in spans)
    rest = text.removeprefix(compiled.text) if text.startswith(compiled.text) else f"\n\n{written}"
    state.append_paragraph(text)
    state.answer += "\n\n"
    yield events.Said("assistant", f"{rest}\n\n", delta=True)


def count_invalid_call(
    conversation: Conversation, state: TurnState, resolved: ResolvedCall
) -> None:
    """Count a request that does not fit; the second time in a row the user is asked (C16)."""
    if state.repeats_invalid_call():
        tool = conversation.registry.get(resolved.call.name)
        action = tool.intent({}) if tool else ""
        schema = tool.function if tool else None
        state.ask_user(ask_for_clarification(action, schema, resolved.problems))


def guard_against_loops(
    conversation: Conversation, state: TurnState, call: ToolCall, result: ToolResult
) -> None:
    """Stop a turn that does the same again and again, or too much."""
    repeats = state.count_repeats(call, result)
    if repeats >= conversation.limits.repeats:
        state.stop(f"Stopped: the same step gave the same result {repeats} times.")
        state.is_looping = True
    elif state.calls >= conversation.limits.calls:
        state.stop(f"Stopped after {count_noun(state.calls, 'step')}.")
    elif repeats > 1:
        state.has_repeated = True
