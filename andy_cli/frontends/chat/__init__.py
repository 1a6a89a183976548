"""`andy chat`: lines that are typed, slash commands, and the state between turns."""
