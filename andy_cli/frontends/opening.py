"""Open a conversation: settings in, a model with its tools, gate and log out."""

import gc
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.result_pairing import new_id
from andy_cli.agent.model.model_server import ModelFacts, ModelServer
from andy_cli.agent.prompt.instructions import Instructions, find_instruction_files
from andy_cli.compiler.detect import Template
from andy_cli.errors import Cancelled, UsageError
from andy_cli.frontends.options import Options
from andy_cli.guard.gate import Asker, Gate, Mode
from andy_cli.guard.rules import find_unreachable_rules, parse_rules
from andy_cli.messages import Effect
from andy_cli.models import select
from andy_cli.models.memory import learn_called, learn_refusal, learn_silent, recall_model
from andy_cli.models.select import Chosen
from andy_cli.sessions.log import Log
from andy_cli.sessions.resuming import ResumedSession
from andy_cli.settings import Settings, load, save, state_folder
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.mcp.hub import Hub
from andy_cli.toolbox.mcp.servers import servers

LETTING_GO = 0.5
"""Seconds in which a download that was stopped is expected to end."""


@dataclass(slots=True)
class Opened:
    chat: Conversation
    why: str
    """Why this model, in words."""
    tools: Collection
    hub: Hub
    log: Log | None = None

    async def wait_for_servers(self, task: str) -> None:
        """Wait for the MCP servers that a task names; for the others but a moment."""
        await self.hub.wait_for_task(task, self.chat.settings.number("mcp.wait"))

    def count_ready_tools(self) -> int:
        """How many tools need nothing more to be used."""
        tools = [tool for tool in self.chat.registry if tool.effect is not Effect.PROTOCOL]
        return sum(not tool.unavailable_reason() for tool in tools)

    async def close(self) -> None:
        await self.chat.background.join()
        await self.hub.close()
        await self.chat.client.close()
        if self.log is not None:
            self.log.close()


async def open_chat(
    options: Options,
    settings: Settings,
    tell: Callable[[str], None],
    ask: Asker | None = None,
    resumed: ResumedSession | None = None,
    chosen: Chosen | None = None,
) -> Opened:
    """Raises UsageError, ModelError: no model, no such setting, a folder that cannot be written.

    `tell` gets what the user should know while it goes on: retries, a download's progress.
    `resumed` is a session to go on with, in its own file; else a new one is begun. `chosen` is the
    model, where that is known.
    """
    chosen = chosen or await select.choose_model(settings)
    if chosen.provider.name == "local":
        await fetched(chosen.endpoint.model)
    client = select.connect_client(chosen, settings, tell, options.no_session)
    folder = Path.cwd()
    card = {"folder": str(folder), "model": client.name}
    session_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{new_id()[:4]}"
    secrets = secrets_in_use(chosen)
    log = None
    if resumed is not None:
        log, session_id = resumed.log, resumed.card.id
        log.secrets += secrets
        log.update_card(**card)
    elif not options.no_session:
        log = Log(sessions_folder(), session_id, secrets, card)
    enter_workspace(options, settings, session_id)
    tools = Collection(settings, folder.resolve())
    for sentence in (*settings.notes, *tools.take_problems()):
        tell(sentence)
    gate = gate_of(options, settings, folder, ask)
    gate.keep = lambda rules: tell(f"Kept in {keep_rules(rules)}.")
    names = [each.name for each in tools.registry]
    for sentence in find_unreachable_rules(gate.rules, names):
        tell(sentence)
    server = server_of(chosen, settings, options.no_session)
    hub = Hub(
        servers(settings, folder.resolve(), map(Path, options.mcp_config)), tools.registry, tell
    )
    hub.start()
    instructions = instructions_of(options, settings, folder, client.guided, tell)
    chat = Conversation(
        client,
        tools.registry,
        gate,
        settings,
        folder,
        log,
        session_id,
        server,
        instructions,
    )
    if resumed is not None:
        await chat.restore(resumed.messages, resumed.compaction)
    # The door switched it off; what is loaded by now stays and need not be looked at again.
    gc.freeze()
    gc.enable()
    return Opened(chat, chosen.why, tools, hub, log)


def sessions_folder() -> Path:
    return state_folder() / "sessions"


def secrets_in_use(chosen: Chosen) -> list[str]:
    """The keys this process knows, which no session may hold."""
    from andy_cli.guard.redactor import secrets_of  # 3 ms, behind the prompt

    return [key for key in (chosen.endpoint.key, *secrets_of(os.environ)) if key]


