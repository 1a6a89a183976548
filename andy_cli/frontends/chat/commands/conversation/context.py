"""/context: what the model is told with each request, how much of its window that fills."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.models.token_count import tokens


async def show_context(session: ChatSession, argument: str) -> str:
    chat = (await session.open_conversation()).chat
    window = await chat.budget.find_window()
    profile = chat.model.profile
    system, told = tokens(profile.system), chat.requests.select_messages()
    history = chat.history.count_tokens()
    rows = [
        ("rules and instructions", system),
        (f"{len(profile.schemas)} tools", profile.schema_tokens),
        (f"{len(told)} messages", history),
    ]
    whole = sum(size for _, size in rows)
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  about {size:>7,} tokens" for name, size in rows if size]
    lines.append(f"{'in all'.ljust(width)}  about {whole:>7,} of {window:,}, {whole / window:.0%}")
    lines += [f"told: {file.name}" for file in chat.instructions.files]
    return "\n".join(lines)


COMMAND = SlashCommand(
    "context", "/context", "what fills the model's context window", show_context, ("tokens",)
)
