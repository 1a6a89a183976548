"""The tools that clients of Anthropic's Messages API run, each as a function of the chat API.

Some have no schema in the request: Anthropic's models know them by their type, as
`text_editor_20250728`. Tools that Anthropic's servers run are left out.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve.wires import field_checks
from andy_cli.frontends.serve.wires.answer_parts import Refused

Schema = Mapping[str, object]


def _text(about: str) -> Schema:
    return {"type": "string", "description": about}


def _takes(about: str, required: str, **properties: Schema) -> Schema:
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return {"description": about, "parameters": parameters}


def _one_of(*commands: str) -> Schema:
    return {"type": "string", "enum": commands, "description": "what to do"}


RANGE: Schema = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "for view: first and last line; the last may be -1, the end",
}
LINE: Schema = {"type": "integer", "description": "for insert: after which line; 0 is the start"}
EDITING: Mapping[str, Schema] = {
    "path": _text("of the file or folder"),
    "file_text": _text("for create: what is in the file"),
    "old_str": _text("for str_replace: the text there is, which must be there once"),
    "new_str": _text("for str_replace: the text in its place"),
    "insert_line": LINE,
    "insert_text": _text("for insert: the new lines"),
    "view_range": RANGE,
}
KNOWN: Mapping[str, Schema] = {
    "bash": _takes(
        "Run a command in a shell that stays open.",
        "",
        command=_text("the command line"),
        restart={"type": "boolean", "description": "open the shell anew instead"},
    ),
    "text_editor": _takes(
        "Look at, create and change files.",
        "command path",
        command=_one_of("view", "create", "str_replace", "insert"),
        **EDITING,
    ),
    "memory": _takes(
        "Keep notes in files under /memories; look at them before anything else.",
        "command",
        command=_one_of("view", "create", "str_replace", "insert", "delete", "rename"),
        **EDITING,
        old_path=_text("for rename"),
        new_path=_text("for rename"),
    ),
}
"""By the type without its date."""
OLDER = ("text_editor_20241022", "text_editor_20250124")
"""Here the text to insert is `new_str`, and the last change can be undone."""


def offered(value: object) -> list[Mapping[str, object]]:
    """`tools`, as the chat API has them.

    Raises Refused if only such are there as cannot be run from here: then nothing of what is wanted
    could be done.
    """
    if value is None:
        return []
    listed = field_checks.sequence(value, "tools")
    found: list[Mapping[str, object]] = []
    for at, each in enumerate(listed):
        where = f"tools[{at}]"
        name = field_checks.name(field_checks.mapping(each, where).get("name"), f"{where}.name")
        type = each.get("type")
        known = _known(type) if isinstance(type, str) else {}
        if type in (None, "custom"):
            known = _described(each, where)
        if known:
            found.append({"type": "function", "function": {"name": name, **known}})
    if listed and not found:
        raise Refused(400, "tools holds none that the client runs; others cannot be run from here.")
    return found


def _known(type: str) -> Mapping[str, object]:
    """Nothing for a type that Anthropic's servers run."""
    known = KNOWN.get(type.rpartition("_")[0], {})
    if type not in OLDER:
        return known
    parameters = known["parameters"]
    assert isinstance(parameters, dict)
    named = parameters["properties"]
    kept = {name: each for name, each in named.items() if name != "insert_text"}
    commands = _one_of(*named["command"]["enum"], "undo_edit")
    text = _text("for str_replace and insert: the new text")
    properties = {**kept, "command": commands, "new_str": text}
    return {**known, "parameters": {**parameters, "properties": properties}}


def _described(tool: Mapping[str, Any], where: str) -> dict[str, object]:
    parameters = field_checks.mapping(tool.get("input_schema"), f"{where}.input_schema")
    if tool.get("description") is None:
        return {"parameters": parameters}
    about = field_checks.text(tool["description"], f"{where}.description")
    return {"description": about, "parameters": parameters}
