"""Beam: a header like harmony's with the recipient, then prefixed parameters alone.

<|start|>assistant to=play<|channel|>commentary<|message|><rfl:parameter name="track">
Blue
</rfl:parameter><|call|>
"""

from andy_cli.compiler.bodies import builders, calls
from andy_cli.compiler.bodies.markup import elements, tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.bodies.markup.sections import RawSectionEnd
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.dialects.named_json import harmony
from andy_cli.messages import ToolRequest

MESSAGE, TAG = harmony.MESSAGE, "<rfl:parameter"
CLOSERS = ("<|call|>", "<|end|>", "<|return|>", "<|eom|>")
PARAMETERS = INVOKE._replace(
    call=r"\Ato=(?P<name>[\w.\-/]{1,200}) ", call_end=r"<\|(?:call|end|return|eom)\|>", lone=True
)


class BeamEnd:
    """As harmony's, until it is seen that parameters follow the header."""

    def __init__(self, opener: str) -> None:
        self._channel = harmony.ChannelEnd(opener, {})
        self._head = opener
        self._raw: RawSectionEnd | None = None

    def feed(self, text: str) -> int | None:
        if self._raw is not None:
            return self._raw.feed(text)
        if len(self._head) < harmony.HEAD:
            seen_length = len(self._head)
            self._head += text
            head, marker, inner = self._head.partition(MESSAGE)
            if marker and inner.lstrip().startswith((TAG, *CLOSERS)):
                self._raw = RawSectionEnd(*CLOSERS)
                end = self._raw.feed(inner)
                return None if end is None else end + len(head) + len(marker) - seen_length
        return self._channel.feed(text)


def parse(text: str, tools: Tools) -> Parsed | None:
    head, _, inner = text.partition(MESSAGE)
    recipient = harmony.RECIPIENT.search(head)
    if recipient is None or not inner.lstrip().startswith((TAG, *CLOSERS)):
        return None
    name = calls.clean_tool_name(recipient[1], tools)
    found_calls = elements.read_elements(f"to={name} {inner}", tools, PARAMETERS)
    return found_calls and Parsed(found_calls.requests, incomplete=found_calls.incomplete)


def write(request: ToolRequest) -> str:
    values = tagged.make_element_writer(
        ("", ""), ('<rfl:parameter name="KEY">\n', "\n</rfl:parameter>"), PARAMETERS
    )(request)
    head = f"{harmony.START}assistant to={request.name}{harmony.CHANNEL}commentary{MESSAGE}"
    return f"{head}{values}<|call|>"


DIALECT = builders.make_taught_dialect(
    dialect_name="beam",
    start_markers=(harmony.START, harmony.CHANNEL),
    make_end_detector=lambda opener, tools: BeamEnd(opener),
    parse_frame=parse,
    write_call=write,
)._replace(models=("beam",))
