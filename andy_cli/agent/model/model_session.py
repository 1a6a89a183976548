"""The model that is spoken with: its client, its profile, its server, and what was learned of it.

The profile is its dialect, its markers, its tools and its system prompt. A switch of models, or of
the way one is spoken to, makes a new one, and replaces the client and everything that reads its
text (C17, C18).

Some servers accept tools and leave them out of the prompt. Three things tell: a call, which proves
that the model saw them; the tokens of the prompt as the server counts them, if those are no more
than the messages alone; and, where no count tells, replies that never call. After a few of these
one request is a trial: the tools are taught in the prompt. If that one calls, they always are.
What is found out is remembered through `ModelServer`.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.model.repetition import stop_repetition
from andy_cli.agent.model.reply import ModelReply, record_reply
from andy_cli.agent.prompt.shortlist import DESCRIBE, Shortlist, tell_others
from andy_cli.agent.prompt.system_prompt import Instructions, render_system_prompt
from andy_cli.agent.prompt.trust import Trust, choose_trust, describe_limits, select_trusted_tools
from andy_cli.compiler.compiler import CompiledReply, Compiler, ProseFilter
from andy_cli.compiler.detect import (
    GUIDED,
    NATIVE,
    NO_TEMPLATE,
    Detected,
    Template,
    choose_by_name,
    choose_dialect,
    describe_detection,
    opens_reasoning,
)
from andy_cli.compiler.dialect import Dialect, IdForm, Tools, dialects_by_name
from andy_cli.compiler.ids import nine_letters
from andy_cli.compiler.lexing.markers import Markers, build_markers
from andy_cli.compiler.library import word_markers
from andy_cli.compiler.mapper.json_schema import add_aliases, provider_names, render_provider_schema
from andy_cli.errors import ModelError, ToolsRefusedError, TransientError
from andy_cli.messages import (
    NOTHING_LEARNED,
    Learned,
    Request,
    Schema,
    Usage,
    Wire,
)
from andy_cli.models.client import ModelClient
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.token_count import estimate_tokens
from andy_cli.settings import Settings
from andy_cli.toolbox.registry import Registry

FIRST_TRIAL = 3
"""Replies without a call before the first trial; from one trial to the next twice as many."""
MIN_COUNTED_TOKENS = 120
"""Tokens of messages from which one count is believed that comes near: it is no accident."""
NEAR_RATIO = 0.8, 1.3
"""The nearness, as parts of our estimate."""
MIN_DIFFERENCE = 30
"""Tokens by which two shorter requests must differ before their counts are believed."""
TEMPLATE_OVERHEAD = 60
"""Tokens that a template may add to the messages of a request."""
LOW_RATIO, HIGH_RATIO = 0.6, 1.5
"""Bounds of a true number of tokens as parts of our estimate; for messages."""
MIN_TOOLS_SHARE = 0.35
"""The lower bound for tools: a template may write them much shorter than JSON."""


class PromptTokens(NamedTuple):
    """Tokens of one request: estimated for its messages and its tools, and as its server counts
    them together (0: it does not say)."""

    messages: int
    tools: int
    counted: int

    @property
    def without_tools(self) -> bool:
        """The count is that of the messages, and too low for messages and tools."""
        lower_bound = LOW_RATIO * self.messages
        upper_bound = HIGH_RATIO * self.messages + TEMPLATE_OVERHEAD
        return (
            lower_bound
            <= self.counted
            < min(upper_bound, lower_bound + MIN_TOOLS_SHARE * self.tools)
        )

    @property
    def with_tools(self) -> bool:
        """The count is too high for the messages alone."""
        return self.counted > HIGH_RATIO * self.messages + TEMPLATE_OVERHEAD


class ObservedTools:
    """The evidence of one model's replies; `sure` once it is known that it sees its tools."""

    def __init__(self, silent: int = 0) -> None:
        self.sure = False
        self.ignored = False
        """The server leaves the tools out."""
        self.silent = silent
        """Replies in a row that called nothing."""
        self._next_trial = FIRST_TRIAL
        self._earlier_prompt: PromptTokens | None = None

    @property
    def trial(self) -> bool:
        """True if the next request with tools is to teach them in its prompt."""
        return not self.sure and self.silent >= self._next_trial

    def note_reply(self, called: bool, prompt: PromptTokens) -> None:
        """Note a complete reply to a request that offered tools natively."""
        if called or prompt.with_tools:
            self.sure, self.ignored = True, False
        elif not self.sure:
            self.silent += 1
            self.ignored = self.ignored or (prompt.without_tools and self._is_believed(prompt))

    def note_trial(self, called: bool) -> None:
        """Note how a model replied that was taught its tools in the prompt for once."""
        self.silent = 0
        self._next_trial *= 2
        self.ignored = self.ignored or called

    def _is_believed(self, prompt: PromptTokens) -> bool:
        """Tell whether the counts follow the messages; some servers always report the same."""
        lowest, highest = NEAR_RATIO
        upper_bound = highest * prompt.messages + TEMPLATE_OVERHEAD
        is_near = lowest * prompt.messages <= prompt.counted <= upper_bound
        if is_near and prompt.messages >= MIN_COUNTED_TOKENS:
            return True
        earlier_prompt = self._earlier_prompt or prompt
        self._earlier_prompt = prompt
        grown = prompt.messages - earlier_prompt.messages
        counted_growth = prompt.counted - earlier_prompt.counted
        if grown < 0:  # the shorter request may come second
            grown, counted_growth = -grown, -counted_growth
        return grown >= MIN_DIFFERENCE and counted_growth >= LOW_RATIO / HIGH_RATIO * grown


