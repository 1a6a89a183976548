import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from andy_cli.errors import ToolError
from andy_cli.toolbox.music import songs, sound
from andy_cli.toolbox.music.external_player import PROGRAMS, ExternalPlayer, PlayerProgram
from andy_cli.toolbox.music.player import SoundPlayer
from andy_cli.toolbox.music.playlist import Playlist, scale_samples
from tests.make_music import encoded, song, tag, tone

ROOT = Path(__file__).parents[1]
PERIOD = sound.RATE // 10
ENOUGH = 10.0
"""Seconds after which a test gives up; none comes near."""


@pytest.fixture
def player() -> Iterator[SoundPlayer]:
    player = SoundPlayer("null")
    yield player
    player.stop()


@pytest.fixture
def album(tmp_path: Path) -> list[Path]:
    return [
        song(tmp_path / f"{hertz}.mp3", seconds=0.3, hertz=hertz, title=f"Tone {hertz}")
        for hertz in (330, 440, 550)
    ]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A song that no test waits for."""
    return song(tmp_path / "long.mp3", seconds=10, hertz=220, title="Long Tone")


def decoded(path: Path) -> bytes:
    decoder = sound.Decoder(path)
    parts = []
    while samples := decoder.read(PERIOD):
        parts.append(samples.tobytes())
    decoder.close()
    return b"".join(parts)


def filled(playlist: Playlist, frames: int = PERIOD) -> bytes:
    """All that a device would be given until the playlist is finished."""
    parts = []
    while not playlist.finished.is_set():
        parts.append(playlist.fill(frames))
    return b"".join(parts)


def loaded(*paths: Path, buffer: int = 0) -> Playlist:
    playlist = Playlist(buffer)
    playlist.replace(songs.read_song(paths[0]))
    for path in paths[1:]:
        playlist.append(songs.read_song(path))
    return playlist


def test_one_song_follows_the_other_without_a_gap(album: list[Path]) -> None:
    music = b"".join(map(decoded, album))
    heard = filled(loaded(*album), frames=441)
    assert heard[: len(music)] == music
    assert not any(heard[len(music) :])
    assert len(heard) - len(music) < 2 * 441 * sound.FRAME_BYTES


def test_how_much_the_device_asks_for_does_not_change_the_music(album: list[Path]) -> None:
    music = b"".join(map(decoded, album))
    for frames in (1, 977, 40_000):
        assert filled(loaded(*album), frames).startswith(music)


def test_a_song_lasts_as_long_as_its_frames(album: list[Path]) -> None:
    frames = len(decoded(album[0])) // sound.FRAME_BYTES
    assert sound.measure_seconds(album[0]) == pytest.approx(frames / sound.RATE, abs=0.001)


def test_volume_zero_is_silence(album: list[Path]) -> None:
    playlist = loaded(album[0])
    playlist.volume = 0
    assert not any(filled(playlist))


def test_half_the_volume_is_half_of_each_sample(album: list[Path]) -> None:
    samples = array("h", decoded(album[0]))
    halves = memoryview(scale_samples(samples, 50)).cast("h")
    assert max(samples) > 1000
    assert list(halves) == [sample // 2 for sample in samples]


def test_a_pause_is_silence_and_loses_nothing(album: list[Path]) -> None:
    playlist = loaded(album[0])
    before = playlist.fill(PERIOD)
    playlist.pause(True)
    position = playlist.state().position
    assert not any(playlist.fill(PERIOD))
    assert playlist.state().position == position
    playlist.pause(False)
    assert (before + filled(playlist)).startswith(decoded(album[0]))


def test_the_position_is_what_is_heard_not_what_the_device_took(album: list[Path]) -> None:
    playlist = loaded(*album, buffer=2 * PERIOD)
    positions = []
    for _ in range(4):
        playlist.fill(PERIOD)
        positions.append(round(playlist.state().position, 3))
    assert positions == [0.0, 0.0, 0.1, 0.2]


def test_the_next_song_is_named_when_it_is_heard(album: list[Path]) -> None:
    playlist = loaded(*album, buffer=2 * PERIOD)
    names = []
    while song := playlist.state().song:
        names.append((song.title, len(playlist.state().queue)))
        playlist.fill(PERIOD)
    assert list(dict.fromkeys(names)) == [("Tone 330", 2), ("Tone 440", 1), ("Tone 550", 0)]


def test_a_song_is_over_when_its_last_sound_was_heard(album: list[Path]) -> None:
    without, with_buffer = loaded(album[0]), loaded(album[0], buffer=2 * PERIOD)
    ahead = len(filled(with_buffer)) - len(filled(without))
    assert ahead // sound.FRAME_BYTES in (PERIOD, 2 * PERIOD)


def test_a_song_that_went_away_is_passed_over(album: list[Path]) -> None:
    playlist = loaded(*album)
    album[1].unlink()
    heard = filled(playlist)
    assert heard.startswith(decoded(album[0]) + decoded(album[2]))
    assert playlist.state().faults == (f"There is no file {album[1]}.",)


@pytest.mark.slow
def test_three_songs_play_through_in_real_time(player: SoundPlayer, album: list[Path]) -> None:
    started = time.monotonic()
    player.play(album[0])
    player.pause()
    player.queue(album[1])
    player.queue(album[2])
    state = player.resume()
    assert [each.title for each in state.queue] == ["Tone 440", "Tone 550"]
    assert (state.path, state.device, state.paused) == (album[0], "null", False)
    assert state.notice == "no sound card: playing silently"
    assert player.wait(ENOUGH)
    length = sum(map(sound.measure_seconds, album))
    assert time.monotonic() - started > length - 0.05
    assert not player.now_playing().playing


def test_playing_does_not_wait(player: SoundPlayer, long: Path) -> None:
    state = player.play(long, volume=30)
    assert (state.playing, state.position, state.volume) == (True, 0.0, 30)
    assert state.length == pytest.approx(sound.measure_seconds(long))
    assert not player.wait(0.01)


def test_another_song_takes_the_place_of_the_first(
    player: SoundPlayer, album: list[Path], long: Path
) -> None:
    player.play(long)
    player.queue(album[1])
    state = player.play(album[2])
    assert (state.path, state.queue) == (album[2], ())


def test_queueing_starts_when_nothing_plays(player: SoundPlayer, album: list[Path]) -> None:
    state = player.queue(album[0])
    assert (state.path, state.queue) == (album[0], ())
    assert player.wait(ENOUGH)


@pytest.mark.slow
def test_a_paused_song_waits_where_it_is(player: SoundPlayer, album: list[Path]) -> None:
    player.play(album[0])
    held = player.pause()
    assert held.paused
    assert not player.wait(0.6)
    assert player.now_playing().position == held.position
    assert not player.resume().paused
    assert player.wait(ENOUGH)


def test_stopping_tells_what_was_playing(
    player: SoundPlayer, album: list[Path], long: Path
) -> None:
    player.play(long)
    player.queue(album[1])
    assert player.stop().path == long
    assert player.wait(0)
    after = player.now_playing()
    assert (after.playing, after.queue) == (False, ())
    assert not player.stop().playing
    assert player.play(album[2]).path == album[2]


def test_the_volume_stays_between_nothing_and_all(player: SoundPlayer, album: list[Path]) -> None:
    assert player.play(album[0], -5).volume == 0
    assert player.play(album[0], 500).volume == 100


def test_wav_files_play_too(player: SoundPlayer, tmp_path: Path) -> None:
    import wave

    path = tmp_path / "spoken.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(22_050)
        file.writeframes(tone(440, 0.2).tobytes())
    assert player.play(path).length == pytest.approx(0.2, abs=0.01)
    assert player.wait(ENOUGH)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44_100)
        file.writeframes(bytes(17 << 20))  # longer than a decoder may look for music
    assert player.play(path).length == pytest.approx(101, abs=1)
    player.stop()


NOISE = bytes((at * at * 31 + at // 7) % 251 for at in range(20_000))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "bad.mp3 is empty: it holds no music."),
        (b"Dear diary, no music today.\n" * 50, "bad.mp3 is damaged or not MP3: "),
        (NOISE, "bad.mp3 is damaged or not MP3: "),
        (tag("Lost", "Nobody") + NOISE, "bad.mp3 is damaged or not MP3: "),
        (bytes(20_000), "bad.mp3 is damaged or not MP3: "),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "bad.mp3 is damaged or not MP3: "),
    ],
    ids=["empty", "text", "noise", "tagged noise", "zeros", "wav header"],
)
def test_what_is_no_mp3_is_refused_and_the_music_goes_on(
    player: SoundPlayer, long: Path, tmp_path: Path, content: bytes, complaint: str
) -> None:
    bad = tmp_path / "bad.mp3"
    bad.write_bytes(content)
    player.play(long)
    for attempt in (player.play, player.queue):
        with pytest.raises(ToolError) as caught:
            attempt(bad)
        assert str(caught.value).startswith(complaint)
    assert (player.now_playing().path, player.now_playing().queue) == (long, ())
    assert songs.read_song(bad).damaged


def test_a_file_that_was_cut_off_plays_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = encoded(tone(440, 1))
    path = tmp_path / "half.mp3"
    path.write_bytes(whole[: len(whole) // 2])
    assert 0.3 < len(filled(loaded(path))) / sound.FRAME_BYTES / sound.RATE < 0.8


def test_a_file_that_is_not_there_is_said_to_be_so(player: SoundPlayer, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"There is no file .*gone\.mp3"):
        player.play(tmp_path / "gone.mp3")


@pytest.mark.slow
def test_many_threads_may_use_the_player_at_once(player: SoundPlayer, album: list[Path]) -> None:
    def press_buttons(path: Path) -> None:
        for _ in range(5):
            player.play(path)
            player.queue(path)
            player.pause()
            player.now_playing()
            player.resume()
            player.stop()

    threads = [threading.Thread(target=press_buttons, args=(path,)) for path in album]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(ENOUGH)
    assert not any(thread.is_alive() for thread in threads)
    assert not player.now_playing().playing


class DeadDevice:
    """A sound device that starts and then never asks for anything, as when it is unplugged."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_a_device_that_goes_away_ends_the_music(album: list[Path]) -> None:
    device = DeadDevice()

    def dead(
        sink: sound.Sink, frames: Generator[bytes, int, None]
    ) -> tuple[sound.Device, sound.Sink]:
        return device, sink

    player = SoundPlayer("default", opened_by=dead, patience=0.0)
    player.play(album[0])
    states = [player.now_playing() for _ in range(30)]
    assert states[0].playing
    assert not states[-1].playing
    assert ("The sound device went away.",) in [state.faults for state in states]
    assert device.closed
    assert player.wait(0)


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_program_may_end_while_music_plays(album: list[Path]) -> None:
    ended = python(
        "from pathlib import Path\n"
        "from andy_cli.toolbox.music.player import shared_player\n"
        f"state = shared_player().play(Path({str(album[0])!r}), volume=0)\n"
        "print(state.song.title, state.device in ('default', 'null'))\n"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Tone 330 True\n", "")


def test_looking_at_a_player_that_never_played_loads_nothing() -> None:
    ended = python(
        "import sys\n"
        "from andy_cli.toolbox.music.player import current_state\n"
        "print(current_state().playing, 'miniaudio' in sys.modules, 'tinytag' in sys.modules)\n"
    )
    assert ended.stdout == "False False False\n", ended.stderr


def test_without_miniaudio_an_installed_program_is_wanted() -> None:
    ended = python(
        "import os, sys\n"
        "sys.modules['miniaudio'] = None\n"
        "os.environ['PATH'] = ''\n"
        "from andy_cli.errors import ToolError\n"
        "from andy_cli.toolbox.music.player import shared_player\n"
        "try:\n"
        "    shared_player()\n"
        "except ToolError as error:\n"
        "    print(error)\n"
    )
    assert ended.stdout == (
        "Nothing here can play music: it needs mpv, ffplay or mpg123, or the Python package "
        "miniaudio.\n"
    ), ended.stderr


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[ExternalPlayer]:
    """A player whose program writes down what it is told, and takes a moment for each song."""
    program = tmp_path / "bin" / "mpg123"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$3 $4" >> "{tmp_path}/played"\nenv > "{tmp_path}/environment"\n'
        'case "$4" in *bad*) exit 1;; esac\nexec sleep 0.3\n'
    )
    program.chmod(0o755)
    player = ExternalPlayer((PROGRAMS[-1], str(program)))
    yield player
    player.stop()


