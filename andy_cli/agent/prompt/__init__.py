"""The request to a model: the system prompt, its tools, and as much history as fits."""
