"""MiniMax M3: a marker before every tag, and parameters as elements named after their keys.

    ]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="play">
    ]<]minimax[>[<track>Blue]<]minimax[>[</track>
    ]<]minimax[>[</invoke>]<]minimax[>[</tool_call>

Arrays and objects are elements in elements; the items of an array are <item>.
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup import nested
from andy_cli.compiler.bodies.markup.nested import MARK
from andy_cli.compiler.bodies.markup.sections import make_marked_end

BARE = f"{MARK}<invoke name="
OPENERS = (f"{MARK}<tool_call>", BARE)
CLOSERS = (f"{MARK}</invoke>", f"{MARK}</tool_call>")


DIALECT = builders.make_taught_dialect(
    dialect_name="minimax_m3",
    start_markers=OPENERS,
    make_end_detector=lambda opener, tools: make_marked_end(
        '"' if opener == BARE else BARE, *CLOSERS
    ),
    parse_frame=nested.parse_nested,
    write_call=nested.write_nested,
    end_markers=CLOSERS,
)._replace(models=("minimax-m3*",))
