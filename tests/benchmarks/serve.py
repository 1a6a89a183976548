"""What andy serve costs: beside the model asked directly, and beside the barest proxy.

Client, model and server share the machine's processors: look at the ratios.
"""

import asyncio
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import uvloop

from tests.benchmarks.instant import EVENTS
from tests.benchmarks.load import Asking, connected, request
from tests.peer_programs import find_peer, install_peers, peer_version, peers_folder
from tests.serve_client import MP3S, USER
from tests.shell import free_port

PLAIN = {"model": "m", "messages": [USER]}
STREAM = {**PLAIN, "stream": True}
COMPILED = {**STREAM, "tools": MP3S, "user": "calling"}
REQUESTS = 3000
ROUNDS = 5
PEERS = {"litellm": 0.03, "petsitter": 0.03}
Figures = dict[str, float]


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": home},
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def until_there(port: int, patience: float = 20) -> float:
    """Seconds until somebody listens."""
    began = time.perf_counter()
    while time.perf_counter() - began < patience:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return time.perf_counter() - began
        time.sleep(0.002)
    raise TimeoutError


class Client:
    def __init__(self, port: int) -> None:
        self._port = port

    async def latency(self, body: bytes, requests: int = 400) -> float:
        """Median of requests one after the other, in ms."""
        asking, written = await connected(self._port), request(self._port, body)
        times = []
        for _ in range(requests + requests // 8):
            began = time.perf_counter()
            await asking.ask(written)
            times.append(time.perf_counter() - began)
        asking.close()
        return statistics.median(times[requests // 8 :]) * 1000

    async def rate(self, body: bytes, clients: int, requests: int = REQUESTS) -> float:
        """Requests a second."""
        written = request(self._port, body)

        async def work(asking: Asking) -> None:
            for _ in range(requests // clients):
                await asking.ask(written)

        connections = [await connected(self._port) for _ in range(clients)]
        began = time.perf_counter()
        await asyncio.gather(*(work(each) for each in connections))
        seconds = time.perf_counter() - began
        for each in connections:
            each.close()
        return requests / seconds

    async def first(self, body: bytes, requests: int = 60) -> float:
        """Median time to the first content of a stream, in ms."""
        asking, written = await connected(self._port), request(self._port, body)
        times = []
        for _ in range(requests):
            began = time.perf_counter()
            whole = asking.ask(written)
            await asking.first
            times.append(time.perf_counter() - began)
            await whole
        asking.close()
        return statistics.median(times) * 1000


async def measured(ports: Mapping[str, int]) -> dict[str, list[Figures]]:
    """Each server in turn, round after round: whatever else slows the machine slows them all."""
    found: dict[str, list[Figures]] = {name: [] for name in ports}
    for _ in range(ROUNDS):
        for name, port in ports.items():
            found[name].append(await looked_at(Client(port), PEERS.get(name, 1)))
    return found


async def looked_at(client: Client, share: float) -> Figures:
    """`share`: of the requests, for servers that are so slow that fewer must do."""
    plain, stream = json.dumps(PLAIN).encode(), json.dumps(STREAM).encode()
    compiled = json.dumps(COMPILED).encode()
    requests, streams = max(64, int(REQUESTS * share)), max(4, int(24 * share))
    return {
        "latency": await client.latency(plain, max(40, int(400 * share))),
        "16": await client.rate(plain, 16, requests),
        "64": await client.rate(plain, 64, requests),
        "events": await client.rate(stream, 4, streams) * EVENTS,
        "first": await client.first(stream, max(4, int(60 * share))),
        "compiled": await client.rate(compiled, 4, streams) * EVENTS,
    }


def memory(process: subprocess.Popen[str]) -> float:
    """MB that are resident."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:  # noqa: PTH123
        found = re.search(r"VmRSS:\s+(\d+)", file.read())
    return int(found[1]) / 1024 if found else 0


@contextmanager
def litellm(url: str, port: int) -> Iterator[None]:
    """Its proxy, with one model."""
    model = ("--model", "openai/m", "--api_base", url, "--port", str(port), "--telemetry", "False")
    alone = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"
    known = {
        alone: "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENAI_API_KEY": "none",
        "LITELLM_LOG": "ERROR",
    }
    with program("litellm", *model, "--host", "127.0.0.1", env=known):
        until_answered(port)
        yield


@contextmanager
def petsitter(url: str, port: int) -> Iterator[None]:
    """With its settings in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"model_url": url.removesuffix("/v1"), "model_name": "m", "api_key": "none"}
        Path(folder, "config.json").write_text(json.dumps(settings), encoding="utf-8")
        listen = ("-l", f"127.0.0.1:{port}", "--no-browser")
        with program("petsitter", "-c", folder, *listen, env={"PET_CONFIG_DIR": folder}):
            until_answered(port)
            yield


@contextmanager
def program(name: str, *words: str, env: Mapping[str, str]) -> Iterator[None]:
    """One that is installed with the peers."""
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [peers_folder() / name, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **env, "HOME": home},
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def until_answered(port: int) -> None:
    """A peer is there once it answers a request as it should."""
    until_there(port, 90)
    uvloop.run(Client(port).latency(json.dumps(PLAIN).encode(), 1))


def peers(stack: ExitStack, url: str) -> dict[str, int]:
    """Those that are installed, and where they listen."""
    found = {}
    for name, start in (("litellm", litellm), ("petsitter", petsitter)):
        if find_peer(name):
            found[name] = free_port()
            stack.enter_context(start(url, found[name]))
    return found


def main() -> None:
    if said := install_peers():
        print(f"Without peers: {said}")
    model, bare, ours, taught = (free_port() for _ in range(4))
    url = f"http://127.0.0.1:{model}/v1"
    serve = ("andy_cli", "serve", "--upstream", url, "--model", "m")
    with ExitStack() as stack:
        stack.enter_context(started("tests.benchmarks.instant", str(model)))
        until_there(model)
        starts, firsts = [], []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            with started(*serve, "--port", str(ours)):
                starts.append(until_there(ours))
                uvloop.run(Client(ours).latency(json.dumps(PLAIN).encode(), 1))
                firsts.append(time.perf_counter() - began)
        proxy = ("tests.benchmarks.bare_proxy", str(bare), f"{url}/chat/completions")
        stack.enter_context(started(*proxy))
        process = stack.enter_context(started(*serve, "--port", str(ours)))
        stack.enter_context(started(*serve, "--dialect", "hermes", "--port", str(taught)))
        for each in (bare, ours, taught):
            until_there(each)
        time.sleep(0.5)
        idle = memory(process)
        ports = {"model itself": model, "bare proxy": bare, "andy serve": ours, "compiling": taught}
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            found = runner.run(measured({**ports, **peers(stack, url)}))
        after = memory(process)
    report(found)
    there = [name for name in PEERS if name in found]
    print(
        "beside " + ", ".join(f"{name} {peer_version(name)}" for name in there)
        if there
        else "alone"
    )
    listening, answered = statistics.median(starts), statistics.median(firsts)
    print(f"start to listening {listening:.2f} s (goal 0.3), to the first answer {answered:.2f} s")
    print(f"idle {idle:.0f} MB (goal 60), after all of this {after:.0f} MB")


ROWS = (
    ("16", "requests/s, 16 clients", "4000"),
    ("64", "requests/s, 64 clients", "4000"),
    ("added", "latency added, p50, ms", "0.6"),
    ("first", "first content, ms", "+2"),
    ("events", "events/s passed on", "40000"),
    ("compiled", "events/s with a call", "20000"),
)
"""Where a call is in the text: `andy serve` reads along, `compiling` was told to compile it."""


def report(found: dict[str, list[Figures]]) -> None:
    """The median of the rounds, and the best: the machine's other work only ever slows."""
    for rounds in found.values():
        for each, direct in zip(rounds, found["model itself"], strict=True):
            each["added"] = each["latency"] - direct["latency"]
    print(f"{'':24}" + "".join(f"{name:>22}" for name in found) + "   goal")
    for key, words, goal in ROWS:
        cells = [cell([each[key] for each in rounds], key) for rounds in found.values()]
        print(f"{words:24}{''.join(cells)}   {goal}")
    for key in ("16", "64"):
        beside = zip(found["andy serve"], found["bare proxy"], strict=True)
        ratio = statistics.median(ours[key] / bare[key] for ours, bare in beside)
        print(f"{key} clients: {ratio:.2f} of the bare proxy's requests")


def cell(figures: list[float], key: str) -> str:
    best = min(figures) if key in ("added", "first") else max(figures)
    form = ",.2f" if key in ("added", "first") else ",.0f"
    both = f"{statistics.median(figures):{form}} ({best:{form}})"
    return f"{both:>22}"
