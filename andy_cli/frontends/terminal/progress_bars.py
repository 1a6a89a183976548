"""Progress bars of downloads and other work."""

import sys
from collections.abc import Callable

from andy_cli.models.inside.weights import Progress

MEGABYTE = 1_000_000
BAR_COLUMNS = 30
MIN_BAR_COLUMNS = 5
"""Columns of a bar that still shows something."""


def create_download_bar(name: str) -> Progress:
    """Of a download, in bytes."""
    return draw_on_stderr(
        f"fetching {name} ...", lambda done_bytes, total: format_download(name, done_bytes, total)
    )


def create_counting_bar(task_name: str) -> Progress:
    """Of work on files: `indexing notes  [####      ] 312 of 20000 files`."""
    return draw_on_stderr(
        f"{task_name} ...",
        lambda done_count, total: format_count(task_name, done_count, total),
    )


def draw_on_stderr(begins: str, line: Callable[[int, int], str]) -> Progress:
    """Draws on stderr; where that is no terminal, a line at the start is all."""
    terminal = sys.stderr.isatty()
    begun = ended = False

    def draw(done_count: int, total: int) -> None:
        nonlocal begun, ended
        if terminal and not ended:
            ended = bool(total) and done_count >= total
            sys.stderr.write("\r\x1b[K" + line(done_count, total) + "\n" * ended)
        elif not terminal and not begun:
            sys.stderr.write(f"{begins}\n")
        begun = True
        sys.stderr.flush()

    return draw


def format_download(name: str, done_bytes: int, total: int, columns: int = 0) -> str:
    """`fetching smollm2  [##########                    ] 33 of 98 MB`

    Where there are so few columns the bar is shorter, or left out.
    """
    if not total:
        return f"fetching {name}  {done_bytes / MEGABYTE:.0f} MB"
    size = f"{done_bytes / MEGABYTE:.0f} of {total / MEGABYTE:.0f} MB"
    begins = f"fetching {name}  "
    bar_width = columns - len(f"{begins}[] {size}") if columns else BAR_COLUMNS
    if bar_width < MIN_BAR_COLUMNS:
        return begins + size
    return f"{begins}{format_bar(done_bytes, total, min(BAR_COLUMNS, bar_width))} {size}"


def format_count(task_name: str, done_count: int, total: int) -> str:
    return f"{task_name}  {format_bar(done_count, total)} {done_count} of {total} files"


def format_bar(done_count: int, total: int, width: int = BAR_COLUMNS) -> str:
    filled_width = min(width, width * done_count // max(total, 1))
    return f"[{'#' * filled_width}{' ' * (width - filled_width)}]"
