"""Llama 3: objects with `parameters` behind a marker, joined by `;`, `,` or a line break.

<|python_tag|>{"name": "play", "parameters": {"track": "Blue"}}; {"name": "stop", "parameters": {}}

The servers' own tools are called in Python there: `<|python_tag|>play.call(track="Blue")`.
"""

from andy_cli.compiler.bodies import builders, python_calls
from andy_cli.compiler.bodies.end_detectors import LineEnd
from andy_cli.compiler.bodies.markup import tagged
from andy_cli.compiler.bodies.markup.sections import LINE, LONGEST_HEAD, JsonSectionEnd
from andy_cli.compiler.dialect import EndDetector, Parsed, Tools
from andy_cli.compiler.expression import Expression

OPEN = "<|python_tag|>"


class TaggedJsonEnd:
    """A JSON value, or a line of Python; further objects follow as plain JSON does."""

    def __init__(self) -> None:
        self._body: EndDetector | None = None
        self._held = ""

    def feed(self, text: str) -> int | None:
        if self._body is not None:
            return self._body.feed(text)
        seen_length = len(self._held)
        self._held += text
        start = self._held.lstrip()
        if not start:
            return None
        if start[0] in "{[":
            self._body = JsonSectionEnd()
        elif LINE.match(start):
            self._body = LineEnd("", {})
        elif not WORD.match(start) or len(start) > LONGEST_HEAD:
            return -1
        else:
            return None
        end = self._body.feed(self._held)
        return end if end is None else end - seen_length


WORD = Expression(r"[\w.\-/]+\Z")


def parse(text: str, tools: Tools) -> Parsed | None:
    body = builders.text_between(text, (OPEN,), ())
    if body[:1] in ("{", "["):
        return tagged.json_section(body, (), tools)
    calls = python_calls.read_python_calls(body.replace(".call(", "(", 1), tools)
    return Parsed(tuple(calls)) if calls else None


def body(opener: str, tools: Tools) -> EndDetector:
    return TaggedJsonEnd()


DIALECT = builders.make_taught_dialect(
    dialect_name="llama3_json",
    start_markers=(OPEN,),
    make_end_detector=body,
    parse_frame=parse,
    write_call=lambda request: (
        f"{OPEN}{builders.write_json_call(request, arguments_key='parameters')}"
    ),
)._replace(models=("llama-3.1*", "llama-3.2*", "llama-3.3*"))
