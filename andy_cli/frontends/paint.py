"""Colour and markdown on a terminal. With view.py the only module that knows rich."""

import os
import sys

from rich.console import Console
from rich.style import Style
from rich.text import Text

from andy_cli.guard.neutralizer import neutralize

ACTION = Style(color="cyan", dim=True)
WARNING = Style(color="yellow")
ERROR = Style(color="red")
QUIET = Style(dim=True)


def console(plain: bool = False) -> Console:
    """The terminal. Plain, `NO_COLOR` and a dumb terminal mean no colour and no redrawing."""
    dumb = plain or os.environ.get("TERM") == "dumb"
    return Console(
        file=sys.stdout,
        highlight=False,
        no_color=True if dumb else None,
        force_terminal=False if dumb else None,
        soft_wrap=False,
    )


def styled(text: str, style: Style) -> Text:
    """A text that did not come from us, made harmless, in one style."""
    return Text(neutralize(text), style=style)
