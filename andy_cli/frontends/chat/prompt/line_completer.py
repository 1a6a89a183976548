"""Complete slash commands and what they take, when Tab is pressed.

Imported before the first prompt: what knows the commands is loaded when it is first needed.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

TIMEOUT = 2.0
"""Seconds that somebody waits after Tab; what is not known by then is not offered."""


def load_commands(typed: str) -> None:
    """Import all commands, if a command is typed."""
    if typed.startswith("/"):
        from andy_cli.frontends.chat.command_lookup import list_commands

        list_commands()


class LineCompleter(Completer):
    def __init__(self, session: Callable[[], object]) -> None:
        """`session` returns the chat's `ChatSession`, or None before there is one.

        To name its type here would load it before the first prompt.
        """
        self._session = session

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor
        if not typed.startswith("/") or "\n" in typed:
            return
        from andy_cli.frontends.chat.command_lookup import find_offers  # imports all commands

        for replaced, value, about in find_offers(typed, self._session()):
            yield Completion(value, start_position=-replaced, display_meta=about)

    async def get_completions_async(
        self, document: Document, event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """In a thread: the screen lives on while a slow disk is read."""
        # The first Tab waits as long as it takes to import them, or it would do nothing.
        await asyncio.to_thread(load_commands, document.text_before_cursor)

        def find_completions() -> list[Completion]:
            return list(self.get_completions(document, event))

        try:
            completions = await asyncio.wait_for(asyncio.to_thread(find_completions), TIMEOUT)
        except TimeoutError:
            return
        for completion in completions:
            yield completion
