"""Phi-4 mini and FireFunction: a JSON array right after a word.

functools[{"name": "play", "arguments": {"track": "Blue"}}]
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import make_begun_end
from andy_cli.compiler.dialect import Parsed

WORD = "functools"

READ = builders.make_json_parser((WORD,))

DIALECT = builders.make_taught_dialect(
    dialect_name="phi4_mini",
    start_markers=(f"{WORD}[", f"{WORD} [", f"{WORD}\n["),
    make_end_detector=lambda opener, tools: make_begun_end(opener, "{]"),
    parse_frame=lambda text, tools: Parsed() if text.endswith("[]") else READ(text, tools),
    write_call=lambda request: f"{WORD}[{builders.write_json_call(request)}]",
)._replace(models=("phi-4-mini*", "firefunction-v2*"))
