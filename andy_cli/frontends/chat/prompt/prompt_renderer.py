"""Draws the prompt at the end of the screen, of which the first rows may be left where they are.

prompt-toolkit counts columns to know where the cursor is. Here are the two cases where that goes
wrong: characters that a terminal joins into one, and a terminal that was made narrower.
"""

import os
from collections.abc import Mapping

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.screen import Char, Screen
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import Style

ESCAPE_SECONDS = 0.1
"""Seconds after which an escape character is the Esc key and not the start of another key."""
JOINING = frozenset(map(chr, (*range(0x1F1E6, 0x1F200), *range(0x1F3FB, 0x1F400))))
"""Halves of flags, and colours of skin; what has no width of its own is in the cell it joins."""

ScreenRow = Mapping[int, Char]


class PromptApplication(Application[None]):
    """Draws when it is told to, also at once; after a resize it erases what was really drawn."""

    drawing = True
    """False while nothing may be drawn: the terminal is only ever added to."""

    def __init__(self, layout: Layout, bindings: KeyBindings, style: Style, output: Output) -> None:
        super().__init__(
            layout=layout,
            key_bindings=bindings,
            style=style,
            include_default_pygments_style=False,
            erase_when_done=True,
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
            output=output,
        )
        self.ttimeoutlen = self.timeoutlen = ESCAPE_SECONDS
        self.renderer = self.prompt_renderer = PromptRenderer(self.renderer.style, output)

    def draw(self) -> None:
        """Bring the end of the screen up to date."""
        self._redraw()

    def _redraw(self, render_as_done: bool = False) -> None:
        if self.drawing or render_as_done:
            super()._redraw(render_as_done)

    def _on_resize(self) -> None:
        if self.drawing:
            columns = self.output.get_size().columns
            self.output.cursor_up(self.prompt_renderer.count_broken_rows(columns))
        super()._on_resize()


class PromptRenderer(Renderer):
    """Writes what differs from the screen that was drawn last."""

    _joined_rows: frozenset[int] = frozenset()
    """Rows of that screen with joined characters; if there was none they mean nothing."""

    def render(self, app: Application[object], layout: Layout, is_done: bool = False) -> None:
        screen_before, joined_before = self.last_rendered_screen, self._joined_rows
        if screen_before is not None and joined_before:
            # Where the cursor is in such a row is not known.
            self.output.write("\r")
            self._cursor_pos = Point(0, self._cursor_pos.y)
        super().render(app, layout, is_done)
        if (screen := self.last_rendered_screen) is None or is_done:
            return
        rows = screen.data_buffer
        self._joined_rows = frozenset(row for row in rows if has_joined(rows[row]))
        if self._joined_rows:
            self._draw_joined(screen, screen_before, app.color_depth)
            self.output.flush()

    def _draw_joined(self, screen: Screen, screen_before: Screen | None, depth: ColorDepth) -> None:
        """Draw rows with joined characters from their start, each after the one before it.

        Terminals do not agree how wide these are, so that no column after them is known.
        """
        rows = screen.data_buffer
        cursor_column, cursor_row = self._cursor_pos
        current_row = cursor_row
        for row in sorted(self._joined_rows):
            if screen_before is not None and rows[row] == screen_before.data_buffer[row]:
                continue
            self._go_to_row(row - current_row)
            self._write_cells(rows[row], find_last_column(rows[row]) + 1, depth)
            self.output.erase_end_of_line()
            current_row = row
        self._go_to_row(cursor_row - current_row)
        if cursor_row in self._joined_rows:
            self._write_cells(rows[cursor_row], cursor_column, depth)
        else:
            self.output.cursor_forward(cursor_column)

    def _go_to_row(self, rows: int) -> None:
        """Move to the start of the row that is so many below this one."""
        self.output.write("\r")
        self.output.cursor_down(max(0, rows))
        self.output.cursor_up(max(0, -rows))

    def _write_cells(self, row: ScreenRow, end: int, depth: ColorDepth) -> None:
        column = 0
        while column < end:
            cell = row[column]
            assert self._attrs_for_style is not None
            self.output.set_attributes(self._attrs_for_style[cell.style], depth)
            self.output.write(cell.char)
            column += cell.width or 1
        self.output.reset_attributes()

    def forget_rows(self, rows: int) -> None:
        """Leave the first rows on the screen as they are: the next one is the first from now on."""
        if (screen := self.last_rendered_screen) is None:
            return
        for row in sorted(screen.data_buffer):
            cells = screen.data_buffer.pop(row)
            if row >= rows:
                screen.data_buffer[row - rows] = cells
        screen.height -= rows
        self._joined_rows = frozenset(row - rows for row in self._joined_rows if row >= rows)
        self._cursor_pos = Point(self._cursor_pos.x, self._cursor_pos.y - rows)

    def count_broken_rows(self, columns: int) -> int:
        """Count the rows above the cursor that a terminal adds when it is made so narrow."""
        if (screen := self.last_rendered_screen) is None:
            return 0
        rows = [screen.data_buffer[row] for row in range(self._cursor_pos.y + 1)]
        last_columns = [find_last_column(row) for row in rows]
        # The blanks before the cursor were never written: they break no line.
        last_columns[-1] = min(last_columns[-1], self._cursor_pos.x)
        return sum(last_column // columns for last_column in last_columns)


def find_last_column(row: ScreenRow) -> int:
    """Find the column of the last character; blanks after it are never written."""
    return max((column for column, cell in row.items() if cell.char != " "), default=0)


def has_joined(row: ScreenRow) -> bool:
    """Find out if the row has characters that a terminal may join into one."""
    # Called for all rows of each drawing: most hold ASCII alone, which nothing joins.
    if "".join([cell.char for cell in row.values()]).isascii():
        return False
    return any(len(cell.char) > 1 or cell.char in JOINING for cell in row.values())
