"""Something said aloud: one text after the other, beside the music, while all else goes on (B38).

It has a player of its own, so the music neither stops nor loses its place; the system mixes them.
"""

import asyncio
import os
import tempfile
from collections import deque
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.machine import speech_synthesis
from andy_cli.toolbox.music.player import SoundPlayer, current_state
from andy_cli.toolbox.runtime_context import in_thread
from andy_cli.toolbox.tool import Outcome

MAX_CHARACTERS = 5000
"""Characters of one text: six minutes."""
TIMEOUT = 60
"""Seconds that making the sound may take."""
POLL_INTERVAL = 0.05
MAX_SHOWN_CHARACTERS = 60
"""Characters of a text by which the user knows it."""

_line: deque[object] = deque()
"""The speakers in order. Nobody waits in a thread: there are few, and others need them."""


async def speak_text(text: str, voice: str, style: str) -> Outcome:
    """Say it; returns when it has been heard. Raises ToolError."""
    if len(text) > MAX_CHARACTERS:
        raise ToolError(
            f"That is too long to be said: more than {MAX_CHARACTERS} characters.", "Shorten it."
        )
    ticket = object()
    _line.append(ticket)
    try:
        while _line[0] is not ticket:
            await asyncio.sleep(POLL_INTERVAL)
        return await _say_text(spoken_words(text), voice, style)
    finally:
        _line.remove(ticket)


def spoken_words(text: str) -> str:
    """Without keys: whoever is in the room hears it."""
    return redact_text(text, secrets_of(os.environ))


async def _say_text(text: str, voice: str, style: str) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="andy-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "speech.wav"
        await in_thread(
            lambda work: speech_synthesis.synthesize_speech(
                text, speech_synthesis.voice_of(voice), speech_synthesis.style_of(style), file, work
            ),
            TIMEOUT,
        )
        is_silent = await _play_speech(file)
    words = one_line(text.strip())
    is_short = len(words) <= MAX_SHOWN_CHARACTERS
    summary = f"said: {words if is_short else f'{words[:MAX_SHOWN_CHARACTERS]}...'}"
    if is_silent:
        summary += " (silently: there is no sound card)"
    return Outcome(summary, summary)


async def _play_speech(file: Path) -> bool:
    """Play it to its end; says whether nobody could hear it for want of a sound card."""
    music = current_state()
    player = SoundPlayer()
    try:
        state = await asyncio.to_thread(player.play, file, music.volume)
        silent = state.device == "null"
        if silent and music.playing and music.device not in ("", "null"):
            raise ToolError("The music has the sound card to itself, so nothing was heard.")
        while (state := player.now_playing()).playing:
            await asyncio.sleep(POLL_INTERVAL)
        if state.faults:
            raise ToolError(" ".join(state.faults))
        return silent
    finally:
        player.stop()
