"""The shape of dialects that write a name between markers and then the arguments as JSON."""

from collections.abc import Callable, Sequence

from andy_cli.compiler.bodies import calls, json_text
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest


def make_headed_parser(
    end_markers: Sequence[str], head: Expression
) -> Callable[[str, Tools], Parsed | None]:
    def parse(text: str, tools: Tools) -> Parsed | None:
        match = head.match(text)
        if match is None or not (
            match.end() == len(text) or text.startswith(("{", "[", '"', *end_markers), match.end())
        ):
            return read_begun_header(text, end_markers)
        name = calls.clean_tool_name(match["name"], tools)
        return read_headed_call(name, text[match.end() :], end_markers, tools)

    return parse


def read_headed_call(
    name: str, arguments_text: str, end_markers: Sequence[str], tools: Tools
) -> Parsed | None:
    """The call with the arguments that the text holds."""
    body, closed = strip_end_markers(arguments_text, end_markers)
    if not body:
        return Parsed((ToolRequest(name, {}),), settled=True) if closed else Parsed(incomplete=True)
    is_complete = json_text.parse_strict(body) is not None or json_text.is_balanced(body)
    if not is_complete and not closed:
        return Parsed(incomplete=True)
    value = json_text.read_value(body if is_complete else json_text.close_brackets(body))
    arguments = calls.read_argument_object(value, tools.get(name)) if value is not None else None
    if arguments is None:
        return Parsed(fault=f"The arguments of {name} are not valid JSON.")
    return Parsed((ToolRequest(name, arguments),), settled=True)


def strip_end_markers(text: str, end_markers: Sequence[str]) -> tuple[str, bool]:
    """The text without fence and end markers around it, and whether there was one."""
    text, closed = text.strip(), False
    while True:
        closer = next((closer for closer in end_markers if text.endswith(closer)), "")
        shorter = text.removesuffix(closer).rstrip() if closer else text.rstrip("`").rstrip()
        if shorter == text:
            return text, closed
        text, closed = shorter, closed or bool(closer)


NAMING = Expression(r"[\w.\-:/]{0,100}\Z")
MARKS = Expression(r"<[^<>]{0,60}>|functions?\b")


def read_begun_header(text: str, end_markers: Sequence[str]) -> Parsed | None:
    """A header without arguments: incomplete if it may go on with a name, else text."""
    if any(closer in text for closer in end_markers):
        return None
    name_text = MARKS.sub("", text.partition(">")[2]) if ">" in text else text
    name_text = name_text.strip()
    return Parsed(incomplete=True) if name_text and NAMING.match(name_text) else None
