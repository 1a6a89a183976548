"""LongCat: Hermes with a tag of its own.

<longcat_tool_call>{"name": "play", "arguments": {"track": "Blue"}}</longcat_tool_call>
"""

from andy_cli.compiler.bodies import builders

DIALECT = builders.make_json_dialect(
    dialect_name="longcat",
    start_markers=("<longcat_tool_call>",),
    end_markers=("</longcat_tool_call>",),
    write_call=lambda request: (
        f"<longcat_tool_call>{builders.write_json_call(request)}</longcat_tool_call>"
    ),
)._replace(models=("longcat*",))
