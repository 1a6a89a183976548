"""Learned weights, and how a request is rated by them.

    the kind of wish or talk that it is                       .ci/kind_weights.py
    the command that it asks for                              .ci/command_weights.py
    the words in it that are a value                          .ci/value_weights.py, run_weights.py
    the member of an enumeration that it means                .ci/member_weights.py
    a guess at the lines of files before they are encoded     .ci/guess_weights.py

Commands, values and members were learned from what people wrote to commands of other trades.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.models.inside.text_vectors import Vectors

KIND_WEIGHTS = Path(__file__).with_name("kinds.npz")
COMMAND_WEIGHTS = Path(__file__).with_name("commands.npz")
VALUE_WEIGHTS = Path(__file__).with_name("values.npz")
GUESS_WEIGHTS = Path(__file__).with_name("guesses.npz")
EPSILON = 1e-9
"""Added to the length of a vector, so that one of length 0 can be divided by it."""
MAX_COUNT = 3.0
"""A count of what does not fit; more than that tells no more."""
NEAR_WEIGHT = 4.0
"""The weight of nearness beside counts."""
LEAST_ODDS = -30.0
"""Natural logarithm: what is less likely tells no more."""


def centre(vectors: Vectors, mean: Vectors) -> Vectors:
    """Subtract a mean from vectors, one a row, and make their lengths 1 again."""
    moved = vectors - mean
    return moved / ((moved**2).sum(-1, keepdims=True) ** 0.5 + EPSILON)


class CommandWeights(NamedTuple):
    """Weights that tell how likely a request asks for each command."""

    request_mean: Vectors
    command_mean: Vectors
    left: Vectors
    """With `right` a matrix of low rank: which direction of a request asks for which one of a
    command. One row a direction of requests."""
    right: Vectors
    none: Vectors
    """The direction of requests that ask for none."""
    usual_none: Vectors
    nearness: Vectors
    fits: Vectors
    """The weight of each count."""

    def rate(
        self, asked: Vectors, described: Vectors, fits: Sequence[Sequence[float]]
    ) -> list[float]:
        """Rate each command, one a row of `described`, and last that none is asked for."""
        import numpy  # it is there where vectors are

        learned = self.nearness * asked + (asked @ self.left) @ self.right
        counted = numpy.minimum(numpy.array(fits, dtype=numpy.float32), MAX_COUNT)
        rated = described @ learned + counted @ self.fits
        return [*map(float, rated), float(asked @ self.none + self.usual_none)]


class KindWeights(NamedTuple):
    """Weights that tell which kind of wish or talk a text is."""

    mean: Vectors
    directions: Vectors
    """Of each kind, one a column."""
    usual: Vectors
    """Log-odds of each kind where a text tells nothing."""
    names: Vectors
    """Of the kinds: a command's, or one of talk."""

    def rate(self, written: Vectors) -> Mapping[str, float]:
        """Estimate how likely a text, written in several ways, one a row, is of each kind: natural
        logarithms.
        """
        import numpy  # it is there where vectors are

        odds = centre(written, self.mean) @ self.directions + self.usual
        likely = odds - numpy.logaddexp.reduce(odds, axis=1, keepdims=True)
        mean = numpy.logaddexp.reduce(likely, axis=0) - numpy.log(len(likely))
        return dict(zip(self.names.tolist(), mean.tolist(), strict=True))


class QuestionWeights(NamedTuple):
    """Weights that rate how near a passage is to a question."""

    question_mean: Vectors
    passage_mean: Vectors
    nearness: Vectors
    usual_none: Vectors
    """Log-odds that no passage answers."""

    def rate(self, asked: Vectors, passages: Vectors) -> Vectors:
        """Rate each passage, one a row: log-odds that it answers, against that none does."""
        near = centre(passages, self.passage_mean) @ centre(asked, self.question_mean)
        return self.nearness * near - self.usual_none


class GuessWeights(NamedTuple):
    """A linear map from the mean of a text's tokens to the vector that the encoder gives."""

    mean: Vectors
    matrix: Vectors
    guessed_mean: Vectors

    def guess(self, shallow: Vectors) -> Vectors:
        """Guess vectors, one a row."""
        return (shallow - self.mean) @ self.matrix + self.guessed_mean


class WantedMember(NamedTuple):
    """An enumeration, or a yes or no, of which a request may mean a member."""

    members: Sequence[str]
    """Each after what it is of."""
    unsaid: str
    """The text, of the same form, for none of them."""
    is_said: Sequence[float]
    """1 for each member whose words are in the request."""
    kind: Sequence[float]
    """1 for each that it is of some kinds of parameters: any, one that is needed, yes or no, and
    one of many members."""


class MemberWeights(NamedTuple):
    """Weights that tell which member of an enumeration a request means."""

    request_mean: Vectors
    member_mean: Vectors
    left: Vectors
    """With `right` a matrix of low rank: which direction of a request means which one of a member.
    One row a direction of requests."""
    right: Vectors
    nearness: Vectors
    said: Vectors
    """The weight of a member whose words are in the request."""
    none: Vectors
    """The weight of each kind of parameter for none of its members."""

    def rate(self, asked: Vectors, described: Vectors, wanted: WantedMember) -> list[float]:
        """Rate each member, one a row of `described`, and last that none is meant: log-odds."""
        import numpy  # it is there where vectors are

        learned = self.nearness * asked + (asked @ self.left) @ self.right
        none = float(numpy.array(wanted.kind) @ self.none)
        added = [*(float(self.said) * said for said in wanted.is_said), none]
        return list(map(float, described @ learned + numpy.array(added)))


