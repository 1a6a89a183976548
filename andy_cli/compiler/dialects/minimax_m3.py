"""MiniMax M3: a marker before every tag, and parameters as elements named after their keys.

    ]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="play">
    ]<]minimax[>[<track>Blue]<]minimax[>[</track>
    ]<]minimax[>[</invoke>]<]minimax[>[</tool_call>

Arrays and objects are elements in elements; the items of an array are <item>.
"""

from andy_cli.compiler.bodies import forms, nested
from andy_cli.compiler.bodies.nested import MARK
from andy_cli.compiler.bodies.sections import Marked
from andy_cli.compiler.dialect import Body, Tools

BARE = f"{MARK}<invoke name="
OPENERS = (f"{MARK}<tool_call>", BARE)
CLOSERS = (f"{MARK}</invoke>", f"{MARK}</tool_call>")


def body(opener: str, tools: Tools) -> Body:
    return Marked('"' if opener == BARE else BARE, *CLOSERS)


DIALECT = forms.taught(
    name="minimax_m3",
    openers=OPENERS,
    body=body,
    parse=nested.parse,
    write=nested.write,
    closers=CLOSERS,
)._replace(models=("minimax-m3*",))
