import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from andy_cli.errors import ToolError
from andy_cli.messages import Effect, ToolCall
from andy_cli.resources import bundled_folder
from andy_cli.toolbox.collection import tools_in
from andy_cli.toolbox.music import songs
from andy_cli.toolbox.music.player import SoundPlayer, set_shared, shared_player
from andy_cli.toolbox.music.songs import natural_key, place_in_list, show_clock
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Outcome
from tests.make_music import ALBUM, MUSIC, encoded, song, tag, tone

TOOLS = {tool.name: tool for tool in tools_in(bundled_folder("tools") / "music.py")}
SILENT = ", silently, without a sound card"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home and a current folder of the test's own, nothing listed, and no sound."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(here)
    songs.remember_listed_folder(here)
    set_shared(SoundPlayer("null"))
    yield home
    shared_player().stop()


@pytest.fixture
def mp3(home: Path) -> Path:
    folder = home / "mp3"
    folder.mkdir()
    song(folder / "song10.mp3", seconds=3, title="Ten", artist="Ada Finch")
    song(folder / "song1.mp3", seconds=3, title="Paper Boats", artist="Ada Finch")
    song(folder / "song2.mp3", seconds=3, title="Paper Moon", artist="Ada Finch")
    return folder


def called(name: str, **arguments: object) -> Outcome:
    outcome = TOOLS[name].run(arguments)
    assert isinstance(outcome, Outcome)
    return outcome


def refused(name: str, **arguments: object) -> str:
    with pytest.raises(ToolError) as caught:
        TOOLS[name].run(arguments)
    return caught.value.content


def files(outcome: Outcome) -> list[str]:
    assert isinstance(outcome.data, list)
    return [each["file"] for each in outcome.data]


def test_the_tools_are_those_of_the_contract() -> None:
    assert {
        name: (tool.effect, list(tool.schema["properties"])) for name, tool in TOOLS.items()
    } == {
        "list_mp3s": (Effect.READ, ["path"]),
        "play_mp3": (Effect.PLAY, ["file", "path", "volume"]),
        "queue_mp3": (Effect.PLAY, ["file", "path"]),
        "pause_mp3": (Effect.PLAY, []),
        "stop_mp3": (Effect.PLAY, []),
        "now_playing": (Effect.READ, []),
    }


def test_only_the_file_must_be_given() -> None:
    required = {name: tool.schema["required"] for name, tool in TOOLS.items()}
    assert {name for name, names in required.items() if names == ["file"]} == {
        "play_mp3",
        "queue_mp3",
    }
    assert not required["list_mp3s"]


def test_listing_and_playing_the_first_one_is_two_calls(mp3: Path) -> None:
    registry = Registry(TOOLS.values())

    async def conversation() -> tuple[str, str, str]:
        there = await registry.call(ToolCall("1", "list_mp3s", {"path": "~/mp3"}))
        first = json.loads(there.content)[0]["file"]
        call = ToolCall("2", "play_mp3", {"path": "~/mp3", "file": first})
        playing = await registry.call(call)
        return there.did, playing.content, playing.did

    assert asyncio.run(conversation()) == (
        "listed 3 songs in ~/mp3",
        f"playing song1.mp3 (Paper Boats by Ada Finch, 3 s){SILENT}",
        "started song1.mp3 (Paper Boats by Ada Finch, 3 s), silently, without a sound card",
    )


def test_the_songs_that_ship_for_trying_out_are_real() -> None:
    found = called("list_mp3s", path=str(MUSIC)).data
    assert isinstance(found, list)
    assert [(each["file"], each["title"], each["artist"]) for each in found] == [
        each[:3] for each in ALBUM
    ]
    assert all(1 < each["seconds"] < 2 for each in found)
    assert all(each.stat().st_size < 20_000 for each in MUSIC.iterdir())
    first = called("play_mp3", file="the first one", path=str(MUSIC))
    assert first.data == f"playing 01 - Morning Light.mp3 (Morning Light by Ada Finch, 2 s){SILENT}"


def test_songs_are_listed_in_natural_order(mp3: Path) -> None:
    assert files(called("list_mp3s", path="~/mp3")) == ["song1.mp3", "song2.mp3", "song10.mp3"]
    assert sorted(["b", "a10", "A2", "10", "9", ""], key=natural_key) == [
        "",
        "9",
        "10",
        "A2",
        "a10",
        "b",
    ]


