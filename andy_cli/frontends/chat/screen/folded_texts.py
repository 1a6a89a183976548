"""Texts too long for the screen: their first or last lines are shown, the whole on request."""

from collections import deque
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.text import Text

from andy_cli.frontends.terminal import markdown

MAX_KEPT = 20
"""Texts that can still be shown whole; the oldest go."""
AROUND = 8
"""Rows of the screen that are left for what stands above and below."""
MIN_ROWS = 5
"""Rows that are shown on however small a screen."""
SHOWS_ALL = "Ctrl-O shows all"


class FoldedTexts:
    """Keeps what was shortened on the screen, each with a title, until it is asked for."""

    def __init__(self, key: str = SHOWS_ALL) -> None:
        """`key` says how it is asked for; nothing where it cannot be."""
        self.key = key
        self._folded: deque[tuple[str, RenderableType]] = deque(maxlen=MAX_KEPT)

    def keep_text(self, title: str, whole_text: RenderableType) -> None:
        self._folded.append((title, whole_text))

    def take_pages(self) -> list[RenderableType]:
        """All that was shortened since it was asked for last, each under its title."""
        pages: list[RenderableType] = [
            Group(markdown.style_text(title, markdown.TITLE), whole_text)
            for title, whole_text in self._folded
        ]
        self._folded.clear()
        return pages


def count_fitting_rows(console: Console) -> int:
    """Rows of the screen that one text may take."""
    return max(MIN_ROWS, console.height - AROUND)


def fold_end(rows: Sequence[Text], most_rows: int, key: str) -> list[Text]:
    """The first rows, and how many more there are; `key` says how they are shown, if at all."""
    if len(rows) <= most_rows:
        return list(rows)
    hidden_rows = len(rows) - most_rows + 1
    return [
        *rows[: most_rows - 1],
        markdown.style_text(f"  ... {hidden_rows:,} more rows{note_key(key)}", markdown.QUIET),
    ]


def fold_beginning(rows: Sequence[Text], most_rows: int, key: str) -> list[Text]:
    """The last rows, and how many there were before."""
    if len(rows) <= most_rows:
        return list(rows)
    hidden_rows = len(rows) - most_rows
    rows_before = "row" if hidden_rows == 1 else "rows"
    note = f"  ... {hidden_rows:,} {rows_before} before{note_key(key)}"
    return [markdown.style_text(note, markdown.QUIET), *rows[-most_rows:]]


def note_key(key: str) -> str:
    return f" ({key})" if key else ""
