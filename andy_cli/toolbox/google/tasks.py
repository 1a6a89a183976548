"""Google Tasks: what is to be done, and changing it (tasks.v1)."""

from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.foreign_values import text_of
from andy_cli.toolbox.google.contents.pages import (
    TextRest,
    list_outcome,
    shorten_words,
    text_outcome,
)
from andy_cli.toolbox.google.http.apis import TASKS
from andy_cli.toolbox.google.http.refusals import MissingWords
from andy_cli.toolbox.google.http.service import Record, Service, open_service, quote_part
from andy_cli.toolbox.google.ids import check_title, plain_id, show_id
from andy_cli.toolbox.google.seen_names import remember_name, show_with_name
from andy_cli.toolbox.tool import Outcome, ToolError

DEFAULT = "@default"
MAX_TASKS = 500
"""Tasks at once."""

IDS = "tasks_list gives the ids."
FIRST = TextRest("These are the first.", "These are the first.")

MAX_TITLE_LENGTH, MAX_NOTES_LENGTH = 1_024, 8_192
"""Characters; Google takes no more."""


class NewTask(NamedTuple):
    """A task to be made."""

    list: str
    title: str
    notes: str

    def describe_task(self) -> str:
        return f"New task in {_name_list(self.list)}: {self.title}\n\n{self.notes}".strip()


async def list_tasks(task_list: str) -> Outcome:
    """The tasks of a list; of one that is not there the error names those that are."""
    id = list_id(task_list)
    async with open_service(TASKS) as tasks:
        try:
            result_page = await tasks.list_items(
                f"/lists/{quote_part(id)}/tasks", "items", MAX_TASKS, _NO_LIST
            )
        except ToolError as error:
            if not str(error).startswith(_NO_LIST.message):
                raise
            raise ToolError(_NO_LIST.message, await _name_lists(tasks)) from error
    described = [_describe_task(item) for item in result_page.items]
    return list_outcome("tasks", described, result_page.more, FIRST, "task")


_NO_LIST = MissingWords("There is no such task list.")


async def _name_lists(tasks: Service) -> str:
    lists = (await tasks.list_items("/users/@me/lists", "items", 100, _NO_LIST)).items
    if not lists:
        return ""
    list_names = [
        f"{shorten_words(text_of(task_list, 'title'), 40)} ({text_of(task_list, 'id')})"
        for task_list in lists
    ]
    return f"There are: {', '.join(list_names)}. Give the id in brackets."


def _describe_task(task: Record) -> Record:
    remember_name(task.get("id"), task.get("title"))
    names = ("id", "title", "status", "due", "notes", "completed", "parent")
    return {name: task[name] for name in names if task.get(name)}


async def get_task(task_list: str, task: str) -> Outcome:
    path, missing = _task_path(task_list, task)
    async with open_service(TASKS) as tasks:
        task_record = await tasks.read(path, missing)
    return text_outcome(
        _describe_task(task_record),
        f"looked at the task {shorten_words(text_of(task_record, 'title'))}",
    )


async def create_task(task_request: NewTask) -> Outcome:
    body = {
        "title": task_request.title,
        **({"notes": task_request.notes} if task_request.notes else {}),
    }
    async with open_service(TASKS) as tasks:
        created = await tasks.change(
            "POST", f"/lists/{quote_part(task_request.list)}/tasks", _NO_LIST, body
        )
        tasks.created_id(created)
    return text_outcome(
        _describe_task(created), f"noted the task {shorten_words(task_request.title)}"
    )


def new_task(task_list: str, title: str, notes: str) -> NewTask:
    """Plan the task to be made. Raises ToolError for what cannot be."""
    if len(notes) > MAX_NOTES_LENGTH:
        raise ToolError(f"The notes of a task hold {MAX_NOTES_LENGTH} characters at most.")
    return NewTask(list_id(task_list), check_task_title(title), notes)


async def rename_task(task_list: str, task: str, title: str) -> Outcome:
    updated = await _patch_task(task_list, task, {"title": check_task_title(title)})
    return text_outcome(
        _describe_task(updated),
        f"renamed the task to {shorten_words(text_of(updated, 'title'))}",
    )


async def complete_task(task_list: str, task: str) -> Outcome:
    updated = await _patch_task(task_list, task, {"status": "completed"})
    return text_outcome(
        _describe_task(updated), f"ticked off {shorten_words(text_of(updated, 'title'))}"
    )


async def _patch_task(task_list: str, task: str, change: Mapping[str, object]) -> Record:
    path, missing = _task_path(task_list, task)
    async with open_service(TASKS) as tasks:
        updated = await tasks.change("PATCH", path, missing, change)
        tasks.created_id(updated)
    return updated


async def delete_task(task_list: str, task: str) -> Outcome:
    path, missing = _task_path(task_list, task)
    async with open_service(TASKS) as tasks:
        await tasks.change("DELETE", path, missing)
    return text_outcome({"id": plain_id(task, "a task"), "deleted": True}, "deleted the task")


def list_id(written: str) -> str:
    candidate = written.strip() or DEFAULT
    return DEFAULT if candidate in (DEFAULT, "default") else plain_id(candidate, "a task list")


def check_task_title(title: str) -> str:
    name = check_title(title, "a task")
    if len(name) > MAX_TITLE_LENGTH:
        raise ToolError(
            f"A title holds {MAX_TITLE_LENGTH} characters at most.", "Put it into the notes."
        )
    return name


def _task_path(task_list: str, task: str) -> tuple[str, MissingWords]:
    """The path of a task, and what is said if it is not there."""
    known_list, id = list_id(task_list), plain_id(task, "a task", IDS)
    missing = MissingWords(f"There is no task {show_id(id)} in {_name_list(known_list)}.", IDS)
    return f"/lists/{quote_part(known_list)}/tasks/{quote_part(id)}", missing


def _name_list(known_list: str) -> str:
    return "the default list" if known_list == DEFAULT else f"the list {known_list}"


def name_task(task_list: str, task: str) -> str:
    """Name a task by its ids. Raises ToolError for what are none."""
    named_task = show_with_name(plain_id(task, "a task"))
    return f"the task {named_task} in {_name_list(list_id(task_list))}"
