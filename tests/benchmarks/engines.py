"""Our parser inside vLLM beside vLLM's own of the same run: a stream of pieces of four characters.

vLLM is in an environment of its own that `$ANDY_VLLM_PYTHON` names.
"""

import json
import os
import subprocess
from pathlib import Path

from andy_cli.compiler import write_call
from tests.benchmarks.measure import table

SCRIPT = Path(__file__).parents[1] / "vllm_replies.py"
PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
}
TOOLS = [
    {"type": "function", "function": {"name": "write_file", "parameters": PARAMETERS}},
]
LINE = "def f():\n    return 1\n"
PROSE = "The quick brown fox jumps over the lazy dog, and so on; nothing here is a call.\n"
FAMILIES = {
    "hermes": "hermes",
    "mistral_pre_v11": "mistral",
    "llama3_json": "llama3_json",
    "deepseek_v3": "deepseek_v3",
    "qwen3_coder": "qwen3_coder",
}
"""Our dialect -> vLLM's parser."""


def row(what: str, reply: str, parser: str) -> tuple[str, str, str, str]:
    asked = {"reply": reply, "tools": TOOLS, "parser": parser}
    python = os.environ["ANDY_VLLM_PYTHON"]
    done = subprocess.run(
        [python, SCRIPT, "time"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    rates = json.loads(done.stdout.splitlines()[-1])
    ratio = rates["andy"] / rates[parser]
    return what, f"{rates['andy']:,.0f}", f"{rates[parser]:,.0f}", f"{ratio:.1f} (5)"


def main() -> None:
    if not os.environ.get("ANDY_VLLM_PYTHON"):
        print("$ANDY_VLLM_PYTHON names no environment with vLLM")
        return
    rows = []
    for dialect, parser in FAMILIES.items():
        call = write_call("write_file", {"path": "a.py", "text": LINE * 180}, dialect)
        rows.append(row(f"{dialect}, a call of {len(call):,} characters", call, parser))
    long = write_call("write_file", {"path": "a.py", "text": LINE * 700}, "hermes")
    rows.append(row(f"hermes, a call of {len(long):,} characters", long, "hermes"))
    short = write_call("write_file", {"path": "a.py", "text": LINE * 8}, "hermes")
    rows.append(row(f"hermes, a call of {len(short):,} characters", short, "hermes"))
    for count in (50, 200):
        prose = PROSE * count
        rows.append(row(f"hermes, {len(prose):,} characters of prose", prose, "hermes"))
    table("engines: characters/s inside vLLM, beside vLLM's own parser", rows)
