"""Three `andy serve` behind nginx and behind LiteLLM's proxy, killed or told to end in turn.

`python -m tests.long replicas [REQUESTS]`

Nine times one of them, each in turn, is killed (SIGKILL) or told to end (SIGTERM); it comes back
after two seconds, as an orchestrator has it. Half of the requests are streamed, half
have tools; the model writes its calls as text. Each of the three has a model server of its own, so
that it is known who was asked for what. The client is OpenAI's own, with its own retries off: what
is asked again, the proxy asks again.

Only a stream that was under way at one that was killed may be lost, and then the client is told.
"""

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import openai
from openai.types.chat import (
    ChatCompletionChunk,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageParam,
)

from tests.model_server import JSON, Answer, ModelServer, Received, event, raw, status
from tests.proxies import MODEL, NotInstalled, Proxy, run_litellm, run_nginx, wait_for
from tests.shell import ANDY, ROOT, environment, free_port

REPLICAS = 3
CLIENTS = 16
BACK_AFTER = 2.0
"""Seconds until one that ended is started again."""
ENDINGS = 9
"""Every other one is a kill."""
LONG = 100
"""Of so many requests four take seconds."""
TOKEN = "of-a-test"
CHUNKED = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
PLAY: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "play_mp3",
        "description": "Play a music file",
        "parameters": {
            "type": "object",
            "properties": {"file": {"type": "string"}},
            "required": ["file"],
        },
    },
}


@dataclass(frozen=True, slots=True)
class Request:
    """What number `number` asks for, and what is the right answer to it."""

    number: int

    @property
    def streamed(self) -> bool:
        return self.number % 2 == 1

    @property
    def tools(self) -> bool:
        return self.number % 4 >= 2

    @property
    def pause(self) -> float:
        """Seconds that the model waits between two of its pieces."""
        return 0.5 if self.number % LONG < 4 else 0.01

    @property
    def text(self) -> str:
        return f"play {self.number}"

    @property
    def pieces(self) -> list[str]:
        """What the model writes."""
        if not self.tools:
            return [f"Answer {self.number}", " is", " in", " pieces", "."]
        call = {"name": "play_mp3", "arguments": {"file": f"{self.number}.mp3"}}
        text = f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
        return [text[at : at + 24] for at in range(0, len(text), 24)]

    @property
    def right(self) -> "Reply":
        if self.tools:
            return Reply("", (("play_mp3", f'{{"file": "{self.number}.mp3"}}'),), "tool_calls")
        return Reply("".join(self.pieces), (), "stop")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as the client has it."""

    content: str
    calls: tuple[tuple[str, str], ...]
    """Names and arguments."""
    finish: str | None


def answer(request: Request, streamed: bool) -> Answer:
    """What a model makes of it, word by word."""
    pause = {"op": "sleep", "s": request.pause}
    if streamed:
        pieces = [each for piece in request.pieces for each in (event({"content": piece}), pause)]
        return [status(headers=CHUNKED), *pieces, event({}, "stop"), raw("data: [DONE]\n\n")]
    message = {"role": "assistant", "content": "".join(request.pieces)}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL}
    waiting = [pause for _ in request.pieces]
    return [*waiting, status(headers={**CHUNKED, **JSON}), {"op": "json", "body": {**head, **body}}]


class Replica:
    """One `andy serve`, always at the same port, in front of a model server of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.port = free_port()
        self.asked: Counter[int] = Counter()
        """How often its model was asked for each number."""
        self.model = ModelServer(self._answer, (MODEL,), checked=False)
        self._folder = folder
        self.process = self._start()

    def _answer(self, received: Received) -> Answer:
        request = Request(int(str(received.body["messages"][-1]["content"]).split()[-1]))
        self.asked[request.number] += 1
        return answer(request, bool(received.body.get("stream")))

    def _start(self) -> subprocess.Popen[bytes]:
        words = ("--upstream", self.model.url, "--dialect", "hermes", "--port", str(self.port))
        with (self._folder / "serve.err").open("a") as err:
            return subprocess.Popen(
                [ANDY, "serve", *words],
                cwd=self._folder,
                env=environment(
                    self._folder,
                    ANDY_SERVE_TOKEN=TOKEN,
                    OPENAI_API_KEY="none",
                    PYTHONPATH=str(ROOT),
                ),
                stdin=subprocess.DEVNULL,
                stderr=err,
            )

    def await_health(self) -> None:
        wait_for(f"http://127.0.0.1:{self.port}/health", 30)
        assert self.process.poll() is None, f"it ended, and another listens at {self.port}"

    async def end(self, number: signal.Signals) -> int:
        """Its exit code; it comes back after a while."""
        self.process.send_signal(number)
        code = await asyncio.to_thread(self.process.wait, 30)
        await asyncio.sleep(BACK_AFTER)
        self.process = self._start()
        await asyncio.to_thread(self.await_health)
        return code

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


