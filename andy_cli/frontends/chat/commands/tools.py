"""/tools: what andy can do, in the user's words."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk


async def tools(desk: Desk, argument: str) -> str:
    opened = await desk.opened()
    rows = [(tool.name, str(tool.effect), tool.description) for tool in opened.chat.registry]
    width = max((len(name) for name, _, _ in rows), default=0)
    return "\n".join(f"{name.ljust(width)}  {effect:8}  {about}" for name, effect, about in rows)


COMMAND = Command("tools", "/tools", "what andy can do", tools)
