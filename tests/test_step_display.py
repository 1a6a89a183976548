"""What is seen of a step: the question, the change to a file, the end of a command, its colours."""

import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from andy_cli import events
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.diff_view import DiffView
from andy_cli.frontends.chat.screen.folded_texts import FoldedTexts, fold_beginning, fold_end
from andy_cli.frontends.chat.screen.turn_view import TurnView
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import describe_corrections
from andy_cli.frontends.terminal.numbered_diff import DiffLine, read_diff, render_diff, spell_line
from andy_cli.messages import NO_DISPLAY, Display, Status
from andy_cli.toolbox.files import differences
from andy_cli.toolbox.files.differences import compare_texts, describe_new_text
from tests.model_server import Answer, ModelServer, called, streamed
from tests.shell import andy
from tests.terminal import Terminal

LINES = st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=6))
FEW = st.lists(st.sampled_from(["", " ", "one", "+two", "-three", "@@ -1 +1 @@", "\\ x", "a\tb\r"]))


def text_of(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def lines_of(text: str) -> list[str]:
    """As files are compared: the end of a line is no part of it, whichever it is."""
    return [line.removesuffix("\r") for line in text.split("\n")[:-1]]


def apply(old: Sequence[str], shown: Sequence[DiffLine]) -> list[str]:
    """The new text, made of the old one and of what is shown."""
    gone = {line.number for line in shown if line.sign == "-"}
    for line in shown:
        if line.sign == "-":
            assert old[line.number - 1] == line.text
    kept = [line for at, line in enumerate(old, 1) if at not in gone]
    for line in shown:
        if line.sign == "+":
            kept.insert(line.number - 1, line.text)
    for line in shown:
        if line.sign in " +":
            assert kept[line.number - 1] == line.text
    return kept


@given(FEW | LINES, FEW | LINES)
def test_what_is_shown_of_a_change_makes_the_new_text_of_the_old_one(
    old: list[str], new: list[str]
) -> None:
    before, after = text_of(old), text_of(new)
    change = compare_texts(before, after)
    shown = [*read_diff(change.diff)]
    assert apply(lines_of(before), shown) == lines_of(after)
    counted = [sum(line.sign == sign for line in shown) for sign in "+-"]
    told = [
        re.search(rf"(\d+)(?: lines?)? {word}", change.summary) for word in ("added", "removed")
    ]
    assert counted == [int(found[1]) if found else 0 for found in told]


@given(FEW | LINES)
def test_of_a_new_file_every_line_is_shown_as_added(new: list[str]) -> None:
    shown = [*read_diff(describe_new_text(text_of(new)).diff)]
    assert [(line.sign, line.number) for line in shown] == [("+", at + 1) for at in range(len(new))]
    assert [line.text for line in shown] == lines_of(text_of(new))


def test_a_change_that_is_cut_keeps_its_numbers_behind_the_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(differences, "HEAD", 3)
    monkeypatch.setattr(differences, "TAIL", 2)
    old = [str(at) for at in range(30)]
    new = [*old[:10], "new", *old[11:20], "newer", *old[21:]]
    shown = [*read_diff(compare_texts(text_of(old), text_of(new)).diff)]
    assert [line.sign for line in shown] == [" ", " ", "gap", "gap", " ", " "]
    assert [(line.number, line.text) for line in shown[-2:]] == [(23, "22"), (24, "23")]
    assert "not shown" in shown[2].text


def test_nothing_in_a_change_acts_and_everything_is_seen() -> None:
    change = compare_texts("a\n", "a \t\x1b[31m\u200b\u202e\n")
    assert [*render_diff(change.diff)] == [
        "1 - a",
        "1 + a →   \\x1b[31m\\u200b\\u202e",
    ]
    added = [*read_diff(compare_texts("a\n", "a  \n").diff)][1]
    assert spell_line(added) == "a··"


def plain(rows: Sequence[Text]) -> list[str]:
    return [row.plain for row in rows]


@pytest.mark.parametrize("width", [40, 80])
def test_a_long_line_is_wrapped_under_itself_and_keeps_every_character(width: int) -> None:
    text = "".join(f"word{at} 漢字 " for at in range(30)).rstrip()
    rows = DiffView(compare_texts("a\n", f"{text}\n").diff).render_rows(width)
    added = rows[1:]
    assert all(row.cell_len <= width for row in rows)
    assert added[0].plain.startswith("  1 + word0")
    joined = "".join(row.plain[6:].ljust(1) for row in added)
    assert joined.replace(" ", "") == text.replace(" ", "")
    assert all(row.plain.startswith("      ") for row in added[1:])


def test_signs_say_what_colours_say() -> None:
    rows = DiffView(compare_texts("one\ntwo\n", "one\n2\n").diff).render_rows(80)
    assert plain(rows) == ["  1   one", "  2 - two", "  2 + 2"]
    styles = [{str(span.style) for span in row.spans} for row in rows]
    assert styles == [{"dim"}, {"dim", "red"}, {"dim", "green"}]


@given(st.integers(0, 60), st.integers(2, 30))
def test_a_fold_says_how_much_it_leaves_out(rows: int, most: int) -> None:
    lines = [Text(str(at)) for at in range(rows)]
    for fold, kept in ((fold_end, most - 1), (fold_beginning, most)):
        folded = plain(fold(lines, most, "key"))
        if rows <= most:
            assert folded == plain(lines)
            continue
        note = next(line for line in folded if "..." in line)
        assert len(folded) == kept + 1
        assert int(note.split()[1]) == rows - kept
        assert "(key)" in note


def test_what_was_shortened_is_kept_whole_and_the_oldest_goes() -> None:
    folded = FoldedTexts()
    for at in range(25):
        folded.keep_text(f"title {at}", Text(f"text {at}"))
    written = pages_of(folded).split("\n")
    assert written[:2] == ["title 5", "text 5"]
    assert "text 24" in written


def pages_of(folded: FoldedTexts) -> str:
    """What the key that shows all prints."""
    file = io.StringIO()
    Console(file=file, width=60).print(*folded.take_pages())
    return file.getvalue()


def drawn(*happened: Event, height: int = 24, colour: bool = True) -> tuple[str, TurnView]:
    """What a view writes of events, and the view."""
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=colour,
        width=60,
        height=height,
        theme=markdown.THEME,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    view = TurnView(console)
    for event in happened:
        view.show_event(event)
    view.close()
    return file.getvalue(), view


def answered(
    status: Status, did: str = "read a.txt", display: Display = NO_DISPLAY
) -> events.ToolAnswered:
    return events.ToolAnswered("1", status, did=did, display=display)


COLOURS = [
    (Status.SUCCESS, "2;36", "read a.txt, 0.0 s"),
    (Status.FAILED, "31", "could not read a.txt"),
    (Status.TIMED_OUT, "31", "ran out of time: read a.txt"),
    (Status.DENIED, "33", "was not allowed to read a.txt"),
    (Status.CANCELLED, "33", "stopped: read a.txt"),
]


@pytest.mark.parametrize(("status", "colour", "words"), COLOURS)
def test_failures_are_red_refusals_amber_and_success_is_dim(
    status: Status, colour: str, words: str
) -> None:
    assert f"\x1b[{colour}m• {words}" in drawn(answered(status))[0].replace(
        f"\x1b[0m\x1b[{colour}m", ""
    )
    assert f"• {words}\n" in drawn(answered(status), colour=False)[0]


def test_a_command_that_failed_is_red_with_its_exit_code() -> None:
    display = Display(output="oh no\n", exit_code=3)
    written, _ = drawn(answered(Status.SUCCESS, "ran make, exit code 3", display=display))
    assert "\x1b[31m" in written.partition("ran make")[0]
    assert "oh no" in written


def test_a_command_that_is_cut_on_its_line_is_said_to_be_cut() -> None:
    assert (
        "• ran make all; rm..., 0.0 s\n"
        in drawn(answered(Status.SUCCESS, "ran make all; rm..."), colour=False)[0]
    )
    assert "• said it, 0.0 s\n" in drawn(answered(Status.SUCCESS, "said it."), colour=False)[0]


def test_of_a_command_the_last_lines_stay_and_all_is_kept() -> None:
    output = "".join(f"line {at}\n" for at in range(1, 101))
    event = answered(Status.SUCCESS, "ran seq", display=Display(output=output))
    written, view = drawn(event, colour=False)
    assert written.split("\n")[:7] == [
        "• ran seq, 0.0 s",
        "  ... 95 rows before (Ctrl-O shows all)",
        *(f"  line {at}" for at in range(96, 101)),
    ]
    assert "  line 1\n" in pages_of(view.folded)


def test_what_a_command_writes_drives_no_terminal_and_a_redrawn_line_is_shown_once() -> None:
    output = "10 %\r50 %\r100 %\r\n\x1b[2Jdone\x07\n"
    written, _ = drawn(answered(Status.SUCCESS, "ran x", display=Display(output=output)))
    assert "\x1b[2J" not in written
    assert "\x07" not in written
    assert "50 %" not in written
    assert "100 %" in written


def test_what_was_corrected_stands_on_the_line_in_plain_words() -> None:
    written, _ = drawn(
        events.Corrected("1", ("readfile -> read_file", "file -> path")),
        events.ToolUsed("1", "read_file", {}, "read a.txt"),
        answered(Status.SUCCESS),
        colour=False,
    )
    assert "• read a.txt, 0.0 s (corrected the model's `file` to `path`)\n" in written


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["path: notes -> notes.txt"], "corrected the model's `notes` to `notes.txt`"),
        (["'3' -> 3"], "corrected the model's `'3'` to `3`"),
        (["read -> read_file", '{"a": 1} -> [1]'], ""),
        (
            ["a -> b", "c -> d", "e -> f"],
            "corrected the model's `a` to `b`, `c` to `d` and 1 more",
        ),
    ],
)
def test_of_corrections_only_words_are_told(changes: list[str], said: str) -> None:
    assert describe_corrections(changes, "read_file") == said


