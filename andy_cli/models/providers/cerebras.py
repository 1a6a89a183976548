"""Cerebras."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="cerebras",
    base_url="https://api.cerebras.ai/v1",
    key_names=("CEREBRAS_API_KEY",),
    key_begins=("csk-",),
    default_model="gpt-oss-120b",
    rank=80,
    plain_schemas=True,
)
