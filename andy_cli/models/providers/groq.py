"""Groq."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="groq",
    base_url="https://api.groq.com/openai/v1",
    key_names=("GROQ_API_KEY",),
    key_begins=("gsk_",),
    default_model="openai/gpt-oss-20b",
    rank=70,
)
