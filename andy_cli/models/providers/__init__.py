"""Model providers: one file with a `PROVIDER` each, found by themselves."""
