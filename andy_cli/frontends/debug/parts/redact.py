"""`andy debug redact`: a text as it would be written to disk, secrets of the environment too."""

import os

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record
from andy_cli.guard.redactor import redact_text, secrets_of


def redact_record(record: Record, _: ChunkCut) -> dict[str, object]:
    text = record.get("text")
    # Pieces of one text: a secret may be cut in two.
    text = "".join(map(str, text)) if isinstance(text, list) else text
    if not isinstance(text, str):
        raise TypeError("text is missing, or is no text")
    return {"text": redact_text(text, secrets_of(os.environ))}


PART = DebugPart("redact", redact_record)