@contextmanager
def running_replicas(folder: Path) -> Iterator[list[Replica]]:
    with ExitStack() as stack:
        replicas = []
        for number in range(REPLICAS):
            replicas.append(replica := Replica(folder / f"andy-{number + 1}"))
            stack.enter_context(replica.model)
            stack.callback(replica.stop)
        for replica in replicas:
            replica.await_health()
        yield replicas


@dataclass(frozen=True, slots=True)
class Ending:
    """One of them was killed, or told to end."""

    replica: Replica
    number: signal.Signals
    moment: float
    code: int


@dataclass
class Result:
    """What became of the requests."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    """Answered without an error, and not as they should be."""
    lost: dict[int, str] = field(default_factory=dict)
    """Ended with an error, which is this."""
    again: Counter[int] = field(default_factory=Counter)
    """How often the proxy asked again for a number."""
    spans: dict[int, tuple[float, float]] = field(default_factory=dict)
    """When each began and ended."""
    endings: list[Ending] = field(default_factory=list)
    seconds: float = 0

    def under_way(self, ending: Ending) -> set[int]:
        """The requests that had begun and not ended at that moment, wherever they were."""
        moment = ending.moment
        return {number for number, (began, end) in self.spans.items() if began <= moment <= end}

    def count_under_way(self, number: signal.Signals) -> int:
        """Those that the model behind the one that ended was asked for."""
        ended = [each for each in self.endings if each.number == number]
        return sum(len(self.under_way(each) & each.replica.asked.keys()) for each in ended)


class Run:
    """All requests through one proxy."""

    def __init__(
        self, address: str, replicas: Sequence[Replica], requests: int, endings: int
    ) -> None:
        self._client = openai.AsyncOpenAI(
            base_url=f"{address}/v1", api_key=TOKEN, max_retries=0, timeout=60
        )
        self._replicas = replicas
        self._requests = requests
        self._endings = endings
        self._numbers = iter(range(requests))
        self._started = 0
        self.result = Result()

    async def run(self) -> Result:
        began = time.monotonic()
        endings = asyncio.create_task(self._end_in_turn())
        await asyncio.gather(*(self._work() for _ in range(CLIENTS)))
        self.result.seconds = time.monotonic() - began
        await endings
        await self._client.close()
        return self.result

    async def _end_in_turn(self) -> None:
        for turn in range(self._endings):
            while self._started < self._requests * (turn + 1) // (self._endings + 1):
                await asyncio.sleep(0.001)
            replica = self._replicas[turn % len(self._replicas)]
            number = signal.SIGTERM if turn % 2 else signal.SIGKILL
            moment = time.monotonic()
            code = await replica.end(number)
            self.result.endings.append(Ending(replica, number, moment, code))

    async def _work(self) -> None:
        for number in self._numbers:
            self._started += 1
            began = time.monotonic()
            await self._ask(Request(number))
            self.result.spans[number] = (began, time.monotonic())

    async def _ask(self, request: Request) -> None:
        try:
            reply, headers = await self._reply(request)
        except openai.APIError as error:
            self.result.lost[request.number] = f"{type(error).__name__}: {error}"[:200]
            return
        self.result.again[request.number] += count_retries(headers)
        if reply == request.right:
            self.result.right += 1
        else:
            self.result.wrong.append(f"{request.number}: {reply}")

    async def _reply(self, request: Request) -> tuple[Reply, Mapping[str, str]]:
        """The answer and its headers. Raises APIError."""
        tools = [PLAY] if request.tools else openai.omit
        asked = self._client.chat.completions.with_raw_response
        said: list[ChatCompletionMessageParam] = [{"role": "user", "content": request.text}]
        if request.streamed:
            begun = await asked.create(model=MODEL, messages=said, tools=tools, stream=True)
            return await join_stream(begun.parse()), begun.headers
        made = await asked.create(model=MODEL, messages=said, tools=tools)
        choice = made.parse().choices[0]
        functions = [
            each.function for each in choice.message.tool_calls or () if each.type == "function"
        ]
        calls = tuple((each.name, each.arguments) for each in functions)
        return Reply(choice.message.content or "", calls, choice.finish_reason), made.headers


async def join_stream(stream: AsyncIterator[ChatCompletionChunk]) -> Reply:
    """Raises APIError where it breaks off."""
    content, finish = "", None
    calls: dict[int, list[str]] = {}
    async for chunk in stream:
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or ():
                name, arguments = calls.setdefault(call.index, ["", ""])
                if call.function:
                    name += call.function.name or ""
                    arguments += call.function.arguments or ""
                calls[call.index] = [name, arguments]
    joined = tuple((name, arguments) for name, arguments in calls.values())
    return Reply(content, joined, finish)


def count_retries(headers: Mapping[str, str]) -> int:
    """How often the proxy asked again before this answer."""
    return headers.get("x-tried", "").count(",") + int(
        headers.get("x-litellm-attempted-retries", 0)
    )


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with a run, and what was seen."""

    faults: list[str]
    told: str


