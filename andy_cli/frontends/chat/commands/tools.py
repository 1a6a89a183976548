"""/tools: what andy can do, in the user's words."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.messages import Effect


async def tools(desk: Desk, argument: str) -> str:
    opened = await desk.opened()
    there = [tool for tool in opened.chat.registry if tool.effect is not Effect.PROTOCOL]
    width = max((len(tool.name) for tool in there), default=0)
    lines: dict[str, list[str]] = {}
    for tool in there:
        line = f"{tool.name.ljust(width)}  {tool.effect:8}  {tool.description}"
        lines.setdefault(tool.needs(), []).append(line)
    ready = lines.pop("", [])
    groups = [f"{len(ready)} tools are ready:", *ready]
    for needed, rows in lines.items():
        groups += ["", f"{len(rows)} not ready: {needed}", *rows]
    return "\n".join(groups)


COMMAND = Command("tools", "/tools", "what andy can do", tools)
