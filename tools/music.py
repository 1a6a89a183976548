"""Music: see what there is, play it, pause it, stop it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from andy_cli.toolbox.music import songs
from andy_cli.toolbox.music.player import PlayerState, current_state, shared_player
from andy_cli.toolbox.music.songs import (
    Song,
    expand_home,
    find_accessed_place,
    find_song_file,
    remember_listed_folder,
    show_folder,
)
from andy_cli.toolbox.tool import Outcome, ResourceAccess, ToolError, parameter, tool

Folder = Annotated[
    Path | None,
    parameter("which folder", aliases=["folder", "directory", "library"]),
]
File = Annotated[
    str,
    parameter(
        "which song (file name, title or number)",
        aliases=["song", "track", "title", "name", "number", "song_name"],
        min_length=1,
    ),
]
Volume = Annotated[
    int | None,
    parameter("how loud, from 0 to 100", aliases=["loudness", "level"], ge=0, le=100),
]


@tool(
    effect="read",
    title="list of songs",
    aliases=(
        "list_songs",
        "list_music",
    ),
    action="list the music in {path}",
    examples=(
        "which songs do I have?",
        "show me my music",
        "list the music files",
    ),
)
def list_mp3s(path: Folder = None) -> Outcome:
    """List the MP3 files in a folder."""
    folder = expand_home(path or Path())
    found = songs.list_songs(folder)
    remember_listed_folder(folder)
    count = f"listed {len(found)} song{'s' * (len(found) != 1)}" if found else "found no music"
    return Outcome([_describe_song(song) for song in found], f"{count} in {show_folder(folder)}")


def _describe_song(song: Song) -> dict[str, object]:
    """Tell what is known of a song; a file that cannot be played is marked as damaged."""
    known: dict[str, object] = {
        "file": song.name,
        "title": song.title,
        "artist": song.artist,
        "seconds": song.seconds,
        "damaged": song.damaged,
    }
    return {name: value for name, value in known.items() if value}


def _find_access(arguments: Mapping[str, object]) -> ResourceAccess:
    """Say what a call would open, for the gate to judge."""
    file, path = str(arguments.get("file") or ""), str(arguments.get("path") or "")
    try:
        return ResourceAccess((str(find_accessed_place(file, Path(path))),))
    except ToolError:
        return ResourceAccess((path or ".",))


@tool(
    effect="play",
    title="music player",
    aliases=(
        "play_song",
        "play_music",
    ),
    action="play {file|a song} from {path}",
    find_access=_find_access,
    examples=(
        "play the song",
        "put on some music",
        "I want to hear this band",
        "start the music file",
    ),
    repeated_as="queue_mp3",
)
def play_mp3(file: File, path: Folder = None, volume: Volume = None) -> Outcome:
    """Play an MP3 file."""
    return _report_start(shared_player().play(find_song_file(file, path), volume))


@tool(
    effect="play",
    title="music queue",
    aliases=(
        "queue_song",
        "queue_music",
    ),
    action="play {file|a song} from {path} next",
    find_access=_find_access,
    examples=(
        "play this song next",
        "put the song into the queue",
        "play it after this one",
    ),
)
def queue_mp3(file: File, path: Folder = None) -> Outcome:
    """Add an MP3 file to the queue, to be played next."""
    state = shared_player().queue(find_song_file(file, path))
    if not state.queue:
        return _report_start(state)
    queued = f"queued {state.queue[-1].describe_song()}"
    return Outcome(queued, queued)


def _report_start(state: PlayerState) -> Outcome:
    song = state.song.describe_song() if state.song else "nothing"
    if not state.notice:
        return Outcome(f"playing {song}", f"started {song}")
    silently = "silently, without a sound card"
    return Outcome(f"playing {song}, {silently}", f"started {song}, {silently}")


@tool(
    effect="play",
    title="pause button",
    aliases=(
        "pause_song",
        "pause_music",
    ),
    action="pause the music or go on",
    examples=(
        "pause the song",
        "hold on with the music",
        "continue the music",
    ),
)
def pause_mp3() -> Outcome:
    """Pause or resume the music."""
    state = current_state()
    if state.song is None:
        return Outcome("nothing is playing", "nothing is playing", changed_nothing=True)
    if state.paused:
        shared_player().resume()
        return _both(f"went on with {state.song.describe_song()}")
    shared_player().pause()
    return _both(f"paused {state.song.describe_song()} at {songs.show_clock(state.position)}")


@tool(
    effect="play",
    title="stop button",
    aliases=(
        "stop_song",
        "stop_music",
    ),
    action="stop the music",
    examples=(
        "stop the music",
        "turn the music off",
        "silence please",
    ),
)
def stop_mp3() -> Outcome:
    """Stop the music."""
    before = shared_player().stop() if current_state().playing else None
    if before is None or before.song is None:
        return Outcome("nothing was playing", "nothing was playing", changed_nothing=True)
    return _both(f"stopped {before.song.describe_song()}")


@tool(
    effect="read",
    title="music display",
    action="see what is playing",
    examples=(
        "which song is this?",
        "what is playing?",
        "who sings this?",
    ),
)
def now_playing() -> Outcome:
    """Tell which song is playing now."""
    state = current_state()
    if state.song is None:
        return _both(" ".join(("nothing is playing", *state.faults)))
    at = songs.show_clock(state.position)
    parts = [f"{'paused' if state.paused else 'playing'} {state.song.describe_song()}, {at} so far"]
    if state.queue:
        parts.append("then " + ", ".join(song.name for song in state.queue))
    parts += [state.notice] if state.notice else []
    return Outcome("; ".join((*parts, *state.faults)), "looked at what is playing")


def _both(text: str) -> Outcome:
    """Tell what happened and nothing else, to the model and to the user."""
    return Outcome(text, text)
