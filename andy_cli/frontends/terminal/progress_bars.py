"""Progress bars of downloads and other work."""

import sys
from collections.abc import Callable

from andy_cli.models.inside.weights import Progress

MEGABYTE = 1_000_000
WIDTH = 30
SHORTEST = 5
"""Columns of a bar that still shows something."""


def create_download_bar(name: str) -> Progress:
    """Of a download, in bytes."""
    return draw_on_stderr(
        f"fetching {name} ...", lambda done, total: format_download(name, done, total)
    )


def create_counting_bar(work: str, unit: str) -> Progress:
    """Of work that is counted: `indexing notes  [####      ] 312 of 20000 files`."""
    return draw_on_stderr(f"{work} ...", lambda done, total: format_count(work, unit, done, total))


def draw_on_stderr(begins: str, line: Callable[[int, int], str]) -> Progress:
    """Draws on stderr; where that is no terminal, a line at the start is all."""
    terminal = sys.stderr.isatty()
    begun = ended = False

    def draw(done: int, total: int) -> None:
        nonlocal begun, ended
        if terminal and not ended:
            ended = bool(total) and done >= total
            sys.stderr.write("\r\x1b[K" + line(done, total) + "\n" * ended)
        elif not terminal and not begun:
            sys.stderr.write(f"{begins}\n")
        begun = True
        sys.stderr.flush()

    return draw


def format_download(name: str, done: int, total: int, columns: int = 0) -> str:
    """`fetching smollm2  [##########                    ] 33 of 98 MB`

    Where there are so few columns the bar is shorter, or left out.
    """
    if not total:
        return f"fetching {name}  {done / MEGABYTE:.0f} MB"
    size = f"{done / MEGABYTE:.0f} of {total / MEGABYTE:.0f} MB"
    begins = f"fetching {name}  "
    room = columns - len(f"{begins}[] {size}") if columns else WIDTH
    if room < SHORTEST:
        return begins + size
    return f"{begins}{format_bar(done, total, min(WIDTH, room))} {size}"


def format_count(work: str, unit: str, done: int, total: int) -> str:
    return f"{work}  {format_bar(done, total)} {done} of {total} {unit}"


def format_bar(done: int, total: int, width: int = WIDTH) -> str:
    full = min(width, width * done // max(total, 1))
    return f"[{'#' * full}{' ' * (width - full)}]"