def judge(result: Result, replicas: Sequence[Replica]) -> Findings:
    """Only streams that were under way at one that was killed, at that moment, may be lost."""
    excused: set[int] = set()
    for ending in result.endings:
        if ending.number == signal.SIGKILL:
            others = [each.asked.keys() for each in replicas if each is not ending.replica]
            excused |= result.under_way(ending).difference(*others)
    faults = [f"wrong: {each}" for each in result.wrong]
    for number, why in result.lost.items():
        if number not in excused or not Request(number).streamed:
            faults.append(f"lost: {number}: {why}")
    for ending in result.endings:
        if ending.code != (0 if ending.number == signal.SIGTERM else -signal.SIGKILL):
            faults.append(f"exit code {ending.code} after {ending.number.name}")
    asked = sum((each.asked for each in replicas), Counter[int]())
    twice = sum(1 for times in asked.values() if times > 1)
    told = (
        f"{len(result.spans)} requests in {result.seconds:.0f} s, {result.right} answered right; "
        f"killed with {result.count_under_way(signal.SIGKILL)} under way, {len(result.lost)} of "
        f"them lost; told to end with {result.count_under_way(signal.SIGTERM)} under way; "
        f"{result.again.total()} asked again by the proxy, a model asked twice for {twice}"
    )
    return Findings(faults, told)


async def run_requests(
    address: str, replicas: Sequence[Replica], requests: int, endings: int
) -> Result:
    return await Run(address, replicas, requests, endings).run()


def run_behind(proxy: Proxy, folder: Path, requests: int, endings: int = ENDINGS) -> Findings:
    """Raises NotInstalled."""
    place = folder / "proxy"
    place.mkdir()
    with (
        running_replicas(folder) as replicas,
        proxy(place, [each.port for each in replicas], TOKEN) as address,
    ):
        result = asyncio.run(run_requests(address, replicas, requests, endings))
        return judge(result, replicas)


PROXIES: Mapping[str, Proxy] = {"nginx": run_nginx, "LiteLLM": run_litellm}


def main(requests: int) -> int:
    code = 0
    for name, proxy in PROXIES.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = run_behind(proxy, Path(folder), requests)
            except NotInstalled as error:
                sys.stderr.write(f"{name}: {error}\n")
                code = code or 2
                continue
        sys.stdout.write("\n".join((f"{name}: {found.told}", *found.faults, "")))
        sys.stdout.flush()
        code = 1 if found.faults else code
    return code
