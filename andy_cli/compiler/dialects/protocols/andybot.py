"""Andybot: the model writes a letter, then answers one question for each parameter.

    model: DEAR ANDYBOT, LIST_MP3S
    andy:  ANDYBOT ASKS: folder to look in?
    model: ~/mp3
    andy:  ANDYBOT RESPONDS: song1.mp3, song2.mp3

For models that cannot keep a JSON object together. Small models go on writing the other side's
lines, results included; what follows the first command is therefore neither read nor shown.
In the history a letter stands with the values that were given, one a line (R3); models copy
that form, so it is read as well.
"""

import json
import re
from collections.abc import Generator, Sequence

from andy_cli.call_notes import write_missing
from andy_cli.compiler.alternation import alternate_roles
from andy_cli.compiler.bodies import constraint_schemas
from andy_cli.compiler.bodies.calls import clean_schema, declared_properties
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd, ReplyEnd
from andy_cli.compiler.dialect import Dialect, InterviewQuestion, InterviewRefusal, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.mapper.synonyms import plain_name
from andy_cli.foreign_values import read_json
from andy_cli.messages import (
    Arguments,
    Choice,
    Constraint,
    Message,
    Schema,
    ToolRequest,
    Wire,
)

OPENERS = ("dear andybot", "**dear andybot", "deear andybot")
LETTER = Expression(
    r"\W*\w+ \w+(?P<comma>\s*[,:]?)(?P<gap>[\s*_`\"'<\[(]*)(?P<name>\w[\w.\-]*)(?P<rest>.*)", re.S
)
WORD = Expression(r"\w[\w.\-]*")
VALUE = Expression(r"[ \t]*[-*]?[ \t]*(\w+)[ \t]*[:=][ \t]*(.+)")
ADDRESSED = Expression(r"[ \t\r\n*_`\"'<\[(]*(?:[,:][ \t\r\n*_`\"'<\[(]*)?")
"""All that may stand between the address and the first word."""


def find_end(held: str) -> HeadDecision:
    """A letter runs to the end of the reply; it is none if no word follows the address."""
    address = ADDRESSED.match(held)
    following_text = held[address.end() :] if address else held
    if not following_text:
        return None
    return (ReplyEnd(), 0) if following_text[0].isalnum() else -1


def parse(text: str, tools: Tools) -> Parsed | None:
    letter = LETTER.match(text)
    if not letter:
        return None
    letter_text = f"{letter['name']}{letter['rest']}"
    name = find_named_tool(letter_text, tools)
    if name is None and not letter["comma"].strip():
        return None  # "Dear Andybot fans": nobody is asked for anything
    if "\n" in letter["gap"] and not names_tool_alone(letter_text, tools):
        return None  # a letter to somebody: "Dear Andybot,", and below "thank you for the songs"
    request = ToolRequest(
        name=name or letter["name"].rstrip(".-_"),
        arguments=read_values(letter["rest"], tools[name]) if name else None,
    )
    return Parsed((request,), settled="\n" in letter["rest"])


def find_named_tool(letter_text: str, tools: Tools) -> str | None:
    """Find the first tool that its first line names: models are polite, `please READ_FILE`."""
    first, *further = WORD.compiled.findall(letter_text.partition("\n")[0])
    words = [first, *filter(str.isupper, further)]
    return next(filter(None, (find_known_tool(word, tools) for word in words)), None)


def names_tool_alone(letter_text: str, tools: Tools) -> bool:
    """Tell whether a tool is all that the first line names, or is written in capitals in it."""
    words = WORD.compiled.findall(letter_text.partition("\n")[0])
    named = [word for word in words if len(words) == 1 or word.isupper()]
    return any(find_known_tool(word, tools) for word in named)


def find_known_tool(written: str, tools: Tools) -> str | None:
    """The tool that is meant, whatever the case and the separators (A15)."""
    wanted_name = plain_name(written)
    return next((name for name in tools if plain_name(name) == wanted_name), None)


