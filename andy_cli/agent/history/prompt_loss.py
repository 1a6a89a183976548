"""Check by a server's own count of tokens whether it read all that it was sent."""

WRONG_BY = 0.5
"""If a server counts less than this part of our estimate, no estimate is that wrong."""
LEAST = 1000
WINDOW = 500
"""No window is smaller: a server that reports less counts something else."""


def warn_of_lost_prompt(estimated: int, reported: int) -> str:
    """Say that the server read far less than was sent; nothing if it did not, or does not tell.

    `estimated` is ours for the whole request, `reported` the server's `usage.prompt_tokens`. Not
    for short prompts, where the estimate may be off by more than anything was dropped.
    """
    if not WINDOW < reported < estimated * WRONG_BY or estimated < LEAST:
        return ""
    return (
        f"The server read about {reported:,} tokens of some {estimated:,} that were sent: it may "
        "have dropped the beginning. Give it a larger context window, or set a smaller one here."
    )