TAKES_NO_TOOLS = "its server says that it takes no tools"
IGNORES_TOOLS = "its server leaves out the tools that it is sent"


class ModelFacts(NamedTuple):
    """Facts that a server tells of a model."""

    template: Template = NO_TEMPLATE
    context: int | None = None
    """Tokens of prompt and reply together."""
    is_inside: bool = False
    """The model runs inside andy, where its client keeps to the context."""


async def ask_no_server() -> ModelFacts:
    """Return what is known of a model without a server."""
    return ModelFacts()


async def answer_nothing() -> bool | None:
    """Return what a server says of tools that says nothing."""
    return None


class ModelServer(NamedTuple):
    """A server of a model, as far as it matters here."""

    ask: Callable[[], Awaitable[ModelFacts]] = ask_no_server
    """Asks what it tells of the model: when that is needed, and not before."""
    takes_tools: Callable[[], Awaitable[bool | None]] = answer_nothing
    """Asks whether it says that the model takes tools; None where it does not say."""
    learned: Learned = NOTHING_LEARNED
    """The memory of the model there."""
    believed: bool = True
    """It need not be asked whether it takes tools."""
    refused: Callable[[str, str], object] = lambda instead, why: None
    """To be told that it takes no tools, and which dialect is used instead and why."""
    called: Callable[[], object] = lambda: None
    """To be told that the model has called a tool natively."""
    silent: Callable[[int], object] = lambda replies: None
    """To be told how many replies in a row called nothing, while it is not known why."""


NO_SERVER = ModelServer()


