"""What model servers demand of the messages of a request, each family's rules apart.

    faults = broken_rules(request.messages, "mistral")      a sentence for each, none if all is well

The rules are read out of chat templates, API references and refusals that were seen; where a fact
is not sure the stricter reading stands. Messages are in the form of the OpenAI chat API: the rules
of a server with another form (Anthropic, Gemini) are those of what its endpoint makes of them.

`watch` is called with every request of every scripted model; conftest.py fails the test in which it
found something.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

WireMessage = Mapping[str, Any]
Rules = Callable[[Sequence[WireMessage]], Iterator[str]]

ROLES = frozenset(["system", "user", "assistant", "tool"])
FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""OpenAI and Anthropic take these characters; Gemini wants a letter or `_` in front."""
MAX_ID_LENGTH = 40
"""OpenAI: `string too long. Expected a string with maximum length 40`."""


def openai_rules(messages: Sequence[WireMessage]) -> Iterator[str]:
    """What every server of the OpenAI chat API demands."""
    if not any(message.get("role") in ("user", "tool") for message in messages):
        yield "the request: nobody says anything"
    for at, message in enumerate(messages):
        for fault in _faults_of_one(message):
            yield _place(messages, at, fault)
    yield from _pairing(messages)


def mistral_rules(messages: Sequence[WireMessage]) -> Iterator[str]:
    """`Unexpected role 'user' after role 'tool'`, `Expected last role User or Tool`, and so on."""
    yield from openai_rules(messages)
    yield from _system_first(messages)
    yield from _user_or_result_last(messages)
    followers = {
        "": ("user",),
        "user": ("assistant",),
        "assistant": ("user",),
        "calls": ("tool",),
        "tool": ("tool", "assistant"),
    }
    before = ""
    for at, message in enumerate(messages):
        if message.get("role") == "system":
            continue
        kind = str(message.get("role"))
        if kind not in followers[before]:
            yield _place(messages, at, f"{kind} may not follow {before or 'the system message'}")
        before = "calls" if message.get("tool_calls") else kind
        if before not in followers:
            return


def mistral_id_rules(messages: Sequence[WireMessage]) -> Iterator[str]:
    """`Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9.`"""
    for at, message in enumerate(messages):
        for call in _calls_of(message):
            if not re.fullmatch(r"[A-Za-z0-9]{9}", str(call.get("id"))):
                yield _place(
                    messages, at, f"the id {call.get('id')!r} has not 9 letters and digits"
                )


def anthropic_rules(messages: Sequence[WireMessage]) -> Iterator[str]:
    """What its endpoint for OpenAI's form makes of them has to be good for the Messages API."""
    yield from openai_rules(messages)
    yield from _system_first(messages)
    yield from _anthropic_turns(messages)
    for at, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, str) and not content.strip():
            yield _place(messages, at, "text content blocks must contain non-whitespace text")
        for call in _calls_of(message):
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", str(call.get("id"))):
                yield _place(messages, at, f"tool_use.id {call.get('id')!r} does not match")
    last = messages[-1] if messages else {}
    if last.get("role") == "assistant" and _text(last) != _text(last).rstrip():
        yield _place(messages, -1, "final assistant content cannot end with trailing whitespace")


def _anthropic_turns(messages: Sequence[WireMessage]) -> Iterator[str]:
    """Results are the user's turn there, all those of one reply together."""
    before = ""
    for at, message in enumerate(messages):
        role = message.get("role")
        if role == "system":
            continue
        turn = "assistant" if role == "assistant" else "user"
        if not before and turn != "user":
            yield _place(messages, at, "the first message must use the user role")
        more_results = role == "tool" == messages[at - 1].get("role")
        if turn == before and not more_results:
            yield _place(messages, at, f"roles must alternate, found two of {turn} in a row")
        before = turn


def gemini_rules(messages: Sequence[WireMessage]) -> Iterator[str]:
    """`function call turn comes immediately after a user turn or after a function response turn`,
    and `the number of function response parts is equal to the number of function call parts`."""
    yield from openai_rules(messages)
    yield from _system_first(messages)
    yield from _user_or_result_last(messages)
    talk = [at for at, message in enumerate(messages) if message.get("role") != "system"]
    if talk and messages[talk[0]].get("role") != "user":
        yield _place(messages, talk[0], "the first turn must be the user's")
    for at, message in enumerate(messages):
        calls = _calls_of(message)
        if not calls:
            continue
        if at == 0 or messages[at - 1].get("role") not in ("user", "tool"):
            yield _place(messages, at, "a function call turn must follow a user or a response turn")
        responses = _results_behind(messages, at)
        if len(responses) != len(calls):
            yield _place(messages, at, f"{len(responses)} responses for {len(calls)} calls")
        called = [str(_mapping(call.get("function")).get("name")) for call in calls]
        answered = [str(response.get("name", name)) for response, name in _named(responses, called)]
        if called != answered:
            yield _place(messages, at, f"{answered} responded to calls of {called}")


def template_rules(messages: Sequence[WireMessage]) -> Iterator[str]:
    """`Conversation roles must alternate user/assistant/user/assistant/...`

    As the templates of Llama 2, Mistral and Gemma raise it; those that know tools pass over calls
    and results in counting.
    """
    yield from _system_first(messages)
    yield from _user_or_result_last(messages)
    expected = "user"
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant") or message.get("tool_calls"):
            continue
        if role != expected:
            yield _place(messages, at, "conversation roles must alternate user/assistant")
        expected = "user" if role == "assistant" else "assistant"


