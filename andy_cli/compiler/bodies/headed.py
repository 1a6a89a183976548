"""The shape of dialects that write a name between markers and then the arguments as JSON."""

from collections.abc import Callable, Sequence

from andy_cli.compiler.bodies import calls, forms, json_text
from andy_cli.compiler.bodies.sections import Headed
from andy_cli.compiler.dialect import Body, Dialect, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest


def dialect(
    name: str,
    openers: tuple[str, ...],
    closers: tuple[str, ...],
    head: Expression,
    write: Callable[[ToolRequest], str],
    named_openers: tuple[str, ...] = (),
) -> Dialect:
    """`head` matches from the opener to the arguments, with the group `name`."""

    def body(opener: str, tools: Tools) -> Body:
        return Headed(opener, *closers, heads=(head,))

    made = forms.taught(name, openers, body, parser(openers, closers, head), write, closers)
    return made._replace(named_openers=named_openers)


def parser(
    openers: Sequence[str], closers: Sequence[str], head: Expression
) -> Callable[[str, Tools], Parsed | None]:
    def parse(text: str, tools: Tools) -> Parsed | None:
        match = head.match(text)
        if match is None or not (
            match.end() == len(text) or text.startswith(("{", "[", '"', *closers), match.end())
        ):
            return begun(text, openers, closers)
        name = calls.tool_name(match["name"], tools)
        return called(name, text[match.end() :], closers, tools)

    return parse


def called(name: str, text: str, closers: Sequence[str], tools: Tools) -> Parsed | None:
    """The call with the arguments that the text holds."""
    body, closed = without(text, closers)
    if not body:
        return Parsed((ToolRequest(name, {}),), settled=True) if closed else Parsed(incomplete=True)
    whole = json_text.strict(body) is not None or json_text.balanced(body)
    if not whole and not closed:
        return Parsed(incomplete=True)
    value = json_text.read(body if whole else json_text.closed(body))
    arguments = calls.arguments_of(value, tools.get(name)) if value is not None else None
    if arguments is None:
        return Parsed(fault=f"The arguments of {name} are not valid JSON.")
    return Parsed((ToolRequest(name, arguments),), settled=True)


def without(text: str, closers: Sequence[str]) -> tuple[str, bool]:
    """The text without fence and closers around it, and whether there was a closer."""
    text, closed = text.strip(), False
    while True:
        closer = next((closer for closer in closers if text.endswith(closer)), "")
        shorter = text.removesuffix(closer).rstrip() if closer else text.rstrip("`").rstrip()
        if shorter == text:
            return text, closed
        text, closed = shorter, closed or bool(closer)


NAMING = Expression(r"[\w.\-:/]{0,100}\Z")
MARKS = Expression(r"<[^<>]{0,60}>|functions?\b")


def begun(text: str, openers: Sequence[str], closers: Sequence[str]) -> Parsed | None:
    """A header without arguments: incomplete if it may go on with a name, else text."""
    if any(closer in text for closer in closers):
        return None
    rest = MARKS.sub("", text.partition(">")[2]) if ">" in text else text
    rest = rest.strip()
    return Parsed(incomplete=True) if rest and NAMING.match(rest) else None
