"""Protocol that no dialect reads as a request, but that is no part of an answer either.

Written as dialects, so that one scanner finds all of it: tokens and role labels of templates,
`[Tool Request]` with its JSON, results told back, call JSON in the middle of a line.
"""

import re
from collections.abc import Callable, Mapping

from andy_cli.agent.plumbing.bodies import (
    LABELLED,
    LONGEST,
    ROLE,
    Labelled,
    Named,
    Now,
    ProtocolFence,
    Rest,
    Until,
    acts,
    belongs,
    named_end,
    protocol_info,
)
from andy_cli.agent.plumbing.words import CALLS, HEADERS, LABELS, RESULTS, ROLE_FOLLOWS, TOKENS
from andy_cli.compiler.bodies import calls, json_text
from andy_cli.compiler.bodies.ends import Bare, Line, ToEnd
from andy_cli.compiler.dialect import Body, Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.markers import REASONING, TURN

MENTIONED = Expression(
    r"[ \t]*(?:(?:and|or|to|is|are|in|with|\.{3}|\u2026)\b|[.,;:!?)\"'`\u2026|]|[ ]\w)"
)

CALLED = Expression(r"\s*(?:[{\[<]|[.\-:/]*\w[\w.\-:/]*\s*[({\n=<]|\Z)")


def cautious(dialect: Dialect) -> Dialect:
    """ReAct without its trust in a lone word: `Action: Bob` is a line of somebody's minutes."""
    if dialect.name != "react":
        return dialect

    def body(opener: str, tools: Tools) -> Body:
        return (Named if "action" in opener.lower() else ToEnd)(opener, tools)

    def parse(text: str, tools: Tools) -> Parsed | None:
        action = text.lstrip("*").lower().startswith("action")
        return None if action and not acts(text + "\n", tools) else dialect.parse(text, tools)

    return dialect._replace(body=body, parse=parse)


def fence(text: str, tools: Tools) -> Parsed | None:
    info, line_break, _ = text.lstrip("`~").partition("\n")
    return Parsed() if line_break and protocol_info(info) else None


OTHERS = ("user", "system", "tool", "human", "developer")
"""Whose turn is none of the answer's."""


def anything(text: str, tools: Tools) -> Parsed | None:
    return Parsed()


def token(text: str, tools: Tools) -> Parsed | None:
    opener = next((each for each in ROLE_FOLLOWS if text.startswith(each)), text)
    role = ROLE.match(text[len(opener) :])
    if role and role[0].endswith("\n") and role[0].strip() in OTHERS:
        return Parsed(thinks_until=TURN)
    return Parsed(text=text[len(opener) + (role.end() if role else 0) :])


def label(text: str, tools: Tools) -> Parsed:
    """What stands behind the label and is no value is text again."""
    head = text.find("]") + 1
    match = LABELLED.match(text[head:])
    if match is None or (match["value"] and belongs(match["name"], tools)):
        return Parsed()
    return Parsed(text=text[head + named_end(match, tools) :])


def valued_label(text: str, tools: Tools) -> Parsed | None:
    """In the middle of a line a label alone is a mention; with a value or a tool it is none."""
    parsed = label(text, tools)
    bare = text.removesuffix(parsed.text) if parsed else text
    return parsed if bare.rstrip(" :*_")[-1:] != "]" else None


def inline(text: str, tools: Tools) -> Parsed | None:
    """Call JSON of a tool that exists, or a list of such; a tool's description is none."""
    value = json_text.read(text) if len(text) < LONGEST else None
    called = calls.requests_in(value, tools, known=True)
    if called and not described(value) and not (isinstance(value, dict) and set(value) == {"name"}):
        return Parsed()
    named = isinstance(value, dict) and [value.get(key) for key in ("tool", "tool_name")]
    if named and any(isinstance(each, str) and each in tools for each in named):
        return Parsed() if not described(value) else None
    cut = not json_text.balanced(text) and any(f'"{name}"' in text[:200] for name in tools)
    return Parsed(incomplete=True) if cut and value is None else None


def described(value: object) -> bool:
    return isinstance(value, Mapping) and "description" in value


