"""/stop: the music ends."""

from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command
from andy_cli.frontends.chat.typed_tool import run_tool


async def stop(desk: Desk, argument: str) -> str:
    return await run_tool(desk, "stop_mp3", {})


COMMAND = Command("stop", "/stop", "stop the music", stop)
