"""The legacy form of calls in the chat API: `functions` and `function_call`.

    {"functions": [{"name", "parameters"}], "function_call": "auto" | "none" | {"name"}}
    history:  {"role": "assistant", "function_call": {"name", "arguments"}}
              {"role": "function", "name", "content"}

A request is read as one with tools; its answer has one call at most, in the legacy form.
"""

from collections.abc import Mapping, Sequence

from andy_cli.frontends.serve.wires.answer_parts import AnswerPart, CompletedCall
from andy_cli.frontends.serve.wires.chat_request import ChatRequest, read_chat_request
from andy_cli.frontends.serve.wires.chat_writer import ChatWriter, write_message


def is_legacy(body: object) -> bool:
    """Tell whether a client knows functions and no tools."""
    if not isinstance(body, dict) or body.get("tools") is not None:
        return False
    messages = body.get("messages")
    history = messages if isinstance(messages, list) else []
    return body.get("functions") is not None or any(map(is_legacy_message, history))


def is_legacy_message(message: object) -> bool:
    if not isinstance(message, dict):
        return False
    called = isinstance(message.get("function_call"), dict) and not message.get("tool_calls")
    return called or message.get("role") == "function"


def read_legacy_request(body: object) -> ChatRequest:
    """Raises ApiError (400) that names the field."""
    if not isinstance(body, dict):
        return read_chat_request(body)
    legacy_request = read_chat_request(
        body
    )  # what is wrong is said in the words of the legacy form
    modern = read_chat_request(with_tools(body))
    return modern._replace(parallel=False, choice=legacy_request.choice)


def with_tools(body: Mapping[str, object]) -> dict[str, object]:
    """The same request with tools; `body` was found right."""
    modern = {key: value for key, value in body.items() if key not in LEGACY}
    functions, choice = body.get("functions"), body.get("function_call")
    messages = body.get("messages")
    if isinstance(functions, list) and functions:
        modern["tools"] = [{"type": "function", "function": function} for function in functions]
    if choice is not None:
        named_choice = {"type": "function", "function": choice}
        modern["tool_choice"] = named_choice if isinstance(choice, dict) else choice
    modern["messages"] = with_tool_calls(messages if isinstance(messages, list) else [])
    return modern


LEGACY = ("functions", "function_call")


def with_tool_calls(messages: Sequence[object]) -> list[object]:
    """The history with ids, by which a result belongs to its call."""
    waiting = ""
    modern_messages: list[object] = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict) or not is_legacy_message(message):
            modern_messages.append(message)
        elif message.get("role") == "function":
            modern_messages.append(
                {**message, "role": "tool", "tool_call_id": waiting or f"call_{index}"}
            )
            waiting = ""
        else:
            waiting = f"call_{index}"
            call = {"id": waiting, "type": "function", "function": message["function_call"]}
            other_fields = {key: value for key, value in message.items() if key != "function_call"}
            modern_messages.append({**other_fields, "tool_calls": [call]})
    return modern_messages


class LegacyWriter(ChatWriter):
    """Writes the one call of an answer as `function_call`."""

    calls_reason = "function_call"

    def streams_call(self, name: str) -> bool:
        return False

    def _call_deltas(self, answer_part: CompletedCall) -> list[dict[str, object]]:
        opened_call = {"name": answer_part.name, "arguments": ""}
        return [
            {"function_call": opened_call},
            {"function_call": {"arguments": answer_part.arguments}},
        ]

    def _write_message(self, answer_parts: Sequence[AnswerPart]) -> dict[str, object]:
        words = [
            answer_part
            for answer_part in answer_parts
            if not isinstance(answer_part, CompletedCall)
        ]
        message = write_message(words, ())
        for answer_part in answer_parts:
            if isinstance(answer_part, CompletedCall):
                message["function_call"] = {
                    "name": answer_part.name,
                    "arguments": answer_part.arguments,
                }
                message["content"] = message["content"] or None
        return message