class NativeTools:
    """Knows whether one model is sent tools, as far as that is known by now."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._observed = ObservedTools(server.learned.silent)
        self._asked = server.believed or server.learned.native is not None
        self._sure = server.learned.native is True
        self._trial = self._paused = False
        self._taken = True

    @property
    def sent(self) -> bool:
        """The model is sent tools: its server takes them, and no trial teaches them."""
        return self._taken and not (self._trial or self._paused)

    def refuse(self) -> None:
        """Note that its server takes none, or leaves them out."""
        self._taken = False

    async def ask_server(self) -> str:
        """Ask its server, once; returns why it is not sent tools from now on, or nothing."""
        if self._asked or not self._taken:
            return ""
        self._asked = True
        self._taken = await self._server.takes_tools() is not False
        return "" if self._taken else TAKES_NO_TOOLS

    def note_reply(self, called: bool, prompt: PromptTokens) -> None:
        """Note a complete reply to a request with tools. Raises ModelError if they were left out
        of it."""
        if self._sure:
            return
        if called:
            self._sure = True
            self._server.called()
        self._observed.note_reply(called, prompt)
        if self._observed.ignored:
            raise ToolsRefusedError("The server did not show the model the tools it was sent.")
        if not self._observed.sure:
            self._server.silent(self._observed.silent)

    def pause(self) -> None:
        """Send none for the rest of the turn."""
        self._paused = True

    def begin_turn(self) -> bool:
        """Begin a trial if one is due; returns whether it is."""
        self._trial = self._taken and not self._sure and self._observed.trial
        return self._trial

    def end_turn(self, called: bool) -> str:
        """End a trial; returns why the model is not sent tools from now on, or nothing."""
        self._paused = False
        if not self._trial:
            return ""
        self._trial = False
        self._observed.note_trial(called)
        self._taken = not called
        self._server.silent(self._observed.silent)
        return IGNORES_TOOLS if called else ""


Dialects = Mapping[str, Dialect]


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """All that is needed to speak to one model and to read what it writes."""

    client: ModelClient
    dialect: Dialect
    why: str
    """The reason for this dialect, in words."""
    tools: Tools
    """Tools that are offered to the model, under the registered names."""
    known: Tools
    """Tools that it may ask for all the same: also those that need something first."""
    markers: Markers
    system: str
    names: Mapping[str, str]
    """Registered name -> the one that is offered (R17)."""
    schemas: tuple[Schema, ...]
    """The tools as the provider takes them; empty if they are taught in the prompt."""
    id_form: IdForm | None
    fixed: int
    """Estimated tokens of what goes with every request: the system prompt and the schemas."""
    schema_tokens: int
    """Estimated tokens of the schemas alone."""

    @property
    def is_one_object(self) -> bool:
        """A reply is one object of a protocol and nothing else."""
        return self.dialect.calls_only or self.dialect.format_violation is not None

    def make_compiler(
        self, thinks_first: bool, wants_code: bool, prose: ProseFilter | None = None
    ) -> Compiler:
        """Make what reads one reply.

        `thinks_first`: its replies begin inside reasoning that the prompt opened.
        """
        return Compiler(
            self.markers,
            self.known,
            "likely" if thinks_first else "",
            wants_code=wants_code,
            keeps_objects=False,
            prose=prose,
        )

    def read_as_text(self, reply_text: str, plain_spans: Collection[tuple[int, int]]) -> str:
        """Read a reply once more with these requests as text."""
        compiler = Compiler(
            self.markers, self.known, plain_spans=frozenset(plain_spans), keeps_objects=False
        )
        compiler.feed(reply_text)
        return compiler.finish()[1].text

    def is_call(self, reply_text: str) -> bool:
        """Tell whether a text has a whole request in it."""
        compiler = Compiler(self.markers, self.known)
        compiler.feed(reply_text)
        return bool(compiler.finish()[1].requests)


def build_profile(
    client: ModelClient,
    detected: Detected,
    registry: Registry,
    dialects: Dialects,
    folder: Path,
    instructions: Instructions,
    trusted: Trust | None = None,
    shortlist: Shortlist | None = None,
) -> ModelProfile:
    """Build the profile of a model.

    `folder` is where the user works; `trusted`: what the model is trusted with; `shortlist`: what
    of too many tools it is shown.
    """
    dialect = detected.dialect
    all_tools = registry.known_functions(dialect.calls_only)
    if client.guided:
        # It is shown all tools; what is beyond it is marked, and answered for it.
        trusted = None
        instructions = instructions.without_files()
    known_tools = escape_foreign_tools(select_trusted_tools(all_tools, registry, trusted), registry)
    if not shortlist:
        known_tools.pop(DESCRIBE, None)
    ready = registry.ready_functions(known_tools)
    others = ""
    if shortlist:
        ready = {name: tool for name, tool in ready.items() if name in shortlist.whole}
        others = tell_others(shortlist.named)
    names = provider_names(known_tools)
    taught = {name: render_provider_schema(tool) for name, tool in ready.items()}
    prompt = render_system_prompt(dialect, taught, folder, date.today(), instructions)
    limits = describe_limits(client.name.partition(":")[2], all_tools, registry, trusted)
    system = "\n\n".join(filter(None, [prompt, others, limits]))
    schemas: tuple[Schema, ...] = ()
    id_form = dialect.id_form
    if dialect.name == NATIVE:
        schemas = tuple(render_schemas(client, ready, names))
        id_form = find_family_ids(client, dialects)
    schema_tokens = sum(estimate_tokens(str(schema)) for schema in schemas)
    return ModelProfile(
        client=client,
        dialect=dialect,
        why=detected.why,
        tools=ready,
        known=known_tools,
        markers=build_markers(tuple(dialects.values()), tuple(add_aliases(ready)), dialect.name),
        system=system,
        names=names,
        schemas=schemas,
        id_form=id_form,
        fixed=estimate_tokens(system) + schema_tokens,
        schema_tokens=schema_tokens,
    )


def escape_foreign_tools(tools: Tools, registry: Registry) -> dict[str, Schema]:
    """Escape what servers say of their own tools: that is data (P9)."""
    escaped = dict(tools)
    for name, schema in tools.items():
        tool = registry.get(name)
        if tool is not None and tool.fingerprint:
            escaped[name] = {key: _escape_nested(value) for key, value in schema.items()}
    return escaped


def _escape_nested(value: object) -> object:
    if isinstance(value, list):
        return [_escape_nested(element) for element in value]
    if not isinstance(value, Mapping):
        return value
    escaped = {key: _escape_nested(inner) for key, inner in value.items()}
    description = value.get("description")
    if isinstance(description, str):
        escaped["description"] = escape_control_tokens(description)
    return escaped


def render_schemas(client: ModelClient, tools: Tools, names: Mapping[str, str]) -> Iterator[Schema]:
    """Render the tools as the provider takes them; calls are validated against the originals."""
    provider = providers_by_name().get(client.name.partition(":")[0])
    plain = provider is not None and provider.plain_schemas
    for name, tool in tools.items():
        yield render_provider_schema(
            tool, names[name], references=not plain, alternatives=not plain
        )


def find_family_ids(client: ModelClient, dialects: Dialects) -> IdForm | None:
    """Find the form of ids of the model's family, which native calls have all the same."""
    family = choose_by_name(client.name.partition(":")[2], dialects.values())
    if family is not None and family.id_form:
        return family.id_form
    # Its server wants them of all its models: Codestral and Pixtral have no dialect here.
    return nine_letters if "mistral" in client.name.lower() else None


