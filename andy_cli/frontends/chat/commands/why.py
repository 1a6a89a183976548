"""/why: what each sentence of the last answer rests on, and what was put right on the way."""

from collections.abc import Iterator

from andy_cli.agent.account import Account
from andy_cli.agent.grounding.audit import backing
from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.guard.neutralizer import neutralize

NOTHING = "There is no answer yet."
OWN_WORDS = "no result: the model's own words"


async def why(desk: Desk, argument: str) -> str:
    account = desk.open.chat.account if desk.open else None
    if account is None or not account.answer:
        return NOTHING
    return neutralize("\n".join(lines(account)))


def lines(account: Account) -> Iterator[str]:
    did = [each.did or each.action for each in account.evidence.deeds or ()]
    steps = did[len(did) - len(account.evidence.results) :] if did else []
    for sentence, result, snippet in backing(account.answer, account.evidence):
        yield " ".join(sentence.split())
        if result is None:
            yield f"    {OWN_WORDS}"
        else:
            step = steps[result] if result < len(steps) else "what was found"
            yield f"    {step}: {' '.join(snippet.split())}"
    if account.unsupported:
        yield f"Nothing supports: {', '.join(account.unsupported)}"
    for change in account.changes:
        yield f"put right: {change}"


COMMAND = Command("why", "/why", "what the last answer rests on", why)
