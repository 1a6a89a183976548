"""Search for the song that somebody means, and where it is.

A song is named by its file, its title, its number in the list or a part of these; a folder may
be given or left out.
"""

import difflib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from andy_cli.errors import ToolError
from andy_cli.toolbox.music.songs import Song, displayable_name, in_folder, lies_in, paths_in

USUAL = (Path("~/Music"), Path("~/mp3"))
_listed: list[Path] = []
"""The folder that was listed last, if any: a number means a song of that list."""


def remember(folder: Path) -> None:
    """This folder was listed: songs may be named as they were there."""
    _listed[:] = [folder.absolute()]


def claimed_place(file: str, path: Path) -> Path:
    """Find what a search would open: the file where its name alone tells, else the folder.

    What is found in a folder by title or number lies there for certain: `_choose_song` sees to it.
    """
    if path == Path() and not _is_path(file, path):
        return find(file, None)
    written = _join_path(file, path)
    if _is_file(written):
        return written
    return written.parent if _is_path(file, path) else path


def find(file: str, path: Path | None) -> Path:
    """The file that is meant. Raises ToolError that names the nearest ones if there is none.

    Without a folder: in the current one, the one listed last, `~/Music` and `~/mp3`.
    """
    folder = path or Path()
    if folder == Path() and not _is_path(file, folder):
        return _search_file(file)
    written = _join_path(file, folder)
    if _is_file(written):
        if written.suffix.lower() == ".wav":
            raise ToolError(f"{written.name} is not an MP3 file.", "list_mp3s shows what is.")
        return written
    if os.path.isdir(written):  # noqa: PTH112 - Path.is_dir raises in a closed folder
        raise ToolError(f"{file} is a folder.", "list_mp3s shows the music in it.")
    if _is_path(file, folder):
        file, folder = written.name, written.parent
    folder_songs = in_folder(expand_home(folder))
    if chosen := pick(file, folder_songs):
        return _choose_song(chosen, expand_home(folder))
    raise missing(file, folder_songs, show_folder(folder))


def _search_file(file: str) -> Path:
    """Look in the current folder, the one listed last and the usual ones.

    Only the first two are spoken of when it is in none: nobody asked what the others hold.
    """
    own_folders = [Path.cwd(), *_listed]
    if place_in_list(file) is not None:
        own_folders.reverse()
    nearest: ToolError | None = None
    for folder in (*own_folders, *map(expand_home, USUAL)):
        try:
            folder_songs = in_folder(folder)
        except ToolError:
            continue
        if chosen := pick(file, folder_songs):
            return _choose_song(chosen, folder)
        if folder_songs and folder in own_folders:
            nearest = nearest or missing(file, folder_songs, show_folder(folder))
    raise nearest or ToolError(f"There is no song {file!r} here.", "Ask the user for its folder.")


def known_names() -> Iterator[str]:
    """The names of all songs that are found without their folder, by their files alone."""
    for folder in (Path.cwd(), *_listed, *map(expand_home, USUAL)):
        try:
            named_paths = paths_in(folder)
        except ToolError:
            continue
        yield from (name for _, name in named_paths)


def _choose_song(song: Song, folder: Path) -> Path:
    """Not by a link that leaves the folder: leave was given for the folder alone."""
    if not lies_in(song.path, Path(os.path.realpath(folder))):
        raise ToolError(f"{song.name} is a link to another folder.", f"Give its path: {song.path}")
    return song.path


def _is_path(file: str, folder: Path) -> bool:
    """Tell whether it says where, and not only what: `Album/1.mp3` may be a name from a list."""
    somewhere = file.startswith("~") or Path(file).is_absolute() or ".." in Path(file).parts
    return somewhere or _is_file(_join_path(file, folder))


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises in a closed folder


def _join_path(file: str, folder: Path) -> Path:
    """The path the words give; a folder that is given twice counts once."""
    folder, named_path = expand_home(folder), expand_home(Path(file))
    joined = folder / named_path
    is_repeated = os.path.realpath(named_path.parent) == os.path.realpath(folder)
    return folder / named_path.name if is_repeated and not _is_file(joined) else joined


