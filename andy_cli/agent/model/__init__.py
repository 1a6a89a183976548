"""The model of a conversation: how it is spoken to, and its replies while they arrive."""
