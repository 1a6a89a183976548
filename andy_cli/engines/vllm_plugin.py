"""The entry point that vLLM calls in each of its processes: names two parsers, loads neither."""


def register() -> None:
    """Register `--tool-call-parser andy` and `--reasoning-parser andy`."""
    # vLLM itself calls this, so both are loaded or about to be; nobody else has them.
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    module = "andy_cli.engines.vllm_parsers"
    ToolParserManager.register_lazy_module("andy", module, "AndyToolParser")
    ReasoningParserManager.register_lazy_module("andy", module, "AndyReasoningParser")
