"""Logging in to MCP servers with OAuth; the tokens are kept in 0600 files.

The protocol's own steps (discovery, registration, PKCE, refresh) are the SDK's. Here are the place
where tokens are kept and the browser's way back to this machine.
"""

import hashlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel

from andy_cli.errors import ToolError, UsageError
from andy_cli.settings import data_folder, replace_file
from andy_cli.toolbox.login_redirect import LoginRedirect
from andy_cli.toolbox.mcp.connection import find_reason, first_cause
from andy_cli.toolbox.mcp.http_refusals import TellingClient
from andy_cli.toolbox.mcp.mended_answers import mend_transport
from andy_cli.toolbox.mcp.servers import McpServer

Kept = TypeVar("Kept", bound=BaseModel)

EARLY = 5
"""Seconds before its end at which a token is renewed."""
LOGIN_TIMEOUT = 300.0
"""Seconds to log in."""
BACK = "/callback"


def file_of(server: McpServer) -> Path:
    """Return the file of its tokens; another address is another server."""
    address_hash = hashlib.sha256(server.url.encode()).hexdigest()[:16]
    return data_folder() / "mcp" / f"{server.name}-{address_hash}.json"


# The SDK reports with tracebacks what is told in words here, or harms nothing. Its session calls
# its logger `client`.
for logger_name in ("mcp", "client"):
    logging.getLogger(logger_name).addHandler(logging.NullHandler())
    logging.getLogger(logger_name).propagate = False


class Tokens:
    """The SDK's storage: tokens and the registered client, in one file.

    Kept beside them is what the SDK forgets from one run to the next and needs to renew a token:
    when it runs out, and where that is done.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.problem = ""
        """Why the file could not be written; the tokens hold until andy ends."""
        self.context: OAuthContext | None = None

    async def get_tokens(self) -> OAuthToken | None:
        record = self._read()
        stored_tokens = record.get("tokens")
        if not stored_tokens:
            return None
        if self.context is not None:
            until = record.get("until")
            self.context.token_expiry_time = until if isinstance(until, int | float) else None
            if server_metadata := valid(OAuthMetadata, record.get("place")):
                self.context.oauth_metadata = server_metadata
        return valid(OAuthToken, stored_tokens)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        record = {"tokens": plain(tokens)}
        if tokens.expires_in is not None:
            record["until"] = time.time() + tokens.expires_in - EARLY
        if self.context is not None and self.context.oauth_metadata is not None:
            record["place"] = plain(self.context.oauth_metadata)
        self._write(record)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return valid(OAuthClientInformationFull, self._read().get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write({"client": plain(client_info)})

    def _read(self) -> dict[str, object]:
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return stored if isinstance(stored, dict) else {}

    def _write(self, record: Mapping[str, object]) -> None:
        try:
            replace_file(self._file, json.dumps({**self._read(), **record}))
        except OSError as error:
            # Not an error: a renewed token works now, and the old one may not work any more.
            self.problem = error.strerror or str(error)


def valid(kind: type[Kept], value: object) -> Kept | None:
    """The value in its form; None for what is damaged: then a new login is asked for."""
    try:
        return kind.model_validate(value) if value else None
    except ValueError:
        return None


def plain(value: BaseModel) -> object:
    return value.model_dump(mode="json", exclude_none=True)


def sign_requests(server: McpServer) -> OAuthClientProvider | None:
    """Make what signs requests to a server that was logged in to; None for any other."""
    file = file_of(server)
    if not file.is_file():
        return None

    async def again(url: str) -> None:
        raise ToolError(f"the login has run out, `andy mcp login {server.name}` renews it")

    async def never() -> AuthorizationCodeResult:
        raise ToolError("nobody comes back")

    return provider(server, file, "http://127.0.0.1" + BACK, again, never)


def provider(
    server: McpServer,
    file: Path,
    redirect_address: str,
    show_address: Callable[[str], Awaitable[None]],
    answered: Callable[[], Awaitable[AuthorizationCodeResult]] | None,
) -> OAuthClientProvider:
    metadata = OAuthClientMetadata(
        client_name="andy",
        redirect_uris=[AnyUrl(redirect_address)],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    tokens = Tokens(file)
    oauth_provider = OAuthClientProvider(server.url, metadata, tokens, show_address, answered)
    tokens.context = oauth_provider.context
    return oauth_provider


async def login(server: McpServer, show_url: Callable[[str], None]) -> int:
    """Log in with the user's browser; returns how many tools there are then.

    `show_url` is given the address to open. Raises UsageError.
    """
    if not server.url:
        raise UsageError(f"{server.name} is a program: there is nothing to log in to.")
    file = file_of(server)
    begun = file.with_suffix(".begun")  # the login before holds until there is another
    begun.unlink(missing_ok=True)
    redirect = LoginRedirect[AuthorizationCodeResult]()
    try:
        async with redirect.listen(BACK):
            redirect.expect(read_answer)

            async def show_address(url: str) -> None:
                show_url(url)

            oauth_provider = provider(
                server, begun, redirect.address, show_address, partial(redirect.wait, LOGIN_TIMEOUT)
            )
            count = await _count_tools(server, oauth_provider)
        storage = oauth_provider.context.storage
        if isinstance(storage, Tokens) and storage.problem:
            raise UsageError(f"The login cannot be kept in {file}: {storage.problem}.")
        if begun.is_file():
            begun.replace(file)
    finally:
        begun.unlink(missing_ok=True)
    return count


async def _count_tools(server: McpServer, oauth_provider: OAuthClientProvider) -> int:
    """Ask for the server's tools, for which the SDK logs in. Raises UsageError."""
    try:
        timeout = httpx2.Timeout(30.0)
        async with TellingClient(server, oauth_provider, timeout) as http_client:
            transport = streamable_http_client(server.url, http_client=http_client)
            async with Client(mend_transport(transport)) as client:
                return len((await client.list_tools()).tools)
    except Exception as error:
        # The SDK raises what its transport raises, and that may be anything, in groups.
        if isinstance(first_cause(error), TimeoutError):
            raise UsageError(
                f"Nobody logged in within {LOGIN_TIMEOUT:g} s.",
                f"`andy mcp login {server.name}` tries again.",
            ) from error
        raise UsageError(f"The login at {server.name} failed: {find_reason(error)}.") from error


def logout(server: McpServer) -> bool:
    """Forget the tokens; whether there were any."""
    file = file_of(server)
    had_tokens = file.is_file()
    file.unlink(missing_ok=True)
    return had_tokens


def read_answer(address: str) -> AuthorizationCodeResult | None:
    """Read what the browser brings back; None for anything else. Raises ToolError for a no."""
    query = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
    if "error" in query:
        raise ToolError(f"the server says {query.get('error_description') or query['error']}")
    if "code" not in query:
        return None
    return AuthorizationCodeResult(
        code=query["code"], state=query.get("state"), iss=query.get("iss")
    )
