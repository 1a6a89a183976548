"""Options, help and completion of `andy` in a shell."""
