"""The music that is playing and what comes next, as a generator of sound.

The device's thread asks for frames; volume, pause, position and the move to the next song live
here, because the device knows none of them. One song follows the other inside one answer, so
there is no gap between them.
"""

import threading
from array import array
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.toolbox.music.songs import Song
from andy_cli.toolbox.music.sound import FRAME_BYTES, RATE, Decoder


@dataclass(frozen=True, slots=True)
class PlayerState:
    """The state of a player. Times are in seconds of music, whatever the clock says."""

    song: Song | None = None
    """None while nothing is loaded."""
    position: float = 0.0
    """The seconds of it that have been heard; it stands still in a pause."""
    queue: tuple[Song, ...] = ()
    """The songs after it."""
    paused: bool = False
    volume: int = 100
    device: str = ""
    """`default`, `null` (there is no sound card), an outside program, or nothing so far."""
    faults: tuple[str, ...] = ()
    """Why songs of the queue were passed over, in sentences."""

    @property
    def playing(self) -> bool:
        """True if a song is loaded, be it paused."""
        return self.song is not None

    @property
    def path(self) -> Path | None:
        return self.song.path if self.song else None

    @property
    def length(self) -> float:
        return self.song.seconds if self.song else 0.0

    @property
    def notice(self) -> str:
        """Say what the user should know about the sound; mostly nothing."""
        return "no sound card: playing silently" if self.device == "null" else ""


class Playlist:
    """Thread-safe. The lock is held while decoding, never while waiting for the device."""

    def __init__(self, buffer: int = 0) -> None:
        """`buffer` is how many frames the device takes ahead of what is heard."""
        self._lock = threading.Lock()
        self._buffer = buffer
        self._waiting: deque[Song] = deque()
        self._decoder: Decoder | None = None
        self._starts: deque[tuple[int, Song]] = deque()
        """Songs that are heard or about to be, with the number of the frame each starts at."""
        self._sent = 0
        """Frames of music handed out; silence does not count."""
        self._recent: deque[tuple[int, int]] = deque()
        """The last answers: frames in all and frames of music in them."""
        self._paused = False
        self._faults: list[str] = []
        self.volume = 100
        """Per cent of the recorded loudness, 0 to 100."""
        self.fills = 0
        """The times the device asked: where it stands still, the device is dead."""
        self.finished = threading.Event()
        """Set while nothing is left to play and the last sound has been heard."""
        self.finished.set()

    def replace(self, song: Song) -> None:
        """Play this and nothing else. Raises ToolError, with all as it was, if it will not open."""
        decoder = Decoder(song.path)
        with self._lock:
            self._forget()
            self._decoder = decoder
            self._starts.append((0, song))
            self.finished.clear()

    def append(self, song: Song) -> None:
        with self._lock:
            self._waiting.append(song)
            self.finished.clear()

    def clear(self) -> None:
        with self._lock:
            self._forget()
            self.finished.set()

    def _forget(self) -> None:
        if self._decoder:
            self._decoder.close()
        self._decoder = None
        self._waiting.clear()
        self._starts.clear()
        self._recent.clear()
        self._faults.clear()
        self._sent = 0
        self._paused = False

    def pause(self, paused: bool) -> None:
        with self._lock:
            self._paused = paused

    def state(self) -> PlayerState:
        with self._lock:
            if self.finished.is_set() or not self._starts:
                return PlayerState(volume=self.volume, faults=tuple(self._faults))
            # A pause is where it was asked for, though the buffer takes a moment to run dry.
            current_frame = self._sent if self._paused else max(0, self._sent - self._pending())
            while len(self._starts) > 1 and self._starts[1][0] <= current_frame:
                self._starts.popleft()
            (song_start, song), *later_starts = self._starts
            seconds_played = max(0, current_frame - song_start) / RATE
            return PlayerState(
                song=song,
                position=min(seconds_played, song.seconds),
                queue=(*(later_song for _, later_song in later_starts), *self._waiting),
                paused=self._paused,
                volume=self.volume,
                faults=tuple(self._faults),
            )

    def frames(self) -> Generator[bytes, int, None]:
        """Primed: send how many frames are wanted, get exactly that many. Never ends."""

        def answers() -> Generator[bytes, int, None]:
            wanted_frames = yield b""
            while True:
                wanted_frames = yield self.fill(wanted_frames)

        primed = answers()
        next(primed)
        return primed

    def fill(self, frames: int) -> bytes:
        """The next frames: music, then silence for as many as are missing."""
        with self._lock:
            self.fills += 1
            music = b"" if self._paused else self._music(frames)
            self._remember(frames, len(music) // FRAME_BYTES)
            if not (self._decoder or self._waiting or self._pending()):
                self.finished.set()
        return music + bytes(frames * FRAME_BYTES - len(music))

    def _music(self, frames: int) -> bytes:
        sample_parts: list[bytes] = []
        missing = frames
        while missing and (decoder := self._open()):
            samples = decoder.read(missing)
            if not samples:
                decoder.close()
                self._decoder = None
                continue
            missing -= len(samples) // 2
            self._sent += len(samples) // 2
            sample_parts.append(scale_samples(samples, self.volume))
        return b"".join(sample_parts)

    def _open(self) -> Decoder | None:
        """The decoder that is at work, else that of the next song that can be opened."""
        while self._decoder is None and self._waiting:
            song = self._waiting.popleft()
            try:
                self._decoder = Decoder(song.path)
            except ToolError as error:
                self._faults.append(str(error))
            else:
                self._starts.append((self._sent, song))
        return self._decoder

    def _remember(self, frames: int, music: int) -> None:
        self._recent.append((frames, music))
        while sum(size for size, _ in self._recent) - self._recent[0][0] >= self._buffer:
            self._recent.popleft()
            if not self._recent:
                return

    def _pending(self) -> int:
        """Frames of music that the device has taken and nobody has heard yet."""
        return sum(music for _, music in self._recent)


def scale_samples(samples: "array[int]", volume: int) -> bytes:
    """The samples at that per cent of their loudness, as bytes."""
    if volume >= 100:
        return samples.tobytes()
    if volume <= 0:
        return bytes(2 * len(samples))
    return array("h", [sample * volume // 100 for sample in samples]).tobytes()
