"""Models: clients of their servers, which one is used, and what was learned of each."""
