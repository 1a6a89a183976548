"""DeepSeek."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="deepseek",
    base_url="https://api.deepseek.com/v1",
    key_names=("DEEPSEEK_API_KEY",),
    default_model="deepseek-chat",
    rank=110,
)
