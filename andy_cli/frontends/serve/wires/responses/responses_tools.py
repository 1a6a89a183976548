"""The tools that clients of OpenAI's Responses API run, each as a function, and the calls of them.

The chat API and the notations taught in a prompt know functions alone. Here there are also tools in
a namespace, tools that take a text, and tools that OpenAI's models know without being told: each is
offered as a function, and a call of it is told to the client as what it was offered as. Tools that
OpenAI's servers run are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from andy_cli.frontends.serve.wires import field_checks, freeform_tools
from andy_cli.frontends.serve.wires.answer_parts import Called, Refused
from andy_cli.frontends.serve.wires.chat_request import arguments_of


class Form(NamedTuple):
    """What calls of a kind of tool look like."""

    item: str
    given: str
    """The field with what the tool is given."""
    id: str


FORMS: Mapping[str, Form] = {
    "function": Form("function_call", "arguments", "fc"),
    "custom": Form("custom_tool_call", "input", "ctc"),
    "tool_search": Form("tool_search_call", "arguments", "tsc"),
    "local_shell": Form("local_shell_call", "action", "lsh"),
    "shell": Form("shell_call", "action", "sh"),
    "apply_patch": Form("apply_patch_call", "operation", "apc"),
}
BROUGHT = ("additional_tools", "tool_search_output")
"""Items of the input that bring tools along."""


def _takes(about: str, required: str, **properties: Mapping[str, object]) -> Mapping[str, object]:
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return {"description": about, "parameters": parameters}


KNOWN: Mapping[str, Mapping[str, object]] = {
    "local_shell": _takes(
        "Run a command on the user's computer.",
        "command",
        command={
            "type": "array",
            "items": {"type": "string"},
            "description": 'program and arguments, as ["bash", "-lc", "ls"]',
        },
        working_directory={"type": "string"},
        timeout_ms={"type": "integer"},
    ),
    "shell": _takes(
        "Run shell commands on the user's computer.",
        "commands",
        commands={"type": "array", "items": {"type": "string"}, "description": "command lines"},
        timeout_ms={"type": "integer"},
        max_output_length={"type": "integer"},
    ),
    "apply_patch": _takes(
        "Create, change or delete a file.",
        "type path",
        type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
        path={"type": "string", "description": "of the file"},
        diff={
            "type": "string",
            "description": "lines that begin with + (new), - (removed) or a space (as it is), in "
            "hunks that begin with @@; every line of a new file begins with +",
        },
    ),
}
"""What models of OpenAI know of tools without being told."""
HOSTED = ("container_auto", "container_reference")
"""Environments in which OpenAI's servers run a shell."""


class Offered(NamedTuple):
    kind: str
    name: str
    """In its namespace."""
    namespace: str
    function: Mapping[str, object]


def offers(body: Mapping[str, Any]) -> dict[str, Offered]:
    """By the names under which models know them: those in no namespace keep theirs.

    Raises Refused, also if only such are there as cannot be run from here: then nothing of what is
    wanted could be done.
    """
    found: dict[tuple[str, str], Offered] = {}
    for tool, where in _listed(body):
        found |= {(each.namespace, each.name): each for each in _read(tool, where)}
    if body.get("tools") and not found:
        raise Refused(400, "tools holds none that the client runs; others cannot be run from here.")
    named: dict[str, Offered] = {}
    for each in sorted(found.values(), key=lambda each: bool(each.namespace)):
        name = each.name if each.name not in named else f"{each.namespace}__{each.name}"
        while name in named:
            name += "_"
        named[name] = each
    return named


def names(named: Mapping[str, Offered]) -> dict[tuple[str, str], str]:
    """(namespace, name) -> the name under which models know it."""
    return {(each.namespace, each.name): name for name, each in named.items()}


def as_function(name: str, tool: Offered) -> Mapping[str, object]:
    """As the chat API has it."""
    return {"type": "function", "function": {"name": name, **tool.function}}


