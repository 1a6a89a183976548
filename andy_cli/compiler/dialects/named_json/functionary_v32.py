"""Functionary 3.2: a recipient a line, then its text: JSON for a tool, words for `all`.

    >>>all
    I'll play it.
    >>>play
    {"track": "Blue"}

The first `>>>` stands in the prompt. A tool with one parameter, such as `python`, may get it raw.
"""

from andy_cli.compiler.bodies import builders, calls
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd, ReplyEnd
from andy_cli.compiler.bodies.markup.sections import NothingEnd, make_begun_end, make_headed_end
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

HEAD = Expression(r"\s*(?:>>>)?\s*(?P<name>[\w.\-/]{1,200})\s*")
WORDS = (">>>all\n", "all\n")
READ = builders.make_headed_parser((), HEAD)


def make_end_detector(opener: str, tools: Tools) -> EndDetector:
    if opener in WORDS:
        return NothingEnd()
    if opener[-1] == "{":
        return make_begun_end(opener)
    json_end = make_headed_end(opener, heads=(HEAD,))

    def find_end(held: str) -> HeadDecision:
        """JSON; or raw text, which only the end of the reply ends for sure."""
        if not held.strip():
            return None
        return (json_end if held.lstrip()[0] in "{[" else ReplyEnd()), 0

    return HeldEnd(find_end) if only_key(opener, tools) else json_end


def only_key(opener: str, tools: Tools) -> str:
    """The tool's one parameter; empty if it has more, or none."""
    name = calls.clean_tool_name(opener.removeprefix(">>>").strip(), tools)
    parameter_names = list(calls.declared_properties(tools.get(name)))
    return parameter_names[0] if len(parameter_names) == 1 else ""


def parse(text: str, tools: Tools) -> Parsed | None:
    if text in WORDS:
        return Parsed()
    head, _, content = text.partition("\n")
    if only_key(head, tools) and content.strip() and content.lstrip()[0] not in "{[":
        return read_sections(text, tools)
    parsed = READ(text, tools)
    return None if parsed is None or parsed.fault else parsed


def read_sections(text: str, tools: Tools) -> Parsed:
    """Recipients one after another, from one with raw text to the end of the reply."""
    requests: list[ToolRequest] = []
    spoken_texts: list[str] = []
    for section in text.removeprefix(">>>").split("\n>>>"):
        head, _, content = section.partition("\n")
        key = only_key(head, tools)
        parsed = READ(f">>>{section}", tools) if content.lstrip()[:1] in ("{", "[") else None
        if parsed is not None:
            requests += parsed.requests
        elif key:
            requests.append(
                ToolRequest(calls.clean_tool_name(head, tools), {key: content.strip("\n")})
            )
        else:
            spoken_texts.append(content if head.strip() == "all" else section)
    return Parsed(tuple(requests), text="\n".join(spoken_texts))


DIALECT = builders.make_taught_dialect(
    dialect_name="functionary_v32",
    start_markers=(),
    make_end_detector=make_end_detector,
    parse_frame=parse,
    write_call=lambda request: f">>>{request.name}\n{builders.dump_arguments(request)}",
)._replace(
    line_start_markers=WORDS[:1],
    reply_start_markers=WORDS[1:],
    named_start_markers=(">>>NAME\n", "NAME\n{"),
    named_anywhere=(">>>NAME\n{",),
    models=("functionary-*v3.2*",),
)
