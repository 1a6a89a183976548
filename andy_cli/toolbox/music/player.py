"""The music player: one for the process, shared by tools, slash commands and the status line.

It keeps playing while the rest of the program does other things, because the device has a thread
of its own. Whoever wants to watch asks `now_playing()` as often as they like, or waits:

    player = shared_player()
    player.play(Path("song1.mp3"))
    while (state := player.now_playing()).playing:
        ...  # state.position of state.length, both in seconds
"""

import atexit
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from andy_cli.errors import ToolError
from andy_cli.toolbox.music import songs, sound
from andy_cli.toolbox.music.playlist import PlayerState, Playlist
from andy_cli.toolbox.music.songs import Song

__all__ = ["Player", "PlayerState", "SoundPlayer", "current_state", "set_shared", "shared_player"]


class Player(Protocol):
    """The orders that a player takes, from any thread."""

    def play(self, path: Path, volume: int | None = None) -> PlayerState:
        """Play this instead of anything else, from its start; `volume` is 0 to 100.

        Raises ToolError if it cannot be played: then what was playing goes on.
        """
        ...

    def queue(self, path: Path) -> PlayerState:
        """Play this after all else; at once if nothing is playing. Raises ToolError."""
        ...

    def pause(self) -> PlayerState: ...

    def resume(self) -> PlayerState: ...

    def stop(self) -> PlayerState:
        """Silence, an empty queue and a closed device. Returns what was playing before."""
        ...

    def now_playing(self) -> PlayerState: ...

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing is left to play, or so many seconds; says whether nothing is left.

        A paused song is left to play.
        """
        ...


MAX_LOOKS = 20
"""A device that was looked at so often and for so many seconds, and asked for nothing, is dead.
Not the time alone: after Ctrl-Z it has passed though nobody could ask for anything."""

Opener = Callable[[sound.Sink, Generator[bytes, int, None]], tuple[sound.Device, sound.Sink]]


class SoundPlayer:
    """Plays in this process, by miniaudio."""

    def __init__(
        self,
        sink: sound.Sink = "default",
        opened_by: Opener = sound.open_device,
        patience: float = 5.0,
    ) -> None:
        """`patience` is for how many seconds a device may ask for nothing before it is dead."""
        self._sink: sound.Sink = sink
        self._opened_by = opened_by
        self._patience = patience
        self._device: sound.Device | None = None
        self._device_name = ""
        self._playlist = Playlist(sound.BUFFER)
        # Never taken by the device's thread: closing the device waits for that thread.
        self._control = threading.RLock()
        self._seen = (0, 0.0, 0)
        """At the last look: how often the device had asked, since when, and looks since then."""

    def play(self, path: Path, volume: int | None = None) -> PlayerState:
        song = _open_song(path)
        with self._control:
            self._playlist.replace(song)
            if volume is not None:
                self._playlist.volume = percent(volume)
            self._open()
            return self.now_playing()

    def queue(self, path: Path) -> PlayerState:
        song = _open_song(path)
        with self._control:
            if self._playlist.finished.is_set():
                return self.play(path)
            self._playlist.append(song)
            return self.now_playing()

    def pause(self) -> PlayerState:
        self._playlist.pause(True)
        return self.now_playing()

    def resume(self) -> PlayerState:
        self._playlist.pause(False)
        return self.now_playing()

    def stop(self) -> PlayerState:
        with self._control:
            last_state = self.now_playing()
            self._playlist.clear()
            self._close()
            return last_state

    def now_playing(self) -> PlayerState:
        with self._control:
            if self._device and self._stands_still():
                self._playlist.clear()
                self._close()
                return PlayerState(
                    device=self._device_name, faults=("The sound device went away.",)
                )
            return replace(self._playlist.state(), device=self._device_name)

    def wait(self, timeout: float | None = None) -> bool:
        end = time.monotonic() + timeout if timeout is not None else float("inf")
        while not self._playlist.finished.wait(min(0.25, max(0.0, end - time.monotonic()))):
            self.now_playing()  # notices a dead device
            if time.monotonic() >= end:
                return False
        return True

    def _open(self) -> None:
        if self._device:
            return
        try:
            device, self._device_name = self._opened_by(self._sink, self._playlist.frames())
        except ToolError:
            self._playlist.clear()
            raise
        self._device, self._seen = device, (-1, 0.0, 0)
        # A device that still runs when the interpreter goes down calls into nothing.
        atexit.register(self.stop)
        threading.Thread(
            target=self._close_at_the_end, args=(device,), name="andy music", daemon=True
        ).start()

    def _close(self) -> None:
        device, self._device = self._device, None
        if device:
            device.close()
            atexit.unregister(self.stop)

    def _close_at_the_end(self, device: sound.Device) -> None:
        """Other programs may want the sound card, and an idle one costs wake-ups.

        Not in the device's own thread: a device cannot be closed from there.
        """
        while True:
            self._playlist.finished.wait()
            with self._control:
                if self._device is not device:
                    return
                if self._playlist.finished.is_set():
                    self._close()
                    return

    def _stands_still(self) -> bool:
        fills, since, looks = self._seen
        if fills != self._playlist.fills:
            self._seen = (self._playlist.fills, time.monotonic(), 0)
            return False
        self._seen = (fills, since, looks + 1)
        return looks >= MAX_LOOKS and time.monotonic() - since > self._patience


def _open_song(path: Path) -> Song:
    """The song with its true length; raises ToolError unless it can be played."""
    path = path.expanduser().absolute()
    return replace(songs.read_song(path), seconds=sound.measure_seconds(path), damaged=False)


def percent(volume: int) -> int:
    return max(0, min(100, volume))


class _Shared:
    """The player of this process; made when it is first wanted."""

    lock = threading.Lock()
    player: Player | None = None


def shared_player() -> Player:
    """The player of this process. Raises ToolError where nothing can play music."""
    with _Shared.lock:
        if _Shared.player is None:
            _Shared.player = best_player()
        return _Shared.player


def set_shared(player: Player) -> None:
    """Use this one from now on, e.g. `SoundPlayer("null")`; the one before is stopped."""
    with _Shared.lock:
        previous, _Shared.player = _Shared.player, player
    if previous:
        previous.stop()


def current_state() -> PlayerState:
    """Return the state of the shared player; nothing is loaded for it if it never played."""
    with _Shared.lock:
        player = _Shared.player
    return player.now_playing() if player else PlayerState()


def best_player() -> Player:
    """Our own player; where there is no miniaudio for this machine, an installed program."""
    try:
        import miniaudio  # noqa: F401  # 65 ms, and there is no wheel for every machine
    except ImportError:
        from andy_cli.toolbox.music.external_player import ExternalPlayer, find_player

        return ExternalPlayer(find_player())
    return SoundPlayer()
