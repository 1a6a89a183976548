"""The values of a call, found in what was said; filling.py is the entry."""
