"""Secrets in every place where people keep them; then the search for where they do not belong.

A key belongs in the request to the server whose key it is, and what the user asked to be read, or
pasted, belongs in the request to the model. Nothing of it belongs in a file that andy writes, on
the screen, in a request to anybody else, or in the environment of a program that andy starts.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from tests.canaries import find_canaries, make_canary
from tests.model_server import Answer, ModelServer, Received, event, raw, refused, status, streamed
from tests.serve_client import serving
from tests.shell import ANDY, ROOT, environment
from tests.terminal import Terminal
from tests.web_server import WebServer, head

ENVIRONMENT = {
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GITHUB_TOKEN": "github",
    "AWS_ACCESS_KEY_ID": "aws id",
    "AWS_SECRET_ACCESS_KEY": "aws key",
    "SHOP_PASSWORD": "password",
    "CI_JOB_TOKEN": "hex",
}
FILE = {"STRIPE_KEY": "stripe", "SESSION_SECRET": "hex", "DB_PASSWORD": "password"}
RESULT = {"deploy_token": "gitlab", "session_token": "jwt"}
PASTED = {"slack": "slack", "maps": "google", "hub": "huggingface"}
CONFIGURED = {"MEMORY_TOKEN": "hex", "deploy --token": "github"}

LOOKUP = '''
"""Look a build up."""

import json
import os

from andy_cli.toolbox.tool import Outcome, tool


@tool(effect="read", action="look the build up")
def lookup_build() -> Outcome:
    """Look up the build"""
    with open(os.environ["BUILD_RECORD"]) as file:
        return Outcome(json.load(file), "looked the build up")
'''
MCP_PROGRAM = """
import os, runpy, sys
from pathlib import Path
Path(sys.argv.pop(1)).write_bytes(os.environb.get(b"X", b"") + repr(dict(os.environ)).encode())
runpy.run_module("tests.memory_server", run_name="__main__")
"""


@dataclass
class Places:
    """A user with secrets in all places; `canaries` names each by where it is."""

    home: Path
    chance: random.Random
    canaries: dict[str, str] = field(default_factory=dict)
    planted: list[Path] = field(default_factory=list)

    def draw(self, group: str, shapes: Mapping[str, str]) -> dict[str, str]:
        drawn = {name: make_canary(shape, self.chance) for name, shape in shapes.items()}
        self.canaries.update({f"{group}: {name}": canary for name, canary in drawn.items()})
        return drawn

    def of(self, *groups: str) -> dict[str, str]:
        return {
            name: canary
            for name, canary in self.canaries.items()
            if name.partition(":")[0] in groups
        }

    def but(self, *groups: str) -> dict[str, str]:
        allowed = self.of(*groups)
        return {name: canary for name, canary in self.canaries.items() if name not in allowed}

    def plant(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.planted.append(path)

    @property
    def workspace(self) -> Path:
        return self.home / "work"

    @property
    def mcp_environment(self) -> Path:
        return self.home / "mcp-environment"


def furnish(home: Path, chance: random.Random) -> tuple[Places, dict[str, str], str]:
    """The user's home; gives the environment of andy, and what the user will paste, too."""
    places = Places(home, chance)
    named = places.draw("environment", ENVIRONMENT)
    url = {"DATABASE_URL": make_canary("hex", chance)}
    places.canaries["environment: DATABASE_URL"] = url["DATABASE_URL"]
    named["DATABASE_URL"] = f"postgres://shop:{url['DATABASE_URL']}@db.example.org/shop"
    written = places.draw("file", FILE)
    lines = [f"{name}={value}\n" for name, value in written.items()]
    places.plant(places.workspace / ".env", "".join(lines))
    (places.workspace / "notes.txt").write_text("STRIPE_KEY is in .env\n")
    places.plant(home / "build.json", json.dumps(places.draw("result", RESULT)))
    configured = places.draw("configured", CONFIGURED)
    config = home / "config"
    command = f"deploy --token {configured['deploy --token']}"
    places.plant(config / "config.toml", f"[custom.ship]\ncommand = {json.dumps(command)}\n")
    server = {
        "command": sys.executable,
        "args": ["-c", MCP_PROGRAM, str(places.mcp_environment)],
        "env": {"MEMORY_TOKEN": configured["MEMORY_TOKEN"], "PYTHONPATH": str(ROOT)},
    }
    places.plant(config / "mcp.json", json.dumps({"mcpServers": {"memory": server}}))
    (config / "tools").mkdir()
    (config / "tools" / "lookup.py").write_text(LOOKUP)
    folders = {"ANDY_CONFIG_DIR": str(config), "ANDY_DEBUG_RAW": "1"}
    own = {**folders, **named, "BUILD_RECORD": str(home / "build.json")}
    pasted = places.draw("pasted", PASTED)
    words = ", ".join(f"my {name} key: {key}" for name, key in pasted.items())
    return places, own, words


