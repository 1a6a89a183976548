"""Google Drive: what there is, the text of a file, making and changing files (drive.v3)."""

import json
import re
import secrets
from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.foreign_values import as_record, text_of
from andy_cli.toolbox.google.contents.file_text import FilePage, is_text
from andy_cli.toolbox.google.contents.pages import (
    TextRest,
    describe_next,
    list_outcome,
    shorten_words,
    text_outcome,
)
from andy_cli.toolbox.google.http.apis import DRIVE, upload_address
from andy_cli.toolbox.google.http.exchange import ApiCall, Query
from andy_cli.toolbox.google.http.refusals import MissingWords
from andy_cli.toolbox.google.http.service import (
    Record,
    ResultPage,
    Service,
    open_service,
    quote_part,
)
from andy_cli.toolbox.google.ids import file_id, show_id
from andy_cli.toolbox.google.seen_names import remember_name
from andy_cli.toolbox.tool import Outcome, ToolError

GOOGLE = "application/vnd.google-apps."
FOLDER = f"{GOOGLE}folder"
SPREADSHEET = f"{GOOGLE}spreadsheet"
FIRST_SHEET = (
    "This is the first sheet alone: if there are more, sheets_read reads each by its name. What is"
    " on them is not known from this."
)
"""Google exports no other as CSV."""
FIELDS = "id,name,mimeType,size,modifiedTime,parents,webViewLink,trashed"
EVERYWHERE = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
AS_TEXT = {
    f"{GOOGLE}document": "text/plain",
    SPREADSHEET: "text/csv",
    f"{GOOGLE}presentation": "text/plain",
    f"{GOOGLE}script": f"{GOOGLE}script+json",
}
"""The types that Google turns into text, and which kind of text."""

FROM_TEXT = {f"{GOOGLE}document": "text/plain", SPREADSHEET: "text/csv"}
"""The types that Google makes of text, and of which kind of text."""

REST = TextRest("A larger maxResults gives them.", "Search for something more exact.")

IDS = "drive_list and drive_search give the ids."

MAX_BYTES = 5 * 2**20
"""Bytes that Drive takes in one request."""

TERM = re.compile(
    r"(?:name|fullText|mimeType|modifiedTime|viewedByMeTime|createdTime|trashed|starred|parents|"
    r"owners|writers|readers|sharedWithMe|visibility|properties|appProperties|"
    r"shortcutDetails\.targetId)\s*(?:contains|in|has|=|!=|<=?|>=?)\s*\S|'[^']*'\s+in\s+\w|"
    r"sharedWithMe\b"
)
"""The beginning of a term of Drive's own search language."""


class NewFile(NamedTuple):
    """A file to be made."""

    name: str
    content: str
    kind: str


async def list_files(folder: str, most_files: int) -> Outcome:
    """List a folder; without one, the files that were changed last."""
    id = file_id(folder, "a folder") if folder.strip() else ""
    result_page = await _list_folder(id, most_files)
    if id not in ("", "root") and not result_page.items and (target := await _follow_folder(id)):
        result_page = await _list_folder(target, most_files)
    return _describe_files(result_page)


async def _list_folder(id: str, most_files: int) -> ResultPage:
    query = f"'{id}' in parents and trashed = false" if id else "trashed = false"
    order = "folder,name" if id else "modifiedTime desc"
    missing = MissingWords(f"There is no folder {show_id(id)}.", IDS)
    return await _find_files({"q": query, "orderBy": order, **EVERYWHERE}, most_files, missing)


async def _follow_folder(id: str) -> str:
    """Find the folder that a shortcut leads to; nothing of a folder. Raises ToolError for any other
    file: nothing is in it, but a list says the same of an empty folder.
    """
    async with open_service(DRIVE) as drive:
        file_record = await _get_file(drive, id, f"{FIELDS},shortcutDetails(targetId)")
    if target := text_of(as_record(file_record.get("shortcutDetails")), "targetId"):
        return target
    if text_of(file_record, "mimeType") == FOLDER:
        return ""
    name = shorten_words(text_of(file_record, "name"))
    raise ToolError(f"{name} is no folder.", "drive_read reads a file.")


