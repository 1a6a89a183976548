"""The question before something is done, on a terminal: short enough that its start is seen."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from andy_cli.frontends import paint
from andy_cli.frontends.chat import consent
from andy_cli.frontends.chat.diff_view import DiffView
from andy_cli.frontends.chat.folded import fold_end, rows_that_fit
from andy_cli.guard.gate import ApprovalRequest

KEY = "d shows all"


class Question(NamedTuple):
    """What is printed above the answers."""

    rows: Sequence[Text]
    whole: Sequence[Text] = ()
    """All rows, where those are not."""


def draw_question(proposal: ApprovalRequest, console: Console) -> Question:
    """Exactly what would happen; a change of many lines by its beginning."""
    above = [paint.styled(consent.headline(proposal), paint.WARNING)]
    middle = [
        row
        for line in consent.details(proposal)
        for row in paint.styled(line, paint.WARNING).wrap(console, max(10, console.width))
    ]
    middle += DiffView(proposal.claim.diff).rows(console.width) if proposal.claim.diff else []
    below = [paint.styled(consent.reason(proposal), paint.WARNING)] if proposal.why else []
    short = fold_end(middle, rows_that_fit(console), KEY)
    whole = [] if len(short) == len(middle) else [*above, *middle, *below]
    return Question([*above, *short, *below], whole)
