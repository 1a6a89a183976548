"""Does the answer name only what results or the user have named? (C2, R16)

Looked at are names of files and paths. Pure, linear, and silent about everything else.
"""

import re
from collections.abc import Iterable

FILE = re.compile(
    r"[`\"'(]?((?:~|\.{1,2})?/[\w./ -]*[\w/]|[\w-]+(?:[ .-]+[\w-]+)*\.[A-Za-z][A-Za-z0-9]{1,4})\b"
)
EXTENSIONS = re.compile(
    "mp3|wav|flac|ogg|m4a|txt|md|pdf|docx?|xlsx?|csv|json|toml|ya?ml|xml|html?|css|js|ts|py|sh|c|h"
    "|cpp|rs|go|java|rb|php|sql|log|ini|cfg|conf|png|jpe?g|gif|svg|mp4|mkv|avi|zip|tar|gz",
    re.IGNORECASE,
)


def unsupported(answer: str, sources: Iterable[str]) -> tuple[str, ...]:
    """The file names and paths in the answer that no source holds, each once, as written."""
    known = "\n".join(sources).casefold()
    found: dict[str, None] = {}
    for match in FILE.finditer(answer):
        name = match[1].rstrip(" ./")
        if is_file_like(name) and not supported(name, known):
            found[name] = None
    return tuple(found)


def is_file_like(name: str) -> bool:
    return "/" in name or EXTENSIONS.fullmatch(name.rpartition(".")[2]) is not None


def supported(name: str, known: str) -> bool:
    """A name counts as given if it or, where prose ran into it, its last words were given.

    `I played 01 - Morning.mp3` reads as one long name: what must be known is a tail of it that
    starts at a word and holds the whole file name.
    """
    words = name.casefold().split(" ")
    tails = (" ".join(words[start:]) for start in range(len(words)))
    return any(tail in known for tail in tails if tail)
