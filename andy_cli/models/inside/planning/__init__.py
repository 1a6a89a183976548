"""Choose the commands of a request; planner.py writes the reply, as told in docs/small-model.md."""
