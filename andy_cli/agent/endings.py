"""When a turn is over: does the answer rest on what was found, and what went on beside it?"""

from collections.abc import Iterator, Sequence

from andy_cli import events
from andy_cli.agent.account import Account
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding.audit import (
    Claim,
    Deed,
    Evidence,
    marked,
    rewrite_request,
    unsupported,
)
from andy_cli.agent.tally import Tally
from andy_cli.events import Event
from andy_cli.messages import Message


def evidence(chat: Conversation, tally: Tally) -> Evidence:
    """The results of this turn, and what was said and found before it."""
    now = chat.turn_began
    known = tuple(each.content for each in chat.history[:now] if each.role != "system")
    deeds = tuple(Deed(*each) for each in chat.deeds)
    return Evidence(tuple(tally.results), chat.history[now].content, known, deeds)


def rewrite(chat: Conversation, tally: Tally) -> Iterator[Event]:
    """Once: ask the model to answer again without what nothing supports (R16)."""
    claims = found(chat, tally)
    tally.unsupported = named(claims)
    if not claims:
        return
    doubtful = ", ".join(named(claims))
    again = f"Nothing that was found supports: {doubtful}. Asking once more."
    yield events.Failed("warning", "grounding", again)
    chat.add(Message("user", rewrite_request(claims)))
    tally.answer_again()


def look_back(chat: Conversation, tally: Tally) -> Iterator[Event]:
    """What is still not supported is marked beside the claim; nothing is taken out."""
    if tally.rewriting:
        claims = found(chat, tally)
        tally.unsupported = named(claims)
        tally.answer = marked(tally.answer or tally.rewriting, claims)
        yield events.Said("assistant", tally.answer, delta=True)
    if tally.unsupported:
        yield events.Audited(tally.unsupported)
    yield from strip_leaks(chat, tally)
    for failure in chat.background.failures():
        yield events.Failed("warning", "background", f"Could not {failure.did}: {failure.content}")
    chat.account = Account(
        tally.answer, evidence(chat, tally), tuple(tally.changes), tally.unsupported
    )


def strip_leaks(chat: Conversation, tally: Tally) -> Iterator[Event]:
    """The last look, at what Markdown makes of the answer (C29)."""
    clean = chat.cleaned(tally.answer)
    if clean != tally.answer:
        yield events.Audited(leaks=chat.leaks(tally.answer))
        tally.answer = clean


def found(chat: Conversation, tally: Tally) -> Sequence[Claim]:
    if not tally.answer or tally.exit_code:
        return ()
    return unsupported(tally.answer, evidence(chat, tally))


def named(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(each.text for each in claims)
