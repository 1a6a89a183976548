"""Shared memory by which the processes of one server tell each other figures: a slot for each.

Each writes its own alone; all read all. It is memory without a file: gone with the processes.
"""

import mmap
import struct

SLOT_SIZE = 2**20
"""Bytes of a process."""
HEAD = struct.Struct("=QQ")
"""The times it was written, odd while it is; the length of what is on it."""


class SharedStats:
    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._memory = mmap.mmap(-1, slots * SLOT_SIZE)

    def write(self, slot_number: int, data: bytes) -> bool:
        """False where it does not fit."""
        if len(data) > SLOT_SIZE - HEAD.size:
            return False
        offset = slot_number * SLOT_SIZE
        times, _ = HEAD.unpack_from(self._memory, offset)
        times |= 1  # it may be odd: the writer before was killed while it wrote
        HEAD.pack_into(self._memory, offset, times, 0)
        self._memory[offset + HEAD.size : offset + HEAD.size + len(data)] = data
        HEAD.pack_into(self._memory, offset, times + 1, len(data))
        return True

    def read(self, slot_number: int) -> bytes:
        """Empty where nothing was written yet, or while it is."""
        offset = slot_number * SLOT_SIZE
        times, length = HEAD.unpack_from(self._memory, offset)
        data = self._memory[offset + HEAD.size : offset + HEAD.size + length]
        return data if HEAD.unpack_from(self._memory, offset)[0] == times and not times % 2 else b""
