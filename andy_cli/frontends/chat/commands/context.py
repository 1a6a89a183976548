"""/context: what the model is told with each request, how much of its window that fills."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.models.token_count import tokens


async def context(desk: Desk, argument: str) -> str:
    chat = (await desk.opened()).chat
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
    lines += [f"told: {each.name}" for each in chat.instructions.files]
    return "\n".join(lines)


COMMAND = Command("context", "/context", "how full the window is", context, ("tokens",))
