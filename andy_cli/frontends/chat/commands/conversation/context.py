"""/context: what the model is told with each request, how much of its window that fills."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.models.token_count import estimate_tokens


async def show_context(session: ChatSession, argument: str) -> str:
    conversation = (await session.open_conversation()).chat
    window = await conversation.budget.find_window()
    profile = conversation.model.profile
    system, told_messages = estimate_tokens(profile.system), conversation.requests.select_messages()
    history = conversation.history.told.count_tokens()
    rows = [
        ("rules and instructions", system),
        (f"{len(profile.schemas)} tools", profile.schema_tokens),
        (f"{len(told_messages)} messages", history),
    ]
    total_tokens = sum(size for _, size in rows)
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  about {size:>7,} tokens" for name, size in rows if size]
    window_size, share = await conversation.budget.describe_window(), f"{total_tokens / window:.0%}"
    lines.append(f"{'in all'.ljust(width)}  about {total_tokens:>7,} of {window_size}, {share}")
    if total_tokens > window:
        lines.append("the oldest of it is shortened before the next request")
    if own_context := conversation.budget.own_context:
        name = conversation.client.name
        lines.append(f"{name} itself reads the newest {own_context:,}, what chooses its steps all")
    lines += [f"told: {file.name}" for file in conversation.instructions.files]
    return "\n".join(lines)


COMMAND = SlashCommand(
    "context", "/context", "what fills the model's context window", show_context, ("tokens",)
)
