"""The output of a command: head and tail for the model, the whole in a file where that is too much.

However much it is, little of it is held in memory.
"""

import codecs
import os
import re
import secrets
import select
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from andy_cli.guard.redactor import may_hold_secret, redact_text
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.settings import state_folder
from andy_cli.toolbox.files.names import count_noun, show_size

CHUNK_SIZE = 1 << 16
"""Bytes that are read at a time."""
HEAD, TAIL = 6_000, 10_000
"""Characters that are told of a long output."""
MAX_CHARACTERS = 512_000_000
"""Characters that are kept on disk of one output."""
MAX_KEPT_FILES = 20
"""Files of outputs that are kept; the oldest go."""
MAX_SEEN_LENGTH, MAX_SEEN_LINES = 100, 4
"""Characters of a line, and lines, that are shown while it goes on."""


class Output:
    """Takes the bytes as they come; `text()` is what the model is told at the end."""

    def __init__(
        self, secrets: Sequence[str] = (), show_text: Callable[[str], object] = lambda text: None
    ) -> None:
        """`secrets` are values that are known to be some; `show_text` gets the text as it comes."""
        self._show = show_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._secrets = secrets
        self._head = self._tail = ""
        self._size = self._lines = 0
        self._file: Spool | None = None

    def take(self, data: bytes) -> None:
        self._add(self._decoder.decode(data))

    def close(self) -> None:
        """No more is coming."""
        self._add(self._decoder.decode(b"", final=True))
        if self._file:
            self._file.close()

    def _add(self, text: str) -> None:
        self._show(text)
        earlier_head = self._head
        self._head += text[: HEAD + TAIL - len(self._head)]
        self._tail = (self._tail + text)[-TAIL:]
        self._size += len(text)
        self._lines += text.count("\n")
        if self._size <= HEAD + TAIL:
            return
        if self._file is None:
            self._file = Spool(self._secrets)
            text = earlier_head + text
        self._file.write(text)

    @property
    def last_lines(self) -> str:
        """The lines that were written last; what was written over is left out."""
        lines = self._tail[-10 * MAX_SEEN_LENGTH * MAX_SEEN_LINES :].rstrip().split("\n")
        # A carriage return goes back to the beginning: what stands behind the last one is seen.
        seen_lines = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
        shown_lines = [one_line(line)[:MAX_SEEN_LENGTH] for line in seen_lines]
        return "\n".join([line for line in shown_lines if line][-MAX_SEEN_LINES:])

    def text(self) -> str:
        if self._file is None:
            return self._head
        head, tail = self._head[:HEAD], self._tail
        head = head[: head.rfind("\n") + 1] or head
        tail = tail[tail.find("\n") + 1 :] or tail
        lines = self._lines - head.count("\n") - tail.count("\n")
        size = show_size(self._size - len(head) - len(tail))
        left = f"[... {count_noun(max(lines, 0), 'line')}, {size} left out; {self._file.said} ...]"
        ended = head.rstrip("\n")
        return f"{ended}\n{left}\n{tail}"


class Spool:
    """A file of this user alone, without secrets; where it cannot be written, that is said."""

    def __init__(self, known_secrets: Sequence[str]) -> None:
        self._scrubber = Scrubber(known_secrets)
        self._size = 0
        self._file: int | None = None
        self.path: Path | None = None
        """Nothing where it cannot be written."""
        self.said = "the rest could not be kept"
        folder = state_folder() / "terminal"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_room(folder)
            name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}.txt"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._file = os.open(folder / name, flags, 0o600)
            self.path = folder / name
            self.said = f"the whole is in {self.path}"
        except OSError:
            return

    def write(self, text: str) -> None:
        # A program in the background may print for hours what would only be looked through.
        if self._file is not None and self._size <= MAX_CHARACTERS:
            self._keep(self._scrubber.feed(text))

    def close(self) -> None:
        self._keep(self._scrubber.finish())
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _keep(self, text: str) -> None:
        if self._file is None or not text:
            return
        room_left = max(0, MAX_CHARACTERS - self._size)
        if len(text) > room_left:
            self.said = self.said.replace("the whole", f"the first {show_size(MAX_CHARACTERS)}")
        data = text[:room_left].encode("utf-8", "replace")
        self._size += len(text)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            self.said = f"{self.said.replace('the whole', 'a part')} ({error.strerror})"
            os.close(self._file)
            self._file = None


