"""Fixtures; `pytest --update` writes golden files anew."""

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from andy_cli.errors import ModelError
from andy_cli.models.inside import weights
from andy_cli.toolbox import situation
from tests import history_rules
from tests.google.emulator import Emulator, running


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write golden files anew")


def pytest_configure(config: pytest.Config) -> None:
    """`python -m tests.long guards` draws more cases for each property than usual."""
    if cases := os.environ.get("ANDY_DRAWN_CASES"):
        settings.register_profile(
            "long",
            max_examples=int(cases),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("long")


@pytest.fixture(autouse=True)
def no_situation() -> Generator[None, None, None]:
    """Where one test let tools work is nothing to the next."""
    yield
    situation.leave()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A test fails in which a scripted model got a request that some server would refuse."""
    history_rules.FOUND.clear()
    yield
    if history_rules.FOUND:
        pytest.fail("\n".join(history_rules.FOUND), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that skips because something `needs` installing has failed where CI installs it."""
    report = yield
    if report.skipped and os.environ.get("CI") and "needs " in str(report.longrepr):
        report.outcome = "failed"
    return report


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: no settings, keys or sessions of the machine get in, none get out."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("ANDY_", "XDG_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a test gets into the keyring of the machine."""
    null = pytest.importorskip("keyring.backends.null", reason="needs keyring")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setattr("keyring.core._keyring_backend", null.Keyring())


@pytest.fixture(scope="session")
def google() -> Generator[Emulator, None, None]:
    with running() as emulator:
        yield emulator


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Generator[None, None, None]:
    """A machine in a zone with summer time."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session")
def weights_file() -> Path:
    """Of the small model; it is loaded from the net where it is not there."""
    try:
        return weights.pull("smollm2")
    except ModelError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no weights: {error}")
