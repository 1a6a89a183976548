"""`andy debug neutralize`: what may be shown of a text, in the place where it is shown."""

import base64
import codecs
from collections.abc import Iterator

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, cut_pieces, list_of
from andy_cli.guard.terminal_sanitizer import Neutralizer, one_line, spell_out

SPELLED = ("approval_prompt", "file_name")
LINES = ("mp3_tag", "http_header")


def neutralize_record(record: Record, chunk_cut: ChunkCut) -> dict[str, object]:
    texts = _decode_chunks(record) if "chunks_b64" in record else cut_pieces(record, chunk_cut)
    destination = record.get("where")
    if destination in SPELLED:
        return {"shown": spell_out("".join(texts))}
    if destination in LINES:
        return {"shown": one_line("".join(texts))}
    neutralizer = Neutralizer()
    clean_pieces = [neutralizer.feed(text_piece) for text_piece in texts]
    return {"shown": "".join(clean_pieces) + neutralizer.finish()}


def _decode_chunks(record: Record) -> Iterator[str]:
    """The bytes as text; a character may be cut in two."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in list_of(record, "chunks_b64"):
        yield decoder.decode(base64.b64decode(str(chunk)))
    yield decoder.decode(b"", final=True)


PART = DebugPart("neutralize", neutralize_record)
