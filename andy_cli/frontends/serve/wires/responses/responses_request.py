"""OpenAI's Responses API: its requests as values.

    {"model", "instructions", "input": text or items, "tools": [{"type": "function", "name", ...}]}

What is put together here is a request of the chat API, which `asked` reads. Nothing is kept between
requests, so what refers to an earlier one is refused. Reasoning in the history is left out: it
means something to the servers that made it alone; so is what those servers did themselves. So are
fields that are not in `FIELDS`: no server of the chat API would know them, and some refuse what
they do not know.
"""

from collections.abc import Callable, Mapping
from typing import Any

from andy_cli.frontends.serve.wires import field_checks
from andy_cli.frontends.serve.wires.answer_parts import Refused
from andy_cli.frontends.serve.wires.chat_request import Asked, Choice, asked
from andy_cli.frontends.serve.wires.responses.responses_tools import (
    FORMS,
    KNOWN,
    Offered,
    as_function,
    given,
    names,
    offers,
)
from andy_cli.frontends.serve.wires.transcript import Part, Transcript, attached, pictured, said

FIELDS = {
    "model": ("model", field_checks.name),
    "max_output_tokens": ("max_tokens", field_checks.limit),
    "temperature": ("temperature", field_checks.number),
    "top_p": ("top_p", field_checks.number),
    "user": ("user", field_checks.text),
    "stream": ("stream", field_checks.switch),
    "parallel_tool_calls": ("parallel_tool_calls", field_checks.switch),
}
KEPT = ("previous_response_id", "conversation", "prompt")
"""What only a server that keeps something can know."""
ROLES = ("user", "assistant", "system", "developer")
LEFT_OUT = frozenset(
    """reasoning additional_tools web_search_call file_search_call code_interpreter_call
    image_generation_call""".split()
)
"""Items that tell a model nothing: what they brought is offered, or said in what follows them."""


def asked_responses(value: object) -> Asked:
    """Raises Refused (400) that names the field."""
    body = field_checks.request(value)
    for name in KEPT:
        if body.get(name) is not None:
            raise Refused(
                400,
                f"{name} is not supported: nothing is kept here between requests. Send the whole "
                "conversation as input.",
                code="unsupported_parameter",
            )
    if body.get("background") is True:
        raise Refused(400, "background is not supported.", code="unsupported_parameter")
    request = field_checks.taken(body, FIELDS)
    named = offers(body)
    tools, choice = _offered(body, named)
    request |= {"tools": tools} if tools else {}
    request |= {"messages": _messages(body, names(named)), "tool_choice": choice}
    request |= _format(body) | _effort(body)
    made = asked(request)
    if made.choice.how == "required" and not made.tools:
        raise Refused(400, "tool_choice wants a tool, and there are no tools.")
    # Without tools whatever the model writes is text.
    return made._replace(choice=made.choice if made.tools else Choice("none"), body=body)


def _messages(
    body: Mapping[str, Any], known: Mapping[tuple[str, str], str]
) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("instructions") is not None:
        transcript.say("system", [said(field_checks.text(body["instructions"], "instructions"))])
    items = body.get("input")
    if isinstance(items, str):
        transcript.say("user", [said(items)])
        return transcript.messages()
    if not isinstance(items, list) or not items:
        raise field_checks.wrong("input", "a text or a list of items")
    listed = {item_id(item) for item in items if not is_reference(item)}
    for at, each in enumerate(items):
        if is_reference(each) and item_id(each) in listed:
            continue  # it stands in the input itself
        _item(transcript, field_checks.mapping(each, f"input[{at}]"), f"input[{at}]", known)
    return transcript.messages()


def _item(
    transcript: Transcript,
    item: Mapping[str, Any],
    where: str,
    known: Mapping[tuple[str, str], str],
) -> None:
    if is_reference(item):
        raise Refused(
            404,
            f"Item with id '{item_id(item)}' not found. Items are not persisted here; send the "
            "item itself, or remove it from your input.",
            param="input",
        )
    type = str(item.get("type") or "message")
    kind = next((kind for kind, form in FORMS.items() if form.item == type), "")
    if type == "message":
        role = item.get("role")
        if role not in ROLES:
            raise Refused(400, f"{where}.role is user, assistant, system or developer.")
        transcript.say(str(role), _parts(item.get("content"), f"{where}.content"))
    elif type in ("tool_search_call", "tool_search_output") and item.get("call_id") is None:
        return  # OpenAI's servers searched
    elif kind:
        own = field_checks.name(item.get("name", kind), f"{where}.name")
        transcript.call(
            field_checks.name(item.get("call_id"), f"{where}.call_id"),
            known.get((str(item.get("namespace") or ""), own), own),
            given(kind, item, where),
        )
    elif type in OUTPUTS:
        # That of a local shell may have no call_id: its id is that of the call.
        id = field_checks.name(item.get("call_id", item.get("id")), f"{where}.call_id")
        transcript.result(id, OUTPUTS[type](item, where), where)
    elif type not in LEFT_OUT:
        raise Refused(400, f"{where} is an item of the type {type!r}, which is not known here.")


def is_reference(item: object) -> bool:
    """Whether it names an item of an earlier answer; its type may be left out."""
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    typed = item.get("type")
    return typed == "item_reference" or (typed is None and set(item) <= {"id", "type"})


