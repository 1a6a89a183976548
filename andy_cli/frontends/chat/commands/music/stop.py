"""/stop: the music ends."""

from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.frontends.chat.typed_command import run_typed_tool


async def stop_music(session: ChatSession, argument: str) -> str:
    return await run_typed_tool(session, "stop_mp3", {})


COMMAND = SlashCommand("stop", "/stop", "stop the music", stop_music)
