"""Rules for what a call may touch, what is asked about first, and what must not be shown."""
