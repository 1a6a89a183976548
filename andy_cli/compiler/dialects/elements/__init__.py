"""Notations of elements: a tag for the call and one for each parameter."""
