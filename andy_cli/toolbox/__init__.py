"""The parts of the tools in `tools/`, and the registry that runs them."""