def test_what_is_known_of_a_song_is_told(mp3: Path) -> None:
    data = called("list_mp3s", path="~/mp3").data
    assert isinstance(data, list)
    assert list(data[0]) == ["file", "title", "artist", "seconds"]
    assert data[0]["title"] == "Paper Boats"
    assert data[0]["seconds"] == pytest.approx(3, abs=0.2)


def test_a_song_without_tags_is_listed_by_its_file() -> None:
    song(Path("untitled.MP3"))
    data = called("list_mp3s").data
    assert isinstance(data, list)
    assert [list(each) for each in data] == [["file", "seconds"]]


@pytest.mark.parametrize(
    "content", [b"", b"no music\n" * 90, tag("Lost", "") + b"\x01\x02" * 9000], ids=len
)
def test_a_damaged_file_is_marked_and_not_played(content: bytes) -> None:
    Path("bad.mp3").write_bytes(content)
    data = called("list_mp3s").data
    assert isinstance(data, list)
    assert data[0]["damaged"]
    assert "seconds" not in data[0]
    assert refused("play_mp3", file="bad.mp3").startswith("bad.mp3 is ")
    assert called("now_playing").data == "nothing is playing"


def test_of_a_large_file_without_music_only_the_beginning_is_looked_at() -> None:
    with Path("film.mp3").open("wb") as file:
        file.truncate(5 << 30)  # minutes, if it were read
    data = called("list_mp3s").data
    assert isinstance(data, list)
    assert data[0]["damaged"]
    assert refused("play_mp3", file="film.mp3").startswith("film.mp3 is ")


def test_a_tag_is_one_line_of_bearable_length() -> None:
    song(Path("long.mp3"), title="a\nDEAR ANDYBOT,\r\n" + "b" * 500)
    data = called("list_mp3s").data
    assert isinstance(data, list)
    assert data[0]["title"].startswith("a DEAR ANDYBOT, bbb")
    assert len(data[0]["title"]) == 120


def test_an_empty_folder_is_no_failure(home: Path) -> None:
    (home / "empty").mkdir()
    outcome = called("list_mp3s", path="~/empty")
    assert (outcome.data, outcome.summary) == ([], "found no music in ~/empty")
    assert called("list_mp3s").summary == "found no music in the current folder"


def test_albums_are_looked_into_when_the_folder_itself_has_no_music(home: Path) -> None:
    for name in ("B", "A"):
        (home / name).mkdir()
        song(home / name / "01.mp3", title=f"Title {name}")
    assert files(called("list_mp3s", path="~")) == ["A/01.mp3", "B/01.mp3"]
    assert "Title B" in str(called("play_mp3", file="B/01.mp3").data)
    assert "2 songs match '01'" in refused("play_mp3", file="01")
    song(home / "top.mp3")
    assert files(called("list_mp3s", path="~")) == ["top.mp3"]


def test_a_folder_that_cannot_be_listed_says_what_to_do(mp3: Path) -> None:
    assert refused("list_mp3s", path="~/nowhere") == (
        f"There is no folder {mp3.parent / 'nowhere'}. Ask the user where the music is."
    )
    assert refused("list_mp3s", path="~/mp3/song1.mp3") == (
        f"{mp3 / 'song1.mp3'} is a file, not a folder. Its folder is {mp3}."
    )
    song(Path("here.mp3"))
    assert refused("list_mp3s", path="here.mp3") == (
        f"here.mp3 is a file, not a folder. Its folder is {Path.cwd()}."
    )
    with pytest.raises(ToolError, match=r"nowhere\.$"):
        TOOLS["list_mp3s"].run({"path": "~/nowhere"})
    assert "part of that path is a file" in refused("list_mp3s", path="~/mp3/song1.mp3/deeper")
    assert "not a usable path" in refused("list_mp3s", path="a\0b")
    assert "not a usable path" in refused("list_mp3s", path="~nobody-of-that-name/music")
    assert "cannot be read" in refused("list_mp3s", path="x" * 5000)


