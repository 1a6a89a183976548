"""The history of typed lines, for the Up key: in a 0600 file, without secrets."""

import contextlib
import os

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from andy_cli.settings import state_folder


class InputHistory(FileHistory):
    """Goes on without its file where that cannot be written; what was typed now is still there."""

    def store_string(self, string: str) -> None:
        from andy_cli.guard.redactor import redact_text, secrets_of  # 3 ms, after the prompt

        with contextlib.suppress(OSError):
            super().store_string(redact_text(string, secrets_of(os.environ)))


def open_history(nothing_on_disk: bool) -> History:
    """The history of all chats; with `nothing_on_disk` or without a folder, of this one alone."""
    if nothing_on_disk:
        return InMemoryHistory()
    path = state_folder() / "input_history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return InputHistory(str(path))
