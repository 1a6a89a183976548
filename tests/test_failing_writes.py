"""Whatever step of writing a file fails, nothing is lost that could be kept, and nothing lies."""

import errno

import pytest

from tests.cases import quick_every
from tests.failing_writes import SCENARIOS, break_each_step


@pytest.mark.parametrize("short", [False, True], ids=["at once", "half-way"])
@pytest.mark.parametrize("name", quick_every(3, SCENARIOS))
def test_a_full_disk_loses_nothing_that_could_be_kept(name: str, short: bool) -> None:
    done = break_each_step(name, errno.ENOSPC, short)
    assert done.steps > 0
    assert done.failures == []
