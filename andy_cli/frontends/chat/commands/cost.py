"""/cost: the tokens that this conversation took, as the models' servers counted them."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.models.select import parse_name

NOTHING = "Nothing has been sent yet."


async def cost(desk: Desk, argument: str) -> str:
    if desk.open is None or not desk.open.chat.model.exchanges:
        return NOTHING
    chat = desk.open.chat
    used = chat.model.usage
    counted = f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out"
    tokens = counted if any(used) else "tokens: unknown, the server counts none"
    if parse_name(chat.client.name)[0] == "local":
        return f"{tokens}\ncost: nothing, {chat.client.name} runs on this machine"
    return f"{tokens}\ncost: unknown, no server tells what it asks for a token"


COMMAND = Command("cost", "/cost", "tokens that were used, and what they cost", cost, ("stats",))
