"""The first line of a chat: which model answers and why, where, and what it may do."""

from collections.abc import Iterator
from pathlib import Path

from andy_cli import __version__
from andy_cli.frontends.session_factory import OpenConversation
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.models.select import parse_name
from andy_cli.toolbox.files.names import shorten_home


def write_greeting(conversation: OpenConversation, folder: Path, columns: int) -> str:
    """One line that fits: `andy - qwen3:8b of ollama (it runs here) - ~/site - ask - 41 tools`."""
    provider, model = parse_name(conversation.chat.client.name)
    mode = conversation.chat.gate.mode
    lines = list(
        write_lines(
            f"{model} of {provider}",
            conversation.why,
            folder,
            [mode.upper() if mode == "auto" else mode, f"{conversation.count_ready_tools()} tools"],
        )
    )
    fitting = (line for line in lines if len(line) <= columns)
    return next(fitting, lines[-1][: max(0, columns)])


def write_lines(model_name: str, reason: str, folder: Path, details: list[str]) -> Iterator[str]:
    """Write the greeting with less and less in it; what can be seen elsewhere goes first."""
    name = f"andy {__version__}"
    described_model = one_line(f"{model_name} ({reason})")
    yield " - ".join([name, described_model, shorten_home(folder), *details])
    yield " - ".join(["andy", described_model, shorten_home(folder), *details])
    yield " - ".join(["andy", described_model, one_line(folder.name), *details])
    yield " - ".join(["andy", described_model, *details])
    yield " - ".join(["andy", described_model, details[0]])
    yield f"andy - {described_model}"
    yield f"andy - {one_line(model_name)}"
