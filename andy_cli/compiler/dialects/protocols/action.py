"""Action protocol: one JSON object, a thought with an action, or the final answer (D1 to D7).

    {"thought": "note it", "action": {"tool": "play", "args": {"track": "Blue"}}}
    {"final": {"content": "It is playing."}}

Both in one object is refused: nobody can know which was meant (R13).
"""

import json
import re
from collections.abc import Mapping

from andy_cli.compiler.bodies import builders, calls, constraint_schemas, json_text
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.bodies.wrappings import strip_fence
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Constraint, ToolRequest

THOUGHT = 200
"""Characters of a thought that are kept (D6)."""


def parse(text: str, tools: Tools) -> Parsed | None:
    body = strip_fence(text)
    if '"action"' not in body and '"final"' not in body:
        return None
    value = json_text.parse_strict(body) or json_text.read_value(body)
    if not json_text.is_balanced(body) and json_text.parse_strict(body) is None:
        return Parsed(incomplete=True) if '"tool"' in body else None
    if not isinstance(value, dict) or not set(value) <= {"thought", "action", "final"}:
        return None
    return read_step(value, str(value.get("thought") or "")[:THOUGHT], tools)


def read_step(value: Mapping[str, object], thought: str, tools: Tools) -> Parsed | None:
    if "action" in value and "final" in value:
        return Parsed(fault="Give either an action or a final answer, not both.", reasoning=thought)
    if "final" in value:
        return Parsed(text=read_final(value["final"]), reasoning=thought, settled=True)
    return read_action(value.get("action"), thought, tools)


def read_action(action: object, thought: str, tools: Tools) -> Parsed | None:
    if not isinstance(action, dict) or not isinstance(action.get("tool"), str):
        return None
    name = calls.clean_tool_name(action["tool"], tools)
    arguments = calls.read_argument_object(action.get("args", {}), tools.get(name))
    if arguments is None:
        return Parsed(fault=f"The args of {name} are not an object.", reasoning=thought)
    return Parsed((ToolRequest(name=name, arguments=arguments),), reasoning=thought, settled=True)


def read_final(value: object) -> str:
    content = value.get("content", value) if isinstance(value, dict) else value
    return (
        content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
    )


SEND = (
    "Send exactly one JSON object and nothing else: "
    '{"thought": "...", "action": {"tool": "NAME", "args": {}}} or {"final": {"content": "..."}}.'
)
THINKING = Expression(
    r"\A\s*(?:<(think|thinking|reasoning)>.*?</\1>|(?:(?!<think).)*?</think>)", re.S
)


def find_format_violation(reply: str, strictly: bool) -> str:
    """Say what breaks the protocol: anything but one object that is an action or final (D5, R13).

    Unless strictly, reasoning in tags, one fence around it and white space do not.
    """
    text = reply if strictly else strip_fence(THINKING.sub("", reply).strip("\ufeff \r\n\t"))
    read = json_text.parse_strict if strictly else json_text.read_value
    values, _ = json_text.values_and_rest(text)
    is_whole = text.startswith("{") and is_ended(text) and read(text) is not None
    if not is_whole or len(values) > 1:
        return f"That was not one JSON object. {SEND}"
    parsed = parse(text, {})
    if parsed is None:
        return f"That object is neither an action nor a final answer. {SEND}"
    return f"{parsed.fault} {SEND}" if parsed.fault else ""


def is_ended(text: str) -> bool:
    """Nothing follows the object."""
    end = JsonScan().feed(text)
    return end is not None and not text[end:].strip()


def write(request: ToolRequest) -> str:
    action = {"tool": request.name, "args": dict(request.arguments or {})}
    return json.dumps({"thought": "this is what is needed", "action": action}, ensure_ascii=False)


def constraint(tools: Tools, demanded: bool = False) -> Constraint:
    """One object: an action whose arguments fit, or the final answer with any text."""
    thought = {"type": "string", "maxLength": THOUGHT}
    actions = [
        constraint_schemas.make_object({"tool": {"const": name}, "args": schema})
        for name, schema in constraint_schemas.arguments_schemas(tools).items()
    ]
    final = constraint_schemas.make_object({"content": {"type": "string"}})
    replies = [
        constraint_schemas.make_object({"thought": thought, "final": final}, optional=["thought"])
    ]
    if actions:
        acting = {"thought": thought, "action": constraint_schemas.one_of(actions)}
        replies.insert(0, constraint_schemas.make_object(acting, optional=["thought"]))
    return Constraint(schema=constraint_schemas.one_of(replies[:1] if demanded else replies))


DIALECT = builders.make_bare_dialect("action", parse, write)._replace(
    line_start_markers=("{",),
    prompt_template="action",
    format_violation=find_format_violation,
    constraint=constraint,
)
