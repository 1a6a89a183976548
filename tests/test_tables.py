"""Rows are columns, and what does not fit the screen goes on below where it began."""

import pytest

from andy_cli.frontends.terminal.tables import format_table

ROWS = [
    ("network.tries", "default"),
    ("/compact [WISHES]", "shorten the conversation; WISHES say what to keep"),
    ("guard.allow", ""),
]


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (
            0,
            """\
network.tries      default
/compact [WISHES]  shorten the conversation; WISHES say what to keep
guard.allow""",
        ),
        (
            40,
            """\
network.tries      default
/compact [WISHES]  shorten the
                   conversation; WISHES
                   say what to keep
guard.allow""",
        ),
        (
            28,
            """\
network.tries      default
/compact [WISHES]
    shorten the
    conversation; WISHES say
    what to keep
guard.allow""",
        ),
    ],
)
def test_the_last_cell_is_broken_between_words(width: int, told: str) -> None:
    assert "\n".join(format_table(ROWS, width)) == told


def test_a_word_that_is_wider_than_the_screen_stays_whole() -> None:
    address = "https://example.org/" + "x" * 60
    assert format_table([("web", f"see {address}")], 30) == ["web  see", f"     {address}"]