def enter_workspace(options: Options, settings: Settings, session_id: str = "") -> None:
    """Let tools work in the current folder."""
    journals = None if options.no_session else state_folder() / "undo"
    runtime_context.enter_context(settings, Path.cwd(), session_id, journals)


def instructions_of(
    options: Options,
    settings: Settings,
    folder: Path,
    guided: bool,
    tell: Callable[[str], None],
) -> Instructions:
    """What the model is told beside the rules of the house."""
    further = tuple(map(Path, options.add_dir))
    found = find_instruction_files(settings, folder)
    names = ", ".join(each.name for each in found.files)
    if names and guided:
        tell(f"Not told to this model, which is too small for it: {names}.")
    elif names:
        tell(f"Told the model what {names} says.")
    for sentence in found.notes:
        tell(sentence)
    return Instructions(options.system, options.append_system_prompt, further, found.files)


def gate_of(options: Options, settings: Settings, folder: Path, ask: Asker | None) -> Gate:
    """The gate with the user's rules. Raises UsageError for what is no rule or no mode."""
    mode = settings["guard.mode"]
    if mode.value not in get_args(Mode):
        modes = ", ".join(get_args(Mode))
        raise UsageError(f"{mode.origin}: there is no mode {mode.value!r}.", f"There are: {modes}.")
    rules = parse_rules(
        (*settings.texts("guard.deny"), *options.deny),
        settings.texts("guard.ask"),
        (*settings.texts("guard.allow"), *options.allow),
    )
    folders = settings.texts("music.folders")
    further = tuple(map(Path, options.add_dir))
    return Gate(folder, folders, rules, cast(Mode, mode.value), ask, further)


def keep_rules(rules: Sequence[str]) -> Path:
    """Allow this for good, in the user's own settings; returns their file."""
    kept = load().texts("guard.allow")
    return save("guard.allow", [*kept, *(each for each in rules if each not in kept)])


def server_of(chosen: Chosen, settings: Settings, forget: bool = False) -> ModelServer:
    """What is remembered of the chosen model, and how its server is asked; with `forget` nothing
    is kept."""
    kept = recall_model(chosen.endpoint)

    def refused(instead: str, why: str) -> None:
        if not forget:
            learn_refusal(chosen.endpoint, instead, why)

    def called() -> None:
        if not forget:
            learn_called(chosen.endpoint)

    def silent(replies: int) -> None:
        if not forget:
            learn_silent(chosen.endpoint, replies)

    believed = not chosen.endpoint.base_url or chosen.provider.is_hosted(chosen.endpoint.base_url)
    return ModelServer(
        ask=facts_of(chosen, settings),
        takes_tools=lambda: takes_tools(chosen, settings),
        learned=kept,
        believed=believed,
        refused=refused,
        called=called,
        silent=silent,
    )


async def takes_tools(chosen: Chosen, settings: Settings) -> bool | None:
    """Whether the chosen model's server says that it takes tools."""
    from andy_cli.models.server import facts

    return await facts.takes_tools(chosen.endpoint, settings)


def facts_of(chosen: Chosen, settings: Settings) -> Callable[[], Awaitable[ModelFacts]]:
    """How to ask the chosen model's server what it tells of the model, once."""
    known: list[ModelFacts] = []

    async def ask() -> ModelFacts:
        # Only for servers that take no tools, and for long histories.
        from andy_cli.models.server import facts, rendering

        if not known:
            told = await facts.facts(chosen.endpoint, settings)
            template = Template(told.template, await rendering.render_template(told.template))
            known.append(ModelFacts(template, told.context))
        return known[0]

    return ask


async def fetched(model: str, progress: Callable[[int, int], None] | None = None) -> None:
    """The weights of a local model are here; the first use fetches them.

    `progress` is told the bytes done and in all, in another thread. Cancelled, the download ends;
    what came of it is kept where it can be gone on with.
    """
    # Only where a model runs inside andy.
    from andy_cli.frontends.progress import progress_bar
    from andy_cli.models.inside import weights
    from andy_cli.toolbox.daemon_thread import run_in_daemon_thread

    if weights.find(model) is not None:
        return
    stopped, ended = threading.Event(), threading.Event()
    show = progress or progress_bar(model)

    def report(done: int, total: int) -> None:
        if stopped.is_set():
            raise Cancelled("stopped")
        show(done, total)

    def pull() -> None:
        try:
            weights.pull(model, report)
        finally:
            ended.set()

    try:
        await run_in_daemon_thread(pull)
    finally:
        stopped.set()
        # The next download goes on with the same file, once this one lets it go.
        await run_in_daemon_thread(lambda: ended.wait(LETTING_GO))
