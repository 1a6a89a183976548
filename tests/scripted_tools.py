"""The tools of the documents' examples, scripted, and turns that are played with them."""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field
from rich.console import Console

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.turn import turn
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.approval_choices import draw_question
from andy_cli.frontends.terminal.messages import format_action
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest, Gate
from andy_cli.messages import Arguments, Chunk
from andy_cli.models.client import Endpoint, ModelClient, Provider
from andy_cli.models.select import Chosen, connect_client
from andy_cli.resources import bundled_folder
from andy_cli.settings import load
from andy_cli.toolbox.collection import tools_in
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, ToolError, tool
from tests.fakes import ScriptedModel

MAILS = [
    {"id": "m1", "subject": "Your rent", "sender": "bea@example.org"},
    {"id": "m2", "subject": "Choir on Friday", "sender": "tom@example.org"},
]


@tool(effect="read", action="list the mail")
def gmail_list(maxResults: Annotated[int, Field(ge=1, le=100)] = 10) -> Outcome:
    """List emails"""
    return Outcome(MAILS[:maxResults], "listed the mail")


@tool(effect="read", action="read a mail")
def gmail_read(messageId: str) -> Outcome:
    """Read a specific email"""
    found = [each for each in MAILS if each["id"] == messageId]
    if not found:
        raise ToolError(f"There is no mail {messageId}.")
    return Outcome({**found[0], "body": "Please pay 850 EUR."}, "read a mail")


@tool(effect="act", action="send a mail to {to}")
def gmail_send(to: str, subject: str, body: str) -> str:
    """Send an email"""
    return "sent"


@tool(effect="play", action="say something", background=True)
def say(utterance: str, voiceId: str = "", style: str = "") -> None:
    """Speak a text aloud"""


SPOKEN: list[str] = []
"""What was said to its end."""


async def spoken(arguments: Arguments) -> str:
    """`fail` fails, `briefly` ends after a while, anything else goes on until it is stopped."""
    if arguments["utterance"] == "fail":
        raise ToolError("There is no sound card.")
    if arguments["utterance"] != "briefly":
        await asyncio.Event().wait()
    for _ in range(9):
        await asyncio.sleep(0)
    SPOKEN.append("briefly")
    return "spoken"


@tool(effect="play", action="open {url}", returns_result=False)
def open_url(url: str) -> str:
    """Open a page in a new tab"""
    return "opened"


@tool(effect="read", action="list the files in {path}")
def list_directory(path: str = ".", max_depth: Annotated[int, Field(ge=1, le=9)] = 1) -> Outcome:
    """List the files in a folder"""
    if path == "/nowhere":
        raise ToolError("There is no folder /nowhere.")
    files = [{"file_name": "notes.md", "size": 120}, {"file_name": "plan.txt", "size": 64}]
    return Outcome(files, f"listed 2 files in {path}")


@tool(effect="read", action="read the calendar")
def calendar_list() -> str:
    """List calendars"""
    raise ToolError("Google is not connected. Run `andy google login` first.")


@tool(effect="destroy", action="delete {path}")
def delete_file(path: str) -> str:
    """Delete a file"""
    return "deleted"


class Item(BaseModel):
    text: str
    metadata: dict[str, str] = {}


class Query(BaseModel):
    text: str
    k: Annotated[int, Field(ge=1)] = 5


@tool(effect="write", action="keep a note")
def upsert_memory(items: list[Item]) -> Outcome:
    """Save notes in the long-term memory"""
    return Outcome({"upserted": len(items)}, f"kept {len(items)} note")


@tool(effect="read", action="look into the notes")
def search_memory(query: Query) -> Outcome:
    """Search the long-term memory"""
    return Outcome({"matches": [{"id": "n1", "score": 0.9, "text": query.text}]}, "found a note")


