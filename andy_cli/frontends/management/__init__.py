"""The commands of `andy` that show or change what it is set up with."""
