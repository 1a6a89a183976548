"""Sessions as people read them: steps in words, results without JSON."""

import json
from pathlib import Path

import pytest

from andy_cli.frontends.management.session_text import render_messages, render_result
from andy_cli.messages import Message, ToolCall
from andy_cli.sessions.log import make_record

SONGS = [{"file": "a.mp3", "title": None, "tags": ["calm", "new"]}, {"file": "b.mp3", "long": True}]


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path) -> None:
    pass


def test_a_session_shows_steps_in_words_and_results_without_json() -> None:
    calls = (ToolCall("c1", "list_mp3s", {"path": "tests/music"}), ToolCall("c2", "gone.look"))
    said = [
        Message("user", "what music is there?"),
        Message("assistant", "", calls),
        Message("tool", json.dumps(SONGS), call_id="c1", name="list_mp3s"),
        Message("tool", "nothing", call_id="c2", name="gone.look"),
        Message("user", "You repeat yourself.", note=True),
        Message("assistant", "Two songs."),
    ]
    text = "".join(render_messages(map(make_record, said)))
    assert text == (
        "\n## You\n\nwhat music is there?\n"
        "\n## andy\n\n- list the music in tests/music\n\n- use gone.look\n"
        "\n## Result: list the music in tests/music\n\n"
        "```\n- file: a.mp3\n  title: -\n  tags:\n    - calm\n    - new\n"
        "- file: b.mp3\n  long: yes\n```\n"
        "\n## Result: use gone.look\n\n```\nnothing\n```\n"
        "\n## andy\n\nTwo songs.\n"
    )


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("[1, 2", "[1, 2"),
        ("12", "12"),
        ('{"lines": "one\\ntwo"}', "lines: one\n  two"),
        ("[[1, 2], {}]", "- - 1\n  - 2\n-"),
        ("[" * 9_000 + "]" * 9_000, "[" * 9_000 + "]" * 9_000),
        ("", ""),
    ],
)
def test_a_result_is_readable_whatever_it_is(content: str, text: str) -> None:
    assert render_result(content) == f"```\n{text}\n```"
