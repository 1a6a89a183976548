"""A conversation with scripted tools, for tests of the turn."""

import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import Field

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.prompt.system_prompt import Instructions
from andy_cli.agent.turn import turn
from andy_cli.events import Event
from andy_cli.guard.gate import Gate
from andy_cli.models.client import ModelClient
from andy_cli.settings import load
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome, ToolError, tool


@tool(effect="read", action="list the music in {path}")
def list_mp3s(path: str = "") -> Outcome:
    """List all MP3 files in the music library"""
    if path == "/nowhere":
        raise ToolError("There is no folder /nowhere. Ask the user where the music is.")
    return Outcome(["song1.mp3", "song2.mp3"], f"listed 2 songs in {path}")


@tool(effect="play", action="play {file}")
def play_mp3(path: str = "", *, file: str) -> str:
    """Play a specific MP3 file from the library"""
    return f"playing {file}"


@tool(effect="play", action="set the volume to {volume}")
def set_volume(volume: Annotated[int, Field(ge=0, le=100)]) -> None:
    """Set the volume"""


@tool(effect="read", action="ping")
def ping() -> str:
    """Say pong"""
    return "pong"


@tool(effect="write", action="write {file}")
def note(file: str) -> str:
    """Write a note"""
    return f"wrote {file}"


@tool(effect="read", action="break")
def broken() -> str:
    """Break"""
    raise RuntimeError("out of order")


MUSIC = Registry([list_mp3s, play_mp3, set_volume, ping, note, broken])


def conversation(
    model: ModelClient, *settings: str, gate: Gate | None = None, instructions: str = ""
) -> Conversation:
    folder = Path.cwd()
    return Conversation(
        model,
        MUSIC,
        gate or Gate(folder),
        load(settings, environment={}),
        folder,
        instructions=Instructions(appended=instructions),
    )


def events_of(model: ModelClient, user: str, *settings: str) -> list[Event]:
    """All that happens in one turn of a fresh conversation."""

    async def collected() -> list[Event]:
        return [event async for event in turn(conversation(model, *settings), user)]

    return asyncio.run(collected())