def item_id(item: object) -> str:
    id = item.get("id") if isinstance(item, dict) else None
    return id if isinstance(id, str) else ""


def _output(item: Mapping[str, Any], where: str) -> list[Part]:
    return _parts(item.get("output"), f"{where}.output")


def _printed(item: Mapping[str, Any], where: str) -> list[Part]:
    """What each command of a shell printed, and how it ended."""
    told = []
    for at, each in enumerate(field_checks.sequence(item.get("output"), f"{where}.output")):
        run = field_checks.mapping(each, f"{where}.output[{at}]")
        outcome = field_checks.mapping(run.get("outcome") or {}, f"{where}.output[{at}].outcome")
        ended = f"exit code {outcome['exit_code']}" if "exit_code" in outcome else "timeout"
        texts = [run.get("stdout"), run.get("stderr"), ended if outcome else ""]
        told.append(said("\n".join(str(each) for each in texts if each)))
    return told


def _patched(item: Mapping[str, Any], where: str) -> list[Part]:
    output = item.get("output")
    words = field_checks.text(output, f"{where}.output") if output is not None else ""
    return [said("\n".join(filter(None, [str(item.get("status") or ""), words])))]


def _tools_found(item: Mapping[str, Any], where: str) -> list[Part]:
    """They are offered from now on; here only their names."""
    listed = field_checks.sequence(item.get("tools"), f"{where}.tools")
    named = [str(field_checks.mapping(each, f"{where}.tools").get("name")) for each in listed]
    return [said("found: " + (", ".join(named) or "nothing"))]


OUTPUTS: Mapping[str, Callable[[Mapping[str, Any], str], list[Part]]] = {
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "local_shell_call_output": _output,
    "shell_call_output": _printed,
    "apply_patch_call_output": _patched,
    "tool_search_output": _tools_found,
}


def _parts(content: object, where: str) -> list[Part]:
    if isinstance(content, str):
        return [said(content)]
    if not isinstance(content, list):
        raise field_checks.wrong(where, "a text or a list of parts")
    return [
        _part(field_checks.mapping(each, f"{where}[{at}]"), f"{where}[{at}]")
        for at, each in enumerate(content)
    ]


def _part(part: Mapping[str, Any], where: str) -> Part:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return said(field_checks.text(part.get("text"), f"{where}.text"))
    if kind == "refusal":
        return said(field_checks.text(part.get("refusal"), f"{where}.refusal"))
    if kind == "input_image" and part.get("image_url") is not None:
        url = field_checks.text(part["image_url"], f"{where}.image_url")
        return pictured(url, part.get("detail"))
    if kind == "input_file" and part.get("file_data") is not None:
        name = part.get("filename")
        filename = name if isinstance(name, str) and name else "file"
        return attached(field_checks.text(part["file_data"], f"{where}.file_data"), filename)
    if kind in ("input_image", "input_file"):
        raise Refused(400, f"{where} holds no data; files are neither kept nor fetched here.")
    raise Refused(400, f"{where} is a part of the type {kind!r}, which is not known here.")


def _offered(
    body: Mapping[str, Any], named: Mapping[str, Offered]
) -> tuple[list[Mapping[str, object]], object]:
    """The tools in the chat API's form, and the choice of them."""
    tools = {name: as_function(name, each) for name, each in named.items()}
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return list(tools.values()), choice
    if choice.get("type") == "allowed_tools":
        listed = field_checks.sequence(choice.get("tools"), "tool_choice.tools")
        allowed = [
            _meant(field_checks.mapping(each, "tool_choice.tools"), named) for each in listed
        ]
        return [each for name, each in tools.items() if name in allowed], choice.get("mode")
    if str(choice.get("type")) not in FORMS:
        raise Refused(400, "tool_choice is auto, none, required, a tool here or allowed_tools.")
    function = {"name": _meant(choice, named)}
    return list(tools.values()), {"type": "function", "function": function}


def _meant(choice: Mapping[str, Any], named: Mapping[str, Offered]) -> str:
    """The name under which models know a tool that is chosen."""
    kind = str(choice.get("type"))
    own = kind if kind in KNOWN or kind == "tool_search" else choice.get("name")
    name = field_checks.name(own, "tool_choice.name")
    place = choice.get("namespace")
    fits = [
        known
        for known, each in named.items()
        if each.name == name and place in (None, each.namespace)
    ]
    return fits[0] if fits else name


def _format(body: Mapping[str, Any]) -> dict[str, object]:
    config = body.get("text")
    wanted = None if config is None else field_checks.mapping(config, "text").get("format")
    if wanted is None:
        return {}
    form = field_checks.mapping(wanted, "text.format")
    kind = form.get("type")
    if kind == "text":
        return {}
    if kind == "json_object":
        return {"response_format": {"type": "json_object"}}
    if kind != "json_schema":
        raise Refused(400, "text.format.type is text, json_object or json_schema.")
    field_checks.name(form.get("name"), "text.format.name")
    field_checks.mapping(form.get("schema"), "text.format.schema")
    named = {key: each for key, each in form.items() if key != "type" and each is not None}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _effort(body: Mapping[str, Any]) -> dict[str, object]:
    config = body.get("reasoning")
    effort = None if config is None else field_checks.mapping(config, "reasoning").get("effort")
    return (
        {}
        if effort is None
        else {"reasoning_effort": field_checks.text(effort, "reasoning.effort")}
    )
