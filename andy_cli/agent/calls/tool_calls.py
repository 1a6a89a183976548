"""What a reply asks for is carried out: resolve, ask the gate, run, tell the model.

Nothing here happens before the reply is complete (C27); one thing is done after the other (R12).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence

from andy_cli import events
from andy_cli.agent.calls.clarification import ask_for_clarification
from andy_cli.agent.calls.envelope_plan import (
    NO_TEXT,
    SHOWN,
    TOO_EARLY,
    EnvelopePlan,
    plan_envelope,
)
from andy_cli.agent.calls.injection import unescape_control_tokens
from andy_cli.agent.calls.request_resolution import ResolvedCall, resolve_tool_request
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding.claim import Deed
from andy_cli.agent.history.result_pairing import new_id
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.turn_state import REPEATED, TurnState
from andy_cli.events import Event
from andy_cli.guard.gate import ApprovalRequest, Decision
from andy_cli.messages import Effect, Message, Status, ToolCall, ToolRequest, ToolResult

UNFIT = "it was not clear with what"


async def run_tool_calls(
    chat: Conversation, state: TurnState, reply: ModelReply
) -> AsyncIterator[Event]:
    """Show what the reply says, put its calls in the history, run them in order, tell the model."""
    compiled = reply.compiled
    plan = plan_envelope(compiled.requests, chat.registry.answers, chat.text_of)
    allowed = plan.requests[: chat.limits.calls_per_reply]
    left_out = len(plan.requests) - len(allowed)
    if left_out:
        yield events.Failed("warning", "limit", f"Only {len(allowed)} steps of one reply are done.")
    resolved = await resolve_requests(chat, allowed, compiled.dialect)
    calls = tuple(each.call for _, each in resolved)
    text = "\n\n".join(filter(None, [compiled.text, *plan.said]))
    written = tuple(restore_written_call(*each) for each in resolved)
    chat.add(Message("assistant", text, written, reasoning=compiled.reasoning))
    for each in plan.said:
        event = state.say(chat.sanitized(each))
        if not state.rewriting:  # then it is shown when it has been looked at
            yield event
    open_calls = list(calls)
    try:
        for request, step in resolved:
            async for event in run_tool_call(chat, state, reply, request, step):
                yield event
            open_calls.remove(step.call)
            if state.over:
                break
    except BaseException as error:
        for event in report_cancelled(chat, open_calls, error):
            yield event
        await cancel_pending(chat, open_calls, "interrupted by the user")
        raise
    await cancel_pending(chat, open_calls, "not done: the turn was stopped")
    append_feedback(chat, state, reply, plan, len(allowed) if left_out else 0)


def restore_written_call(request: ToolRequest, resolved: ResolvedCall) -> ToolCall:
    """The call as the history keeps it: a corrected one with the arguments that the model wrote."""
    call, own = resolved.call, request.arguments
    whole = own is not None and request.id == call.id  # one of several has only its part
    return call._replace(arguments=own) if whole and own and resolved.changes else call


def describe_lost_values(request: ToolRequest, resolved: ResolvedCall) -> str:
    """What the model is told of a correction by which something that it wrote was not used."""
    written, used = (
        flatten_values(dict(request.arguments or {})),
        flatten_values(dict(resolved.call.arguments)),
    )
    if resolved.fault or set(written) <= set(used):
        return ""
    return f"\n\n(Corrected before it was run: {'; '.join(resolved.changes)}.)"


def flatten_values(value: object) -> list[str]:
    """The single values in arguments, as text."""
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in flatten_values(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in flatten_values(inner)]
    return [str(value).strip().lower()]


def append_feedback(
    chat: Conversation, state: TurnState, reply: ModelReply, plan: EnvelopePlan, done: int
) -> None:
    """Say behind the results what the model has to know, and note how it wrote."""
    compiled = reply.compiled
    note = compose_feedback(state, plan, compiled.fault, done)
    state.done = plan.ends and not note
    if state.repeated:
        note, state.repeated = "\n".join(filter(None, [note, REPEATED])), False
    if note or not (plan.requests or state.done):
        chat.add(Message("user", note or SHOWN, note=True))
    if any(not each.quoted for each in compiled.requests):
        chat.follow(compiled.dialect)


def compose_feedback(state: TurnState, plan: EnvelopePlan, fault: str, done: int) -> str:
    """What the model is told behind the results; `done` of too many requests were carried out."""
    notes = [
        TOO_EARLY if plan.held_back else "",
        NO_TEXT if plan.unsaid and state.may_resend() else "",
        f"Only the first {done} requests of your reply were done." if done else "",
        fault if fault and state.may_resend() else "",
    ]
    return "\n".join(filter(None, notes))


def report_cancelled(
    chat: Conversation, calls: Sequence[ToolCall], error: BaseException
) -> Iterator[Event]:
    """Say which step was under way when the user stopped the turn."""
    tool = chat.registry.get(calls[0].name) if calls else None
    if tool and isinstance(error, asyncio.CancelledError):
        action = tool.intent(calls[0].arguments)
        yield events.ToolAnswered(calls[0].id, Status.CANCELLED, did=action)


async def cancel_pending(chat: Conversation, calls: list[ToolCall], why: str) -> None:
    """Calls that were not run get a result all the same: no call may stand without one."""
    for call in calls:
        await chat.tell(ToolResult(call.id, call.name, why, Status.CANCELLED))
        tool = chat.registry.get(call.name)
        if tool is not None:
            record_action(chat, call, tool.effect, Status.CANCELLED, tool.intent(call.arguments))


def record_action(
    chat: Conversation,
    call: ToolCall,
    effect: Effect,
    status: Status,
    action: str,
    did: str = "",
    problem: str = "",
) -> None:
    """Note a call among the deeds of the turn."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
    chat.deeds.append(Deed(call.name, effect, action, did, status, arguments, problem))


