"""Whoever runs the tests without what they need is told how to get it. Imports nothing."""

NEEDED = "The tests need more than andy itself: run `pip install -e '.[all,dev]'` first."
