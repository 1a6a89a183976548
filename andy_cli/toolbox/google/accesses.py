"""The access of Google's tools: which API a call would change, how, and what is shown before a yes.

What is shown is made by the same functions as what is sent; they raise ToolError for what cannot be
sent, before anybody is asked about it.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from andy_cli.toolbox.google import calendar, docs, drive, sheets, tasks
from andy_cli.toolbox.google.contents.cells import rows_of, show_rows
from andy_cli.toolbox.google.contents.mail_draft import draft_mail
from andy_cli.toolbox.google.http.apis import (
    CALENDAR,
    DOCS,
    DRIVE,
    GMAIL,
    SHEETS,
    TASKS,
    Api,
    base_address,
)
from andy_cli.toolbox.google.ids import check_title, file_id
from andy_cli.toolbox.google.seen_names import show_with_name
from andy_cli.toolbox.tool import ResourceAccess

Arguments = Mapping[str, object]


def find_api_access(tool_name: str, arguments: Arguments) -> ResourceAccess:
    """Say what a call of the tool would reach and change. Raises ToolError."""
    access = API_ACCESSES[tool_name]
    description = access.describe(arguments)
    # The address is one of the user's own settings, and `base_address` lets no other kind through.
    return ResourceAccess(
        address=base_address(access.api), method=access.method, trusted=True, shown=description
    )


def _get_text(arguments: Arguments, name: str) -> str:
    return str(arguments.get(name) or "")


def _get_texts(arguments: Arguments, *names: str) -> list[str]:
    return [_get_text(arguments, name) for name in names]


def _describe_nothing(arguments: Arguments) -> str:
    return ""


def _describe_new_event(arguments: Arguments) -> str:
    texts = _get_texts(arguments, "summary", "start", "end", "calendarId")
    return calendar.plan_event(*texts).describe_plan()


def _name_event(arguments: Arguments) -> str:
    event = calendar.choose_event(*_get_texts(arguments, "eventId", "calendarId"))
    return f"the event {show_with_name(event.id)} in the calendar {event.calendar}"


def _describe_new_title(arguments: Arguments) -> str:
    title = check_title(_get_text(arguments, "summary"), calendar.NOUN)
    return f"{_name_event(arguments)}\nNew title: {title}"


def _describe_new_document(arguments: Arguments) -> str:
    title, text = _get_texts(arguments, "title", "text")
    return f"New document: {check_title(title, docs.NOUN)}\n\n{text}"


def _name_document(arguments: Arguments) -> str:
    id = file_id(_get_text(arguments, "documentId"), docs.NOUN)
    return f"the document {show_with_name(id)}"


def _describe_added_text(arguments: Arguments) -> str:
    return f"At the end of {_name_document(arguments)}:\n\n{arguments.get('text') or ''}"


def _describe_replaced_text(arguments: Arguments) -> str:
    old_text, new_text = arguments.get("findText"), arguments.get("replaceText")
    return f"Everywhere in {_name_document(arguments)}\nReplace: {old_text}\nBy: {new_text}"


def _describe_new_file(arguments: Arguments) -> str:
    file = drive.new_file(*_get_texts(arguments, "name", "content", "mimeType"))
    return f"New file in Drive: {file.name} ({file.kind})\n\n{file.content}"


def _name_file(arguments: Arguments) -> str:
    return show_with_name(file_id(_get_text(arguments, "fileId"), "a file"))


def _describe_new_content(arguments: Arguments) -> str:
    content = arguments.get("content", "")
    return f"File in Drive: {_name_file(arguments)}\nIts content becomes:\n\n{content}"


def _describe_mail(arguments: Arguments) -> str:
    receivers = arguments.get("to")
    listed = receivers if isinstance(receivers, list | tuple) else str(receivers or "")
    receiver_addresses = (
        listed if isinstance(listed, str) else [str(receiver) for receiver in listed]
    )
    subject, body = (str(arguments.get(name, "")) for name in ("subject", "body"))
    return draft_mail(receiver_addresses, subject, body).show_mail()


def _name_cells(arguments: Arguments) -> str:
    id, cells = _get_texts(arguments, "spreadsheetId", "range")
    spreadsheet = show_with_name(file_id(id, sheets.NOUN))
    return f"{sheets.cell_range(cells)} of the spreadsheet {spreadsheet}"


def _show_values(arguments: Arguments) -> str:
    return show_rows(rows_of(arguments.get("values")))


def _describe_new_spreadsheet(arguments: Arguments) -> str:
    return f"New spreadsheet: {check_title(_get_text(arguments, 'title'), sheets.NOUN)}"


def _describe_new_task(arguments: Arguments) -> str:
    return tasks.new_task(*_get_texts(arguments, "taskListId", "title", "notes")).describe_task()


def _describe_renamed_task(arguments: Arguments) -> str:
    title = tasks.check_task_title(_get_text(arguments, "title"))
    return f"New title of {_name_task(arguments)}: {title}"


def _name_task(arguments: Arguments) -> str:
    return tasks.name_task(*_get_texts(arguments, "taskListId", "taskId"))


class ApiAccess(NamedTuple):
    """One tool's access."""

    api: Api
    method: str = "GET"
    describe: Callable[[Arguments], str] = _describe_nothing
    """Writes what the user sees before a yes; may raise ToolError."""


