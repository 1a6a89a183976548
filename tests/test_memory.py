"""What is remembered of models: kept for one, for its time, and never in the way."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andy_cli.messages import NOTHING_LEARNED, Learned
from andy_cli.models.client import Endpoint
from andy_cli.models.memory import (
    MAX_AGE,
    MAX_BYTES,
    MAX_MODELS,
    learn_probe,
    learn_refusal,
    recall_model,
)

HERE = Endpoint("openai", "some-model", "http://127.0.0.1:9/v1")
DAY = date(2026, 11, 21)
NATIVE = Learned(native=True, dialect="native", right=8, tasks=8)
PROBE = Learned(native=False, dialect="hermes", right=7, tasks=8, tokens=5120)


@pytest.fixture
def file(home: Path) -> Path:
    return home / ".local/state/andy/models.json"


def test_nothing_is_known_at_first_and_asking_writes_nothing(home: Path, file: Path) -> None:
    assert recall_model(HERE) == NOTHING_LEARNED
    assert not file.parent.exists()


def test_a_refusal_of_tools_is_believed_for_a_month(file: Path) -> None:
    assert learn_refusal(HERE, "react", "its name says so", DAY)
    believed = Learned(False, native_on="2026-11-21", instead="react", why="its name says so")
    assert recall_model(HERE, DAY + MAX_AGE) == believed
    assert recall_model(HERE, DAY + MAX_AGE + timedelta(days=1)) == NOTHING_LEARNED


def test_a_probe_is_kept_with_its_figures_and_its_day(file: Path) -> None:
    learn_probe(HERE, PROBE, DAY)
    assert recall_model(HERE, DAY) == PROBE._replace(on="2026-11-21", native_on="2026-11-21")
    assert recall_model(HERE, DAY + 2 * MAX_AGE) == PROBE._replace(on="2026-11-21", native=None)


def test_a_probe_says_otherwise(file: Path) -> None:
    learn_refusal(HERE, "react", "its name says so", DAY)
    learn_probe(HERE, NATIVE, DAY)
    assert recall_model(HERE, DAY).native is True
    learn_refusal(HERE, "react", "its name says so", DAY)
    learned = recall_model(HERE, DAY)
    assert (learned.native, learned.instead, learned.dialect) == (False, "react", "native")
    learn_probe(HERE, PROBE, DAY)
    assert recall_model(HERE, DAY) == PROBE._replace(on="2026-11-21", native_on="2026-11-21")


@pytest.mark.parametrize(
    "other",
    [
        HERE.__class__("openai", "another-model", HERE.base_url),
        HERE.__class__("openai", "some-model", "http://127.0.0.1:10/v1"),
        HERE.__class__("local", "some-model"),
    ],
)
def test_what_holds_for_one_model_at_one_address_holds_for_no_other(
    other: Endpoint, file: Path
) -> None:
    learn_probe(HERE, PROBE)
    learn_probe(other, NATIVE)
    assert recall_model(other).dialect == "native"
    assert recall_model(HERE).dialect == "hermes"


def test_models_inside_andy_are_known_by_their_provider(file: Path) -> None:
    learn_probe(Endpoint("local", "m"), NATIVE)
    assert recall_model(Endpoint("local", "m")).native
    assert recall_model(Endpoint("other", "m")) == NOTHING_LEARNED


def test_the_file_is_its_owners_alone_and_holds_no_key(file: Path) -> None:
    url = "https://me:sk-secret@example.org/v1?key=sk-secret"
    endpoint = Endpoint("openai", "m", url, "sk-secret", "KEY")
    learn_probe(endpoint, PROBE)
    assert recall_model(endpoint).dialect == "hermes"
    assert "sk-secret" not in file.read_text(encoding="utf-8")
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"models": [{"endpoint": "http://127.0.0.1:9/v1", "model": "some-mo',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"models": {"a": 1}}',
        b"[1, 2]",
        b"null",
        b" " * (MAX_BYTES + 1),
        json.dumps({"models": [7, None, {"endpoint": 3}, {"model": "some-model"}]}).encode(),
    ],
)
def test_a_torn_or_foreign_file_is_as_none(content: bytes, file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert recall_model(HERE) == NOTHING_LEARNED
    assert learn_probe(HERE, PROBE)
    assert recall_model(HERE).dialect == "hermes"


def test_one_bad_entry_or_value_spoils_no_other(file: Path) -> None:
    learn_probe(HERE, PROBE, DAY)
    tree = json.loads(file.read_text(encoding="utf-8"))
    odd = {"endpoint": "x", "model": "m", "native": "no", "dialect": ["a"], "right": -1, "tasks": 1}
    tree["models"] = ["torn", odd, *tree["models"], {"endpoint": "y"}]
    file.write_text(json.dumps(tree), encoding="utf-8")
    assert recall_model(HERE, DAY).dialect == "hermes"
    assert recall_model(Endpoint("x", "m")) == Learned(tasks=1)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)
names = st.sampled_from(["native", "native_on", "dialect", "right", "tasks", "tokens", "on"])


@settings(
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.dictionaries(names, values))
def test_whatever_an_entry_holds_it_is_read_and_replaced(
    file: Path, entry: dict[str, object]
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    row = {**entry, "endpoint": HERE.base_url, "model": HERE.model}
    file.write_text(json.dumps({"models": [row]}), encoding="utf-8")
    known = recall_model(HERE)
    assert known.native in (None, True, False)
    assert isinstance(known.dialect, str)
    assert min(known.right, known.tasks, known.tokens) >= 0
    assert learn_probe(HERE, PROBE, DAY)
    assert recall_model(HERE, DAY) == PROBE._replace(on="2026-11-21", native_on="2026-11-21")


def test_only_the_newest_are_remembered(file: Path) -> None:
    first = Endpoint("local", "m0")
    for at in range(MAX_MODELS):
        learn_probe(Endpoint("local", f"m{at}"), NATIVE)
    learn_probe(first, NATIVE)  # seen again: it is no longer the oldest
    learn_probe(Endpoint("local", "new"), NATIVE)
    assert len(json.loads(file.read_text(encoding="utf-8"))["models"]) == MAX_MODELS
    assert recall_model(first).native
    assert recall_model(Endpoint("local", "m1")) == NOTHING_LEARNED


def test_where_nothing_can_be_written_nothing_is_kept_and_nothing_breaks(file: Path) -> None:
    file.parent.parent.mkdir(parents=True)
    file.parent.write_text("a file where the folder should be", encoding="utf-8")
    assert learn_probe(HERE, PROBE) is False
    assert recall_model(HERE) == NOTHING_LEARNED


def test_a_folder_in_its_place_is_left_alone(file: Path) -> None:
    file.mkdir(parents=True)
    assert learn_probe(HERE, PROBE) is False
    assert recall_model(HERE) == NOTHING_LEARNED
    assert [*file.parent.iterdir()] == [file]


def _many(name: str) -> None:
    for at in range(40):
        learn_probe(Endpoint("local", f"{name}{at}"), NATIVE)


def test_what_is_learned_is_not_waited_for_on_the_disk(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", synced.append)
    learn_probe(HERE, PROBE, DAY)
    assert file.exists()
    assert not synced


def test_writers_at_the_same_time_never_leave_a_torn_file(file: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        work = [pool.submit(_many, name) for name in "abc"]
        while not all(each.done() for each in work):
            if file.exists():
                json.loads(file.read_text(encoding="utf-8"))
        for each in work:
            each.result()
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    assert any(recall_model(Endpoint("local", f"{name}39")).native for name in "abc")
