"""Events -> terminal, without a program around it."""

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from andy_cli import events
from andy_cli.events import Event
from andy_cli.frontends.chat.screen.live_region import LiveRegion
from andy_cli.frontends.chat.screen.turn_view import REFRESH_SECONDS, TurnView
from andy_cli.frontends.terminal import markdown
from andy_cli.frontends.terminal.messages import list_not_done
from andy_cli.messages import Status
from tests.cases import draw_cases

STEP = 0.001
"""Seconds between two events: a fast model."""


@dataclass
class Shown:
    """A view on a terminal of its own, whose clock stands still unless it is moved."""

    width: int = 60
    height: int = 12
    terminal: bool = True
    now: float = 0.0
    file: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        self.console = Console(
            file=self.file,
            force_terminal=self.terminal,
            width=self.width,
            height=self.height,
            theme=markdown.THEME,
            color_system="256" if self.terminal else None,
            highlight=False,
            legacy_windows=False,
        )
        self.view = TurnView(self.console, clock=lambda: self.now)

    def show(self, *pieces: str, step: float = STEP) -> "Shown":
        for piece in pieces:
            self.now += step
            self.view.show_event(said(piece))
        return self

    @property
    def written(self) -> str:
        return self.file.getvalue()

    @property
    def text(self) -> str:
        """What is left on the screen, and what has left it at its top."""
        screen = pyte.HistoryScreen(self.width, self.height, history=10_000)
        pyte.Stream(screen).feed(self.written.replace("\n", "\r\n"))
        columns = range(self.width)
        above = ["".join(row[at].data for at in columns) for row in screen.history.top]
        return "\n".join(line.rstrip() for line in [*above, *screen.display]).rstrip()


def said(text: str) -> Event:
    return events.Said("assistant", text, delta=True)


def ended(*, failed: bool = False) -> Event:
    return events.Ended("success", failed, "", "", "s", 1, 1, 0)


BLOCKS = [
    "A paragraph with **bold**, *slanted* and `code` that is long enough to be wrapped once.\n\n",
    "# A heading\n",
    "## Another\n\n",
    "- one\n- two\n  - deeper\n\n",
    "1. first\n\n   with a second paragraph\n2. second\n\n",
    "```python\ndef f():\n\n    return 1\n```\n",
    "    indented code\n\n",
    "> quoted\n> text\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "---\n\n",
    "<b>tags</b> & a [link](http://example.org/x)\n\n",
    "~~gone~~ 日本語 🎵\n\n",
]


@draw_cases(60)
@given(st.lists(st.sampled_from(BLOCKS), max_size=6).map("".join), st.data())
def test_however_an_answer_is_cut_it_looks_the_same(answer: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(answer)), max_size=12)))
    pieces = [answer[a:b] for a, b in zip([0, *cuts], [*cuts, len(answer)], strict=True)]
    whole, cut = Shown().show(answer), Shown().show(*pieces, step=1.0)
    whole.view.close()
    cut.view.close()
    assert cut.text == whole.text


WIDE_TABLE = """\
| Date | Item | Units | Price | Revenue | Supplier | Origin | Remark |
|---|---|--:|---|---|---|---|---|
| 2024-01-01 | apples **number 1** | 10 | 1.20 | 12.00 | Fruits | Spain | see claims/2024-late |
| 2024-01-02 | pears | 20 | 2.20 | 44.00 | Fruits | Spain | |
"""
NARROW_TABLE = """\
| id | file | what it does |
|---|---|---|
| 1 | a_long_name_of_a_module.py | counts the words of all texts |
"""


