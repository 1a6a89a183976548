"""One turn: the user speaks, the model calls tools until it answers.

Read this file first. Everything else is a collaborator it names.
"""

from collections.abc import AsyncIterator, Iterator

from andy_cli import events
from andy_cli.agent.conversation import Conversation, new_id
from andy_cli.agent.grounding import unsupported
from andy_cli.agent.reply import Reply
from andy_cli.agent.resolve import Resolved, resolve
from andy_cli.agent.sanitizer import sanitize
from andy_cli.agent.tally import REPEATED, Tally
from andy_cli.compiler.compiler import Visible
from andy_cli.errors import AndyError, ModelError
from andy_cli.events import Event
from andy_cli.messages import Message, Status, ToolCall, ToolRequest, ToolResult

CONTINUE = "You were cut off. Go on exactly where you stopped."
AGAIN = "Your request was cut off and nothing was done. Write it again, shorter."


async def turn(chat: Conversation, user: str) -> AsyncIterator[Event]:
    """All that happens until the model has answered; the last event is `events.Ended`.

    Cancelling it leaves a history that can be gone on with: calls under way have a result that
    says they were cancelled, and what had been said is kept.
    """
    tally = Tally(chat.usage)
    yield chat.init()
    yield events.Said("user", user)
    try:
        chat.hear(user)
        async for event in rounds(chat, tally):
            yield event
    except AndyError as error:
        yield tally.fail(error)
    if audit := look_back(chat, tally):
        yield audit
    yield tally.ended(chat)


async def rounds(chat: Conversation, tally: Tally) -> AsyncIterator[Event]:
    while not tally.stopped:
        if tally.rounds == chat.limits.rounds:
            tally.stop(f"Stopped after {tally.rounds} replies without an answer.")
            break
        tally.rounds += 1
        reply = chat.reply()
        try:
            async for event in said(chat, tally, reply):
                yield event
        except ModelError as error:
            if not await chat.without_native_tools(error):
                raise
            yield events.Failed("warning", error.kind, f"{error} Going on without them.")
            continue
        if reply.compiled.requests:
            async for event in carried_out(chat, tally, reply):
                yield event
        elif not told_to_go_on(chat, tally, reply):
            return
    yield events.Failed("warning", "limit", tally.stopped, "Say `go on` to continue.")


async def said(chat: Conversation, tally: Tally, reply: Reply) -> AsyncIterator[Event]:
    """The reply as it arrives. Whatever ends it, what was said is in the history."""
    try:
        async for visible in reply:
            for event in shown(visible):
                yield event
    except BaseException as error:
        if reply.compiled.text:
            chat.add(Message("assistant", reply.compiled.text, partial=True))
            tally.answer += reply.compiled.text
        if isinstance(error, AndyError):
            for event in shown(reply.rest):
                yield event
        raise
    finally:
        chat.count(reply.usage)
    compiled = reply.compiled
    if compiled.dialect or compiled.repairs or compiled.incomplete:
        yield events.Compiled(
            compiled.dialect or chat.dialect.name,
            compiled.spans,
            compiled.repairs,
            compiled.incomplete,
        )


def shown(visible: Visible) -> Iterator[Event]:
    if visible.reasoning:
        yield events.Reasoned(visible.reasoning)
    if visible.text:
        yield events.Said("assistant", visible.text, delta=True)


def told_to_go_on(chat: Conversation, tally: Tally, reply: Reply) -> bool:
    """A reply without requests is the answer, unless it was cut off or could not be read."""
    compiled = reply.compiled
    tally.answer += sanitize(compiled.text, chat.markers, chat.registry.functions)
    partial = reply.cut_off or compiled.incomplete
    chat.add(Message("assistant", compiled.text, reasoning=compiled.reasoning, partial=partial))
    if compiled.fault:
        chat.add(Message("user", compiled.fault))
    elif partial and not tally.continued:
        tally.continued = True
        chat.add(Message("user", AGAIN if compiled.incomplete else CONTINUE))
    else:
        return False
    return True


async def carried_out(chat: Conversation, tally: Tally, reply: Reply) -> AsyncIterator[Event]:
    """Resolve every request of the reply, put the calls in the history, run them in order."""
    compiled = reply.compiled
    wanted = sorted(compiled.requests, key=lambda request: -request.priority)
    resolved: list[tuple[ToolRequest, Resolved]] = []
    for request in wanted[: chat.limits.calls_per_reply]:
        named = request._replace(id=request.id or new_id())
        resolved.append((named, await understood(chat, named, compiled.dialect)))
    calls = tuple(each.call for _, each in resolved)
    chat.add(Message("assistant", compiled.text, calls, reasoning=compiled.reasoning))
    open_calls = list(calls)
    try:
        for request, each in resolved:
            async for event in answered(chat, tally, request, each):
                yield event
            open_calls.remove(each.call)
            if tally.stopped:
                break
    except BaseException:
        leave(chat, open_calls, "interrupted by the user")
        raise
    leave(chat, open_calls, "not done: the turn was stopped")
    if tally.repeated:
        chat.add(Message("user", REPEATED))
        tally.repeated = False


def leave(chat: Conversation, calls: list[ToolCall], why: str) -> None:
    """Calls that were not run get a result all the same: no call may stand without one."""
    for call in calls:
        tell(chat, ToolResult(call.id, call.name, why, Status.CANCELLED))


async def understood(chat: Conversation, request: ToolRequest, written_in: str) -> Resolved:
    """In the dialect the request was written in, which need not be the one that was taught."""
    dialect = chat.dialects[written_in]
    ask = chat.interviewer(dialect, request)
    return await resolve(request, dialect, chat.registry.functions, chat.check, ask)


async def answered(
    chat: Conversation, tally: Tally, request: ToolRequest, resolved: Resolved
) -> AsyncIterator[Event]:
    """Run one call, if it may be run, and put the result where the model will look for it."""
    call = resolved.call
    if resolved.changes:
        yield events.Corrected(call.id, resolved.changes)
    if resolved.fault:
        result = ToolResult(call.id, call.name, resolved.fault, Status.FAILED)
        yield events.ToolUsed(call.id, call.name, call.arguments, "")
    else:
        proposal = chat.proposal(call, request.quoted)
        yield events.ToolUsed(call.id, call.name, call.arguments, proposal.action)
        verdict = await chat.consent(proposal)
        if verdict.asked:
            decision: events.Decision = "allowed" if verdict.allowed else "denied"
            yield events.Consented(call.id, proposal.effect.value, decision, verdict.reason)
        if verdict.allowed:
            result = await chat.run(call)
        else:
            result = denied(call, proposal.action, verdict.reason)
    tally.count(result)
    tell(chat, result)
    guard_against_loops(chat, tally, call, result)
    output, error = (result.content, "") if result.ok else ("", result.content)
    yield events.ToolAnswered(call.id, result.status, output, error, result.seconds, result.did)


def denied(call: ToolCall, action: str, reason: str) -> ToolResult:
    words = f"This was not allowed: {reason}. Do not try it again; tell the user."
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


def tell(chat: Conversation, result: ToolResult) -> None:
    chat.add(Message("tool", result.content, call_id=result.call_id, name=result.name))


def look_back(chat: Conversation, tally: Tally) -> Event | None:
    """Where results were given, what the answer names must come from them or the user (R16)."""
    if not (tally.calls and tally.answer):
        return None
    sources = [each.content for each in chat.history if each.role in ("user", "tool")]
    tally.unsupported = unsupported(tally.answer, sources)
    return events.Audited(tally.unsupported) if tally.unsupported else None
