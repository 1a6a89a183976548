"""Several answers to one request (`n`), of a model that gives one at a time here.

They are made one after the other. Whole, they are put together in the end; streamed, the events of
one follow those of the other, as their `index` tells.
"""

import json
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from typing import Any

from andy_cli.frontends.serve.answers.request_handler import RequestHandler, ToolsIgnored
from andy_cli.frontends.serve.http.http_exchange import HttpExchange
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.chat_writer import (
    AnswerPosition,
    ChatWriter,
    dump_json,
    new_answer_id,
)
from andy_cli.messages import Usage

PlacedWriter = Callable[[ChatRequest, str, AnswerPosition], ChatWriter]


async def count_answers(call: RequestHandler) -> int:
    """How many are to be made here: a server that is asked for several makes them itself."""
    number = call.asked.fields.get("n")
    if not isinstance(number, int) or call.dry or call.surface.placed is None:
        return 1
    return 1 if await call.find_passing() else number


async def answer_call(call: RequestHandler) -> int:
    """Write the answer, or the answers; returns the status. Raises ApiError."""
    while True:
        try:
            number = await count_answers(call)
            if number < 2 or call.surface.placed is None:
                return await call.answer()
            return await MultipleAnswers(call, number, call.surface.placed).answer()
        except ToolsIgnored:
            continue  # it is known from now on, and the request made otherwise


class MultipleAnswers:
    """The answers to one request while they are made."""

    def __init__(self, call: RequestHandler, number: int, make: PlacedWriter) -> None:
        self._call = call
        self._number = number
        self._make = make
        self._writers: list[ChatWriter] = []
        self._id = new_answer_id()
        self._body = b""
        """Of the answer that is made, if it is not streamed."""

    async def answer(self) -> int:
        choices: list[object] = []
        whole: dict[str, object] = {}
        for index in range(self._number):
            self._body = b""
            await answer_call(self._one(index))
            if not self._call.asked.stream:
                whole = json.loads(self._body)
                listed = whole["choices"]
                choices += listed if isinstance(listed, list) else []
        if self._call.asked.stream:
            await self._call.exchange.write(b"", more=False)
        else:
            await self._call.exchange.respond(200, dump_json({**whole, "choices": choices}))
        return 200

    def _one(self, index: int) -> RequestHandler:
        """The call that makes one of the answers."""
        call = self._call
        inner = HttpExchange(dict(call.exchange.scope), call.exchange.receive, self._send)
        inner.headers = call.exchange.headers

        def make(asked: ChatRequest, model: str) -> ChatWriter:
            del self._writers[index:]  # of an answer that was begun and is made otherwise
            used = [writer.used for writer in self._writers]
            before = Usage(
                used[0].input_tokens if used else 0, sum(each.output_tokens for each in used)
            )
            place = AnswerPosition(index, index == self._number - 1, before, self._id)
            self._writers.append(self._make(asked, model, place))
            return self._writers[-1]

        surface = call.surface._replace(writer=make)
        return replace(call, exchange=inner, surface=surface, asked=ask_for_one(call.asked, index))

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        """What the answer writes: kept where it is whole, passed on where it is streamed."""
        exchange = self._call.exchange
        if message["type"] == "http.response.body":
            if self._call.asked.stream:
                await exchange.write(message["body"])
            else:
                self._body += message["body"]
        elif self._call.asked.stream and not exchange.begun:
            headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
            kind = headers.pop("content-type")
            del headers["cache-control"]
            await exchange.start(message["status"], kind, headers)


def ask_for_one(asked: ChatRequest, index: int) -> ChatRequest:
    """With a seed of its own, or all answers would be the same."""
    fields = {name: value for name, value in asked.fields.items() if name != "n"}
    seed = fields.get("seed")
    if isinstance(seed, int):
        fields["seed"] = seed + index
    return asked._replace(fields=fields)
