"""A newcomer's first walk through the chat, on three terminals."""

import re
from pathlib import Path

import pytest

from tests.newcomer_walk import CALC, walk

PLUMBING = re.compile(r"Traceback|tool_call|list_mp3s|play_mp3|old_string|\{\"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "plain"), [(80, False), (40, False), (80, True)], ids=["80", "40", "plain"]
)
def test_a_newcomer_starts_chooses_plays_edits_queues_stops_leaves_and_comes_back(
    columns: int, plain: bool, home: Path
) -> None:
    folder = home / "walk"
    folder.mkdir()
    for scene in walk(folder, columns, plain):
        assert not PLUMBING.search(scene.terminal.text), scene.name
    assert (folder / "calc.py").read_text() == CALC.replace(" + 1", "")
