"""The one long-lived mutable object: a model, how it writes, the tools, and what was said.

A model switch replaces the client and everything that reads its text (C17, C18); the history has
one canonical form and is rendered anew for whoever reads it.
"""

import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from andy_cli import events
from andy_cli.agent.reply import Reply, as_record
from andy_cli.agent.resolve import Offer
from andy_cli.agent.system_prompt import system_prompt
from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler
from andy_cli.compiler.detect import NO_TEMPLATE, Detected, Template, by_name, chosen, told
from andy_cli.compiler.dialect import Dialect, IdForm, Question, Tools
from andy_cli.compiler.ids import renamed
from andy_cli.compiler.mapper.offered import offered, offered_names
from andy_cli.compiler.markers import Markers
from andy_cli.discover import discover
from andy_cli.errors import ModelError
from andy_cli.guard.gate import Gate, Proposal, Verdict
from andy_cli.messages import (
    Constraint,
    Message,
    Request,
    Schema,
    ToolCall,
    ToolRequest,
    ToolResult,
    Usage,
    Wire,
)
from andy_cli.models.client import ModelClient
from andy_cli.models.presets import presets
from andy_cli.sessions.log import Log
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry


@dataclass(frozen=True, slots=True)
class Limits:
    """R7: how much a turn may do."""

    rounds: int = 20
    calls_per_reply: int = 20
    calls: int = 50
    repeats: int = 3


class Exchange(NamedTuple):
    """What the model was told last, and what it wrote."""

    told: Wire
    reply: Reply


TemplateSource = Callable[[], Awaitable[Template]]
"""Asks a model's server for the model's chat template; empty when it does not tell."""

EXCHANGES = 20
"""How many are kept for whoever asks what was truly said."""


