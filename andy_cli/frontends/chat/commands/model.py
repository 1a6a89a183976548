"""/model: which model answers, or another one from now on (C17)."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.models import select
from andy_cli.settings import load


async def model(desk: Desk, argument: str) -> str:
    opened = await desk.opened()
    chat = opened.chat
    if not argument:
        return f"{chat.client.name}: {opened.why}; it writes {chat.dialect.name}."
    settings = load(desk.options.set, {"model": argument})
    chosen = await select.choose(settings)
    client = select.connect(chosen, settings, desk.tell)
    before = chat.client
    chat.use(client)
    opened.why = chosen.why
    await before.close()
    tools = len(chat.registry)
    return f"{client.name}: it writes {chat.dialect.name}, {tools} tools."


COMMAND = Command("model", "/model [NAME]", "show or change the model", model, ("models",))
