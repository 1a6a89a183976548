"""LM Studio, which names its models itself."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="lmstudio",
    base_url="http://127.0.0.1:1234/v1",
    key_names=("LM_API_TOKEN",),
    rank=30,
    local_port=1234,
    longer_window="load the model with a longer context length in LM Studio",
)
