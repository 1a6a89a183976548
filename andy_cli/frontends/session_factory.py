"""Open a conversation: settings in, a model with its tools, gate and log out."""

import gc
import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.history import new_id
from andy_cli.agent.model.model_session import ModelFacts, ModelServer
from andy_cli.agent.prompt.system_prompt import Instructions, find_instruction_files
from andy_cli.compiler.detect import Template
from andy_cli.errors import Cancelled
from andy_cli.frontends.command_line.options import Options
from andy_cli.guard.gate import AskApproval, Gate, Mode
from andy_cli.guard.rules import Rules, find_unreachable_rules, parse_rules, read_rules
from andy_cli.messages import Effect
from andy_cli.models import select
from andy_cli.models.memory import learn_called, learn_refusal, learn_silent, recall_model
from andy_cli.models.select import Chosen
from andy_cli.sessions.log import Log
from andy_cli.sessions.store import ResumedSession
from andy_cli.settings import Settings, save, state_folder
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.mcp.hub import Hub
from andy_cli.toolbox.mcp.servers import describe_unread_files, find_servers

RELEASE_SECONDS = 0.5
"""Seconds in which a download that was stopped is expected to end."""


@dataclass(slots=True)
class OpenConversation:
    chat: Conversation
    why: str
    """Why this model, in words."""
    tools: Collection
    hub: Hub
    log: Log | None = None
    address: str = ""
    """Of the model's server; empty for a model inside andy."""

    async def wait_for_servers(self, task: str) -> None:
        """Wait for the MCP servers that a task names; for the others but a moment."""
        await self.hub.wait_for_task(task, self.chat.settings.number("mcp.wait"))

    def count_ready_tools(self) -> int:
        """Count the tools that need nothing more to be used."""
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
    tell_user: Callable[[str], None],
    ask_approval: AskApproval | None = None,
    resumed: ResumedSession | None = None,
    chosen: Chosen | None = None,
) -> OpenConversation:
    """Open a conversation.

    Raises UsageError, ModelError: no model, no such setting, a folder that cannot be written.

    `tell_user` gets what the user should know while it goes on: retries, a download's progress.
    `resumed` is a session to go on with, in its own file; else a new one is begun. `chosen` is the
    model, where that is known.
    """
    chosen = chosen or await select.choose_model(settings)
    if chosen.provider.name == "local":
        await fetch_weights(chosen.endpoint.model)
    client = select.connect_client(chosen, settings, tell_user, options.no_session)
    folder = Path.cwd()
    card_fields = {"folder": str(folder), "model": client.name}
    session_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{new_id()[:4]}"
    secrets = list_secrets(chosen)
    session_log = None
    if resumed is not None:
        session_log, session_id = resumed.log, resumed.card.id
        session_log.secrets += secrets
        session_log.update_card(**card_fields)
    elif not options.no_session:
        session_log = Log(sessions_folder(), session_id, secrets, card_fields)
    enter_workspace(options, settings, session_id)
    tools = Collection(settings, folder.resolve())
    for sentence in (*settings.notes, *tools.take_problems()):
        tell_user(sentence)
    gate = create_gate(options, settings, folder, ask_approval)
    gate.keep = lambda rules: tell_user(f"Kept in {keep_rules(rules)}.")
    names = [tool.name for tool in tools.registry]
    mcp_servers = find_servers(settings, folder.resolve(), map(Path, options.mcp_config))
    server_names = [mcp_server.name for mcp_server in mcp_servers]
    unread_notes = describe_unread_files(settings, folder.resolve())
    for sentence in (*find_unreachable_rules(gate.rules, names, server_names), *unread_notes):
        tell_user(sentence)
    server = describe_server(chosen, settings, options.no_session)
    hub = Hub(mcp_servers, tools.registry, tell_user)
    hub.start()
    instructions = load_instructions(options, settings, folder, client.guided, tell_user)
    conversation = Conversation(
        client,
        tools.registry,
        gate,
        settings,
        folder,
        session_log,
        session_id,
        server,
        instructions,
    )
    if resumed is not None:
        await conversation.restore(resumed.messages, resumed.compaction)
        conversation.tools.restore_actions(resumed.ended)
    # The door switched it off; what is loaded by now stays and need not be looked at again.
    gc.freeze()
    gc.enable()
    address = chosen.endpoint.base_url
    return OpenConversation(conversation, chosen.why, tools, hub, session_log, address)


def sessions_folder() -> Path:
    return state_folder() / "sessions"


