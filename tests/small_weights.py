"""The fixture of the small model's weights: `pytest_plugins = "tests.small_weights"`."""

import os
from pathlib import Path

import pytest

from andy_cli.errors import ModelError
from andy_cli.models.inside import weights


@pytest.fixture(scope="session")
def weights_file() -> Path:
    """They are loaded from the net where they are not there."""
    try:
        return weights.pull("smollm2")
    except ModelError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no weights: {error}")
