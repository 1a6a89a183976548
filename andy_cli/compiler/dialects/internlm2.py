"""InternLM: one object with `parameters` behind two markers, often with a blank between.

<|action_start|> <|plugin|>
{"name": "play", "parameters": {"track": "Blue"}}<|action_end|>
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="internlm2",
    openers=(
        "<|action_start|> <|plugin|>",
        "<|action_start|><|plugin|>",
        "<|action_start|>\n<|plugin|>",
    ),
    closers=("<|action_end|>",),
    write=lambda request: (
        "<|action_start|> <|plugin|>\n"
        f"{forms.as_json(request, arguments='parameters')}<|action_end|>"
    ),
)._replace(models=("internlm2*", "internlm3*", "intern-s1*"))
