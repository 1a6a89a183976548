"""OpenRouter."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="openrouter",
    base_url="https://openrouter.ai/api/v1",
    key_names=("OPENROUTER_API_KEY",),
    key_begins=("sk-or-",),
    default_model="openai/gpt-5-mini",
    rank=60,
)
