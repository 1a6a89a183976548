"""Learn to guess the vector of a line without the encoder's layers: from the mean of its tokens'
embeddings the vector that the encoder gives (models/inside/guesses.npz), so that only a few of many
lines have to be encoded for a question.

    python .ci/guess_weights.py [--measure]

A linear map, by least squares with a penalty, of the texts of tests/corpora/small_model: the lines
of the folders, and many others after the names of files. With --measure it is told how often the
line that the encoder rates best is among the likeliest guesses, in everyday batches of which
nothing was learned. Takes four minutes of CPU. It has to be run again when question_tuning.npz
changes.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy

from andy_cli.models.inside.encoder import load_encoder
from andy_cli.models.inside.learned_rating import GUESS_WEIGHTS, GuessWeights
from andy_cli.models.inside.planning.mentions import RATED_LINES, write_passage
from andy_cli.models.inside.text_vectors import FORMAT, Vectors
from andy_cli.models.inside.tuning import QUESTION_TUNING, SentenceModel, load_tuned, read_tuning
from tests.benchmarks.small_choices import CORPUS
from tests.benchmarks.small_model import read_rows, read_world

FIRST_UNSEEN = 50
"""The number of the first everyday batch of which nothing is learned."""
UNSEEN = (50, 51, 52, 53, 59, 60, 61, 62, 63)
MAX_TEXTS = 16_000
SHORTEST, LONGEST = 9, 160
"""Characters of a text."""
PENALTY = 0.01
"""Of the mean square of what is mapped."""
LINES_WEIGHT = 2
"""The weight of the folders' lines: they are what is guessed."""
TOGETHER = 512


def list_texts(value: object) -> Iterator[str]:
    """List the lines of all texts in a value of JSON."""
    if isinstance(value, str):
        yield from filter(is_fitting, map(str.strip, value.split("\n")))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from list_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from list_texts(inner)


def is_fitting(text: str) -> bool:
    return SHORTEST <= len(text) <= LONGEST


def is_learned(path: Path) -> bool:
    kind, _, number = path.stem.removesuffix("_folder").rpartition("_")
    return kind != "everyday" or not number.isdigit() or int(number) < FIRST_UNSEEN


def read_values() -> Iterator[object]:
    for path in sorted(filter(is_learned, CORPUS.glob("*.json*"))):
        text = path.read_text(encoding="utf-8")
        yield from map(json.loads, [text] if path.suffix == ".json" else text.splitlines())


def list_folder_lines() -> Iterator[str]:
    for path in sorted(CORPUS.glob("folders_*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for name, text in row["files"].items():
                yield from (write_passage(name, line.strip()) for line in text.split("\n") if line)


def list_others(names: Sequence[str]) -> Iterator[str]:
    """List other texts, each after one of these names, in an order that is always the same."""
    texts = {text for value in read_values() for text in list_texts(value)}
    by_digest = sorted((hashlib.sha256(text.encode()).hexdigest(), text) for text in texts)
    for digest, text in by_digest[:MAX_TEXTS]:
        yield f"{names[int(digest[:8], 16) % len(names)]}: {text}"


def encode(model: SentenceModel, texts: Sequence[str]) -> Vectors:
    groups = [texts[at : at + TOGETHER] for at in range(0, len(texts), TOGETHER)]
    return numpy.concatenate([*map(model.passage, groups)])


def fit(shallow: Vectors, encoded: Vectors, counts: Vectors) -> GuessWeights:
    """Find the linear map between vectors, one a row, each counted so often."""
    mean = (counts[:, None] * shallow).sum(0) / counts.sum()
    guessed_mean = (counts[:, None] * encoded).sum(0) / counts.sum()
    before, after = shallow - mean, encoded - guessed_mean
    square = before.T @ (counts[:, None] * before)
    penalty = PENALTY * numpy.trace(square) / len(square) * numpy.eye(len(square))
    matrix = numpy.linalg.solve(square + penalty, before.T @ (counts[:, None] * after))
    return GuessWeights(*map(numpy.float16, (mean, matrix, guessed_mean)))


def measure() -> str:
    """Count how often the line that is rated best is among the likeliest guesses."""
    encoder = load_encoder(Path("/nonexistent"))
    found = count = 0
    for number in UNSEEN:
        files = read_world(f"everyday_{number}").files
        lines = [
            write_passage(name, line.strip())
            for name, text in files.items()
            for line in text.split("\n")
            if any(map(str.isalnum, line))
        ]
        for row in read_rows(f"everyday_{number}"):
            if not (row.group == "tool" and row.want.says and "read_file" in row.want.tools[0]):
                continue
            guessed = encoder.guess_passages(row.text, lines)
            rated = encoder.rate_passages(row.text, lines)
            likeliest = sorted(range(len(lines)), key=guessed.__getitem__)[-RATED_LINES:]
            found += rated.index(max(rated)) in likeliest
            count += 1
    return f"{found} of {count} best lines are among the {RATED_LINES} likeliest guesses"


def main() -> None:
    tuning = read_tuning(QUESTION_TUNING)
    if tuning is None:
        sys.exit(f"{QUESTION_TUNING} cannot be read")
    lines = [*list_folder_lines()]
    names = sorted({line.partition(":")[0] for line in lines})
    texts = [*lines, *list_others(names)]
    counts = numpy.ones(len(texts))
    counts[: len(lines)] = LINES_WEIGHT
    models = (load_tuned(tuning, layers=0), load_tuned(tuning))
    weights = fit(*(encode(model, texts) for model in models), counts)
    numpy.savez_compressed(GUESS_WEIGHTS, format=numpy.array(FORMAT), **weights._asdict())
    sys.stdout.write(f"{len(texts)} texts, {GUESS_WEIGHTS.stat().st_size // 1024} KB\n")
    if "--measure" in sys.argv:
        sys.stdout.write(f"{measure()}\n")


main()
