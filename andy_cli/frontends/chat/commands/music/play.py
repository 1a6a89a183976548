"""/play: a song, without a model; /stop ends the music."""

from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import SlashCommand
from andy_cli.frontends.chat.typed_command import run_typed_tool
from andy_cli.toolbox.music.songs import known_names


async def play_song(session: ChatSession, argument: str) -> str:
    if not argument:
        raise UsageError("/play takes a song: a file, or a part of its name.")
    path = Path(argument).expanduser()
    if path.is_file():
        return await run_typed_tool(
            session, "play_mp3", {"file": path.name, "path": str(path.parent)}
        )
    return await run_typed_tool(session, "play_mp3", {"file": argument})


COMMAND = SlashCommand(
    "play",
    "/play SONG",
    "play a song",
    play_song,
    complete=lambda session, typed: [(name, "") for name in known_names()],
)
