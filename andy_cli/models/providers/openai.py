"""OpenAI, and whatever else speaks its chat API at an address of your own."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="openai",
    base_url="https://api.openai.com/v1",
    key_names=("OPENAI_API_KEY",),
    key_begins=("sk-proj-", "sk-svcacct-"),
    default_model="gpt-5-mini",
    rank=10,
)