def test_a_long_change_is_folded_after_the_edit_too() -> None:
    diff = describe_new_text("x\n" * 100).diff
    written, view = drawn(
        answered(Status.SUCCESS, "made a.txt", display=Display(diff=diff)), colour=False
    )
    assert "... 85 more rows (Ctrl-O shows all)" in written
    assert len(view.folded.take_pages()) == 1


def test_what_a_model_thinks_is_kept_and_not_printed() -> None:
    written, view = drawn(
        events.Reasoned("Let me "),
        events.Reasoned("think.\x1b[2J"),
        events.Said("assistant", "Yes.", delta=True),
        colour=False,
    )
    assert "think" not in written
    assert pages_of(view.folded) == "What the model thought\nLet me think.\n"


def test_a_display_is_no_part_of_the_json() -> None:
    told = events.as_dict(answered(Status.SUCCESS, display=Display(diff="@@ -1 +1 @@\n+x")))
    assert "display" not in told


# ----------------------------------------------------------------- in a real terminal

EDIT = {"file": "src/calc.py", "old_string": "return a - b", "new_string": "return a + b"}
QUESTION = "4 no (say why)"


@pytest.fixture
def project(home: Path) -> Path:
    folder = home / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return folder


@contextmanager
def chatting(
    script: Sequence[Answer],
    folder: Path,
    *arguments: str,
    columns: int = 80,
    no_color: str = "",
) -> Iterator[Terminal]:
    with ModelServer(script) as server:
        to = ("--base-url", server.url, "--model", "m", "--no-session")
        with Terminal(
            "chat", *to, *arguments, columns=columns, folder=folder, NO_COLOR=no_color
        ) as terminal:
            terminal.prompts()
            yield terminal


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("looks", ["colour", "plain", "no colour"])
def test_an_edit_is_asked_for_with_its_change_and_shown_when_it_is_done(
    project: Path, columns: int, looks: str
) -> None:
    arguments = ["--plain"] if looks == "plain" else []
    no_color = "1" if looks == "no colour" else ""
    script = [called("edit_file", json.dumps(EDIT)), streamed("Fixed.")]
    with chatting(script, project, *arguments, columns=columns, no_color=no_color) as terminal:
        terminal.type("fix it\r")
        text = terminal.sees("1 once")
        assert "andy wants to edit src/calc.py" in text
        assert "(1 line added, 1 removed)" in " ".join(text.split())
        change = "  1   def add(a, b):\n  2 -     return a - b\n  2 +     return a + b\n"
        assert change in text
        terminal.settle(0.2)
        terminal.type("1\r")
        text = terminal.sees("Fixed.")
    assert text.count(change) == 2
    assert "changed src/calc.py" in text
    colours = re.findall(rb"\x1b\[[0-9;]*3[12]m", terminal.raw)
    assert bool(colours) is (looks == "colour")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["edits", "auto"])
