"""Commands that leave a conversation, keep it or go on with another."""