MAX_KEPT_EXCHANGES = 20
"""The number that is kept for whoever asks what was truly said."""


class ModelExchange(NamedTuple):
    """One exchange: what the model was told last, and what it wrote."""

    told: Wire
    reply: ModelReply


class ModelSession:
    """One model at a time, whichever client serves it; usage and exchanges are those of all."""

    def __init__(
        self,
        client: ModelClient,
        server: ModelServer,
        settings: Settings,
        registry: Registry,
        folder: Path,
        instructions: Instructions,
    ) -> None:
        self._settings, self._registry = settings, registry
        self._folder = folder
        self.instructions = instructions
        """As the user and the project wrote them; `_told_instructions` are as much as the model's
        window has room for."""
        self.dialects = dialects_by_name()
        self.usage = Usage()
        self.exchanges: deque[ModelExchange] = deque(maxlen=MAX_KEPT_EXCHANGES)
        self.switch(client, server)

    def switch(self, client: ModelClient, server: ModelServer = NO_SERVER) -> None:
        """Speak with this model from now on: a new compiler, and the dialect it writes (C17).

        `server` is asked what it knows of the model, should it be needed.
        """
        self.server = server
        self._told_instructions = self.instructions
        self.thinks_first = False
        """Its replies begin inside reasoning that the prompt opened."""
        self.trust = choose_trust(
            client.guided, server.learned, self._settings.text("tools.offered")
        )
        self.shortlist: Shortlist | None = None
        """The part of too many tools that it is shown."""
        self._may_break_format = False
        self._native = NativeTools(server)
        self._detect_and_rebuild(client, NO_TEMPLATE)

    @property
    def client(self) -> ModelClient:
        return self.profile.client

    @property
    def dialect(self) -> Dialect:
        return self.profile.dialect

    def _detect_and_rebuild(self, client: ModelClient, template: Template) -> None:
        self.thinks_first = self.thinks_first or opens_reasoning(template.text)
        detected = self._detect_dialect(client, template)
        self._registry_version = self._registry.version
        self._rebuild(client, detected)

    def _rebuild(self, client: ModelClient, detected: Detected) -> None:
        self.profile = build_profile(
            client,
            detected,
            self._registry,
            self.dialects,
            self._folder,
            self._told_instructions,
            self.trust,
            self.shortlist,
        )

    def _detect_dialect(self, client: ModelClient, template: Template) -> Detected:
        """Choose the dialect, and say why: what was asked for, else what the model can do (C18)."""
        setting = self._settings["dialect"]
        if setting.value != "auto":
            return describe_detection(str(setting.value), setting.origin, self.dialects)
        if client.guided:
            return Detected(self.dialects["andybot"], GUIDED)
        _, _, model = client.name.partition(":")
        takes = ("tools",) if client.tools and self._native.sent else ()
        return choose_dialect(model, template, takes, self.dialects.values(), self.server.learned)

    def follow_dialect(self, written: str) -> None:
        """Speak the dialect in which the model wrote its requests, where that is another (C18).

        Not where its server takes native calls, where a dialect was asked for, or where each step
        is chosen for the model.
        """
        if self.has_set_dialect or written in (NATIVE, self.dialect.name) or self.client.guided:
            return
        dialect = self.dialects[written]
        if self.dialect.name != NATIVE and dialect.prompt_template:
            self._rebuild(self.client, Detected(dialect, "it writes so"))

    def offer_new_tools(self) -> None:
        """Offer the tools that came since the model was told of them last."""
        if self._registry_version != self._registry.version:
            self._registry_version = self._registry.version
            self._rebuild(self.client, Detected(self.dialect, self.profile.why))

    def list_offered_tools(self) -> tuple[str, ...]:
        """List the tools that the model is shown whole, then those that it is shown by name."""
        return (*self.profile.tools, *(self.shortlist.named if self.shortlist else ()))

    def show_tools(self, shortlist: Shortlist) -> None:
        """Show the model these tools whole, and the others by name."""
        self.shortlist = shortlist
        self._rebuild(self.client, Detected(self.dialect, self.profile.why))

    def limit_instructions(self, max_tokens: int) -> list[str]:
        """Tell the model so many tokens of the files with instructions.

        Returns the names of those of which it is told less from now on.
        """
        limited = self.instructions.limit_files(max_tokens)
        told_files, self._told_instructions = self._told_instructions.files, limited
        if limited.files == told_files:
            return []
        self._rebuild(self.client, Detected(self.dialect, self.profile.why))
        return [file.name for file in told_files if file not in limited.files]

    def count_told_instructions(self) -> int:
        """Estimate the tokens of those files as they are told."""
        return self._told_instructions.count_file_tokens()

    # Native tools: whether the server takes them, and whether the model sees them.

    async def learn_server(self) -> None:
        """Learn whether the model can be sent tools, before the first that it is sent."""
        if self.dialect.name != NATIVE:
            return
        if await self._native.ask_server():
            await self._teach_tools()
            self._remember_refusal()
        elif self._native.begin_turn():
            await self._teach_tools()

    async def refuse_native_tools(self, error: ModelError) -> bool:
        """Teach the tools in the prompt if an error says that the server takes none."""
        if error.kind != ToolsRefusedError.kind or self.dialect.name != NATIVE:
            return False
        self._native.refuse()
        await self._teach_tools()
        if not isinstance(error, ToolsRefusedError) or error.wholly:
            self._remember_refusal()
        return self.dialect.name != NATIVE

    def rest_native_tools(self, error: ModelError) -> bool:
        """Teach the tools in the prompt for the rest of the turn if a server of the user's own
        fails over a request with them: its template may, or its reading of the model's call."""
        is_native = self.dialect.name == NATIVE and bool(self.profile.schemas)
        may_pass = isinstance(error, TransientError)  # else the server wants no other try
        if error.kind != "server" or not may_pass or self.server.believed or not is_native:
            return False
        self.pause_native_tools()
        return self.dialect.name != NATIVE

    def pause_native_tools(self) -> None:
        """Teach the tools in the prompt for the rest of the turn."""
        if self.dialect.name == NATIVE:
            self._native.pause()
            self._detect_and_rebuild(self.client, NO_TEMPLATE)

    def note_native_reply(self, reply: ModelReply, sent_tokens: int) -> None:
        """Note whether the model saw the tools it was sent, in a request of so many tokens.

        Raises ModelError if it did not.
        """
        if self.profile.schemas:
            schemas = self.profile.schema_tokens
            prompt = PromptTokens(sent_tokens - schemas, schemas, reply.usage.input_tokens)
            self._native.note_reply(bool(reply.compiled.requests), prompt)

    def end_turn(self, called: bool) -> None:
        """Note that the turn is over; `called`: the model asked for a tool in it."""
        if self._native.sent:
            return
        if self._native.end_turn(called):
            self._remember_refusal()
        if self._native.sent:
            self._detect_and_rebuild(self.client, NO_TEMPLATE)

    async def _teach_tools(self) -> None:
        self._detect_and_rebuild(self.client, (await self.server.ask()).template)

    def _remember_refusal(self) -> None:
        self.server.refused(self.dialect.name, self.profile.why)

    # The format of replies, where the protocol prescribes one.

    @property
    def has_set_dialect(self) -> bool:
        """The user chose how the model writes requests."""
        return self._settings["dialect"].value != "auto"

    @property
    def advice(self) -> str:
        """The advice to a user whose model cannot write requests as it should."""
        origin = self._settings["dialect"].origin
        if not self.has_set_dialect:
            return "Say it again, or use another model."
        if origin.startswith(("--", "$")):
            return f"Say it again, or leave out the dialect that {origin} sets."
        return "Say it again, or try {auto_dialect}."

    @property
    def is_strict(self) -> bool:
        """A reply that goes on breaking the format of its protocol is an error."""
        return self._settings.flag("dialect_strict")

    @property
    def enforces_format(self) -> bool:
        return self.dialect.format_violation is not None and not self._may_break_format

    def find_format_violation(self, reply: ModelReply) -> str:
        """Find what breaks the format of the protocol that the model was taught (D5, R13)."""
        find_violation = self.dialect.format_violation
        if find_violation is None or self._may_break_format or reply.compiled.dialect == "native":
            return ""
        return find_violation(reply.raw, self.is_strict)

    def stop_enforcing_format(self) -> None:
        """Read this model as it writes from now on: it was reminded often enough."""
        self._may_break_format = True

    def note_reasoning(self, reply: ModelReply) -> None:
        """Note whether the model's replies begin inside reasoning which the prompt opened."""
        if reply.compiled.thought_first is not None:
            self.thinks_first = reply.compiled.thought_first

    # Requests and replies.

    def send(self, request: Request, compiler: Compiler, tools: Tools) -> ModelReply:
        """Send a request; its reply is read by this compiler, which knows these tools."""

        def keep(compiled: CompiledReply) -> None:
            if self._settings.text("debug.raw"):
                from andy_cli.models.capture import keep_outcome  # 10 ms, and captures are rare

                outcome = {**record_reply(compiled), "tools": list(tools.values())}
                keep_outcome(self._settings, outcome)

        reply = ModelReply(stop_repetition(self.client.reply(request)), compiler, keep)
        self.exchanges.append(ModelExchange(request.messages[-1], reply))
        return reply

    def count_received(self) -> int:
        """Count the characters of the newest reply that came so far."""
        return self.exchanges[-1].reply.received if self.exchanges else 0

    async def ask_aside(self, request: Request) -> str:
        """Ask for a short reply that nobody sees; returns its text alone."""
        reply = await self.send(request, Compiler(word_markers()), {}).read_whole()
        self.add_usage(reply.usage)
        return reply.compiled.text

    @property
    def is_captured(self) -> bool:
        """Captures are asked for."""
        return bool(self._settings.text("debug.raw"))

    def capture_event(self, kind: str, record: Mapping[str, object]) -> None:
        """Keep what happened between replies, where captures are asked for."""
        if self.is_captured:
            from andy_cli.models.capture import note_event  # costs start-up time

            note_event(self._settings, kind, record)

    def add_usage(self, usage: Usage) -> None:
        self.usage = self.usage.plus(usage)
