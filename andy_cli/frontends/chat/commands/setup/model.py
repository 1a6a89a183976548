"""/model: which model answers, or another one from now on (C17)."""

import difflib
from collections.abc import Iterable
from dataclasses import replace

from andy_cli.agent.conversation import Conversation
from andy_cli.compiler.detect import NO_TEMPLATE, choose_dialect
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession, is_on_disk
from andy_cli.frontends.chat.slash_command import Offer, SlashCommand
from andy_cli.frontends.command_line.completion_values import VALUES
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.management.models_command import find_models, list_served_models
from andy_cli.frontends.session_factory import OpenConversation, describe_server, list_secrets
from andy_cli.frontends.terminal.tables import format_table
from andy_cli.guard.addresses import check_base_url, is_loopback_url, show_url
from andy_cli.models import select
from andy_cli.models.client import Endpoint
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.memory import recall_model
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings

CHANGE_HINT = "/model NUMBER, NAME, PROVIDER:NAME or a URL changes it."


async def show_or_switch_model(session: ChatSession, argument: str) -> str:
    if argument:
        options_before = session.options
        try:
            session.options = await find_options(session, argument)
            chosen, settings = await choose_wanted_model(session)
            if session.opened is not None:
                await switch_model(session, session.opened, chosen, settings)
            await session.open_conversation()
        except BaseException:
            session.options = options_before  # also after Ctrl-C: what works goes on working
            raise
    open_conversation = await session.open_conversation()
    if argument:
        open_conversation.why = "you chose it"
    line = describe_model(open_conversation)
    return line if argument else f"{line}\n\n{await list_models(session, open_conversation)}"


def describe_model(open_conversation: OpenConversation) -> str:
    conversation = open_conversation.chat
    writes = f"it writes {conversation.dialect.name} ({conversation.model.profile.why})"
    tools = f"{open_conversation.count_ready_tools()} tools"
    # A name alone does not tell who is sent the conversation.
    address = open_conversation.address
    server = f"its server is {show_url(address)}; " if address else ""
    return f"{conversation.client.name}: {open_conversation.why}; {server}{writes}, {tools}."


async def list_models(session: ChatSession, open_conversation: OpenConversation) -> str:
    """List the models there are, numbered, with their dialects; the session keeps the list."""
    rows = await find_rows(session)
    session.listed_models = [(name, address if "://" in address else "") for name, address in rows]
    lines = format_table(
        [
            (f"{number:3}", name, find_dialect(open_conversation.chat, name, address), address)
            for number, (name, address) in enumerate(rows, 1)
        ]
    )
    return "\n".join([*lines, "", CHANGE_HINT])


async def find_rows(session: ChatSession) -> list[tuple[str, str]]:
    """The models and where each is, those of the server that the chat was started with first."""
    settings = session.options.settings()
    rows = await find_models(settings, await select.ask_addressed_server(settings))
    first_options = session.first_options
    if first_options.base_url and session.options.base_url != first_options.base_url:
        server = await select.ask_addressed_server(first_options.settings())
        rows = [*list_served_models(server), *rows]
    return list(dict.fromkeys(rows))


def find_dialect(conversation: Conversation, name: str, address: str) -> str:
    """Find the dialect in which a model writes tool requests, without asking its server."""
    provider, model = select.parse_name(name)
    known_provider = providers_by_name()[provider]
    if known_provider.connect is not None:
        return "andybot"
    learned = recall_model(
        Endpoint(provider, model, address if "://" in address else known_provider.base_url)
    )
    capabilities = ("tools",) if known_provider.tools else ()
    dialects = conversation.model.dialects.values()
    return choose_dialect(model, NO_TEMPLATE, capabilities, dialects, learned).dialect.name


async def find_options(session: ChatSession, argument: str) -> Options:
    """The options that mean this model: a number of the list, a URL, PROVIDER[:NAME] or NAME.

    A NAME that the server in use lists is there; any other is looked for as at the start.
    """
    options = session.options
    if argument.isascii() and argument.isdigit():
        if not 0 < int(argument) <= len(session.listed_models):
            raise UsageError(f"There is no model number {argument}.", "/model lists them.")
        name, address = session.listed_models[int(argument) - 1]
        return replace(options, model=name, base_url=address)
    if "://" in argument:
        return await find_options_at(session, argument)
    return find_named_options(session, argument)