async def resolve_requests(
    chat: Conversation, requests: Sequence[ToolRequest], written_in: str
) -> list[tuple[ToolRequest, ResolvedCall]]:
    """In the dialect they were written in, which need not be the one that was taught."""
    dialect = chat.dialects[written_in]
    found: list[tuple[ToolRequest, ResolvedCall]] = []
    used = {call.id for message in chat.history for call in message.calls}
    for request in requests:
        # Some models count from one again in every reply.
        fresh = request.id and request.id not in used
        written = unescape_control_tokens(request.arguments)
        named = request._replace(id=request.id if fresh else new_id(), arguments=written)
        used.add(named.id)
        steps = await resolve_tool_request(
            named, dialect, chat.offer, chat.interviewer(dialect, named)
        )
        found += [(named, each) for each in steps]
    return found


async def run_tool_call(
    chat: Conversation,
    state: TurnState,
    reply: ModelReply,
    request: ToolRequest,
    resolved: ResolvedCall,
) -> AsyncIterator[Event]:
    """Run one call, if it may be run, and put the result where the model will look for it."""
    call = resolved.call
    tool = chat.registry.get(call.name)
    effect, action = (tool.effect, tool.intent({})) if tool else (Effect.PROTOCOL, "")
    if resolved.changes:
        state.changes += resolved.changes
        yield events.Corrected(call.id, resolved.changes)
    if resolved.fault:
        result = ToolResult(call.id, call.name, resolved.fault, Status.FAILED, problem=UNFIT)
        count_misfit(chat, state, resolved)
        yield events.ToolUsed(call.id, call.name, call.arguments, "")
    else:
        # In a protocol that is one object its own fence is framing.
        framed = reply.compiled.dialect == chat.dialect.name and chat.whole_reply
        quoted = request.quoted and not framed
        proposal = chat.proposal(call, chat.not_its_own(request, call, reply.raw, quoted))
        proposal = proposal._replace(guessed=resolved.doubtful)
        effect, action = proposal.effect, proposal.action
        yield events.ToolUsed(call.id, call.name, call.arguments, proposal.action)
        verdict = await chat.consent(call, proposal)
        if verdict.asked:
            decision: events.Decision = "allowed" if verdict.allowed else "denied"
            yield events.Consented(call.id, proposal.effect.value, decision, verdict.reason)
        if effect is Effect.RUN and verdict.harmless:
            effect = Effect.READ
        result = await execute_call(chat, call, proposal, verdict)
        if result.status is Status.DENIED and request.quoted:
            for event in show_as_text(state, reply, request):
                yield event
    state.count(result)
    problem = result.partial if result.ok else result.problem
    record_action(chat, call, effect, result.status, action, result.did, problem)
    await chat.tell(result, describe_lost_values(request, resolved) if resolved.changes else "")
    guard_against_loops(chat, state, call, result)
    output, error = (result.content, "") if result.ok else ("", result.content)
    yield events.ToolAnswered(
        call.id,
        result.status,
        output,
        error,
        result.seconds,
        result.did,
        problem,
        result.display,
    )


async def execute_call(
    chat: Conversation, call: ToolCall, proposal: ApprovalRequest, verdict: Decision
) -> ToolResult:
    if verdict.allowed:
        return await chat.run(call, proposal.action, verdict.granted)
    if proposal.fault:
        failed = ToolResult(call.id, call.name, proposal.fault, Status.FAILED, did=proposal.action)
        return failed._replace(problem=proposal.problem)
    return make_denied_result(call, proposal.action, verdict.reason)


def show_as_text(state: TurnState, reply: ModelReply, request: ToolRequest) -> Iterator[Event]:
    """A quoted request that is not run was an example after all: its text is not lost."""
    start, end = request.span
    text = f"\n\n{reply.raw[start:end]}\n\n"
    state.answer += f"{reply.compiled.text}{text}"
    yield events.Said("assistant", text, delta=True)


def count_misfit(chat: Conversation, state: TurnState, resolved: ResolvedCall) -> None:
    """The model is told once what does not fit; the second time the user is asked (C16)."""
    if state.misfit():
        tool = chat.registry.get(resolved.call.name)
        action = tool.intent({}) if tool else ""
        schema = tool.function if tool else None
        state.ask(ask_for_clarification(action, schema, resolved.problems))


def make_denied_result(call: ToolCall, action: str, reason: str) -> ToolResult:
    words = f"This was not allowed: {reason.rstrip('.')}. Do not try it again; tell the user."
    return ToolResult(call.id, call.name, words, Status.DENIED, did=action)


def guard_against_loops(
    chat: Conversation, state: TurnState, call: ToolCall, result: ToolResult
) -> None:
    repeats = state.repeats(call, result)
    if repeats >= chat.limits.repeats:
        state.stop(f"Stopped: the same step gave the same result {repeats} times.")
    elif state.calls >= chat.limits.calls:
        state.stop(f"Stopped after {state.calls} steps.")
    elif repeats > 1:
        state.repeated = True
