"""Whether a server read all that it was sent, by its own count of the tokens."""

WRONG_BY = 0.5
"""If a server counts less than this part of our estimate, no estimate is that wrong."""
LEAST = 1000
WINDOW = 500
"""No window is smaller: a server that reports less counts something else."""


def warn_of_lost_prompt(estimated: int, reported: int) -> str:
    """A sentence if the server read far less than was sent; empty if not, or if it tells nothing.

    `estimated` is ours for the whole request, `reported` the server's `usage.prompt_tokens`. Not
    for short prompts, where the estimate may be off by more than anything was dropped.
    """
    if not WINDOW < reported < estimated * WRONG_BY or estimated < LEAST:
        return ""
    return (
        f"The server read about {reported:,} tokens of some {estimated:,} that were sent: it may "
        "have dropped the beginning. Give it a larger context window, or set a smaller one here."
    )
