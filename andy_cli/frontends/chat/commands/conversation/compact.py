"""/compact: a summary in place of what was said so far, so that the window has room again."""

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand

NOTHING_TO_FOLD = "There is nothing to fold: a summary would not be shorter."


async def compact_conversation(session: ChatSession, argument: str) -> str:
    """Replace what was said by a summary.

    Raises UsageError, ModelError: there is no summary, and everything stays as it was.
    """
    if session.opened is None and session.resumed is None:
        return NOTHING_TO_FOLD
    conversation = (await session.open_conversation()).chat
    if conversation.client.guided:
        raise UsageError(
            f"{conversation.client.name} is too small to write a summary.",
            "/model changes the model. What does not fit its window is shortened by itself.",
        )
    session.tell(f"{conversation.client.name} writes a summary ... (Ctrl-C stops it)")
    sizes = await conversation.compact(argument)
    if not sizes.messages:
        return NOTHING_TO_FOLD
    return f"folded {sizes.messages} messages: {sizes.before:,} -> {sizes.after:,} tokens"


COMMAND = SlashCommand(
    "compact",
    "/compact [WISHES]",
    "replace the conversation so far by a summary; WISHES say what to keep",
    compact_conversation,
    ("summarize", "compress"),
)
