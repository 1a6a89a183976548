"""A word that may be the name of a file is looked through once, however long it is."""

import pytest

from andy_cli.guard.redactor import redact_text


@pytest.mark.parametrize("letters", ["a", "A", "aA", "1"])
def test_a_long_word_behind_a_name_is_looked_through_once(letters: str) -> None:
    word = f"/A{letters * 50_000}1+"
    assert len(redact_text(f"key: {word}")) <= len(word) + 5
