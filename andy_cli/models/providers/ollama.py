"""Ollama. Without a model of your choice it runs the first it has."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="ollama",
    base_url="http://127.0.0.1:11434/v1",
    default_model="qwen3:4b",
    rank=20,
    local_port=11434,
    longer_window="choose a model with a longer context, or raise limits.context where it is set",
)
