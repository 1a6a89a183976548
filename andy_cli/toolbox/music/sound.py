"""Sound by miniaudio: files decoded as they play, and the device they are heard on.

All of this project that knows miniaudio. Samples are signed 16-bit, interleaved stereo at
`RATE`, whatever the file holds: miniaudio resamples. A frame is one sample for each channel.
"""

import os
from array import array
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol

from andy_cli.errors import ToolError
from andy_cli.toolbox.music.songs import has_frames

RATE = 44_100
"""Frames a second."""
FRAME_BYTES = 4
MAX_READ_SIZE = 16_384
"""miniaudio's decoder has room for this many frames at a time."""
PERIOD_MS, PERIODS = 100, 2
BUFFER = RATE * PERIOD_MS * PERIODS // 1000
"""Frames the device takes ahead of what is heard. Long enough that a busy main thread, which
holds the interpreter now and then, makes no gap; short enough that a pause feels immediate."""

MAX_LEAD = 1 << 24
"""Bytes that may stand before the music: the decoder would look through gigabytes for a frame."""

Sink = Literal["default", "null"]
"""The place the sound goes to: the machine's sound card, or nowhere but in real time."""


class Decoder:
    """One open file. Raises ToolError, when made, unless its beginning can be decoded."""

    def __init__(self, path: Path) -> None:
        self.seconds = measure_seconds(path)
        import miniaudio  # 65 ms, and most conversations play nothing

        try:
            self._samples: Generator[array[int], int, None] = miniaudio.stream_file(str(path))
        except (miniaudio.MiniaudioError, OSError, UnicodeError) as error:
            raise explain_unplayable(path) from error
        self._first = self._next(1024)
        if not self._first:
            raise explain_unplayable(path)

    def read(self, frames: int) -> "array[int]":
        """The next samples: of at most that many frames; none at the end.

        Damage further on ends the file there, as a decoder cannot find its way back.
        """
        if not self._first:
            return self._next(min(frames, MAX_READ_SIZE))
        head, self._first = self._first[: 2 * frames], self._first[2 * frames :]
        return head

    def _next(self, frames: int) -> "array[int]":
        import miniaudio  # is there by now

        try:
            return self._samples.send(frames)
        except (StopIteration, miniaudio.MiniaudioError):
            return array("h")

    def close(self) -> None:
        self._samples.close()


def measure_seconds(path: Path) -> float:
    """Measure the music in the file, in seconds, by counting its frames (2 ms for a song).

    Files named `.wav` may be WAV; any other has to be MP3. Raises ToolError.
    """
    import miniaudio  # 65 ms, and most conversations play nothing

    count = miniaudio.wav_get_file_info if _is_wav(path) else miniaudio.mp3_get_file_info
    try:
        is_large = path.stat().st_size > MAX_LEAD and not _is_wav(path)
        if is_large and not has_frames(path, MAX_LEAD):
            raise explain_unplayable(path)
        seconds = float(count(str(path)).duration)
    except (miniaudio.MiniaudioError, OSError, UnicodeError) as error:
        raise explain_unplayable(path) from error
    if not seconds:
        raise explain_unplayable(path)
    return seconds


def _is_wav(path: Path) -> bool:
    return path.suffix.lower() == ".wav"


def explain_unplayable(path: Path) -> ToolError:
    """Why a file cannot be played, and what to do."""
    kind = "WAV" if _is_wav(path) else "MP3"
    if not path.is_file():
        return ToolError(f"There is no file {path}.", "Call list_mp3s to see what can be played.")
    if not os.access(path, os.R_OK):
        return ToolError(f"The file {path} may not be read by this user.", "Choose another one.")
    if not path.stat().st_size:
        return ToolError(f"{path.name} is empty: it holds no music.", "Choose another file.")
    message = f"{path.name} is damaged or not {kind}: it cannot be decoded."
    return ToolError(message, "Choose another file.")


class Device(Protocol):
    """The part of miniaudio's playback device that we need."""

    def close(self) -> None: ...


def open_device(sink: Sink, frames: Generator[bytes, int, None]) -> tuple[Device, Sink]:
    """Start a device that takes its sound from a primed generator, in a thread of its own.

    Returns the device and where the sound really goes: nowhere, if there is no sound card.
    Raises ToolError if not even that works.
    """
    import miniaudio  # is there by now

    nowhere = [miniaudio.Backend.NULL]
    for backends in ([], nowhere) if sink == "default" else (nowhere,):
        try:
            with silence_stderr():
                device = miniaudio.PlaybackDevice(
                    sample_rate=RATE,
                    buffersize_msec=PERIOD_MS,
                    callback_periods=PERIODS,
                    backends=backends,
                    app_name="andy",
                )
                device.start(frames)
        except miniaudio.MiniaudioError:
            continue
        # Without any sound library miniaudio takes the null device by itself.
        return device, "null" if device.backend == "Null" else "default"
    raise ToolError("No sound device starts.", "Ask the user to check the sound settings.")


_stderr_lock = Lock()
"""Of two at once the second would keep the first one's nowhere as the place to return to."""


@contextmanager
def silence_stderr() -> Iterator[None]:
    """Nothing reaches file descriptor 2 meanwhile: ALSA and JACK write their troubles there.

    What andy says goes by a number of its own.
    """
    with _stderr_lock:
        try:
            saved_stderr = os.dup(2)
        except OSError:  # there is no standard error
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 2)
            yield
        finally:
            os.dup2(saved_stderr, 2)
            os.close(nowhere)
            os.close(saved_stderr)
