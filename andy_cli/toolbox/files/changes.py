"""Files changed: what a change would do, for the user to see, and the change itself.

What would be done is worked out from files inside the workspace alone: nothing else is read
before somebody agreed to it.
"""

import base64
import binascii
import hashlib
import re
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.guard.workspace import contain
from andy_cli.toolbox.files.differences import FileChange, compare_texts, describe_new_text
from andy_cli.toolbox.files.editing import EditedText, describe_places, replace_text
from andy_cli.toolbox.files.encodings import DecodedText, decode_file
from andy_cli.toolbox.files.kinds import SAMPLE_BYTES, kind_of_bytes, name_one
from andy_cli.toolbox.files.names import show_path, show_size
from andy_cli.toolbox.files.opening import explain_missing, open_file
from andy_cli.toolbox.files.writing import write_whole
from andy_cli.toolbox.runtime_context import GrantedPath, current_context, granted_path
from andy_cli.toolbox.tool import Display, Outcome, ResourceAccess

MAX_SHOWN_BYTES = 2_000_000
"""Bytes of a file up to which a change to it is shown."""
MAX_EDITED_BYTES = 20_000_000
"""Bytes of a file up to which it is edited: it is held in memory."""

TEXTUAL = re.compile(
    r"text/.*|.*[+/](?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|typescript|sql|x-sh"
    r"|x-httpd-php|x-www-form-urlencoded|graphql|x-ndjson|x-tex|rtf)"
)
DATA_URL = re.compile(r"data:([\w.+/-]*)((?:;[\w.+-]+=[^;,]*)*)(;base64)?,(.*)", re.DOTALL)


class EarlierContent(NamedTuple):
    """The content of a file before a change, as far as it may be looked at unasked."""

    there: bool
    known: bool = True
    """True if `data` is all of it."""
    data: bytes = b""
    size: int = 0


def _place_before(written: str) -> GrantedPath | None:
    """Find a file, or nothing where it may not be looked at unasked.

    Raises ToolError for what no yes makes a file that can be written: a folder, a device.
    """
    workspace = current_context().workspace
    contained = contain(written, workspace, "write")
    if contained.verdict == "invalid":
        raise ToolError(f"{spell_out(written)} cannot be used: {contained.reason}.")
    if contained.path is None or contained.verdict == "outside":
        return None
    return GrantedPath(contained.path, workspace)


def _content_before(written: str) -> EarlierContent:
    place = _place_before(written)
    return read_place(place) if place else EarlierContent(there=True, known=False)


def read_place(granted: GrantedPath) -> EarlierContent:
    """Read what is there, up to what is shown of a change."""
    try:
        size = granted.path.lstat().st_size
        with granted.open() as file:
            data = file.read(MAX_SHOWN_BYTES + 1)
    except FileNotFoundError:
        return EarlierContent(there=False)
    except (OSError, ToolError):
        return EarlierContent(there=True, known=False)
    return EarlierContent(True, len(data) <= MAX_SHOWN_BYTES, data, size)


def find_write_access(written: str, content: str, mime_type: str) -> ResourceAccess:
    """Raises ToolError for content that is none."""
    earlier = _content_before(written)
    change = compare_data(earlier, content_of(content, mime_type))
    return _find_change_access(written, earlier, change)


def _find_change_access(
    written: str, earlier: EarlierContent, change: FileChange
) -> ResourceAccess:
    return ResourceAccess(
        (written,),
        "write",
        summary=change.summary,
        diff=change.diff,
        before=hashlib.sha256(earlier.data).hexdigest() if earlier.there else "",
    )


def compare_data(earlier: EarlierContent, data: bytes) -> FileChange:
    """Describe the change that putting the data there makes."""
    data_kind = kind_of_bytes(data[:SAMPLE_BYTES])
    if not earlier.there:
        new_file = f"new file, {_describe_data(data, data_kind)}"
        return FileChange(new_file) if data_kind else describe_new_text(decode_file(data).text)
    if not earlier.known:
        return FileChange(_describe_replacing(earlier, _describe_data(data, data_kind)))
    if data_kind or kind_of_bytes(earlier.data[:SAMPLE_BYTES]):
        old_file = _describe_data(earlier.data, kind_of_bytes(earlier.data[:SAMPLE_BYTES]))
        return FileChange(f"{old_file} is replaced by {_describe_data(data, data_kind)}")
    return _compare_whole_texts(decode_file(earlier.data), decode_file(data))


def _compare_whole_texts(old_text: DecodedText, new_text: DecodedText) -> FileChange:
    """Describe the change of a text, and of how it is written."""
    change = compare_texts(old_text.text, new_text.text)
    forms = zip(_list_forms(old_text), _list_forms(new_text), strict=True)
    becomes = [f", {old} becomes {new}" for old, new in forms if old and new and old != new]
    return change._replace(summary="".join([change.summary, *becomes]))


def _list_forms(decoded: DecodedText) -> tuple[str, str]:
    """Name how a text is written, and how its lines end: nothing where there is but one."""
    mark = " with a byte order mark" if decoded.encoding.mark and decoded.encoding.is_utf_8 else ""
    line_end = "CRLF" if "\r\n" in decoded.text else "LF"
    return f"{decoded.encoding.display_name}{mark}", line_end if "\n" in decoded.text else ""


def _describe_replacing(earlier: EarlierContent, new_content: str) -> str:
    size_known = earlier.known or earlier.size
    old_content = f"a file of {show_size(earlier.size)}" if size_known else "what may be there"
    return f"{old_content} is replaced by {new_content}"


