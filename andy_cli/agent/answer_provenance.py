"""The provenance of the last answer, for whoever asks why."""

from typing import NamedTuple

from andy_cli.agent.grounding.evidence import Evidence


class AnswerProvenance(NamedTuple):
    answer: str
    evidence: Evidence
    changes: tuple[str, ...] = ()
    """The corrections of requests: `file -> path`."""
    unsupported: tuple[str, ...] = ()
    attached: str = ""
    """The text that came with the user's message."""