FAMILIES: Mapping[str, Rules] = {
    "openai": openai_rules,
    "mistral": mistral_rules,
    "anthropic": anthropic_rules,
    "gemini": gemini_rules,
    "template": template_rules,
    "mistral ids": mistral_id_rules,
}
EVERYBODY = ("openai", "template")
"""The rules that hold for every request, whoever it is for."""
OWN_RULES = (
    (r"mistral|mixtral|ministral|magistral|devstral|codestral|pixtral", ("mistral", "mistral ids")),
    (r"claude|anthropic", ("anthropic",)),
    (r"gemini", ("gemini",)),
)


def rules_for(model: str) -> tuple[str, ...]:
    """The families whose rules a request to this model must keep, told by its name."""
    own = [families for pattern, families in OWN_RULES if re.search(pattern, model.lower())]
    return EVERYBODY + tuple(family for families in own for family in families)


def broken_rules(messages: Sequence[WireMessage], *families: str) -> list[str]:
    """The faults that these families find, as `openai: message 3 (tool): ...`."""
    return [
        f"{family}: {fault}"
        for family in families
        for fault in dict.fromkeys(FAMILIES[family](messages))
    ]


FOUND: list[str] = []
"""What `watch` found since the test began."""


def watch(messages: Sequence[WireMessage], model: str, request: int) -> None:
    """Note what is wrong with a request that a scripted model got; `request` counts from 0."""
    for fault in broken_rules(messages, *rules_for(model)):
        FOUND.append(f"request {request} to {model!r}: {fault}")


# One message.


def _place(messages: Sequence[WireMessage], at: int, fault: str) -> str:
    message = messages[at]
    shown = json.dumps(dict(message), ensure_ascii=True, default=str)
    return f"message {at % len(messages)} ({message.get('role')}): {fault}: {shown[:300]}"


def _faults_of_one(message: WireMessage) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        yield "unknown role"
    if "tool_calls" in message and (role != "assistant" or not message["tool_calls"]):
        yield "tool_calls are for the assistant, and at least one"
    if content is not None and not isinstance(content, str | list):
        yield "content is neither a text nor parts"
    if not _text(message).strip() and not message.get("tool_calls"):
        yield "it is empty"
    if not _is_unicode(_text(message)):
        yield "half a character (a surrogate) cannot be encoded"
    for call in _calls_of(message):
        yield from _faults_of_call(call)


def _faults_of_call(call: Mapping[str, Any]) -> Iterator[str]:
    id, function = call.get("id"), _mapping(call.get("function"))
    if not isinstance(id, str) or not 0 < len(id) <= MAX_ID_LENGTH:
        yield f"the id {id!r} is no text of 1 to {MAX_ID_LENGTH} characters"
    if call.get("type") != "function":
        yield f"there is no type {call.get('type')!r}"
    if not FUNCTION_NAME.fullmatch(str(function.get("name"))):
        yield f"the name {function.get('name')!r} does not match {FUNCTION_NAME.pattern}"
    arguments = function.get("arguments")
    if not isinstance(arguments, str) or not isinstance(_strict_json(arguments), dict):
        yield f"the arguments {arguments!r} are no JSON text of an object"
    elif not _is_unicode(arguments):
        yield "half a character (a surrogate) in the arguments cannot be encoded"


def _strict_json(text: str) -> object:
    """The value; None for what is no JSON, such as NaN."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        value: object = json.loads(text, parse_constant=refuse)
    except ValueError:
        return None
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(message: WireMessage) -> str:
    """The text; of parts all of them, of which a picture counts as one too."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(_mapping(part).get("text", part)) for part in content)
    return content if isinstance(content, str) else ""


def _calls_of(message: WireMessage) -> Sequence[Mapping[str, Any]]:
    return [_mapping(call) for call in message.get("tool_calls") or ()]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# Several messages.


def _pairing(messages: Sequence[WireMessage]) -> Iterator[str]:
    """Results right after the assistant message whose calls they answer, each once."""
    seen: set[str] = set()
    open_ids: list[str] = []
    for at, message in enumerate(messages):
        if message.get("role") == "tool":
            id = str(message.get("tool_call_id"))
            if id not in open_ids:
                yield _place(messages, at, f"no call right before it has the id {id!r}")
            else:
                open_ids.remove(id)
            continue
        for id in open_ids:
            yield _place(messages, at, f"the call {id!r} before it has no result")
        open_ids = [str(call.get("id")) for call in _calls_of(message)]
        for id in open_ids:
            if id in seen:
                yield _place(messages, at, f"the id {id!r} is there twice")
            seen.add(id)
    for id in open_ids:
        yield _place(messages, -1, f"the call {id!r} has no result")


def _system_first(messages: Sequence[WireMessage]) -> Iterator[str]:
    for at, message in enumerate(messages):
        if at and message.get("role") == "system":
            yield _place(messages, at, "the system message comes first, and once")


def _user_or_result_last(messages: Sequence[WireMessage]) -> Iterator[str]:
    if messages and messages[-1].get("role") not in ("user", "tool"):
        yield _place(messages, -1, "the last message must be the user's or a result")


def _results_behind(messages: Sequence[WireMessage], at: int) -> list[WireMessage]:
    found: list[WireMessage] = []
    for message in messages[at + 1 :]:
        if message.get("role") != "tool":
            break
        found.append(message)
    return found


def _named(
    responses: Sequence[WireMessage], called: Sequence[str]
) -> Iterator[tuple[WireMessage, str]]:
    """Each response with the name of the call at its place; a `name` of its own goes before."""
    padded = [*called, *[""] * len(responses)]
    yield from zip(responses, padded, strict=False)
