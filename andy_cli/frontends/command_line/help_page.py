"""`--help`: every description whole, however narrow the terminal.

Typer cuts the descriptions of commands at one line, and below 50 columns it breaks words.
"""

import shutil
from collections.abc import Sequence

import typer
from typer._click import Context, HelpFormatter  # of Typer's own copy of click; not exported
from typer.core import TyperCommand, TyperGroup

MAX_COLUMNS = 80
NARROW_COLUMNS = 60
"""Columns below which a description stands beneath what it describes."""
INDENT = 4


class HelpPage(HelpFormatter):
    def __init__(self, width: int | None = None, max_width: int | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        super().__init__(width=max(20, min(columns, max_width or MAX_COLUMNS) - 1))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write pairs of a name and what it means."""
        if self.width >= NARROW_COLUMNS - 1:
            super().write_dl(rows, col_max, col_spacing)
            return
        for name, meaning in rows:
            self.write_text(name)
            self.current_indent += INDENT
            if meaning:
                self.write_text(meaning)
            self.current_indent -= INDENT


class PageContext(typer.Context):
    formatter_class = HelpPage


class HelpCommand(TyperCommand):
    context_class = PageContext


class HelpGroup(TyperGroup):
    context_class = PageContext

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands with the whole first paragraph of what each says of itself."""
        rows = []
        for name, command in self.commands.items():
            if not command.hidden:
                first_paragraph, _, _ = (command.help or "").partition("\n\n")
                rows.append((name, " ".join(first_paragraph.split())))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def apply_help_page(app: typer.Typer) -> None:
    """Have every command of the app, and of its groups, show its help like this."""
    app.info.cls = HelpGroup
    for command in app.registered_commands:
        command.cls = HelpCommand
    for group in app.registered_groups:
        group.cls = HelpGroup
        if group.typer_instance is not None:
            apply_help_page(group.typer_instance)
