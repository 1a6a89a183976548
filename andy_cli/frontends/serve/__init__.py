"""`andy serve`: real tool calls for any client, from any model."""