def read_values(letter_text: str, tool: Schema) -> Arguments | None:
    """Values that the letter brings itself, one `parameter: value` a line right under it.

    A text that goes on in the next line is left out, so it is asked for: where it ends nobody says.
    """
    parameters = declared_properties(tool)
    arguments: dict[str, object] = {}
    last = ""
    for line in ROLE_LINE.split(letter_text, maxsplit=1)[0].split("\n")[1:]:
        assignment = VALUE.fullmatch(line.rstrip())
        if assignment and assignment[1] in parameters:
            last = assignment[1]
            arguments[last] = strip_answer_quotes(assignment[2])
        elif line.strip():
            if last and may_have_lines(parameters[last]):
                del arguments[last]
            break
    return arguments or None


def write(request: ToolRequest) -> str:
    lines = [f"DEAR ANDYBOT, {request.name.upper()}"]
    for name, value in (request.arguments or {}).items():
        lines.append(f"{name}: {write_plain(value)}")
    return "\n".join(lines)


def write_plain(value: object) -> str:
    """A value on one line, as one would say it."""
    if isinstance(value, str):
        return " ".join(value.splitlines())
    return json.dumps(value, ensure_ascii=False)


# The interview: A16 to A20, R4, R5.

SKIPPED = frozenset({"", "skip", "skipped", "not required", "n/a", "none", "not needed"})
MAX_REPEATS = 2
"""Times that a question is asked when the answer does not fit."""


def interview(
    name: str, schema: Schema, known_arguments: Arguments
) -> Generator[InterviewQuestion, str, Arguments | InterviewRefusal]:
    """Ask for each parameter that is not known yet; refused without one that is required."""
    parameters = clean_schema(schema)
    required = parameters.get("required", ())
    arguments: dict[str, object] = {}
    for parameter, property_schema in parameters.get("properties", {}).items():
        declared = clean_schema(property_schema)
        if parameter in known_arguments:
            arguments[parameter] = convert_answer(str(known_arguments[parameter]), declared)
            continue
        is_required = parameter in required
        value = yield from ask_for_value(parameter, declared, is_required)
        if value is not None:
            arguments[parameter] = value
        elif is_required:
            return InterviewRefusal(write_missing(name, parameter))
    return arguments


def ask_for_value(
    parameter: str, schema: Schema, required: bool
) -> Generator[InterviewQuestion, str, object | None]:
    """Ask until an answer fits, or one that need not be is left out; None: there is no value."""
    text = ask_parameter(parameter, schema)
    question = InterviewQuestion(
        text, parameter, schema, required, constrain_answer(schema, required)
    )
    for attempt in range(MAX_REPEATS):
        answer = clean_answer(parameter, (yield question), schema)
        if is_skipped(answer, schema):
            if not required:
                break
        elif (value := convert_answer(answer, schema)) is not None:
            return value
        question = repeat_question(question, attempt)
    return None


SKIP = "skip"
"""The answer that leaves a parameter out."""


def constrain_answer(schema: Schema, required: bool) -> Constraint | None:
    """Say what the schema lets the answer be: for servers that can hold a model to it.

    Nothing for a text, which may be any.
    """
    allowed = schema.get("enum")
    if not allowed and schema.get("type") == "boolean":
        allowed = ["yes", "no"]
    if allowed:
        choices = [Choice(str(member)) for member in allowed]
        if not required:
            choices.append(Choice(SKIP))
        return Constraint(choices=tuple(choices))
    if schema.get("type") not in ("integer", "number", "array", "object"):
        return None
    value = constraint_schemas.simplify_schema(schema)
    return Constraint(schema=value if required else {"anyOf": [value, {"const": SKIP}]})


def ask_parameter(parameter: str, schema: Schema) -> str:
    about = " ".join(str(schema.get("description") or parameter).split()).rstrip("?. ")
    hints = describe_choices(schema)
    return f"ANDYBOT ASKS: {about}?" + (f"\n({hints})" if hints else "")


