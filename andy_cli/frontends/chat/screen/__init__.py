"""A turn, and the questions in it, as they are drawn on a terminal."""
