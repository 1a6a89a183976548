"""Conversations on disk: one JSON object a line, found without an index."""
