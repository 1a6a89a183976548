"""How much of a download is done."""

import sys

from andy_cli.models.inside.weights import Progress

MEGABYTE = 1_000_000
WIDTH = 30


def progress_bar(name: str) -> Progress:
    """Draws on stderr; where that is no terminal, a line at the start is all."""
    terminal = sys.stderr.isatty()
    begun = ended = False

    def draw(done: int, total: int) -> None:
        nonlocal begun, ended
        if terminal and not ended:
            ended = bool(total) and done >= total
            sys.stderr.write("\r\x1b[K" + bar(name, done, total) + "\n" * ended)
        elif not begun:
            sys.stderr.write(f"fetching {name} ...\n")
        begun = True
        sys.stderr.flush()

    return draw


def bar(name: str, done: int, total: int) -> str:
    """`fetching smollm2  [##########                    ] 33 of 98 MB`"""
    if not total:
        return f"fetching {name}  {done / MEGABYTE:.0f} MB"
    full = min(WIDTH, WIDTH * done // total)
    size = f"{done / MEGABYTE:.0f} of {total / MEGABYTE:.0f} MB"
    return f"fetching {name}  [{'#' * full}{' ' * (WIDTH - full)}] {size}"
