"""Make small MP3 files: an ID3v2 tag of our own before a tone that lameenc encodes.

`python -m tests.make_music` makes the three files of tests/music again; tests make others.
"""

import math
from array import array
from collections.abc import Mapping
from functools import cache
from pathlib import Path

RATE = 22_050
MUSIC = Path(__file__).parent / "music"

ALBUM = (
    ("01 - Morning Light.mp3", "Morning Light", "Ada Finch", (523.25, 659.25, 783.99)),
    ("02 - Paper Boats.mp3", "Paper Boats", "The Tin Lanterns", (440.0, 329.63, 293.66)),
    ("03 - Last Tram Home.mp3", "Last Tram Home", "Ada Finch", (261.63, 311.13, 392.0)),
)
"""File, title, artist and the notes in hertz, half a second each."""


def song(
    path: Path, *, seconds: float = 0.4, hertz: float = 440.0, title: str = "", artist: str = ""
) -> Path:
    """Write an MP3 file with one tone, and a tag if there is anything to put into it."""
    path.write_bytes(tag(title, artist) + _encoded_tone(hertz, seconds))
    return path


@cache
def _encoded_tone(hertz: float, seconds: float) -> bytes:
    return encoded(tone(hertz, seconds))


def tone(hertz: float, seconds: float) -> "array[int]":
    """Mono samples at RATE, faded at both ends so that it does not click."""
    count = int(seconds * RATE)
    fade = RATE // 50
    return array(
        "h",
        (
            int(
                9000
                * min(1, at / fade, (count - at) / fade)
                * math.sin(math.tau * hertz * at / RATE)
            )
            for at in range(count)
        ),
    )


def encoded(samples: "array[int]") -> bytes:
    import lameenc

    encoder = lameenc.Encoder()
    encoder.silence()
    encoder.set_channels(1)
    encoder.set_in_sample_rate(RATE)
    encoder.set_bit_rate(48)
    encoder.set_quality(5)
    return bytes(encoder.encode(samples.tobytes())) + bytes(encoder.flush())


def tag(title: str, artist: str) -> bytes:
    """An ID3v2.4 tag (id3.org, `id3v2.4.0-structure`), texts in UTF-8; nothing without texts."""
    frames = _frames({"TIT2": title, "TPE1": artist})
    return b"ID3\x04\x00\x00" + _synchsafe(len(frames)) + frames if frames else b""


def _frames(texts: Mapping[str, str]) -> bytes:
    written = b""
    for name, text in texts.items():
        if text:
            body = b"\x03" + text.encode()
            written += name.encode() + _synchsafe(len(body)) + b"\x00\x00" + body
    return written


def _synchsafe(number: int) -> bytes:
    """Four bytes of seven bits each, so that no byte looks like the start of sound."""
    return bytes(number >> shift & 0x7F for shift in (21, 14, 7, 0))


def main() -> None:
    MUSIC.mkdir(exist_ok=True)
    for name, title, artist, notes in ALBUM:
        melody = array("h")
        for note in notes:
            melody += tone(note, 0.5)
        (MUSIC / name).write_bytes(tag(title, artist) + encoded(melody))


if __name__ == "__main__":
    main()
