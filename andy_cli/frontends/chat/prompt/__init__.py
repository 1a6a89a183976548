"""The line that is typed, and the end of the terminal where it stands."""