def test_the_change_is_shown_in_modes_that_do_not_ask(project: Path, mode: str) -> None:
    script = [called("edit_file", json.dumps(EDIT)), streamed("Fixed.")]
    with chatting(script, project, "--permission-mode", mode) as terminal:
        terminal.type("fix it\r")
        text = terminal.sees("Fixed.")
    assert "  2 -     return a - b\n  2 +     return a + b\n" in text
    assert QUESTION not in text


@pytest.mark.slow
def test_a_change_beyond_a_screen_is_folded_and_d_shows_all_and_asks_again(project: Path) -> None:
    content = "".join(f"line {at}\n" for at in range(1, 231))
    script = [called("write_file", json.dumps({"path": "n.txt", "content": content}))]
    with chatting([*script, streamed("Written.")], project) as terminal:
        terminal.type("write it\r")
        text = terminal.sees(QUESTION)
        assert "andy wants to write n.txt (new file, 230 lines)" in text
        assert "... 215 more rows (d shows all)" in text
        assert "line 200" not in text
        assert "andy wants to write" in "\n".join(terminal.lines)
        terminal.settle(0.2)
        terminal.type("d\r")
        terminal.wait(lambda: terminal.text.count(QUESTION) == 2, "second question")
        text = terminal.text
        assert re.findall(r"^ +(\d+) \+ line \1$", text, re.MULTILINE)[-1] == "230"
        terminal.settle(0.2)
        terminal.type("1\r")
        terminal.sees("Written.")
        terminal.sees("... 215 more rows (Ctrl-O shows all)")
    assert (project / "n.txt").read_text() == content


