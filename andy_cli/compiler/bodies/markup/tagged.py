"""The shape of dialects whose calls are elements: their tags, and how they spell a call."""

from collections.abc import Callable, Sequence
from json import dumps

from andy_cli.compiler.bodies import builders, json_text
from andy_cli.compiler.bodies.markup import elements
from andy_cli.compiler.bodies.markup.elements import FoundCalls, TagSyntax, strip_line_breaks
from andy_cli.compiler.bodies.markup.sections import make_section_end, make_tag_end
from andy_cli.compiler.bodies.typed import parse_untyped, unquote_text
from andy_cli.compiler.control_tokens import strip_turn_end
from andy_cli.compiler.dialect import Dialect, EndDetector, Parse, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

BEGUN = Expression(
    r"<[^<>\s]{0,60}\s?[^<>\s=]{0,60}(?:\s?[a-z]{1,20}=[\"']?[^<>\"'\s]{0,100}[\"']?){0,4}\Z"
)
"""A tag that was cut off."""


def make_tagged_dialect(
    name: str,
    start_markers: tuple[str, ...],
    end_markers: tuple[str, ...],
    tags: TagSyntax,
    call_forms: tuple[str, str] = ("", ""),
    value_forms: tuple[str, str] = ("", ""),
    write: Callable[[ToolRequest], str] | None = None,
    bare_start_markers: tuple[str, ...] = (),
    lines: bool = False,
    tag_end: str = ">",
    json: bool = False,
) -> Dialect:
    """`end_markers` end a call or a section; with `json` calls as JSON inside it are read too.

    `bare_start_markers` markers are the beginning of a call's own tag, up to its name. A call is
    written as `make_element_writer` does, by `call_forms` and `value_forms`, unless `write` is
    given. Raises ValueError where neither is.
    """
    if write is None and not (call_forms[0] and value_forms[0]):
        raise ValueError(f"{name} needs call_forms and value_forms, or write.")

    def make_end_detector(opener: str, tools: Tools) -> EndDetector:
        if opener in bare_start_markers:
            return make_tag_end(end_markers, tag_end)
        return make_section_end(end_markers, tools, lines and "function_calls" in opener)

    write_call = write or make_element_writer(call_forms, value_forms, tags)
    read = make_tagged_parser(tags, start_markers, end_markers, json)
    return builders.make_taught_dialect(
        name,
        (*start_markers, *bare_start_markers),
        make_end_detector,
        read,
        write_call,
        end_markers,
    )


def make_tagged_parser(
    tags: TagSyntax, start_markers: Sequence[str], end_markers: Sequence[str], json: bool = False
) -> Parse:
    def parse(text: str, tools: Tools) -> Parsed | None:
        section_text = builders.text_between(text, start_markers, ())
        if section_text[:1] in ("{", "["):
            return json_section(section_text, end_markers, tools) if json else None
        found_calls = None
        if begins_element(text, tags, start_markers):
            found_calls = read_whole_elements(text, tools, tags)
        if found_calls is None:
            return Parsed(incomplete=True) if has_begun(text, section_text, end_markers) else None
        return Parsed(
            found_calls.requests,
            found_calls.repairs,
            incomplete=found_calls.incomplete,
            text=found_calls.rest.rstrip(),
        )

    return parse


def read_whole_elements(text: str, tools: Tools, tags: TagSyntax) -> FoundCalls | None:
    """The calls; a control token after the last one ends it, whatever closer it lacks."""
    found_calls = elements.read_elements(text, tools, tags)
    if found_calls and found_calls.incomplete:
        shorter_text = strip_turn_end(text)
        return elements.read_elements(shorter_text, tools, tags)
    return found_calls


def begins_element(text: str, tags: TagSyntax, start_markers: Sequence[str]) -> bool:
    """Tell whether a call comes first: in the values of another notation one may be quoted."""
    position = len(text) - len(text.lstrip())
    while True:
        first_tag = elements.compile_tags(tags).match(text, position)
        if first_tag is not None and first_tag.lastgroup == "call":
            return True
        opener = next((opener for opener in start_markers if text.startswith(opener, position)), "")
        if not opener:
            return False
        position += len(opener)
        position = len(text) - len(text[position:].lstrip())


def has_begun(text: str, inner: str, end_markers: Sequence[str]) -> bool:
    """Tell whether the text breaks off inside a tag, or before it in a section."""
    if ends_with(text, end_markers) or text.endswith("="):
        return False
    return bool(inner and BEGUN.search(inner[-300:]))


def json_section(text: str, end_markers: Sequence[str], tools: Tools) -> Parsed | None:
    """Calls as JSON; brackets that are missing at the closer are closed."""
    inner = builders.text_between(text, (), end_markers)
    if not json_text.is_balanced(inner):
        if not ends_with(text, end_markers):
            return Parsed(incomplete=True) if builders.begins_call(inner) else None
        inner = json_text.close_brackets(inner)
    requests = builders.read_json_calls(inner, tools)
    return Parsed(tuple(requests), settled=True) if requests else None


def ends_with(text: str, end_markers: Sequence[str]) -> bool:
    return text.rstrip().endswith(tuple(end_markers))


def write_value(value: object, tags: TagSyntax) -> str:
    """A value between tags so that it is read as it was: texts that look typed are quoted."""
    if not isinstance(value, str):
        return dumps(value, ensure_ascii=False)
    marked = tags.framing and value.startswith("<![CDATA[")
    if tags.quoted and (marked or looks_typed(value)):
        return dumps(value, ensure_ascii=False)
    if marked:
        return f"<![CDATA[{value}]]>"
    if tags.framing and not tags.lone and strip_line_breaks(value, tags.lone) != value:
        return f"\n{value}\n"
    return value


def looks_typed(text: str) -> bool:
    return parse_untyped(text) != text or unquote_text(text) != text


def make_element_writer(
    call_forms: tuple[str, str], value_forms: tuple[str, str], tags: TagSyntax
) -> Callable[[ToolRequest], str]:
    """A `write`, by what stands before and after a call and a value, with NAME and KEY."""
    if value_forms[0].endswith("\n"):  # the line breaks around a value are there already
        tags = tags._replace(lone=True)

    def write(request: ToolRequest) -> str:
        parts = [call_forms[0].replace("NAME", request.name)]
        for argument_name, argument_value in (request.arguments or {}).items():
            opening = value_forms[0].replace("KEY", argument_name)
            parts += [opening, write_value(argument_value, tags), value_forms[1]]
        return "".join([*parts, call_forms[1]])

    return write
