"""One conversation with tools through LiteLLM; prints the calls and the answer as JSON.

python litellm_client.py ADDRESS openai|anthropic|ollama_chat|ollama whole|streamed
"""

import importlib
import json
import os
import sys
from typing import Any

litellm: Any = importlib.import_module("litellm")  # which is not there where types are checked


def asked(address: str, wire: str, streamed: bool, request: dict[str, Any]) -> Any:  # noqa: ANN401
    base = f"{address}/v1" if wire == "openai" else address
    made = litellm.completion(
        model=f"{wire}/m", api_base=base, api_key="none", stream=streamed, **request
    )
    return litellm.stream_chunk_builder([*made]) if streamed else made


def converse(address: str, wire: str, how: str) -> dict[str, object]:
    scene = json.loads(os.environ["SCENE"])
    calls: list[object] = []
    messages: list[Any] = [{"role": "user", "content": scene["task"]}]
    tools = [{"type": "function", "function": each} for each in scene["tools"]]
    for _ in range(5):
        request = {"messages": messages, "tools": tools, "max_tokens": 500}
        message = asked(address, wire, how == "streamed", request).choices[0].message
        if not message.tool_calls:
            return {"calls": calls, "answer": message.content}
        messages.append(message.model_dump(exclude_none=True))
        for each in message.tool_calls:
            name, given = each.function.name, json.loads(each.function.arguments)
            calls.append([name, given])
            result = scene["files"] if name == "list_mp3s" else f"playing {given['filename']}"
            messages.append({"role": "tool", "tool_call_id": each.id, "content": result})
    return {"calls": calls, "answer": None}


sys.stdout.write("\n" + json.dumps(converse(*sys.argv[1:4])))
