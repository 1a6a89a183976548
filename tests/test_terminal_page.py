"""docs/terminal.md: it names every key of the prompt, and its pictures are whole."""

import re
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import DummyCompleter
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import DummyInput
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import DummyOutput

from andy_cli.frontends.chat.prompt.live_prompt import LivePrompt
from tests.shell import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "terminal.md").read_text(encoding="utf-8")
PICTURES = sorted((DOCS / "terminal").glob("*.svg"))
NAMES = {"escape": "Esc", "s-tab": "Shift-Tab", "up": "Up", "escape c-m": "Alt-Enter"}


def name_keys(keys: str) -> str:
    """`Ctrl-X Ctrl-E` for `c-x c-e`."""
    return NAMES.get(keys) or " ".join(f"Ctrl-{key[2:].upper()}" for key in keys.split())


def bound_keys() -> set[str]:
    """What is pressed for each binding of the prompt; a signal is not pressed."""
    with create_app_session(input=DummyInput(), output=DummyOutput()):
        prompt = LivePrompt(InMemoryHistory(), DummyCompleter())
        bindings = prompt._application.key_bindings
    assert isinstance(bindings, KeyBindings)
    keys = {" ".join(binding.keys) for binding in bindings.bindings}
    return {name_keys(each) for each in keys if each != "<sigint>"}


def test_every_key_of_the_prompt_stands_in_the_table_of_keys() -> None:
    table = PAGE.partition("## Keys")[2].partition("## ")[0]
    first = [row.split("|")[1] for row in table.splitlines() if row.startswith("| ")]
    named = {key.strip() for cell in first for key in cell.split(",")}
    assert bound_keys() >= {"Esc", "Ctrl-C", "Alt-Enter", "Ctrl-X Ctrl-E"}
    assert bound_keys() - named == set()


def test_the_page_shows_every_picture_of_the_walk_and_no_other() -> None:
    shown = re.findall(r"!\[[^]]+\]\(terminal/([^)]+)\)", PAGE)
    assert sorted(shown) == [path.name for path in PICTURES]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_small_and_fetches_nothing(path: Path) -> None:
    svg = path.read_text(encoding="utf-8")
    assert len(svg) < 40_000
    assert not re.search(r"@import|@font-face|href=|src=|url\((?!#)", svg)
