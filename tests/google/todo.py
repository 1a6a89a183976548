"""Google Tasks as far as our tools go."""

from typing import Any
from uuid import uuid4

Record = dict[str, Any]


class Todo:
    def __init__(self) -> None:
        self.titles = {"bGlzdDE": "My Tasks"}
        self.lists: dict[str, dict[str, Record]] = {"bGlzdDE": {}}
        """List -> task -> its resource; the first list is the default one."""

    def add(self, id: str, title: str, list: str = "@default", **more: str) -> None:
        task = {"kind": "tasks#task", "id": id, "title": title, "status": "needsAction", **more}
        self._list(list)[id] = task

    def tasklists_list(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        items = [{"id": id, "title": title} for id, title in self.titles.items()]
        return {"kind": "tasks#taskLists", "items": items}

    def tasks_list(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        tasks = [*self._list(path[3]).values()]
        start = int(query.get("pageToken") or 0)
        end = start + int(query.get("maxResults") or 20)
        found = {"kind": "tasks#tasks", "items": tasks[start:end]}
        return {**found, "nextPageToken": str(end)} if end < len(tasks) else found

    def tasks_get(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        return self._list(path[3])[path[5]]

    def tasks_insert(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        id = uuid4().hex
        self.add(id, list=path[3], **body)
        return self._list(path[3])[id]

    def tasks_patch(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        task = self._list(path[3])[path[5]]
        task.update(body)
        if task["status"] == "completed":
            task["completed"] = "2026-03-01T12:00:00.000Z"
        return task

    def tasks_delete(self, path: list[str], query: dict[str, str], body: Record) -> None:
        del self._list(path[3])[path[5]]

    def _list(self, id: str) -> dict[str, Record]:
        return self.lists[next(iter(self.lists)) if id == "@default" else id]
