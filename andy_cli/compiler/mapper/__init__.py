"""Fit the arguments of a call to the schema of its tool; mapper.py is the entry."""
