"""The layout of the prompt: its windows from top to bottom, and their content.

what is being written
  queued: a line
a question               as far as it leaves no room for an answer
> what is typed          or the end of the question and what is answered
I-search backward: ...   while the history is searched
model - mode             the status line
"""

import textwrap
from collections.abc import Callable, Sequence

from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    AnyContainer,
    BufferControl,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    SearchBufferControl,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import (
    AfterInput,
    ConditionalProcessor,
    HighlightIncrementalSearchProcessor,
    HighlightSelectionProcessor,
    PasswordProcessor,
)
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.widgets.toolbars import SearchToolbar

from andy_cli.frontends.chat.prompt.prompt_state import STEP, PromptState

PROMPT, CONTINUED = "> ", "  "
HINT, SHORT_HINT = "Enter queues, Esc stops", "Esc stops"
"""The hint in the empty prompt while a turn runs, and where there is no room for that."""
QUEUE_SHOWN = 3
"""Queued and held lines that are shown."""
ANSWER_COLUMNS = 8
"""Columns that an answer needs after its question."""
MENU_ROWS = 8
"""Rows of the menu of completions."""
MARGIN = 2
"""Rows of the screen that are left free above what is being written."""
QUIET = "class:quiet"
LOOK = Style.from_dict({"quiet": "ansibrightblack", "completion-menu": "noreverse"})


def build_layout(state: PromptState, output: Output, status: Callable[[], str]) -> Layout:
    """Put the windows of the prompt one below the other; each shows the state as it is then."""
    asking = Condition(lambda: state.is_asking)
    search = SearchToolbar()
    typed = build_typed_window(state, output, search.control)
    completions = CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1)
    menu = Float(completions, xcursor=True, ycursor=True)

    def find_question() -> str:
        return split_question(state, output)[0]

    has_rows = Condition(lambda: state.rows_above > 0)
    has_question = Condition(lambda: bool(find_question()))
    has_status = Condition(lambda: bool(status()))
    windows: list[AnyContainer] = [
        build_text_window(lambda: draw_rows_above(state), has_rows),
        build_text_window(lambda: [("", find_question())], has_question, wraps=True),
        ConditionalContainer(FloatContainer(typed, [menu]), ~asking),
        ConditionalContainer(build_answer_window(state, output), asking),
        search,
        build_text_window(lambda: [(QUIET, status())], has_status),
    ]
    return Layout(HSplit(windows), typed)


def build_typed_window(state: PromptState, output: Output, search: SearchBufferControl) -> Window:
    """Build the window of the typed line, after the prompt or a hint."""
    waits_empty = Condition(lambda: state.is_working and not state.typed.text)
    hint_processor = AfterInput(lambda: choose_hint(output.get_size().columns), style=QUIET)

    def choose_height() -> Dimension:
        """Room for the menu, which opens inside this window."""
        return Dimension(min=MENU_ROWS + 1) if state.typed.complete_state else Dimension()

    return Window(
        BufferControl(
            state.typed,
            search_buffer_control=search,
            input_processors=[
                HighlightIncrementalSearchProcessor(),
                HighlightSelectionProcessor(),
                ConditionalProcessor(hint_processor, waits_empty & ~is_searching),
            ],
            include_default_input_processors=False,
            preview_search=True,
        ),
        height=choose_height,
        dont_extend_height=True,
        wrap_lines=True,
        get_line_prefix=lambda row, wrapped: choose_prefix(row, wrapped, PROMPT),
    )


def build_answer_window(state: PromptState, output: Output) -> Window:
    """Build the window of an answer, after its question."""
    is_secret = Condition(lambda: state.ask_user is not None and state.ask_user.is_secret)
    return Window(
        BufferControl(state.answer, [ConditionalProcessor(PasswordProcessor(), is_secret)]),
        dont_extend_height=True,
        wrap_lines=True,
        get_line_prefix=lambda row, wrapped: choose_prefix(
            row, wrapped, split_question(state, output)[1]
        ),
    )


def build_text_window(
    text: Callable[[], StyleAndTextTuples], is_shown: Condition, wraps: bool = False
) -> ConditionalContainer:
    control = FormattedTextControl(text)
    window = Window(control, dont_extend_height=True, wrap_lines=wraps)
    return ConditionalContainer(window, is_shown)


def draw_rows_above(state: PromptState) -> StyleAndTextTuples:
    """Draw what is being written, and below it the first queued lines."""
    lines = [*state.live.lines, *draw_queue(state.waiting_rows)]
    return [fragment for line in lines for fragment in (*line, ("", "\n"))][:-1]


def draw_queue(waiting: Sequence[str]) -> list[StyleAndTextTuples]:
    """At most QUEUE_SHOWN lines: the first, and how many more there are."""
    first = waiting if len(waiting) <= QUEUE_SHOWN else waiting[: QUEUE_SHOWN - 1]
    more = [f"and {len(waiting) - len(first)} more"] if len(first) < len(waiting) else []
    return [[(QUIET, row)] for row in (*first, *more)]


def split_question(state: PromptState, output: Output) -> tuple[str, str]:
    """Split the question into a part above the line of the answer and one before the answer.

    A question that leaves no room for an answer stands above it.
    """
    if state.ask_user is None:
        return "", ""
    text, columns = state.ask_user.text, output.get_size().columns
    if get_cwidth(text) <= columns - ANSWER_COLUMNS:
        return "", text
    return textwrap.fill(text.rstrip(), max(1, columns)), PROMPT


def choose_prefix(row: int, wrapped: int, first: str) -> str:
    """Choose the prefix of a row: lines that were broken to fit are not indented."""
    if wrapped:
        return ""
    return CONTINUED if row else first


def choose_hint(columns: int) -> str:
    return HINT if len(HINT) < columns - len(PROMPT) else SHORT_HINT


def count_live_rows(state: PromptState, size: Size) -> int:
    """Rows that there are for what is being written, above all else that is shown."""
    queued = min(len(state.waiting_rows), QUEUE_SHOWN + 1)
    typed = count_typed_rows(state.typed.text, size)
    return max(1, size.rows - MARGIN - STEP - 1 - typed - queued)


def count_typed_rows(text: str, size: Size) -> int:
    """Rows of what is typed, as far as they fit on the screen."""
    if len(text) > size.rows * size.columns:
        return size.rows
    lines = text.split("\n")
    return sum((len(PROMPT) + get_cwidth(line)) // size.columns + 1 for line in lines)
