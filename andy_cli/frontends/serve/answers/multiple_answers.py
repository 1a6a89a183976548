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


async def count_answers(handler: RequestHandler) -> int:
    """Count the answers to be made here: a server that is asked for several makes them itself."""
    number = handler.chat_request.fields.get("n")
    if not isinstance(number, int) or handler.dry or handler.wire.placed is None:
        return 1
    return 1 if await handler.find_passing() else number


async def answer_request(handler: RequestHandler) -> int:
    """Write the answer, or the answers; returns the status. Raises ApiError."""
    while True:
        try:
            number = await count_answers(handler)
            if number < 2 or handler.wire.placed is None:
                return await handler.answer()
            return await MultipleAnswers(handler, number, handler.wire.placed).answer()
        except ToolsIgnored:
            continue  # it is known from now on, and the request made otherwise


class MultipleAnswers:
    """The answers to one request while they are made."""

    def __init__(self, handler: RequestHandler, number: int, make_writer: PlacedWriter) -> None:
        self._handler = handler
        self._number = number
        self._make_writer = make_writer
        self._writers: list[ChatWriter] = []
        self._id = new_answer_id()
        self._body = b""
        """Of the answer that is made, if it is not streamed."""

    async def answer(self) -> int:
        choices: list[object] = []
        last_answer: dict[str, object] = {}
        for index in range(self._number):
            self._body = b""
            await answer_request(self._make_handler(index))
            if not self._handler.chat_request.stream:
                last_answer = json.loads(self._body)
                listed = last_answer["choices"]
                choices += listed if isinstance(listed, list) else []
        if self._handler.chat_request.stream:
            await self._handler.exchange.write_chunk(b"", has_more=False)
        else:
            await self._handler.exchange.respond(
                200, dump_json({**last_answer, "choices": choices})
            )
        return 200

    def _make_handler(self, index: int) -> RequestHandler:
        """Make the handler that makes one of the answers."""
        handler = self._handler
        inner_exchange = HttpExchange(
            dict(handler.exchange.scope), handler.exchange.receive, self._collect_message
        )
        inner_exchange.headers = handler.exchange.headers

        def make_writer(chat_request: ChatRequest, model: str) -> ChatWriter:
            del self._writers[index:]  # of an answer that was begun and is made otherwise
            usages = [writer.used for writer in self._writers]
            usage_before = Usage(
                usages[0].input_tokens if usages else 0,
                sum(usage.output_tokens for usage in usages),
            )
            answer_position = AnswerPosition(
                index, index == self._number - 1, usage_before, self._id
            )
            self._writers.append(self._make_writer(chat_request, model, answer_position))
            return self._writers[-1]

        answer_wire = handler.wire._replace(writer=make_writer)
        return replace(
            handler,
            exchange=inner_exchange,
            wire=answer_wire,
            chat_request=ask_for_one(handler.chat_request, index),
        )

    async def _collect_message(self, message: MutableMapping[str, Any]) -> None:
        """Keep what an answer writes where it is whole; pass it on where it is streamed."""
        exchange = self._handler.exchange
        if message["type"] == "http.response.body":
            if self._handler.chat_request.stream:
                await exchange.write_chunk(message["body"])
            else:
                self._body += message["body"]
        elif self._handler.chat_request.stream and not exchange.begun:
            headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
            kind = headers.pop("content-type")
            del headers["cache-control"]
            await exchange.start_response(message["status"], kind, headers)


def ask_for_one(chat_request: ChatRequest, index: int) -> ChatRequest:
    """With a seed of its own, or all answers would be the same."""
    fields = {name: value for name, value in chat_request.fields.items() if name != "n"}
    random_seed = fields.get("seed")
    if isinstance(random_seed, int):
        fields["seed"] = random_seed + index
    return chat_request._replace(fields=fields)
