"""Documents: their text, whatever form they have, and an index of the folders the user chose."""
