"""JSON-RPC: the request an MCP client would send.

{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
 "params": {"name": "play", "arguments": {"track": "Blue"}}}
"""

import json

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.messages import ToolRequest


def parse(text: str, tools: Tools) -> Parsed | None:
    body = strip_fence(text)
    if "tools/call" not in body:
        return None
    values, _ = json_text.values_and_rest(body)
    values = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    all_requests = []
    for value in values:
        if not isinstance(value, dict) or value.get("method") != "tools/call":
            return None
        requests = calls.read_requests(value.get("params"), tools)
        if not requests:
            return None
        all_requests += requests
    return Parsed(tuple(all_requests)) if all_requests else Parsed(incomplete=True)


def write(request: ToolRequest) -> str:
    params = {"name": request.name, "arguments": dict(request.arguments or {})}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(call, ensure_ascii=False)


DIALECT = builders.make_bare_dialect("json_rpc", parse, write)._replace(
    line_start_markers=("{", "[")
)
