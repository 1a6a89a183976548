"""DeepSeek 3.2, 4 and 4.1: elements that say themselves whether a value is text or JSON.

    <|DSML|function_calls>
    <|DSML|invoke name="seek">
    <|DSML|parameter name="seconds" string="false">90</|DSML|parameter>
    </|DSML|invoke>
    </|DSML|function_calls>

The bars are full-width, ASCII in quantized models. V4 says `tool_calls`, V4.1 `calls` with a blank
after the second bar of every tag.
"""

from itertools import product

from andy_cli.compiler.bodies.builders import write_raw
from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.dialect import Dialect
from andy_cli.messages import ToolRequest

BAR = "\uff5c"
EXACT = INVOKE._replace(framing=False)


def make_dsml_dialect(name: str, word: str) -> Dialect:
    """`word` is what stands between the bars of every tag."""

    def write(request: ToolRequest) -> str:
        lines = [f"<{tag_prefix}{SECTIONS[0]}>", f'<{tag_prefix}invoke name="{request.name}">']
        for key, value in (request.arguments or {}).items():
            is_text = "true" if isinstance(value, str) else "false"
            opening = f'<{tag_prefix}parameter name="{key}" string="{is_text}">'
            lines.append(f"{opening}{write_raw(value)}</{tag_prefix}parameter>")
        lines += [f"</{tag_prefix}invoke>", f"</{tag_prefix}{SECTIONS[0]}>"]
        return "\n".join(lines)

    tag_prefix = f"{BAR}{word}{BAR}"
    start_markers, end_markers, bare_start_markers = [], [], []
    for bar_character, separator in product((BAR, "|"), ("", " ")):
        prefix = f"{bar_character}{word}{bar_character}{separator}"
        start_markers += [f"<{prefix}{section}>" for section in SECTIONS]
        end_markers += [f"</{prefix}{closed}>" for closed in (*SECTIONS, "invoke")]
        bare_start_markers.append(f"<{prefix}invoke name=")
    return tagged.make_tagged_dialect(
        name=name,
        start_markers=tuple(start_markers),
        end_markers=tuple(end_markers),
        tags=EXACT,
        write=write,
        bare_start_markers=tuple(bare_start_markers),
    )


SECTIONS = ("function_calls", "tool_calls", "calls")
"""The element around the calls, as one model after the other names it; the first is written."""


DIALECT = make_dsml_dialect("deepseek_dsml", "DSML")._replace(
    models=("deepseek-v3.2*", "deepseek-v4*")
)
