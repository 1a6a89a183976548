"""A file of a call, opened; where it cannot be, the sentence says what to do next."""

import difflib
import errno
import os
from typing import BinaryIO

from andy_cli.errors import ToolError
from andy_cli.guard.neutralizer import spelled
from andy_cli.toolbox.files.names import said
from andy_cli.toolbox.files.search.walking import entries
from andy_cli.toolbox.places import Place, place
from andy_cli.toolbox.situation import here


def opened(written: str) -> tuple[BinaryIO, Place]:
    """The file a model wrote the path of, for reading. Raises ToolError."""
    where = place(written, "read")
    try:
        return where.open(), where
    except ToolError as error:
        raise _unopened(where, error) from error


def _unopened(where: Place, error: ToolError) -> ToolError:
    cause = error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    name = said(where.path)
    if number == errno.ENOENT:
        return _missing(where, f"There is no file {name}.")
    if number in (errno.EACCES, errno.EPERM):
        return ToolError(f"The file {name} may not be read by this user.", "Choose another one.")
    if number in (errno.ENOTDIR, errno.ELOOP):
        return ToolError(
            f"A link or a file stands on the way to {name}.", "Give the path it leads to."
        )
    if number is None:
        return ToolError(f"{name} is no plain file, so it is not opened.")
    return ToolError(f"{name} cannot be opened: {os.strerror(number)}.")


def _missing(where: Place, message: str) -> ToolError:
    """With names that come near, from the same folder; of one outside only the file was asked."""
    if where.path.is_relative_to(here().workspace):
        try:
            names = [entry.name for entry in entries(where._replace(path=where.path.parent))]
        except ToolError:
            message = f"{message} Its folder is not there either."
            return ToolError(message, "list_directory shows what is.")
        if close := difflib.get_close_matches(where.path.name, names, n=3, cutoff=0.5):
            return ToolError(f"{message} The nearest names: {', '.join(map(spelled, close))}.")
    return ToolError(message, "list_directory shows what there is.")
