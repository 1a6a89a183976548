"""`python -m tests.picture`: record the README's picture from a real run on a real terminal."""

import io
import os
import re
import sys

import pexpect
import pyte
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.shell import ANDY, ROOT

TASK = "look at files in tests/music and play the first one"
PICTURE = ROOT / "docs" / "first-run.svg"
ROWS, COLUMNS = 12, 92


def recorded(arguments: list[str]) -> pyte.Screen:
    """What the screen shows when the command has ended."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    stream.feed(f'$ andy {arguments[0]} "{arguments[1]}"\r\n'.encode())
    child = pexpect.spawn(
        str(ANDY),
        arguments,
        cwd=str(ROOT),
        env={**os.environ, "TERM": "xterm-256color"},
        dimensions=(ROWS, COLUMNS),
        timeout=180,
    )
    while True:
        try:
            stream.feed(child.read_nonblocking(4096, timeout=180))
        except pexpect.EOF:
            return screen


def as_text(screen: pyte.Screen) -> Text:
    text = Text()
    lines = [screen.buffer[row] for row in range(screen.lines)]
    for line in lines[: last_line(screen) + 1]:
        for column in range(screen.columns):
            cell = line[column]
            color = None if cell.fg == "default" else cell.fg.replace("brown", "yellow")
            text.append(cell.data, Style(color=color, bold=cell.bold))
        text.append("\n")
    return text


def last_line(screen: pyte.Screen) -> int:
    return max(at for at, line in enumerate(screen.display) if line.strip())


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(as_text(recorded(["run", TASK])))
    svg = console.export_svg(title="andy")
    # Fonts from elsewhere would be fetched by whoever looks at the picture.
    PICTURE.write_text(re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.S), encoding="utf-8")
    sys.stdout.write(f"{PICTURE}\n")


if __name__ == "__main__":
    main()
