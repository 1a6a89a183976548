"""OpenAI's Responses API: its requests as values.

    {"model", "instructions", "input": text or items, "tools": [{"type": "function", "name", ...}]}

What is put together here is a request of the chat API, which `asked` reads. Nothing is kept between
requests, so what refers to an earlier one is refused. Reasoning in the history is left out: it
means something to the servers that made it alone. So are fields that are not in `FIELDS`: no server
of the chat API would know them, and some refuse what they do not know.
"""

from collections.abc import Mapping
from typing import Any

from andy_cli.frontends.serve import fields
from andy_cli.frontends.serve.asked import Asked, Choice, asked
from andy_cli.frontends.serve.pieces import Refused
from andy_cli.frontends.serve.transcript import Part, Transcript, attached, pictured, said

FIELDS = {
    "model": ("model", fields.name),
    "max_output_tokens": ("max_tokens", fields.amount),
    "temperature": ("temperature", fields.number),
    "top_p": ("top_p", fields.number),
    "user": ("user", fields.text),
    "stream": ("stream", fields.switch),
    "parallel_tool_calls": ("parallel_tool_calls", fields.switch),
}
KEPT = ("previous_response_id", "conversation", "prompt")
"""What only a server that keeps something can know."""
ROLES = ("user", "assistant", "system", "developer")


def asked_responses(value: object) -> Asked:
    """Raises Refused (400) that names the field."""
    body = fields.request(value)
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
    request = fields.taken(body, FIELDS)
    tools, choice = _offered(body)
    request |= {"tools": tools} if tools else {}
    request |= {"messages": _messages(body), "tool_choice": choice}
    request |= _format(body) | _effort(body)
    made = asked(request)
    if made.choice.how == "required" and not made.tools:
        raise Refused(400, "tool_choice wants a tool, and there are no tools.")
    # Without tools whatever the model writes is text.
    return made._replace(choice=made.choice if made.tools else Choice("none"), body=body)


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, object]]:
    transcript = Transcript()
    if body.get("instructions") is not None:
        transcript.say("system", [said(fields.text(body["instructions"], "instructions"))])
    given = body.get("input")
    if isinstance(given, str):
        transcript.say("user", [said(given)])
        return transcript.messages()
    if not isinstance(given, list) or not given:
        raise fields.wrong("input", "a text or a list of items")
    for at, each in enumerate(given):
        _item(transcript, fields.mapping(each, f"input[{at}]"), f"input[{at}]")
    return transcript.messages()


def _item(transcript: Transcript, item: Mapping[str, Any], where: str) -> None:
    kind = item.get("type", "message")
    if kind == "message":
        role = item.get("role")
        if role not in ROLES:
            raise Refused(400, f"{where}.role is user, assistant, system or developer.")
        transcript.say(str(role), _parts(item.get("content"), f"{where}.content"))
    elif kind == "function_call":
        transcript.call(
            fields.name(item.get("call_id"), f"{where}.call_id"),
            fields.name(item.get("name"), f"{where}.name"),
            fields.text(item.get("arguments"), f"{where}.arguments"),
        )
    elif kind == "function_call_output":
        id = fields.name(item.get("call_id"), f"{where}.call_id")
        transcript.result(id, _parts(item.get("output"), f"{where}.output"), where)
    elif kind == "item_reference":
        raise Refused(400, f"{where} refers to an item, and none is kept here; send it whole.")
    elif kind != "reasoning":
        raise Refused(400, f"{where} is an item of the type {kind!r}, which is not known here.")


def _parts(content: object, where: str) -> list[Part]:
    if isinstance(content, str):
        return [said(content)]
    if not isinstance(content, list):
        raise fields.wrong(where, "a text or a list of parts")
    return [
        _part(fields.mapping(each, f"{where}[{at}]"), f"{where}[{at}]")
        for at, each in enumerate(content)
    ]


def _part(part: Mapping[str, Any], where: str) -> Part:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        return said(fields.text(part.get("text"), f"{where}.text"))
    if kind == "refusal":
        return said(fields.text(part.get("refusal"), f"{where}.refusal"))
    if kind == "input_image" and part.get("image_url") is not None:
        url = fields.text(part["image_url"], f"{where}.image_url")
        return pictured(url, part.get("detail"))
    if kind == "input_file" and part.get("file_data") is not None:
        name = part.get("filename")
        filename = name if isinstance(name, str) and name else "file"
        return attached(fields.text(part["file_data"], f"{where}.file_data"), filename)
    if kind in ("input_image", "input_file"):
        raise Refused(400, f"{where} holds no data; files are neither kept nor fetched here.")
    raise Refused(400, f"{where} is a part of the type {kind!r}, which is not known here.")


def _offered(body: Mapping[str, Any]) -> tuple[list[Mapping[str, object]], object]:
    """The tools in the chat API's form, and the choice of them."""
    tools = _tools(body.get("tools"))
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return list(tools.values()), choice
    if choice.get("type") == "allowed_tools":
        listed = fields.sequence(choice.get("tools"), "tool_choice.tools")
        allowed = [fields.mapping(each, "tool_choice.tools").get("name") for each in listed]
        return [each for name, each in tools.items() if name in allowed], choice.get("mode")
    if choice.get("type") != "function":
        raise Refused(400, "tool_choice is auto, none, required, a function or allowed_tools.")
    named = {"name": fields.name(choice.get("name"), "tool_choice.name")}
    return list(tools.values()), {"type": "function", "function": named}


def _tools(value: object) -> dict[str, Mapping[str, object]]:
    """Tools that the client runs, by name; those that OpenAI's servers run are left out.

    Raises Refused if only such are there: then nothing of what is wanted could be done.
    """
    if value is None:
        return {}
    listed = fields.sequence(value, "tools")
    found: dict[str, Mapping[str, object]] = {}
    for at, each in enumerate(listed):
        where = f"tools[{at}]"
        kind = fields.text(fields.mapping(each, where).get("type"), f"{where}.type")
        if kind == "function":
            function = _function(each, where)
            found[str(function["name"])] = {"type": "function", "function": function}
    if listed and not found:
        raise Refused(400, "tools holds no function; others cannot be run from here.")
    return found


def _function(tool: Mapping[str, Any], where: str) -> dict[str, object]:
    function: dict[str, object] = {"name": fields.name(tool.get("name"), f"{where}.name")}
    if tool.get("description") is not None:
        function["description"] = fields.text(tool["description"], f"{where}.description")
    if tool.get("parameters") is not None:
        function["parameters"] = fields.mapping(tool["parameters"], f"{where}.parameters")
    if tool.get("strict") is not None:
        function["strict"] = fields.switch(tool["strict"], f"{where}.strict")
    return function


def _format(body: Mapping[str, Any]) -> dict[str, object]:
    config = body.get("text")
    wanted = None if config is None else fields.mapping(config, "text").get("format")
    if wanted is None:
        return {}
    form = fields.mapping(wanted, "text.format")
    kind = form.get("type")
    if kind == "text":
        return {}
    if kind == "json_object":
        return {"response_format": {"type": "json_object"}}
    if kind != "json_schema":
        raise Refused(400, "text.format.type is text, json_object or json_schema.")
    fields.name(form.get("name"), "text.format.name")
    fields.mapping(form.get("schema"), "text.format.schema")
    named = {key: each for key, each in form.items() if key != "type" and each is not None}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _effort(body: Mapping[str, Any]) -> dict[str, object]:
    config = body.get("reasoning")
    effort = None if config is None else fields.mapping(config, "reasoning").get("effort")
    return {} if effort is None else {"reasoning_effort": fields.text(effort, "reasoning.effort")}
