"""/model: which model answers, or another one from now on (C17)."""

import difflib
from collections.abc import Iterable
from dataclasses import replace

from andy_cli.agent.conversation import Conversation
from andy_cli.compiler.detect import NO_TEMPLATE, choose_dialect
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.command import Command, Offer
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.completion_values import VALUES
from andy_cli.frontends.models import find_models
from andy_cli.frontends.opening import Opened, secrets_in_use, server_of
from andy_cli.frontends.options import Options
from andy_cli.models import select
from andy_cli.models.client import Endpoint
from andy_cli.models.http.addresses import is_loopback, show_url
from andy_cli.models.memory import recall_model
from andy_cli.models.presets import presets
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings


async def model(desk: Desk, argument: str) -> str:
    if argument:
        before = desk.options
        desk.options = find_options(desk, argument)
        try:
            found, settings = await choose(desk)
            if desk.open is not None:
                await switch(desk, desk.open, found, settings)
            await desk.opened()
        except BaseException:
            desk.options = before  # also after Ctrl-C: what works goes on working
            raise
    opened = await desk.opened()
    if argument:
        opened.why = "you chose it"
    line = describe_model(opened)
    return line if argument else f"{line}\n\n{await list_models(desk, opened)}"


def describe_model(opened: Opened) -> str:
    chat = opened.chat
    writes = f"it writes {chat.dialect.name} ({chat.model.profile.why})"
    return f"{chat.client.name}: {opened.why}; {writes}, {opened.count_ready_tools()} tools."


async def list_models(desk: Desk, opened: Opened) -> str:
    """What is there now, numbered, and how each writes tool requests; remembered on the desk."""
    settings = desk.options.settings()
    listed = await find_models(settings)
    here, _ = select.parse_name(opened.chat.client.name)
    if desk.options.base_url:
        names = await select.models_at(Endpoint(here, "", desk.options.base_url), settings)
        listed = [(f"{here}:{name}", desk.options.base_url) for name in names] + listed
    rows = list(dict.fromkeys(listed))
    desk.listed = [(name, where if "://" in where else "") for name, where in rows]
    width = max((len(name) for name, _ in rows), default=0)
    lines = [
        f"{at:3}  {name.ljust(width)}  {find_dialect(opened.chat, name, where):8}  {where}"
        for at, (name, where) in enumerate(rows, 1)
    ]
    return "\n".join([*lines, "", "/model NUMBER, NAME, PROVIDER:NAME or a URL changes it."])


def find_dialect(chat: Conversation, name: str, where: str) -> str:
    """How a model writes tool requests, as far as that is known without asking it."""
    provider, model = select.parse_name(name)
    preset = presets()[provider]
    if preset.connect is not None:
        return "andybot"
    learned = recall_model(Endpoint(provider, model, where if "://" in where else preset.base_url))
    takes = ("tools",) if preset.tools else ()
    return choose_dialect(
        model, NO_TEMPLATE, takes, chat.model.dialects.values(), learned
    ).dialect.name


def find_options(desk: Desk, argument: str) -> Options:
    """The options that mean this model: a number of the list, a URL, PROVIDER[:NAME] or NAME.

    A NAME that the server in use lists is there; any other is looked for as at the start.
    """
    options = desk.options
    if argument.isascii() and argument.isdigit():
        if not 0 < int(argument) <= len(desk.listed):
            raise UsageError(f"There is no model number {argument}.", "/model lists them.")
        name, where = desk.listed[int(argument) - 1]
        return replace(options, model=name, base_url=where)
    if "://" in argument:
        return replace(options, model="", base_url=argument)
    provider, name = select.parse_name(argument)
    used = desk.open.chat.client.name if desk.open is not None else ""
    here, _ = select.parse_name(used)
    if provider:
        stays = provider == here and bool(name)
        return replace(options, model=argument, base_url=options.base_url if stays else "")
    if options.base_url or here in ("", "local") or ":" in name:
        return replace(options, model=argument)
    return replace(options, model=f"{here}:{argument}")


def check_listed(found: Chosen, listed: list[str]) -> None:
    """Refuse a name that a server on this machine does not list; others have aliases.

    Raises UsageError with the nearest names.
    """
    name, base_url = found.endpoint.model, found.endpoint.base_url
    if not listed or not is_loopback(base_url) or {name, f"{name}:latest"}.intersection(listed):
        return
    near = difflib.get_close_matches(name, listed, n=3, cutoff=0.4) or listed[:3]
    where = f"{found.endpoint.provider} at {show_url(base_url)}"
    raise UsageError(f"{where} has no model {name!r}.", f"Did you mean {', '.join(near)}?")


async def choose(desk: Desk) -> tuple[Chosen, Settings]:
    """The model that the options mean, with these settings. Raises UsageError, ModelError."""
    settings = desk.options.settings()
    found = await select.choose_model(settings)
    if found.endpoint.base_url and is_loopback(found.endpoint.base_url):
        check_listed(found, await select.models_at(found.endpoint, settings))
    return found, settings


async def switch(desk: Desk, opened: Opened, found: Chosen, settings: Settings) -> None:
    """The same conversation with another model."""
    if found.provider.name == "local":
        await desk.fetch(found.endpoint.model)
    before = opened.chat.client
    client = select.connect_client(found, settings, desk.tell, desk.options.no_session)
    opened.chat.switch_model(client, server_of(found, settings, desk.options.no_session))
    opened.why = found.why
    if opened.log is not None:
        opened.log.secrets += secrets_in_use(found)
        opened.log.update_card(model=client.name)
    await before.close()


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    """The models that were listed last, then those that are known without asking a server."""
    listed = desk.listed if desk is not None else []
    return [*((name, where or "listed") for name, where in listed), *VALUES["models"]()]


COMMAND = Command(
    "model", "/model [NAME]", "show or change the model", model, ("models",), complete
)
