"""Rules for who may send requests: programs of this machine, or whoever has the token; no web page
but those of `--allow-origin` (P10).

Headers are checked before a byte of a body is read.
"""

import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import chain

from andy_cli.errors import UsageError
from andy_cli.frontends.serve.wires.answer_parts import ApiError

MAX_BYTES = 32 * 2**20
"""Bytes of a request."""
MAX_HEADER_BYTES = 64 * 2**10
"""Bytes of its headers."""
OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
SINGLE_HEADERS = ("host", "content-length", "content-type", "authorization", "origin", "x-api-key")
"""Headers that may be there once only: of two of them two readers could take different ones."""
METHODS = ("GET", "HEAD", "POST", "OPTIONS")
PAGE_HEADERS = (
    "authorization",
    "content-type",
    "x-andy-dialect",
    "x-andy-dry-run",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "idempotency-key",
)
"""Headers that a page which may ask may send."""
SDK_HEADER = re.compile(r"(?:x-stainless|openai|anthropic)-[a-z-]{1,60}")
"""Headers of the SDKs, which a page may send too; their names grow with their versions."""
CLOSING = {"connection": "close"}
"""After a request of which it is not sure where it ends."""
Headers = Sequence[tuple[bytes, bytes]]
"""With names in lower case."""


ORIGIN = re.compile(r"null|[a-z][a-z0-9+.-]*://[^/?#*\s]+")
HOST_NAME = re.compile(r"[^/*\s]+")


def read_origin(text: str) -> str:
    """An origin in lower case. Raises UsageError for what would allow no page."""
    origin = text.lower().removesuffix("/")
    if not ORIGIN.fullmatch(origin):
        raise UsageError(
            f"--allow-origin: {text!r} is no origin.", "Write it as https://app.example."
        )
    return origin


def read_host_name(text: str) -> str:
    """A name as clients send it. Raises UsageError for what no client could mean."""
    if not HOST_NAME.fullmatch(text):
        raise UsageError(f"--allow-host: {text!r} is no name.", "Write it as api.example.")
    return text.lower()


@dataclass(frozen=True, slots=True)
class RequestGuard:
    token: str = ""
    hosts: tuple[str, ...] = ()
    """Further names of this server, as `--allow-host` has them."""
    origins: tuple[str, ...] = ()
    """Web pages that may send requests, as `--allow-origin` has them."""
    takes_addresses: bool = False
    """Any IP address will do as the name of this server, as where it listens to other
    machines: an address cannot be a trick with names."""

    def check_headers(self, method: str, raw_headers: Headers) -> Mapping[str, str]:
        """The headers, if the request may be answered. Raises ApiError."""
        size = sum(map(len, chain.from_iterable(raw_headers))) + 4 * len(raw_headers)
        if size > MAX_HEADER_BYTES:
            raise ApiError(431, "The head of the request is too large.", headers=CLOSING)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw_headers}
        if len(headers) < len(raw_headers):
            refuse_duplicates(raw_headers)
        self._check_length(headers)
        self._check_host(headers)
        self._check_origin(headers)
        if method == "POST":
            self._check_content_type(headers)
        return headers

    def make_cors_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Headers that let a web page read the answer: for those that may ask, and no other."""
        origin = headers.get("origin", "")
        if origin.lower() not in self.origins:
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-allow-headers": ", ".join((*PAGE_HEADERS, *sdk_headers(headers))),
            "access-control-allow-methods": ", ".join(METHODS),
            "access-control-expose-headers": "x-andy-compiled",
            "vary": "origin, access-control-request-headers",
        }

    def check_token(self, headers: Mapping[str, str]) -> None:
        """Raises ApiError (401) without the token, if there is one."""
        if not self.token:
            return
        scheme, _, given_token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given_token = headers.get("x-api-key", "")
        if not hmac.compare_digest(given_token.strip().encode(), self.token.encode()):
            raise ApiError(
                401,
                "The token of this server is missing or wrong.",
                "authentication_error",
                "invalid_api_key",
                {"www-authenticate": "Bearer"},
            )

    def _check_host(self, headers: Mapping[str, str]) -> None:
        """A name that is not ours leads here by a trick with names (DNS rebinding)."""
        host = headers.get("host", "").lower()
        if not host:
            raise ApiError(400, "The request names no host.")
        if not self._is_our_name(host):
            raise ApiError(403, "This server is not asked for by that name.")

    def _is_our_name(self, host: str) -> bool:
        name, port = split_host(host)
        # A port may be mapped to ours, as of a container: the name alone tells who is meant.
        if name in OWN_NAMES and (not port or is_port(port)):
            return True
        if port and not port.isdecimal():
            return False
        is_known = name in self.hosts or host in self.hosts
        return is_known or (self.takes_addresses and is_address(name))

    def _check_origin(self, headers: Mapping[str, str]) -> None:
        """Pages of others are told by what a browser says of them; our own has our own name."""
        origin = headers.get("origin")
        if origin is not None and origin.lower() in self.origins:
            return
        host = headers["host"].lower()
        foreign = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
        if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            raise ApiError(403, "Web pages may not ask this server.")

    @staticmethod
    def _check_length(headers: Mapping[str, str]) -> None:
        if "content-length" in headers and "transfer-encoding" in headers:
            raise ApiError(400, "The request has two lengths.", headers=CLOSING)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 20:
            raise ApiError(400, "The length of the request is no number.", headers=CLOSING)
        if int(length) > MAX_BYTES:
            raise make_size_error()

    @staticmethod
    def _check_content_type(headers: Mapping[str, str]) -> None:
        kind = headers.get("content-type", "application/json").partition(";")[0]
        if kind.strip().lower() != "application/json":
            raise ApiError(415, "The request is not application/json.")
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise ApiError(415, "The request is packed; send it as it is.")


def make_size_error() -> ApiError:
    return ApiError(413, f"The request is larger than {MAX_BYTES // 2**20} MiB.")


def refuse_duplicates(raw_headers: Headers) -> None:
    """Raises ApiError for what may be there once only."""
    names = [name.decode("latin-1") for name, _ in raw_headers]
    for name in SINGLE_HEADERS:
        if names.count(name) > 1:
            raise ApiError(400, f"There are two {name} headers.", headers=CLOSING)


def split_host(host: str) -> tuple[str, str]:
    """Name and port of a Host header; `[::1]` is a name."""
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and not host.endswith("]") else (host, "")


def is_port(text: str) -> bool:
    """Tell whether it is written as programs write the number of a port."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 5:
        return False
    return str(int(text)) == text and 0 < int(text) < 2**16


def sdk_headers(headers: Mapping[str, str]) -> list[str]:
    """List the headers a page wants to send that the SDKs send of their own accord."""
    written_names = headers.get("access-control-request-headers", "").lower().split(",")
    wanted_names = [name.strip() for name in written_names]
    return [name for name in wanted_names if SDK_HEADER.fullmatch(name)]


def is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def allow_header(methods: Iterable[str]) -> dict[str, str]:
    """`methods`: those of a path, beside the one that asks for them."""
    return {"allow": ", ".join((*methods, "OPTIONS"))}
