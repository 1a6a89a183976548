"""The HTTP of model servers: requests, streamed replies, and refusals in our words."""
