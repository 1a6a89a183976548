"""The machine: the time, a page in the browser, a voice, and commands that the user made.

Each tool imports what does its work when it is first called: this file is loaded at every start.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from andy_cli.toolbox.programs import voice_program
from andy_cli.toolbox.runtime_context import current_context, in_thread
from andy_cli.toolbox.tool import Outcome, ResourceAccess, parameter, tool

TIMEOUT = 300
"""Seconds that a command of the user's own may take."""

NO_VOICE = (
    "This machine has no voice: it needs espeak-ng (apt install espeak-ng, or brew install "
    "espeak-ng)."
)
NO_PLAYER = "Speaking needs the Python package miniaudio: pip install miniaudio."


def _list_places() -> Sequence[str]:
    from andy_cli.toolbox.machine.places import list_places

    return [*list_places()]


@tool(
    effect="read",
    title="clock",
    aliases=(
        "get_current_time",
        "get_time",
        "get_current_datetime",
        "get_datetime",
    ),
    action="look up the time in {timezone}",
    examples=(
        "what time is it?",
        "how late is it there?",
        "which day is it today?",
        "what is the date?",
    ),
    members={"timezone": _list_places},
)
def current_time(
    timezone: Annotated[
        str,
        parameter(
            "a time zone as Europe/Berlin, if not that of this machine",
            aliases=["tz", "time_zone", "zone", "location", "city"],
        ),
    ] = "",
) -> Outcome:
    """Tell the date, time and weekday."""
    from andy_cli.toolbox.machine import clock

    told = clock.time_in_zone(timezone)
    return Outcome(told, f"looked up the time: {clock.phrase_time(told)}")


def _access_of_opening(arguments: Mapping[str, object]) -> ResourceAccess:
    from andy_cli.toolbox.machine import browser

    url = browser.check_address(str(arguments.get("url") or ""))
    # It is the user's browser that asks for it, and that may look at what runs on this machine.
    return ResourceAccess(address=url, trusted=True)


@tool(
    effect="act",
    title="web browser",
    action="open {url|a page} in your browser",
    find_access=_access_of_opening,
    returns_result=False,
    examples=(
        "open the page in my browser",
        "go to the web address in the browser",
    ),
)
def open_url(
    url: Annotated[
        str,
        parameter(
            "the address, with https://",
            aliases=["address", "link", "href", "page", "website"],
            min_length=1,
        ),
    ],
) -> Outcome:
    """Open a page in the user's browser."""
    from andy_cli.toolbox.machine import browser

    return browser.open_page(url)


def _mute() -> str:
    """Say what is missing before anything can be said."""
    if not voice_program():
        return NO_VOICE
    return "" if importlib.util.find_spec("miniaudio") else NO_PLAYER


@tool(
    effect="play",
    title="voice",
    action="say something",
    unavailable_reason=_mute,
    background=True,
    examples=(
        "say this aloud",
        "speak these words",
    ),
)
async def say(
    utterance: Annotated[
        str,
        parameter(
            "what is to be said",
            aliases=["text", "speech", "message", "content", "words"],
            min_length=1,
        ),
    ],
    voiceId: Annotated[
        str,
        parameter("a voice or a language, as en-gb", aliases=["voice", "voice_id", "language"]),
    ] = "",
    style: Annotated[
        str,
        parameter(
            "how it is said: slow, fast, calm, cheerful, whisper",
            aliases=["tone", "mood", "emotion"],
        ),
    ] = "",
) -> Outcome:
    """Say a text aloud."""
    from andy_cli.toolbox.machine import speech

    return await speech.speak_text(utterance, voiceId, style)


def _own() -> str:
    if current_context().settings.read_custom():
        return ""
    return "There are no commands of your own. Add [custom.NAME] with a command to config.toml."


def _access_of_command(arguments: Mapping[str, object]) -> ResourceAccess:
    from andy_cli.toolbox.machine import custom_commands
    from andy_cli.toolbox.terminal import sandbox

    given = arguments.get("arguments")
    line = custom_commands.fill_command(
        str(arguments.get("name") or ""), given if isinstance(given, Mapping) else {}
    )
    return sandbox.find_command_access(line)


@tool(
    effect="run",
    title="personal command",
    action="run your command called {name}",
    find_access=_access_of_command,
    unavailable_reason=_own,
)
async def custom(
    name: Annotated[str, parameter("which command", aliases=["command", "tool"], min_length=1)],
    arguments: Annotated[
        dict[str, str | int | float | bool],
        parameter(
            "a value for each of its slots", aliases=["args", "parameters", "params", "values"]
        ),
    ] = {},  # noqa: B006 - it is only read
) -> Outcome:
    """Run a command that the user made."""
    from andy_cli.toolbox.machine import custom_commands
    from andy_cli.toolbox.terminal import running

    line = custom_commands.fill_command(name, arguments)
    return await in_thread(lambda work: running.run_outcome(line, TIMEOUT, [], work), TIMEOUT)


def _with_names(described: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """The schema with the names of the commands there are, and what each of them takes."""
    from andy_cli.toolbox.machine import custom_commands

    schema, names = described(), custom_commands.command_names()
    if not names:
        return schema
    name, arguments = schema["properties"]["name"], schema["properties"]["arguments"]
    told = f"{arguments['description']}: {custom_commands.describe_commands()}"
    properties = {"name": {**name, "enum": names}, "arguments": {**arguments, "description": told}}
    return {**schema, "properties": properties}


custom = replace(custom, describe=partial(_with_names, custom.describe))