async def find_options_at(session: ChatSession, address: str) -> Options:
    """Find the options that mean the server at an address, with the model of the settings if it
    has that, else its own. Raises UsageError where nobody answers."""
    there = replace(session.options, model="", base_url=check_base_url(address))
    server = await select.ask_addressed_server(there.settings())
    assert server is not None  # an address is set
    endpoint, listing = server.endpoint, server.listing
    if listing.status == 0:
        raise UsageError(listing.explain(endpoint.base_url), "Is the server running?")
    model = endpoint.model
    if listing.models and model not in listing.models:
        model = select.preferred_model(listing.models, providers_by_name()[endpoint.provider])
    return replace(there, model=f"{endpoint.provider}:{model}" if model else "")


def find_named_options(session: ChatSession, argument: str) -> Options:
    """Find the options that mean PROVIDER[:NAME] or NAME."""
    options = session.options
    provider, name = select.parse_name(argument)
    model_in_use = session.opened.chat.client.name if session.opened is not None else ""
    current_provider, _ = select.parse_name(model_in_use)
    if provider:
        stays = provider == current_provider and bool(name)
        address = options.base_url if stays else find_first_address(session, provider)
        return replace(options, model=argument, base_url=address)
    if options.base_url or current_provider in ("", "local") or ":" in name:
        address = options.base_url or session.first_options.base_url
        return replace(options, model=argument, base_url=address)
    return replace(options, model=f"{current_provider}:{argument}")


def find_first_address(session: ChatSession, provider: str) -> str:
    """The address that the chat was started with, if models of this provider are asked there."""
    settings = session.first_options.settings()
    beside = select.find_provider_beside(settings, settings["base_url"].strength)
    return session.first_options.base_url if provider == beside else ""


def check_listed(chosen: Chosen, models: list[str]) -> None:
    """Refuse a name that a server on this machine does not list; others have aliases.

    Raises UsageError with the nearest names.
    """
    name, base_url = chosen.endpoint.model, chosen.endpoint.base_url
    if select.may_be_served(chosen.endpoint, models):
        return
    nearest_names = difflib.get_close_matches(name, models, n=3, cutoff=0.4) or models[:3]
    server_name = f"{chosen.endpoint.provider} at {show_url(base_url)}"
    raise UsageError(
        f"{server_name} has no model {name!r}.", f"Did you mean {', '.join(nearest_names)}?"
    )


async def choose_wanted_model(session: ChatSession) -> tuple[Chosen, Settings]:
    """The model that the options mean, with these settings. Raises UsageError, ModelError."""
    settings = session.options.settings()
    chosen = await select.choose_model(settings)
    if chosen.endpoint.base_url and is_loopback_url(chosen.endpoint.base_url):
        check_listed(chosen, await select.models_at(chosen.endpoint, settings))
    return chosen, settings


async def switch_model(
    session: ChatSession, open_conversation: OpenConversation, chosen: Chosen, settings: Settings
) -> None:
    """Go on with the conversation, but with another model."""
    if not is_on_disk(chosen):
        await session.fetch_weights(chosen.endpoint.model)
    client_before = open_conversation.chat.client
    client = select.connect_client(chosen, settings, session.tell, session.options.no_session)
    open_conversation.chat.switch_model(
        client, describe_server(chosen, settings, session.options.no_session)
    )
    open_conversation.why, open_conversation.address = chosen.why, chosen.endpoint.base_url
    if open_conversation.log is not None:
        open_conversation.log.secrets += list_secrets(chosen)
        open_conversation.log.update_card(model=client.name)
    await client_before.close()


def offer_models(session: ChatSession | None, typed: str) -> Iterable[Offer]:
    """The models that were listed last, then those that are known without asking a server."""
    models = session.listed_models if session is not None else []
    return [*((name, address or "listed") for name, address in models), *VALUES["models"]()]


COMMAND = SlashCommand(
    "model",
    "/model [NAME]",
    "show or change the model",
    show_or_switch_model,
    ("models",),
    offer_models,
    details=f"/model lists the models, each with its number; {CHANGE_HINT}",
)
