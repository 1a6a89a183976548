"""The compiler's promises over many replies made of markers, halves of markers, calls and text.

For each: any way to cut it gives the same, what was streamed is what there is in the end, exactly
the spans that were consumed are missing, and nothing raises. Seeded: a failure can be repeated.
"""

import random
import sys
import time

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.markers import REASONING, TURN, Markers, openers
from andy_cli.discover import discover
from andy_cli.messages import ToolRequest

DIALECTS = discover(dialects, Dialect, "DIALECT")
PARAMETERS = {
    "type": "object",
    "properties": {"track": {"type": "string"}, "loop": {"type": "boolean"}},
}
TOOLS = {
    name: {"type": "function", "function": {"name": name, "parameters": PARAMETERS}}
    for name in ("play", "stop", "write_file")
}
MARKERS = Markers(DIALECTS, tuple(TOOLS))
REQUESTS = [
    ToolRequest(name="play", arguments={"track": "Blue <b> } \" ' </tool_call>"}),
    ToolRequest(name="stop", arguments={}),
    ToolRequest(name="nobody", arguments={"x": [1, {"y": None}]}),
]
HALVES = [text for each in DIALECTS for text, _ in openers(each, tuple(TOOLS))]
FRAGMENTS = [
    *HALVES,
    *(closer for each in DIALECTS for closer in each.closers),
    *REASONING,
    *(closer for closers in REASONING.values() for closer in closers),
    *TURN,
    *(each.write(request) for each in DIALECTS for request in REQUESTS),
    *"` ``` \n { } [ ] ( ) \" ' , ; : = < > | \\ \\u é \ufeff \x00 \ud800 音 👩‍🎤".split(" "),
    "hello ",
    "a word. ",
    "\n\n",
]


def reply(dice: random.Random) -> str:
    parts = dice.choices(FRAGMENTS, k=dice.randint(1, 7))
    return "".join(
        part[: dice.randint(0, len(part))] if dice.random() < 0.3 else part for part in parts
    )


def compiled(text: str, cuts: list[int]) -> tuple[str, CompiledReply]:
    compiler = Compiler(MARKERS, TOOLS)
    seen = [
        compiler.feed(text[start:end]).text
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
    ]
    last, whole = compiler.finish()
    shown = whole.text if compiler.relabelled else "".join([*seen, last.text])
    return shown, whole


def broken(text: str, dice: random.Random) -> str:
    """Which promise this reply breaks; empty if none."""
    shown, whole = compiled(text, [])
    if shown != whole.text:
        return "what was shown is not the text"
    cuts = sorted(dice.sample(range(len(text) + 1), k=min(len(text), dice.randint(0, 12))))
    for each in (cuts, list(range(1, len(text)))):
        if compiled(text, each) != (shown, whole):
            return f"cut at {each[:20]} it means something else"
    return ""


def main(cases: int) -> int:
    started = time.monotonic()
    failures = 0
    for seed in range(cases):
        dice = random.Random(seed)
        text = reply(dice)
        try:
            problem = broken(text, dice)
        except Exception as error:  # noqa: BLE001  # that it raises is what is looked for
            problem = f"{type(error).__name__}: {error}"
        if problem:
            failures += 1
            sys.stdout.write(f"seed {seed}: {problem}\n  {text!r}\n")
            if failures >= 20:
                break
    seconds = time.monotonic() - started
    sys.stdout.write(f"compiler: {seed + 1:,} replies, {failures} broken, {seconds:.0f} s\n")
    return 1 if failures else 0
