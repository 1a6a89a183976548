"""llama-server of llama.cpp: one model, and `--jinja` if it is to take tools."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="llamacpp",
    base_url="http://127.0.0.1:8080/v1",
    key_names=("LLAMA_API_KEY",),
    rank=40,
    local_port=8080,
    longer_window="start llama-server with a longer window (`-c`)",
)
