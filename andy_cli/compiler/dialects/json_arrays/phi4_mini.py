"""Phi-4 mini and FireFunction: a JSON array right behind a word.

functools[{"name": "play", "arguments": {"track": "Blue"}}]
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import BegunEnd
from andy_cli.compiler.dialect import Parsed

WORD = "functools"

READ = builders.make_json_parser((WORD,))

DIALECT = builders.make_taught_dialect(
    name="phi4_mini",
    start_markers=(f"{WORD}[", f"{WORD} [", f"{WORD}\n["),
    body=lambda opener, tools: BegunEnd(opener, "{]"),
    parse=lambda text, tools: Parsed() if text.endswith("[]") else READ(text, tools),
    write=lambda request: f"{WORD}[{builders.write_json_call(request)}]",
)._replace(models=("phi-4-mini*", "firefunction-v2*"))
