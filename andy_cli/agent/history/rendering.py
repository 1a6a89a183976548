"""Render the history so that no server refuses it; what the session keeps stays as it was said.

Servers refuse a whole conversation for one message: an empty one, a call without its result, two
messages of one role in a row, the user right after a result, arguments that are no object. That
message is in every later request too, and a switch of models sends it to somebody else. So what
any family demands is met here, for every model and on every way from the history to the wire. Pure.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from operator import is_not

from andy_cli.compiler.bodies.calls import declared_properties
from andy_cli.compiler.detect import NATIVE
from andy_cli.compiler.dialect import Dialect, IdForm, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.ids import rename_call_ids
from andy_cli.compiler.mapper.json_schema import provider_names
from andy_cli.foreign_values import read_json, replace_surrogates
from andy_cli.messages import NO_ARGUMENTS, Arguments, Message, ToolCall, Wire

MISSING = "There is no result: it was interrupted."


def pair_results(history: Iterable[Message]) -> list[Message]:
    """Put each result right after its call, in the order of the calls.

    A call without a result gets one that says so, a result without a call is left out, and ids
    that two calls share become different ones: results are told by id.
    """
    without_results: list[Message] = []
    results: dict[str, Message] = {}
    waiting: dict[str, list[str]] = {}
    """Id as it was written -> the ids of the calls that have it and no result yet."""
    used_ids: set[str] = set()
    for message in history:
        if message.role == "tool":
            if ids := waiting.get(message.call_id):
                results[ids.pop(0)] = message
            continue
        if message.calls:
            message = _make_ids_unique(message, used_ids, waiting)
        without_results.append(message)
    paired: list[Message] = []
    for message in without_results:
        paired += [message, *_pair_with_results(message, results)]
    return paired


def _make_ids_unique(
    message: Message, used_ids: set[str], waiting: dict[str, list[str]]
) -> Message:
    """Give each call an id of its own, and let it wait for its result."""
    calls = tuple(_with_unique_id(call, used_ids) for call in message.calls)
    # A later call of the same id is the one that is answered from here on.
    waiting |= {call.id: [] for call in message.calls}
    for written, call in zip(message.calls, calls, strict=True):
        waiting[written.id].append(call.id)
    if not any(map(is_not, calls, message.calls)):
        return message
    return message._replace(calls=calls)


def _with_unique_id(call: ToolCall, used_ids: set[str]) -> ToolCall:
    """Give a call an id that no other has; deterministic, so that a prompt cache holds."""
    id, count = call.id or "call", 2
    while id in used_ids:
        id, count = f"{call.id or 'call'}_{count}", count + 1
    used_ids.add(id)
    return call if id == call.id else call._replace(id=id)


def _pair_with_results(message: Message, results: Mapping[str, Message]) -> Iterator[Message]:
    for call in message.calls:
        result = results.get(call.id)
        if result is None:
            result = Message("tool", MISSING)
        if (result.call_id, result.name) != (call.id, call.name):
            result = result._replace(call_id=call.id, name=call.name)
        yield result


def new_id() -> str:
    """Make an id for a session or a call: 9 letters and digits, which every provider accepts."""
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "".join(secrets.choice(alphabet) for _ in range(9))


GO_ON = "Go on."
"""The user's words where a server wants some and there are none."""
ACKNOWLEDGED = "OK."
"""The assistant's words between a result and the user's next message, where a turn was broken off:
Mistral and most templates refuse the user there. The user's words do not go into the result, where
they would be data."""
NO_OUTPUT = "(empty)"
"""A result without text: Anthropic refuses blank texts wherever they stand."""
MAX_DEPTH = 60
"""Levels of arguments that are sent; the mapper takes no more either."""
TOO_DEEP = "(nested too deeply)"
PLAIN_ID = Expression(r"[A-Za-z0-9_-]{1,40}")
"""An id that everybody takes: Anthropic wants these characters, OpenAI 40 of them at most."""
NOT_PLAIN = Expression(r"[^A-Za-z0-9_-]")


def render_history(
    history: Iterable[Message],
    dialect: Dialect,
    tools: Tools,
    names: Mapping[str, str],
    id_form: IdForm | None,
    side_messages: Sequence[Wire] = (),
) -> list[Wire]:
    """Render the messages of a request in this dialect, `side_messages` messages after them.

    `tools` and `names` (registered -> offered) are those of the model; `id_form` its family's.
    """
    messages = repair_messages(history, tools)
    if dialect.name != NATIVE:
        return alternate_roles(
            [*dialect.render(rename_call_ids(messages, id_form)), *side_messages]
        )
    messages = rename_call_ids(fit_tool_messages(messages, names), id_form or make_portable_id)
    wire_messages = [
        add_reasoning(*wire_and_message)
        for wire_and_message in zip(dialect.render(messages), messages, strict=True)
    ]
    return alternate_roles([*wire_messages, *side_messages])


# Messages, in whatever dialect they are told.


def repair_messages(history: Iterable[Message], tools: Tools) -> list[Message]:
    """Put one system message first, then the user; nothing blank; calls with their results."""
    system: list[str] = []
    messages: list[Message] = []
    for message in history:
        content = replace_surrogates(message.content)
        if content is not message.content:
            message = message._replace(content=content)
        if message.role == "system":
            system.append(content)
        elif (repaired := _repair_message(message, tools)) is not None:
            messages.append(repaired)
    paired = pair_results(messages)
    if paired and paired[0].role != "user":
        paired.insert(0, Message("user", GO_ON))
    head = "\n\n".join(text for text in system if not is_blank(text))
    return [Message("system", head), *paired] if head else paired


