"""Mistral before tokenizer v11: a JSON array after [TOOL_CALLS].

[TOOL_CALLS] [{"name": "play", "arguments": {"track": "Blue"}, "id": "aB3dE6gH9"}]
"""

import json

from andy_cli.compiler import ids
from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.end_detectors import HeldEnd, find_named_json
from andy_cli.messages import ToolRequest

OPEN, RESULTS = "[TOOL_CALLS]", "[TOOL_RESULTS]"


def write(request: ToolRequest) -> str:
    call = {"name": request.name, "arguments": dict(request.arguments or {})}
    call_with_id = {**call, "id": request.id} if request.id else call
    return f"{OPEN} {json.dumps([call_with_id], ensure_ascii=False)}"


DIALECT = builders.make_taught_dialect(
    dialect_name="mistral_pre_v11",
    start_markers=(OPEN,),
    make_end_detector=lambda opener, tools: HeldEnd(find_named_json),
    parse_frame=builders.make_json_parser((OPEN,), ("[/TOOL_CALLS]",)),
    write_call=write,
    end_markers=("[/TOOL_CALLS]",),
    result_markers=(RESULTS, "[/TOOL_RESULTS]"),
)._replace(
    id_form=ids.nine_letters,
    models=tuple(
        (
            "mistral mistral-nemo* mixtral-8x22b* mistral-small-2409* mistral-large-2407* "
            "ministral-8b-*2410* !mistral-7b*-v0.1* !mistral-7b*-v0.2*"
        ).split()
    ),
)
