"""Models in this process: the small one, whose steps are chosen by meaning, and GGUF files."""
