"""Look up programs and places in the TOML files beside this one: what is known of each by its name.

The files are read when they are first needed, and nothing is looked at on the disk. A place is an
absolute path in which `/~` is the user's home and the workspace lies so deep that only a long climb
leads from it to the root. Where it really lies, and by which links, whoever has a command judged
may tell: then a place has those names too.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


@cache
def load_table(name: str) -> Mapping[str, Any]:
    """Load `name.toml`."""
    import tomllib  # 10 ms, and most starts of andy judge no command line

    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def load_pattern(table: str, name: str) -> re.Pattern[str]:
    """Compile a regular expression of `table.toml`."""
    return re.compile(load_table(table)[name])


@cache
def program_set(*names: str) -> frozenset[str]:
    """The words of `programs.toml` under all of these names."""
    table = load_table("programs")
    return frozenset(word for name in names for word in table[name].split())


def interpreters() -> frozenset[str]:
    """Programs that run what they read, shells among them."""
    return program_set("shells", "interpreters")


def senders() -> frozenset[str]:
    """Programs that may send something out, fetchers among them."""
    return program_set("fetchers", "senders")


def running_programs() -> frozenset[str]:
    """Programs that run a command, or what they read."""
    return program_set("wrappers") | interpreters()


@cache
def output_options(program: str) -> tuple[str, ...]:
    """Options of a program after which a file or folder is named that is written."""
    return tuple(load_table("programs")["outputs"].get(program, "").split())


MAX_WORDS, MAX_SCRIPTS = 40, 8
"""Words of a command behind which another one is looked for, and words that may be scripts."""

WORKSPACE = "/" + "/".join(f"\ufdd0{depth}" for depth in range(8))
UNKNOWN = "\ufffc"
"""Stands for what cannot be known: a variable, the output of a command."""

HARMLESS_DEVICES = frozenset(
    f"/dev/{name}" for name in "null zero full random urandom stdin stdout stderr tty".split()
)
WILDCARDS = frozenset("*?[")
WHOLE_FOLDER = frozenset(["*", ".*", "**", ".[!.]*", ".??*", "[!.]*", "{*,.*}"])
"""Patterns of names that take all that is in a folder, or all that is hidden."""

Locate = Callable[[str, bool], Iterable[str]]
"""(place, follows) -> the places that it really is, links on the way to it followed; a link that it
is itself only where `follows` says so."""


class ShellFolder(NamedTuple):
    """The folder in which a command runs."""

    place: str = WORKSPACE
    """As it was spelled: `..` behind a link climbs from where that leads."""
    locate: Locate = lambda place, follows: ()

    def enter(self, text: str) -> "ShellFolder":
        return self._replace(place=_join_place(text, self))


def _join_place(text: str, folder: ShellFolder) -> str:
    return posixpath.join(folder.place, "/" + text if text.startswith("~") else text)


def resolve_place(text: str, folder: ShellFolder) -> str:
    """The place a word names, as seen from a folder; patterns and unknown parts stay in it."""
    # Two slashes at the beginning stay two otherwise, as POSIX wants it.
    return posixpath.normpath(_join_place(text, folder)).replace("//", "/")


def list_places(text: str, folder: ShellFolder, follows: bool) -> Iterator[str]:
    """The place a word names by its spelling, and what that really is, as far as it is known.

    `follows`: a link that it names counts as what it leads to, not as itself.
    """
    spelled_place = resolve_place(text, folder)
    yield spelled_place
    if spelled_place not in HARMLESS_DEVICES:
        yield from folder.locate(_join_place(text, folder), follows)


def is_inside(resolved_place: str) -> bool:
    """In the workspace for certain."""
    return UNKNOWN not in resolved_place and f"{resolved_place}/".startswith(WORKSPACE + "/")


def is_disk(resolved_place: str) -> bool:
    return load_pattern("places", "disk").search(resolved_place) is not None


def is_system(resolved_place: str) -> bool:
    if resolved_place in HARMLESS_DEVICES:
        return False
    return load_pattern("places", "system").search(resolved_place) is not None


def is_secret(resolved_place: str) -> bool:
    return load_pattern("places", "secret").search(resolved_place) is not None


def split_behind_signs(word: str) -> list[str]:
    """Split a word where a place may begin behind a sign: `--key=~/.ssh/id`, `@.env`, `{.env}`."""
    return re.split(r"[@=:;,<{}]", word)


def split_expressions(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split the arguments of `find` into where it looks and its expressions."""
    for index, argument in enumerate(arguments):
        if argument.startswith(("-", "!", "(")):
            return arguments[:index], arguments[index:]
    return arguments, ()


def is_secret_variable(name: str) -> bool:
    """Check whether a text is, or holds, the name of a variable whose value is a secret."""
    return load_pattern("places", "secret_variable").search(name) is not None


def is_home_startup(below_home: str) -> bool:
    """Check for what something runs or obeys by itself, by its path from the home."""
    return load_pattern("places", "startup").search(below_home) is not None


def is_startup(resolved_place: str) -> bool:
    """Check whether something runs or obeys it by itself, for the user or in the workspace."""
    home_match = load_pattern("places", "home").search(resolved_place)
    if home_match and is_home_startup(resolved_place[home_match.end() + 1 :]):
        return True
    below_workspace = resolved_place.removeprefix(WORKSPACE)
    return load_pattern("places", "runs_by_itself").search(below_workspace) is not None


def is_vital(resolved_place: str) -> bool:
    """Check whether losing all that is in it means losing a system, a home, a disk or the keys."""
    resolved_place = _drop_pattern(resolved_place)
    home_match = load_pattern("places", "home").search(resolved_place)
    if home_match:
        below_home = resolved_place[home_match.end() + 1 :]
        return "/" not in below_home or is_secret(resolved_place)
    if (
        is_system(resolved_place)
        or is_disk(resolved_place)
        or WORKSPACE.startswith(resolved_place.rstrip("/") + "/")
    ):
        return True
    path_parts = resolved_place.split("/")[1:]
    if path_parts[0] in ("mnt", "media", "Volumes", "run"):
        return len(path_parts) <= 2
    return len(path_parts) == 1 and path_parts[0] != "tmp"


def _drop_pattern(resolved_place: str) -> str:
    """Return the folder of which a pattern takes everything, else the place itself."""
    base_folder, name = posixpath.split(resolved_place)
    is_wild = not WILDCARDS.isdisjoint(name)
    takes_whole = name in WHOLE_FOLDER or (base_folder == "/" and is_wild)
    return base_folder if takes_whole else resolved_place
