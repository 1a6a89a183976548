"""Qwen 1 and Qwen-Agent: name and arguments after words between flowers.

    \u273fFUNCTION\u273f: play
    \u273fARGS\u273f: {"track": "Blue"}
    \u273fRESULT\u273f: ...

Models go on to invent the result: from its word on nothing is read or shown.
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import make_headed_end
from andy_cli.compiler.expression import Expression

CALL, ARGUMENTS, RESULT, RETURN = (
    f"\u273f{word}\u273f" for word in ("FUNCTION", "ARGS", "RESULT", "RETURN")
)
HEAD = Expression(rf"\s*{CALL}\s*:?\s*(?P<name>[\w.\-/]{{1,200}})\s*(?:{ARGUMENTS})\s*:?\s*")
READ = builders.make_headed_parser((), HEAD)


DIALECT = builders.make_taught_dialect(
    dialect_name="qwen_fn",
    start_markers=(CALL,),
    make_end_detector=lambda opener, tools: make_headed_end(opener, heads=(HEAD,)),
    parse_frame=READ,
    write_call=lambda request: (
        f"{CALL}: {request.name}\n{ARGUMENTS}: {builders.dump_arguments(request)}"
    ),
    result_markers=(f"{RESULT}:", ""),
)._replace(stop=(RESULT, RETURN), models=("qwen-1.5*", "qwen-7b*", "qwen-14b*", "qwen-72b*"))
