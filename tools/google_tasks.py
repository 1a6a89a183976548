"""Google Tasks: see, note, rename, tick off, delete."""

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field

from andy_cli.toolbox.google import tasks
from andy_cli.toolbox.google.arguments import titled
from andy_cli.toolbox.google.login.account import needs
from andy_cli.toolbox.tool import Outcome, also, tool

TaskListId = Annotated[
    str,
    Field(
        description="id of the task list",
        json_schema_extra=also("taskList", "tasklistId", "listId", "list"),
    ),
]
TaskId = Annotated[
    str,
    Field(
        description="id of the task",
        min_length=1,
        json_schema_extra=also("id", "task"),
    ),
]
Title = Annotated[
    str,
    Field(
        description="what is to be done",
        min_length=1,
        json_schema_extra=also("name", "summary", "task"),
    ),
]
NewTitle = Annotated[
    str,
    BeforeValidator(titled),
    Field(
        description="new title of the task",
        min_length=1,
        json_schema_extra=also("updates", "name", "newTitle", "summary"),
    ),
]
Notes = Annotated[
    str,
    Field(
        description="more about it",
        json_schema_extra=also("note", "description", "details", "body", "content"),
    ),
]

READS = partial(needs, "tasks.readonly")
CHANGES = partial(needs, "tasks")


@tool(effect="network", action="list tasks", claim=tasks.claim_reading, needs=READS)
async def tasks_list(taskListId: TaskListId = "@default") -> Outcome:
    """List the tasks in Google Tasks."""
    return await tasks.listing(taskListId)


@tool(effect="network", action="look at task {taskId}", claim=tasks.claim_reading, needs=READS)
async def tasks_get(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Read one task."""
    return await tasks.getting(taskListId, taskId)


@tool(effect="act", action="note task {title}", claim=tasks.claim_creating, needs=CHANGES)
async def tasks_create(
    *, taskListId: TaskListId = "@default", title: Title, notes: Notes = ""
) -> Outcome:
    """Note a new task in Google Tasks."""
    return await tasks.creating(tasks.new_task(taskListId, title, notes))


@tool(
    effect="act",
    action="rename task {taskId} to {title}",
    claim=tasks.claim_renaming,
    needs=CHANGES,
)
async def tasks_update(
    *, taskListId: TaskListId = "@default", taskId: TaskId, title: NewTitle
) -> Outcome:
    """Give a task another title."""
    return await tasks.renaming(taskListId, taskId, title)


@tool(effect="act", action="tick off task {taskId}", claim=tasks.claim_completing, needs=CHANGES)
async def tasks_complete(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Mark a task as done."""
    return await tasks.completing(taskListId, taskId)


@tool(effect="act", action="delete task {taskId}", claim=tasks.claim_deleting, needs=CHANGES)
async def tasks_delete(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Delete a task."""
    return await tasks.deleting(taskListId, taskId)
