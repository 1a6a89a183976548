"""Hermes and Qwen: a JSON object inside a <tool_call> element.

    I'll look.
    <tool_call>
    {"name": "play", "arguments": {"track": "Blue", "loop": false}}
    </tool_call>

Models drop the last closing tag when they reach their token limit, so it is optional.
"""

from andy_cli.compiler.bodies import builders
from andy_cli.compiler.bodies.markup.sections import make_section_end

OPEN, CLOSE = "<tool_call>", "</tool_call>"

DIALECT = builders.make_taught_dialect(
    dialect_name="hermes",
    start_markers=(OPEN,),
    make_end_detector=lambda opener, tools: make_section_end((CLOSE,), tools),
    parse_frame=builders.make_json_parser((OPEN,), (CLOSE,)),
    write_call=lambda request: f"{OPEN}\n{builders.write_json_call(request)}\n{CLOSE}",
    end_markers=(CLOSE, "}"),  # one bracket too many is common
)._replace(
    models=tuple(
        (
            "hermes-2* hermes-3* hermes-4* hermes-*llama-3* deephermes* deephermes-*llama-3* "
            "llama-3-groq* qwen2.5* qwq* qwen3 qwen3-vl* qwen3-next* smollm3* bielik* granite-4.0* "
            "granite-4.1* granite-4 reka-edge* ernie-4.5* trinity* deepseek-r1-distill* "
            "!qwen3-coder* !granite-4.1-*thinking*"
        ).split()
    )
)
