"""The outcomes of a turn: one table for every front end, exit codes and the documents."""

from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.events import Subtype


class TurnOutcome(NamedTuple):
    """One way to end a turn.

    `sentence` is what the user is told; empty where the answer says it, or an error does.
    """

    exit_code: int
    sentence: str = ""
    hint: str = ""

    @property
    def is_error(self) -> bool:
        return self.exit_code != 0


TURN_OUTCOMES: Mapping[Subtype, TurnOutcome] = {
    "success": TurnOutcome(0),
    "error_empty": TurnOutcome(1, "The model said nothing.", "Say it again, or use another model."),
    "error_cut_off": TurnOutcome(1, "The answer is cut off.", "Say `go on`, or set max_tokens."),
    "error_filtered": TurnOutcome(
        1, "The model's server held the answer back.", "Say it otherwise."
    ),
    "error_unreadable": TurnOutcome(
        1, "What the model asked for cannot be read.", "Say it again, or try `--dialect auto`."
    ),
    "error_unclear": TurnOutcome(1),
    "error_unsupported": TurnOutcome(1),
    "error_not_done": TurnOutcome(1),
    "error_permission": TurnOutcome(3),
    "error_limit": TurnOutcome(4),
    "error_provider": TurnOutcome(1),
    "error_usage": TurnOutcome(2),
    "error_cancelled": TurnOutcome(130),
}
"""`error_provider` has the code of its error: 75 for what may work later, 77 for a wrong key.
`error_unsupported` and `error_not_done` are those of `--strict`."""
