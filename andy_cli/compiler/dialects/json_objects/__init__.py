"""Notations of one JSON object for each call, between markers or bare."""