API_ACCESSES: Mapping[str, ApiAccess] = {
    "calendar_list": ApiAccess(CALENDAR),
    "calendar_events": ApiAccess(CALENDAR),
    "calendar_create": ApiAccess(CALENDAR, "POST", _describe_new_event),
    "calendar_update": ApiAccess(CALENDAR, "PATCH", _describe_new_title),
    "calendar_delete": ApiAccess(CALENDAR, "DELETE", lambda call: f"Delete: {_name_event(call)}"),
    "docs_read": ApiAccess(DOCS),
    "docs_create": ApiAccess(DOCS, "POST", _describe_new_document),
    "docs_append": ApiAccess(DOCS, "POST", _describe_added_text),
    "docs_replace": ApiAccess(DOCS, "POST", _describe_replaced_text),
    "drive_list": ApiAccess(DRIVE),
    "drive_read": ApiAccess(DRIVE),
    "drive_search": ApiAccess(DRIVE),
    "drive_create": ApiAccess(DRIVE, "POST", _describe_new_file),
    "drive_update": ApiAccess(DRIVE, "PATCH", _describe_new_content),
    "drive_delete": ApiAccess(
        DRIVE, "PATCH", lambda call: f"To Drive's trash: the file {_name_file(call)}"
    ),
    "gmail_list": ApiAccess(GMAIL),
    "gmail_read": ApiAccess(GMAIL),
    "gmail_search": ApiAccess(GMAIL),
    "gmail_send": ApiAccess(GMAIL, "POST", _describe_mail),
    "sheets_read": ApiAccess(SHEETS),
    "sheets_write": ApiAccess(
        SHEETS, "PUT", lambda call: f"Into the cells {_name_cells(call)}:\n\n{_show_values(call)}"
    ),
    "sheets_append": ApiAccess(
        SHEETS, "POST", lambda call: f"New rows below {_name_cells(call)}:\n\n{_show_values(call)}"
    ),
    "sheets_create": ApiAccess(SHEETS, "POST", _describe_new_spreadsheet),
    "sheets_clear": ApiAccess(SHEETS, "POST", lambda call: f"Empty the cells {_name_cells(call)}"),
    "tasks_list": ApiAccess(TASKS),
    "tasks_get": ApiAccess(TASKS),
    "tasks_create": ApiAccess(TASKS, "POST", _describe_new_task),
    "tasks_update": ApiAccess(TASKS, "PATCH", _describe_renamed_task),
    "tasks_complete": ApiAccess(TASKS, "PATCH", lambda call: f"Tick off: {_name_task(call)}"),
    "tasks_delete": ApiAccess(TASKS, "DELETE", lambda call: f"Delete: {_name_task(call)}"),
}