def _listed(body: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    lists = [(body.get("tools"), "tools")]
    items = body.get("input")
    for at, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict) and item.get("type") in BROUGHT:
            lists.append((item.get("tools"), f"input[{at}].tools"))
    for listed, where in lists:
        for at, each in enumerate(() if listed is None else field_checks.sequence(listed, where)):
            yield field_checks.mapping(each, f"{where}[{at}]"), f"{where}[{at}]"


def _read(tool: Mapping[str, Any], where: str, namespace: str = "") -> Iterator[Offered]:
    kind = field_checks.text(tool.get("type"), f"{where}.type")
    if kind == "namespace" and not namespace:
        name = field_checks.name(tool.get("name"), f"{where}.name")
        for at, each in enumerate(field_checks.sequence(tool.get("tools"), f"{where}.tools")):
            place = f"{where}.tools[{at}]"
            yield from _read(field_checks.mapping(each, place), place, name)
    elif kind in ("function", "custom"):
        name = field_checks.name(tool.get("name"), f"{where}.name")
        made = _function(tool, where) if kind == "function" else _texted(tool, where)
        yield Offered(kind, name, namespace, made)
    elif kind == "tool_search" and tool.get("execution") == "client":
        yield Offered(kind, kind, "", _function(tool, where))
    elif kind in KNOWN and not _hosted(tool):
        yield Offered(kind, kind, "", KNOWN[kind])


def _hosted(tool: Mapping[str, Any]) -> bool:
    place = tool.get("environment")
    return isinstance(place, dict) and place.get("type") in HOSTED


def _function(tool: Mapping[str, Any], where: str) -> dict[str, object]:
    function = _described(tool, where)
    if tool.get("parameters") is not None:
        function["parameters"] = field_checks.mapping(tool["parameters"], f"{where}.parameters")
    if tool.get("strict") is not None:
        function["strict"] = field_checks.switch(tool["strict"], f"{where}.strict")
    return function


def _described(tool: Mapping[str, Any], where: str) -> dict[str, object]:
    about = tool.get("description")
    return (
        {} if about is None else {"description": field_checks.text(about, f"{where}.description")}
    )


def _texted(tool: Mapping[str, Any], where: str) -> dict[str, object]:
    """A tool that takes a text, perhaps by a grammar."""
    about = _described(tool, where)
    form = field_checks.mapping(tool.get("format") or {}, f"{where}.format")
    if form.get("type") != "grammar":
        return {**about, "parameters": freeform_tools.parameters()}
    grammar = field_checks.text(form.get("definition"), f"{where}.format.definition")
    return {**about, "parameters": freeform_tools.parameters(form.get("syntax"), grammar)}


def given(kind: str, item: Mapping[str, Any], where: str) -> object:
    """The arguments of an earlier call, as the function has them."""
    field = FORMS[kind].given
    value, place = item.get(field), f"{where}.{field}"
    if kind == "function":
        return field_checks.text(value, place)
    if kind == "custom":
        return freeform_tools.arguments(field_checks.text(value, place))
    return {**field_checks.mapping(value, place)}


def called(tool: Offered, call: Called, id: str) -> dict[str, object]:
    """A call as the client gets it."""
    form = FORMS[tool.kind]
    head: dict[str, object] = {"type": form.item, "id": f"{form.id}_{id}", "call_id": call.id}
    if tool.kind in ("function", "custom"):
        head |= {"name": tool.name} | ({"namespace": tool.namespace} if tool.namespace else {})
    if tool.kind == "tool_search":
        head |= {"execution": "client"}
    return {**head, form.given: _taken(tool.kind, call.arguments), "status": "completed"}


def _taken(kind: str, arguments: str) -> object:
    if kind == "function":
        return arguments
    taken = arguments_of(arguments)
    if kind == "custom":
        return freeform_tools.text_of(taken)
    if kind == "local_shell":
        return {"env": {}, **taken, "type": "exec"}
    return taken
