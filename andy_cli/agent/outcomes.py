"""How a turn can end: one table for every front end, for the exit code and for the documents."""

from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.events import Subtype


class Outcome(NamedTuple):
    """`sentence` is what the user is told; empty where the answer says it, or an error does."""

    exit_code: int
    sentence: str = ""
    hint: str = ""

    @property
    def is_error(self) -> bool:
        return self.exit_code != 0


OUTCOMES: Mapping[Subtype, Outcome] = {
    "success": Outcome(0),
    "error_empty": Outcome(1, "The model said nothing.", "Say it again, or use another model."),
    "error_cut_off": Outcome(1, "The answer is cut off.", "Say `go on`, or set max_tokens."),
    "error_filtered": Outcome(1, "The model's server held the answer back.", "Say it otherwise."),
    "error_unreadable": Outcome(
        1, "What the model asked for cannot be read.", "Say it again, or try `--dialect auto`."
    ),
    "error_unclear": Outcome(1),
    "error_unsupported": Outcome(1),
    "error_not_done": Outcome(1),
    "error_permission": Outcome(3),
    "error_limit": Outcome(4),
    "error_provider": Outcome(1),
    "error_usage": Outcome(2),
    "error_cancelled": Outcome(130),
}
"""`error_provider` has the code of its error: 75 for what may work later, 77 for a wrong key.
`error_unsupported` and `error_not_done` are those of `--strict`."""