@pytest.mark.parametrize(
    ("width", "table", "shown"),
    [
        (
            60,
            NARROW_TABLE,
            """\
 id  file                        what it does
 ──────────────────────────────────────────────────────────
 1   a_long_name_of_a_module.py  counts the words of all
                                 texts""",
        ),
        (
            40,
            NARROW_TABLE,
            """\
 id  file              what it does
 ──────────────────────────────────────
 1   a_long_name_of_a  counts the words
     _module.py        of all texts""",
        ),
        (
            60,
            WIDE_TABLE,
            """\
 • Date: 2024-01-01
   Item: apples number 1
   Units: 10
   Price: 1.20
   Revenue: 12.00
   Supplier: Fruits
   Origin: Spain
   Remark: see claims/2024-late
 • Date: 2024-01-02
   Item: pears
   Units: 20
   Price: 2.20
   Revenue: 44.00
   Supplier: Fruits
   Origin: Spain
   Remark:""",
        ),
    ],
)
def test_a_table_loses_nothing_on_a_narrow_screen(width: int, table: str, shown: str) -> None:
    screen = Shown(width, height=24).show(table)
    screen.view.close()
    assert screen.text == shown


@pytest.mark.parametrize("width", [12, 20, 40, 60, 80, 100])
def test_each_value_of_a_table_is_shown(width: int) -> None:
    screen = Shown(width, height=80).show(WIDE_TABLE)
    screen.view.close()
    assert "…" not in screen.text
    signs = Counter("2024-01-01 apples number 1 see claims/2024-late".replace(" ", ""))
    assert signs <= Counter(screen.text)


def test_a_number_at_the_end_may_be_the_next_item_of_a_list() -> None:
    answer = "1. first\n2. second\n\n3. third\n"
    whole, cut = Shown().show(answer), Shown().show(answer[:21], answer[21:], step=1.0)
    assert answer[:21].endswith("\n3")
    whole.view.close()
    cut.view.close()
    assert cut.text == whole.text


def test_finished_blocks_are_written_once() -> None:
    paragraphs = [f"paragraph{number}\n\n" for number in range(50)]
    shown = Shown().show(*paragraphs, step=1.0)
    shown.view.close()
    # Once while it is open, and once when it is finished.
    assert max(shown.written.count(f"paragraph{number}\n") for number in range(50)) <= 2


def test_the_screen_is_drawn_at_most_ten_times_a_second() -> None:
    drawings = Shown().show(*["x"] * 1_000).written.count("\r")
    assert drawings <= 1_000 * STEP / REFRESH_SECONDS + 1


def test_lines_that_stay_as_they_are_are_not_drawn_again() -> None:
    lines = [f"- point {number}\n" for number in range(8)]
    shown = Shown().show(*lines, step=1.0)
    assert "point 7" in shown.text
    assert shown.written.count("point 0\n") == 1


def test_a_long_answer_costs_in_proportion_to_its_length() -> None:
    part = "".join(BLOCKS)
    pieces = [part[at : at + 4] for at in range(0, len(part), 4)]
    short, long = Shown().show(*pieces * 10), Shown().show(*pieces * 40)
    assert len(long.written) < 5 * len(short.written)


def test_an_endless_block_is_shown_by_its_end() -> None:
    code = ["```\n", *(f"line {number}\n" for number in range(1_000))]
    shown = Shown().show(*code)
    shown.now += 1
    shown.view.tick()
    assert "line 999" in shown.text
    assert len(shown.text.splitlines()) <= shown.height
    shown.view.close()
    assert [line for line in shown.text.splitlines() if line] == [
        f"line {number}" for number in range(1_000)
    ]


def test_lines_that_a_narrower_terminal_has_broken_are_erased_too() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=60, height=12, legacy_windows=False)
    tail = LiveRegion(console)
    tail.print(tail=Text("x" * 50 + "\n" + "y" * 30))
    console.width = 20
    before = len(file.getvalue())
    tail.print()
    assert file.getvalue()[before:].count("\x1b[1A") == 3 + 2 - 1


@pytest.mark.parametrize(
    ("markdown", "wanted"),
    [
        ("use <div> and <b>this</b>", "use <div> and <b>this</b>"),
        ("<div>\nblock\n</div>", "<div>\nblock\n</div>"),
        ("Read list.txt:\nmilk\neggs", "Read list.txt:\nmilk\neggs"),
        ("[here](http://evil.example/x)", "here (http://evil.example/x)"),
        ("at :m: and [bold]x[/bold]", "at :m: and [bold]x[/bold]"),
        ("# Title", "Title"),
        ("```\n  code\n\n  more\n```", "  code\n\n  more"),
    ],
)
def test_nothing_that_a_model_says_vanishes(markdown: str, wanted: str) -> None:
    shown = Shown().show(markdown)
    shown.view.close()
    assert shown.text == wanted