def standalone(text: str, tools: Tools) -> Parsed | None:
    """`{"tool": "x"}`, alone or with arguments: no tool of that name need exist."""
    value = json_text.read(text) if len(text) < LONGEST else None
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str):
        return None
    rest = set(value) - {"tool", "id", "call_id", "thought"}
    fits = len(rest) <= 1 and rest <= set(calls.ARGUMENTS)
    given = [value[key] for key in rest]
    return Parsed() if fits and all(isinstance(each, dict | list | str) for each in given) else None


def element(text: str, tools: Tools) -> Parsed | None:
    """An element with a tag of a protocol: unless its tags are only mentioned."""
    if text.endswith(">") and text.count(">") == 1:
        return None
    closed = text.rstrip().endswith(">")
    inside = re.sub(r"\A<[^>]*>|</[^<>]*>\Z", "", text)
    told = text.startswith(tuple(f"<{tag}" for tag in RESULTS))
    alone = inside.strip()
    named = alone in tools or ("_" in alone and alone.replace("_", "").isalnum())
    return Parsed() if told or named or (closed and not alone) or CALLED.match(inside) else None


def named_element(text: str, tools: Tools) -> Parsed | None:
    """`<list_mp3s>{...}</list_mp3s>`, whatever is known of its arguments."""
    inside = re.sub(r"\A<[^>]*>\s*|</[^<>]*>\Z", "", text)
    return Parsed() if inside[:1] in ("{", "<") or not inside else None


def element_body(opener: str, tools: Tools) -> Body:
    tag = opener[1:].rstrip("> ")
    return Until((f"</{tag}>",), lambda start: not MENTIONED.match(start), LONGEST)


def header_body(opener: str, tools: Tools) -> Body:
    return Until((HEADERS[opener],), lambda start: True, 60)


def _form(
    name: str,
    body: Callable[[str, Tools], Body],
    parse: Callable[[str, Tools], Parsed | None] = anything,
    openers: tuple[str, ...] = (),
    line_openers: tuple[str, ...] = (),
    reply_openers: tuple[str, ...] = (),
    named_anywhere: tuple[str, ...] = (),
    fold: bool = False,
) -> Dialect:
    return Dialect(
        name=name,
        openers=openers,
        body=body,
        parse=parse,
        write=lambda request: "",
        render=lambda history: [],
        line_openers=line_openers,
        reply_openers=reply_openers,
        named_anywhere=named_anywhere,
        fold=fold,
    )


def thought(text: str, tools: Tools) -> Parsed | None:
    """In the middle of a line only if it is closed; else its tag is mentioned."""
    return (
        Parsed()
        if text.endswith(tuple(each for ends in REASONING.values() for each in ends))
        else None
    )


def thought_body(opener: str, tools: Tools) -> Body:
    return Until(REASONING[opener], lambda start: True, LONGEST)


THOUGHT = _form("thought", thought_body, thought)
FENCE_FORM = _form("fence", ProtocolFence, fence)

INLINE = _form("inline call", Bare, inline, openers=("{", "["))

LABEL = _form("label", Labelled, label, openers=LABELS, fold=True)
INLINE_LABEL = _form("label in a line", Labelled, valued_label, openers=LABELS, fold=True)
FIRST_FORMS = (
    INLINE,
    _form("result", element_body, element, openers=tuple(f"<{tag}>" for tag in RESULTS)),
)
"""What counts anywhere though a dialect may know it in some places only."""

FORMS = (
    _form("standalone call", Bare, standalone, line_openers=("{",)),
    _form("token", Now, token, openers=(*TOKENS, *TURN)),
    _form("header", header_body, openers=tuple(HEADERS)),
    LABEL,
    _form("element", element_body, element, openers=tuple(f"<{tag}>" for tag in CALLS)),
    _form("tilde fence", ProtocolFence, fence, line_openers=("~~~",)),
    _form("next turn", Rest, line_openers=("user:", "human:"), fold=True),
    _form("named element", element_body, named_element, named_anywhere=("<NAME>",)),
    _form(
        "letter",
        Line,
        line_openers=("andybot asks:", "andybot responds:", "**andybot responds:"),
        fold=True,
    ),
    _form(
        "role",
        Now,
        reply_openers=("assistant:", "assistant\n", "model\n", "<s>", "### assistant:"),
        fold=True,
    ),
)
