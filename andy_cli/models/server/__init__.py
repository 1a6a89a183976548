"""Facts about a model server: its kind, limits and chat template, and whether tools pass it."""
