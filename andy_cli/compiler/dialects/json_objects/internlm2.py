"""InternLM: one object with `parameters` after two markers, often with a blank between.

<|action_start|> <|plugin|>
{"name": "play", "parameters": {"track": "Blue"}}<|action_end|>
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="internlm2",
    start_markers=(
        "<|action_start|> <|plugin|>",
        "<|action_start|><|plugin|>",
        "<|action_start|>\n<|plugin|>",
    ),
    end_markers=("<|action_end|>",),
    write_call=lambda request: (
        "<|action_start|> <|plugin|>\n"
        f"{builders.write_json_call(request, arguments_key='parameters')}<|action_end|>"
    ),
)._replace(models=("internlm2*", "internlm3*", "intern-s1*"))
