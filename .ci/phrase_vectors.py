"""Encode the phrases that ship with andy (tools/phrases.toml, talk.toml and what tools say of
themselves) into andy_cli/models/inside/phrases.npz, so that no user has to wait for it.

    python .ci/phrase_vectors.py

Eight bits a number, with a scale for each vector: half a percent of a cosine at most.
"""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from andy_cli.models.inside.text_vectors import FORMAT, hash_text
from tests.phrase_vectors import SHIPPED, encode_phrases, list_phrases


def main() -> None:
    import numpy

    texts = list_phrases()
    made: dict[int, tuple[object, object]] = {}
    with contextlib.suppress(OSError), numpy.load(SHIPPED) as file:
        if str(file["format"]) == FORMAT:
            rows = zip(file["scales"], file["vectors"], strict=True)
            made = dict(zip(file["hashes"].tolist(), rows, strict=True))
    fresh = [text for text in texts if hash_text(text) not in made]
    if fresh:
        encoded = encode_phrases(fresh)
        rows = zip(encoded["scales"], encoded["vectors"], strict=True)
        made |= dict(zip(encoded["hashes"].tolist(), rows, strict=True))
    hashes = [hash_text(text) for text in texts]
    numpy.savez_compressed(
        SHIPPED,
        format=numpy.array(FORMAT),
        hashes=numpy.array(hashes, dtype=numpy.uint64),
        scales=numpy.array([made[key][0] for key in hashes], dtype=numpy.float32),
        vectors=numpy.array([made[key][1] for key in hashes], dtype=numpy.int8),
    )
    sys.stdout.write(f"{len(texts)} phrases, {SHIPPED.stat().st_size // 1024} KB\n")


main()
