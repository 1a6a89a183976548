"""`andy debug`: the pure parts of andy, each fed from a file and printed as JSON."""
