"""The first line of a chat: which model answers and why, where, and what it may do."""

from collections.abc import Iterator
from pathlib import Path

from andy_cli import __version__
from andy_cli.frontends.session_factory import OpenConversation
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.models.select import parse_name


def write_greeting(opened: OpenConversation, folder: Path, columns: int) -> str:
    """One line that fits: `andy - qwen3:8b of ollama (it runs here) - ~/site - ask - 41 tools`."""
    provider, model = parse_name(opened.chat.client.name)
    mode = opened.chat.gate.mode
    lines = list(
        write_lines(
            f"{model} of {provider}",
            opened.why,
            folder,
            [mode.upper() if mode == "auto" else mode, f"{opened.count_ready_tools()} tools"],
        )
    )
    fitting = (line for line in lines if len(line) <= columns)
    return next(fitting, lines[-1][: max(0, columns)])


def write_lines(who: str, why: str, folder: Path, rest: list[str]) -> Iterator[str]:
    """The same with less and less of it; what can be seen elsewhere goes first."""
    name = f"andy {__version__}"
    known = one_line(f"{who} ({why})")
    yield " - ".join([name, known, shorten_folder(folder), *rest])
    yield " - ".join(["andy", known, shorten_folder(folder), *rest])
    yield " - ".join(["andy", known, one_line(folder.name), *rest])
    yield " - ".join(["andy", known, *rest])
    yield " - ".join(["andy", known, rest[0]])
    yield f"andy - {known}"
    yield f"andy - {one_line(who)}"


def shorten_folder(folder: Path) -> str:
    """With `~` for the home."""
    home = Path.home()
    inside = folder != home and folder.is_relative_to(home)
    return one_line(f"~/{folder.relative_to(home)}" if inside else str(folder))