class WantedValue(NamedTuple):
    """A parameter whose value is looked for in a request."""

    name: str
    """In words."""
    about: str
    """Its name and what describes it."""
    kind: Sequence[float]
    """1 for each that it is of some kinds of parameters: any, words, whole number, number, and one
    that is needed."""
    runs: Sequence[tuple[int, int]] = ()
    """The places of the first and last word of each run of words that may be the value."""
    forms: Sequence[Sequence[float]] = ()
    """Counts of what each run is like."""


class ValueVectors(NamedTuple):
    """The vectors of a request's words and of what is wanted of it."""

    words: Vectors
    """One a row."""
    name: Vectors
    about: Vectors


class ValueWeights(NamedTuple):
    """Weights that tell which words of a request are a value."""

    word_mean: Vectors
    word_axes: Vectors
    """The directions in which words differ most, one a column."""
    about_mean: Vectors
    about_axes: Vectors
    """The directions in which descriptions of parameters differ most, one a column."""
    runs: Vectors
    """The weight of each measure of a run, one a row, beside each one of a parameter."""
    no_run: Vectors
    """The weight of each measure of a parameter for its having no value."""

    def rate_runs(self, vectors: ValueVectors, wanted: WantedValue) -> list[float]:
        """Rate each run of words, and last that none is the value."""
        described = self.measure_parameter(vectors, wanted)
        rated = self.measure_runs(vectors, wanted) @ (self.runs @ described)
        return [*map(float, rated), float(self.no_run @ described)]

    def measure_parameter(self, vectors: ValueVectors, wanted: WantedValue) -> Vectors:
        import numpy  # it is there where vectors are

        projected = (vectors.about - self.about_mean) @ self.about_axes
        return numpy.concatenate([numpy.array(wanted.kind, numpy.float32), projected])

    def measure_runs(self, vectors: ValueVectors, wanted: WantedValue) -> Vectors:
        """Measure each run, one a row: the vectors of its words together, of the first and last and
        the two before and after, what it is like, and how near its words are to the name.
        """
        import numpy  # it is there where vectors are

        nothing = numpy.zeros((2, self.word_axes.shape[1]), dtype=numpy.float32)
        # With two words of nothing at either end.
        projected = (vectors.words - self.word_mean) @ self.word_axes
        moved = numpy.concatenate([nothing, projected, nothing])
        centred = centre(vectors.words, self.word_mean)
        called = centre(vectors.name, self.word_mean)
        near = numpy.concatenate([[0.0], centred @ called, [0.0]])
        measures = []
        for (first, last), form in zip(wanted.runs, wanted.forms, strict=True):
            around = moved[[first + 2, last + 2, first + 1, first, last + 3, last + 4]].ravel()
            whole = moved[first + 2 : last + 3].mean(0)
            own = centre(centred[first : last + 1].mean(0), 0.0) @ called
            beside = [own, near[first], near[last + 2]]
            measures.append([*whole, *around, *form, *(NEAR_WEIGHT * value for value in beside)])
        return numpy.array(measures, dtype=numpy.float32)


class MarkedRuns(NamedTuple):
    """The likeliest runs of words that may be a value, each as it stands in the request."""

    about: str
    """The command, the parameter and what describes it."""
    words: Sequence[str]
    """The words of each run."""
    runs: Sequence[str]
    """Each before the request in which it is marked."""
    odds: Sequence[float]
    """Of each, and last of none, by its words and form: natural logarithm."""
    needed: bool


class RunWeights(NamedTuple):
    """Weights that tell which run of words is a value: by its words, and by how it stands in the
    request.
    """

    words_mean: Vectors
    marked_mean: Vectors
    about_mean: Vectors
    words_left: Vectors
    """With `words_right` a matrix of low rank: which direction of a parameter means which one of
    words. One row a direction of parameters."""
    words_right: Vectors
    words_nearness: Vectors
    marked_left: Vectors
    """A matrix of low rank as `words_left`, for marked runs."""
    marked_right: Vectors
    marked_nearness: Vectors
    value: Vectors
    """The direction of marked runs that are a value of anything."""
    odds: Vectors
    """The weight of the odds before, and of those of none."""
    none_odds: Vectors
    none: Vectors
    """For none: always, and where a value is needed."""
    needed: Vectors

    def rate(
        self, words: Vectors, marked: Vectors, about: Vectors, wanted: MarkedRuns
    ) -> list[float]:
        """Rate each run, its words and it marked, one a row, and last none of them: log-odds."""
        import numpy  # it is there where vectors are

        asked = centre(about, self.about_mean)
        for_words = self.words_nearness * asked + (asked @ self.words_left) @ self.words_right
        for_marked = self.marked_nearness * asked + (asked @ self.marked_left) @ self.marked_right
        *odds, none = wanted.odds
        rated = (
            centre(words, self.words_mean) @ for_words
            + centre(marked, self.marked_mean) @ (for_marked + self.value)
            + self.odds * numpy.maximum(numpy.array(odds), LEAST_ODDS)
        )
        last = self.none_odds * none + self.none + self.needed * wanted.needed
        return [*map(float, rated), float(last)]
