"""What a model is told of a call that was not run is read back as it was written."""

from collections.abc import Callable

import pytest

from andy_cli.call_notes import (
    MissingValue,
    read_invalid_arguments,
    read_missing,
    read_refusal,
    write_invalid_arguments,
    write_missing,
    write_refusal,
)

Reader = Callable[[str], object]
READERS: tuple[Reader, ...] = (read_refusal, read_invalid_arguments, read_missing)
NOTES: tuple[tuple[str, Reader, object], ...] = (
    (write_refusal("the user said: not now. Later"), read_refusal, "the user said: not now. Later"),
    (write_invalid_arguments("mail", "to: no address; cc: none", '{"to": {}}'),
     read_invalid_arguments, "to: no address; cc: none"),
    (write_missing("play_mp3", "file"), read_missing, MissingValue("play_mp3", "file")),
)  # fmt: skip


@pytest.mark.parametrize(("note", "reader", "said"), NOTES)
def test_a_note_is_read_by_its_own_reader_alone(note: str, reader: Reader, said: object) -> None:
    found = {read: read(note) for read in READERS if read(note) is not None}
    assert found == {reader: said}


@pytest.mark.parametrize(
    "text",
    ["", "OK", "cannot open a.txt", "I cannot sleep without a light", "He said: " + NOTES[0][0],
     "a.txt says mail was not run, its arguments do not fit: x. Its parameters are: y"],
)  # fmt: skip
def test_another_text_is_no_note(text: str) -> None:
    assert [read(text) for read in READERS] == [None, None, None]