@pytest.mark.slow
def test_a_command_shows_its_end_and_one_that_is_stopped_is_named(project: Path) -> None:
    script = [
        called("terminal_execute", json.dumps({"command": "seq 1 125; exit 3"})),
        called("terminal_execute", json.dumps({"command": "sleep 100"})),
    ]
    with chatting(script, project) as terminal:
        terminal.type("count\r")
        assert "andy wants to run: seq 1 125; exit 3\n" in terminal.sees(QUESTION)
        terminal.settle(0.2)
        terminal.type("1\r")
        text = terminal.sees("andy wants to run: sleep 100")
        assert "exit code 3" in text
        assert "  ... 120 rows before (Ctrl-O shows all)\n  121\n  122\n" in text
        terminal.wait(lambda: terminal.text.count(QUESTION) == 2, "second question")
        terminal.settle(0.2)
        terminal.type("1\r")
        terminal.sees("run sleep 100, ")
        terminal.type("\x03")
        terminal.sees("• stopped: run sleep 100")


@pytest.mark.slow
@pytest.mark.parametrize("verbose", [True, False])
def test_andy_run_shows_the_change_only_if_it_is_asked_to(
    project: Path, verbose: bool, tmp_path: Path
) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6" * 4
    edit = {**EDIT, "new_string": f"return a + b  # {key}"}
    script = [called("edit_file", json.dumps(edit)), streamed("Fixed.")]
    with ModelServer(script) as server:
        words = ("run", "fix it", "--base-url", server.url, "--model", "m", "--no-session")
        flags = ("--permission-mode", "edits", *["-v"] * verbose)
        ran = andy(*words, *flags, home=tmp_path, cwd=project)
    assert (ran.code, ran.out) == (0, "Fixed.\n")
    assert ("  2 -     return a - b\n  2 +     return a + b  # " in ran.err) is verbose
    assert key not in ran.err
