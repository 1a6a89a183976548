"""Google Tasks: what is to be done, and changing it (tasks.v1)."""

from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.toolbox.google.contents.pages import (
    TextRest,
    count_noun,
    describe_cut,
    fitting_items,
    outcome,
    shorten_words,
)
from andy_cli.toolbox.google.http.apis import TASKS
from andy_cli.toolbox.google.http.refusals import Missing
from andy_cli.toolbox.google.http.service import Record, Service, as_text, open_service, quote_part
from andy_cli.toolbox.google.ids import plain_id, show_id
from andy_cli.toolbox.tool import Outcome, ToolError

DEFAULT = "@default"
MANY = 500
"""Tasks at once."""

IDS = "tasks_list gives the ids."
FIRST = TextRest(*["These are the first."] * 2)

LONGEST_TITLE, LONGEST_NOTES = 1_024, 8_192
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
            found = await tasks.list_items(
                f"/lists/{quote_part(id)}/tasks", "items", MANY, _NO_LIST
            )
        except ToolError as error:
            if not str(error).startswith(_NO_LIST.message):
                raise
            raise ToolError(_NO_LIST.message, await _name_lists(tasks)) from error
    known = [_describe_task(item) for item in found.items]
    kept = fitting_items(known)
    data = {"tasks": kept, **describe_cut(known, kept, found.more, FIRST)}
    return outcome(data, f"found {count_noun(len(known), 'task')}")


_NO_LIST = Missing("There is no such task list.")


async def _name_lists(tasks: Service) -> str:
    lists = (await tasks.list_items("/users/@me/lists", "items", 100, _NO_LIST)).items
    named = [
        f"{shorten_words(as_text(list_.get('title')), 40)} ({as_text(list_.get('id'))})"
        for list_ in lists
    ]
    return f"There are: {', '.join(named)}. Give the id in brackets." if named else ""


def _describe_task(task: Record) -> Record:
    names = ("id", "title", "status", "due", "notes", "completed", "parent")
    return {name: task[name] for name in names if task.get(name)}


async def get_task(task_list: str, task: str) -> Outcome:
    path, missing = _task_path(task_list, task)
    async with open_service(TASKS) as tasks:
        found = await tasks.read(path, missing)
    return outcome(
        _describe_task(found), f"looked at the task {shorten_words(as_text(found.get('title')))}"
    )


async def create_task(new: NewTask) -> Outcome:
    body = {"title": new.title, **({"notes": new.notes} if new.notes else {})}
    async with open_service(TASKS) as tasks:
        made = await tasks.change("POST", f"/lists/{quote_part(new.list)}/tasks", _NO_LIST, body)
        tasks.created_id(made)
    return outcome(_describe_task(made), f"noted the task {shorten_words(new.title)}")


def new_task(task_list: str, title: str, notes: str) -> NewTask:
    """Plan the task to be made. Raises ToolError for what cannot be."""
    if len(notes) > LONGEST_NOTES:
        raise ToolError(f"The notes of a task hold {LONGEST_NOTES} characters at most.")
    return NewTask(list_id(task_list), check_title(title), notes)


async def rename_task(task_list: str, task: str, title: str) -> Outcome:
    done = await _patch_task(task_list, task, {"title": check_title(title)})
    return outcome(
        _describe_task(done), f"renamed the task to {shorten_words(as_text(done.get('title')))}"
    )


async def complete_task(task_list: str, task: str) -> Outcome:
    done = await _patch_task(task_list, task, {"status": "completed"})
    return outcome(_describe_task(done), f"ticked off {shorten_words(as_text(done.get('title')))}")


async def _patch_task(task_list: str, task: str, change: Mapping[str, object]) -> Record:
    path, missing = _task_path(task_list, task)
    async with open_service(TASKS) as tasks:
        done = await tasks.change("PATCH", path, missing, change)
        tasks.created_id(done)
    return done


async def delete_task(task_list: str, task: str) -> Outcome:
    path, missing = _task_path(task_list, task)
    async with open_service(TASKS) as tasks:
        await tasks.change("DELETE", path, missing)
    return outcome({"id": plain_id(task, "a task"), "deleted": True}, "deleted the task")


def list_id(written: str) -> str:
    found = written.strip() or DEFAULT
    return DEFAULT if found in (DEFAULT, "default") else plain_id(found, "a task list")


def check_title(title: str) -> str:
    name = " ".join(title.split())
    if not name:
        raise ToolError("The task needs a title: what is to be done?")
    if len(name) > LONGEST_TITLE:
        raise ToolError(
            f"A title holds {LONGEST_TITLE} characters at most.", "Put it into the notes."
        )
    return name


def _task_path(task_list: str, task: str) -> tuple[str, Missing]:
    """The path of a task, and what is said if it is not there."""
    list, id = list_id(task_list), plain_id(task, "a task", IDS)
    missing = Missing(f"There is no task {show_id(id)} in {_name_list(list)}.", IDS)
    return f"/lists/{quote_part(list)}/tasks/{quote_part(id)}", missing


def _name_list(list: str) -> str:
    return "the default list" if list == DEFAULT else f"the list {list}"


def name_task(task_list: str, task: str) -> str:
    """Name a task by its ids. Raises ToolError for what are none."""
    return f"the task {plain_id(task, 'a task')} in {_name_list(list_id(task_list))}"
