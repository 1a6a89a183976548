"""/play: a song, without a model; /stop ends the music."""

from collections.abc import Iterable
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import Desk
from andy_cli.frontends.chat.slash_command import Command, Offer
from andy_cli.frontends.chat.typed_tool import run_tool
from andy_cli.toolbox.music.song_search import known_names


async def play(desk: Desk, argument: str) -> str:
    if not argument:
        raise UsageError("/play takes a song: a file, or a part of its name.")
    path = Path(argument).expanduser()
    if path.is_file():
        return await run_tool(desk, "play_mp3", {"file": path.name, "path": str(path.parent)})
    return await run_tool(desk, "play_mp3", {"file": argument})


def complete(desk: Desk | None, typed: str) -> Iterable[Offer]:
    return ((name, "") for name in known_names())


COMMAND = Command("play", "/play SONG", "play a song", play, complete=complete)
