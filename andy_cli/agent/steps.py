"""What a reply asks for is carried out: resolve, ask the gate, run, tell the model.

Nothing here happens before the reply is complete (C27); one thing is done after the other (R12).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding.claim import Deed
from andy_cli.agent.guidance import guidance
from andy_cli.agent.injection import unescape_control_tokens
from andy_cli.agent.pairs import new_id
from andy_cli.agent.protocol import NO_TEXT, SHOWN, TOO_EARLY, Plan, planned
from andy_cli.agent.reply import Reply
from andy_cli.agent.resolve import Resolved, resolve
from andy_cli.agent.tally import REPEATED, Tally
from andy_cli.events import Event
from andy_cli.guard.gate import ApprovalRequest, Decision
from andy_cli.messages import Effect, Message, Status, ToolCall, ToolRequest, ToolResult

UNFIT = "it was not clear with what"


async def carried_out(chat: Conversation, tally: Tally, reply: Reply) -> AsyncIterator[Event]:
    """Show what the reply says, put its calls in the history, run them in order, tell the model."""
    compiled = reply.compiled
    plan = planned(compiled.requests, chat.registry.answers, chat.text_of)
    allowed = plan.requests[: chat.limits.calls_per_reply]
    left_out = len(plan.requests) - len(allowed)
    if left_out:
        yield events.Failed("warning", "limit", f"Only {len(allowed)} steps of one reply are done.")
    resolved = await understood(chat, allowed, compiled.dialect)
    calls = tuple(each.call for _, each in resolved)
    text = "\n\n".join(filter(None, [compiled.text, *plan.said]))
    written = tuple(as_written(*each) for each in resolved)
    chat.add(Message("assistant", text, written, reasoning=compiled.reasoning))
    for each in plan.said:
        event = tally.say(chat.sanitized(each))
        if not tally.rewriting:  # then it is shown when it has been looked at
            yield event
    open_calls = list(calls)
    try:
        for request, step in resolved:
            async for event in answered(chat, tally, reply, request, step):
                yield event
            open_calls.remove(step.call)
            if tally.over:
                break
    except BaseException as error:
        for event in stopped(chat, open_calls, error):
            yield event
        await leave(chat, open_calls, "interrupted by the user")
        raise
    await leave(chat, open_calls, "not done: the turn was stopped")
    wind_up(chat, tally, reply, plan, len(allowed) if left_out else 0)


def as_written(request: ToolRequest, resolved: Resolved) -> ToolCall:
    """The call as the history keeps it: a corrected one with the arguments that the model wrote."""
    call, own = resolved.call, request.arguments
    whole = own is not None and request.id == call.id  # one of several has only its part
    return call._replace(arguments=own) if whole and own and resolved.changes else call


def lost_in(request: ToolRequest, resolved: Resolved) -> str:
    """What the model is told of a correction by which something that it wrote was not used."""
    written, used = leaves(dict(request.arguments or {})), leaves(dict(resolved.call.arguments))
    if resolved.fault or set(written) <= set(used):
        return ""
    return f"\n\n(Corrected before it was run: {'; '.join(resolved.changes)}.)"


def leaves(value: object) -> list[str]:
    """The single values in arguments, as text."""
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [str(value).strip().lower()]


def wind_up(chat: Conversation, tally: Tally, reply: Reply, plan: Plan, done: int) -> None:
    """Say behind the results what the model has to know, and note how it wrote."""
    compiled = reply.compiled
    note = after(tally, plan, compiled.fault, done)
    tally.done = plan.ends and not note
    if tally.repeated:
        note, tally.repeated = "\n".join(filter(None, [note, REPEATED])), False
    if note or not (plan.requests or tally.done):
        chat.add(Message("user", note or SHOWN, note=True))
    if any(not each.quoted for each in compiled.requests):
        chat.follow(compiled.dialect)


def after(tally: Tally, plan: Plan, fault: str, done: int) -> str:
    """What the model is told behind the results; `done` of too many requests were carried out."""
    notes = [
        TOO_EARLY if plan.held_back else "",
        NO_TEXT if plan.unsaid and tally.may_resend() else "",
        f"Only the first {done} requests of your reply were done." if done else "",
        fault if fault and tally.may_resend() else "",
    ]
    return "\n".join(filter(None, notes))


def stopped(chat: Conversation, calls: Sequence[ToolCall], error: BaseException) -> Iterator[Event]:
    """Say which step was under way when the user stopped the turn."""
    tool = chat.registry.get(calls[0].name) if calls else None
    if tool and isinstance(error, asyncio.CancelledError):
        action = tool.intent(calls[0].arguments)
        yield events.ToolAnswered(calls[0].id, Status.CANCELLED, did=action)


async def leave(chat: Conversation, calls: list[ToolCall], why: str) -> None:
    """Calls that were not run get a result all the same: no call may stand without one."""
    for call in calls:
        await chat.tell(ToolResult(call.id, call.name, why, Status.CANCELLED))
        tool = chat.registry.get(call.name)
        if tool is not None:
            note_deed(chat, call, tool.effect, Status.CANCELLED, tool.intent(call.arguments))


def note_deed(
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


async def understood(
    chat: Conversation, requests: Sequence[ToolRequest], written_in: str
) -> list[tuple[ToolRequest, Resolved]]:
    """In the dialect they were written in, which need not be the one that was taught."""
    dialect = chat.dialects[written_in]
    found: list[tuple[ToolRequest, Resolved]] = []
    used = {call.id for message in chat.history for call in message.calls}
    for request in requests:
        # Some models count from one again in every reply.
        fresh = request.id and request.id not in used
        written = unescape_control_tokens(request.arguments)
        named = request._replace(id=request.id if fresh else new_id(), arguments=written)
        used.add(named.id)
        steps = await resolve(named, dialect, chat.offer, chat.interviewer(dialect, named))
        found += [(named, each) for each in steps]
    return found


async def answered(
    chat: Conversation, tally: Tally, reply: Reply, request: ToolRequest, resolved: Resolved
) -> AsyncIterator[Event]:
    """Run one call, if it may be run, and put the result where the model will look for it."""
    call = resolved.call
    tool = chat.registry.get(call.name)
    effect, action = (tool.effect, tool.intent({})) if tool else (Effect.PROTOCOL, "")
    if resolved.changes:
        tally.changes += resolved.changes
        yield events.Corrected(call.id, resolved.changes)
    if resolved.fault:
        result = ToolResult(call.id, call.name, resolved.fault, Status.FAILED, problem=UNFIT)
        misunderstood(chat, tally, resolved)
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
        result = await outcome(chat, call, proposal, verdict)
        if result.status is Status.DENIED and request.quoted:
            for event in shown_as_text(tally, reply, request):
                yield event
    tally.count(result)
    problem = result.partial if result.ok else result.problem
    note_deed(chat, call, effect, result.status, action, result.did, problem)
    await chat.tell(result, lost_in(request, resolved) if resolved.changes else "")
    guard_against_loops(chat, tally, call, result)
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


async def outcome(
    chat: Conversation, call: ToolCall, proposal: ApprovalRequest, verdict: Decision
) -> ToolResult:
    if verdict.allowed:
        return await chat.run(call, proposal.action, verdict.granted)
    if proposal.fault:
        failed = ToolResult(call.id, call.name, proposal.fault, Status.FAILED, did=proposal.action)
        return failed._replace(problem=proposal.problem)
    return denied(call, proposal.action, verdict.reason)


def shown_as_text(tally: Tally, reply: Reply, request: ToolRequest) -> Iterator[Event]:
    """A quoted request that is not run was an example after all: its text is not lost."""
    start, end = request.span
    text = f"\n\n{reply.raw[start:end]}\n\n"
    tally.answer += f"{reply.compiled.text}{text}"
    yield events.Said("assistant", text, delta=True)


def misunderstood(chat: Conversation, tally: Tally, resolved: Resolved) -> None:
    """The model is told once what does not fit; the second time the user is asked (C16)."""
    if tally.misfit():
        tool = chat.registry.get(resolved.call.name)
        action = tool.intent({}) if tool else ""
        schema = tool.function if tool else None
        tally.ask(guidance(action, schema, resolved.problems))


def denied(call: ToolCall, action: str, reason: str) -> ToolResult:
    words = f"This was not allowed: {reason.rstrip('.')}. Do not try it again; tell the user."
    return ToolResult(call.id, call.name, words, Status.DENIED, did=action)


def guard_against_loops(
    chat: Conversation, tally: Tally, call: ToolCall, result: ToolResult
) -> None:
    repeats = tally.repeats(call, result)
    if repeats >= chat.limits.repeats:
        tally.stop(f"Stopped: the same step gave the same result {repeats} times.")
    elif tally.calls >= chat.limits.calls:
        tally.stop(f"Stopped after {tally.calls} steps.")
    elif repeats > 1:
        tally.repeated = True
