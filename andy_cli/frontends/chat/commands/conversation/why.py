"""/why: what each sentence of the last answer rests on, and what was put right on the way."""

from collections.abc import Iterator

from andy_cli.agent.conversation import AnswerProvenance
from andy_cli.agent.grounding.audit import find_backing
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.guard.terminal_sanitizer import neutralize_text

NOTHING = "There is no answer yet."
OWN_WORDS = "no result: the model's own words"
FOUND = "what was found"
ATTACHED = "what came with your message"


async def explain_answer(session: ChatSession, argument: str) -> str:
    account = session.opened.chat.provenance if session.opened else None
    if account is None or not account.answer:
        return NOTHING
    return neutralize_text("\n".join(explain_lines(account)))


def explain_lines(account: AnswerProvenance) -> Iterator[str]:
    action_names = [action.did or action.action for action in account.evidence.actions or ()]
    results = account.evidence.results
    steps = dict(
        enumerate(action_names[len(action_names) - len(results) :] if action_names else [])
    )
    steps[len(results)] = ATTACHED
    evidence = account.evidence._replace(results=(*results, account.attached))
    for sentence, result, snippet in find_backing(account.answer, evidence):
        yield " ".join(sentence.split())
        if result is None:
            yield f"    {OWN_WORDS}"
        else:
            yield f"    {steps.get(result, FOUND)}: {' '.join(snippet.split())}"
    if account.unsupported:
        yield f"Nothing supports: {', '.join(account.unsupported)}"
    for change in account.changes:
        yield f"corrected: {change}"


COMMAND = SlashCommand(
    "why", "/why", "show what each sentence of the last answer is based on", explain_answer
)
