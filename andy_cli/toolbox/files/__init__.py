"""Files: read, searched, written, changed, moved, and taken back."""
