"""Harmony (gpt-oss): channels for thinking, for calls and for what the user reads.

    <|channel|>analysis<|message|>They want music.<|end|>
    <|start|>assistant<|channel|>commentary to=functions.play <|constrain|>json<|message|>
    {"track": "Blue"}<|call|>
    <|channel|>final<|message|>Playing.<|return|>

Where a server took the tokens out, the names of the channels are left:

    analysisThey want music.assistantcommentary to=functions.play json{"track":"Blue"}

The recipient may stand in the role header instead, with or without `functions.`, on any channel.
The servers' own tools `python` and `browser` are no functions of ours.
"""

from andy_cli.compiler.bodies import builders, calls
from andy_cli.compiler.bodies.end_detectors import HeadDecision, HeldEnd
from andy_cli.compiler.bodies.json_scan import JsonScan
from andy_cli.compiler.dialect import Parsed, Tools
from andy_cli.compiler.expression import Expression
from andy_cli.messages import ToolRequest

START, CHANNEL, MESSAGE = "<|start|>", "<|channel|>", "<|message|>"
RECIPIENT = Expression(r"to=(?:functions[.:])?([\w.\-/]+)")
SPEAKER = Expression(r"\s*<\|start\|>\s*(?P<role>[\w.]+)")
STRIPPED = Expression(
    r"(?:commentary|analysis) to=functions\.(?P<name>[\w.\-/]+)\s*"
    r"(?:commentary\s*)?(?:json|code)?\s*"
)
NAME = Expression(r"<\|channel\|>\s*(\w+)")
THINKING = ("analysis",)
MAX_HEAD_LENGTH = 400
"""Characters of a header at most."""


def find_channel_end(held: str) -> HeadDecision:
    """A header ends with its message marker; with a recipient, where the arguments end."""
    end = held.find(MESSAGE)
    if end < 0 or end + len(MESSAGE) > MAX_HEAD_LENGTH:
        return -1 if len(held) > MAX_HEAD_LENGTH else None
    end += len(MESSAGE)
    return (JsonScan(), end) if RECIPIENT.search(held[:end]) else end


def find_stripped_end(held: str) -> HeadDecision:
    """A header without tokens ends with the arguments."""
    head, brace, _ = held.partition("{")
    if not brace:
        return None if len(head) <= MAX_HEAD_LENGTH else -1
    return (JsonScan(), len(head)) if STRIPPED.fullmatch(head) else -1


def parse(text: str, tools: Tools) -> Parsed | None:
    if stripped := STRIPPED.match(text):
        name = calls.clean_tool_name(stripped["name"], tools)
        return read_call(name, text[stripped.end() :], tools) if name in tools else None
    head, marker, body = text.partition(MESSAGE)
    speaker = SPEAKER.match(head)
    if speaker and not "assistant".startswith(speaker["role"]):
        return Parsed(ends_reply=True)
    if not marker:
        return None if len(head) > MAX_HEAD_LENGTH else Parsed()
    if recipient := RECIPIENT.search(head):
        return read_call(calls.clean_tool_name(recipient[1], tools), body, tools)
    channel = NAME.search(head)
    thinking = channel is not None and channel[1] in THINKING
    return Parsed(thinks_until=("<|end|>", START, CHANNEL, "<|return|>") if thinking else ())


BUILT_IN = ("python", "browser", "browser.search", "browser.open")
"""Tools of the model's maker; what is written to them is thought where they do not exist."""


def read_call(name: str, body: str, tools: Tools) -> Parsed | None:
    if name in BUILT_IN and name not in tools:
        return Parsed(reasoning=body)
    if not body.strip() and calls.parameters_schema(tools.get(name)).get("required"):
        return Parsed(incomplete=True)
    return calls.read_named_call(name, body, tools)


def write(request: ToolRequest) -> str:
    return (
        f"{CHANNEL}commentary to=functions.{request.name} <|constrain|>json{MESSAGE}"
        f"{builders.dump_arguments(request)}<|call|>"
    )


DIALECT = builders.make_taught_dialect(
    dialect_name="harmony",
    start_markers=(START, CHANNEL),
    make_end_detector=lambda opener, tools: HeldEnd(
        find_channel_end if opener in (START, CHANNEL) else find_stripped_end, opener
    ),
    parse_frame=parse,
    write_call=write,
)._replace(
    line_start_markers=("commentary to=functions.", "analysis to=functions."), models=("gpt-oss*",)
)
