"""Captures, read back and replayed."""
