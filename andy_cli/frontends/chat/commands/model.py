"""/model: which model answers, or another one from now on (C17)."""

from dataclasses import replace

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.opening import Opened, fetched, secrets_in_use, server_of
from andy_cli.frontends.options import Options
from andy_cli.models import select


async def model(desk: Desk, argument: str) -> str:
    if argument:
        before = desk.options
        desk.options = options_for(desk, argument)
        try:
            if desk.open is not None:
                await switch(desk, desk.open)
            await desk.opened()
        except BaseException:
            desk.options = before  # also after Ctrl-C: what works goes on working
            raise
    opened = await desk.opened()
    chat = opened.chat
    tools = len(chat.registry)
    writes = f"it writes {chat.dialect.name} ({chat.speech.why})"
    return f"{chat.client.name}: {opened.why}; {writes}, {tools} tools."


def options_for(desk: Desk, argument: str) -> Options:
    """NAME is a model where we are now, PROVIDER or PROVIDER:NAME is one of theirs."""
    provider, _ = select.parse_name(argument)
    if provider:
        return replace(desk.options, model=argument, base_url="", api_key_env="")
    if desk.open is not None and not desk.options.base_url:
        here, _ = select.parse_name(desk.open.chat.client.name)
        return replace(desk.options, model=f"{here}:{argument}" if here else argument)
    return replace(desk.options, model=argument)


async def switch(desk: Desk, opened: Opened) -> None:
    """The same conversation with another model."""
    settings = desk.options.settings()
    chosen = await select.choose(settings)
    if chosen.provider.name == "local":
        await fetched(chosen.endpoint.model)
    before = opened.chat.client
    client = select.connect(chosen, settings, desk.tell, desk.options.no_session)
    opened.chat.use(client, server_of(chosen, settings, desk.options.no_session))
    opened.why = chosen.why
    if opened.log is not None:
        opened.log.secrets += secrets_in_use(chosen)
    await before.close()


COMMAND = Command("model", "/model [NAME]", "show or change the model", model, ("models",))
