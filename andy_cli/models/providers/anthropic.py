"""Anthropic's Claude, through its OpenAI-compatible endpoint."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="anthropic",
    base_url="https://api.anthropic.com/v1",
    key_names=("ANTHROPIC_API_KEY",),
    key_begins=("sk-ant-",),
    default_model="claude-haiku-4-5",
    rank=120,
)
