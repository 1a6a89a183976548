"""vLLM: native tools need `--enable-auto-tool-choice` and a parser."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="vllm",
    base_url="http://127.0.0.1:8000/v1",
    key_names=("VLLM_API_KEY",),
    rank=50,
    local_port=8000,
    longer_window="start vLLM with a longer window (`--max-model-len`)",
)
