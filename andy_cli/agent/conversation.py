"""One conversation: a model, the tools it may use, and what was said.

Each part is an object of its own; what needs several of them is a method here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli import events
from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.calls.tool_runner import BackgroundCalls, ToolRunner
from andy_cli.agent.grounding.evidence import Evidence
from andy_cli.agent.history.history import (
    CompactionSizes,
    History,
    insert_summary,
    is_worth_it,
    new_id,
    render_summary_request,
)
from andy_cli.agent.model.model_session import NO_SERVER, ModelServer, ModelSession
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.prompt.request import RequestRenderer, WindowBudget
from andy_cli.agent.prompt.system_prompt import NO_INSTRUCTIONS, Instructions
from andy_cli.agent.sanitizer import AnswerSanitizer
from andy_cli.agent.turn_state import TurnLimits
from andy_cli.compiler.compiler import asks_for_code
from andy_cli.compiler.dialect import Dialect
from andy_cli.errors import CHAT_WAYS, ModelError
from andy_cli.guard.gate import Gate
from andy_cli.messages import Message, Request, ToolResult
from andy_cli.models.client import ModelClient
from andy_cli.models.token_count import estimate_message
from andy_cli.sessions.log import Log
from andy_cli.sessions.store import Compaction
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry


class AnswerProvenance(NamedTuple):
    """The last answer, and all that speaks for or against it (`/why`)."""

    answer: str
    evidence: Evidence
    changes: tuple[str, ...] = ()
    """The corrections of requests: `file -> path`."""
    unsupported: tuple[str, ...] = ()
    attached: str = ""
    """The text that came with the user's message."""


