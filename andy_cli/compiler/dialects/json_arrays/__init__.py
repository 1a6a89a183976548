"""Notations of one JSON array, an object for each call."""
