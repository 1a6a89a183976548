"""Notations of Python calls, alone or in programs."""
