"""Learn which line of a user's files answers a question: the encoder's biases and norms for that,
with the means of questions and lines (models/inside/question_tuning.npz).

    pip install jax tokenizers
    python .ci/question_weights.py [--measure]

Each question of tests/corpora/small_model/folders_*.jsonl, and of some everyday batches, makes the
line that answers it the likeliest of its folder's, or that none does (softmax). What ships lies
between the encoder as it is and what was learned: the questions of the folders share hardly a word
with their lines, other people's do. With --measure what is learned from three quarters of the
folders is tried on the fourth, and nothing is written. Takes ten minutes of CPU.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import jax
import jax.numpy as jnp
import numpy
from trainable_encoder import (
    Array,
    Course,
    Layers,
    TrainableEncoder,
    Tree,
    as_passage,
    as_query,
    fill_up,
    mix,
    tune,
    write_tuning,
)

from andy_cli.models.inside.learned_rating import centre
from andy_cli.models.inside.planning.mentions import write_passage
from andy_cli.models.inside.tuning import QUESTION_TUNING
from tests.benchmarks.small_choices import CORPUS
from tests.benchmarks.small_model import contains, read_rows, read_world

ROUNDS = 4
SHARE = 0.6
"""Of what was learned."""
EVERYDAY = range(32, 44)
"""The numbers of the everyday batches that are learned too; the others are for comparison."""
FOLDERS_TOGETHER = 4
RATE = 1e-3
RATES = {"question_mean": 1e-4, "passage_mean": 1e-4, "nearness": 0.03, "usual_none": 0.03}
NEARNESS, NONE = 12.0, 4.0
"""Where the weight of nearness, and the odds that no line answers, begin."""
FOLDS = 4
SHUT_OUT = -1e9
MAX_LINES = 128
"""Of a folder."""
MIN_LETTERS = 2
ROW_STEP, TEXT_STEP = 32, 128
"""Rows and texts are filled up to a multiple, so that few forms have to be compiled."""
Head = Mapping[str, Array]
Line = tuple[str, str]
"""The file that it is of, and its text."""


class Folder(NamedTuple):
    name: str
    lines: tuple[str, ...]
    """Of all its files, each after what its file is called."""
    questions: tuple[tuple[str, int], ...]
    """With the place of the line that answers it; MAX_LINES where none does."""


class Rows(NamedTuple):
    """Questions in figures."""

    questions: Array
    """The place of the text of each."""
    folders: Array
    """Of each question."""
    lines: Array
    """Folder, line: the place of its text."""
    shut: Array
    """Folder, line: SHUT_OUT where there is none."""
    right: Array
    counts: Array
    """1 for each question, 0 for what fills up."""


def read_folders() -> Iterator[Folder]:
    for path in sorted(CORPUS.glob("folders_*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            unanswered = [(question, None) for question in row["unanswered"]]
            answered = [(question, (name, line)) for question, name, line in row["questions"]]
            yield make_folder(row["folder"], row["files"], [*answered, *unanswered])


def read_everyday() -> Iterator[Folder]:
    """Read what was asked in everyday batches: what one line answers, and what none does."""
    for number in EVERYDAY:
        batch = f"everyday_{number}"
        files = read_world(batch).files
        questions: list[tuple[str, Line | None]] = []
        for row in read_rows(batch):
            if row.group in ("own", "knowledge"):
                questions.append((row.text, None))
            elif row.group == "tool" and row.want.says and "read_file" in row.want.tools[0]:
                found = [
                    (name, line)
                    for name, text in files.items()
                    for line in text.split("\n")
                    if all(contains(line, said) for said in row.want.says)
                ]
                questions += [(row.text, found[0])] if len(found) == 1 else []
        yield make_folder(batch, files, questions)


def make_folder(
    name: str, files: Mapping[str, str], questions: Sequence[tuple[str, Line | None]]
) -> Folder:
    written = [
        (name, line.strip())
        for name, text in files.items()
        for line in text.split("\n")
        if len(line.strip()) > MIN_LETTERS
    ][:MAX_LINES]
    places = {line: place for place, line in enumerate(written)}
    asked = [
        (question, places.get((line[0], line[1].strip()), -1) if line else MAX_LINES)
        for question, line in questions
    ]
    lines = tuple(write_passage(name, line) for name, line in written)
    return Folder(name, lines, tuple((text, at) for text, at in asked if at >= 0))


def make_rows(folders: Sequence[Folder]) -> tuple[list[str], Rows]:
    """Put questions into figures, and list the texts whose places they hold."""
    texts: list[str] = []
    count = fill_up(len(folders), FOLDERS_TOGETHER)
    lines = numpy.zeros((count, MAX_LINES), numpy.int32)
    shut = numpy.full(lines.shape, SHUT_OUT, numpy.float32)
    found: list[tuple[int, int, int]] = []
    for at, folder in enumerate(folders):
        there = slice(len(folder.lines))
        lines[at, there] = len(texts) + numpy.arange(len(folder.lines))
        shut[at, there] = 0
        texts += map(as_passage, folder.lines)
        for question, right in folder.questions:
            found.append((len(texts), at, right))
            texts.append(as_query(question))
    filled = numpy.zeros((fill_up(len(found), ROW_STEP), 3), numpy.int32)
    filled[: len(found)] = found
    counts = (numpy.arange(len(filled)) < len(found)).astype(numpy.float32)
    return texts, Rows(filled[:, 0], filled[:, 1], lines, shut, filled[:, 2], counts)


def rate(head: Head, vectors: Array, rows: Rows) -> Array:
    """Rate each line for each question, and last that none answers it."""
    asked = centre(vectors[rows.questions], head["question_mean"])
    lines = centre(vectors[rows.lines], head["passage_mean"])[rows.folders]
    rated = head["nearness"] * jnp.einsum("rlv,rv->rl", lines, asked) + rows.shut[rows.folders]
    none = jnp.broadcast_to(head["usual_none"], (len(rows.questions), 1))
    return jnp.concatenate([rated, none], axis=1)


def measure_loss(head: Head, vectors: Array, rows: Rows) -> Array:
    likely = jax.nn.log_softmax(rate(head, vectors, rows), axis=1)
    found = likely[jnp.arange(len(rows.right)), rows.right] * rows.counts
    return -found.sum() / rows.counts.sum()


def find_means(
    folders: Sequence[Folder], encoder: TrainableEncoder, tuned: Layers
) -> dict[str, Array]:
    texts, rows = make_rows(folders)
    vectors = encoder.encode(tuned, texts)
    return {
        "question_mean": jnp.array(vectors[rows.questions[rows.counts > 0]].mean(0)),
        "passage_mean": jnp.array(vectors[rows.lines[rows.shut == 0]].mean(0)),
    }


def learn(
    folders: Sequence[Folder], encoder: TrainableEncoder, show: Callable[[str, Tree], None]
) -> tuple[Layers, Head]:
    """Find the numbers of the encoder by which what is right is the likeliest."""
    head = {
        **find_means(folders, encoder, encoder.tuned),
        "nearness": jnp.float32(NEARNESS),
        "usual_none": jnp.float32(NONE),
    }
    show("as it is", (encoder.tuned, head))
    course = Course(ROUNDS, FOLDERS_TOGETHER, TEXT_STEP, RATE, RATES)
    groups = [[folder] for folder in folders]
    return tune(encoder, head, groups, make_rows, measure_loss, course, show)


def count_right(folders: Sequence[Folder], encoder: TrainableEncoder, learned: Tree) -> str:
    tuned, head = learned
    texts, rows = make_rows(folders)
    there = rows.counts > 0
    rated = numpy.array(rate(head, encoder.encode(tuned, texts), rows))[there]
    right = rows.right[there]
    answered = right < MAX_LINES
    alone = (rated[:, :-1].argmax(1) == right)[answered].sum()
    chosen = rated.argmax(1) == right
    return (
        f"{alone} of {answered.sum()} lines, {chosen[answered].sum()} beside none, "
        f"none for {chosen[~answered].sum()} of {(~answered).sum()}, "
        f"weights {float(head['nearness']):.2f} and {float(head['usual_none']):.2f}"
    )


def main(arguments: Sequence[str]) -> None:
    encoder = TrainableEncoder()
    known = [*read_folders(), *read_everyday()]
    tried = {"learned": known[: len(known) // FOLDS]}
    if "--measure" in arguments:
        tried = {"a quarter": known[::FOLDS]}
        known = [folder for at, folder in enumerate(known) if at % FOLDS]

    def show(when: str, learned: Tree) -> None:
        for name, folders in tried.items():
            sys.stdout.write(f"{when}, {name}: {count_right(folders, encoder, learned)}\n")
            sys.stdout.flush()

    tuned, head = learn(known, encoder, show)
    if "--measure" not in arguments:
        between = jax.tree.map(lambda old, new: mix(SHARE, old, new), encoder.tuned, tuned)
        means = find_means(known, encoder, between)
        found = {name: numpy.float32(part) for name, part in {**head, **means}.items()}
        write_tuning(QUESTION_TUNING, between, encoder.model, found)
        sys.stdout.write(f"{len(known)} folders, {QUESTION_TUNING.stat().st_size // 1024} KB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