def list_secrets(chosen: Chosen) -> list[str]:
    """The keys this process knows, which no session may hold."""
    from andy_cli.guard.redactor import secrets_of  # 3 ms, after the prompt

    return [key for key in (chosen.endpoint.key, *secrets_of(os.environ)) if key]


def enter_workspace(options: Options, settings: Settings, session_id: str = "") -> None:
    """Let tools work in the current folder."""
    journals = None if options.no_session else state_folder() / "undo"
    runtime_context.enter_context(settings, Path.cwd(), session_id, journals)


def load_instructions(
    options: Options,
    settings: Settings,
    folder: Path,
    guided: bool,
    tell_user: Callable[[str], None],
) -> Instructions:
    """Collect what the model is told beside andy's own rules."""
    further = tuple(map(Path, options.add_dir))
    instruction_files = find_instruction_files(settings, folder)
    names = ", ".join(file.name for file in instruction_files.files)
    if names and guided:
        tell_user(f"Not told to this model, which is too small for it: {names}.")
    elif names:
        tell_user(f"Told the model what {names} says.")
    for sentence in instruction_files.notes:
        tell_user(sentence)
    return Instructions(
        options.system, options.append_system_prompt, further, instruction_files.files
    )


def create_gate(
    options: Options, settings: Settings, folder: Path, ask_approval: AskApproval | None
) -> Gate:
    """The gate with the user's rules. Raises UsageError for what is no rule."""
    given_rules = parse_rules(options.deny, (), options.allow)
    kept_rules = read_rules(settings)
    rules = Rules(*(kept + given for kept, given in zip(kept_rules, given_rules, strict=True)))
    folders = settings.texts("music.folders")
    further = tuple(map(Path, options.add_dir))
    return Gate(
        folder, folders, rules, cast(Mode, settings.text("guard.mode")), ask_approval, further
    )


def keep_rules(rules: Sequence[str]) -> Path:
    """Allow this for good, in the user's own settings; returns their file."""
    return save("guard.allow", lambda learned: list(dict.fromkeys((*learned, *rules))))


def describe_server(chosen: Chosen, settings: Settings, forget: bool) -> ModelServer:
    """Describe the chosen model's server: what is remembered of it, and how it is asked.

    With `forget` nothing is kept.
    """
    endpoint = chosen.endpoint

    async def takes_tools() -> bool | None:
        from andy_cli.models.server import facts

        return await facts.takes_tools(endpoint, settings)

    server = ModelServer(
        create_fact_query(chosen, settings),
        takes_tools,
        recall_model(endpoint),
        believed=not endpoint.base_url or chosen.provider.is_hosted(endpoint.base_url),
    )
    if forget:
        return server
    return server._replace(
        refused=partial(learn_refusal, endpoint),
        called=partial(learn_called, endpoint),
        silent=partial(learn_silent, endpoint),
    )


def create_fact_query(chosen: Chosen, settings: Settings) -> Callable[[], Awaitable[ModelFacts]]:
    """Make the function that asks the chosen model's server for the facts of the model, once."""
    known_facts: list[ModelFacts] = []

    async def ask_facts() -> ModelFacts:
        # Only for servers that take no tools, and for long histories.
        from andy_cli.models.server import facts, rendering

        if not known_facts:
            facts_found = await facts.facts(chosen.endpoint, settings)
            source = facts_found.template
            rendered = await rendering.render_template(source) if source else ()
            template, is_inside = Template(source, rendered), chosen.provider.connect is not None
            known_facts.append(ModelFacts(template, facts_found.context, is_inside))
        return known_facts[0]

    return ask_facts


async def fetch_weights(model: str, progress: Callable[[int, int], None] | None = None) -> None:
    """The weights of a local model are here; the first use fetches them.

    `progress` is told the bytes done and in all, in another thread. Cancelled, the download ends;
    what came of it is kept where it can be gone on with.
    """
    # Only where a model runs inside andy.
    from andy_cli.frontends.terminal.progress_bars import create_download_bar
    from andy_cli.models.inside import weights

    if weights.find(model) is not None:
        return
    stopped, ended = threading.Event(), threading.Event()
    show_progress = progress or create_download_bar(model)

    def report(done_bytes: int, total: int) -> None:
        if stopped.is_set():
            raise Cancelled("stopped")
        show_progress(done_bytes, total)

    def pull() -> None:
        try:
            weights.pull(model, report)
        finally:
            ended.set()

    try:
        await runtime_context.run_in_daemon_thread(pull)
    finally:
        stopped.set()
        # The next download goes on with the same file, once this one lets it go.
        await runtime_context.run_in_daemon_thread(lambda: ended.wait(RELEASE_SECONDS))
