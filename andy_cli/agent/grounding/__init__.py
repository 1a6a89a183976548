"""Does the answer say only what results, the user or the history say? The door is audit.py."""
