"""Text, colour and streams of a terminal."""
