"""The messages of a conversation, and how they are shortened to fit a window."""
