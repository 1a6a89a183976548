"""A few rounds of what `python -m tests.long` does by the thousand."""

import base64
import os
import random
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.canaries import SHAPES, find_canaries, make_canary
from tests.long import canaries, kills


@pytest.fixture(autouse=True)
def restored_environment() -> Iterator[None]:
    """These rounds give their programs a whole environment of their own."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_what_was_shown_outlives_a_kill_once() -> None:
    tallies = kills.kill_batch(0, 10).values()
    assert sum(tally.kills for tally in tallies) == 10
    assert sum(tally.broken for tally in tallies) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("way", canaries.WAYS)
def test_a_secret_is_only_where_it_belongs(way: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    assert [*canaries.WAYS[way](tmp_path.resolve(), random.Random(0))] == []


@given(
    shape=st.sampled_from([*SHAPES]),
    before=st.binary(max_size=5),
    behind=st.binary(max_size=5),
    seed=st.integers(0, 1000),
)
def test_a_canary_is_found_however_it_is_written(
    shape: str, before: bytes, behind: bytes, seed: int
) -> None:
    canary = make_canary(shape, random.Random(seed))
    data = before + canary.encode() + behind
    written = (data, base64.b64encode(data), base64.urlsafe_b64encode(data), data.hex().encode())
    for form in (*written, quote(data).encode()):
        assert [*find_canaries(form, {"here": canary})]
