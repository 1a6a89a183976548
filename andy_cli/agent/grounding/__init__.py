"""Check an answer against results, the user's words and the history; audit.py is its entry."""
