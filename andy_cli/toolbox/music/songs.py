"""The songs of a music folder: what the files hold, and the search for the one that somebody means.

Tags come from strangers: they are cut to one line of a bearable length and are never more than
text. A song is named by its file, its title, its number in the list or a part of these; a folder
may be given or left out.

Whether a file holds MPEG audio is told from its frame headers alone, not by decoding: importing the
decoder takes 65 ms, more than listing a thousand files. A header says how long its frame is, so
where it is real the next one stands right after it; noise does not pass that twice. Source:
ISO/IEC 11172-3 section 2.4.1.3, and 13818-3 for the lower rates.
"""

import difflib
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from andy_cli.errors import ToolError

LOOKED_AT = 65_536
"""Bytes after the tags that are searched for the first frame."""

RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
"""Samples a second by version bits: MPEG 1, 2 and 2.5."""

BITRATES = {
    (3, 3): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (3, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (3, 1): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (2, 3): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (2, 1): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Kilobits a second by (MPEG 1 or later, layer bits); layers II and III of MPEG 2 are alike."""


def has_frames(path: Path, searched: int = LOOKED_AT) -> bool:
    """Tell whether two MPEG audio frames stand in a row in the first bytes, tags aside.

    Raises OSError if it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(10)
        if head[:3] == b"ID3" and len(head) == 10:
            # ID3 writes the size of a tag with seven bits a byte: none looks like a frame's start.
            tag_size = head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]
            file.seek(10 + tag_size)
            head = b""
        data = head + file.read(searched)
    return any(_follows(data, position) for position in _syncs(data))


def _syncs(data: bytes) -> Iterator[int]:
    position = data.find(b"\xff")
    while 0 <= position < len(data) - 4:
        if data[position + 1] >= 0xE0:
            yield position
        position = data.find(b"\xff", position + 1)


def _follows(data: bytes, position: int) -> bool:
    """A frame starts here, and where it ends the next one starts, or the file ends."""
    size = frame_size(data[position : position + 4])
    if not size:
        return False
    end = position + size
    return end == len(data) or bool(frame_size(data[end : end + 4]))


def frame_size(header: bytes) -> int:
    """Bytes of the frame that these four bytes begin; 0 if they begin none."""
    if len(header) < 4 or header[0] != 0xFF or header[1] < 0xE0:
        return 0
    version, layer = header[1] >> 3 & 3, header[1] >> 1 & 3
    bitrate, rate_index, padding = header[2] >> 4, header[2] >> 2 & 3, header[2] >> 1 & 1
    if version == 1 or layer == 0 or bitrate in (0, 15) or rate_index == 3:
        return 0
    return _count_bytes(version, layer, bitrate, rate_index, padding)


def _count_bytes(version: int, layer: int, bitrate: int, rate_index: int, padding: int) -> int:
    mpeg_2_layer = 3 if layer == 3 else 1
    key = (3, layer) if version == 3 else (2, mpeg_2_layer)
    bitrate_bits, samples = BITRATES[key][bitrate - 1] * 1000, RATES[version][rate_index]
    if layer == 3:
        return (12 * bitrate_bits // samples + padding) * 4
    per_frame = 72 if layer == 1 and version != 3 else 144
    return per_frame * bitrate_bits // samples + padding


MAX_TAG_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Song:
    path: Path
    name: str = ""
    """The path as seen from the folder that was listed: `song1.mp3`, `Album/song1.mp3`."""
    title: str = ""
    artist: str = ""
    seconds: float = 0.0
    damaged: bool = False
    """It is named like music, but no decoder finds any in it."""

    def describe_song(self) -> str:
        """`song1.mp3 (Morning Light by Ada Finch, 2 s)`, without what is not known."""
        details = []
        if self.artist:
            details.append(f"{self.title or 'unknown'} by {self.artist}")
        elif self.title:
            details.append(self.title)
        if self.seconds:
            details.append(show_clock(self.seconds))
        return f"{self.name} ({', '.join(details)})" if details else self.name


def show_clock(seconds: float) -> str:
    """`2 s`, and from a minute on `3:07`."""
    whole_seconds = round(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    return f"{whole_seconds // 60}:{whole_seconds % 60:02}"


def read_song(path: Path, name: str = "") -> Song:
    """The song in a file, by its tags; never fails. `name` is how it is called, if not by its own.

    Not read again while the file stays as it is: a folder is listed, then searched for a title.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return Song(path, displayable_name(name or path.name), damaged=True)
    return replace(
        _read_tags(path, status.st_mtime_ns, status.st_size),
        name=displayable_name(name or path.name),
    )


@lru_cache(maxsize=10_000)
def _read_tags(path: Path, changed: int, size: int) -> Song:
    import tinytag  # only where there is music

    try:
        # Without frames tinytag reads all of the file, and may find a length in noise.
        tag = tinytag.TinyTag.get(path, duration=has_frames(path))
        damaged = not tag.duration
    except (tinytag.TinyTagException, OSError):
        return Song(path, damaged=True)
    seconds = 0.0 if damaged else round(tag.duration or 0, 1)
    return Song(path, "", _tag_line(tag.title), _tag_line(tag.artist), seconds, damaged)


def _tag_line(tag: str | None) -> str:
    line = " ".join(displayable_name(tag or "").split())
    return line if len(line) <= MAX_TAG_LENGTH else line[: MAX_TAG_LENGTH - 1] + "…"


def displayable_name(name: str) -> str:
    """The name with characters that no text can hold (of undecodable file names) replaced."""
    return name.encode("utf-8", "replace").decode("utf-8")


def list_songs(folder: Path) -> list[Song]:
    """The songs of a folder in natural order; if it has none, those one level further down.

    Raises ToolError in a sentence that says what to do next.
    """
    real_folder = Path(os.path.realpath(folder))
    return [
        # What a link drags in from elsewhere is named, not read: nobody agreed to that place.
        read_song(path, name) if lies_in(path, real_folder) else Song(path, displayable_name(name))
        for path, name in paths_in(folder)
    ]


def lies_in(path: Path, real_folder: Path) -> bool:
    """Tell whether the file, links followed, lies in the folder (which is given links followed)."""
    return Path(os.path.realpath(path)).is_relative_to(real_folder)


def paths_in(folder: Path) -> list[tuple[Path, str]]:
    """The music files of a folder and their names as seen from there, in natural order."""
    try:
        named_paths, below = _scan_folder(folder)
    except (OSError, ValueError) as error:
        raise _explain_unread(folder, error) from error
    if not named_paths:
        for subfolder in below:
            try:
                inner, _ = _scan_folder(subfolder)
            except OSError:
                continue
            named_paths += [(path, f"{subfolder.name}/{name}") for path, name in inner]
    return sorted(named_paths, key=lambda named_path: natural_key(named_path[1]))


def _scan_folder(folder: Path) -> tuple[list[tuple[Path, str]], list[Path]]:
    """The music files directly in a folder, and its subfolders; links to folders not followed."""
    named_paths: list[tuple[Path, str]] = []
    below: list[Path] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                below.append(Path(entry.path))
            elif entry.name.lower().endswith(".mp3") and entry.is_file():
                named_paths.append((Path(entry.path), entry.name))
    return named_paths, below


def natural_key(name: str) -> list[str | int]:
    """A sort key that puts `song 2` before `song 10`; texts and numbers take turns in it."""
    name_parts = re.split(r"(\d+)", name.casefold())
    return [
        int(name_part) if index % 2 else name_part for index, name_part in enumerate(name_parts)
    ]


def _explain_unread(folder: Path, error: OSError | ValueError) -> ToolError:
    if isinstance(error, FileNotFoundError):
        return ToolError(f"There is no folder {folder}.", "Ask the user where the music is.")
    if isinstance(error, NotADirectoryError) and folder.is_file():
        above = folder.absolute().parent
        return ToolError(f"{folder} is a file, not a folder. Its folder is {above}.")
    if isinstance(error, NotADirectoryError):
        message = f"There is no folder {folder}: part of that path is a file."
    elif isinstance(error, PermissionError):
        message = f"The folder {folder} may not be read by this user."
    else:
        message = f"The folder {displayable_name(str(folder))!r} cannot be read: {error}."
    return ToolError(message, "Ask for another one.")


USUAL = (Path("~/Music"), Path("~/mp3"))
_listed: list[Path] = []
"""The folder that was listed last, if any: a number means a song of that list."""


def remember_listed_folder(folder: Path) -> None:
    """This folder was listed: songs may be named as they were there."""
    _listed[:] = [folder.absolute()]


def find_accessed_place(file: str, path: Path) -> Path:
    """Find what a search would open: the file where its name alone tells, else the folder.

    What is found in a folder by title or number lies there for certain: `_choose_song` sees to it.
    """
    if path == Path() and not _is_path(file, path):
        return find_song_file(file, None)
    written = _join_path(file, path)
    if _is_file(written):
        return written
    return written.parent if _is_path(file, path) else path


def find_song_file(file: str, path: Path | None) -> Path:
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
    folder_songs = list_songs(expand_home(folder))
    if chosen := pick_song(file, folder_songs):
        return _choose_song(chosen, expand_home(folder))
    raise make_missing_song_error(file, folder_songs, show_folder(folder))


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
            folder_songs = list_songs(folder)
        except ToolError:
            continue
        if chosen := pick_song(file, folder_songs):
            return _choose_song(chosen, folder)
        if folder_songs and folder in own_folders:
            nearest = nearest or make_missing_song_error(file, folder_songs, show_folder(folder))
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


def pick_song(wanted_name: str, songs: Sequence[Song]) -> Song | None:
    """The one song that is meant: by file name, number, title, or a part of these.

    None if there is no such song; raises ToolError that names them if there are several.
    """
    for matches in _list_matches(wanted_name.strip(), songs):
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = _join_some(_list_names(matches))
            raise ToolError(
                f"{len(matches)} songs match {wanted_name!r}: {names}.", "Say which one."
            )
    return None


def make_missing_song_error(
    wanted_name: str, songs: Sequence[Song], shown_folder: str
) -> ToolError:
    """The error for a song that is not there: it names what comes nearest."""
    if not songs:
        return ToolError(f"There is no music in {shown_folder}.", "Ask the user where it is.")
    name_hint = f"It has: {_join_some(_list_names(songs))}"
    if nearest := _find_nearest(fold_text(wanted_name), songs):
        name_hint = f"The nearest names: {_join_some(nearest)}"
    return ToolError(f"There is no song {wanted_name!r} in {shown_folder}. {name_hint}.")


def _list_matches(wanted_name: str, songs: Sequence[Song]) -> Iterator[list[Song]]:
    """From the surest reading of the words to the loosest."""
    folded_name, number = fold_text(wanted_name), place_in_list(wanted_name)

    def those(key: Key) -> list[Song]:
        return [song for song in songs if folded_name in key(song)]

    yield [song for song in songs if song.name == wanted_name]
    yield those(lambda song: (fold_text(song.name),))
    yield those(lambda song: (fold_text(song.path.name), fold_text(song.path.stem)))
    if number is not None:
        yield list(songs[number:][:1])
    yield those(_list_titles)
    if folded_name and number is None:
        yield [song for song in songs if folded_name in _join_names(song)]


def _join_names(song: Song) -> str:
    return " ".join((fold_text(song.name), *_list_titles(song)))


def fold_text(text: str) -> str:
    """For comparing: without case, and accents written one way."""
    return unicodedata.normalize("NFC", text.strip()).casefold()


def _list_titles(song: Song) -> tuple[str, ...]:
    title, artist = fold_text(song.title), fold_text(song.artist)
    return title, f"{title} by {artist}", f"{artist} - {title}"


def _list_names(songs: Sequence[Song]) -> list[str]:
    return [song.name for song in songs]


def _find_nearest(folded_name: str, songs: Sequence[Song]) -> list[str]:
    names: dict[str, str] = {}
    for song in songs:
        names.update(dict.fromkeys((fold_text(song.path.stem), fold_text(song.title)), song.name))
    close_matches = difflib.get_close_matches(folded_name, names, n=3, cutoff=0.5)
    return list(dict.fromkeys(names[match] for match in close_matches))


def _join_some(names: Sequence[str]) -> str:
    left_out = len(names) - 5
    return ", ".join(names[:5]) + (f" and {left_out} more" if left_out > 0 else "")
