"""The one long-lived mutable object: a model, how it writes, the tools, and what was said.

A model switch replaces the client and everything that reads its text (C17, C18); the history has
one canonical form and is rendered anew for whoever reads it.
"""

from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from andy_cli import events
from andy_cli.agent.account import Account
from andy_cli.agent.background import Background
from andy_cli.agent.compaction import Compacted, is_worth_it, summary_request, with_summary
from andy_cli.agent.compression import Compressed, fitted, room_for_reply, size, window_warning
from andy_cli.agent.foreign_text import split_message
from andy_cli.agent.grounding.claim import Deed
from andy_cli.agent.injection import escape_control_tokens, is_quoted, repeats_foreign
from andy_cli.agent.instructions import NO_INSTRUCTIONS, Instructions
from andy_cli.agent.model_server import NO_SERVER, NativeTools, Server
from andy_cli.agent.output_filter import OutputFilter
from andy_cli.agent.pairs import new_id
from andy_cli.agent.rendered_text import as_rendered
from andy_cli.agent.reply import Reply, as_record
from andy_cli.agent.resolve import Offer
from andy_cli.agent.sanitizer import find_leaks, sanitize
from andy_cli.agent.shortlist import (
    DESCRIBE,
    SHARE,
    Shortlist,
    make_describer,
    shorten_tools,
)
from andy_cli.agent.speech import speech
from andy_cli.agent.told_history import ToldHistory
from andy_cli.agent.tool_titles import ToolTitles, asks_about_tools
from andy_cli.agent.trust import trust_of, trusted_choices
from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler
from andy_cli.compiler.detect import (
    NATIVE,
    NO_TEMPLATE,
    Detected,
    Template,
    choose_dialect,
    describe_detection,
    opens_reasoning,
)
from andy_cli.compiler.dialect import Dialect, InterviewQuestion, Tools
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.compiler.requested import asks_for_code
from andy_cli.discover import discover
from andy_cli.errors import ModelError, ToolError, ToolsRefusedError
from andy_cli.guard.gate import ApprovalRequest, Decision, Gate
from andy_cli.guard.resource_access import NOTHING, Grants
from andy_cli.messages import (
    Constraint,
    Effect,
    Message,
    Request,
    ToolCall,
    ToolRequest,
    ToolResult,
    Usage,
    Wire,
)
from andy_cli.models.client import ModelClient
from andy_cli.models.server.observed_tools import Prompt
from andy_cli.sessions.log import HINT, Log
from andy_cli.sessions.resuming import Compaction
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool


def is_users(message: Message) -> bool:
    """Whether the user said it; notes are andy's own."""
    return message.role == "user" and not message.note


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


WINDOW = 64_000
"""Tokens of a window of which nothing is known."""
SHORT, LONG = 3_000, 12_000
"""Tokens of a history, and characters of a result, that fit anywhere."""

TOO_LONG = ("context", "too_large")
NARROWED = 0.75
"""Part of what was sent that is taken for the window of a server which found it too long."""

WORKED_ON = 60
"""So many messages back, a name of a tool in a result is one that the user works on."""

