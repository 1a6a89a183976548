"""Do once, after the painted prompt, what else the first turn would do for the first time."""

from andy_cli.agent.grounding.audit import Evidence, find_unsupported_claims
from andy_cli.frontends.terminal import markdown

ANSWER = "# Title\n\nI have **started** `1` song in 2 folders, see [here](http://example.org).\n"


def warm_up() -> None:
    """Compile the patterns of the audit and of the markdown reader; nothing is kept or shown."""
    find_unsupported_claims(ANSWER, Evidence(("1 song",), "Start a song.", (), ()), figures=True)
    markdown.count_finished(ANSWER)
    markdown.MarkdownPage(ANSWER)