async def search_files(query: str, most_files: int) -> Outcome:
    """Files whose name or content has these words; Drive's own search language goes too."""
    missing = MissingWords("Google Drive has nothing to search there.")
    return _describe_files(
        await _find_files({"q": as_query(query), **EVERYWHERE}, most_files, missing)
    )


def as_query(written: str) -> str:
    """Words as a query of Drive (developers.google.com/workspace/drive/api/guides/search-files).

    A name is found by the beginnings of its words, a content by whole words.
    """
    words = " ".join(written.split())
    if TERM.match(words.lstrip("( ").removeprefix("not ").lstrip("( ")):
        return words if "trashed" in words else f"({words}) and trashed = false"
    quoted = words.replace("\\", "\\\\").replace("'", "\\'")
    return f"(name contains '{quoted}' or fullText contains '{quoted}') and trashed = false"


async def _find_files(
    query: Mapping[str, str | bool], most_files: int, missing: MissingWords
) -> ResultPage:
    list_query = {**query, "fields": f"nextPageToken,files({FIELDS})"}
    async with open_service(DRIVE) as drive:
        return await drive.list_items(
            "/files", "files", most_files, missing, list_query, "pageSize", 1000
        )


def _describe_files(result_page: ResultPage) -> Outcome:
    files = [_describe_file(item) for item in result_page.items]
    return list_outcome("files", files, result_page.more, REST, "file", " in Drive")


def _describe_file(file: Record) -> dict[str, object]:
    """Describe a file by what is worth telling."""
    remember_name(file.get("id"), file.get("name"))
    names = ("id", "name", "mimeType", "size", "modifiedTime", "webViewLink")
    return {name: file[name] for name in names if file.get(name)}


async def read_file(file: str, offset: int) -> Outcome:
    """The text of a file, or what it is if it has none."""
    id = file_id(file, "a file")
    async with open_service(DRIVE) as drive:
        file_record = await _get_file(drive, id, f"{FIELDS},shortcutDetails(targetId)")
        if target := text_of(as_record(file_record.get("shortcutDetails")), "targetId"):
            file_record = await _get_file(drive, target)
        kind = text_of(file_record, "mimeType")
        name = shorten_words(text_of(file_record, "name"))
        if kind == FOLDER:
            raise ToolError(f"{name} is a folder.", "drive_list shows what is in it.")
        file_page = await _file_text(drive, file_record, offset)
    if file_page is None:
        note = "This is no text. Open it in the browser."
        return text_outcome(
            {**_describe_file(file_record), "note": note}, f"looked at {name}: it is no text"
        )
    data = {
        **_describe_file(file_record),
        **({"note": FIRST_SHEET} if kind == SPREADSHEET else {}),
        "text": file_page.text,
        **describe_next(offset, file_page.text, file_page.more),
    }
    return text_outcome(data, f"read {name}")


async def _file_text(drive: Service, file: Record, offset: int) -> FilePage | None:
    """A page of the text; None for what has no text."""
    kind, path = text_of(file, "mimeType"), f"/files/{quote_part(text_of(file, 'id'))}"
    if kind in AS_TEXT:
        query: dict[str, str | bool] = {"mimeType": AS_TEXT[kind]}
        path += "/export"
    elif kind.startswith(GOOGLE):
        return None
    else:
        query = {"alt": "media", "supportsAllDrives": True}
    missing = _missing_file(text_of(file, "id"))
    read = await drive.take(
        path, missing, lambda: FilePage(offset, surely_text=is_text(kind)), query
    )
    read.finish()
    return None if read.binary else read


async def _get_file(drive: Service, id: str, fields: str = FIELDS) -> Record:
    query: dict[str, str | bool] = {"fields": fields, "supportsAllDrives": True}
    file_record = await drive.read(f"/files/{quote_part(id)}", _missing_file(id), query)
    return {**file_record, "id": text_of(file_record, "id") or id}


