"""Functionary 3.2: a recipient a line, then its text: JSON for a tool, words for `all`.

    >>>all
    I'll play it.
    >>>play
    {"track": "Blue"}

The first `>>>` stands in the prompt.
"""

from andy_cli.compiler.bodies import forms, headed
from andy_cli.compiler.bodies.sections import Begun, Headed, Nothing
from andy_cli.compiler.dialect import Body, Parsed, Tools
from andy_cli.compiler.expression import Expression

HEAD = Expression(r"\s*(?:>>>)?\s*(?P<name>[\w.\-/]{1,200})\s*")
WORDS = (">>>all\n", "all\n")
READ = headed.parser((), (), HEAD)


def body(opener: str, tools: Tools) -> Body:
    if opener in WORDS:
        return Nothing()
    return Begun(opener) if opener[-1] == "{" else Headed(opener, heads=(HEAD,))


def parse(text: str, tools: Tools) -> Parsed | None:
    if text in WORDS:
        return Parsed()
    parsed = READ(text, tools)
    return None if parsed is None or parsed.fault else parsed


DIALECT = forms.taught(
    name="functionary_v32",
    openers=(),
    body=body,
    parse=parse,
    write=lambda request: f">>>{request.name}\n{forms.dumped(request)}",
)._replace(
    line_openers=WORDS[:1],
    reply_openers=WORDS[1:],
    named_openers=(">>>NAME\n", "NAME\n{"),
    models=("functionary-*v3.2*",),
)
