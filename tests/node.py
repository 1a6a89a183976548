"""Programs from npm that tests run against, fetched once and kept where caches are."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
"""Of whoever runs the tests, not of the homes that tests make."""


def installed(*packages: str) -> Path:
    """The folder `node_modules` with these packages, `NAME@VERSION`; skips where that cannot be."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not (node and npm):
        pytest.skip("needs node and npm")
    named = hashlib.sha256(" ".join(sorted(packages)).encode()).hexdigest()[:12]
    folder = CACHE / "andy-tests" / f"npm-{named}"
    if not (folder / "complete").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"draft-{os.getpid()}"
        draft.mkdir(exist_ok=True)
        done = subprocess.run(
            [
                npm,
                "install",
                "--silent",
                "--no-audit",
                "--no-fund",
                "--prefix",
                str(draft),
                *packages,
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            shutil.rmtree(draft, ignore_errors=True)
            pytest.skip(f"needs packages from npm: {done.stderr[-300:]}")
        if not (folder / "complete").is_file():
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            (draft / "node_modules").rename(folder / "node_modules")
            (folder / "complete").touch()
        shutil.rmtree(draft, ignore_errors=True)
    return folder / "node_modules"