def expand_home(path: Path) -> Path:
    """With the home folder for `~`. Raises ToolError for what no file system can name."""
    try:
        if "\0" in str(path):
            raise RuntimeError("it holds a NUL character")
        return path.expanduser()
    except RuntimeError as error:
        raise ToolError(f"{str(path)!r} is not a usable path: {error}.") from error


def show_folder(folder: Path) -> str:
    """The folder as a person would write it."""
    absolute, home_folder = Path(os.path.abspath(folder.expanduser())), Path.home()  # noqa: PTH100
    if absolute == Path.cwd():
        return "the current folder"
    if absolute.is_relative_to(home_folder) and absolute != home_folder:
        return displayable_name(f"~/{absolute.relative_to(home_folder)}")
    return displayable_name(str(folder))


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
NUMBER = re.compile(
    r"(?:the\s+)?(?:(?:number|no\.?|track|song|#)\s*)?"
    rf"(?:(\d{{1,9}})(?:st|nd|rd|th|\.)?|(last)|({'|'.join(ORDINALS)}))"
    r"(?:\s+(?:one|song|track|file|mp3))?\.?",
    re.IGNORECASE,
)


def place_in_list(wanted_name: str) -> int | None:
    """`1`, `#1`, `the first one`: 0; `last`: -1; None if it is no number."""
    match = NUMBER.fullmatch(wanted_name.strip())
    if not match:
        return None
    if match[1]:
        return int(match[1]) - 1 if int(match[1]) else None
    return -1 if match[2] else ORDINALS.index(match[3].lower())


Key = Callable[[Song], Sequence[str]]


def pick(wanted_name: str, songs: Sequence[Song]) -> Song | None:
    """The one song that is meant: by file name, number, title, or a part of these.

    None if there is no such song; raises ToolError that names them if there are several.
    """
    for matches in _attempts(wanted_name.strip(), songs):
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = _some(_names(matches))
            raise ToolError(
                f"{len(matches)} songs match {wanted_name!r}: {names}.", "Say which one."
            )
    return None


def missing(wanted_name: str, songs: Sequence[Song], shown_folder: str) -> ToolError:
    """The error for a song that is not there: it names what comes nearest."""
    if not songs:
        return ToolError(f"There is no music in {shown_folder}.", "Ask the user where it is.")
    nearest = _nearest(fold_text(wanted_name), songs)
    name_hint = (
        f"The nearest names: {_some(nearest)}" if nearest else f"It has: {_some(_names(songs))}"
    )
    return ToolError(f"There is no song {wanted_name!r} in {shown_folder}. {name_hint}.")


def _attempts(wanted_name: str, songs: Sequence[Song]) -> Iterator[list[Song]]:
    """From the surest reading of the words to the loosest."""
    folded_name, number = fold_text(wanted_name), place_in_list(wanted_name)

    def those(key: Key) -> list[Song]:
        return [song for song in songs if folded_name in key(song)]

    yield [song for song in songs if song.name == wanted_name]
    yield those(lambda song: (fold_text(song.name),))
    yield those(lambda song: (fold_text(song.path.name), fold_text(song.path.stem)))
    if number is not None:
        yield list(songs[number:][:1])
    yield those(_titles)
    if folded_name and number is None:
        yield [
            song
            for song in songs
            if folded_name in " ".join((fold_text(song.name), *_titles(song)))
        ]


def fold_text(text: str) -> str:
    """For comparing: without case, and accents written one way."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _titles(song: Song) -> tuple[str, ...]:
    title, artist = fold_text(song.title), fold_text(song.artist)
    return title, f"{title} by {artist}", f"{artist} - {title}"


def _names(songs: Sequence[Song]) -> list[str]:
    return [song.name for song in songs]


def _nearest(folded_name: str, songs: Sequence[Song]) -> list[str]:
    names: dict[str, str] = {}
    for song in songs:
        names.update(dict.fromkeys((fold_text(song.path.stem), fold_text(song.title)), song.name))
    close_matches = difflib.get_close_matches(folded_name, names, n=3, cutoff=0.5)
    return list(dict.fromkeys(names[match] for match in close_matches))


def _some(names: Sequence[str], most_names: int = 5) -> str:
    left_out = len(names) - most_names
    return ", ".join(names[:most_names]) + (f" and {left_out} more" if left_out > 0 else "")
