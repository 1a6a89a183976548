"""/compact: a summary in place of what was said so far, so that the window has room again."""

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command

NOTHING = "There is nothing to fold: a summary would not be shorter."


async def compact(desk: Desk, argument: str) -> str:
    """Raises UsageError, ModelError: there is no summary, and everything stays as it was."""
    if desk.open is None and desk.resumed is None:
        return NOTHING
    chat = (await desk.opened()).chat
    if chat.client.guided:
        raise UsageError(
            f"{chat.client.name} is too small to write a summary.",
            "/model changes the model. What does not fit its window is shortened by itself.",
        )
    desk.tell(f"{chat.client.name} writes a summary ... (Ctrl-C stops it)")
    done = await chat.compact(argument)
    if not done.messages:
        return NOTHING
    return f"folded {done.messages} messages: {done.before:,} -> {done.after:,} tokens"


COMMAND = Command(
    "compact",
    "/compact [WISHES]",
    "fold what was said into a summary; WISHES say what matters",
    compact,
    ("summarize", "compress"),
)
