"""Commands that play music without a model."""