MEMORY = "kom.memory.v1."
DESK = Registry(
    [
        gmail_list,
        gmail_read,
        gmail_send,
        replace(say, run=spoken),
        open_url,
        list_directory,
        calendar_list,
        delete_file,
        replace(upsert_memory, name=MEMORY + "upsert_memory"),
        replace(search_memory, name=MEMORY + "search_memory"),
        *tools_in(bundled_folder("tools") / "conversation.py"),
    ]
)

Replies = Sequence[str | Sequence[Chunk] | Exception]


async def agreed(approval_request: ApprovalRequest) -> ApprovalAnswer:
    return ApprovalAnswer(yes=True)


def desk(model: ModelClient, *settings: str, registry: Registry = DESK) -> Conversation:
    """A conversation whose user agrees to everything that is asked."""
    folder = Path.cwd()
    gate = Gate(folder, ask=agreed)
    return Conversation(model, registry, gate, load(settings, environment={}), folder)


def speak(chat: Conversation, user: str) -> list[Event]:
    """All that happens in one turn."""

    async def collected() -> list[Event]:
        return [event async for event in turn(chat, user)]

    return asyncio.run(collected())


class Played(NamedTuple):
    """One turn, and what is left of it."""

    seen: list[Event]
    chat: Conversation
    model: ScriptedModel

    @property
    def ended(self) -> events.Ended:
        assert isinstance(self.seen[-1], events.Ended)
        return self.seen[-1]

    @property
    def answer(self) -> str:
        return self.ended.result

    @property
    def used(self) -> list[events.ToolUsed]:
        return [each for each in self.seen if isinstance(each, events.ToolUsed)]

    @property
    def names(self) -> list[str]:
        """The tools in the order in which they were begun."""
        return [each.tool_name for each in self.used]

    @property
    def results(self) -> list[events.ToolAnswered]:
        return [each for each in self.seen if isinstance(each, events.ToolAnswered)]

    @property
    def ran(self) -> list[tuple[str, dict[str, object]]]:
        """What was truly done, with its arguments."""
        done = {each.tool_id for each in self.results if each.status == "success"}
        return [
            (each.tool_name, dict(each.parameters)) for each in self.used if each.tool_id in done
        ]

    @property
    def said(self) -> list[str]:
        """What the user read, piece by piece."""
        return [
            each.content
            for each in self.seen
            if isinstance(each, events.Said) and each.role == "assistant"
        ]

    @property
    def feed(self) -> str:
        """All that a person is shown: answers, actions in words, failures; never parameters."""
        done = [format_action(each) for each in self.results if each.did]
        planned = [each.action for each in self.used]
        failures = [each.message for each in self.seen if isinstance(each, events.Failed)]
        return "\n".join(["".join(self.said), *planned, *done, *failures])

    def sent(self, at: int) -> list[dict[str, object]]:
        """The messages of one request."""
        return [dict(each) for each in self.model.requests[at].messages]

    def told(self, at: int = -1) -> str:
        """The last message of one request."""
        return str(self.sent(at)[-1]["content"])


def play(
    replies: Replies, user: str = "go", *settings: str, tools: bool = False, name: str = "x:model"
) -> Played:
    """One turn of a scripted model at the desk."""
    model = ScriptedModel(replies, name=name, tools=tools)
    chat = desk(model, *settings)
    return Played(speak(chat, user), chat, model)


def client(url: str, model: str = "m", tools: bool = True, provider: str = "openai") -> ModelClient:
    """The product's own client of a real server."""
    endpoint = Endpoint(provider, model, url, "secret", "K")
    chosen = Chosen(endpoint, Provider(provider, tools=tools), "")
    return connect_client(chosen, load(["network.tries=1"], environment={}))


def read_question(request: ApprovalRequest) -> list[str]:
    """All rows above the answers, as a wide terminal shows them before a yes."""
    question = draw_question(request, Console(file=io.StringIO(), width=1000))
    return [row.plain for row in question.whole or question.rows]