def announce_file(written: str, new_content: str) -> str:
    """Say what a file would become whose content is not known yet: `new file with the answer`."""
    earlier = _content_before(written)
    if not earlier.there:
        return f"new file with {new_content}"
    return _describe_replacing(earlier, new_content)


def _describe_data(data: bytes, data_kind: str) -> str:
    return f"{name_one(data_kind) if data_kind else 'text'} of {show_size(len(data))}"


def find_edit_access(
    written: str, old_text: str, new_text: str, everywhere: bool
) -> ResourceAccess:
    """The change to the file, or what would be exchanged where it may not be looked at yet.

    Raises ToolError where the text is not in the file, or not only once, and for all else that is
    known to fail: nobody is asked about that.
    """
    place, name = _place_before(written), spell_out(written)
    earlier = read_place(place) if place else EarlierContent(there=True, known=False)
    if place and not earlier.there:
        raise explain_missing(place)
    _check_edited_size(earlier.size, name)
    if not earlier.known:
        return _find_change_access(written, earlier, compare_texts(old_text, new_text))
    text, edited = _edit_data(earlier.data, old_text, new_text, everywhere, name)
    text.encode_text(edited.text)
    return _find_change_access(written, earlier, compare_texts(text.text, edited.text))


def _check_edited_size(size: int, name: str) -> None:
    if size > MAX_EDITED_BYTES:
        raise ToolError(
            f"{name} is larger than {show_size(MAX_EDITED_BYTES)}: that is too much to edit.",
            "A command such as sed can change it.",
        )


def _edit_data(
    data: bytes, old_text: str, new_text: str, everywhere: bool, name: str
) -> tuple[DecodedText, EditedText]:
    """Return the text of a file and how it is after an edit. Raises ToolError for what is none."""
    if data_kind := kind_of_bytes(data[:SAMPLE_BYTES]):
        raise ToolError(
            f"{name} is no text but {name_one(data_kind)}: there is nothing to edit in it."
        )
    text = decode_file(data)
    return text, replace_text(text.text, old_text, new_text, everywhere, name)


def put_file(written: str, content: str, mime_type: str = "") -> Outcome:
    """Make or replace a file. Raises ToolError, with everything as it was."""
    data = content_of(content, mime_type)
    granted = granted_path(written, "write")
    earlier = read_place(granted)
    is_new = write_whole(granted, [data])
    written_file = _describe_write(granted, compare_data(earlier, data), len(data), is_new)
    return Outcome(written_file.summary, written_file.summary, display=written_file.display)


class FileWrite(NamedTuple):
    """A file that was written, as the user is told and shown it."""

    summary: str
    display: Display


def describe_written(
    granted: GrantedPath, earlier: EarlierContent, size: int, is_new: bool
) -> FileWrite:
    """Describe the file that is there now, of `size` bytes, beside what was there before."""
    now = read_place(granted)
    change = compare_data(earlier, now.data) if now.there and now.known else FileChange("")
    return _describe_write(granted, change, size, is_new)


def _describe_write(granted: GrantedPath, change: FileChange, size: int, is_new: bool) -> FileWrite:
    done = f"{'made' if is_new else 'replaced'} {show_path(granted.path)}, {show_size(size)}"
    # Who replaces a file may not know what was in it.
    summary = done if is_new or not change.diff else f"{done} ({change.summary})"
    return FileWrite(summary, Display(diff=change.diff))


def edit_file(written: str, old_text: str, new_text: str, everywhere: bool) -> Outcome:
    """Replace a text in a file; its encoding and its line ends stay. Raises ToolError."""
    granted = granted_path(written, "write")
    name = show_path(granted.path)
    file, _ = open_file(written)
    with file:
        data = file.read(MAX_EDITED_BYTES + 1)
    _check_edited_size(len(data), name)
    text, change = _edit_data(data, old_text, new_text, everywhere, name)
    write_whole(granted, [text.encode_text(change.text)])
    summary = f"changed {name}{describe_places(change.places)}"
    shown_change = (
        compare_texts(text.text, change.text) if len(data) <= MAX_SHOWN_BYTES else FileChange("")
    )
    return Outcome(summary, summary, display=Display(diff=shown_change.diff))


def content_of(content: str, mime_type: str) -> bytes:
    """The bytes of a file, of text or of base64 for what is no text.

    content_of("hello", "")                             b"hello"
    content_of("aGVsbG8=", "image/png")                 b"hello"
    content_of("data:image/png;base64,aGVsbG8=", "")    b"hello"

    Raises ToolError for a binary type whose content is no base64.
    """
    kind = mime_type.partition(";")[0].strip().lower()
    url = DATA_URL.fullmatch(content.strip())
    named_kind = kind or (url[1] if url else "")
    if url and not is_text(named_kind.lower()):
        packed, is_base64 = url[4], url[3]
        return _unpack_content(packed, named_kind) if is_base64 else unquote_to_bytes(packed)
    if is_text(kind):
        return content.encode("utf-8", "replace")
    return _unpack_content(content, kind)


def is_text(kind: str) -> bool:
    """Tell whether a MIME type means text; none at all does."""
    return not kind or TEXTUAL.fullmatch(kind) is not None


def _unpack_content(content: str, kind: str) -> bytes:
    packed = "".join(content.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolError(
            f"The content of a file of type {one_line(kind)[:80]} is given in base64, "
            "and this is none.",
            "Encode it, or give a type that is text.",
        ) from error
