"""The tools that clients of Anthropic's Messages API run, each as a function of the chat API.

Some have no schema in the request: Anthropic's models know them by their type, as
`text_editor_20250728`. Tools that Anthropic's servers run are left out.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.field_checks import (
    check_list,
    check_name,
    check_object,
    check_text,
)
from andy_cli.frontends.serve.wires.freeform_tools import function_schema

Schema = Mapping[str, object]


def _text_schema(about: str) -> Schema:
    return {"type": "string", "description": about}


def _enum_schema(*commands: str) -> Schema:
    return {"type": "string", "enum": commands, "description": "what to do"}


RANGE: Schema = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "for view: first and last line; the last may be -1, the end",
}
LINE: Schema = {"type": "integer", "description": "for insert: after which line; 0 is the start"}
EDITING: Mapping[str, Schema] = {
    "path": _text_schema("of the file or folder"),
    "file_text": _text_schema("for create: what is in the file"),
    "old_str": _text_schema("for str_replace: the text there is, which must be there once"),
    "new_str": _text_schema("for str_replace: the text in its place"),
    "insert_line": LINE,
    "insert_text": _text_schema("for insert: the new lines"),
    "view_range": RANGE,
}
KNOWN: Mapping[str, Schema] = {
    "bash": function_schema(
        "Run a command in a shell that stays open.",
        "",
        command=_text_schema("the command line"),
        restart={"type": "boolean", "description": "open the shell anew instead"},
    ),
    "text_editor": function_schema(
        "Look at, create and change files.",
        "command path",
        command=_enum_schema("view", "create", "str_replace", "insert"),
        **EDITING,
    ),
    "memory": function_schema(
        "Keep notes in files under /memories; look at them before anything else.",
        "command",
        command=_enum_schema("view", "create", "str_replace", "insert", "delete", "rename"),
        **EDITING,
        old_path=_text_schema("for rename"),
        new_path=_text_schema("for rename"),
    ),
}
"""By the type without its date."""
OLDER = ("text_editor_20241022", "text_editor_20250124")
"""Here the text to insert is `new_str`, and the last change can be undone."""


def read_messages_tools(value: object) -> list[Mapping[str, object]]:
    """`tools`, as the chat API has them.

    Raises ApiError if only such are there as cannot be run from here: then nothing of what is
    wanted could be done.
    """
    if value is None:
        return []
    listed = check_list(value, "tools")
    functions: list[Mapping[str, object]] = []
    for index, tool in enumerate(listed):
        field_path = f"tools[{index}]"
        name = check_name(check_object(tool, field_path).get("name"), f"{field_path}.name")
        type = tool.get("type")
        described = _known_tool(type) if isinstance(type, str) else {}
        if type in (None, "custom"):
            described = _described_tool(tool, field_path)
        if described:
            functions.append({"type": "function", "function": {"name": name, **described}})
    if listed and not functions:
        raise ApiError(
            400, "tools holds none that the client runs; others cannot be run from here."
        )
    return functions


def _known_tool(type: str) -> Mapping[str, object]:
    """Nothing for a type that Anthropic's servers run."""
    known_tool = KNOWN.get(type.rpartition("_")[0], {})
    if type not in OLDER:
        return known_tool
    parameters = known_tool["parameters"]
    assert isinstance(parameters, dict)
    known_properties = parameters["properties"]
    kept_properties = {
        name: schema for name, schema in known_properties.items() if name != "insert_text"
    }
    commands = _enum_schema(*known_properties["command"]["enum"], "undo_edit")
    text = _text_schema("for str_replace and insert: the new text")
    properties = {**kept_properties, "command": commands, "new_str": text}
    return {**known_tool, "parameters": {**parameters, "properties": properties}}


def _described_tool(tool: Mapping[str, Any], field_path: str) -> dict[str, object]:
    parameters = check_object(tool.get("input_schema"), f"{field_path}.input_schema")
    if tool.get("description") is None:
        return {"parameters": parameters}
    about = check_text(tool["description"], f"{field_path}.description")
    return {"description": about, "parameters": parameters}
