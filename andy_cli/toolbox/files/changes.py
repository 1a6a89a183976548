"""Files changed: what a change would do, for the user to see, and the change itself.

What would be done is worked out from files inside the workspace alone: nothing else is read
before somebody agreed to it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.guard.neutralizer import spelled
from andy_cli.guard.workspace import contain, open_inside
from andy_cli.toolbox.files.contents import content_of
from andy_cli.toolbox.files.differences import difference, shortened
from andy_cli.toolbox.files.editing import described, edited
from andy_cli.toolbox.files.encodings import PIECE, decoded
from andy_cli.toolbox.files.kinds import HEAD, kind, one
from andy_cli.toolbox.files.names import amount, count, said
from andy_cli.toolbox.files.opening import opened
from andy_cli.toolbox.files.writing import write
from andy_cli.toolbox.places import place
from andy_cli.toolbox.situation import here
from andy_cli.toolbox.tool import Outcome

COMPARED = 2_000_000
"""Bytes of a file up to which a change to it is shown."""
EDITED = 20_000_000
"""Bytes of a file up to which it is edited: it is held in memory."""


class Before(NamedTuple):
    """What is there, as far as it may be looked at unasked."""

    there: bool
    known: bool = True
    """Whether `data` is all of it."""
    data: bytes = b""
    size: int = 0


def _before(written: str) -> Before:
    workspace = here().workspace
    contained = contain(written, workspace, "write")
    if contained.path is None or contained.verdict not in ("inside", "ask"):
        return Before(there=True, known=False)
    try:
        size = contained.path.lstat().st_size
        with open_inside(contained.path, workspace) as file:
            data = file.read(COMPARED + 1)
    except FileNotFoundError:
        return Before(there=False)
    except (OSError, ToolError):
        return Before(there=True, known=False)
    return Before(True, len(data) <= COMPARED, data, size)


def shown_write(written: str, content: str) -> str:
    return _shown(written, content.encode("utf-8", "replace"))


def shown_put(written: str, content: str, mime_type: str) -> str:
    """Raises ToolError for content that is none."""
    return _shown(written, content_of(content, mime_type))


def _shown(written: str, data: bytes) -> str:
    """The change that putting the data there makes."""
    before, name = _before(written), spelled(written)
    what = kind(data[:HEAD])
    if not before.there:
        return _new(name, data, what)
    if not before.known:
        inside = f"a file of {amount(before.size)}" if before.size else "what may be there"
        return f"{name}: {inside} is replaced by {_described(data, what)}"
    if what or kind(before.data[:HEAD]):
        old = _described(before.data, kind(before.data[:HEAD]))
        return f"{name}: {old} is replaced by {_described(data, what)}"
    old_text, new_text = decoded(before.data), decoded(data)
    change = difference(name, old_text.text, new_text.text)
    if old_text.encoding != new_text.encoding:
        change += f"\n[it was {old_text.encoding.spoken}, it will be {new_text.encoding.spoken}]"
    return change


def _new(name: str, data: bytes, what: str) -> str:
    if what:
        return f"{name}: a new file, {_described(data, what)}"
    lines = decoded(data).text.split("\n")
    lines = lines if lines[-1] else lines[:-1]
    head = f"{name}: a new file of {count(len(lines), 'line')}, {amount(len(data))}"
    return "\n".join([head, *shortened([f"+{each}" for each in lines])])


def _described(data: bytes, what: str) -> str:
    return f"{one(what) if what else 'text'} of {amount(len(data))}"


def shown_edit(written: str, old: str, new: str, everywhere: bool) -> str:
    """The change to the file, or what would be exchanged where it may not be looked at yet.

    Raises ToolError where the text is not in the file, or not only once.
    """
    before, name = _before(written), spelled(written)
    if not before.known or not before.there:
        return difference(name, old, new)
    text = decoded(before.data).text
    return difference(name, text, edited(text, old, new, everywhere, name).text)


def put(written: str, content: str, mime_type: str = "") -> Outcome:
    """Make or replace a file. Raises ToolError, with everything as it was."""
    data = content_of(content, mime_type)
    where = place(written, "write")
    new = write(where, _pieces(data))
    size = amount(len(data))
    did = f"{'made' if new else 'replaced'} {said(where.path)}, {size}"
    return Outcome(did, did)


def _pieces(data: bytes) -> Sequence[bytes]:
    return [data[at : at + PIECE] for at in range(0, len(data), PIECE)]


def edit(written: str, old: str, new: str, everywhere: bool) -> Outcome:
    """Replace a text in a file; its encoding and its line ends stay. Raises ToolError."""
    where = place(written, "write")
    name = said(where.path)
    file, _ = opened(written)
    with file:
        data = file.read(EDITED + 1)
    if len(data) > EDITED:
        raise ToolError(f"{name} is larger than {amount(EDITED)}: that is too much to edit.")
    if what := kind(data[:HEAD]):
        raise ToolError(f"{name} is no text but {one(what)}: there is nothing to edit in it.")
    text = decoded(data)
    change = edited(text.text, old, new, everywhere, name)
    write(where, _pieces(text.encoded(change.text)))
    did = f"changed {name}{described(change.places)}"
    return Outcome(did, did)
