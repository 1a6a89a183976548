"""MiniMax out of its form: a label, arrows, and each argument as an option of a command.

[TOOL_CALL]
{tool => "play", args => {
  --track "Blue"
  --volume 3
}}
[/TOOL_CALL]
"""

import json

from andy_cli.compiler.bodies import builders, calls, json_text
from andy_cli.compiler.bodies.end_detectors import MarkerEnd
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.bodies.typed import add_value, parse_typed
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Schema, ToolRequest

CLOSER = "[/TOOL_CALL]"
GAPS = ("", " ", "\n", "\n ", "\n  ", "\n   ", "\n    ")
OPENERS = tuple(
    f"[TOOL_CALL]{gap}{beginning}" for gap in GAPS for beginning in ("{tool", '{"name"', '{"tool"')
)
"""More than the label alone, which is no more than framing."""
HEAD = Expression(r"\{\s*tool\s*=>\s*\"(?P<name>[^\"\n]{1,200})\"\s*,?\s*(?:args\s*=>\s*\{)?")
TAIL = Expression(r"\s*\}\s*\}\s*\Z|(?<![}\s])\s*\}\s*\Z")
OPTION = Expression(r"\s*--(?P<key>[\w.\-]{1,100})(?:[ \t]*[ \t=:][ \t]*|(?=\n|\Z))")
NEXT_OPTION = Expression(r"(?:\A|\s)(?=--[\w.\-]{1,100}(?:[\s=:]|\Z))")
STRINGS = json.JSONDecoder(strict=False)


def parse(text: str, tools: Tools) -> Parsed | None:
    body_text = builders.text_between(text, ("[TOOL_CALL]",), (CLOSER,))
    head = HEAD.match(body_text)
    if head is None:
        return parse_json(text, tools)
    tail = TAIL.search(body_text, head.end())
    if tail is None:
        return None if text.rstrip().endswith(CLOSER) else Parsed(incomplete=True)
    name = calls.clean_tool_name(head["name"], tools)
    arguments = read_options(body_text[head.end() : tail.start()], tools.get(name))
    return None if arguments is None else Parsed((ToolRequest(name, arguments),))


JSON = builders.make_json_parser(("[TOOL_CALL]",), (CLOSER,))


def parse_json(text: str, tools: Tools) -> Parsed | None:
    """Read a call as JSON; where its closer was forgotten, what follows it is text."""
    end = JsonScan().feed(text, text.index("{")) or len(text)
    rest = text[end:].strip()
    if CLOSER in rest or rest.startswith(("{", "[", ",")):
        return JSON(text, tools)
    parsed = JSON(text[:end], tools)
    return parsed and parsed._replace(text=rest)


def read_options(text: str, tool: Schema | None) -> dict[str, object] | None:
    """Read `--key value` for each argument; None where something is left over."""
    arguments: dict[str, object] = {}
    schemas, root_schema = calls.declared_properties(tool), calls.parameters_schema(tool)
    while text.strip():
        option = OPTION.match(text)
        if option is None:
            given = json_text.read_value(f"{{{text}}}")
            return calls.read_argument_object(given, tool) if not arguments else None
        text = text[option.end() :]
        key, schema = option["key"], schemas.get(option["key"])
        value, size = read_option_value(text, schema, root_schema)
        if not add_value(arguments, key, value, schema, root_schema):
            return None
        text = text[size:]
    return arguments


def read_option_value(text: str, schema: Schema | None, root_schema: Schema) -> tuple[object, int]:
    """Read the value that stands first, and count its characters."""
    if text.startswith('"'):
        return read_quoted(text)
    size = next(option.start() for option in NEXT_OPTION.finditer(f"{text}\n--end"))
    return parse_typed(text[:size].strip(), schema, root_schema), size


def read_quoted(text: str) -> tuple[str, int]:
    """Read a text up to the quotation mark before another option; those in it may be bare."""
    try:
        value, size = STRINGS.raw_decode(text)
    except ValueError:
        size = 0
    rest = text[size:]
    if size and (not rest.strip() or OPTION.match(rest)):
        return value, size
    for option in NEXT_OPTION.finditer(f"{text}\n--end"):
        written = text[1 : option.start()].rstrip()
        if written.endswith('"'):
            return written.removesuffix('"'), option.start()
    return text[1:].rstrip(), len(text)


def write_json(value: object) -> str:
    """A value in which no closer stands."""
    return json.dumps(value, ensure_ascii=False).replace("[/", "[\\/")


def write(request: ToolRequest) -> str:
    options = "".join(
        f"  --{key} {write_json(value)}\n" for key, value in (request.arguments or {}).items()
    )
    return f'[TOOL_CALL]\n{{tool => "{request.name}", args => {{\n{options}}}}}\n{CLOSER}'


DIALECT = builders.make_taught_dialect(
    dialect_name="minimax_labels",
    start_markers=OPENERS,
    make_end_detector=lambda opener, tools: MarkerEnd(CLOSER),
    parse_frame=parse,
    write_call=write,
    end_markers=(CLOSER,),
)
