"""LongCat: Hermes with a tag of its own.

<longcat_tool_call>{"name": "play", "arguments": {"track": "Blue"}}</longcat_tool_call>
"""

from andy_cli.compiler.bodies import forms

DIALECT = forms.marked_json(
    name="longcat",
    openers=("<longcat_tool_call>",),
    closers=("</longcat_tool_call>",),
    write=lambda request: f"<longcat_tool_call>{forms.as_json(request)}</longcat_tool_call>",
)._replace(models=("longcat*",))
