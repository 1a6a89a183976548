"""Decode what an MCP server writes line by line, in time that grows with its length alone.

The SDK joins all pieces of a line again for each piece that arrives: a result of 100 MB took more
than a minute. `CODEC` is UTF-8 whose decoder gives out whole lines only.
"""

import codecs

from typing_extensions import Buffer

CODEC = "andy-utf8-lines"
MAX_CHARACTERS = 256 * 2**20
"""Characters of one message; a server that never ends a line would fill the memory."""

_utf8 = codecs.lookup("utf-8")


class LineDecoder(codecs.IncrementalDecoder):
    """Hold back an unfinished line. Raises ValueError for one of more than MAX_CHARACTERS."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._pieces: list[str] = []
        self._length = 0

    def decode(self, data: Buffer, final: bool = False) -> str:
        """Give out the text up to the last line end so far."""
        text = self._decoder.decode(bytes(data), final)
        self._pieces.append(text)
        self._length += len(text)
        if final or "\n" in text:
            return self._release()
        if self._length > MAX_CHARACTERS:
            raise ValueError(
                f"a message of the server is longer than {MAX_CHARACTERS // 2**20} MiB"
            )
        return ""

    def _release(self) -> str:
        text = "".join(self._pieces)
        self._pieces, self._length = [], 0
        end = text.rfind("\n") + 1
        unfinished_line = text[end:]
        if unfinished_line:
            self._pieces, self._length = [unfinished_line], len(unfinished_line)
        return text[:end]


def find_codec(name: str) -> codecs.CodecInfo | None:
    """The codec by its name, for `codecs.register`."""
    if name.replace("_", "-") != CODEC:
        return None
    return codecs.CodecInfo(_utf8.encode, _utf8.decode, incrementaldecoder=LineDecoder, name=CODEC)


codecs.register(find_codec)