def test_a_long_line_of_code_stays_one_line() -> None:
    shown = Shown().show("```\n" + "x" * 200 + "\n```")
    shown.view.close()
    assert "x" * 200 in shown.written


def test_no_line_ends_in_blanks() -> None:
    shown = Shown().show(*BLOCKS)
    shown.view.close()
    plain = pyte.Screen(60, 200)
    pyte.Stream(plain).feed(shown.written.replace("\n", "\r\n"))
    assert " \n" not in shown.written


def test_hostile_text_is_made_harmless_however_it_is_cut() -> None:
    hostile = "a\x1b]52;c;aGk=\x07b\x9b31mc\u202ed"
    shown = Shown(terminal=False).show(*hostile)
    shown.view.close()
    assert shown.written == "abcd\n\n"


def test_what_goes_on_is_said_after_a_second() -> None:
    shown = Shown()
    shown.view.busy = "m is working"
    shown.now += 0.9
    shown.view.tick()
    assert shown.text == ""
    shown.now += 0.2
    shown.view.tick()
    assert shown.text == "m is working, 1 s (Ctrl-C stops it)"
    shown.view.count_received = lambda: 3200
    shown.view.tick()
    assert shown.text == "m is working, 1 s, 3,200 characters (Ctrl-C stops it)"
    shown.show("Hello", step=1.0)
    assert shown.text == "Hello"


def test_a_tool_is_announced_and_then_reported() -> None:
    shown = Shown()
    shown.view.show_event(events.ToolUsed("1", "list_mp3s", {}, "list the\nmusic"))
    assert shown.text == "list the music ..."
    shown.view.show_event(
        events.ToolAnswered("1", Status.SUCCESS, seconds=0.1, did="listed 3 songs")
    )
    shown.view.close()
    assert shown.text == "• listed 3 songs, 0.1 s"


def test_the_last_lines_of_a_running_command_stand_below_it() -> None:
    shown = Shown()
    shown.view.show_event(events.ToolUsed("1", "terminal_execute", {}, "run make"))
    shown.view.show_progress("compiling a\ncompiling b")
    shown.now += 1.5
    shown.view.tick()
    assert shown.text == "run make, 1 s (Ctrl-C stops it)\n  compiling a\n  compiling b"
    shown.view.show_event(events.ToolAnswered("1", Status.SUCCESS, seconds=2.0, did="ran make"))
    shown.view.close()
    assert shown.text == "• ran make, 2.0 s"


def test_a_long_action_is_wrapped_under_itself() -> None:
    shown = Shown(width=30)
    did = "listed 3 songs in /a/very/long/path/to/some/folder"
    shown.view.show_event(events.ToolAnswered("1", Status.SUCCESS, seconds=0.1, did=did))
    lines = shown.text.splitlines()
    assert lines[0].startswith("• listed")
    assert all(line.startswith("  ") for line in lines[1:])


def test_text_and_actions_keep_a_distance() -> None:
    shown = Shown().show("Let me look.")
    for name in ("one", "two"):
        shown.view.show_event(events.ToolAnswered("1", Status.SUCCESS, seconds=0.1, did=name))
    shown.show("Done.")
    shown.view.close()
    assert shown.text == "Let me look.\n\n• one, 0.1 s\n• two, 0.1 s\n\nDone."


def test_what_was_not_done_is_said_beneath_the_answer() -> None:
    shown = Shown()
    shown.show("I moved them.")
    not_done = {"action": "move *.jpg to photos", "reason": "not allowed"}
    shown.view.show_event(
        events.Ended("success", False, "", "", "s", 1, 1, 0, not_done=(not_done,))
    )
    shown.view.close()
    assert shown.text == "I moved them.\n\nNot done: move *.jpg to photos (not allowed)"


