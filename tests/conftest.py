"""Fixtures; `pytest --update` writes golden files anew."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write golden files anew")


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
