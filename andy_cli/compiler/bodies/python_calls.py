"""Calls written as Python: `[play(track="Blue", loop=True), stop()]`.

Read as literals only; nothing is ever evaluated. Names of JSON's constants count as constants.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping

from andy_cli.compiler.bodies import json_text
from andy_cli.compiler.bodies.calls import clean_tool_name, declared_properties
from andy_cli.compiler.bodies.typed import parse_typed
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

CONSTANTS = {"true": True, "false": False, "null": None, "none": None, "True": True, "False": False}
START = Expression(r"\s*(?:\[\s*){0,2}[A-Za-z_](?:[\w.\-/]|\\[_.])*\s*\(")
CALL = Expression(r"([A-Za-z_](?:[\w.\-/]|\\[_.])*)\s*\(")
KEYWORD = Expression(r"\s*,?\s*[\"']?([A-Za-z_]\w*)[\"']?\s*[=:](?!=)\s*")


QUOTED = frozenset(['""', "''", "\u201c\u201d", "\u2018\u2019", "\u201d\u201d"])


QUOTES = "\"'\u201c\u2018[{("
BEFORE_TEXT = frozenset("=([{,:")
AFTER_TEXT = frozenset(["", *",:)]}"])
"""Signs before and after a quoted text; a quotation mark without them belongs to a word."""
UNREAD = Expression(r"[,\n]\s*[A-Za-z_]\w*\s*=(?!=)")


class NotLiteral(ValueError):
    """There is more than literals in it: it is program text, not a request."""


def read_python_calls(text: str, tools: Tools, only_known: bool = True) -> list[ToolRequest] | None:
    """The calls, if the text is nothing but calls; with `only_known` of tools that exist."""
    text = unescape_names(without_comments(text).strip().rstrip(";").strip())
    if not START.match(text):
        return None
    calls = parse_calls(text, tools)
    if calls is None:  # Python refuses it; a valid program is no request
        calls = scan_calls(text, tools)
    if not calls or (only_known and any(call.name not in tools for call in calls)):
        return None
    return calls


STRING_OR_COMMENT = Expression(
    r"'(?:[^'\\\n]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)"
    r"|(?P<comment>(?:^|(?<=[\s,\[(]))\#[^\n]*)",
    re.S,
)


def without_comments(text: str) -> str:
    if "#" not in text:
        return text
    return STRING_OR_COMMENT.sub(lambda match: "" if match["comment"] else match[0], text)


STRING_OR_ESCAPE = Expression(
    r"'(?:[^'\\\n]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|\\([_.\-*\[\]()=])", re.S
)


def unescape_names(text: str) -> str:
    """Take out the backslashes of Markdown that stand outside of quoted texts."""
    if "\\" not in text:
        return text
    return STRING_OR_ESCAPE.sub(lambda match: match[1] or match[0], text)


def read_texts(value: object, tools: Tools) -> list[ToolRequest] | None:
    """Read a list of calls, each written as a text: `["play(track='Blue')"]`."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return read_python_calls("\n".join(value), tools)


def is_cut_off(text: str, tools: Tools) -> bool:
    """Tell whether calls of known tools begin here, and the last one does not end."""
    begun = position = skip_characters(text, 0, " \t\r\n[")
    while call := CALL.compiled.match(text, position):
        if clean_tool_name(call[1], tools) not in tools:
            break
        end = call_end(text, call.end())
        if end < 0:
            return True
        position = skip_characters(text, end + 1, " \t\r\n,;")
    name = text[position:]
    return position > begun and bool(name) and any(tool.startswith(name) for tool in tools)


def parse_calls(text: str, tools: Tools) -> list[ToolRequest] | None:
    """By Python's own parser; None where it refuses or where there is more than literals."""
    body = text if text.startswith("[") else f"[{join_lines(text)}]"
    for attempt in (body, rename_keywords(body)):
        try:
            nodes = list_elements(json_text.parse_expression(attempt.strip()))
        except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
            continue
        if all(isinstance(node, ast.Call) for node in nodes):
            return literal_calls(nodes, tools)
    return None


