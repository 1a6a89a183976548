"""`andy models probe`: trials of a model, and what is kept of them."""
