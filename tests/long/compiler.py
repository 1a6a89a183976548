"""The compiler's promises over many replies made of markers, halves of markers, calls and text.

For each: any way to cut it gives the same, what was streamed is what there is in the end, exactly
the spans that were consumed are missing, and nothing raises. In batches with a seed each: a failure
can be repeated, and hypothesis does not have to remember a million cases.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import CompiledReply, Compiler
from andy_cli.compiler.control_tokens import LITERAL, REASONING
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.lexer import Lexer
from andy_cli.compiler.lexing.markers import Markers, list_start_markers
from andy_cli.discover import discover
from andy_cli.messages import ToolRequest
from tests.mixed_frames import BODIES, NAMED

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
TURN = (*LITERAL, "<|im_end|>", "<|im_start|>user\n", "<|eot_id|>", "<|user|>", "<|end|>")
SONG = {"track": "Blue in Green", "loop": True}
HALVES = [text for each in DIALECTS for text, _ in list_start_markers(each, tuple(TOOLS))]
FRAGMENTS = [
    *HALVES,
    *(closer for each in DIALECTS for closer in each.end_markers),
    *REASONING,
    *(closer for closers in REASONING.values() for closer in closers),
    *TURN,
    *(each.write(request) for each in DIALECTS for request in REQUESTS),
    *(frame.write("play", body("play", SONG)) for frame in NAMED for body in BODIES.values()),
    *"` ``` \n { } [ ] ( ) \" ' , ; : = < > | \\ \\u é \ufeff \x00 \ud800 音 👩‍🎤".split(" "),
    "hello ",
    "a word. ",
    "\n\n",
]


BATCH = 5_000

whole_pieces = st.sampled_from(FRAGMENTS)
halves = st.tuples(whole_pieces, st.floats(0, 1)).map(
    lambda cut: cut[0][: int(len(cut[0]) * cut[1])]
)
replies = st.lists(whole_pieces | whole_pieces | halves | st.text(max_size=8), max_size=7).map(
    "".join
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


def check(text: str, cuts: list[int]) -> None:
    shown, whole = compiled(text, [])
    assert shown == whole.text, "what was shown is not the text"
    if not (whole.spans or whole.hidden or whole.reasoning):
        assert whole.text == text, "text that is no request came out changed"
    lexer = Lexer(MARKERS, TOOLS)
    segments = [*lexer.feed(text), *lexer.finish()]
    assert "".join(each.text for each in segments) == text, "a character was lost"
    for each in (cuts, list(range(1, len(text)))):
        assert compiled(text, each) == (shown, whole), f"cut at {each[:20]} it means something else"


def batch(number: int, size: int) -> str:
    """So many cases by this seed; what broke, as hypothesis reports it, or nothing."""

    @seed(number)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(replies, st.data())
    def holds(text: str, data: st.DataObject) -> None:
        check(text, sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12))))

    try:
        holds()
    except Exception as error:  # noqa: BLE001  # that it raises is what is looked for
        return f"seed {number}: {type(error).__name__}: {error}\n" + "\n".join(error.__notes__)
    return ""


def main(cases: int) -> int:
    started = time.monotonic()
    numbers = range(max(1, cases // BATCH))
    failures = done = 0
    with ProcessPoolExecutor() as pool:
        for problem in pool.map(partial(batch, size=min(cases, BATCH)), numbers):
            done += 1
            failures += bool(problem)
            if problem:
                sys.stdout.write(problem + "\n")
            if done % 10 == 0:
                seconds = time.monotonic() - started
                sys.stdout.write(f"  {done * BATCH:,} replies, {seconds:.0f} s\n")
                sys.stdout.flush()
    seconds = time.monotonic() - started
    total = done * min(cases, BATCH)
    sys.stdout.write(f"compiler: {total:,} replies, {failures} broken, {seconds:.0f} s\n")
    return 1 if failures else 0
