"""`python -m tests.picture`: the pictures of README and docs/terminal.md, from real terminals.

Nothing on them is written by hand: a new run differs in the id of the session that is resumed, and
in times where a machine is slow. The walk needs Ollama's port, 11434, to itself.
"""

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pexpect
import pyte
from pyte.screens import Char
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.newcomer_walk import walk
from tests.shell import ANDY, ROOT, environment

TASK = "look at files in tests/music and play the first one"
PICTURE = ROOT / "docs" / "first-run.svg"
ROWS, COLUMNS = 12, 92
SCENES = ROOT / "docs" / "terminal"
BEGINNINGS = {
    "see_models": "> /model",
    "play_song": "> what songs",
    "ask_before_change": "> fix the bug",
    "queue_message": "> tell me a story",
    "attach_file": "> !ls",
    "complete_command": "> /co",
    "leave": "> a longer one",
    "resume": "Going on with",
}
"""Scenes of the walk that become pictures, and where on the screen each picture begins."""
COLORS = {"default": None, "brown": "yellow", "brightbrown": "bright_yellow"}
"""Of pyte, where they are not those of rich."""
PORT = 11434


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


def as_text(screen: pyte.Screen, begins: str = "") -> Text:
    """From the last line that begins so, to the last line with something on it."""
    text = Text()
    first = max(at for at, line in enumerate(screen.display) if line.startswith(begins))
    for row in range(first if begins else 0, last_line(screen) + 1):
        cells = [screen.buffer[row][column] for column in range(screen.columns)]
        if row == screen.cursor.y and screen.cursor.x < screen.columns:
            under = cells[screen.cursor.x]
            cells[screen.cursor.x] = under._replace(reverse=not under.reverse)
        for style, same in groupby(cells, style_of):
            run = "".join(cell.data for cell in same)
            # Some viewers pass over blanks at the beginning of a text, so no text begins with one.
            words = run.lstrip(" ")
            text.append(" " * (len(run) - len(words)), style)
            text.append(words, style)
        text.append("\n")
    return text


def style_of(cell: Char) -> Style:
    return Style(
        color=color_of(cell.fg),
        bgcolor=color_of(cell.bg),
        reverse=cell.reverse,
        bold=cell.bold,
        italic=cell.italics,
        dim=cell.blink,  # see tests/terminal.py
    )


def color_of(name: str) -> str | None:
    if name in COLORS:
        return COLORS[name]
    if re.fullmatch("[0-9a-f]{6}", name):
        return f"#{name}"
    return name.replace("bright", "bright_")


def last_line(screen: pyte.Screen) -> int:
    return max(at for at, line in enumerate(screen.display) if line.strip())


def write_svg(text: Text, columns: int, path: Path) -> None:
    console = Console(record=True, width=columns, file=io.StringIO())
    console.print(text)
    svg = console.export_svg(title="andy", unique_id=path.stem)
    # Fonts from elsewhere would be fetched by whoever looks at the picture.
    svg = re.sub(r"\s*(@font-face \{.*?\}|<!--.*?-->)", "", svg, flags=re.S)
    path.write_text(svg, encoding="utf-8")


def walked() -> Iterator[Path]:
    """Walk in a home of its own, and write a picture of each of the scenes."""
    SCENES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        own = environment(Path(home))
        os.environ.clear()
        os.environ.update(own)
        folder = Path(home) / "choir"
        folder.mkdir()
        for scene in walk(folder, port=PORT):
            if begins := BEGINNINGS.get(scene.name):
                path = SCENES / f"{scene.name.replace('_', '-')}.svg"
                write_svg(as_text(scene.terminal.screen, begins), 80, path)
                yield path


def main() -> None:
    if sys.argv[1:] != ["walk"]:
        write_svg(as_text(recorded(["run", TASK])), COLUMNS, PICTURE)
        sys.stdout.write(f"{PICTURE}\n")
    for path in walked():
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
