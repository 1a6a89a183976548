"""Mistral from tokenizer v11 on: the name, perhaps an id, and the arguments, for each call.

    [TOOL_CALLS]play[ARGS]{"track": "Blue"}[TOOL_CALLS]stop[ARGS]{}
    [TOOL_CALLS]play[CALL_ID]aB3dE6gH9[ARGS]{"track": "Blue"}

Where a server strips special tokens, `play{"track": "Blue"}` is left.
"""

from andy_cli.compiler import ids
from andy_cli.compiler.bodies import builders, calls
from andy_cli.compiler.bodies.end_detectors import HeldEnd, find_named_json
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression

OPEN, RESULTS = "[TOOL_CALLS]", "[TOOL_RESULTS]"
HEAD = Expression(
    r"\s*(?:\[TOOL_CALLS\])?\s*(?P<name>[\w.\-:/]+)\s*(?:\[CALL_ID\]\s*(?P<id>\w*))?\s*(?:\[ARGS\])?\s*(?={)"
)


def parse(text: str, tools: Tools) -> Parsed | None:
    head = HEAD.match(text)
    if not head:
        return None
    name = calls.clean_tool_name(head["name"], tools)
    if OPEN not in text and "[ARGS]" not in text and name not in tools:
        return None
    body = text[head.end() :].removesuffix("[/TOOL_CALLS]")
    return calls.read_named_call(name, body, tools, head["id"] or "")


DIALECT = builders.make_taught_dialect(
    dialect_name="mistral_v11",
    start_markers=(OPEN,),
    make_end_detector=lambda opener, tools: HeldEnd(find_named_json),
    parse_frame=parse,
    write_call=lambda request: f"{OPEN}{request.name}[ARGS]{builders.dump_arguments(request)}",
    end_markers=("[/TOOL_CALLS]",),
    result_markers=(RESULTS, "[/TOOL_RESULTS]"),
)._replace(
    id_form=ids.nine_letters,
    models=tuple(
        (
            "mistral-small-3* mistral-small-4* mistral-small-2506* devstral* magistral* "
            "ministral-3* mistral-medium* mistral-large-3* mistral-large-2512* mistral-*latest"
        ).split()
    ),
)