def test_a_script_that_was_not_run_does_not_fill_the_screen() -> None:
    script = "run python3 - <<'EOF' " + " ".join(f"print('line {at}')" for at in range(200))
    shown = Shown()
    denied = events.ToolAnswered("1", Status.DENIED, did=script, problem="a rule forbids it")
    shown.view.show_event(denied)
    not_done = {"action": script, "reason": "not allowed"}
    shown.view.show_event(
        events.Ended("success", False, "", "", "s", 1, 1, 0, not_done=(not_done,))
    )
    shown.view.close()
    was_denied, was_not_done = " ".join(shown.text.split()).split(" Not done: ")
    assert was_denied.startswith("• was not allowed to run python3 - <<'EOF' print('line 0')")
    assert was_denied.endswith("...: a rule forbids it")
    assert was_not_done.endswith("... (not allowed)")
    assert len(shown.text.splitlines()) <= 16


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("There is no file a.txt.", "Not done: read a.txt"),
        ("It is not there.", "Not done: read a.txt (There is no file a.txt)"),
    ],
)
def test_a_reason_that_the_answer_says_is_not_said_again(answer: str, told: str) -> None:
    not_done = {"action": "read a.txt", "reason": "There is no file a.txt"}
    event = events.Ended("success", False, answer, answer, "s", 1, 1, 0, not_done=(not_done,))
    assert list_not_done(event) == [told]


def test_an_answer_that_is_put_right_takes_the_place_of_the_first() -> None:
    shown = Shown()
    shown.show("There are a.txt and\n\nghost.txt.")
    shown.view.show_event(events.Said("assistant", "There is a.txt."))
    shown.view.close()
    assert shown.text == "There is a.txt."


def test_an_answer_that_was_sent_back_and_cannot_be_replaced_is_said_not_to_hold() -> None:
    sent_back = events.Failed("warning", "grounding", "Nothing supports this.")
    looked = events.ToolUsed("1", "read_file", {"path": "a.txt"}, "read a.txt")
    shown = Shown().show("I changed a.txt.")
    shown.view.show_event(sent_back)
    shown.view.show_event(looked)
    assert shown.text.startswith(
        "I changed a.txt.\n\nThe answer above was sent back: nothing that was done\nsupports it."
    )
    replaced = Shown().show("I changed a.txt.")
    for event in (sent_back, events.Said("assistant", "It stays."), ended()):
        replaced.view.show_event(event)
    assert "sent back" not in replaced.text


@pytest.mark.parametrize(
    "happened",
    [
        [events.Failed("error", "provider", "it broke")],
        [events.ToolAnswered("1", Status.SUCCESS, did="listed 3 songs")],
        [said("Hello")],
    ],
)
def test_what_was_not_empty_is_not_called_so(happened: Sequence[Event]) -> None:
    shown = Shown()
    for event in [*happened, ended(failed=isinstance(happened[0], events.Failed))]:
        shown.view.show_event(event)
    assert "said nothing" not in shown.text


def test_without_a_terminal_text_is_written_word_by_word_as_it_comes() -> None:
    shown = Shown(terminal=False).show("Three **so", step=1.0)
    assert shown.written == "Three "
    shown.show("ngs** in\n\n", "all", step=1.0)
    assert shown.written == "Three **songs** in\n\n"
    shown.view.close()
    assert shown.written == "Three **songs** in\n\nall\n\n"


def test_what_the_model_is_sent_less_of_is_one_line_a_turn() -> None:
    shown = Shown(width=120)
    for turn in (1, 2):
        shown.view.show_event(events.Compressed(9000, 4000, cut_texts=3))
        shown.show(f"Answer {turn}.")
        shown.view.show_event(events.Compressed(9000, 4000, cut_texts=3, left_out=2))
        shown.view.show_event(ended())
    shown.view.close()
    assert shown.text.count("Earlier messages are shortened in what the model is sent") == 2
    assert "left out" not in shown.text
    view = Shown(width=120, terminal=False)
    view.view.show_event(events.Compressed(9000, 4000, left_out=2))
    assert view.written.startswith("2 earlier messages are left out in what the model is sent")
