"""Slash commands: one file with a `COMMAND` each, found by themselves."""
