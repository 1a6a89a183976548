"""Command lines: run in a sandbox or without, their environment and their output."""
