"""Google Tasks: see, note, rename, tick off, delete.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import BeforeValidator

from andy_cli.toolbox.google.lazy import find_access_later, plain_title, require_scope
from andy_cli.toolbox.tool import Outcome, parameter, tool

TaskListId = Annotated[
    str,
    parameter("id of the task list", aliases=["taskList", "tasklistId", "listId", "list"]),
]
TaskId = Annotated[str, parameter("id of the task", aliases=["id", "task"], min_length=1)]
Title = Annotated[
    str,
    parameter("what is to be done", aliases=["name", "summary", "task"], min_length=1),
]
NewTitle = Annotated[
    str,
    BeforeValidator(plain_title),
    parameter(
        "new title of the task", aliases=["updates", "name", "newTitle", "summary"], min_length=1
    ),
]
Notes = Annotated[
    str,
    parameter("more about it", aliases=["note", "description", "details", "body", "content"]),
]

READS = require_scope("tasks.readonly")
CHANGES = require_scope("tasks")


@tool(
    effect="network",
    title="list of tasks",
    action="list your tasks",
    find_access=find_access_later("tasks_list"),
    unavailable_reason=READS,
)
async def tasks_list(taskListId: TaskListId = "@default") -> Outcome:
    """List the tasks in Google Tasks."""
    from andy_cli.toolbox.google import tasks

    return await tasks.list_tasks(taskListId)


@tool(
    effect="network",
    title="task reader",
    action="look at a task",
    find_access=find_access_later("tasks_get"),
    unavailable_reason=READS,
)
async def tasks_get(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Read one task."""
    from andy_cli.toolbox.google import tasks

    return await tasks.get_task(taskListId, taskId)


@tool(
    effect="act",
    title="task planner",
    action="add a task called {title}",
    find_access=find_access_later("tasks_create"),
    unavailable_reason=CHANGES,
)
async def tasks_create(
    *, taskListId: TaskListId = "@default", title: Title, notes: Notes = ""
) -> Outcome:
    """Note a new task in Google Tasks."""
    from andy_cli.toolbox.google import tasks

    return await tasks.create_task(tasks.new_task(taskListId, title, notes))


@tool(
    effect="act",
    title="task editor",
    action="rename a task to {title}",
    find_access=find_access_later("tasks_update"),
    unavailable_reason=CHANGES,
)
async def tasks_update(
    *, taskListId: TaskListId = "@default", taskId: TaskId, title: NewTitle
) -> Outcome:
    """Give a task another title."""
    from andy_cli.toolbox.google import tasks

    return await tasks.rename_task(taskListId, taskId, title)


@tool(
    effect="act",
    title="task checklist",
    action="tick off a task",
    find_access=find_access_later("tasks_complete"),
    unavailable_reason=CHANGES,
)
async def tasks_complete(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Mark a task as done."""
    from andy_cli.toolbox.google import tasks

    return await tasks.complete_task(taskListId, taskId)


@tool(
    effect="act",
    title="task removal",
    action="delete a task",
    find_access=find_access_later("tasks_delete"),
    unavailable_reason=CHANGES,
)
async def tasks_delete(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Delete a task."""
    from andy_cli.toolbox.google import tasks

    return await tasks.delete_task(taskListId, taskId)
