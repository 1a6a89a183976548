"""When a turn is over: does the answer rest on what was found, and what went on beside it?"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from andy_cli import events
from andy_cli.agent.answer_provenance import AnswerProvenance
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding.audit import (
    Claim,
    Evidence,
    marked,
    rewrite_request,
    unsupported,
)
from andy_cli.agent.history.foreign_text import split_message
from andy_cli.agent.turn_state import TurnState
from andy_cli.events import Event
from andy_cli.messages import Message


def collect_evidence(chat: Conversation, state: TurnState) -> Evidence:
    """The results of this turn, and what was said and found before it; the model knows the
    folder too, and what it was told at the top."""
    now = chat.turn_began
    before = chat.history[max(0, now - REMEMBERED) : now]
    known = [each.content for each in before if each.role != "system"]
    known += [str(chat.folder), str(Path.home()), *chat.instructions.texts()]
    return Evidence(tuple(state.results), chat.history[now].content, tuple(known), (*chat.deeds,))


REMEMBERED = 500
"""Messages before a turn in which a name may stand: no model is told more, but for small talk."""


def request_rewrite(chat: Conversation, state: TurnState) -> Iterator[Event]:
    """Once: ask the model to answer again without deeds and names that nothing supports (R16)."""
    claims = [each for each in find_claims(chat, state) if each.kind not in FIGURES]
    if claims:
        texts = ", ".join(list_claim_texts(claims))
        again = f"Nothing that was found supports: {texts}. Asking once more."
        yield events.Failed("warning", "grounding", again)
        chat.add(Message("user", rewrite_request(claims), note=True))
        state.answer_again(len(chat.history) - 1)


FIGURES = frozenset(
    "date weekday time size duration percent number spelled version row item".split()
)
"""Kinds for which nobody is asked again."""


def audit_answer(chat: Conversation, state: TurnState) -> Iterator[Event]:
    """What is not supported is marked beside the claim, in one look; nothing is taken out."""
    claims = find_claims(chat, state)
    state.unsupported = list_claim_texts(claims)
    if state.rewriting:
        state.answer = state.answer or state.rewriting
        chat.take_back(state.rewritten_at)
    final = chat.cleaned(marked(state.answer, claims))
    if leaks := chat.leaks(state.answer):
        yield events.Audited(leaks=leaks)
    if state.rewriting or final != state.answer:
        state.answer = final
        yield events.Said("assistant", final)
    if state.unsupported:
        yield events.Audited(state.unsupported)
    for failure in chat.background.failures():
        problem = f"Could not {failure.did}: {failure.problem or failure.content}"
        yield events.Failed("warning", "background", problem)
    _, attached = split_message(chat.history[chat.turn_began].content)
    chat.account = AnswerProvenance(
        state.answer,
        collect_evidence(chat, state),
        tuple(state.changes),
        state.unsupported,
        attached,
    )


def find_claims(chat: Conversation, state: TurnState) -> Sequence[Claim]:
    """What nothing supports in the answer; figures are judged for those who ask (R16).

    Of a model that each step is chosen for the answer is made of results.
    """
    if chat.client.guided or not state.answer or state.exit_code not in (0, DENIED):
        return ()
    return unsupported(state.answer, collect_evidence(chat, state), chat.strict)


DENIED = 3


def list_claim_texts(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(each.text for each in claims)
