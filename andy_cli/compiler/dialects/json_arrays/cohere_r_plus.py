"""Cohere Command R and R+: a fenced array after `Action:`, with `tool_name` and `parameters`.

    Action: ```json
    [
        {"tool_name": "play", "parameters": {"track": "Blue"}}
    ]
    ```

The tool `directly-answer` means that none is called. Models of LangChain write one
object there, which may be the answer: `{"action": "Final Answer", "action_input": "..."}`.
"""

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.bodies.end_detectors import LeadEnd, begins_with
from andy_cli.compiler.bodies.markup.sections import JsonSectionEnd
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import Parsed, Tools

OPENERS = ("Action: ```json", "Action:```json", "Action:\n```json")
NO_TOOL_NAMES = ("directly-answer", "directly_answer")
READ = builders.make_json_parser(OPENERS, ("```",))


def parse(text: str, tools: Tools) -> Parsed | None:
    parsed = READ(text, tools)
    if parsed is None or not parsed.is_request:
        value = json_text.read_value(strip_fence(text.removeprefix("Action:")))
        answer = calls.read_final_answer(value, tools)
        return parsed if answer is None else Parsed(text=answer)
    requests = tuple(request for request in parsed.requests if request.name not in NO_TOOL_NAMES)
    return parsed._replace(requests=requests, settled=True)


DIALECT = builders.make_taught_dialect(
    dialect_name="cohere_r_plus",
    start_markers=(),
    make_end_detector=lambda opener, tools: LeadEnd(begins_with("{["), JsonSectionEnd(fenced=True)),
    parse_frame=parse,
    write_call=lambda request: (
        f"Action: ```json\n[{builders.write_json_call(request, 'tool_name', 'parameters')}]\n```"
    ),
)._replace(line_start_markers=OPENERS, models=("command-r", "command-r-plus*"))
