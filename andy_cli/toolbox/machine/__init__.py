"""This machine: its clock, its browser, speech, and commands that the user made."""