posix = pytest.mark.skipif(sys.platform == "win32", reason="needs shell scripts")


@posix
def test_an_installed_program_plays_one_song_after_the_other(
    outside: ExternalPlayer, album: list[Path], tmp_path: Path
) -> None:
    state = outside.play(album[0], volume=50)
    assert (state.path, state.device, state.volume) == (album[0], "mpg123", 50)
    outside.pause()
    assert [each.path for each in outside.queue(album[1]).queue] == [album[1]]
    outside.resume()
    assert outside.wait(ENOUGH)
    assert (tmp_path / "played").read_text() == f"16384 {album[0]}\n16384 {album[1]}\n"
    assert not outside.now_playing().playing


@posix
def test_an_installed_program_can_be_paused_and_stopped(
    outside: ExternalPlayer, album: list[Path]
) -> None:
    outside.play(album[0])
    held = outside.pause()
    assert held.paused
    assert not outside.wait(0.5)
    assert outside.now_playing().position == held.position
    assert outside.stop().path == album[0]
    assert outside.wait(0)
    assert not outside.now_playing().playing


@pytest.mark.slow
@posix
def test_a_program_that_fails_does_not_stop_the_queue(
    outside: ExternalPlayer, album: list[Path], tmp_path: Path
) -> None:
    bad = song(tmp_path / "bad.mp3")
    outside.play(album[0])
    outside.pause()
    outside.queue(bad)
    outside.queue(album[1])
    outside.resume()
    assert outside.wait(ENOUGH)
    assert outside.now_playing().faults == ("mpg123 could not play bad.mp3.",)
    assert str(album[1]) in (tmp_path / "played").read_text()


def test_a_program_that_cannot_start_is_a_plain_error(album: list[Path], tmp_path: Path) -> None:
    player = ExternalPlayer((PlayerProgram("mpv", ()), str(tmp_path / "mpv")))
    with pytest.raises(ToolError, match="does not start"):
        player.play(album[0])
    with pytest.raises(ToolError, match="There is no file"):
        player.play(tmp_path / "gone.mp3")


@posix
def test_an_installed_program_is_told_no_keys(
    outside: ExternalPlayer, album: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/1")
    outside.play(album[0])
    assert outside.wait(ENOUGH)
    told = (tmp_path / "environment").read_text().splitlines()
    assert "XDG_RUNTIME_DIR=/run/1" in told
    assert not any("OPENAI_API_KEY" in line for line in told)
