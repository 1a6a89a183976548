"""/stop: the music ends."""

from andy_cli.frontends.chat.command import Command
from andy_cli.frontends.chat.desk import Desk
from andy_cli.frontends.chat.run_tool import run_tool


async def stop(desk: Desk, argument: str) -> str:
    return await run_tool(desk, "stop_mp3", {})


COMMAND = Command("stop", "/stop", "stop the music", stop)
