"""Qwen 1 and Qwen-Agent: name and arguments behind words between flowers.

    \u273fFUNCTION\u273f: play
    \u273fARGS\u273f: {"track": "Blue"}
    \u273fRESULT\u273f: ...

Models go on to invent the result: from its word on nothing is read or shown.
"""

from andy_cli.compiler.bodies import forms, headed
from andy_cli.compiler.bodies.sections import Headed
from andy_cli.compiler.dialect import Body, Tools
from andy_cli.compiler.expression import Expression

CALL, ARGUMENTS, RESULT, RETURN = (
    f"\u273f{word}\u273f" for word in ("FUNCTION", "ARGS", "RESULT", "RETURN")
)
HEAD = Expression(rf"\s*{CALL}\s*:?\s*(?P<name>[\w.\-/]{{1,200}})\s*(?:{ARGUMENTS})\s*:?\s*")
READ = headed.parser((CALL,), (), HEAD)


def body(opener: str, tools: Tools) -> Body:
    return Headed(opener, heads=(HEAD,))


DIALECT = forms.taught(
    name="qwen_fn",
    openers=(CALL,),
    body=body,
    parse=READ,
    write=lambda request: f"{CALL}: {request.name}\n{ARGUMENTS}: {forms.dumped(request)}",
    result=(f"{RESULT}:", ""),
)._replace(
    stop=(RESULT, RETURN),
    models=("qwen-1.5*", "qwen-7b*", "qwen-14b*", "qwen-72b*"),
)