def literal_calls(nodes: list[ast.expr], tools: Tools) -> list[ToolRequest]:
    """The calls, if their arguments are literals or bare words; else none."""
    for change in (None, BareWords()):
        try:
            return [call_of(change.visit(node) if change else node, tools) for node in nodes]
        except (ValueError, RecursionError):
            continue
    return []


class BareWords(ast.NodeTransformer):
    """Takes names that stand as arguments for the words they are: `unit=celsius`."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        node.args = [self.visit(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return node if node.id in CONSTANTS else ast.Constant(node.id)


def join_lines(text: str) -> str:
    """Calls on lines of their own, or joined by `;`, as one list."""
    return re.sub(r"\)\s*(?:;|\n)\s*(?=[A-Za-z_])", "), ", text)


def rename_keywords(text: str) -> str:
    """Names with dashes or slashes as Python takes them."""
    return CALL.sub(lambda match: match[0].replace("-", "__dash__").replace("/", "__slash__"), text)


def list_elements(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        return [inner for item in node.elts for inner in list_elements(item)]
    return [node]


def call_of(node: ast.expr, tools: Tools) -> ToolRequest:
    if not isinstance(node, ast.Call):
        raise NotLiteral
    name = clean_tool_name(dotted_name(node.func), tools)
    order = list(declared_properties(tools.get(name)))
    if len(node.args) > len(order) and node.args:
        raise NotLiteral
    arguments = by_position(order, [read_literal(argument) for argument in node.args])
    for keyword in node.keywords:
        value = read_literal(keyword.value)
        if keyword.arg is None:
            if not isinstance(value, dict):
                raise NotLiteral
            arguments |= value
        else:
            arguments[keyword.arg] = value
    return ToolRequest(name=name, arguments=arguments)


def by_position(order: list[str], values: list[object]) -> dict[str, object]:
    """Values in the schema's order; one object of nothing but parameters is all of them."""
    match values:
        case [dict() as arguments] if arguments.keys() <= set(order):
            return {str(key): value for key, value in arguments.items()}
    return dict(zip(order, values, strict=False))


def dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id.replace("__dash__", "-").replace("__slash__", "/")
    raise NotLiteral


def read_literal(node: ast.expr) -> object:
    """Constants, lists, dicts, signs, adjacent texts; anything else is a program."""
    match node:
        case ast.Constant(value=value) if isinstance(value, str | int | float | bool | None):
            return value
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [read_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return read_pairs(keys, values)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return {keyword.arg: read_literal(keyword.value) for keyword in keywords if keyword.arg}
    return compute_literal(node)


def read_pairs(key_nodes: list[ast.expr | None], value_nodes: list[ast.expr]) -> dict[str, object]:
    """An object's keys, all as text, and values; `**more` has no key and is left out."""
    return {
        str(read_literal(key)): read_literal(value)
        for key, value in zip(key_nodes, value_nodes, strict=True)
        if key is not None
    }


SUMS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
SIGNS: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.USub: operator.neg,
    ast.UAdd: lambda value: value,
}


