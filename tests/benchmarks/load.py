"""The lightest client there can be: what is measured is to be the server, not who asks it."""

import asyncio
from typing import cast

import httptools

HEAD = (
    "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
    "content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
)


def request(port: int, body: bytes) -> bytes:
    return HEAD.format(port=port, length=len(body)).encode() + body


class Asking(asyncio.Protocol):
    """One connection, one request at a time. Raises ConnectionError for an answer but 200."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._done: asyncio.Future[int] | None = None
        self._first: asyncio.Future[None] | None = None

    def ask(self, request: bytes) -> "asyncio.Future[int]":
        """The bytes of the body of the answer."""
        loop = asyncio.get_running_loop()
        self._done, self._first, self._size = loop.create_future(), loop.create_future(), 0
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(request)
        return self._done

    @property
    def first(self) -> "asyncio.Future[None]":
        """Done with the first byte of the body."""
        assert self._first is not None
        return self._first

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, data: bytes) -> None:
        if self._first is not None and not self._first.done():
            self._first.set_result(None)
        self._size += len(data)

    def on_message_complete(self) -> None:
        assert self._done is not None
        if self._parser.get_status_code() == 200:
            self._done.set_result(self._size)
        else:
            self._done.set_exception(ConnectionError(str(self._parser.get_status_code())))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(ConnectionError("the connection was lost"))

    def close(self) -> None:
        self._transport.close()


async def connected(port: int) -> Asking:
    loop = asyncio.get_running_loop()
    _, asking = await loop.create_connection(Asking, "127.0.0.1", port)
    return asking