Call = tuple[str, Mapping[str, object]]


def calls_in_turn(*calls: Call) -> Callable[[Received], Answer]:
    """A model that makes these calls one after another and then answers."""

    def answer(received: Received) -> Answer:
        messages = received.body["messages"]
        done = sum(message["role"] == "tool" for message in messages)
        if done >= len(calls) or not received.body.get("tools"):
            return streamed("All ", "is ", "done.")
        name, arguments = calls[done]
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call{done}", "type": "function", "function": function}
        end = [event({}, "tool_calls"), raw("data: [DONE]\n\n")]
        return [status(), event({"tool_calls": [call]}), *end]

    return answer


Leaks = Iterator[str]


def look(where: str, data: bytes | str, canaries: Mapping[str, str]) -> Leaks:
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    for found in find_canaries(content, canaries):
        yield f"{where}: {found}"


def look_into_files(places: Places) -> Leaks:
    """Every file of the home but those of the user's own."""
    written = [path for path in places.home.rglob("*") if path.is_file()]
    for path in written:
        if path not in places.planted and path != places.mcp_environment:
            name = str(path.relative_to(places.home))
            yield from look(f"file {name}", path.name + "\n", places.canaries)
            yield from look(f"file {name}", path.read_bytes(), places.canaries)


def look_into_requests(places: Places, requests: Sequence[Received], *asked: str) -> Leaks:
    """`asked`: groups that the user wanted the model to see."""
    key = places.canaries["environment: OPENAI_API_KEY"]
    for request in requests:
        headers = dict(request.headers)
        assert headers.pop("authorization") == f"Bearer {key}"
        yield from look("headers to the model", repr(headers), places.canaries)
        body = json.dumps(request.body, ensure_ascii=False)
        yield from look("request to the model", body, places.but(*asked))


def look_into_children(places: Places) -> Leaks:
    if places.mcp_environment.exists():
        own = {"configured: MEMORY_TOKEN"}
        others = {name: key for name, key in places.canaries.items() if name not in own}
        seen = places.mcp_environment.read_bytes()
        assert places.canaries["configured: MEMORY_TOKEN"].encode() in seen
        yield from look("environment of the MCP server", seen, others)


def run_allowed(home: Path, chance: random.Random) -> Leaks:
    """`andy run -y`: files, results and pages are read, commands run; text and capture."""
    places, own, words = furnish(home, chance)
    dump = places.home / "command-environment"
    with WebServer(lambda _: [head(), b"<p>Hello"]) as web:
        calls: list[Call] = [
            ("read_file", {"path": ".env"}),
            ("lookup_build", {}),
            ("memory.search_memory", {"query": {"text": "x"}}),
            ("terminal_execute", {"command": f"env > {dump}; env"}),
            ("fetch_page", {"url": web.url}),
            ("api_call", {"url": web.url, "method": "POST", "body": "hello"}),
        ]
        with ModelServer(calls_in_turn(*calls)) as server:
            more = ("-y", "--set", f"web.trusted={web.url.removeprefix('http://')}")
            done = run_andy(places, own, server, words, *more)
            yield from look_into_requests(places, server.requests, "file", "result", "pasted")
            if len(server.requests) != len(calls) + 1:
                yield f"the conversation went another way: {done.stderr!r}"
        for request in web.requests:
            sent = f"{request.url} {dict(request.headers)}".encode() + request.body
            yield from look("request to a web server", sent, places.canaries)
        if len(web.requests) < 2:
            yield f"the web server was not asked: {done.stderr!r}"
    yield from look("environment of a command", dump.read_bytes(), places.canaries)
    yield from look("screen", done.stdout + done.stderr, places.canaries)
    yield from look_into_children(places)
    yield from look_into_files(places)


def run_unasked(home: Path, chance: random.Random) -> Leaks:
    """`andy run` where nobody agreed: the model helps itself, and gets nothing."""
    places, own, _ = furnish(home, chance)
    calls: list[Call] = [
        ("terminal_execute", {"command": "cat .env"}),
        ("terminal_execute", {"command": "grep -rI KEY ."}),
        ("terminal_execute", {"command": "env"}),
        ("terminal_execute", {"command": "cat /proc/self/environ"}),
        ("read_file", {"path": ".env"}),
        ("search_files", {"pattern": "KEY", "path": "."}),
        ("read_file", {"path": "../build.json"}),
        ("custom", {"name": "ship"}),
    ]
    with ModelServer(calls_in_turn(*calls)) as server:
        done = run_andy(places, own, server, "Look around.")
        yield from look_into_requests(places, server.requests)
        if len(server.requests) != len(calls) + 1:
            yield f"the conversation went another way: {done.stderr!r}"
    yield from look("screen", done.stdout + done.stderr, places.canaries)
    yield from look_into_children(places)
    yield from look_into_files(places)


