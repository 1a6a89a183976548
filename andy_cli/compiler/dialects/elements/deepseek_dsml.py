"""DeepSeek 3.2, 4 and 4.1: elements that say themselves whether a value is text or JSON.

    <|DSML|function_calls>
    <|DSML|invoke name="seek">
    <|DSML|parameter name="seconds" string="false">90</|DSML|parameter>
    </|DSML|invoke>
    </|DSML|function_calls>

The bars are full-width, ASCII in quantized models. V4 says `tool_calls`, V4.1 `calls` with a blank
after the second bar of every tag.
"""

from andy_cli.compiler.bodies.markup import dsml

DIALECT = dsml.make_dsml_dialect("deepseek_dsml", "DSML", "function_calls")._replace(
    models=("deepseek-v3.2*", "deepseek-v4*")
)