def compute_literal(node: ast.expr) -> object:
    """A figure with a sign, or a sum of two literals; raises NotLiteral for anything else."""
    match node:
        case ast.UnaryOp(op=op, operand=ast.Constant(value=int() | float() as value)):
            if type(op) in SIGNS:
                return SIGNS[type(op)](value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SUMS:
            return compute_sum(read_literal(left), read_literal(right), SUMS[type(op)])
    raise NotLiteral


def compute_sum(
    left_operand: object, right_operand: object, add_operands: Callable[[float, float], float]
) -> object:
    """A sum of two figures, as models leave them: `height=2*3`."""
    if (
        isinstance(left_operand, str)
        and isinstance(right_operand, str)
        and add_operands is operator.add
    ):
        return left_operand + right_operand
    if isinstance(left_operand, int | float) and isinstance(right_operand, int | float):
        try:
            return add_operands(left_operand, right_operand)
        except (ArithmeticError, ValueError):
            raise NotLiteral from None
    raise NotLiteral


def scan_calls(text: str, tools: Tools) -> list[ToolRequest] | None:
    """By hand, for what Python refuses: unescaped quotes, bare words. Only for known tools."""
    text = text.removeprefix("[").strip()
    calls: list[ToolRequest] = []
    while text:
        match = CALL.match(text)
        name = clean_tool_name(match[1], tools) if match else ""
        if match is None or name not in tools:
            return None
        end = call_end(text, match.end())
        if end < 0:
            return None
        arguments = keywords_in(text[match.end() : end], name, tools)
        if arguments is None:
            return None
        calls.append(ToolRequest(name=name, arguments=arguments))
        text = text[end + 1 :].lstrip(" \t\r\n,;)")  # surplus brackets too
        if text in ("]", ""):
            break
    return calls


def skip_characters(text: str, position: int, characters: str) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


def character_after(text: str, position: int) -> str:
    """The first character from there on that is not blank."""
    while position < len(text) and text[position].isspace():
        position += 1
    return text[position : position + 1]


def character_before(text: str, position: int) -> str:
    """The last character before it that is not blank."""
    while position > 0 and text[position - 1].isspace():
        position -= 1
    return text[max(0, position - 1) : position]


def call_end(text: str, position: int) -> int:
    """Find where the bracket closes that was opened before `position`; -1 if it does not."""
    depth = 1
    while position < len(text):
        character = text[position]
        if character in "\"'" and character_before(text, position) in BEFORE_TEXT:
            position = string_end(text, position)
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return position
        position += 1
    return -1


def string_end(text: str, position: int) -> int:
    """Find where the quotation mark there is closed by one that something fitting follows."""
    quote = text[position]
    if text.startswith(quote * 3, position):
        closing = text.find(quote * 3, position + 3)
        return closing + 2 if closing >= 0 else len(text)
    position += 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == quote and character_after(text, position + 1) in AFTER_TEXT:
            break
        position += 1
    return position


def keywords_in(text: str, name: str, tools: Tools) -> dict[str, object] | None:
    """Arguments with their names, by hand; None where something is none of the tool's."""
    names = declared_properties(tools[name])
    argument_starts = [match for match in KEYWORD.finditer(text) if begins_argument(match, names)]
    if not argument_starts:
        return {} if not text.strip() else None
    arguments: dict[str, object] = {}
    argument_ends = [*(match.start() for match in argument_starts[1:]), len(text)]
    for match, end in zip(argument_starts, argument_ends, strict=True):
        value_text = text[match.end() : end].strip().rstrip(",").strip()
        value = value_of(value_text, names.get(match[1]))
        if holds_another(value_text, value):
            return None
        arguments[match[1]] = value
    return arguments


def holds_another(written: str, value: object) -> bool:
    """Tell whether an argument that the tool does not have, or a bare value, stands after."""
    if written[:1] not in QUOTES and UNREAD.search(written):
        return True
    return isinstance(value, list) and written[:1] not in "[({"


def begins_argument(keyword: re.Match[str], names: Mapping[str, Schema]) -> bool:
    """Tell whether an argument of the tool begins here, not a word inside a value."""
    return not names or (keyword[1] in names and (keyword.start() == 0 or "," in keyword[0]))


def value_of(written: str, schema: object) -> object:
    value = json_text.parse_python(written)
    if value is None:
        value = json_text.read_value(written) if written[:1] in "[{" else None
    if value is not None:
        return value
    if len(written) > 1 and written[0] + written[-1] in QUOTED:
        return written[1:-1]
    return parse_typed(written, schema if isinstance(schema, dict) else None)
