"""/cost: the tokens that this conversation took, as the models' servers counted them."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.models.select import parse_name

NOTHING_SENT = "Nothing has been sent yet."


async def show_cost(session: ChatSession, argument: str) -> str:
    if session.opened is None or not session.opened.chat.model.exchanges:
        return NOTHING_SENT
    conversation = session.opened.chat
    usage = conversation.model.usage
    counted = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    tokens = counted if any(usage) else "tokens: unknown, the server counts none"
    if parse_name(conversation.client.name)[0] == "local":
        return f"{tokens}\ncost: nothing, {conversation.client.name} runs on this machine"
    return f"{tokens}\ncost: unknown, no server tells what it asks for a token"


COMMAND = SlashCommand(
    "cost", "/cost", "show the tokens used, and what they cost", show_cost, ("stats",)
)
