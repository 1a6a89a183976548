"""Phi-4 mini and FireFunction: a JSON array right behind a word.

functools[{"name": "play", "arguments": {"track": "Blue"}}]
"""

from andy_cli.compiler.bodies import forms
from andy_cli.compiler.bodies.sections import Begun

WORD = "functools"

DIALECT = forms.taught(
    name="phi4_mini",
    openers=(f"{WORD}[", f"{WORD} [", f"{WORD}\n["),
    body=lambda opener, tools: Begun(opener, "{"),
    parse=forms.json_parse((WORD,)),
    write=lambda request: f"{WORD}[{forms.as_json(request)}]",
)._replace(models=("phi-4-mini*", "firefunction-v2*"))
