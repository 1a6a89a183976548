"""The fixture of Google's emulator: `pytest_plugins = "tests.google.fixtures"`."""

from collections.abc import Generator

import pytest

from tests.google.emulator import Emulator, running


@pytest.fixture(scope="session")
def google() -> Generator[Emulator, None, None]:
    with running() as emulator:
        yield emulator
