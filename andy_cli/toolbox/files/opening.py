"""A file of a call, opened; where it cannot be, the sentence says what to do next."""

import difflib
import errno
import os
from typing import BinaryIO

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.files.names import show_path
from andy_cli.toolbox.files.search.walking import list_entries
from andy_cli.toolbox.runtime_context import GrantedPath, current_context, granted_path


def open_file(written: str) -> tuple[BinaryIO, GrantedPath]:
    """The file a model wrote the path of, for reading. Raises ToolError."""
    granted = granted_path(written, "read")
    try:
        return granted.open(), granted
    except ToolError as error:
        raise _explain_unopened(granted, error) from error


def _explain_unopened(granted: GrantedPath, error: ToolError) -> ToolError:
    cause = error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    name = show_path(granted.path)
    if number == errno.ENOENT:
        return explain_missing(granted)
    if number in (errno.EACCES, errno.EPERM):
        return ToolError(f"The file {name} may not be read by this user.", "Choose another one.")
    if number in (errno.ENOTDIR, errno.ELOOP):
        return ToolError(
            f"A link or a file stands on the way to {name}.", "Give the path it leads to."
        )
    if number is None:
        return ToolError(f"{name} is no plain file, so it is not opened.")
    return ToolError(f"{name} cannot be opened: {os.strerror(number)}.")


def explain_missing(granted: GrantedPath) -> ToolError:
    """Say that there is no such file, with names that come near, from the same folder; of one
    outside only the file was asked.
    """
    message = f"There is no file {show_path(granted.path)}."
    if granted.path.is_relative_to(current_context().workspace):
        try:
            names = [
                entry.name for entry in list_entries(granted._replace(path=granted.path.parent))
            ]
        except ToolError:
            message = f"{message} Its folder is not there either."
            return ToolError(message, "list_directory shows what is.")
        if close_names := difflib.get_close_matches(granted.path.name, names, n=3, cutoff=0.5):
            return ToolError(
                f"{message} The nearest names: {', '.join(map(spell_out, close_names))}."
            )
    return ToolError(message, "list_directory shows what there is.")