def run_andy(
    places: Places, own: Mapping[str, str], server: ModelServer, task: str, *more: str
) -> subprocess.CompletedProcess[str]:
    to = ("--base-url", server.url, "--model", "m")
    return subprocess.run(
        [str(ANDY), "run", "--no-wait", *to, *more, task],
        cwd=places.workspace,
        env=environment(places.home, **own),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def chat(home: Path, chance: random.Random) -> Leaks:
    """`andy chat`: keys are pasted; a server repeats its key in an error; a model repeats them."""
    places, own, words = furnish(home, chance)
    key = places.canaries["environment: OPENAI_API_KEY"]
    looked_up = calls_in_turn(("lookup_build", {}))

    def answer(received: Received) -> Answer:
        if "wrong" in received.body["messages"][-1]["content"]:
            return refused(401, f"Incorrect API key provided: {key}.")
        return looked_up(received)

    os.environ.clear()
    os.environ.update(environment(home, **own))
    with ModelServer(answer) as server:
        flags = ("--base-url", server.url, "--model", "m")
        with Terminal("chat", *flags, folder=places.workspace, columns=300) as terminal:
            terminal.prompts()
            for line in ("Look the build up.", "Now it is wrong.", f"Keep {words}", "/exit"):
                terminal.type(f"{line}\r")
                if line != "/exit":
                    terminal.prompts()
            terminal.leaves()
            screen = terminal.text
        yield from look_into_requests(places, server.requests, "result", "pasted")
    if "401" not in screen and "key" not in screen:
        yield f"the error was not shown:\n{screen}"
    yield from look("screen", screen, places.but("pasted"))
    yield from look_into_children(places)
    yield from look_into_files(places)


def serve(home: Path, chance: random.Random) -> Leaks:
    """`andy serve`: the client's key stays with andy, the upstream's key with the upstream."""
    places, own, _ = furnish(home, chance)
    key = places.canaries["environment: OPENAI_API_KEY"]
    token = places.draw("client", {"token": "openai"})["token"]
    seen: list[str] = []
    with ModelServer(answer_or_refuse(key), checked=False) as server:
        os.environ.clear()
        os.environ.update(environment(home, **own))
        with serving(server.url, "--token", token, home=places.workspace) as served:
            address = served.url
            headers = {"authorization": f"Bearer {token}"}
            for say in ("hello", "wrong"):
                for stream in (False, True):
                    messages = [{"role": "user", "content": say}]
                    body = {"model": "m", "messages": messages, "stream": stream}
                    url = f"{address}/v1/chat/completions"
                    response = httpx2.post(url, json=body, headers=headers, timeout=30)
                    seen += [response.text, repr(dict(response.headers))]
            for path in ("/", "/metrics", "/v1/models", "/health"):
                response = httpx2.get(f"{address}{path}", headers=headers)
                seen += [response.text, repr(dict(response.headers))]
        yield from look_into_requests(places, server.requests)
    yield from look("answer of andy serve", "\n".join(seen), places.canaries)
    yield from look_into_files(places)


def answer_or_refuse(key: str) -> Callable[[Received], Answer]:
    def answer(received: Received) -> Answer:
        if received.body["messages"][-1]["content"] == "wrong":
            return refused(401, f"Incorrect API key provided: {key}.")
        return streamed("Hello.")

    return answer


WAYS: Mapping[str, Callable[[Path, random.Random], Leaks]] = {
    "run, everything allowed": run_allowed,
    "run, nothing allowed": run_unasked,
    "chat": chat,
    "serve": serve,
}


def main(rounds: int) -> int:
    started = time.monotonic()
    total = broken = 0
    for name, way in WAYS.items():
        leaks: list[str] = []
        for number in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "work").mkdir()
                leaks += way(Path(folder).resolve(), random.Random(number))
        kept = len(ENVIRONMENT) + 1 + len(FILE) + len(RESULT) + len(PASTED) + len(CONFIGURED)
        total += rounds * kept
        broken += len(leaks)
        sys.stdout.write(f"{name:28}{rounds * kept:>6} canaries{len(leaks):>6} found elsewhere\n")
        sys.stdout.writelines(f"  {leak}\n" for leak in sorted(set(leaks)))
    seconds = time.monotonic() - started
    sys.stdout.write(f"canaries: {total:,}, {broken} found elsewhere, {seconds:.0f} s\n")
    return 1 if broken else 0
