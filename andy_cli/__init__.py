"""andy: a terminal agent that makes any chat model use tools reliably."""

__version__ = "0.2.0"