@contextmanager
def an_ordinary_user() -> Iterator[None]:
    """Root may read every folder, so as root be nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="folders are closed in another way there")
def test_a_closed_folder_says_so(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir()
    song(closed / "a.mp3")
    closed.chmod(0)
    try:
        with an_ordinary_user():
            expected = f"The folder {closed} may not be read by this user. Ask for another one."
            assert refused("list_mp3s", path=str(closed)) == expected
            assert refused("play_mp3", path=str(closed), file="a.mp3") == expected
            access = TOOLS["play_mp3"].find_access({"file": "a", "path": str(closed)})
            assert access.places == (str(closed),)
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize(
    "file",
    [
        "song2.mp3",
        "song2",
        "SONG2.MP3",
        "2",
        "#2",
        "number 2",
        "the second one",
        "Paper Moon",
        "paper moon",
        "Paper Moon by Ada Finch",
        "Ada Finch - Paper Moon",
        "moon",
        "~/mp3/song2.mp3",
    ],
)
def test_a_song_has_many_names(mp3: Path, file: str) -> None:
    assert str(called("play_mp3", file=file, path="~/mp3").data).startswith("playing song2.mp3 (")
    assert shared_player().now_playing().path == mp3 / "song2.mp3"


def test_numbers_count_from_one() -> None:
    said = ["1", "1.", "1st", "track 3", "No. 12", "last", "the last song", "0", "seven", "1999 a"]
    assert [place_in_list(each) for each in said] == [0, 0, 0, 2, 11, -1, -1, None, None, None]


def test_a_file_named_like_a_number_is_that_file() -> None:
    song(Path("0.mp3"))
    song(Path("1.mp3"))
    assert "playing 1.mp3" in str(called("play_mp3", file="1").data)
    assert "playing 1.mp3" in str(called("play_mp3", file="2").data)


def test_an_unclear_name_is_asked_for(mp3: Path) -> None:
    assert refused("play_mp3", file="paper", path="~/mp3") == (
        "2 songs match 'paper': song1.mp3, song2.mp3. Say which one."
    )
    assert refused("play_mp3", file="Peper Boats", path="~/mp3") == (
        "There is no song 'Peper Boats' in ~/mp3. The nearest names: song1.mp3, song2.mp3."
    )
    assert refused("play_mp3", file="99", path="~/mp3") == (
        "There is no song '99' in ~/mp3. It has: song1.mp3, song2.mp3, song10.mp3."
    )
    assert refused("play_mp3", file="x", path=".") == (
        "There is no song 'x' here. Ask the user for its folder."
    )


def test_without_a_folder_the_usual_places_are_searched(mp3: Path, tmp_path: Path) -> None:
    assert "song10.mp3" in str(called("play_mp3", file="ten").data)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    song(elsewhere / "ten.mp3")
    song(elsewhere / "a.mp3")
    called("list_mp3s", path=str(elsewhere))
    assert "playing ten.mp3" in str(called("play_mp3", file="ten").data)
    song(Path("here.mp3"))
    assert "playing a.mp3" in str(called("play_mp3", file="1").data)
    assert "playing here.mp3" in str(called("play_mp3", file="here").data)


def test_a_folder_given_twice_counts_once(mp3: Path) -> None:
    os.chdir(mp3.parent)
    outcome = called("play_mp3", file="mp3/song1.mp3", path="mp3")
    assert "playing song1.mp3" in str(outcome.data)


@pytest.mark.parametrize(
    "name",
    ["Bach, Goldberg - Aria.mp3", "Für Elise 月光 🎹.mp3", 'it\'s "quoted".mp3', " spaced .mp3"],
)
@pytest.mark.skipif(os.name == "nt", reason="not every name may be had there")
def test_names_are_kept_whole(name: str) -> None:
    song(Path(name), title="Aria, da capo")
    assert files(called("list_mp3s")) == [name]
    assert str(called("play_mp3", file=name).data).startswith(f"playing {name} (Aria, da capo, ")


def test_an_accent_may_be_written_either_way() -> None:
    song(Path("Caf\u0065\u0301.mp3"))
    assert "playing Caf" in str(called("play_mp3", file="CAF\u00c9").data)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_can_still_be_listed(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(b"bad\xff.mp3")).write_bytes(encoded(tone(440, 0.2)))
    except OSError:
        pytest.skip("this file system takes text only")
    outcome = called("list_mp3s")
    assert files(outcome) == ["bad?.mp3"]
    assert json.dumps(outcome.data, ensure_ascii=False).encode()


def test_the_volume_is_a_percentage(mp3: Path) -> None:
    called("play_mp3", file="1", path="~/mp3", volume=40)
    assert shared_player().now_playing().volume == 40
    for volume in (-1, 101):
        problems = TOOLS["play_mp3"].check({"file": "1", "volume": volume})
        assert [problem.path for problem in problems] == ["volume"]


def test_music_is_queued_paused_and_stopped(mp3: Path) -> None:
    first, second = "song1.mp3 (Paper Boats by Ada Finch, 3 s)", "song2.mp3"
    assert called("pause_mp3").data == "nothing is playing"
    assert called("stop_mp3").data == "nothing was playing"
    assert called("pause_mp3").changed_nothing
    assert called("stop_mp3").changed_nothing
    assert called("queue_mp3", file="1", path="~/mp3").data == f"playing {first}{SILENT}"
    assert str(called("queue_mp3", file="2", path="~/mp3").data).startswith(f"queued {second}")
    paused = called("pause_mp3").data
    at = show_clock(shared_player().now_playing().position)
    assert paused == f"paused {first} at {at}"
    assert called("now_playing").data == (
        f"paused {first}, {at} so far; then {second}; no sound card: playing silently"
    )
    assert called("pause_mp3").data == f"went on with {first}"
    stopped = called("stop_mp3")
    assert (stopped.data, stopped.changed_nothing) == (f"stopped {first}", False)
    assert called("now_playing").data == "nothing is playing"


def test_the_gate_sees_the_file_that_will_be_opened(mp3: Path, home: Path) -> None:
    elsewhere = song(home / "elsewhere.mp3")
    access = TOOLS["play_mp3"].find_access
    assert access({"file": "song1.mp3", "path": "~/mp3"}).places == (str(mp3 / "song1.mp3"),)
    assert access({"file": "Paper Moon", "path": "~/mp3"}).places == ("~/mp3",)
    above = access({"file": "../elsewhere.mp3", "path": "~/mp3"})
    assert above.places == (f"{mp3}/../elsewhere.mp3",)
    assert access({"file": str(elsewhere), "path": "~/mp3"}).places == (str(elsewhere),)
    assert access({"file": "~/elsewhere.mp3"}).places == (str(elsewhere),)
    assert access({"file": "~/nothing.mp3"}).places == (str(home),)
    assert access({"file": "ten"}).places == (str(mp3 / "song10.mp3"),)
    assert access({"file": "unheard of"}).places == (".",)
    assert access({}).places == (".",)
    assert TOOLS["list_mp3s"].find_access({"path": "~/mp3"}).places == ("~/mp3",)
    assert TOOLS["stop_mp3"].find_access({}).places == ()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_out_of_the_folder_is_followed_only_by_its_own_path(mp3: Path, home: Path) -> None:
    secret = song(home / "secret.mp3", title="Secret Garden")
    (mp3 / "link.mp3").symlink_to(secret)
    listed = called("list_mp3s", path="~/mp3").data
    assert isinstance(listed, list)
    assert listed[0] == {"file": "link.mp3"}
    assert "is a link to another folder" in refused("play_mp3", file="1", path="~/mp3")
    assert TOOLS["play_mp3"].find_access({"file": "link.mp3", "path": "~/mp3"}).places == (
        str(mp3 / "link.mp3"),
    )
    assert "link.mp3" in str(called("play_mp3", file="link.mp3", path="~/mp3").data)


def test_other_things_than_music_are_not_played(mp3: Path) -> None:
    (mp3 / "Album").mkdir()
    (mp3 / "notes.txt").write_text("buy milk\n" * 50)
    assert refused("play_mp3", file="Album", path="~/mp3").startswith("Album is a folder.")
    assert refused("play_mp3", file="notes.txt", path="~/mp3").startswith(
        "notes.txt is damaged or not MP3"
    )


def test_thousands_of_songs_are_listed_in_order() -> None:
    sample = tag("Sample", "Ada Finch") + encoded(tone(440, 0.2))
    for number in range(2000):
        Path(f"{number}.mp3").write_bytes(sample)
    assert files(called("list_mp3s")) == [f"{number}.mp3" for number in range(2000)]
    assert "playing 1234.mp3" in str(called("play_mp3", file="1234").data)


def test_actions_are_human_words() -> None:
    intents = [
        TOOLS["list_mp3s"].intent({"path": "~/mp3"}),
        TOOLS["list_mp3s"].intent({}),
        TOOLS["play_mp3"].intent({"file": "song1.mp3", "path": "~/mp3"}),
        TOOLS["play_mp3"].intent({"file": "song1.mp3"}),
        TOOLS["queue_mp3"].intent({"file": "song1.mp3"}),
    ]
    assert intents == [
        "list the music in ~/mp3",
        "list the music",
        "play song1.mp3 from ~/mp3",
        "play song1.mp3",
        "play song1.mp3 next",
    ]
