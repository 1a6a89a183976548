"""Requests on the wires of Anthropic's messages and OpenAI's responses, and what can be wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.serve_process import schema

MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"
COUNT = f"{MESSAGES}/count_tokens"
SAID = [{"role": "user", "content": "Hello"}]
MESSAGE: Mapping[str, Any] = {"model": "m", "max_tokens": 9, "messages": SAID}
RESPONSE: Mapping[str, Any] = {"model": "m", "input": "Hello"}
USES = {"type": "tool_use", "id": "c1", "name": "list_mp3s", "input": {"path": "~/mp3"}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "a.mp3"}
CALL = {"type": "function_call", "call_id": "c1", "name": "list_mp3s", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.mp3"}
TOOL = {"name": "list_mp3s", "input_schema": schema("list_mp3s")}
FUNCTION = {"type": "function", "name": "list_mp3s", "parameters": schema("list_mp3s")}
KINDS: list[dict[str, Any]] = [
    {"type": "namespace", "name": "box", "tools": [FUNCTION, {"type": "custom", "name": "edit"}]},
    {"type": "custom", "name": "edit", "format": {"type": "grammar", "definition": "start: x"}},
    {"type": "tool_search", "execution": "client", "parameters": {"type": "object"}},
    {"type": "local_shell"},
    {"type": "shell", "environment": {"type": "local"}},
    {"type": "apply_patch"},
]
"""Of tools, beside a function."""
CALLED: list[dict[str, Any]] = [
    {"type": "custom_tool_call", "call_id": "d1", "name": "edit", "input": "x"},
    {"type": "custom_tool_call_output", "call_id": "d1", "output": "done"},
    {"type": "tool_search_call", "call_id": "d2", "arguments": {"query": "music"}},
    {"type": "tool_search_output", "call_id": "d2", "tools": [{**FUNCTION, "name": "found"}]},
    {"type": "local_shell_call", "call_id": "d3", "action": {"command": ["ls"]}},
    {"type": "local_shell_call_output", "id": "d3", "output": "a.mp3"},
    {"type": "shell_call", "call_id": "d4", "action": {"commands": ["ls"]}},
    {
        "type": "shell_call_output",
        "call_id": "d4",
        "output": [{"stdout": "a.mp3", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
    },
    {"type": "apply_patch_call", "call_id": "d5", "operation": {"type": "delete_file"}},
    {"type": "apply_patch_call_output", "call_id": "d5", "status": "completed", "output": "gone"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"type": "additional_tools", "tools": [{**FUNCTION, "name": "brought"}]},
]
"""Calls of such tools and their results, and what else is an item."""


def deep(levels: int) -> object:
    value: object = {}
    for _ in range(levels):
        value = [value]
    return value


def messages(*contents: object) -> dict[str, object]:
    """From the user and the assistant in turns."""
    roles = ("user", "assistant")
    said = [{"role": roles[at % 2], "content": each} for at, each in enumerate(contents)]
    return {"messages": said}


BAD_MESSAGES: Mapping[str, Mapping[str, Any]] = {
    "no messages": {"messages": None},
    "messages of a wrong type": {"messages": "Hello"},
    "empty messages": {"messages": []},
    "a message that is none": {"messages": [5]},
    "no role": {"messages": [{"content": "Hello"}]},
    "an unknown role": {"messages": [{"role": "tool", "content": "Hello"}]},
    "a role of a wrong type": {"messages": [{"role": ["user"], "content": "Hello"}]},
    "no content": {"messages": [{"role": "user"}]},
    "content of a wrong type": messages(5),
    "a block that is none": messages(["Hello"]),
    "an unknown block": messages([{"type": "dance"}]),
    "a block without a type": messages([{"text": "Hello"}]),
    "a type of a wrong type": messages([{"type": ["text"]}]),
    "a text that is none": messages([{"type": "text", "text": 5}]),
    "a call by the user": messages([USES]),
    "a call without an id": messages("Hello", [{**USES, "id": None}]),
    "a call without a name": messages("Hello", [{**USES, "name": ""}]),
    "a call without input": messages("Hello", [{**USES, "input": "{}"}]),
    "a result by the assistant": messages("Hello", [RESULT]),
    "a result without a call": messages([RESULT]),
    "a result of another call": messages("Hello", [USES], [{**RESULT, "tool_use_id": "c2"}]),
    "a result twice": messages("Hello", [USES], [RESULT, RESULT]),
    "a result of a wrong type": messages("Hello", [USES], [{**RESULT, "content": 5}]),
    "a result without an id": messages("Hello", [USES], [{"type": "tool_result"}]),
    "a picture without a source": messages([{"type": "image"}]),
    "a picture from a file": messages([{"type": "image", "source": {"type": "file"}}]),
    "a picture without data": messages([{"type": "image", "source": {"type": "base64"}}]),
    "a document elsewhere": messages([{"type": "document", "source": {"type": "url"}}]),
    "system of a wrong type": {"system": 5},
    "a picture in system": {"system": [{"type": "dance"}]},
    "tools of a wrong type": {"tools": {"name": "x"}},
    "a tool that is none": {"tools": ["list_mp3s"]},
    "a tool without a name": {"tools": [{"input_schema": {}}]},
    "a tool without a schema": {"tools": [{"name": "x"}]},
    "a tool with a schema that is none": {"tools": [{"name": "x", "input_schema": []}]},
    "a tool described by a number": {"tools": [{**TOOL, "description": 5}]},
    "only tools of other servers": {"tools": [{"type": "web_search_1", "name": "web_search"}]},
    "a choice of a wrong type": {"tools": [TOOL], "tool_choice": "any"},
    "an unknown choice": {"tools": [TOOL], "tool_choice": {"type": "some"}},
    "a choice without a name": {"tools": [TOOL], "tool_choice": {"type": "tool"}},
    "a choice of no tool": {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "x"}},
    "a choice without tools": {"tool_choice": {"type": "any"}},
    "model of a wrong type": {"model": 5},
    "model that is a path": {"model": "../../etc/passwd"},
    "temperature of a wrong type": {"temperature": "hot"},
    "temperature beyond all": {"temperature": 10**400},
    "top_p of a wrong type": {"top_p": True},
    "stop of a wrong type": {"stop_sequences": "END"},
    "a stop of a wrong type": {"stop_sequences": [5]},
    "stream of a wrong type": {"stream": "yes"},
    "metadata of a wrong type": {"metadata": "me"},
    "a user of a wrong type": {"metadata": {"user_id": 5}},
    "a format of a wrong type": {"output_config": {"format": "json"}},
    "a format of old of a wrong type": {"output_format": "json"},
    "a format without a schema": {"output_config": {"format": {"type": "json_schema"}}},
    "too deep": {"tools": [{"name": "x", "input_schema": {"properties": deep(200)}}]},
    "far too deep": {"tools": deep(900)},
}
BAD_LIMITS: Mapping[str, Mapping[str, Any]] = {
    "no max_tokens": {"max_tokens": None},
    "max_tokens of a wrong type": {"max_tokens": "many"},
    "max_tokens below one": {"max_tokens": 0},
    "max_tokens beyond all": {"max_tokens": 10**30},
    "max_tokens that is true": {"max_tokens": True},
}
BAD_RESPONSES: Mapping[str, Mapping[str, Any]] = {
    "no input": {"input": None},
    "empty input": {"input": []},
    "input of a wrong type": {"input": {"role": "user"}},
    "an item that is none": {"input": ["Hello"]},
    "no role": {"input": [{"content": "Hello"}]},
    "an unknown role": {"input": [{"role": "tool", "content": "Hello"}]},
    "a role of a wrong type": {"input": [{"role": {}, "content": "Hello"}]},
    "no content": {"input": [{"role": "user"}]},
    "content of a wrong type": {"input": [{"role": "user", "content": 5}]},
    "a part that is none": {"input": [{"role": "user", "content": ["Hello"]}]},
    "an unknown part": {"input": [{"role": "user", "content": [{"type": "dance"}]}]},
    "a part of a wrong type": {"input": [{"role": "user", "content": [{"type": ["x"]}]}]},
    "a picture in a file": {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
    "an unknown item": {"input": [{"type": "dance"}]},
    "an item of a wrong type": {"input": [{"type": ["message"]}]},
    "a reference to nothing": {"input": [{"type": "item_reference"}]},
    "a call without an id": {"input": [{**CALL, "call_id": None}]},
    "a call without a name": {"input": [{**CALL, "name": None}]},
    "a call with an object": {"input": [{**CALL, "arguments": {}}]},
    "a result without a call": {"input": [OUTPUT]},
    "a result of another call": {"input": [CALL, {**OUTPUT, "call_id": "c2"}]},
    "a result twice": {"input": [CALL, OUTPUT, OUTPUT]},
    "a result of a wrong type": {"input": [CALL, {**OUTPUT, "output": 5}]},
    "instructions of a wrong type": {"instructions": 5},
    "an earlier response": {"previous_response_id": "resp_1"},
    "a kept conversation": {"conversation": "conv_1"},
    "a kept prompt": {"prompt": {"id": "pmpt_1"}},
    "in the background": {"background": True},
    "tools of a wrong type": {"tools": {}},
    "a tool that is none": {"tools": [5]},
    "a tool without a type": {"tools": [{"name": "x"}]},
    "a tool without a name": {"tools": [{"type": "function"}]},
    "a tool in the form of chat": {"tools": [{"type": "function", "function": {"name": "x"}}]},
    "a tool with parameters that are none": {"tools": [{**FUNCTION, "parameters": 5}]},
    "only tools of other servers": {"tools": [{"type": "web_search"}]},
    "a namespace without tools": {"tools": [{"type": "namespace", "name": "box"}]},
    "a namespace in a namespace": {"tools": [{**KINDS[0], "tools": [KINDS[0]]}]},
    "a shell of other servers": {
        "tools": [{"type": "shell", "environment": {"type": "container_auto"}}]
    },
    "a grammar that is none": {"tools": [{**KINDS[1], "format": {"type": "grammar"}}]},
    "brought tools of a wrong type": {"input": [{"type": "additional_tools", "tools": 5}]},
    "a text that is none": {"input": [{**CALLED[0], "input": {}}]},
    "an action that is none": {"input": [{**CALLED[4], "action": "ls"}]},
    "what was printed is a text": {"input": [CALLED[6], {**CALLED[7], "output": "a.mp3"}]},
    "an unknown choice": {"tools": [FUNCTION], "tool_choice": "some"},
    "a choice of a wrong type": {"tools": [FUNCTION], "tool_choice": 5},
    "a choice of no tool": {"tools": [FUNCTION], "tool_choice": {"type": "function", "name": "x"}},
    "a choice of another server's": {"tools": [FUNCTION], "tool_choice": {"type": "web_search"}},
    "a choice without tools": {"tool_choice": "required"},
    "max_output_tokens below one": {"max_output_tokens": 0},
    "temperature of a wrong type": {"temperature": "hot"},
    "stream of a wrong type": {"stream": 1},
    "text of a wrong type": {"text": "json"},
    "an unknown format": {"text": {"format": {"type": "xml"}}},
    "a format without a schema": {"text": {"format": {"type": "json_schema", "name": "x"}}},
    "reasoning of a wrong type": {"reasoning": "much"},
    "too deep": {"tools": [{**FUNCTION, "parameters": {"properties": deep(200)}}]},
    "far too deep": {"input": deep(900)},
}
NO_OBJECTS: tuple[object, ...] = ([], "Hello", 5, None)
BAD: list[tuple[str, str, object]] = [
    *((MESSAGES, name, {**MESSAGE, **each}) for name, each in BAD_MESSAGES.items()),
    *((MESSAGES, name, {**MESSAGE, **each}) for name, each in BAD_LIMITS.items()),
    *((COUNT, name, {**MESSAGE, **each}) for name, each in BAD_MESSAGES.items()),
    *((RESPONSES, name, {**RESPONSE, **each}) for name, each in BAD_RESPONSES.items()),
    *((path, f"is {each!r}", each) for path in (MESSAGES, COUNT, RESPONSES) for each in NO_OBJECTS),
]
PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "folder", "enum": ["a"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "names": {"type": "array", "items": {"type": "string"}},
        "other": {"anyOf": [{"$ref": "#/$defs/other"}, {"type": "null"}]},
    },
    "required": ["path"],
    "$defs": {"other": {"type": "string"}},
}
DATA = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
FULL_MESSAGES = {
    **MESSAGE,
    **messages(
        [
            {"type": "image", "source": DATA},
            {"type": "document", "title": "t", "source": {"type": "text", "data": "Hello"}},
        ],
        [{"type": "text", "text": "I look."}, USES],
        [{**RESULT, "content": [{"type": "text", "text": "a.mp3"}], "is_error": False}],
    ),
    "system": [{"type": "text", "text": "Be brief."}],
    "tools": [
        {"name": "list_mp3s", "description": "List.", "input_schema": PARAMETERS},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
    ],
    "tool_choice": {"type": "auto", "disable_parallel_tool_use": False},
    "stop_sequences": ["END"],
    "metadata": {"user_id": "me"},
    "output_config": {"format": {"type": "json_schema", "schema": {}}},
    "thinking": {"type": "enabled"},
}
FULL_RESPONSES: Mapping[str, Any] = {
    **RESPONSE,
    "instructions": "Be brief.",
    "input": [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Play."},
                {"type": "input_image", "image_url": "https://a.b/c.png", "detail": "low"},
                {"type": "input_file", "file_data": "data:x", "filename": "x"},
            ],
        },
        CALL,
        OUTPUT,
        *CALLED,
    ],
    "tools": [
        {**FUNCTION, "description": "List.", "parameters": PARAMETERS, "strict": True},
        *KINDS,
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "list_mp3s"}],
    },
    "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}},
    "reasoning": {"effort": "low"},
    "metadata": {"a": "b"},
}
JUNK: tuple[object, ...] = (
    *(None, True, 0, -1, 1.5, 10**40, float("inf"), float("nan")),
    *("", "x", "\x00", "\ud800", "\ufdd00\ufdd1"),
    *([], ["x"], [[]], [None], [{}], {}, {"a": 1}, {"type": []}),
)


def broken(value: Any) -> Iterator[object]:  # noqa: ANN401
    """The value with junk in the place of each thing in it, and without each, one at a time."""
    yield from JUNK
    if isinstance(value, dict):
        for key, each in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: other} for other in broken(each))
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield [*value[:at], *value[at + 1 :]]
            yield from ([*value[:at], other, *value[at + 1 :]] for other in broken(each))
