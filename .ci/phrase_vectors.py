"""Encode the phrases that ship with andy (tools/phrases.toml, talk.toml and what tools say of
themselves) into andy_cli/models/inside/phrases.npz, so that no user has to wait for it.

    python .ci/phrase_vectors.py

Eight bits a number, with a scale for each vector: half a percent of a cosine at most.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.phrases import SHIPPED, encode_phrases, list_phrases


def main() -> None:
    import numpy

    texts = list_phrases()
    numpy.savez_compressed(SHIPPED, **encode_phrases(texts))
    sys.stdout.write(f"{len(texts)} phrases, {SHIPPED.stat().st_size // 1024} KB\n")


main()
