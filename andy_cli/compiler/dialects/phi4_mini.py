"""Phi-4 mini and FireFunction: a JSON array right behind a word.

functools[{"name": "play", "arguments": {"track": "Blue"}}]
"""

from andy_cli.compiler.bodies import forms
from andy_cli.compiler.bodies.sections import Begun
from andy_cli.compiler.dialect import Parsed

WORD = "functools"

READ = forms.json_parse((WORD,))

DIALECT = forms.taught(
    name="phi4_mini",
    openers=(f"{WORD}[", f"{WORD} [", f"{WORD}\n["),
    body=lambda opener, tools: Begun(opener, "{]"),
    parse=lambda text, tools: Parsed() if text.endswith("[]") else READ(text, tools),
    write=lambda request: f"{WORD}[{forms.as_json(request)}]",
)._replace(models=("phi-4-mini*", "firefunction-v2*"))
