"""A request as the JSON object that servers of the OpenAI chat API want. Pure.

Servers differ in what they take, and say so only by refusing: `avoid` names what one has refused
(the features of `refusals.py`), and the body is built without it.
"""

from collections.abc import Collection, Mapping, Sequence

from andy_cli.messages import Constraint, Request, Wire
from andy_cli.models.client import Endpoint

Body = dict[str, object]


def body_of(
    endpoint: Endpoint, request: Request, max_tokens: int = 0, avoid: Collection[str] = ()
) -> Body:
    """`max_tokens` holds where the request names none; 0 leaves it to the server."""
    body: Body = {
        "model": endpoint.model,
        "messages": _messages(request.messages, avoid),
        "stream": True,
    }
    plain = "extras" in avoid
    if not plain and "stream_options" not in avoid:
        body["stream_options"] = {"include_usage": True}
    if request.tools and "tools" not in avoid:
        body["tools"] = [dict(each) for each in request.tools]
    if request.stop and not plain and "stop" not in avoid:
        body["stop"] = list(request.stop)
    if limit := request.max_tokens or max_tokens:
        body["max_completion_tokens" if "max_tokens" in avoid else "max_tokens"] = limit
    if request.constraint and not plain and "constraint" not in avoid:
        body |= constrained(endpoint.provider, request.constraint)
    return body


def constrained(provider: str, constraint: Constraint) -> Body:
    """The constraint in the words of a provider; empty when it has none for it.

    Free text beside the choices is left unconstrained: none of these servers can score.
    """
    if constraint.free_text:
        return {}
    choices = [choice.text for choice in constraint.choices]
    if provider == "llamacpp":
        if choices:
            return {"grammar": choice_grammar(choices)}
        if constraint.grammar:
            return {"grammar": constraint.grammar}
        return {"json_schema": dict(constraint.schema)} if constraint.schema else {}
    if provider == "vllm":
        if choices:
            return {"structured_outputs": {"choice": choices}}
        if constraint.grammar:
            return {"structured_outputs": {"grammar": constraint.grammar}}
        schema = constraint.schema
        return {"structured_outputs": {"json": dict(schema)}} if schema else {}
    if constraint.schema and not choices:
        # Ollama's `format` belongs to its own API; its chat API reads this field like the others.
        named = {"name": "reply", "schema": dict(constraint.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {}


def choice_grammar(choices: Sequence[str]) -> str:
    """A GBNF grammar for exactly one of the texts."""
    return "root ::= " + " | ".join(f'"{_escaped(choice)}"' for choice in choices)


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _messages(messages: Sequence[Wire], avoid: Collection[str]) -> list[Wire]:
    wire = list(messages)
    alternate = "alternation" in avoid
    if alternate or "tool role" in avoid:
        wire = _without_tool_role(wire)
    if alternate or "system role" in avoid:
        wire = _without_system_role(wire)
    return wire


def _without_tool_role(messages: Sequence[Wire]) -> list[Wire]:
    """Results told by the user. Requests go with them: we never write the assistant's words."""
    asked: dict[object, str] = {}
    wire: list[Wire] = []
    for message in messages:
        for id, words in _calls_in_words(message):
            asked[id] = words
        if message.get("role") == "tool":
            what = asked.get(message.get("tool_call_id"), "")
            text = f"Result{what}:\n{_text(message)}"
            wire.append({"role": "user", "content": text})
        elif message.get("tool_calls"):
            if text := _text(message):
                wire.append({"role": message["role"], "content": text})
        else:
            wire.append(message)
    return _merged(wire)


def _calls_in_words(message: Wire) -> list[tuple[object, str]]:
    calls = message.get("tool_calls")
    found: list[tuple[object, str]] = []
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            words = f" of {function.get('name')} {function.get('arguments') or ''}".rstrip()
            found.append((call.get("id"), words))
    return found


def _without_system_role(messages: Sequence[Wire]) -> list[Wire]:
    folded = [
        {**message, "role": "user"} if message.get("role") == "system" else message
        for message in messages
    ]
    return _merged(folded)


def _merged(messages: Sequence[Wire]) -> list[Wire]:
    """Neighbours of one role become one message, with a blank line between (R1)."""
    wire: list[Wire] = []
    for message in messages:
        if wire and message.get("role") == wire[-1].get("role") != "tool":
            both = f"{_text(wire[-1])}\n\n{_text(message)}".strip()
            wire[-1] = {**wire[-1], "content": both}
        else:
            wire.append(message)
    return wire


def _text(message: Wire) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