REMEMBERED = 200
"""So many calls of earlier turns count as deeds of the session."""

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
        server: Server = NO_SERVER,
        instructions: Instructions = NO_INSTRUCTIONS,
    ) -> None:
        self.registry = registry
        self.gate = gate
        self.settings = settings
        self.history: list[Message] = []
        self.session_id = session_id or new_id()
        self.usage = Usage()
        self.background = Background()
        self._window = 0
        self._failed: set[str] = set()
        self._told = ToldHistory()
        self._narrowed = 0
        """How long the history was when it was last told with less."""
        self._warned = ""
        self._own_words = deque[str](maxlen=100)
        self._attached = deque[str](maxlen=100)
        """What the user said, and the texts that came with it: piped, attached, printed."""
        self.turn_began = 0
        """Where in the history the user's last message stands."""
        self.own_words = ""
        """Of that message, without what came with it: what the user wants is read from it."""
        self.deeds: list[Deed] = []
        """The calls of this session, and how each ended."""
        self.strict = False
        """An answer that is not supported, or something that was not done, is a failure."""
        self.account: Account | None = None
        self._native = NativeTools(server)
        self._thinks_first = False  # its replies begin inside reasoning that the prompt opened
        self._given_up = False  # this model does not keep to the letter of its protocol
        self.exchanges: deque[Exchange] = deque(maxlen=EXCHANGES)
        self.limits = Limits(
            settings.whole("limits.rounds"),
            settings.whole("limits.calls_per_reply"),
            settings.whole("limits.calls"),
        )
        self.folder = folder
        self.instructions = instructions
        self._log = log
        self.dialects = {each.name: each for each in discover(dialects, Dialect, "DIALECT")}
        self.use(client, server)

    def use(self, client: ModelClient, server: Server = NO_SERVER) -> None:
        """Speak with this model from now on: a new compiler, and the dialect it writes (C17).

        `server` is asked what it knows of the model, should it be needed.
        """
        self._server = server
        self._window, self._given_up = 0, False
        self._native = NativeTools(server)
        self._thinks_first = False
        offered = self.settings.text("tools.offered")
        self._trusted = trust_of(client.guided, server.learned, offered)
        self._shortlist: Shortlist | None = None
        self._describer: Tool | None = None
        self._looked_up: set[str] = set()
        self._told.reset()
        self._speak(client, NO_TEMPLATE)

    def _speak(self, client: ModelClient, template: Template) -> None:
        self._thinks_first = self._thinks_first or opens_reasoning(template.text)
        found = self._dialect(client, template)
        self._tools = self.registry.version
        self._use_speech(client, found)

    def _use_speech(self, client: ModelClient, found: Detected) -> None:
        place = (self.folder, self.instructions, self._trusted, self._shortlist)
        self.speech = speech(client, found, self.registry, self.dialects, *place)

    def follow(self, written: str) -> None:
        """The model wrote its requests in another dialect than it was taught: speak that (C18).

        Not where its server takes native calls, where a dialect was asked for, or where each step
        is chosen for the model.
        """
        told = self.settings["dialect"].value != "auto"
        if told or written in (NATIVE, self.dialect.name) or self.client.guided:
            return
        dialect = self.dialects[written]
        if self.dialect.name != NATIVE and dialect.prompt_template:
            found = Detected(dialect, "it writes so")
            self._use_speech(self.client, found)

    @property
    def client(self) -> ModelClient:
        return self.speech.client

    @property
    def dialect(self) -> Dialect:
        return self.speech.dialect

    async def adapt(self, error: ModelError) -> str:
        """Change what is sent to a server that refused it, so that it can be asked once more.

        Returns a sentence that says what was changed; empty if nothing can be.
        """
        if await self.without_native_tools(error):
            return "Going on without them."
        if await self.narrow(error):
            return "Asking again without the oldest of it."
        return ""

    async def without_native_tools(self, error: ModelError) -> bool:
        """The server said it takes no tools: from now on they are taught in the prompt."""
        if error.kind != ToolsRefusedError.kind or self.dialect.name != NATIVE:
            return False
        self._native.refuse()
        await self._teach_tools()
        if not isinstance(error, ToolsRefusedError) or error.wholly:
            self._server.refused(self.dialect.name, self.speech.why)
        return self.dialect.name != NATIVE

    async def learn_server(self) -> None:
        """Learn whether the model can be sent tools, before the first that it is sent."""
        if self.dialect.name != NATIVE:
            return
        if await self._native.ask_server():
            await self._teach_tools()
            self._server.refused(self.dialect.name, self.speech.why)
        elif self._native.begin_turn():
            await self._teach_tools()

    def pause_native_tools(self) -> bool:
        """Teach the tools in the prompt for the rest of the turn; returns whether to ask again."""
        if self.dialect.name == NATIVE:
            self._native.pause()
            self._speak(self.client, NO_TEMPLATE)
        return not self.client.guided

    async def _teach_tools(self) -> None:
        self._speak(self.client, (await self._server.ask()).template)

    def note_native(self, reply: Reply) -> None:
        """Note whether the model saw the tools it was sent. Raises ModelError if it did not."""
        if self.speech.schemas:
            tools = self.speech.schema_tokens
            prompt = Prompt(self._estimate() - tools, tools, reply.usage.input_tokens)
            self._native.note_reply(bool(reply.compiled.requests), prompt)

    def end_turn(self, called: bool) -> None:
        """The turn is over; `called`: the model asked for a tool in it."""
        if self._native.sent:
            return
        if self._native.end_turn(called):
            self._server.refused(self.dialect.name, self.speech.why)
        if self._native.sent:
            self._speak(self.client, NO_TEMPLATE)

    def _dialect(self, client: ModelClient, template: Template) -> Detected:
        """The dialect, and why: what was asked for, else what the model can do (C18)."""
        wanted = self.settings["dialect"]
        if wanted.value != "auto":
            return describe_detection(str(wanted.value), wanted.origin, self.dialects)
        if client.guided:
            return Detected(self.dialects["andybot"], "it is so small that each step is chosen")
        _, _, model = client.name.partition(":")
        takes = ("tools",) if client.tools and self._native.sent else ()
        return choose_dialect(model, template, takes, self.dialects.values(), self._server.learned)

    def init(self) -> events.Init:
        names = tuple(tool.name for tool in self.registry)
        return events.Init(self.session_id, self.client.name, self.dialect.name, names)

    def hear(self, user: str, attached: str = "") -> None:
        """The user's next message; the places it names may be read, not those of what is attached
        to it. Where nothing else is said, what is attached is what the user wants."""
        self.gate.note_user_paths(user)
        self._own_words.append(user or attached)
        self._attached.extend([attached] if user and attached else [])
        self.own_words = user or attached
        user += attached
        self.turn_began = len(self.history)
        self.deeds = [each._replace(earlier=True) for each in self.deeds[-REMEMBERED:]]
        self.add(Message("user", escape_control_tokens(user)), Message("user", user))
        tools = [*self.speech.known.values()]
        said = {"user": user, "model": self.client.name, "dialect": self.dialect.name}
        self._note("turn", {**said, "tools": tools})

    def note_typed_command(self, command: str) -> None:
        """A command that the user typed: a request that repeats it repeats nobody else."""
        self._own_words.append(command)

    def add(self, message: Message, logged: Message | None = None) -> None:
        """`logged`: the whole of it, where the model is told less."""
        if self._log is not None:
            self._log.message(logged or message)
        self.history.append(message)

    async def restore(
        self, messages: Sequence[Message], compaction: Compaction | None = None
    ) -> None:
        """Go on behind these messages of an earlier conversation, as they were compacted last.

        What the user agreed to then, and the places they named, count no more.
        """
        for message in messages:
            if message.role == "user" and not message.note:
                own, attached = split_message(message.content)
                self._own_words.append(own)
                self._attached.extend([attached] if attached else [])
            self.history.append(await self._as_told(message))
        if compaction is not None:
            told = [await self._as_told(message) for message in compaction.messages]
            self._told.compact(self.history, compaction.stands_for, told)

    async def _as_told(self, message: Message) -> Message:
        """A message of a session, as it was told when it was new."""
        content = message.content
        if message.role == "tool" and len(content) > LONG:
            content = fitted(content, await self.window() // 4, message.name)
        if message.role in ("user", "tool"):
            content = escape_control_tokens(content)
        return message._replace(content=content)

    async def compact(self, wishes: str = "") -> Compacted:
        """Tell a summary that the model writes, after the user's wishes, in place of the past.

        The history and the session stay whole. Raises ModelError; whatever goes wrong, what is
        told stays as it was.
        """
        told, before = self.told_history(), self.history_tokens()
        if not is_worth_it(told):
            return Compacted(0, before, before)
        request = Request(summary_request(told, await self.window(), wishes))
        reply = self._sent(request, self.speech.compiler(self._thinks_first, False), {})
        try:
            async for _ in reply:
                pass
        finally:
            self.count(reply.usage)
        summary = reply.compiled.text.strip()
        if reply.cut_off or not summary:
            raise ModelError(
                f"{self.client.name} wrote no whole summary.", "Everything stays as it was."
            )
        messages = with_summary(told, summary)
        after = sum(map(size, messages))
        if after >= before:
            return Compacted(0, before, before)
        if self._log is not None:
            self._log.compaction(messages)
        self._told.compact(self.history, len(self.history), messages)
        return Compacted(len(told) - len(messages) + 1, before, after)

    def session_problem(self) -> Iterator[events.Event]:
        """Tell, once, that the session cannot be written."""
        if self._log is not None and (problem := self._log.take_problem()):
            yield events.Failed("warning", "session", problem, HINT)

    def take_back(self, at: int) -> None:
        """Forget an answer that did not hold, and the question that asked for another, which
        stands there: neither shall support what is said later."""
        if self.history[at - 1].role == "assistant" and not self.history[at - 1].calls:
            del self.history[at - 1 : at + 1]
            self._told.reset()

    def output_filter(self, held: bool = False) -> OutputFilter:
        """What shows the next reply; `held`: only when it is whole."""
        return OutputFilter(held or self._by_the_letter)

    def learn(self, reply: Reply) -> None:
        """Note how the model writes: that it begins inside reasoning which the prompt opened."""
        self._thinks_first = self._thinks_first or reply.compiled.thought_first

    def sanitized(self, text: str) -> str:
        """A text that a request carries for the user."""
        return sanitize(text, self.speech.markers, self.speech.known, self._titles())

    def _titles(self) -> ToolTitles | None:
        """What says the titles of tools for their names; None where the user asks about tools."""
        if asks_about_tools(self.own_words):
            return None
        user = self.history[self.turn_began].content
        found = [each for each in self.history[-WORKED_ON:] if each.role == "tool"]
        own = [each.content for each in found if each.call_id not in self._failed]
        names = self.speech.names
        titles = {tool.name: tool.title for tool in self.registry}
        offered = {names[name]: title for name, title in titles.items() if name in names}
        return ToolTitles({**offered, **titles}, "\n".join([user, *own]))

    def leaks(self, answer: str) -> tuple[str, ...]:
        """The plumbing that would stand in the answer once it is rendered."""
        return find_leaks(as_rendered(answer), self.speech.markers, self.speech.known, answer)

    def cleaned(self, answer: str) -> str:
        """The answer, or a piece of it, so that nothing leaks when it is rendered."""
        if as_rendered(answer) == answer or not self.leaks(answer):
            return answer
        return sanitize(as_rendered(answer), self.speech.markers, self.speech.known, self._titles())

    @property
    def lenient(self) -> bool:
        return not self.settings.flag("dialect_strict")

    @property
    def _by_the_letter(self) -> bool:
        return self.dialect.format_violation is not None and not self._given_up

    def letter(self, reply: Reply) -> str:
        """What breaks the letter of the protocol that the model was taught (D5, R13)."""
        if (
            self.dialect.format_violation is None
            or self._given_up
            or reply.compiled.dialect == "native"
        ):
            return ""
        return self.dialect.format_violation(reply.raw, not self.lenient)

    def give_up_letter(self) -> None:
        """This model was reminded often enough: from now on it is read as it writes."""
        self._given_up = True

    def dropped(self, reply: Reply) -> str:
        """A sentence, once, if the server read much less than it was sent."""
        if self._warned:
            return ""
        self._warned = window_warning(self._estimate(), reply.usage.input_tokens)
        return self._warned

    def reply(self) -> Reply:
        """Ask the model for its next reply; tools that came meanwhile are offered."""
        if self._tools != self.registry.version:
            self._tools = self.registry.version
            found = Detected(self.dialect, self.speech.why)
            self._use_speech(self.client, found)
        request = self.request(constraint=self._next_step())
        wants_code = asks_for_code(self.own_words)
        compiler = self.speech.compiler(self._thinks_first, wants_code, self._titles())
        return self._sent(request, compiler, self.speech.known)

    def _sent(self, request: Request, compiler: Compiler, tools: Tools) -> Reply:
        def done(compiled: CompiledReply) -> None:
            if self.settings.text("debug.raw"):
                from andy_cli.models.capture import keep_outcome  # 10 ms, and captures are rare

                keep_outcome(self.settings, {**as_record(compiled), "tools": [*tools.values()]})

        reply = Reply(self.client.reply(request), compiler, done)
        self.exchanges.append(Exchange(request.messages[-1], reply))
        return reply

    def request(self, side: Sequence[Wire] = (), constraint: Constraint | None = None) -> Request:
        room = self.settings.whole("max_tokens") or None
        return self.speech.request(self.told_history(), side, constraint, room)

    def told_history(self) -> list[Message]:
        """What the model is told of the history: as much as its window holds.

        A model that each step is chosen for is told no notes of ours: it takes them for wishes.
        """
        told = self._told.messages(self.history)
        return [each for each in told if not each.note] if self.client.guided else told

    def _next_step(self) -> Constraint | None:
        """What the next reply may be, for clients that can hold a model to it.

        For a model that is chosen for: the commands, and what is known beside the
        request.
        """
        if self.dialect.constraint is None:
            return None
        if not self.client.guided or self.whole_reply:
            # Held to an object it could not think first, as such a model does.
            return None if self._thinks_first else self.dialect.constraint(self.speech.tools)
        # Only small models need them.
        from andy_cli.toolbox.nearby import find_nearby_names

        base = self.dialect.constraint(self.speech.tools)
        results = self.results()
        found = [each.content for each in self.history if each.role == "tool"]
        return base._replace(
            choices=trusted_choices(
                [*self.speech.tools], base.choices, self.registry, self._trusted
            ),
            results=(*results,),
            done=tuple(each.did if each.ok else "" for each in self.deeds[-len(results) :])
            if results
            else (),
            earlier=(*found[: len(found) - len(results)],),
            names=find_nearby_names(self.folder),
        )

    def results(self) -> list[str]:
        """What tools returned in this turn, oldest first."""
        start = max(at for at, each in enumerate(self.history) if is_users(each))
        return [each.content for each in self.history[start:] if each.role == "tool"]

    def interviewer(
        self, dialect: Dialect, request: ToolRequest
    ) -> Callable[[InterviewQuestion], Awaitable[str]]:
        """Who puts an interview's questions to the model; the side conversation grows (A18)."""
        side: list[Wire] = [{"role": "assistant", "content": dialect.write(request)}]

        async def ask(question: InterviewQuestion) -> str:
            side.append({"role": "user", "content": question.text})
            answer = await self._whole(
                self.request(side, None if self.client.guided else question.constraint)
            )
            side.append({"role": "assistant", "content": answer})
            return answer

        return ask

    async def _whole(self, request: Request) -> str:
        """A short reply that nobody sees: its text alone."""
        reply = self._sent(request, Compiler(Markers([])), {})
        async for _ in reply:
            pass
        self.count(reply.usage)
        return reply.compiled.text

    @property
    def offer(self) -> Offer:
        check, paths = self.registry.check, self.registry.find_meant_paths
        return Offer(self.speech.known, self.registry.harmless, check, paths)

    @property
    def whole_reply(self) -> bool:
        """A reply is one object of a protocol and nothing else."""
        return self.dialect.calls_only or self.dialect.format_violation is not None

    def text_of(self, request: ToolRequest) -> str | None:
        """What a request to say something says, whatever the model called it."""
        made = map_call(request.name, request.arguments or {}, self.registry.functions, bool)
        text = made.calls[0].arguments.get("content")
        return text if isinstance(text, str) else None

    def not_its_own(self, request: ToolRequest, call: ToolCall, raw: str, quoted: bool) -> str:
        """Why a request may not be the model's own wish, or nothing."""
        if quoted or is_quoted(request, raw):
            return "the model wrote this in a quotation, it may not be its own wish"
        tool = self.registry.get(call.name)
        effect = tool.effect if tool else Effect.ACT
        results = self._told.results(self.history)
        if repeats_foreign(request, raw, results, self._own_words, effect):
            return "this repeats what a tool returned, it may not be the model's own wish"
        if repeats_foreign(request, raw, self._attached, self._own_words, effect):
            return "this repeats what came with a message, it may not be the model's own wish"
        return ""

    def proposal(self, call: ToolCall, doubtful: str) -> ApprovalRequest:
        tool = self.registry.get(call.name)
        assert tool is not None, "resolve lets no unknown tool through"
        claim, fault, problem = NOTHING, "", ""
        try:
            claim = self.registry.claim(call)
        except ToolError as error:
            fault, problem = error.content, str(error)
        return ApprovalRequest(
            tool=tool.name,
            effect=claim.effect or tool.effect,
            action=tool.intent(call.arguments),
            claim=claim,
            doubtful=doubtful,
            fingerprint=tool.fingerprint,
            fault=fault,
            problem=problem,
            arguments=call.arguments,
        )

    async def consent(self, call: ToolCall, proposal: ApprovalRequest) -> Decision:
        """The gate's verdict; it is on disk before anything runs (P8)."""
        if proposal.fault:
            return Decision(False, proposal.fault)
        verdict = await self.gate.decide(proposal)
        if self._log is not None and verdict.asked:
            self._log.append(
                "consent", call_id=call.id, allowed=verdict.allowed, reason=verdict.reason
            )
        return verdict

    async def run(self, call: ToolCall, action: str, granted: Grants) -> ToolResult:
        tool = self.registry.get(call.name)
        if self._log is not None:
            arguments = dict(call.arguments)
            self._log.append("start", call_id=call.id, name=call.name, arguments=arguments)
        if tool is None or not tool.background:
            return await self.registry.call(call, granted)
        self.background.start(self.registry.call(call, granted))
        return ToolResult(call.id, call.name, "started", did=f"started to {action}")

    def _note(self, kind: str, record: Mapping[str, object]) -> None:
        if self.settings.text("debug.raw"):
            from andy_cli.models.capture import note_event  # as above

            note_event(self.settings, kind, record)

    async def tell(self, result: ToolResult, note: str = "") -> None:
        """Put a result where the model will look for it; one that is too long, shortened.

        `note` is what the model has to know of how its call was corrected.
        """
        content = result.content
        if result.did:  # else nothing was run
            record = result._asdict()
            del record["display"]  # it holds nothing that the model is told
            self._note("result", record)
        if result.ok and len(content) > LONG:
            content = fitted(content, await self.window() // 4, result.name)
        told = escape_control_tokens(content) + note
        whole = Message("tool", result.content + note, call_id=result.call_id, name=result.name)
        self.add(whole._replace(content=told), whole)

    async def window(self) -> int:
        """Tokens of prompt and reply together: as set, as the server says, or a guess."""
        if not self._window:
            known = await self._server.ask()
            self._window = self.settings.whole("limits.context") or known.context or WINDOW
        return self._window

    def history_tokens(self) -> int:
        """Tokens of what is told of the history, about."""
        return self._told.tokens(self.history)

    async def fullness(self) -> float:
        """How much of the window the next request fills, about: 0.31."""
        return self._estimate() / await self.window()

    def _estimate(self) -> int:
        """Tokens of all that is sent, about."""
        return self.speech.fixed + self.history_tokens()

    async def make_room(self, failed: Collection[str]) -> AsyncIterator[events.Event]:
        """The history may have outgrown the model's window: shorten what is told of it (C30)."""
        self._failed |= set(failed)
        await self._fit_tools()
        if self._estimate() < SHORT:
            return
        if self._estimate() + room_for_reply(await self.window()) > self._window:
            fits = self._shorten()
            if fits.after < fits.before:
                yield events.Compressed(fits.before, fits.after)

    async def _fit_tools(self) -> None:
        """Show the model those of too many tools that this turn may need, the others by name."""
        if self.client.guided or (self._shortlist is None and self.speech.fixed < SHORT):
            return
        room = int(await self.window() * SHARE)
        if self._shortlist is None and self.speech.fixed <= room:
            return
        if self._describer is None or self.registry.get(DESCRIBE) is not self._describer:
            self._describer = make_describer(self._find_ready, self._note_looked_up)
            self.registry.put([self._describer])
        ready = self._find_ready()
        used = {call.name for message in self.history for call in message.calls}
        chosen = shorten_tools(ready, self.own_words, room, self._looked_up | used)
        if chosen != self._shortlist:
            self._shortlist = chosen
            self._use_speech(self.client, Detected(self.dialect, self.speech.why))

    def _find_ready(self) -> Tools:
        return self.registry.ready_functions(self.speech.known)

    def _note_looked_up(self, names: Iterable[str]) -> None:
        self._looked_up |= set(names)

    def _shorten(self) -> Compressed:
        return self._told.shorten(self.history, self._window, self.speech.fixed, self._failed)

    async def narrow(self, error: ModelError) -> bool:
        """The server said that the request is too long: tell this model less from now on.

        Once for a request. False where nothing more can be left out, or the error says something
        else.
        """
        if error.kind not in TOO_LONG or self._narrowed == len(self.history):
            return False
        self._narrowed = len(self.history)
        sent = self._estimate()
        self._window = int(min(await self.window(), sent) * NARROWED)
        fits = self._shorten()
        return fits.after < fits.before

    def count(self, usage: Usage) -> None:
        self.usage = Usage(
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
        )
