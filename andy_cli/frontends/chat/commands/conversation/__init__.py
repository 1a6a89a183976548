"""Commands about the conversation that is open: its answers, its context, its cost."""
