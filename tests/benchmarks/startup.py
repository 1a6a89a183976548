"""How long until andy answers, and how much it weighs."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pexpect

from tests.benchmarks.measure import ANDY, RUNS, table, wall

HELLO = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str) -> None:
    "Say hello."
    print(name)
app()
"""

PROMPT = ">[ \x08\x1b\r]"
"""The sign, and what follows it: the blank may be left out."""

BARE_PROMPT = "from prompt_toolkit import PromptSession\nPromptSession().prompt('> ')\n"


@contextlib.contextmanager
def instant_server(tokens: int, *tool: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.benchmarks.server", "0", str(tokens), *tool]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split()[1]
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def first_prompt(command: list[str], env: dict[str, str]) -> tuple[float, int]:
    """Seconds until the prompt is on a real terminal, and the kilobytes resident then."""
    times, weights = [], []
    for _ in range(RUNS):
        started = time.perf_counter()
        child = pexpect.spawn(
            command[0], command[1:], env={**os.environ, **env}, dimensions=(24, 80)
        )
        child.expect(PROMPT, timeout=20)
        times.append(time.perf_counter() - started)
        time.sleep(0.3)
        weights.append(resident(child.pid))
        child.close(force=True)
    return median(times), int(median(weights))


def weight_after_a_turn(base_url: str, env: dict[str, str]) -> int:
    child = pexpect.spawn(
        ANDY,
        ["chat", "--base-url", base_url, "--model", "m", "--no-session"],
        env={**os.environ, **env},
        dimensions=(24, 80),
    )
    child.expect(PROMPT, timeout=20)
    child.send("hello\r")
    child.expect("paragraph", timeout=20)
    time.sleep(1)
    weight = resident(child.pid)
    child.close(force=True)
    return weight


def resident(pid: int) -> int:
    """Kilobytes of a process that are in memory (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def main() -> None:
    python = sys.executable
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "TERM": "xterm-256color", "OPENAI_API_KEY": ""}
        hello = Path(home) / "hello.py"
        hello.write_text(HELLO)
        bare = Path(home) / "bare.py"
        bare.write_text(BARE_PROMPT)
        nothing = wall([python, "-c", "pass"])
        version = wall([ANDY, "--version"], env=env)
        typer_help = wall([python, str(hello), "--help"])
        our_help = wall([ANDY, "--help"], env=env)
        openai = wall([python, "-c", "import openai"])
        with instant_server(20) as url:
            run = wall([ANDY, "run", "--base-url", url, "--model", "m", "hi"], env=env)
            turn_weight = weight_after_a_turn(url, env)
        with instant_server(20, "tool") as url:
            tool = wall([ANDY, "run", "--base-url", url, "--model", "m", "hi"], env=env)
        bare_prompt, bare_weight = first_prompt([python, str(bare)], env)
        prompt, weight = first_prompt([ANDY], env)
    table(
        "startup: seconds, median",
        [
            row("andy --version", version, "python -c pass", nothing, "<= 2"),
            row("andy --help", our_help, "typer hello --help", typer_help, "<= 0.7"),
            row("andy run, instant server", run, "import openai", openai, "<= 0.6"),
            (
                "  with one tool call",
                f"{tool:.3f}",
                f"{run:.3f}",
                f"+{(tool - run) * 1e3:.0f} ms (<= 20)",
            ),
            row("first prompt", prompt, "bare prompt-toolkit", bare_prompt, "<= 1.4"),
        ],
    )
    table(
        "memory: MB resident",
        [
            (
                "chat at the first prompt",
                f"{weight / 1024:.0f}",
                f"{bare_weight / 1024:.0f}",
                "(<= 40)",
            ),
            ("chat after a turn", f"{turn_weight / 1024:.0f}", "", "(<= 75)"),
        ],
    )


def row(
    what: str, measured: float, floor: str, base: float, goal: str
) -> tuple[str, str, str, str]:
    return what, f"{measured:.3f}", f"{base:.3f}  {floor}", f"{measured / base:.2f} ({goal})"
