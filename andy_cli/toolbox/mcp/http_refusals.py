"""Refusals of an MCP server at an address, in words.

Of an answer of HTTP that holds no message of the protocol the SDK says that it is an error, and no
more. So such an answer is given the message that the SDK looks for: the status, what the server
says of it, and what helps.
"""

from http import HTTPStatus

import httpx2
from httpx2._client import UseClientDefault
from httpx2._types import AuthTypes
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND

from andy_cli.foreign_values import as_record, read_json, text_of
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.mcp.servers import McpServer

MAX_CHARACTERS = 200
"""Characters of a server's own words."""
WORDS = ("error_description", "message", "detail", "error", "title")
"""The fields in which servers say why."""
NO_SUCH_PLACE = (400, 404, 405, 406, 415)
"""The statuses of an address at which no server of this protocol is."""


class TellingClient(httpx2.AsyncClient):
    """A client of HTTP whose refusals are messages of the protocol."""

    def __init__(
        self, server: McpServer, auth: httpx2.Auth | None, timeout: httpx2.Timeout
    ) -> None:
        super().__init__(headers=dict(server.headers), auth=auth, timeout=timeout)
        self._server = server

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        auth: AuthTypes | UseClientDefault | None = httpx2.USE_CLIENT_DEFAULT,
        follow_redirects: bool | UseClientDefault = httpx2.USE_CLIENT_DEFAULT,
    ) -> httpx2.Response:
        response = await super().send(
            request, stream=stream, auth=auth, follow_redirects=follow_redirects
        )
        if request.method != "POST" or response.status_code < 400:
            return response
        body = await response.aread()
        if "jsonrpc" in as_record(read_json(body)):
            return response
        in_session = "mcp-session-id" in request.headers
        # The codes are those of the SDK: by them it finds out how a server speaks.
        not_found = INVALID_REQUEST if in_session else METHOD_NOT_FOUND
        error = {
            "code": not_found if response.status_code == 404 else INTERNAL_ERROR,
            "message": self._explain_refusal(response, body, in_session),
            "data": {"status": response.status_code},
        }
        return httpx2.Response(
            response.status_code,
            json={"jsonrpc": "2.0", "id": None, "error": error},
            request=request,
        )

    def _explain_refusal(self, response: httpx2.Response, body: bytes, in_session: bool) -> str:
        status = response.status_code
        if status == 401 and not self._has_key:
            return f"it wants a login: `andy mcp login {self._server.name}`"
        name = f"{status} {find_phrase(status)}".strip()
        return f"it answered {name}{quote_words(body)}{self._find_advice(response, in_session)}"

    @property
    def _has_key(self) -> bool:
        return any(name.lower() == "authorization" for name in self._server.headers)

    def _find_advice(self, response: httpx2.Response, in_session: bool) -> str:
        status = response.status_code
        if status == 401:
            return "; the key in its headers is not accepted"
        if status == 403:
            return "; its key or login does not allow this"
        if status == 429:
            wait = response.headers.get("retry-after", "")
            return f"; it is asked too often, try again in {wait} s" if wait.isdecimal() else ""
        if status in NO_SUCH_PLACE and not in_session:
            return "; is the address right? It needs streamable HTTP, not the old SSE"
        return ""


def find_phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in list(HTTPStatus) else ""


def quote_words(body: bytes) -> str:
    """Quote what a server says of a refusal, if it says it as JSON."""
    record = as_record(read_json(body))
    inner = as_record(record.get("error"))
    words = [text_of(holder, field) for field in WORDS for holder in (inner, record)]
    said = one_line(next(filter(None, words), "")).strip(" .")[:MAX_CHARACTERS]
    return f" ({said})" if said else ""


def may_have_worked(error: MCPError) -> bool:
    """Tell whether a call may have been done although its answer is a failure of HTTP."""
    status = as_record(error.error.data).get("status")
    is_fault = isinstance(status, int) and (status == 408 or status >= 500)
    return is_fault or error.error.code == CONNECTION_CLOSED
