"""Mistral."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="mistral",
    base_url="https://api.mistral.ai/v1",
    key_names=("MISTRAL_API_KEY",),
    default_model="mistral-small-latest",
    rank=100,
)