def _repair_message(message: Message, tools: Tools) -> Message | None:
    """Repair the calls of a message; None where nothing is left of it."""
    if message.role == "tool":
        return message
    if message.role == "assistant" and message.calls:
        return _with_object_arguments(message, tools)
    if is_blank(message.content):
        return None
    return message._replace(calls=()) if message.calls else message


def is_blank(text: str) -> bool:
    return not text or text.isspace()


def _with_object_arguments(message: Message, tools: Tools) -> Message:
    calls = tuple(
        call._replace(arguments=normalize_arguments(call, tools.get(call.name, {})))
        for call in message.calls
    )
    return message._replace(calls=calls)


def normalize_arguments(call: ToolCall, tool: Mapping[str, object]) -> Arguments:
    """Return the arguments as an object of plain JSON values, whatever was kept as such.

    What is no object goes under the tool's only parameter; with several nobody knows which.
    """
    value: object = call.arguments
    if isinstance(value, str):
        value = _read_json(value)
    if isinstance(value, Mapping):
        return _normalize_object(value, 0)
    parameters = list(declared_properties(tool))
    if value in (None, "", [], ()) or len(parameters) != 1:
        return NO_ARGUMENTS
    return {parameters[0]: normalize_value(value)}


def _read_json(text: str) -> object:
    """Read a JSON text; a text that is none is its own value, and a blank one is nothing."""
    if is_blank(text):
        return None
    return read_json(text, text)


def normalize_value(value: object, depth: int = 1) -> object:
    """Return the value as JSON has it: no NaN, no sets, no bytes, keys that are texts."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if depth >= MAX_DEPTH:
        return TOO_DEEP
    if isinstance(value, Mapping):
        return _normalize_object(value, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return [normalize_value(element, depth + 1) for element in value]
    return replace_surrogates(str(value))


def _normalize_object(value: Mapping[object, object], depth: int) -> dict[str, object]:
    return {
        replace_surrogates(str(name)): normalize_value(inner, depth + 1)
        for name, inner in value.items()
    }


# Messages for servers with tool messages of their own.


def fit_tool_messages(history: Iterable[Message], names: Mapping[str, str]) -> list[Message]:
    """Use the names that were offered, no blank results, and put andy's notes into the results."""
    fitted: list[Message] = []
    for message in history:
        last_message = fitted[-1] if fitted else None
        if (
            message.note
            and message.role != "tool"
            and last_message is not None
            and last_message.role == "tool"
        ):
            fitted[-1] = last_message._replace(
                content=f"{last_message.content}\n\n{message.content}"
            )
        else:
            fitted.append(_fit_names(message, names))
    return fitted


def _fit_names(message: Message, names: Mapping[str, str]) -> Message:
    """Use the offered names in a call or a result; a result is never blank."""
    if message.role == "tool":
        content = NO_OUTPUT if is_blank(message.content) else message.content
        name = choose_offered_name(message.name, names)
        if (content, name) == (message.content, message.name):
            return message
        return message._replace(content=content, name=name)
    if all(choose_offered_name(call.name, names) == call.name for call in message.calls):
        return message
    calls = tuple(
        call._replace(name=choose_offered_name(call.name, names)) for call in message.calls
    )
    return message._replace(calls=calls)


def add_reasoning(wire_message: Wire, message: Message) -> Wire:
    """Add what the model thought beside what it said; the client sends it where demanded."""
    if message.role != "assistant" or not message.reasoning:
        return wire_message
    return {**wire_message, "reasoning_content": replace_surrogates(message.reasoning)}


def choose_offered_name(name: str, names: Mapping[str, str]) -> str:
    """Choose the name that a tool was offered with; of one that there is not, one that could be."""
    return names.get(name) or provider_names((name,))[name]


def make_portable_id(call: ToolCall, position: int) -> str:
    """Return the id if every server takes it, else one like it: it may be another server's."""
    if PLAIN_ID.fullmatch(call.id):
        return call.id
    return f"{NOT_PLAIN.sub('_', call.id)[:32]}_{position}"


# What is sent, with the side conversation after it.


def alternate_roles(wire_messages: Iterable[Wire]) -> list[Wire]:
    """Make the user and the assistant take turns, with the user or a result at the end."""
    alternating: list[Wire] = []
    for wire_message in wire_messages:
        if _says_nothing(wire_message):
            continue
        last_message = alternating[-1] if alternating else {}
        if _is_one_turn(last_message, wire_message):
            alternating[-1] = _join_wires(last_message, wire_message)
            continue
        if last_message.get("role") == "tool" and wire_message.get("role") == "user":
            alternating.append({"role": "assistant", "content": ACKNOWLEDGED})
        alternating.append(wire_message)
    if alternating and alternating[-1].get("role") not in ("user", "tool"):
        alternating.append({"role": "user", "content": GO_ON})
    return alternating


def _says_nothing(wire_message: Wire) -> bool:
    blank = is_blank(str(wire_message.get("content") or ""))
    return blank and not wire_message.get("tool_calls") and wire_message.get("role") != "tool"


def _is_one_turn(last_message: Wire, wire_message: Wire) -> bool:
    """Tell whether both are the user's, or the assistant's before it calls anything."""
    role = wire_message.get("role")
    return role in ("user", "assistant") and role == last_message.get("role")


def _join_wires(first: Wire, second: Wire) -> Wire:
    texts = _texts_of(first, second)
    return {**first, **second, "content": "\n\n".join(texts)}


def _texts_of(*wire_messages: Wire) -> Iterator[str]:
    for wire_message in wire_messages:
        content = str(wire_message.get("content") or "")
        if not is_blank(content):
            yield content
