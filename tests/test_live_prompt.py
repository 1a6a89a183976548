"""The prompt that stays while a turn runs, in terminals and with keys that are out of the way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.model_server import Answer, ModelServer, called, event, status, streamed
from tests.terminal import Terminal
from tests.tmux import Tmux, needs_tmux

pytestmark = pytest.mark.slow
PUSHES = called("terminal_execute", '{"command": "git push origin main"}')
ANSWERS = "1 once  2 this session  3 always  4 no (say why) "
STALLED = [status(), event({"content": "The first half. "}), {"op": "stall"}]


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path) -> None:
    pass


@contextmanager
def chatting(
    script: Sequence[Answer], *arguments: str, columns: int = 80, rows: int = 24
) -> Iterator[Terminal]:
    with (
        ModelServer(script) as server,
        Terminal("chat", *to(server), *arguments, columns=columns, rows=rows) as terminal,
    ):
        terminal.prompts()
        yield terminal


@contextmanager
def chatting_in_tmux(
    script: Sequence[Answer], columns: int = 80, rows: int = 24, pause: float = 0.0
) -> Iterator[Tmux]:
    with (
        ModelServer(script) as server,
        Tmux("chat", *to(server), columns=columns, rows=rows, pause=pause) as tmux,
    ):
        yield tmux


def to(server: ModelServer) -> tuple[str, ...]:
    return "--base-url", server.url, "--model", "m", "--no-session"


def test_a_plain_question_stands_there_once_each_time_it_is_asked() -> None:
    with chatting([PUSHES, streamed("Fine.")], "--plain") as terminal:
        terminal.type("push\r")
        terminal.sees(ANSWERS.rstrip())
        terminal.type("perhaps\r")
        text = terminal.sees("'perhaps' is no answer")
        assert text.count(ANSWERS + "perhaps") == 1
        terminal.wait(lambda: terminal.text.count(ANSWERS.rstrip()) == 2, "second question")
        terminal.type("4 never\r")
        text = terminal.sees("Fine.")
    said = [line for line in text.splitlines() if line.startswith(ANSWERS.rstrip())]
    assert said == [f"{ANSWERS}perhaps", f"{ANSWERS}4 never"]


@needs_tmux
def test_a_terminal_made_narrower_than_the_question_loses_nothing_above_it() -> None:
    with chatting_in_tmux([PUSHES, streamed("Fine.")]) as tmux:
        tmux.type("push", "Enter")
        before = tmux.sees(ANSWERS.rstrip()).replace("\n", "")
        tmux.resize(len(ANSWERS) - 1, 24)
        tmux.sees(f"{ANSWERS.rstrip()}\n>")
        tmux.resize(80, 24)
        tmux.wait(lambda: tmux.cursor[0] == len(ANSWERS), "question as wide as before")
        assert tmux.text.replace("\n", "") == before


@needs_tmux
def test_lines_that_are_typed_before_the_prompt_is_there_are_sent_line_by_line() -> None:
    with chatting_in_tmux([streamed("The first."), streamed("The second.")], pause=1.0) as tmux:
        tmux.type("one", "Enter")
        tmux.type("two", "Enter")
        tmux.type("begun")
        text = tmux.sees("The second.")
        assert "> one\nThe first.\n\n> two\n" in text
        tmux.sees("\n> begun\n")


FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


@needs_tmux
def test_joined_characters_shift_nothing_that_is_written_or_typed() -> None:
    waits: Answer = [{"op": "sleep", "s": 0.4}]
    pieces = ["We ", f"{FAMILY} ", "are \U0001f44d\U0001f3fd ", "here \u2764\ufe0f ", "now. ", "OK"]
    begun, *rest = ([*streamed(each)[1:-2], *waits] for each in pieces)
    answer = [status(), *begun, *(each for one in rest for each in one), *streamed("!")[1:]]
    with chatting_in_tmux([answer]) as tmux:
        tmux.sees("Ctrl-D leaves")
        tmux.type("look", "Enter")
        for number, word in enumerate(["We", "are", "here", "now"]):
            tmux.sees(word)
            tmux.type(f"{FAMILY}{number} ")
        tmux.type("end")
        text = tmux.sees("OK!\n\n>")
        row = [each for each in text.splitlines() if each.startswith(">")][-1]
        assert f"We {FAMILY} are \U0001f44d\U0001f3fd here \u2764\ufe0f now. OK!" in text
        assert row == f"> {FAMILY}0 {FAMILY}1 {FAMILY}2 {FAMILY}3 end"


@needs_tmux
@pytest.mark.parametrize(
    "joined", [FAMILY, "\u2764\ufe0f", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea"]
)
def test_no_word_of_an_answer_is_lost_behind_joined_characters(joined: str) -> None:
    words = [f"w{number:03d}" for number in range(100)]
    answer = streamed(*[f"{word}{joined} " for word in words], "OK!")
    with chatting_in_tmux([answer], columns=60) as tmux:
        tmux.sees("Ctrl-D leaves")
        tmux.type("look", "Enter")
        text = tmux.sees("OK!\n\n>")
    assert [word for word in words if word not in text.replace("\n", "")] == []


@needs_tmux
def test_a_line_with_joined_characters_is_shown_as_it_is_after_each_key() -> None:
    with chatting_in_tmux([streamed("Fine.")]) as tmux:
        tmux.sees("Ctrl-D leaves")
        tmux.type("look", "Enter")
        tmux.sees("Fine.\n\n>")
        for key in (f"{FAMILY} abcde X", "Left", "Left", "Left", "BSpace"):
            tmux.settle(0.2)
            tmux.type(*(("", key) if key.isalpha() else (key,)))
        tmux.sees(f"> {FAMILY} abce X\n", seconds=3)


def test_the_first_status_line_says_where_help_is() -> None:
    with chatting([streamed("Hello.")]) as terminal:
        assert "m - /help says what there is, Ctrl-D leaves" in terminal.text


def test_in_a_narrow_terminal_the_hint_in_the_prompt_takes_one_row() -> None:
    with chatting([STALLED], columns=24, rows=10) as terminal:
        terminal.type("hello\r")
        terminal.sees("> Esc stops\nopenai:m - native - ask")
        terminal.type("\x1b")
        terminal.prompts()


def test_ctrl_c_ends_a_search_and_stops_what_runs() -> None:
    with chatting([STALLED]) as terminal:
        terminal.type("hello\r")
        terminal.sees("The first half")
        terminal.type("\x12hel")
        text = terminal.sees("I-search backward: hel")
        assert "> helloEnter queues" not in text
        terminal.type("\x03")
        terminal.sees("stopped\n>")
        assert "I-search" not in terminal.text
        terminal.type("\x12hel")
        terminal.sees("I-search backward: hel")
        terminal.type("\x03")
        terminal.wait(lambda: "I-search" not in terminal.text, "end of the search")
        assert "leaves" not in terminal.text


def test_ctrl_d_during_an_answer_is_shown_and_can_be_taken_back() -> None:
    with chatting([STALLED]) as terminal:
        terminal.type("hello\r")
        terminal.sees("The first half")
        terminal.type("\x04")
        terminal.sees("queued: exit\n")
        terminal.type("\x1b[A")
        terminal.wait(lambda: "queued" not in terminal.text, "empty queue")
        terminal.type("\x03")
        assert "stopped" in terminal.prompts()


def test_what_is_typed_stays_in_sight_however_low_the_terminal_becomes() -> None:
    lines = [f"typed {number}" for number in range(12)]
    items = "\n".join(f"- item {number}" for number in range(13))
    with chatting([[status(), event({"content": items}), {"op": "stall"}]], rows=40) as terminal:
        terminal.type("hello\r")
        terminal.sees("item 11")
        terminal.paste("\n".join(lines))
        terminal.sees("typed 11")
        terminal.resize(80, 12)
        terminal.wait(lambda: sum("typed" in each for each in terminal.lines) >= 7, "typed lines")
        assert terminal.lines[terminal.screen.cursor.y].endswith("typed 11")


def test_no_gap_opens_above_a_question() -> None:
    words = [event({"content": f"word{number}\n\n"}) for number in range(3)]
    pause = {"op": "sleep", "s": 0.3}
    script = [status(), *(each for word in words for each in (word, pause)), *PUSHES[1:]]
    with chatting([script]) as terminal:
        terminal.type("push\r")
        text = terminal.sees(ANSWERS.rstrip())
        above = text[: text.index(ANSWERS.rstrip())]
        assert "\n\n" not in above[above.index("andy wants") :]
        terminal.type("\x03")
        terminal.prompts()


def test_answers_that_go_through_a_pipe_stand_below_what_was_sent() -> None:
    with ModelServer([streamed("Hello there.")]) as server:
        chat = " ".join(["andy chat", *to(server)])
        with Terminal("-c", f"{chat} | cat", command="sh") as terminal:
            terminal.prompts()
            terminal.type("hello\r")
            assert "\n> hello\nHello there." in f"\n{terminal.sees('Hello there.')}"


def test_every_answer_to_a_question_is_shown_in_a_narrow_terminal() -> None:
    with chatting([PUSHES, streamed("Fine.")], columns=24, rows=12) as terminal:
        terminal.type("push\r")
        terminal.sees("1 once  2 this session\n3 always  4 no (say why)\n>")
        terminal.paste("4\nnot now")
        terminal.sees("\n> 4\n  not now")
        terminal.type("\x03")
        terminal.prompts()


def test_ctrl_c_at_once_after_enter_takes_the_line_back() -> None:
    with ModelServer([streamed("Hello.")]) as server:
        with Terminal("chat", *to(server)) as terminal:
            terminal.prompts()
            terminal.type("hello\r\x03")
            assert "leaves.\n" not in terminal.settle(0.5)
            assert terminal.lines[terminal.screen.cursor.y] == "> hello"
        assert not server.requests


@needs_tmux
def test_a_prompt_that_fills_the_screen_leaves_no_copies_when_it_is_resized() -> None:
    lines = [f"typed {number}" for number in range(30)]
    with chatting_in_tmux([streamed("Hello.")], rows=30) as tmux:
        tmux.sees("Ctrl-D leaves")
        for number in range(30):
            tmux.type(f"typed {number}", *(["C-j"] if number < 29 else []))
        tmux.sees("typed 29")
        for columns in (70, 60, 70, 80):
            tmux.resize(columns, 30)
            tmux.wait(lambda: tmux.lines[-2].startswith("  typed 29"), "prompt at the end")
            tmux.settle(0.2)
        copies = [tmux.text.count(f"{each}\n") for each in lines]
        # Where the greeting above is broken and joined again, tmux moves a row of the screen into
        # its history: one copy, not one for each resize.
        assert sum(copies) <= len(lines) + 1


def test_plain_output_comes_word_by_word() -> None:
    slow = [*streamed("Three words of ", "a long ", "line ")[:-2], {"op": "stall"}]
    with chatting([slow], "--plain") as terminal:
        terminal.type("hello\r")
        terminal.sees("> hello\nThree words")