async def create_file(file_request: NewFile) -> Outcome:
    metadata = {"name": file_request.name, "mimeType": file_request.kind}
    query: Query = {"fields": FIELDS, "supportsAllDrives": True}
    missing = MissingWords("Google Drive makes no file there.")
    async with open_service(DRIVE) as drive:
        if file_request.kind == FOLDER:
            created = await drive.change("POST", "/files", missing, metadata, query)
        else:
            created = await drive.send(_multipart_call(metadata, file_request, query), missing)
        drive.created_id(created)
    return text_outcome(
        _describe_file({**metadata, **created}), f"made {shorten_words(file_request.name)} in Drive"
    )


def _multipart_call(metadata: Mapping[str, str], file_request: NewFile, query: Query) -> ApiCall:
    """A file and what is said about it in one request, as Drive takes uploads."""
    described, kind = json.dumps(metadata), FROM_TEXT.get(file_request.kind, file_request.kind)
    # Random, and twice as long as anything that could be met by chance in a text.
    boundary = secrets.token_hex(32)
    body = (
        f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{described}"
        f"\r\n--{boundary}\r\nContent-Type: {kind}\r\n\r\n{file_request.content}"
        f"\r\n--{boundary}--\r\n"
    )
    url, query = f"{upload_address(DRIVE)}/files", {**query, "uploadType": "multipart"}
    return ApiCall("POST", url, query, body.encode(), f"multipart/related; boundary={boundary}")


def new_file(name: str, content: str, kind: str) -> NewFile:
    """Plan the file to be made. Raises ToolError for what cannot be."""
    from mimetypes import guess_type  # 5 ms, and only who makes files needs it

    name = " ".join(name.split())
    kind = kind.strip() or guess_type(name)[0] or "text/plain"
    if not name:
        raise ToolError("The file needs a name.")
    if not re.fullmatch(r"[\w.+-]+/[\w.+-]+(; ?charset=[\w-]+)?", kind):
        raise ToolError(f"{show_id(kind)} is no media type.", "Write it like text/plain.")
    if kind.startswith(GOOGLE) and kind not in FROM_TEXT and kind != FOLDER:
        raise ToolError(f"Drive makes no {show_id(kind)} of a text.")
    if kind == FOLDER and content.strip():
        raise ToolError("A folder has no content.", "Leave it empty, or make a file.")
    _check_content(content)
    return NewFile(name, content, kind)


def _check_content(content: str) -> None:
    try:
        size = len(content.encode())
    except UnicodeEncodeError as error:
        raise ToolError("The text holds half a character.", "Write that character anew.") from error
    if size > MAX_BYTES:
        raise ToolError("That is more than 5 MB, which Drive does not take at once.")


async def update_file(file: str, content: str) -> Outcome:
    """Put a text in the place of all that a file held."""
    id = file_id(file, "a file")
    _check_content(content)
    async with open_service(DRIVE) as drive:
        file_record = await _get_file(drive, id)
        kind = text_of(file_record, "mimeType")
        name = shorten_words(text_of(file_record, "name"))
        if kind not in FROM_TEXT and not is_text(kind):
            raise ToolError(f"{name} is no text ({shorten_words(kind)}). Nothing was changed.")
        query: Query = {"uploadType": "media", "fields": FIELDS, "supportsAllDrives": True}
        url = f"{upload_address(DRIVE)}/files/{quote_part(id)}"
        media = FROM_TEXT.get(kind, kind)
        request = ApiCall("PATCH", url, query, content.encode(), media)
        updated = await drive.send(request, _missing_file(id))
        drive.created_id(updated)
    return text_outcome(_describe_file(updated), f"wrote {name} in Drive")


async def trash_file(file: str) -> Outcome:
    """Move a file to Drive's trash, from where it can be had back for 30 days."""
    id = file_id(file, "a file")
    async with open_service(DRIVE) as drive:
        query: Query = {"fields": FIELDS, "supportsAllDrives": True}
        path, body = f"/files/{quote_part(id)}", {"trashed": True}
        trashed = await drive.change("PATCH", path, _missing_file(id), body, query)
        drive.created_id(trashed)
    name = shorten_words(text_of(trashed, "name"))
    return text_outcome(
        {**_describe_file(trashed), "trashed": True}, f"moved {name} to Drive's trash"
    )


def _missing_file(id: str) -> MissingWords:
    return MissingWords(f"There is no file {show_id(id)}.", IDS)
