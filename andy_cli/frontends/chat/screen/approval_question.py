"""The question before something is done, on a terminal: short enough that its start is seen."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from andy_cli.frontends.chat.screen import approval_choices
from andy_cli.frontends.chat.screen.diff_view import DiffView
from andy_cli.frontends.chat.screen.folded_texts import count_fitting_rows, fold_end
from andy_cli.frontends.terminal import markdown
from andy_cli.guard.gate import ApprovalRequest

KEY = "d shows all"


class ApprovalQuestion(NamedTuple):
    """The rows that are printed above the answers."""

    rows: Sequence[Text]
    whole: Sequence[Text] = ()
    """All rows, where those are not."""


def draw_question(request: ApprovalRequest, console: Console) -> ApprovalQuestion:
    """Exactly what would happen; a change of many lines by its beginning."""
    above = [markdown.style_text(approval_choices.render_headline(request), markdown.WARNING)]
    middle = [
        row
        for line in approval_choices.render_details(request)
        for row in markdown.style_text(line, markdown.WARNING).wrap(console, max(10, console.width))
    ]
    middle += (
        DiffView(request.access.diff).render_rows(console.width) if request.access.diff else []
    )
    below = (
        [markdown.style_text(approval_choices.render_reason(request), markdown.WARNING)]
        if request.why
        else []
    )
    short = fold_end(middle, count_fitting_rows(console), KEY)
    all_rows = [] if len(short) == len(middle) else [*above, *middle, *below]
    return ApprovalQuestion([*above, *short, *below], all_rows)
