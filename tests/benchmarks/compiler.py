"""How fast the compiler reads each dialect, and whether its time grows with the text alone."""

import subprocess
import sys
import time
from statistics import median

from andy_cli.compiler import dialects
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.discover import discover
from andy_cli.messages import ToolRequest
from tests.benchmarks.measure import table

PIECE = 4
SMALL, LARGE = 40_000, 400_000
LINE = 'print("a < b && c", [1, 2], {"k": "v"})  # done\n'
PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = {
    "write_file": {"type": "function", "function": {"name": "write_file", "parameters": PARAMETERS}}
}
IMPORT = """
import andy_cli.compiler.compiler
from andy_cli.compiler import dialects
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
discover(dialects, Dialect, "DIALECT")
"""


def seconds(markers: Markers, reply: str, runs: int, size: int = PIECE) -> tuple[float, bool]:
    """Median time to read the reply in pieces of a size, and whether the call was found."""
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    found = False

    def once() -> float:
        nonlocal found
        compiler = Compiler(markers, TOOLS)
        started = time.perf_counter()
        for piece in pieces:
            compiler.feed(piece)
        _, compiled = compiler.finish()
        found = bool(compiled.requests)
        return time.perf_counter() - started

    return median(once() for _ in range(runs)), found


def row(dialect: Dialect, markers: Markers) -> tuple[str, str, str, str]:
    replies = []
    for size in (SMALL, LARGE):
        text = (LINE * (size // len(LINE) + 1))[:size]
        replies.append(dialect.write(ToolRequest(name="write_file", arguments={"text": text})))
    small, found = seconds(markers, replies[0], 5)
    large, _ = seconds(markers, replies[1], 3)
    speed = len(replies[0]) / small
    growth = large / small / (len(replies[1]) / len(replies[0]))
    what = dialect.name if found else f"{dialect.name} (no call found)"
    return what, f"{speed:,.0f}", "300,000", f"{growth:.2f}"


AT_ONCE = {
    "calls": '<tool_call>{"name": "write_file", "arguments": {"text": "a"}}</tool_call>\n',
    "code": 'write_file(a) [x(y) <b>z</b> {"name": "q"} `c`\n',
    "prose": "The next one is played as soon as this one ends, or so it says.\n",
}
"""What a reply that arrives in one piece is made of."""


def at_once(name: str, markers: Markers) -> tuple[str, str, str, str]:
    small, large = (
        seconds(markers, AT_ONCE[name] * (size // len(AT_ONCE[name])), 3, size)[0]
        for size in (SMALL, LARGE)
    )
    growth = large / small / (LARGE / SMALL)
    return f"{name}, at once", f"{SMALL / small:,.0f}", "", f"{growth:.2f}"


def many_tools() -> float:
    found = discover(dialects, Dialect, "DIALECT")
    names = [f"server_{at % 20}__tool_{at}" for at in range(1000)]
    Markers(found)  # what does not depend on the tools is made once

    def once() -> float:
        started = time.perf_counter()
        Markers(found, names)
        return time.perf_counter() - started

    return median(once() for _ in range(5))


def importing() -> float:
    def once(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - started

    floor = median(once("import re, json, ast, dataclasses") for _ in range(7))
    return median(once(IMPORT) for _ in range(7)) - floor


def main() -> None:
    found = discover(dialects, Dialect, "DIALECT")
    markers = Markers(found, tuple(TOOLS))
    taught = [each for each in found if each.name not in ("native", "andybot")]
    table(
        f"compiler: characters a second, {PIECE} at a time; growth is time(400 kB)/time(40 kB)/10",
        [*(row(each, markers) for each in taught), *(at_once(each, markers) for each in AT_ONCE)],
    )
    print(f"\nmarkers for 1,000 tools: {many_tools() * 1e3:.0f} ms")
    print(
        f"\nimporting the compiler with {len(found)} dialects: {importing() * 1e3:.0f} ms (<= 60)"
    )


if __name__ == "__main__":
    main()
