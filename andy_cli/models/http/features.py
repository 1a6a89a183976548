"""What a refusal says that the server will not take of a request.

A feature is a name that `adapting.py` knows how to do without: a field of the request (`stop`), a
field of its messages (`messages.name`), or one of the names below. Found by structure first: the
fields that the refusal names and that the request really has, the role of the message at the place
it names. Words decide only where no server says it otherwise.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from andy_cli.models.http.refusals import Refusal, too_long

Request = Mapping[str, object]

TOOLS: Final = "tools"
TOOL_ROLE: Final = "tool role"
SYSTEM_ROLE: Final = "system role"
ALTERNATION: Final = "alternation"
SHORT_IDS: Final = "short ids"
"""Ids of calls have nine letters and digits."""
REASONING: Final = "reasoning back"
"""The reasoning of earlier replies must be sent back."""
EXTRAS: Final = "extras"
"""All that is not needed: the server says no more than that something is too much."""
LIMIT: Final = "limit"
"""The number of tokens is the fault, not the name of the field."""

STATUSES = frozenset({400, 404, 405, 415, 422, 500, 501})
NEEDED = frozenset({"model", "messages", "stream"})
LIMITS = ("max_tokens", "max_completion_tokens")
PATH = re.compile(r"messages?\W{1,2}(\d+)\W{1,2}(role|[a-z_]+)\b")
CALL_ID = re.compile(r"tool_calls\W*\d+\W*id\b|tool_call_id|tool_use\.id|tool call id", re.I)
PROPERTY = re.compile(r"(?:property|field|key)\W{1,2}([a-z_]+)\W", re.I)
UNSUPPORTED = re.compile(
    r"unsupported|not.{0,12}(support|permit|allow|accept|implement)|n't support|unrecogni[sz]ed|"
    r"unknown|unexpected|extra_?.?(forbidden|inputs|fields)|cannot find|invalid_?.?argument|"
    r"must be '",
    re.I,
)
FAULTY_LIMIT = re.compile(r"too (large|big|high)|at most|maximum|less than|exceed|range", re.I)
DEMANDED = re.compile(r"must be|missing|required|expected|passed back", re.I)
WORDS = (
    (TOOLS, r"(?<!_)tools?\b.{0,40}(not (supported|available)|unsupported)"),
    (TOOLS, r"support(ed)? .{0,30}\btool (use|call)|tool.calling\W{0,3} is not"),
    (TOOLS, r"(not|n't) support.{0,40}(\btools?\b|function.call)"),
    (TOOLS, r"tool.choice.{0,40}requires|enable-auto-tool-choice|--jinja"),
    (ALTERNATION, r"roles? must alternate|after the optional system message"),
    (ALTERNATION, r"only user and assistant roles"),
    (TOOL_ROLE, r"role\W{0,12}tool\b|\btool\W{0,4}role|variant\W{1,3}tool\b"),
    (SYSTEM_ROLE, r"system (role|message|prompt|instruction)\w* (is |are )?not|role\W{0,12}system"),
    (SYSTEM_ROLE, r"developer\b.{0,20}(is not one of|role)|role\W{0,12}developer"),
    (EXTRAS, r"extra.{0,3}(inputs|forbidden|fields)|unrecogni[sz]ed (request )?argument"),
    (EXTRAS, r"unknown (field|parameter|argument|name)|unsupported parameter"),
)
"""What is said where no field is named, the most telling first."""


def find_feature(status: int, refusal: Refusal, request: Request) -> str:
    """The feature of the request that the server will not take; empty when it names none."""
    if status not in STATUSES or (too_long(refusal) and not _blames_limit(refusal, request)):
        return ""
    return next(_features(refusal, request), "")


def _features(refusal: Refusal, request: Request) -> Iterator[str]:
    said = f"{refusal.message} {' '.join(refusal.fields)}"
    if _blames_limit(refusal, request):
        yield LIMIT
    if "reasoning_content" in said and DEMANDED.search(said) and not UNSUPPORTED.search(said):
        yield REASONING
    if CALL_ID.search(said):
        yield SHORT_IDS
    yield from _in_messages(said, request)
    if UNSUPPORTED.search(f"{said} {refusal.code}"):
        yield from _named_fields(refusal, request)
    for feature, words in WORDS:
        if re.search(words, said, re.IGNORECASE | re.DOTALL):
            yield feature


def _root(field: str) -> str:
    """The field of the request in which it stands: `messages[0].role` is in `messages`."""
    return re.split(r"[.\[]", field, maxsplit=1)[0]


def _blames_limit(refusal: Refusal, request: Request) -> bool:
    """Whether more tokens were asked for than the model can write."""
    named = [name for name in LIMITS if name in request and _names(refusal, name)]
    return (
        bool(named)
        and re.search(FAULTY_LIMIT, refusal.message) is not None
        and not re.search(r"in the messages|input length and", refusal.message)
    )


def _in_messages(said: str, request: Request) -> Iterator[str]:
    """Fields of messages that are named, and roles by the place of their message."""
    messages = _messages(request)
    have = {name for message in messages for name in message}
    removable = have - {"role", "content", "tool_calls", "tool_call_id"}
    for name in PROPERTY.findall(said):
        if name in removable:
            yield f"messages.{name}"
    for place, name in PATH.findall(said):
        if name in removable:
            yield f"messages.{name}"
        elif name == "role" and int(place) < len(messages):
            yield ROLES.get(str(messages[int(place)].get("role")), ALTERNATION)


ROLES = {"system": SYSTEM_ROLE, "developer": SYSTEM_ROLE, "tool": TOOL_ROLE}


def _messages(request: Request) -> list[Mapping[str, object]]:
    listed = request.get("messages")
    rows = listed if isinstance(listed, list | tuple) else ()
    return [message for message in rows if isinstance(message, Mapping)]


def _named_fields(refusal: Refusal, request: Request) -> Iterator[str]:
    """Fields of the request that are named; those the server itself sets apart come first."""
    names = [name for name in request if name not in NEEDED]
    for name in names:
        if any(_root(field) == name for field in refusal.fields):
            yield name
    for name in sorted(names, key=lambda name: refusal.message.find(name)):
        if _names(refusal, name):
            yield name


def _names(refusal: Refusal, name: str) -> bool:
    if name in refusal.fields:
        return True
    # `stop` and `tools` are words of English too: they are names in quotes and behind a colon.
    plain = "_" in name or name == "temperature"
    pattern = rf"\b{name}\b" if plain else rf"[`'\"]{name}\b|: {name}$"
    return re.search(pattern, refusal.message) is not None
