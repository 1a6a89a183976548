"""A call's request to the web, as the gate judges it, as the user sees it, and as it is sent.

Light to import: tools find with it what they touch, and only those that run load the client.
"""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.foreign_values import read_json
from andy_cli.guard.workspace import ResourceAccess
from andy_cli.messages import Effect
from andy_cli.toolbox.web import engines
from andy_cli.toolbox.web.limits import is_trusted

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that ask and change nothing: RFC 9110, section 9.2.1."""

BARE = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::[0-9]+)?(?:[/?#].*)?", re.DOTALL)
"""An address as people write it: `example.org/news`."""

KEYS = re.compile(r"auth|cookie|token|secret|key|password|session|credential", re.IGNORECASE)
"""A header of such a name holds a key."""


class ApiRequest(NamedTuple):
    """A request as it is asked about and as it is sent: the same."""

    url: str
    method: str
    headers: Mapping[str, str]
    body: str


def _write_body(body: object) -> str:
    if body is None or isinstance(body, str):
        return body or ""
    return json.dumps(body)


def read_request(arguments: Mapping[str, object]) -> ApiRequest:
    """The request of a call of `api_call`. Raises ToolError for headers that are no headers."""
    given_headers = arguments.get("headers") or {}
    if not isinstance(given_headers, Mapping):
        raise ToolError("The headers are an object: their names and their values.")
    headers = {str(name): str(value) for name, value in given_headers.items()}
    text = _write_body(arguments.get("body"))
    method = str(arguments.get("method") or "GET").strip().upper()
    if text and "content-type" not in map(str.lower, headers):
        headers["content-type"] = "application/json" if _is_json(text) else "text/plain"
    url = complete_address(str(arguments.get("url") or ""))
    return ApiRequest(url, method, headers, text)


def complete_address(url: str) -> str:
    """An address with its scheme: https where none is written."""
    url = url.strip()
    return f"https://{url}" if BARE.fullmatch(url) else url


def find_page_access(url: str) -> ResourceAccess:
    return _find_address_access(complete_address(url), "GET")


def find_search_access(query: str) -> ResourceAccess:
    """To whom the query goes; it may tell more than one means to."""
    address, is_own = engines.engine_address()
    engine = engines.chosen_engine()
    asked_engine = engines.SOURCES if engine == "duckduckgo" else engine
    return _find_address_access(
        address, "GET", is_own, shown=f"query: {query}\nasked: {asked_engine}"
    )


def find_request_access(request: ApiRequest, path: str) -> ResourceAccess:
    """Find what `api_call` would send, whole but for its keys, and where the answer goes."""
    effect = Effect.NETWORK if request.method in SAFE else Effect.ACT
    if path and effect is Effect.NETWORK:
        effect = Effect.WRITE
    lines = [f"{request.method} {request.url}"]
    lines += [f"{name}: {_mask_header(name, value)}" for name, value in request.headers.items()]
    lines += ["", request.body] if request.body else []
    file_paths = (path,) if path else ()
    access = _find_address_access(request.url, request.method, shown="\n".join(lines))
    return access._replace(
        effect=effect, places=file_paths, operation="write", summary=_announce_file(path)
    )


def _announce_file(path: str) -> str:
    if not path:
        return ""
    # What writes files takes a while to load, and most calls write none.
    from andy_cli.toolbox.files.changes import announce_file

    return announce_file(path, "the answer")


def _mask_header(name: str, value: str) -> str:
    # It takes 3 ms, and most calls make no request.
    from andy_cli.guard.redactor import MASK, redact_text

    return MASK if KEYS.search(name) else redact_text(value)


def _find_address_access(
    address: str, method: str, is_own: bool = False, shown: str = ""
) -> ResourceAccess:
    """`is_own`: it is a server of the user's settings, which no rule of the public net is for."""
    trusted = is_own or is_trusted(address)
    return ResourceAccess(address=address, method=method, trusted=trusted, shown=shown)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and read_json(text) is not None
