"""The requests of one call of a tool to one API.

A read may be tried again. What changes something is sent once and never repeated (P8): if its
answer does not come, nobody knows whether it happened, and the error says so.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.foreign_values import as_records, read_json, text_of
from andy_cli.settings import Settings
from andy_cli.toolbox.google.http.apis import Api, base_address
from andy_cli.toolbox.google.http.exchange import (
    MAX_BYTES,
    ApiCall,
    ApiReply,
    BodyReader,
    BrokenExchange,
    Exchange,
    Query,
    WholeAnswer,
)
from andy_cli.toolbox.google.http.refusals import (
    GONE,
    NOT_DONE,
    UNSURE,
    GoogleRefusal,
    MissingWords,
    explain_refusal,
    read_refusal,
)
from andy_cli.toolbox.google.login.renewal import access_token
from andy_cli.toolbox.runtime_context import current_context

Record = Mapping[str, Any]
R = TypeVar("R", bound=BodyReader)

MAX_BACKOFF = 8.0
MAX_UNREACHED_TRIES = 2
"""Tries where there is no connection or it breaks: patience seldom helps."""

MAX_TOTAL_BYTES = 2 * MAX_BYTES
"""Bytes of all answers to one call."""

MAX_PAGES = 60
"""Pages of a list at most, whatever the API says."""


class ResultPage(NamedTuple):
    items: list[Record]
    more: bool
    """True if there are more than were asked for."""


class Service:
    def __init__(self, api: Api, exchange: Exchange, settings: Settings) -> None:
        self.api = api
        self._exchange = exchange
        self._settings = settings
        self._base = base_address(api)
        self._token = ""
        self._taken = 0
        self.unanswered = False
        """True while a change was sent and its answer is not there yet."""

    async def read(self, path: str, missing: MissingWords, query: Query | None = None) -> Record:
        """The object at a path below the API's. `missing` is what is told of a 404.

        Raises ToolError for all that is no such object.
        """
        answer = await self.take(path, missing, WholeAnswer, query)
        self._taken += len(answer.data)
        if answer.over or self._taken > MAX_TOTAL_BYTES:
            raise ToolError(f"{self.api.name} answers more than andy takes in.", "Ask for less.")
        return self._read_object(answer)

    async def take(
        self, path: str, missing: MissingWords, reader: Callable[[], R], query: Query | None = None
    ) -> R:
        """Fetch what is at a path, taken in by a reader; each try has one of its own."""
        request = ApiCall("GET", self._base + path, query)
        tries, renewed = 0, False
        while True:
            tries += 1
            body_reader = reader()
            try:
                reply = await self._exchange(request, await self._fresh(), body_reader)
            except BrokenExchange as broken:
                if tries >= min(self._tries, MAX_UNREACHED_TRIES):
                    raise broken.as_tool_error() from broken
                await self._pause_before_retry(tries, None)
                continue
            if reply.ok:
                return body_reader
            if reply.status == 401 and not renewed:
                renewed = True
                self._token = await access_token(self._settings, refused=self._token)
                continue
            refusal = self._refusal(reply)
            if tries >= self._tries or not refusal.can_be_repeated:
                raise self._explain_refusal(refusal, missing, change=False)
            await self._pause_before_retry(tries, refusal.wait)

    async def list_items(
        self,
        path: str,
        key: str,
        most_items: int,
        missing: MissingWords,
        query: Query | None = None,
        size: str = "maxResults",
        largest: int = 100,
    ) -> ResultPage:
        """As many items of a list as were asked for, over its pages.

        `size` is what the API calls the length of a page, `largest` what it allows.
        """
        items: list[Record] = []
        next_page = ""
        for _ in range(MAX_PAGES):
            length = min(largest, most_items - len(items))
            page_query = {**(query or {}), size: length, "pageToken": next_page}
            answer = await self.read(path, missing, page_query)
            items += as_records(answer.get(key))
            next_page = text_of(answer, "nextPageToken")
            if not next_page or len(items) >= most_items:
                break
        return ResultPage(items[:most_items], bool(next_page) or len(items) > most_items)

    async def change(
        self,
        method: str,
        path: str,
        missing: MissingWords,
        body: Mapping[str, object] | None = None,
        query: Query | None = None,
    ) -> Record:
        """Send what changes something, once. Raises ToolError, which says whether it happened."""
        content = json.dumps(body).encode() if body is not None else b""
        request = ApiCall(method, self._base + path, query, content)
        return await self.send(request, missing)

    async def send(self, request: ApiCall, missing: MissingWords) -> Record:
        token, answer = await self._fresh(), WholeAnswer()
        self.unanswered = True
        try:
            reply = await self._exchange(request, token, answer)
        except BrokenExchange as broken:
            raise broken.as_tool_error(UNSURE if broken.sent else NOT_DONE, broken.sent) from broken
        if reply.status == 401:
            # Not sent again: the next call finds a login that holds, or hears that there is none.
            await access_token(self._settings, refused=token)
            raise ToolError(f"The Google login had to be renewed. {NOT_DONE} Try again.")
        if not reply.ok:
            raise self._explain_refusal(self._refusal(reply), missing, change=True)
        self.unanswered = False
        if reply.status == 204 or (not answer.data and not answer.over):
            return {}
        try:
            return self._read_object(answer)
        except ToolError as error:
            raise ToolError(f"{error} {UNSURE}", may_be_done=True) from error

    def created_id(self, answer: Record, key: str = "id") -> str:
        """The id of what a change made. Raises ToolError if the answer has none."""
        if new_id := text_of(answer, key):
            return new_id
        message = f"{self.api.name} does not say what it has done. {UNSURE}"
        raise ToolError(message, may_be_done=True)

    @property
    def _tries(self) -> int:
        return max(1, self._settings.whole("network.tries"))

    async def _fresh(self) -> str:
        self._token = self._token or await access_token(self._settings)
        return self._token

    async def _pause_before_retry(self, tries: int, asked_wait: float | None) -> None:
        longest_pause = min(
            MAX_BACKOFF, self._settings.number("network.first_backoff") * 2 ** (tries - 1)
        )
        await asyncio.sleep(max(random.uniform(0, longest_pause), asked_wait or 0.0))

    def _refusal(self, reply: ApiReply) -> GoogleRefusal:
        return read_refusal(reply.status, reply.headers, reply.refused, (self._token,))

    def _explain_refusal(
        self, refusal: GoogleRefusal, missing: MissingWords, change: bool
    ) -> ToolError:
        advice = missing.advice if refusal.status in GONE else ""
        explanation = explain_refusal(refusal, self.api.name, missing.message, change)
        return ToolError(explanation, advice, change and refusal.may_be_done)

    def _read_object(self, answer: WholeAnswer) -> Record:
        value = read_json(answer.data)
        if isinstance(value, dict):
            return value
        raise ToolError(
            f"{self.api.name} answered something else than data. Perhaps a proxy or the login page "
            "of a network is on the way."
        )


@asynccontextmanager
async def open_service(api: Api) -> AsyncIterator[Service]:
    """The API, for one call of a tool and no longer than `google.timeout`. Raises ToolError."""
    # 60 ms, and only who uses Google needs it.
    from andy_cli.toolbox.google.http.wire import open_http

    settings = current_context().settings
    seconds = settings.number("google.timeout")
    service: Service | None = None
    try:
        async with asyncio.timeout(seconds), open_http(base_address(api), settings) as exchange:
            service = Service(api, exchange, settings)
            yield service
    except TimeoutError as error:
        unsure = service is not None and service.unanswered
        raise ToolTimeout(
            f"{api.name} took longer than {seconds:g} s. "
            f"{UNSURE if unsure else 'Try again later.'}",
            may_be_done=unsure,
        ) from error


def quote_part(written: str) -> str:
    """A text as one part of a path."""
    return quote(written, safe="")
