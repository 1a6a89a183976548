"""Work that goes on beside the turn, such as speech, and how it ended (B8, B38)."""

import asyncio
from collections.abc import Coroutine

from andy_cli.messages import ToolResult


class Background:
    """Never delays a turn and never ends one; joined when andy ends."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[ToolResult]] = set()
        self._failed: list[ToolResult] = []

    def start(self, work: Coroutine[None, None, ToolResult]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._finish_task)

    def _finish_task(self, task: asyncio.Task[ToolResult]) -> None:
        self._running.discard(task)
        if not task.cancelled() and not task.result().ok:
            self._failed.append(task.result())

    def take_failures(self) -> list[ToolResult]:
        """Return what has failed since this was last asked."""
        failed, self._failed = self._failed, []
        return failed

    async def join(self) -> None:
        while self._running:
            await asyncio.wait(self._running)
