"""OLMo 3: one Python call a line, with JSON's constants or Python's.

    <function_calls>
    seek(seconds=90)
    play(track="Blue", loop=true)
    </function_calls>

Other families put elements into the same tag: those are theirs.
"""

from andy_cli.compiler.bodies import builders, python_calls
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.dialects.python import pythonic
from andy_cli.messages import ToolRequest

OPEN, CLOSE = "<function_calls>", "</function_calls>"


def read(text: str, tools: Tools) -> list[ToolRequest] | None:
    return python_calls.read_python_calls(text, tools, only_known=False)


DIALECT = builders.make_section_dialect(
    dialect_name="olmo3",
    start_markers=(OPEN,),
    end_markers=(CLOSE,),
    write_call=lambda request: f"{OPEN}\n{pythonic.write(request)[1:-1]}\n{CLOSE}",
    read_calls=read,
)._replace(models=("olmo-3*",))
