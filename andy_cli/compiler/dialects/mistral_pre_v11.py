"""Mistral before tokenizer v11: a JSON array behind [TOOL_CALLS].

[TOOL_CALLS] [{"name": "play", "arguments": {"track": "Blue"}, "id": "aB3dE6gH9"}]
"""

import json

from andy_cli.compiler import ids
from andy_cli.compiler.bodies import forms
from andy_cli.compiler.bodies.ends import NamedJson
from andy_cli.compiler.dialect import Body, Tools
from andy_cli.messages import ToolRequest

OPEN, RESULTS = "[TOOL_CALLS]", "[TOOL_RESULTS]"


def write(request: ToolRequest) -> str:
    call = {"name": request.name, "arguments": dict(request.arguments or {})}
    known = {**call, "id": request.id} if request.id else call
    return f"{OPEN} {json.dumps([known], ensure_ascii=False)}"


def body(opener: str, tools: Tools) -> Body:
    return NamedJson()


DIALECT = forms.taught(
    name="mistral_pre_v11",
    openers=(OPEN,),
    body=body,
    parse=forms.json_parse((OPEN,), ("[/TOOL_CALLS]",)),
    write=write,
    closers=("[/TOOL_CALLS]",),
    result=(RESULTS, "[/TOOL_RESULTS]"),
)._replace(
    id_form=ids.nine_letters,
    models=(
        "mistral",
        "mistral-nemo*",
        "mixtral-8x22b*",
        "mistral-small-2409*",
        "mistral-large-2407*",
        "ministral-8b-*2410*",
        "!mistral-7b*-v0.1*",
        "!mistral-7b*-v0.2*",
    ),
)
