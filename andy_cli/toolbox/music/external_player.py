"""Music by an installed program, for machines that miniaudio has no wheel for.

One child process a song; the next starts when it ends, so there is a short gap. The volume is
given when a song starts: a change is heard from the next song on.
"""

import atexit
import os
import signal
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.toolbox.music import songs, sound
from andy_cli.toolbox.music.playlist import PlayerState
from andy_cli.toolbox.music.songs import Song
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.terminal.environment import clean_environment


@dataclass(frozen=True, slots=True)
class PlayerProgram:
    """A player and what stands before the file; `full` is its number for full volume."""

    name: str
    options: tuple[str, ...]
    full: float = 100


PROGRAMS = (
    PlayerProgram("mpv", ("--no-config", "--no-video", "--no-terminal", "--volume={volume:.0f}")),
    PlayerProgram(
        "ffplay", ("-nodisp", "-autoexit", "-loglevel", "quiet", "-volume", "{volume:.0f}")
    ),
    PlayerProgram("afplay", ("-v", "{volume:.2f}"), full=1),
    PlayerProgram("mpg123", ("-q", "-f", "{volume:.0f}"), full=32768),
)


def find_player() -> tuple[PlayerProgram, str]:
    """An installed player and where it is. Raises ToolError that says what to install."""
    for program in PROGRAMS:
        if program_path := find_program(program.name):
            return program, program_path
    raise ToolError(
        "Nothing here can play music: it needs mpv, ffplay or mpg123, or the Python package "
        "miniaudio.",
        "Ask the user to install one of them.",
    )


class ExternalPlayer:
    """The same promises as player.SoundPlayer, kept by child processes."""

    def __init__(self, program_and_path: tuple[PlayerProgram, str]) -> None:
        self._program, self._where = program_and_path
        self._lock = threading.RLock()
        self._child: subprocess.Popen[bytes] | None = None
        self._song: Song | None = None
        self._waiting: deque[Song] = deque()
        self._faults: list[str] = []
        self._volume = 100
        self._started = 0.0
        """When the song would have begun had it never been paused; seconds, monotonic."""
        self._paused_at: float | None = None
        self._finished = threading.Event()
        self._finished.set()

    def play(self, path: Path, volume: int | None = None) -> PlayerState:
        song = _check_song(path)
        with self._lock:
            self.stop()
            if volume is not None:
                self._volume = max(0, min(100, volume))
            self._start(song)
            return self.now_playing()

    def queue(self, path: Path) -> PlayerState:
        song = _check_song(path)
        with self._lock:
            if self._child is None:
                return self.play(path)
            self._waiting.append(song)
            return self.now_playing()

    def pause(self) -> PlayerState:
        with self._lock:
            if self._child and self._paused_at is None:
                self._signal("SIGSTOP")
                self._paused_at = time.monotonic()
            return self.now_playing()

    def resume(self) -> PlayerState:
        with self._lock:
            if self._child and self._paused_at is not None:
                self._signal("SIGCONT")
                self._started += time.monotonic() - self._paused_at
                self._paused_at = None
            return self.now_playing()

    def stop(self) -> PlayerState:
        with self._lock:
            last_state = self.now_playing()
            player_process, self._child, self._song = self._child, None, None
            self._waiting.clear()
            self._faults.clear()
            self._paused_at = None
            self._finished.set()
            if player_process:
                player_process.kill()  # also ends one that is held by SIGSTOP
                player_process.wait()
                atexit.unregister(self.stop)
            return last_state

    def now_playing(self) -> PlayerState:
        with self._lock:
            current_time = time.monotonic() if self._paused_at is None else self._paused_at
            position = 0.0
            if self._song:
                # Of some songs the length is not known.
                position = min(current_time - self._started, self._song.seconds or current_time)
            return PlayerState(
                song=self._song,
                position=position,
                queue=tuple(self._waiting),
                paused=self._paused_at is not None,
                volume=self._volume,
                device=self._program.name,
                faults=tuple(self._faults),
            )

    def wait(self, timeout: float | None = None) -> bool:
        return self._finished.wait(timeout)

    def _start(self, song: Song) -> None:
        volume = self._volume / 100 * self._program.full
        options = [option.format(volume=volume) for option in self._program.options]
        try:
            child = subprocess.Popen(
                [self._where, *options, str(song.path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=clean_environment(os.environ),
                start_new_session=True,  # Ctrl-C ends an answer, not the music
            )
        except OSError as error:
            raise ToolError(f"{self._where} does not start: {error}.") from error
        self._child, self._song, self._started = child, song, time.monotonic()
        self._finished.clear()
        atexit.register(self.stop)
        threading.Thread(target=self._follow, args=(child, song), daemon=True).start()

    def _follow(self, child: subprocess.Popen[bytes], song: Song) -> None:
        """Start the next song when this one ends by itself."""
        failed = child.wait() != 0
        with self._lock:
            if self._child is not child:
                return
            self._child, self._song, self._paused_at = None, None, None
            if failed:
                self._faults.append(f"{self._program.name} could not play {song.name}.")
            while self._waiting and self._child is None:
                try:
                    self._start(self._waiting.popleft())
                except ToolError as error:
                    self._faults.append(str(error))
            if self._child is None:
                atexit.unregister(self.stop)
                self._finished.set()

    def _signal(self, name: str) -> None:
        number = getattr(signal, name, None)  # Windows has neither
        if number is None or self._child is None:
            raise ToolError("Music cannot be paused on this machine. It can be stopped.")
        self._child.send_signal(number)


def _check_song(path: Path) -> Song:
    path = path.expanduser().absolute()
    song = songs.read_song(path)
    if song.damaged:
        raise sound.explain_unplayable(path)
    return song
