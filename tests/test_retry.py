"""What is tried again, how often, and after how long; and every fault of a model server."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator

import pytest

from andy_cli.errors import AuthError, ModelError, TransientError, list_causes
from andy_cli.messages import Chunk, Request
from andy_cli.models.client import Endpoint, RetryingClient
from andy_cli.models.http.chat import ChatClient
from andy_cli.settings import load
from tests.model_server import ModelServer, refused, streamed

REQUEST = Request(messages=({"role": "user", "content": "hi"},))


class Scripted:
    """A client that fails and answers as it is told."""

    name = "scripted:m"
    tools = True
    guided = False

    def __init__(self, *replies: str | ModelError) -> None:
        self.replies = list(replies)
        self.asked = 0

    async def reply(self, request: Request) -> AsyncIterator[Chunk]:
        reply = self.replies[min(self.asked, len(self.replies) - 1)]
        self.asked += 1
        if isinstance(reply, ModelError):
            raise reply
        if reply.endswith("!"):
            yield Chunk(reply)
            raise TransientError("broke off")
        yield Chunk(reply, finish="stop")

    async def close(self) -> None:
        self.replies.clear()


def said(client: Scripted, told: list[str] | None = None, *overrides: str) -> str:
    settings = load(["network.first_backoff=0.001", *overrides], environment={})
    lines = told if told is not None else []

    async def run() -> str:
        chunks = RetryingClient(client, settings, lines.append).reply(REQUEST)
        return "".join([chunk.text async for chunk in chunks])

    return asyncio.run(run())


def kinded(kind: str) -> TransientError:
    error = TransientError("busy")
    error.kind = kind
    return error


def test_what_may_work_later_is_tried_again_and_told() -> None:
    told: list[str] = []
    client = Scripted(TransientError("The server is busy."), "Hello")
    assert said(client, told) == "Hello"
    assert client.asked == 2
    assert told[0].startswith("The server is busy. Trying again in 0.0 s (2 of 4).")


@pytest.mark.parametrize("error", [ModelError("no"), AuthError("no")])
def test_what_will_not_work_later_is_not_tried_again(error: ModelError) -> None:
    client = Scripted(error)
    with pytest.raises(ModelError):
        said(client)
    assert client.asked == 1


@pytest.mark.parametrize(
    ("kind", "most"), [("server", 4), ("timeout", 2), ("dns", 3), ("loading", 16)]
)
def test_there_is_an_end_to_trying(kind: str, most: int) -> None:
    client, told = Scripted(kinded(kind)), list[str]()
    with pytest.raises(TransientError, match="busy"):
        said(client, told, "network.first_backoff=0.00001")  # each wait is twice the one before
    assert client.asked == most
    assert told[-1].endswith(f"({most} of {most}).")


def test_the_number_of_tries_is_a_setting() -> None:
    client = Scripted(TransientError("busy"))
    with pytest.raises(TransientError):
        said(client, None, "network.tries=1")
    assert client.asked == 1


def test_a_reply_that_was_begun_is_never_asked_for_again() -> None:
    client = Scripted("Hel!", "Hello")
    with pytest.raises(TransientError, match="broke off"):
        said(client)
    assert client.asked == 1


def test_a_longer_wait_than_a_minute_is_told_at_once() -> None:
    client = Scripted(TransientError("busy", "", 61.0))
    with pytest.raises(TransientError):
        said(client)
    assert client.asked == 1


@pytest.mark.parametrize("header", ["0.3", pytest.param("@now+1", marks=pytest.mark.slow)])
def test_the_server_says_how_long_to_wait(header: str) -> None:
    began = time.monotonic()
    answers = [refused(429, "slow", {"retry-after": header}), streamed("Hello")]
    with ModelServer(answers) as server:
        chat = ChatClient(Endpoint("openai", "m", server.url), load(environment={}))
        assert asyncio.run(_text(chat)) == "Hello"
    assert time.monotonic() - began >= (0.3 if header == "0.3" else 0)


def test_what_a_failure_came_from_is_listed_once_though_it_goes_round() -> None:
    refused, unknown, seen = ConnectionRefusedError(), socket.gaierror(), ValueError()
    group = ExceptionGroup("both", [refused, unknown])
    failure = OSError()
    failure.__cause__, failure.__context__ = group, seen
    refused.__context__ = group
    seen.__cause__ = failure
    assert list_causes(failure) == [failure, group, refused, unknown, seen]


async def _text(chat: ChatClient) -> str:
    client = RetryingClient(chat, load(["network.first_backoff=0.05"], environment={}), print)
    return "".join([chunk.text async for chunk in client.reply(REQUEST)])
