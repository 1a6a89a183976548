"""Protocols: whole replies of a prescribed form, such as ReAct and the dialogue with Andybot."""
