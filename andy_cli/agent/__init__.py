"""One conversation: turns, tool calls, and what an answer rests on. Begin at turn.py."""