def describe_choices(schema: Schema) -> str:
    """Say what the schema allows, in a few words; empty for any text."""
    if allowed := schema.get("enum"):
        return "one of: " + ", ".join(map(str, allowed))
    kind = schema.get("type")
    if kind in ("integer", "number"):
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and high is not None:
            return f"a number from {low} to {high}"
        return "a number"
    return "yes or no" if kind == "boolean" else ""


def repeat_question(question: InterviewQuestion, attempt: int) -> InterviewQuestion:
    if attempt:
        return question
    needed = describe_choices(question.schema) or "this is needed"
    text = question.text.partition("\n")[0] + f"\n({needed}; answer with the value alone)"
    return question._replace(text=text)


def is_skipped(answer: str, schema: Schema) -> bool:
    if answer in map(str, schema.get("enum") or ()):
        return False
    return answer.lower().rstrip(".!") in SKIPPED


def clean_answer(parameter: str, answer: str, schema: Schema) -> str:
    """`"~/mp3"`, `path: ~/mp3`, `The path is ~/mp3.` are all `~/mp3`; a text of several lines is
    the value as it stands, without a fence around it.
    """
    name = re.escape(parameter)
    text = ROLE_LINE.split(answer, maxsplit=1)[0].strip("\r\n").rstrip()
    text = re.sub(rf"^\W*{name}\W*:[ \t]*\n", "", text, count=1, flags=re.I)
    if fenced := FENCED.fullmatch(text):
        text = fenced["inside"]
    if "\n" in text.strip() and may_have_lines(schema):
        return text
    line = strip_answer_quotes(text.strip().partition("\n")[0])
    sentence = re.match(rf"(?:the )?{name}(?:\s*[:=]|\s+is\b)\s*(.+)", line, re.I)
    if sentence is None:
        return line
    value = sentence[1].strip()
    if "=" not in answer and ":" not in answer:  # of a sentence: `The path is ~/mp3.`
        value = value.removesuffix(".")
    return strip_answer_quotes(value)


ROLE_LINE = re.compile(r"^[^\w\n]*(?:dear andybot\b|andybot (?:asks|responds)\b)", re.I | re.M)
"""The beginning of what the other side says, or of another letter: no part of an answer."""
FENCED = re.compile(
    r"\s*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<inside>(?:(?!(?P=fence)).*\n)*)(?P=fence)\s*"
)
"""A fence and nothing else."""


def may_have_lines(schema: Schema) -> bool:
    """Tell whether a value may have several lines: a text of no declared form, a list, a record."""
    kind = schema.get("type", "string")
    is_text = kind == "string" and not schema.get("enum") and not schema.get("format")
    return is_text or kind in ("array", "object")


def strip_answer_quotes(text: str) -> str:
    text = text.strip()
    while len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        text = text[1:-1].strip()
    return text


BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}


def convert_answer(answer: str, schema: Schema) -> object | None:
    """The answer in the type the schema asks for; None if it cannot be."""
    kind = schema.get("type", "string")
    if kind == "boolean":
        return BOOLEANS.get(answer.lower().rstrip(".!"))
    if kind in ("integer", "number"):
        return parse_answer_number(answer, kind == "integer")
    if kind in ("array", "object"):
        return parse_answer_structure(answer, kind)
    allowed = schema.get("enum")
    if allowed and answer not in allowed:
        return next((kind for kind in allowed if str(kind).lower() == answer.lower()), None)
    return answer


def parse_answer_number(answer: str, only_whole: bool) -> int | float | None:
    text = answer.strip().rstrip(".%").strip()
    whole, point, fraction = text.removeprefix("-").partition(".")
    if whole.isdecimal() and not point:
        return int(text)
    if (whole.isdecimal() or not whole) and fraction.isdecimal():
        value = float(text)
        if value.is_integer():
            return int(value)
        return None if only_whole else value
    return None


BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])\s+")


def parse_answer_structure(answer: str, kind: str) -> object | None:
    value = read_json(answer)
    if kind != "array":
        return value if isinstance(value, dict) else None
    if isinstance(value, list):
        return value
    lines = filter(str.strip, answer.splitlines())
    return [strip_answer_quotes(BULLET.sub("", line)) for line in lines]


# The history as the model knows it: A1, A5 to A11, R1, R3, R11.


def render(history: Sequence[Message]) -> list[Wire]:
    wires: list[Wire] = []
    results: list[Message] = []
    several = False
    for message in history:
        if message.role == "tool":
            results.append(message)
            continue
        wires += render_results(results, several)
        results = []
        if message.role == "assistant":
            several = len(message.calls) > 1
            # Its words, else the letter that its call came from.
            letters = (write(ToolRequest(call.name, call.arguments)) for call in message.calls)
            content = message.content or "\n".join(letters)
            wires.append({"role": "assistant", "content": content})
        else:
            wires.append({"role": message.role, "content": message.content})
    return alternate_roles([*wires, *render_results(results, several)])


def render_results(results: Sequence[Message], several: bool) -> list[Wire]:
    """All results of one reply in one message, a line each (R1)."""
    if not results:
        return []
    lines: list[str] = []
    for result in results:
        name = f"{result.name.upper()}: " if several else ""
        lines.append(f"ANDYBOT RESPONDS: {name}{format_result(result.content)}")
    return [{"role": "user", "content": "\n".join(lines)}]


def format_result(content: str) -> str:
    """A6 to A9: nothing is OK, a list its items, an object JSON, anything else as it is."""
    if not content.strip():
        return "OK"
    value = read_json(content, content)
    if value is None:
        return "OK"
    if isinstance(value, list):
        return ", ".join(map(format_item, value)) or "OK"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else content


def format_item(value: object) -> str:
    """One item of a list: a text as it is, a part of a message its text, else JSON.

    A record that starts with a text is named by it, `song.mp3 (title: Song, seconds: 61)`: small
    models lose a name inside a JSON object.
    """
    match value:
        case str():
            return value
        case {"type": "text", "text": str(text)}:
            return text
        case dict() if len(value) > 1:
            (_, first), *further_members = value.items()
            if isinstance(first, str):
                known_details = [
                    (name, detail) for name, detail in further_members if detail is not None
                ]
                details = ", ".join(
                    f"{name}: {write_plain(detail)}" for name, detail in known_details
                )
                return f"{first} ({details})" if details else first
    return json.dumps(value, ensure_ascii=False)


# The lesson: A3.


def describe_tool(tool: Schema) -> str:
    function = tool.get("function", tool)
    return " ".join(str(function.get("description") or "").split())


def describe_tools(tools: Tools) -> str:
    return "\n".join(
        f"- {name.upper()}: {describe_tool(tool)}".rstrip(": ") for name, tool in tools.items()
    )


def constraint(tools: Tools, demanded: bool = False) -> Constraint:
    """One of the commands, or plain talk."""
    letters: list[Choice] = []
    for name, tool in tools.items():
        parameters = tool.get("function", tool).get("parameters")
        letter = write(ToolRequest(name=name))
        letters.append(Choice(letter, describe_tool(tool), parameters=parameters))
    return Constraint(choices=tuple(letters), free_text=not demanded)


DIALECT = Dialect(
    name="andybot",
    start_markers=OPENERS,
    make_end_detector=lambda opener, tools: HeldEnd(find_end),
    parse=parse,
    write=write,
    render=render,
    render_tools=describe_tools,
    prompt_template="andybot",
    interview=interview,
    constraint=constraint,
    case_insensitive=True,
    stop=("ANDYBOT RESPONDS:", "ANDYBOT ASKS:"),
)
