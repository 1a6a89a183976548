"""Gemma 4: FunctionGemma's form with other markers, see there.

<|tool_call>call:play{track:<|"|>Blue "deluxe"<|"|>,loop:false}<tool_call|>
"""

from andy_cli.compiler.dialects.key_values.functiongemma import make_gemma_dialect

DIALECT = make_gemma_dialect("gemma4", "<|tool_call>", "<tool_call|>", '<|"|>')._replace(
    models=("gemma-4*",)
)
