"""Output to a terminal at whose end a prompt stays: in whole steps, and no byte twice."""

import contextlib
import io
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import DEFAULT_ATTRS, Attrs

from andy_cli.errors import OutputError

READ_SECONDS = 0.5
"""Seconds that the prompt waits for who reads the answers from a pipe."""
SHOWN_SECONDS = 0.05
"""Seconds that it takes from there to the screen."""


class StepwiseOutput(Vt100_Output):
    """Writes what belongs together at once, and no state that the terminal is in already.

    To erase the prompt, print above it and draw it again is one write: nothing flickers.
    """

    lost: OutputError | None = None
    """Set when the terminal takes nothing any more: it was closed."""
    _held = 0
    _attributes: object = None
    """The last that were set; None if that is not known."""
    _wraps = True
    _pastes = False
    _arrows = False

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Write all that is written meanwhile at once."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self.flush()

    def flush(self) -> None:
        if self._held or not self._buffer:
            return
        data, self._buffer = "".join(self._buffer), []
        try:
            self.stdout.write(data)
            self.stdout.flush()
        except OutputError as error:
            self.lost = error
        except OSError as error:
            self.lost = OutputError(f"The terminal takes nothing: {error.strerror}.")

    def write_text(self, text: str) -> None:
        """Write what may be longer than a line, and may set attributes: it ends without any."""
        if not self._wraps:
            self._wraps = True
            super().enable_autowrap()
        self._attributes = None
        self.write_raw(text)

    def restore_terminal(self) -> None:
        """Put the terminal into the state that other programs expect."""
        self.write_text("")
        if self._pastes:
            self._pastes = False
            super().disable_bracketed_paste()
        self._arrows = False
        self.flush()

    def set_attributes(self, attrs: Attrs, color_depth: ColorDepth) -> None:
        attributes = () if attrs == DEFAULT_ATTRS else (attrs, color_depth)
        if attributes != self._attributes:
            self._attributes = attributes
            super().set_attributes(attrs, color_depth)

    def reset_attributes(self) -> None:
        if self._attributes != ():
            self._attributes = ()
            super().reset_attributes()

    def disable_autowrap(self) -> None:
        if self._wraps:
            self._wraps = False
            super().disable_autowrap()

    def enable_autowrap(self) -> None:
        """When it is needed: before something is printed."""

    def erase_down(self) -> None:
        """The line and then what is below it: tmux moves into its history what fills the screen
        when it is erased at once. The cursor stands at the start of a line and stays there.
        """
        self.write_raw("\x1b7\x1b[K\x1b[B\r\x1b[J\x1b8")

    def hide_cursor(self) -> None:
        """Not needed, as each drawing is one write."""

    def show_cursor(self) -> None:
        """It is never hidden."""

    def enable_bracketed_paste(self) -> None:
        if not self._pastes:
            self._pastes = True
            super().enable_bracketed_paste()

    def disable_bracketed_paste(self) -> None:
        """When the terminal is left."""

    def reset_cursor_key_mode(self) -> None:
        if not self._arrows:
            self._arrows = True
            super().reset_cursor_key_mode()


def find_output() -> Output:
    """Find where to draw the prompt: on the terminal even if the answers go into a pipe."""
    terminals = [stream for stream in (sys.stdout, sys.stderr) if stream and stream.isatty()]
    if sys.platform == "win32" or not terminals:
        return create_output(always_prefer_tty=True)
    return open_output(terminals[0])


def open_output(stdout: TextIO) -> StepwiseOutput:
    """A terminal, of which nothing is asked: where its cursor is follows from what was written."""

    def measure() -> Size:
        try:
            columns, rows = os.get_terminal_size(stdout.fileno())
        except OSError:  # it is gone
            columns, rows = 0, 0
        return Size(rows or 24, columns or 80)

    return StepwiseOutput(stdout, measure, term=os.environ.get("TERM"), enable_cpr=False)


def wait_until_read(stream: TextIO) -> None:
    """Wait until all of a pipe was read, and could be shown: `| tee log` writes to this terminal,
    and a prompt that is drawn in the middle of a line takes the rest of it away.
    """
    if sys.platform == "win32" or stream.isatty():
        return
    import fcntl
    import termios

    end = time.monotonic() + READ_SECONDS
    try:
        stream.flush()
        while any(fcntl.ioctl(stream.fileno(), termios.FIONREAD, bytes(struct.calcsize("i")))):
            if time.monotonic() > end:
                return
            time.sleep(0.005)
    except OSError:  # a file, or nobody reads any more
        return
    time.sleep(SHOWN_SECONDS)


class AboveWriter(io.TextIOWrapper):
    """A stream of the terminal, whose lines are printed above the prompt. `detach` it at the end.

    What is no whole line waits for its end, unless no prompt is drawn or nothing of it is seen.
    """

    def __init__(
        self, stream: TextIO, above: Callable[[str], None], draws: Callable[[], bool]
    ) -> None:
        """`above` may be called in any thread; `draws` says whether there is a prompt now."""
        super().__init__(stream.buffer, stream.encoding, stream.errors)
        self._above = above
        self._draws = draws
        self._begun = ""

    def write(self, text: str, /) -> int:
        self._begun += text
        end = self._begun.rfind("\n") + 1
        if end:
            lines, self._begun = self._begun[:end], self._begun[end:]
            self._above(lines)
        return len(text)

    def flush(self) -> None:
        if self._begun and (
            not self._draws() or self._begun.startswith("\x1b]")
        ):  # for the clipboard
            begun, self._begun = self._begun, ""
            self._above(begun)
