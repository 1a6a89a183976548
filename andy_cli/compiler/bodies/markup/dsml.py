"""DeepSeek's markup: <invoke> elements whose tags hold a word between bars, with typed values."""

from itertools import product

from andy_cli.compiler.bodies.builders import write_raw
from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.dialect import Dialect
from andy_cli.messages import ToolRequest

BAR = "\uff5c"
EXACT = INVOKE._replace(framing=False)


def make_dsml_dialect(name: str, word: str, section: str) -> Dialect:
    """`section` is what newer models call the element around the calls."""

    def write(request: ToolRequest) -> str:
        values = [
            f'<{mark}parameter name="{key}" string="{string_attribute(value)}">'
            f"{write_raw(value)}</{mark}parameter>\n"
            for key, value in (request.arguments or {}).items()
        ]
        inner = f'<{mark}invoke name="{request.name}">\n{"".join(values)}</{mark}invoke>'
        return f"<{mark}{section}>\n{inner}\n</{mark}{section}>"

    mark = f"{BAR}{word}{BAR}"
    marks = [f"{bar}{word}{bar}{blank}" for bar, blank in product((BAR, "|"), ("", " "))]
    sections = [mark + kind for mark in marks for kind in SECTIONS]
    return tagged.make_tagged_dialect(
        name=name,
        start_markers=tuple(f"<{section_name}>" for section_name in sections),
        end_markers=tuple(
            f"</{name}>" for name in [*sections, *(f"{mark}invoke" for mark in marks)]
        ),
        tags=EXACT,
        write=write,
        bare=tuple(f"<{mark}invoke name=" for mark in marks),
    )


SECTIONS = ("function_calls", "tool_calls", "calls")


def string_attribute(value: object) -> str:
    return "true" if isinstance(value, str) else "false"
