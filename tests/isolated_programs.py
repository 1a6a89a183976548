"""Programs from PyPI that cannot be installed beside andy: they are heavy, or pin what it needs
newer. They are no part of its CI."""

import os
import subprocess
import sys

import pytest

PYTHON = os.environ.get("ANDY_CLIENTS_PYTHON", sys.executable)
"""Of the environment they are in."""


def there(*modules: str, python: str = PYTHON) -> None:
    """Skips without them; `python` is that of another environment, with its own variable."""
    code = f"import importlib.util as u; assert all(map(u.find_spec, {modules!r}))"
    if subprocess.run([python, "-c", code], capture_output=True, check=False).returncode:
        pytest.skip(f"{' and '.join(modules)}: not in the environment of {python}")
