"""Google Tasks: see, note, rename, tick off, delete.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import BeforeValidator

from andy_cli.toolbox.google.lazy import google_tool, plain_title
from andy_cli.toolbox.tool import Outcome, parameter

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

READS = "tasks.readonly"
CHANGES = "tasks"


@google_tool(
    READS,
    effect="network",
    title="list of tasks",
    action="list your tasks",
)
async def tasks_list(taskListId: TaskListId = "@default") -> Outcome:
    """List the tasks in Google Tasks."""
    from andy_cli.toolbox.google import tasks

    return await tasks.list_tasks(taskListId)


@google_tool(
    READS,
    effect="network",
    title="task reader",
    action="look at a task",
)
async def tasks_get(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Read one task."""
    from andy_cli.toolbox.google import tasks

    return await tasks.get_task(taskListId, taskId)


@google_tool(
    CHANGES,
    effect="act",
    title="task planner",
    action="add a task called {title}",
)
async def tasks_create(
    *, taskListId: TaskListId = "@default", title: Title, notes: Notes = ""
) -> Outcome:
    """Note a new task in Google Tasks."""
    from andy_cli.toolbox.google import tasks

    return await tasks.create_task(tasks.new_task(taskListId, title, notes))


@google_tool(
    CHANGES,
    effect="act",
    title="task editor",
    action="rename a task to {title}",
)
async def tasks_update(
    *, taskListId: TaskListId = "@default", taskId: TaskId, title: NewTitle
) -> Outcome:
    """Give a task another title."""
    from andy_cli.toolbox.google import tasks

    return await tasks.rename_task(taskListId, taskId, title)


@google_tool(
    CHANGES,
    effect="act",
    title="task checklist",
    action="tick off a task",
)
async def tasks_complete(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Mark a task as done."""
    from andy_cli.toolbox.google import tasks

    return await tasks.complete_task(taskListId, taskId)


@google_tool(
    CHANGES,
    effect="act",
    title="task removal",
    action="delete a task",
)
async def tasks_delete(*, taskListId: TaskListId = "@default", taskId: TaskId) -> Outcome:
    """Delete a task."""
    from andy_cli.toolbox.google import tasks

    return await tasks.delete_task(taskListId, taskId)
