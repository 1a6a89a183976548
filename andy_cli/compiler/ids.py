"""The ids of calls as a family wants them back in the history; inside andy they stay the same."""

from collections.abc import Iterable

from andy_cli.compiler.dialect import IdForm
from andy_cli.messages import Message, ToolCall

NINE = 9


def rename_call_ids(history: Iterable[Message], id_form: IdForm | None) -> list[Message]:
    """The history with every call's id, and that of its result, in this form."""
    if id_form is None:
        return list(history)
    renamed: list[Message] = []
    ids: dict[str, str] = {}
    for message in history:
        if message.calls:
            for call in message.calls:
                ids[call.id] = id_form(call, len(ids))
            if any(ids[call.id] != call.id for call in message.calls):
                calls = tuple(call._replace(id=ids[call.id]) for call in message.calls)
                message = message._replace(calls=calls)
        if ids.get(message.call_id, message.call_id) != message.call_id:
            message = message._replace(call_id=ids[message.call_id])
        renamed.append(message)
    return renamed


def number_by_name(call: ToolCall, position: int) -> str:
    """Kimi K2: the name and how many calls came before it in the conversation."""
    return f"functions.{call.name}:{position}"


def number_from_zero(call: ToolCall, position: int) -> str:
    return str(position)


def number_from_one(call: ToolCall, position: int) -> str:
    return str(position + 1)


def nine_letters(call: ToolCall, position: int) -> str:
    """Mistral refuses anything but nine letters and digits."""
    if len(call.id) == NINE and call.id.isalnum() and call.id.isascii():
        return call.id
    import hashlib  # 5 ms of every start, and only foreign ids need it

    return hashlib.sha256(call.id.encode("utf-8", "replace")).hexdigest()[:NINE]
