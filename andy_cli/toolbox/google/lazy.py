"""The parts of Google that tools/ needs at every start; all the rest is loaded by the first call.

That rest takes 60 ms, and most days nobody asks for it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from andy_cli.settings import config_folder
from andy_cli.toolbox.tool import ResourceAccess, Tool, ToolError, parameter, tool

Offset = Annotated[int, parameter("where in a long text to go on", aliases=["start"], ge=0)]

LOG_IN_COMMAND = "andy google login"
LOG_IN = f"Run `{LOG_IN_COMMAND}`."


def login_file() -> Path:
    """The file of the login, 0600; with a keyring it holds no secret."""
    return config_folder() / "google.json"


def google_tool(
    scope: str, *, effect: str, title: str, action: str, examples: Sequence[str] = ()
) -> Callable[[Callable[..., object]], Tool]:
    """Make a tool that needs this scope; what a call touches is in accesses.py, by its name."""

    def unavailable_reason() -> str:
        if not login_file().exists():
            return f"Google is not connected. {LOG_IN}"
        from andy_cli.toolbox.google.login.vault import missing_scope

        return missing_scope(scope)

    def make(function: Callable[..., object]) -> Tool:
        def find_access(arguments: Mapping[str, object]) -> ResourceAccess:
            from andy_cli.toolbox.google.accesses import find_api_access

            return find_api_access(function.__name__, arguments)

        made = tool(
            effect=effect,
            title=title,
            action=action,
            examples=examples,
            find_access=find_access,
            unavailable_reason=unavailable_reason,
        )
        return made(function)

    return make


def split_words(written: object) -> object:
    """A list of words that came as one text, comma separated."""
    if isinstance(written, str):
        return [word.strip() for word in written.split(",") if word.strip()]
    return written


def join_texts(written: object) -> object:
    """A text that came as a list of texts."""
    if isinstance(written, list | tuple) and all(isinstance(text, str) for text in written):
        return ", ".join(written)
    return written


def parse_table(written: object) -> object:
    """Rows of cells, whatever their form. Raises ValueError for what are none."""
    from andy_cli.toolbox.google.contents.cells import rows_of

    try:
        return rows_of(written)
    except ToolError as error:
        raise ValueError(error.content) from error


def plain_title(written: object) -> object:
    """A title that came as an object of changes, nothing but a title among them."""
    if isinstance(written, dict) and len(written) == 1:
        return next(iter(written.values()))
    return written
