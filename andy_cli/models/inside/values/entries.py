"""The entries of what was listed, and which of several names is meant."""

import json
from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from types import MappingProxyType
from typing import NamedTuple

from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.values.spans import is_near
from andy_cli.models.inside.values.words import ENDING, LINKS, find_words

NAME_KEYS = ("file", "name", "path", "title", "subject", "url", "id", "summary")
LISTED_LEAD = 0.015
"""By so much nearer in meaning than the next is what is meant of a list, or of the files that are
there where one of them is asked for."""
BEHIND_LEAD = 0.02
"""The lead where the first word is left out."""
MAX_BARE_WORDS = 2
"""Words that are all there is: `open it`."""
MAX_MEANT = 40
"""Names that are compared in meaning: 8 ms each where they are new."""
UNREAD = ("audio/", "image/", "video/")
MEANINGS = {"todo": ("tasks", "things to do")}
"""The name of a file -> what it means: `todo` is all, in Spanish."""


class ListedEntry(NamedTuple):
    """One entry of a result."""

    name: str
    words: str
    """All its texts, ` - ` between them."""
    record: Mapping[str, object] = MappingProxyType({})
    """All that is known of it."""


def is_list(result: str) -> bool:
    """Tell whether a result is, or holds, a list: of one record no entry is the first."""
    try:
        value: object = json.loads(result)
    except (ValueError, RecursionError):
        return True  # lines
    held = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(part, list) for part in held)


def is_text(result: str) -> bool:
    """Tell whether a result is lines of text, and no data."""
    try:
        json.loads(result)
    except (ValueError, RecursionError):
        return True
    return False


def find_entries(result: str, key: str = "", names: Sequence[str] = ()) -> list[ListedEntry]:
    """Find the entries of a result: of a JSON list of texts or records, or of lines; of one line
    the files that are named in it: `3 songs match: a.mp3, b.mp3, c.mp3`.

    They are called by what the records have under the `key`, or by their name. `names` are those
    of files that are there.
    """
    try:
        value: object = json.loads(result)
    except (ValueError, RecursionError):
        lines = list_lines(result, names)
        return [ListedEntry(line, line) for line in lines] if len(lines) > 1 else []
    keys = (key, *NAME_KEYS) if key else NAME_KEYS
    entries = [make_entry(record, keys) for record in list_records(value, keys)]
    return [entry for entry in entries if entry.name]


def find_files(result: str, names: Sequence[str]) -> list[ListedEntry]:
    """Find the entries of a result, if some of them are called as files are: lines of a text that
    was read are none that could be opened or played, and folders are none either."""
    entries = find_entries(result, names=names)
    listed = [entry for entry in entries if f"{entry.name}/" not in names]
    files = [entry for entry in listed if entry.name in names or ENDING.search(entry.name)]
    return listed if files and not is_text(result) else files


def list_lines(text: str, names: Sequence[str]) -> list[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return lines
    files = [name for name in names if name in text and not name.endswith("/")]
    return sorted(files, key=text.index)


def list_records(value: object, keys: Sequence[str]) -> list[object]:
    """List what a result holds. A record by itself is nothing that was listed unless it is called
    by a name: the time is not."""
    if isinstance(value, Mapping):
        held = next((part for part in value.values() if isinstance(part, list)), None)
        if held is None:
            return [value] if set(keys) & set(value) else []
        value = held
    return value if isinstance(value, list) else []


def make_entry(record: object, keys: Sequence[str]) -> ListedEntry:
    if isinstance(record, str):
        return ListedEntry(record, record)
    if not isinstance(record, Mapping):
        return ListedEntry("", "")
    known = [str(record[key]) for key in keys if isinstance(record.get(key), str | int)]
    texts = [text for text in record.values() if isinstance(text, str)]
    return ListedEntry((known or texts or [""])[0], " - ".join(texts), record)


def find_path(written: str, names: Sequence[str]) -> str:
    """Find the file that is there where only its case or some letters are other ones."""
    if written in names:
        return written
    base = fold_base_name(written)
    bases = {name: fold_base_name(name) for name in names}
    same = [name for name in bases if bases[name] == base]
    alike = same or [name for name in bases if is_near(base, bases[name])]
    return alike[0].rstrip("/") if len(alike) == 1 else written


def fold_base_name(path: str) -> str:
    """Return the last part of a path, case folded."""
    return path.rstrip("/").rpartition("/")[2].casefold()


def find_meant(encoder: Encoder, text: str, names: Sequence[str], lead: float) -> str | None:
    """Find the name that is nearest in meaning, in any language; None without such a lead over
    the next: `einkaufsliste` is `shopping.txt`. Folders do not count for what is in them."""
    return find_nearest(encoder, " ".join(list_telling(text)) or text, names, lead)


def find_meant_behind_verb(encoder: Encoder, text: str, names: Sequence[str]) -> str | None:
    """Find the name that is meant without the first word, where that is but a helping verb: `fammi
    vedere la lista della spesa`."""
    words = list_telling(text)
    said = " ".join(words[1:])
    return find_nearest(encoder, said, names, BEHIND_LEAD) if len(words) > MAX_BARE_WORDS else None


def list_telling(text: str) -> list[str]:
    return [word for word in find_words(text) if word not in LINKS]


def find_nearest(encoder: Encoder, said: str, names: Sequence[str], lead: float) -> str | None:
    compared = [name.rpartition("/")[2] for name in names[:MAX_MEANT]]
    if len(compared) < 2:
        return None
    near = encoder.closeness(said, compared)
    for at, name in enumerate(compared):
        if others := list_meanings(name):
            near[at] = max(near[at], *encoder.closeness(said, others))
    *_, second, first = sorted(range(len(compared)), key=near.__getitem__)
    return names[first] if near[first] - near[second] > lead else None


def list_meanings(name: str) -> list[str]:
    """List other names of the same ending that mean the same."""
    base, dot, ending = name.partition(".")
    return [f"{meaning}{dot}{ending}" for meaning in MEANINGS.get(base.lower(), ())]


def is_readable(name: str) -> bool:
    """Tell whether it is the name of a file, and of no recording or picture."""
    media_type = guess_type(name)[0] or ""
    return not name.endswith("/") and not media_type.startswith(UNREAD)
