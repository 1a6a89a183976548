"""Patterns of file names as git and shells write them: `*.py`, `src/**/test_*`, `{a,b}.txt`.

A path is a tuple of names. A pattern with a slash in it is meant from the folder down, one without
is meant of the last name wherever it lies. No pattern takes longer than its length times the
path's: patterns come from files that anybody may have written.
"""

import fnmatch
import re
from functools import lru_cache
from itertools import islice, product
from typing import NamedTuple

from andy_cli.guard.workspace import compose_name

ANY = "**"
MAX_CHARACTERS, MAX_FORMS = 500, 50
"""Characters of a pattern, and readings of its braces; what is more matches nothing."""
WILDCARDS = re.compile(r"[*?]|\{[^{}]*,[^{}]*\}|\[[^\]]+\]")
ONLY_EXPRESSION = frozenset("\\|()^$+\n")
"""Signs that stand in regular expressions and hardly in names of files."""
BRACES = re.compile(r"\{([^{}]*)\}")


class Glob(NamedTuple):
    parts: tuple[str, ...]
    """The pattern for each name; `**` is any number of names."""

    def matches(self, path: tuple[str, ...]) -> bool:
        """Tell whether the pattern fits all of the path."""
        if self.parts[:1] == (ANY,) and len(self.parts) == 2:  # the most common one, made fast
            return _name_fits(self.parts[1], path[-1])
        reached = {0}
        for name in path:
            reached = {
                next_position
                for position in self._skip_any(reached)
                for next_position in self._after(position, name)
            }
        return len(self.parts) in self._skip_any(reached)

    def _skip_any(self, reached: set[int]) -> set[int]:
        """With the places after every `**`, which may be nothing."""
        positions = set(reached)
        for position in sorted(reached):
            while position < len(self.parts) and self.parts[position] == ANY:
                position += 1
                positions.add(position)
        return positions

    def _after(self, position: int, name: str) -> tuple[int, ...]:
        if position == len(self.parts):
            return ()
        if self.parts[position] == ANY:
            return (position,)
        return (position + 1,) if _name_fits(self.parts[position], name) else ()


def parse_glob(pattern: str) -> Glob:
    """One pattern without braces."""
    if len(pattern) > MAX_CHARACTERS:
        return Glob(("",))
    path_parts = [path_part for path_part in pattern.split("/") if path_part not in ("", ".")]
    if path_parts[-1:] == [ANY]:
        path_parts.append("*")  # what is in a folder, not the folder
    anywhere = "/" not in pattern.strip("/") and not pattern.startswith("/")
    return Glob((ANY, *path_parts) if anywhere else tuple(path_parts))


def may_be_glob(pattern: str) -> bool:
    """Tell whether somebody may have meant a pattern of names: `*.py`, `report_?.txt`."""
    return bool(WILDCARDS.search(pattern)) and ONLY_EXPRESSION.isdisjoint(pattern)


def parse_globs(pattern: str) -> tuple[Glob, ...]:
    """A pattern with all readings of its braces."""
    alternatives = [
        pattern_piece.split(",") if index % 2 else [pattern_piece]
        for index, pattern_piece in enumerate(BRACES.split(pattern))
    ]
    combinations = islice(product(*alternatives), MAX_FORMS)
    return tuple(parse_glob("".join(combination)) for combination in combinations)


def _name_fits(pattern: str, name: str) -> bool:
    return _name_pattern(pattern).match(compose_name(name)) is not None


@lru_cache(maxsize=4096)
def _name_pattern(pattern: str) -> re.Pattern[str]:
    """One name's pattern. A backslash makes what follows plain, `[^a]` is `[!a]`."""
    pattern = re.sub(r"\\(.)", _escape_plain, compose_name(pattern)).replace("[^", "[!")
    return re.compile(fnmatch.translate(pattern))


def _escape_plain(escaped: re.Match[str]) -> str:
    character = escaped[1]
    return f"[{character}]" if character in "*?[" else character
