"""Beam: a header like harmony's with the recipient, then prefixed parameters alone.

<|start|>assistant to=play<|channel|>commentary<|message|><rfl:parameter name="track">
Blue
</rfl:parameter><|call|>
"""

from andy_cli.compiler.bodies import builders, calls
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd
from andy_cli.compiler.bodies.markup import elements, tagged
from andy_cli.compiler.bodies.markup.elements import INVOKE
from andy_cli.compiler.bodies.markup.sections import RawSectionEnd
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.dialects.named_json import harmony
from andy_cli.messages import ToolRequest

MESSAGE, TAG = harmony.MESSAGE, "<rfl:parameter"
CLOSERS = ("<|call|>", "<|end|>", "<|return|>", "<|eom|>")
FIRSTS = (TAG, *CLOSERS)
"""First texts after a header with a recipient that are no JSON."""
PARAMETERS = INVOKE._replace(
    call=r"\Ato=(?P<name>[\w.\-/]{1,200}) ", call_end=r"<\|(?:call|end|return|eom)\|>", lone=True
)


def find_end(held: str) -> HeadDecision:
    """As harmony does, but where parameters follow the header."""
    decision = harmony.find_channel_end(held)
    if decision is None or decision == -1:
        return decision
    start, firsts = (decision, (TAG,)) if isinstance(decision, int) else (decision[1], FIRSTS)
    inner = held[start:].lstrip()
    if inner.startswith(firsts):
        return RawSectionEnd(*CLOSERS), start
    return None if any(first.startswith(inner) for first in firsts) else decision


def parse(text: str, tools: Tools) -> Parsed | None:
    head, _, inner = text.partition(MESSAGE)
    recipient = harmony.RECIPIENT.search(head)
    if recipient is None or not inner.lstrip().startswith(FIRSTS):
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
    make_end_detector=lambda opener, tools: HeldEnd(find_end, opener),
    parse_frame=parse,
    write_call=write,
)._replace(models=("beam",))