def keep_later_output(reading: int, known_secrets: Sequence[str]) -> str:
    """Keep what a program that was left running still prints to this pipe, as long as andy runs.

    Return a sentence that says where; nothing if the program prints elsewhere.

    A pipe that nobody reads ends a program at its next line.
    """
    if sys.platform == "win32" or _is_closed(reading):
        return ""
    spool = Spool(known_secrets)
    following = threading.Thread(target=_fill_spool, args=(os.dup(reading), spool), daemon=True)
    following.start()
    if spool.path is None:
        return "its further output cannot be kept"
    return (
        f"its further output is in {spool.path} until andy ends; what it prints after that may end "
        "it, unless it is started with its output redirected to a file"
    )


def _is_closed(reading: int) -> bool:
    """Tell whether nobody writes to a pipe any more, and all of it was read."""
    ready = select.poll()
    ready.register(reading, select.POLLIN)
    return any(event == select.POLLHUP for _, event in ready.poll(0))


def _fill_spool(reading: int, spool: Spool) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while data := pipe.read(CHUNK_SIZE):
            spool.write(decoder.decode(data))
    spool.close()


def _make_room(folder: Path) -> None:
    for old_file in sorted(folder.glob("*.txt"))[: -MAX_KEPT_FILES + 1]:
        old_file.unlink(missing_ok=True)


MAX_HELD_CHARACTERS = 1 << 20
"""Characters that are held back at most."""
SMALL = 2048
"""Characters that are looked at as one: the thorough look is slow, so little is given to it."""

KEY = "-----BEGIN"
OPEN_KEY = re.compile(r"-----BEGIN[ A-Z]*-----(?!.*-----END)", re.DOTALL)
GOES_ON = re.compile(r"(?i)(?:[:=>]|bearer|basic)\s*\Z")


class Scrubber:
    """Output without secrets, while it streams: what is kept on disk passes here first (P4).

    Whole lines are looked at, and lines that belong together together: a private key has many, and
    a value may stand in the line below its name.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        """`secrets` are values that are known to be some."""
        self._secrets = secrets
        self._held = ""

    def feed(self, text: str) -> str:
        """Take in text and return what can be written now."""
        self._held += text
        cut_position = self._held.rfind("\n") + 1
        ready = self._held[:cut_position]
        if len(self._held) < MAX_HELD_CHARACTERS and (not ready or self._goes_on(ready)):
            return ""
        ready, self._held = (ready, self._held[cut_position:]) if ready else (self._held, "")
        return self._clean(ready)

    def finish(self) -> str:
        ready, self._held = self._held, ""
        return self._clean(ready)

    def _goes_on(self, text: str) -> bool:
        text_end = text[-2 * SMALL :]
        key_position = text.rfind(KEY)
        return GOES_ON.search(text_end) is not None or (
            key_position >= 0 and bool(OPEN_KEY.match(text, key_position))
        )

    def _clean(self, text: str) -> str:
        if not may_hold_secret(text, self._secrets):
            return text
        cut_position = self._middle(text) if len(text) > SMALL and KEY not in text else 0
        if not cut_position:
            return redact_text(text, self._secrets)
        return self._clean(text[:cut_position]) + self._clean(text[cut_position:])

    def _middle(self, text: str) -> int:
        """Find where it can be cut in two: after a line that is whole in itself; 0 for nowhere."""
        cut_position = text.find("\n", len(text) // 2) + 1
        while cut_position and GOES_ON.search(text[max(0, cut_position - SMALL) : cut_position]):
            cut_position = text.find("\n", cut_position) + 1
        return cut_position if cut_position < len(text) else 0
