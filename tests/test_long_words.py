"""A word that may be the name of a file is looked through once, however long it is."""

from pathlib import Path

import pytest

from andy_cli.agent.grounding.audit import find_unsupported_claims
from andy_cli.agent.grounding.evidence import Evidence
from andy_cli.agent.grounding.text.segmentation import split_sentences
from andy_cli.agent.sanitizer import ToolTitles
from andy_cli.guard.redactor import redact_text
from tests.model_server import ModelServer, streamed
from tests.shell import andy


@pytest.mark.parametrize("letters", ["a", "A", "aA", "1"])
def test_a_long_word_behind_a_name_is_looked_through_once(letters: str) -> None:
    word = f"/A{letters * 50_000}1+"
    assert len(redact_text(f"key: {word}")) <= len(word) + 5


@pytest.mark.slow
@pytest.mark.parametrize("letters", ["x", "0a", "-", ".", "([", "\u6587", "deleted"])
def test_a_long_word_of_an_answer_is_looked_through_once(letters: str) -> None:
    word = letters * (100_000 // len(letters))
    evidence = Evidence((f"a result: {word}",), f"what is in {word}", (), ())
    assert find_unsupported_claims(f"It has:\n{word}\n", evidence) == ()
    titles = ToolTitles({"read_file": "read a file"})
    assert "".join([*titles.feed(word), *titles.pass_by("")]) == word


def test_what_is_too_long_for_a_sentence_is_cut_between_words_and_nothing_is_lost() -> None:
    text = "lorem ipsum " * 1_000 + "x" * 5_000
    sentences = split_sentences(text)
    assert "".join(sentence.text for sentence in sentences) == text
    assert all(text[each.start : each.end] == each.text for each in sentences)
    assert max(len(sentence.text) for sentence in sentences) <= 2_000
    assert sentences[0].text.endswith("lorem ")


@pytest.mark.slow
def test_a_time_limit_holds_while_a_long_answer_is_looked_through(tmp_path: Path) -> None:
    with ModelServer([streamed("lorem ipsum " * 80_000)]) as server:
        to = ("--base-url", server.url, "--model", "m", "--timeout", "2")
        done = andy("run", *to, "hi", home=tmp_path, cwd=tmp_path)
    assert (done.code, done.err.splitlines()[0]) == (4, "andy: Stopped after 2 seconds.")
