"""Notations of a name, then its arguments as JSON; see `bodies/builders.py`."""
