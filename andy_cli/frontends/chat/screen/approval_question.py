"""The question before something is done, on a terminal: short enough that its start is seen."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from andy_cli.frontends.chat.screen import approval_choices
from andy_cli.frontends.chat.screen.diff_view import DiffView
from andy_cli.frontends.chat.screen.folded_texts import fold_end, rows_that_fit
from andy_cli.frontends.terminal import markdown
from andy_cli.guard.gate import ApprovalRequest

KEY = "d shows all"


class Question(NamedTuple):
    """What is printed above the answers."""

    rows: Sequence[Text]
    whole: Sequence[Text] = ()
    """All rows, where those are not."""


def draw_question(proposal: ApprovalRequest, console: Console) -> Question:
    """Exactly what would happen; a change of many lines by its beginning."""
    above = [markdown.styled(approval_choices.headline(proposal), markdown.WARNING)]
    middle = [
        row
        for line in approval_choices.details(proposal)
        for row in markdown.styled(line, markdown.WARNING).wrap(console, max(10, console.width))
    ]
    middle += DiffView(proposal.claim.diff).rows(console.width) if proposal.claim.diff else []
    below = (
        [markdown.styled(approval_choices.reason(proposal), markdown.WARNING)]
        if proposal.why
        else []
    )
    short = fold_end(middle, rows_that_fit(console), KEY)
    whole = [] if len(short) == len(middle) else [*above, *middle, *below]
    return Question([*above, *short, *below], whole)
