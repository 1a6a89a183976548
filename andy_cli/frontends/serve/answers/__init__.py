"""The making of an answer: passed on, read along, or led as a dialogue."""