class Conversation:
    def __init__(
        self,
        client: ModelClient,
        registry: Registry,
        gate: Gate,
        settings: Settings,
        folder: Path,
        log: Log | None = None,
        session_id: str = "",
        template: TemplateSource | None = None,
    ) -> None:
        self.registry = registry
        self.gate = gate
        self.settings = settings
        self.history: list[Message] = []
        self.session_id = session_id or new_id()
        self.usage = Usage()
        self.exchanges: deque[Exchange] = deque(maxlen=EXCHANGES)
        self.limits = Limits(
            settings.whole("limits.rounds"),
            settings.whole("limits.calls_per_reply"),
            settings.whole("limits.calls"),
        )
        self._folder = folder
        self._log = log
        self.dialects = {each.name: each for each in discover(dialects, Dialect, "DIALECT")}
        self.use(client, template)

    def use(self, client: ModelClient, template: TemplateSource | None = None) -> None:
        """Speak with this model from now on: a new compiler, and the dialect it writes (C17).

        `template` asks its server for its chat template, should it be needed.
        """
        self._template = template
        self._write_as(client, NO_TEMPLATE)

    def _write_as(self, client: ModelClient, template: Template) -> None:
        self.client = client
        self.dialect, self.dialect_why = self._dialect(client, template)
        self.markers = Markers(
            [*self.dialects.values()], tuple(self.registry.functions), self.dialect.name
        )
        self._names = offered_names(self.registry.functions)
        self._offered = tuple(self._as_offered())
        self._system = system_prompt(self.dialect, self._taught(), self._folder, date.today())

    def _taught(self) -> Tools:
        """The tools as a prompt may name them."""
        return {name: offered(tool) for name, tool in self.registry.functions.items()}

    def _as_offered(self) -> Iterator[Schema]:
        """The tools as the provider takes them; validated is against the originals."""
        provider = presets().get(self.client.name.partition(":")[0])
        plain = provider is not None and provider.plain_schemas
        for name, tool in self.registry.functions.items():
            yield offered(tool, self._names[name], references=not plain, alternatives=not plain)

    async def without_native_tools(self, error: ModelError) -> bool:
        """The server said it takes no tools: from now on they are taught in the prompt."""
        if error.kind != "no_tools" or self.dialect.name != "native":
            return False
        self._write_as(self.client, await self._template() if self._template else NO_TEMPLATE)
        return self.dialect.name != "native"

    def _dialect(self, client: ModelClient, template: Template) -> Detected:
        """The dialect, and why: what was asked for, else what the model can do (C18)."""
        wanted = self.settings["dialect"]
        if wanted.value != "auto":
            return told(str(wanted.value), wanted.origin, self.dialects)
        if client.guided:
            return Detected(self.dialects["andybot"], "it is so small that each step is chosen")
        _, _, model = client.name.partition(":")
        return chosen(model, template, ("tools",) if client.tools else (), self.dialects.values())

    def init(self) -> events.Init:
        names = tuple(tool.name for tool in self.registry)
        return events.Init(self.session_id, self.client.name, self.dialect.name, names)

    def hear(self, user: str) -> None:
        """The user's next message; the places it names may be read."""
        self.gate.heard(user)
        self.add(Message("user", user))

    def add(self, message: Message) -> None:
        if self._log is not None:
            self._log.message(message)
        self.history.append(message)

    def reply(self) -> Reply:
        """Ask the model for its next reply."""
        request = self.request(constraint=self._next_step())
        return self._sent(request, self.markers, self.registry.functions)

    def _sent(self, request: Request, markers: Markers, tools: Tools) -> Reply:
        def done(compiled: CompiledReply) -> None:
            if self.settings.text("debug.raw"):
                from andy_cli.models.capture import keep  # 10 ms, and captures are rare

                keep(self.settings, {**as_record(compiled), "tools": [*tools.values()]})

        reply = Reply(self.client.reply(request), Compiler(markers, tools), done)
        self.exchanges.append(Exchange(request.messages[-1], reply))
        return reply

    def request(self, side: Sequence[Wire] = (), constraint: Constraint | None = None) -> Request:
        """The history as this model reads it, `side` messages behind it."""
        history = renamed([Message("system", self._system), *self.history], self._id_form())
        native = self.dialect.name == "native"
        tools = self._offered if native else ()
        if native:
            history = as_offered(history, self._names)
        return Request(
            messages=(*self.dialect.render(history), *side),
            tools=tools,
            constraint=constraint,
            stop=self.dialect.stop,
            max_tokens=self.settings.whole("max_tokens") or None,
        )

    def _id_form(self) -> IdForm | None:
        """With native calls the ids are those of the model's family all the same."""
        if self.dialect.name != "native":
            return self.dialect.id_form
        family = by_name(self.client.name.partition(":")[2], self.dialects.values())
        return family.id_form if family else None

    def _next_step(self) -> Constraint | None:
        """For a model that is chosen for: one of the commands or talk that names what was found."""
        if not (self.client.guided and self.dialect.constraint):
            return None
        from andy_cli.agent.guide import talk_grammar  # 10 ms, and only small models need it

        base = self.dialect.constraint(self.registry.functions)
        grammar = talk_grammar(self.results(), self.last_words()[-1]) if self.results() else ""
        return Constraint(base.choices, base.free_text, grammar)

    def results(self) -> list[str]:
        """What tools returned in this turn, oldest first."""
        start = max(at for at, each in enumerate(self.history) if each.role == "user")
        return [each.content for each in self.history[start:] if each.role == "tool"]

    def last_words(self) -> list[str]:
        return [each.content for each in self.history if each.role == "user"]

    def interviewer(
        self, dialect: Dialect, request: ToolRequest
    ) -> Callable[[Question], Awaitable[str]]:
        """Who puts an interview's questions to the model; the side conversation grows (A18)."""
        side: list[Wire] = [{"role": "assistant", "content": dialect.write(request)}]

        async def ask(question: Question) -> str:
            side.append({"role": "user", "content": question.text})
            answer = await self._whole(self.request(side, self._what_fits(question)))
            side.append({"role": "assistant", "content": answer})
            return answer

        return ask

    def _what_fits(self, question: Question) -> Constraint | None:
        """What the schema allows; for a model that is chosen for, what was said and found."""
        if not self.client.guided:
            return question.constraint
        from andy_cli.agent.guide import answer_choices  # as above

        choices = answer_choices(
            question.parameter,
            question.schema,
            question.required,
            self.last_words(),
            [each.content for each in self.history if each.role == "tool"],
        )
        return Constraint(choices) if choices else None

    async def _whole(self, request: Request) -> str:
        """A short reply that nobody sees: its text alone."""
        reply = self._sent(request, Markers([]), {})
        async for _ in reply:
            pass
        self.count(reply.usage)
        return reply.compiled.text

    @property
    def offer(self) -> Offer:
        return Offer(self.registry.functions, self.registry.harmless, self.registry.check)

    def proposal(self, call: ToolCall, doubtful: bool) -> Proposal:
        tool = self.registry.get(call.name)
        assert tool is not None, "resolve lets no unknown tool through"
        return Proposal(
            tool=tool.name,
            effect=tool.effect,
            action=tool.intent(call.arguments),
            places=tuple(tool.places(call.arguments)),
            doubtful=doubtful,
        )

    async def consent(self, proposal: Proposal) -> Verdict:
        return await self.gate.decide(proposal)

    async def run(self, call: ToolCall) -> ToolResult:
        return await self.registry.call(call)

    def count(self, usage: Usage) -> None:
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
        )


def as_offered(history: Sequence[Message], names: Mapping[str, str]) -> list[Message]:
    """Calls and results under the names that the tools were offered with (R17)."""

    def called(call: ToolCall) -> ToolCall:
        return call._replace(name=names.get(call.name, call.name))

    return [
        message._replace(
            calls=tuple(map(called, message.calls)), name=names.get(message.name, message.name)
        )
        for message in history
    ]


def new_id() -> str:
    """An id for a session or a call: 9 letters and digits, which every provider accepts."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(9))