class Conversation:
    """Owns all that lasts for a conversation; a front end has one, and tools never see it."""

    def __init__(
        self,
        client: ModelClient,
        registry: Registry,
        gate: Gate,
        settings: Settings,
        folder: Path,
        log: Log | None = None,
        session_id: str = "",
        server: ModelServer = NO_SERVER,
        instructions: Instructions = NO_INSTRUCTIONS,
    ) -> None:
        self.registry, self.gate, self.settings = registry, gate, settings
        self.folder, self.instructions = folder, instructions
        self.session_id = session_id or new_id()
        self.limits = TurnLimits(
            settings.whole("limits.rounds"),
            settings.whole("limits.calls_per_reply"),
            settings.whole("limits.calls"),
        )
        self.strict = False
        """An answer that is not supported, or something that was not done, is a failure."""
        self.ways = CHAT_WAYS
        """The words of the front end for what hints advise."""
        self.provenance: AnswerProvenance | None = None
        self.background = BackgroundCalls()
        self.history = History(log)
        self.model = ModelSession(client, server, settings, registry, folder, instructions)
        self.tools = ToolRunner(registry, gate, self.history, self.background)
        self.budget = WindowBudget(settings, registry, self.model, self.history)
        self.requests = RequestRenderer(
            settings, folder, registry, self.model, self.history, self.tools
        )
        self.sanitizer = AnswerSanitizer(self.model, self.history, registry)

    @property
    def client(self) -> ModelClient:
        return self.model.client

    @property
    def dialect(self) -> Dialect:
        return self.model.dialect

    def describe(self) -> events.Init:
        """Describe the session, its model and the tools it is offered, as each turn begins."""
        self.model.offer_new_tools()
        names = self.model.list_offered_tools()
        return events.Init(self.session_id, self.client.name, self.dialect.name, names)

    def switch_model(self, client: ModelClient, server: ModelServer = NO_SERVER) -> None:
        """Go on with another model, which is told everything again (C17)."""
        self.budget.reset()
        self.model.switch(client, server)

    async def restore(
        self, messages: Sequence[Message], compaction: Compaction | None = None
    ) -> None:
        """Continue after these messages of an earlier conversation.

        `compaction` is the last summary that replaced some of them. What the user agreed to then,
        and the places they named, count no more.
        """
        for message in messages:
            self.history.restore(message, await self.budget.fit_restored(message))
        if compaction is not None:
            told_messages = [
                await self.budget.fit_restored(message) for message in compaction.messages
            ]
            self.history.told.compact(compaction.stands_for, told_messages)

    async def compact(self, wishes: str = "") -> CompactionSizes:
        """Replace what the model is sent of the past by a summary that it writes, as `wishes` says.

        The history and the session stay whole. Raises ModelError; whatever goes wrong, what is
        sent stays as it was.
        """
        told_messages, size_before = (
            self.requests.select_messages(),
            self.history.told.count_tokens(),
        )
        if not is_worth_it(told_messages):
            return CompactionSizes(0, size_before, size_before)
        window = await self.budget.find_window()
        messages = insert_summary(
            told_messages, await self._write_summary(told_messages, window, wishes)
        )
        size_after = sum(map(estimate_message, messages))
        if size_after >= size_before:
            return CompactionSizes(0, size_before, size_before)
        self.history.compact(messages)
        return CompactionSizes(len(told_messages) - len(messages) + 1, size_before, size_after)

    async def _write_summary(
        self, told_messages: Sequence[Message], window: int, wishes: str
    ) -> str:
        """Let the model write a summary. Raises ModelError where it does not."""
        request = Request(render_summary_request(told_messages, window, wishes))
        compiler = self.model.profile.make_compiler(self.model.thinks_first, False)
        reply = self.model.send(request, compiler, {})
        try:
            await reply.read_whole()
        finally:
            self.model.add_usage(reply.usage)
        summary = reply.compiled.text.strip()
        if reply.cut_off or not summary:
            raise ModelError(
                f"{self.client.name} wrote no whole summary.", "Everything stays as it was."
            )
        return summary

    def begin_turn(self, user: str, attached: str = "") -> None:
        """Take the user's next message; the places it names may be read, not those of what is
        attached to it."""
        self.gate.note_user_paths(user)
        self.tools.begin_turn()
        self.history.begin_turn(user, attached)
        if self.model.is_captured:
            record = {
                "user": user + attached,
                "model": self.client.name,
                "dialect": self.dialect.name,
                "tools": list(self.model.profile.known.values()),
                "needs": self.registry.list_needs(),
            }
            self.model.capture_event("turn", record)

    def ask_model(self) -> ModelReply:
        """Ask the model for its next reply; tools that came meanwhile are offered."""
        self.model.offer_new_tools()
        request = self.requests.render_next()
        wants_code = asks_for_code(self.history.user_request)
        profile, titles = self.model.profile, self.sanitizer.make_titles()
        compiler = profile.make_compiler(self.model.thinks_first, wants_code, titles)
        return self.model.send(request, compiler, profile.known)

    def note_native_reply(self, reply: ModelReply) -> None:
        """Note whether the model saw the tools it was sent. Raises ModelError if it did not."""
        self.model.note_native_reply(reply, self.budget.estimate())

    async def adapt(self, error: ModelError) -> str:
        """Change what is sent to a server that refused it, so that it can be asked once more.

        Returns a sentence that says what was changed; empty if nothing can be.
        """
        is_refused = await self.model.refuse_native_tools(error)
        # Where a part of the reply was told, the server could read the request.
        has_begun = self.history.messages[-1].partial
        if is_refused or (not has_begun and self.model.rest_native_tools(error)):
            return "Going on without native tools."
        return await self.budget.narrow(error)

    async def add_result(self, result: ToolResult, note: str = "") -> None:
        """Add the result of a call to the history; one that is too long is shortened.

        `note` is what the model has to know of how its call was corrected.
        """
        if result.did:  # else nothing was run
            record = result._asdict()
            del record["display"]  # it holds nothing that the model is told
            self.model.capture_event("result", record)
        content = result.content
        if result.ok:
            content = await self.budget.fit_result(content, result.name)
        told_content = escape_control_tokens(content) + note
        whole_message = Message(
            "tool", result.content + note, call_id=result.call_id, name=result.name
        )
        self.history.add(whole_message._replace(content=told_content), whole_message)
