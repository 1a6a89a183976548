"""Do without what a server has refused: once, and from then on. For andy itself and `andy serve`.

What is learned is a set of features; a request is changed by it on its way out, and what is kept of
the conversation stays as it was. There is no loop: each refusal must name something that was not
learned before and that changes the request, else it is an error.

A feature is a name for what can be done without: a field of the request (`stop`), a field of its
messages (`messages.name`), or one of the names below. There is one reading of every refusal, from
the sure to the vague:

1. the places that it names: fields of the request or of a message, the role of the message there;
2. names of fields of the request in its words, if they are quoted or can be nothing else;
3. words for what has no field of its own: tools, roles, their order;
4. that the server's template failed: then what templates most often fail over.

What it names counts only where the request has it. So a new wording needs no new rule as long as
it names the field, and a wrong guess costs one request: each feature is tried once.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.messages import Wire
from andy_cli.models.http.refusals import ServerRefusal, too_long
from andy_cli.models.http.request import RESPONSE_FORMAT, UNHELPFUL, Body, find_ours
from andy_cli.models.http.wording import wording

Request = Mapping[str, object]

TOOLS: Final = "tools"
TOOL_ROLE: Final = "tool role"
SYSTEM_ROLE: Final = "system role"
DEVELOPER_ROLE: Final = "developer role"
ALTERNATION: Final = "alternation"
SHORT_IDS: Final = "short ids"
"""Ids of calls have nine letters and digits."""
NULL_CONTENT: Final = "null content"
EMPTY_CONTENT: Final = "empty content"
REASONING: Final = "reasoning back"
"""The reasoning of earlier replies must be sent back."""
EXTRAS: Final = "extras"
"""All that is not needed: the server says no more than that something is too much."""
STREAM: Final = "stream"
LIMIT: Final = "limit"
"""The number of tokens is the fault, not the name of the field."""

NOT_REMEMBERED = frozenset({TOOLS, EXTRAS, LIMIT, STREAM, UNHELPFUL})
"""Features that are not remembered from one start to the next: they may be due to one request, or
are remembered otherwise."""

INVALID = frozenset({400, 415, 422})
"""Statuses that say that the request is at fault: what is named needs no further words."""
STATUSES = INVALID | {404, 405, 500, 501}
NEEDED = frozenset({"model", "messages", "stream", TOOLS})
CORE = frozenset({"role", "content", "tool_calls", "tool_call_id"})
"""Fields of messages that cannot be left out."""
LIMITS = ("max_tokens", "max_completion_tokens")
ROLES = {"system": SYSTEM_ROLE, "developer": DEVELOPER_ROLE, "tool": TOOL_ROLE}


def find_features(status: int, refusal: ServerRefusal, request: Request) -> Iterator[str]:
    """The features of the request that the server may have refused, the likeliest first."""
    blamed = _blames_limit(refusal, request)
    if status not in STATUSES or (too_long(refusal) and not blamed):
        return
    if blamed:
        yield LIMIT
    refusal_text = f"{refusal.text or refusal.message} {' '.join(refusal.fields)}"
    yield from _in_messages(refusal_text, request)
    if status in INVALID or wording("refused").search(f"{refusal_text} {refusal.code}"):
        yield from _named_fields(refusal, request)
    if wording("constraint").search(refusal_text) and TOOLS not in request:
        yield from find_ours(request)
    yield from _in_words(refusal_text, refusal, request)
    yield from _in_template(refusal_text, request)


def refuses_any_tools(refusal: ServerRefusal) -> bool:
    """Tell whether a refusal of tools is one of all tools, and not of those that were sent."""
    return (
        TOOLS in refusal.fields
        or wording("any_tools").search(refusal.text or refusal.message) is not None
    )


def blames_value(refusal: ServerRefusal) -> bool:
    """Tell whether a value is out of its range, and another would be taken."""
    return wording("faulty_limit").search(refusal.message) is not None


def _blames_one_tool(refusal_text: str, request: Request) -> bool:
    """Tell whether a place among the tools is named, or one of them by its name in quotes."""
    if wording("part_of_tool").search(refusal_text):
        return True
    functions = [as_record(tool.get("function")) for tool in as_records(request.get(TOOLS))]
    names = {text_of(function, "name") for function in functions} - {""}
    return any(quotation[1] in names for quotation in wording("quoted").finditer(refusal_text))


def _blames_limit(refusal: ServerRefusal, request: Request) -> bool:
    """Tell whether more tokens were asked for than the model can write."""
    limits = [name for name in LIMITS if name in request]
    if not blames_value(refusal) or wording("about_input").search(refusal.message):
        return False
    if limits and wording("output_limit").search(refusal.message):
        return True
    for name in limits:
        is_told = re.search(rf"\b{request[name]}\b", refusal.message) is not None
        if is_told or _is_named(name, refusal):
            return True
    return False


def _is_field_named(name: str, refusal_text: str) -> bool:
    # `name` is a word of English too: it is the field where it stands in quotes.
    pattern = rf"\b{name}\b" if "_" in name else rf"\W{{2}}{name}['\"`]"
    return re.search(pattern, refusal_text) is not None


def _in_messages(refusal_text: str, request: Request) -> Iterator[str]:
    """List the fields that are named inside the messages."""
    messages = as_records(request.get("messages"))
    if wording("call_id").search(refusal_text):
        yield SHORT_IDS
    wants_reasoning = "reasoning_content" in refusal_text and "remove" not in refusal_text
    if wants_reasoning and wording("demanded").search(refusal_text):
        yield REASONING
    for name in sorted(set(chain.from_iterable(messages)) - CORE):
        if _is_field_named(name, refusal_text):
            yield f"messages.{name}"
    for message_index, name in wording("place").findall(refusal_text):
        if int(message_index) < len(messages):
            yield from _at_place(messages[int(message_index)], name, refusal_text)


def _at_place(message: Wire, name: str, refusal_text: str) -> Iterator[str]:
    if name == "role":
        yield ROLES.get(str(message.get("role")), ALTERNATION)
    if (name == "content" or "content" in refusal_text) and not message.get("content"):
        yield NULL_CONTENT if message.get("content") is None else EMPTY_CONTENT


def _named_fields(refusal: ServerRefusal, request: Request) -> Iterator[str]:
    """Fields of the request that are named; those that the server itself sets apart come first."""
    names = [name for name in request if name not in NEEDED]
    set_apart = {field.replace("[", ".").partition(".")[0] for field in refusal.fields}
    yield from (name for name in names if name in set_apart)
    yield from (name for name in names if _is_named(name, refusal))


def _is_named(name: str, refusal: ServerRefusal) -> bool:
    if name in refusal.fields:
        return True
    refusal_text = refusal.text or refusal.message
    # `stop` and `seed` are words of English too: they are names in quotes and after a colon.
    if "_" not in name and name != "temperature":
        pattern = rf"[`'\"]{name}\b|: {name}$|\b(parameter|field) {name}\b"
        return re.search(pattern, refusal_text) is not None
    return name in refusal_text or name.replace("_", "") in _camel_words(refusal_text)


def _camel_words(text: str) -> set[str]:
    """`presencePenalty` and `TopP`, in small letters."""
    return {word.lower() for word in wording("camel_case").findall(text)}


def _in_words(refusal_text: str, refusal: ServerRefusal, request: Request) -> Iterator[str]:
    """Find what is refused in words, where no field is named."""
    if wording("order_of_roles").search(refusal_text):
        yield ALTERNATION
    if not wording("refused").search(refusal_text):
        return
    if wording("user_last").search(refusal_text):
        yield TOOL_ROLE
    yield from _in_roles(refusal_text, request)
    blames_calling = TOOLS in request and wording("calling").search(refusal_text)
    if blames_calling and not _blames_one_tool(refusal_text, request):
        yield TOOLS
    if wording("content").search(refusal_text):
        yield from _list_empty_contents(request)
    if "stream" in refusal.fields:
        yield STREAM
    if wording("too_much").search(refusal_text):
        yield EXTRAS


def _list_empty_contents(request: Request) -> Iterator[str]:
    for message in filter(_says_nothing, as_records(request.get("messages"))):
        yield NULL_CONTENT if message["content"] is None else EMPTY_CONTENT


def _in_roles(refusal_text: str, request: Request) -> Iterator[str]:
    """List the roles that are refused, by name or because others are demanded."""
    roles = {message.get("role") for message in as_records(request.get("messages"))}
    for role_match in wording("role_name").finditer(refusal_text):
        role_name = next(filter(None, role_match.groups())).lower()
        # The developer's message is the system's by another name; some servers say so of ours.
        is_ours = role_name == "developer" and role_name not in roles
        yield SYSTEM_ROLE if is_ours else ROLES[role_name]
    if wording("any_role").search(refusal_text):
        yield from _list_unnamed_roles(refusal_text.lower(), roles)


def _list_unnamed_roles(refusal_text: str, roles: Collection[object]) -> list[str]:
    """List the roles of a request that are not among those that a refusal names."""
    return [
        feature for role, feature in ROLES.items() if role in roles and role not in refusal_text
    ]


def _in_template(refusal_text: str, request: Request) -> Iterator[str]:
    """Yield what templates fail over that say no more than that: tools, then every role but two."""
    if wording("template").search(refusal_text):
        if TOOLS in request:
            yield TOOLS
        yield ALTERNATION


def _says_nothing(message: Wire) -> bool:
    return "content" in message and message["content"] in (None, "")


KEPT_FIELDS = frozenset({"model", "messages", "stream", "tools", "tool_choice", *LIMITS})
"""Fields that are sent even to a server that wants nothing extra."""
WITH_TOOLS = frozenset({"tools", "tool_choice", "parallel_tool_calls", "functions"})


class Adapter:
    """The memory of what one server has refused of requests to one model."""

    def __init__(self, learned: Iterable[str] = ()) -> None:
        self.learned = set(learned)

    def adapt(self, body: Mapping[str, object]) -> Body:
        """The request without what was refused before."""
        return adapt_body(body, self.learned)

    def learn(
        self, status: int, refusal: ServerRefusal, sent_body: Mapping[str, object]
    ) -> Body | None:
        """Find what to send instead of a request that was refused; None if nothing is left."""
        for feature in find_features(status, refusal, sent_body):
            if feature in self.learned:
                continue
            changed = adapt_body(sent_body, {*self.learned, feature})
            if changed != sent_body:
                self.learned.add(feature)
                return changed
        return None


def adapt_body(body: Mapping[str, object], learned: Collection[str]) -> Body:
    """The request without the features; the same again for a request that has none of them."""
    kept_fields = {STREAM, *LIMITS}  # these are changed
    changed = {
        name: value for name, value in body.items() if name not in learned or name in kept_fields
    }
    if STREAM in learned:
        changed["stream"] = False
        changed.pop("stream_options", None)
    dropped = set(WITH_TOOLS) if TOOLS in learned else set()
    dropped |= changed.keys() - KEPT_FIELDS if EXTRAS in learned else set()
    changed = {name: value for name, value in changed.items() if name not in dropped}
    _rename_limit(changed, learned)
    messages = body.get("messages")
    if isinstance(messages, list | tuple):
        told_messages = _tell_answer_schema(messages, body, changed)
        changed["messages"] = _adapt_messages(told_messages, learned)
    return changed


ANSWER_SCHEMA = (
    "Your final answer is JSON alone, without words or a code fence around it, and fits this JSON "
    "schema:\n"
)


def _tell_answer_schema(
    messages: Sequence[Wire], body: Mapping[str, object], changed: Body
) -> Sequence[Wire]:
    """Tell the model in words which JSON a client wants, where its server takes no field for it."""
    named_schema = as_record(as_record(body.get(RESPONSE_FORMAT)).get("json_schema"))
    schema = named_schema.get("schema")
    is_told = RESPONSE_FORMAT in changed or RESPONSE_FORMAT in find_ours(body)
    if is_told or not isinstance(schema, Mapping):
        return messages
    words = ANSWER_SCHEMA + json.dumps(schema, ensure_ascii=False)
    first, *others = messages or [{}]
    if first.get("role") in ("system", "developer"):
        return [{**first, "content": f"{_message_text(first)}\n\n{words}"}, *others]
    return [{"role": "system", "content": words}, *messages]


def _rename_limit(body: Body, learned: Collection[str]) -> None:
    """The tokens of the reply under the name that the server knows; dropped if it knows none."""
    for name in LIMITS:
        if name in body and (name in learned or LIMIT in learned):
            value = body.pop(name)
            other = next(limit for limit in LIMITS if limit != name)
            if other not in learned and LIMIT not in learned:
                body.setdefault(other, value)
            return


def _adapt_roles(wire_messages: list[Wire], learned: Collection[str]) -> list[Wire]:
    if DEVELOPER_ROLE in learned:
        wire_messages = [_with_system_role(message) for message in wire_messages]
    if ALTERNATION in learned or TOOL_ROLE in learned:
        wire_messages = _without_tool_role(wire_messages)
    if ALTERNATION in learned or SYSTEM_ROLE in learned:
        wire_messages = _without_system_role(wire_messages)
    return wire_messages


def _adapt_messages(messages: Sequence[Wire], learned: Collection[str]) -> list[Wire]:
    dropped = {name.removeprefix("messages.") for name in learned if name.startswith("messages.")}
    wire_messages = _adapt_roles([_drop_fields(message, dropped) for message in messages], learned)
    changes: list[Callable[[Wire], Wire]] = []
    if NULL_CONTENT in learned or EMPTY_CONTENT in learned:
        changes.append(partial(_with_content, learned=learned))
    if SHORT_IDS in learned:
        changes.append(_with_short_ids)
    if REASONING in learned and "reasoning_content" not in dropped:
        changes.append(_with_reasoning)
    for change in changes:
        wire_messages = list(map(change, wire_messages))
    return wire_messages


def _drop_fields(message: Wire, names: Collection[str]) -> Wire:
    return {name: value for name, value in message.items() if name not in names}


def _with_system_role(message: Wire) -> Wire:
    return {**message, "role": "system"} if message.get("role") == "developer" else message


def _with_content(message: Wire, learned: Collection[str]) -> Wire:
    """Nothing said is null or an empty text, as the server takes it; words, if it takes neither."""
    if message.get("content") not in (None, ""):
        return message
    if EMPTY_CONTENT not in learned:
        return {**message, "content": ""}
    is_null = bool(message.get("tool_calls")) and NULL_CONTENT not in learned
    return {**message, "content": None if is_null else "(empty)"}


def _with_reasoning(message: Wire) -> Wire:
    """A reply whose reasoning was not kept says that it is empty: the field is what is demanded."""
    if message.get("role") != "assistant" or "reasoning_content" in message:
        return message
    return {**message, "reasoning_content": ""}


def _with_short_ids(message: Wire) -> Wire:
    changed = dict(message)
    if isinstance(id := message.get("tool_call_id"), str):
        changed["tool_call_id"] = shorten_id(id)
    if calls := as_records(message.get("tool_calls")):
        changed["tool_calls"] = [{**call, "id": shorten_id(str(call.get("id")))} for call in calls]
    return changed


def shorten_id(id: str) -> str:
    """Nine letters and digits, as Mistral wants them; the same ones for the same id."""
    if len(id) == 9 and id.isalnum() and id.isascii():
        return id
    return hashlib.sha256(id.encode("utf-8", "replace")).hexdigest()[:9]


def _without_tool_role(messages: Sequence[Wire]) -> list[Wire]:
    """Results told by the user. Requests go with them: we never write the assistant's words."""
    words_by_id: dict[object, str] = {}
    wire_messages: list[Wire] = []
    for message in messages:
        for id, words in _calls_in_words(message):
            words_by_id[id] = words
        if message.get("role") == "tool":
            call_words = words_by_id.get(message.get("tool_call_id"), "")
            text = f"Result{call_words}:\n{_message_text(message)}"
            wire_messages.append({"role": "user", "content": text})
        elif message.get("tool_calls"):
            if text := _message_text(message):
                wire_messages.append({"role": message["role"], "content": text})
        else:
            wire_messages.append(message)
    return _merge_neighbours(wire_messages)


def _calls_in_words(message: Wire) -> list[tuple[object, str]]:
    call_words: list[tuple[object, str]] = []
    for call in as_records(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, Mapping):
            words = f" of {function.get('name')} {function.get('arguments') or ''}".rstrip()
            call_words.append((call.get("id"), words))
    return call_words


def _without_system_role(messages: Sequence[Wire]) -> list[Wire]:
    folded = [
        {**message, "role": "user"} if message.get("role") in ("system", "developer") else message
        for message in messages
    ]
    return _merge_neighbours(folded)


def _merge_neighbours(messages: Sequence[Wire]) -> list[Wire]:
    """Neighbours of one role become one message, with a blank line between (R1)."""
    wire_messages: list[Wire] = []
    for message in messages:
        if wire_messages and message.get("role") == wire_messages[-1].get("role") != "tool":
            joined_text = f"{_message_text(wire_messages[-1])}\n\n{_message_text(message)}".strip()
            wire_messages[-1] = {**wire_messages[-1], "content": joined_text}
        else:
            wire_messages.append(message)
    return wire_messages


def _message_text(message: Wire) -> str:
    content = message.get("content")
    if isinstance(content, list):
        texts = [content_part.get("text") for content_part in as_records(content)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
