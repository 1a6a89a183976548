"""Every fault of a model server, as `andy run` and `andy chat` show it and as `andy serve` does.

`python -m tests.long faults` plays them too, and cuts each reply after every byte.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import faults, serve_faults
from tests.cases import quick_every
from tests.faults import FaultServer, Row
from tests.long.faults import play_once
from tests.serve_client import Served, serving


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as server:
        yield server


@pytest.fixture(scope="module")
def served(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with serving(server.server.url, *serve_faults.QUICK, home=home, HOME=str(home)) as served:
        yield served


def name(row: Row) -> str:
    return f"{row.id}: {row.title}"


@pytest.mark.parametrize(
    "row", quick_every(10, [row for row in faults.rows() if not row.request]), ids=name
)
def test_a_fault_is_survived_or_said_by_andy(row: Row, server: FaultServer, tmp_path: Path) -> None:
    assert play_once(row, server, tmp_path) == ""


@pytest.mark.parametrize("row", quick_every(20, faults.rows()), ids=name)
def test_a_fault_is_survived_or_passed_on_by_serve(
    row: Row, server: FaultServer, served: Served, tmp_path: Path
) -> None:
    if row.opens["op"] in faults.OPENS_ELSEWHERE:
        assert serve_faults.play_elsewhere(row, server, tmp_path) == []
    else:
        assert serve_faults.play_once(row, server, served) == ""
