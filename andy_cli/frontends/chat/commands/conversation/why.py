"""/why: what each sentence of the last answer rests on, and what was put right on the way."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from andy_cli.agent.conversation import AnswerProvenance
from andy_cli.agent.grounding.name_claims import SNIPPET, contains_mark, find_backing, split_lines
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.guard.terminal_sanitizer import neutralize_text

NO_ANSWER_YET = "There is no answer yet."
NOT_KEPT = "The last answer was given before this chat: what it is based on is not kept."
OWN_WORDS = "no result: the model's own words"
FOUND = "what was found"
ATTACHED = "what came with your message"


async def explain_answer(session: ChatSession, argument: str) -> str:
    account = session.opened.chat.provenance if session.opened else None
    if account is None or not account.answer:
        return NOT_KEPT if session.last_answer else NO_ANSWER_YET
    return neutralize_text("\n".join(explain_lines(account)))


class Source(NamedTuple):
    """Something that a sentence can rest on."""

    name: str
    """Empty for what was done: that is its text."""
    text: str


def explain_lines(account: AnswerProvenance) -> Iterator[str]:
    sources = list_sources(account)
    texts = tuple(source.text for source in sources)
    for sentence, result, snippet in find_backing(
        account.answer, account.evidence._replace(results=texts)
    ):
        words = " ".join(sentence.split())
        if any(map(str.isalnum, words)):  # no rule of a table
            yield words
            if result is None:
                result, snippet = find_quotation(words, texts)
            yield f"    {describe_source(sources, result, snippet)}"
    if account.unsupported:
        yield f"Nothing supports: {', '.join(account.unsupported)}"
    for change in account.changes:
        yield f"corrected: {change}"


def list_sources(account: AnswerProvenance) -> list[Source]:
    """List the results, what came with the message, and what was done: `Read a.csv, 6 lines:`
    may stand before the lines."""
    actions, results = account.evidence.actions or (), account.evidence.results
    newest = actions[max(0, len(actions) - len(results)) :]
    names = [action.did or action.action for action in newest]
    pairs = zip_longest(names, results, fillvalue="")
    found = [Source(name or FOUND, text) for name, text in pairs]
    done = [Source("", action.did) for action in actions if action.ok and action.did]
    return [*found, Source(ATTACHED, account.attached), *done]


def find_quotation(words: str, texts: Sequence[str]) -> tuple[int | None, str]:
    """Find the line in which a sentence stands word for word."""
    for number, text in enumerate(texts):
        for line in split_lines(text):
            if contains_mark(" ".join(line.split()), words):
                return number, line.strip()[:SNIPPET]
    return None, ""


def describe_source(sources: Sequence[Source], result: int | None, snippet: str) -> str:
    if result is None:
        return OWN_WORDS
    found_text, name = " ".join(snippet.split()), sources[result].name
    return f"{name}: {found_text}" if name else found_text


COMMAND = SlashCommand(
    "why",
    "/why",
    "show what each sentence of the last answer is based on",
    explain_answer,
    details=f"""Below each sentence stands the tool's result or attached text that it rests on,
or `{OWN_WORDS}`.
What nothing supports, and what was corrected, stands at the end.""",
)
