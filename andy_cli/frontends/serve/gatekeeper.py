"""Who may ask: this machine's own programs, or whoever has the token; never a web page (P10).

Looked at before a byte of a body is read.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from andy_cli.frontends.serve.pieces import Refused

LARGEST = 32 * 2**20
"""Bytes of a request."""
OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
Headers = Iterable[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Gatekeeper:
    port: int
    token: str = ""
    hosts: tuple[str, ...] = ()
    """More names under which it may be asked for."""
    origins: tuple[str, ...] = ()
    """Web pages that may ask."""

    def check(self, method: str, raw: Headers) -> Mapping[str, str]:
        """The headers, if the request may be answered. Raises Refused."""
        headers: dict[str, str] = {}
        for name, value in raw:
            key = name.decode("latin-1").lower()
            if key in headers and key in ("host", "content-length", "authorization"):
                raise Refused(400, f"There are two {key} headers.")
            headers[key] = value.decode("latin-1")
        self._host(headers)
        self._page(headers)
        self._length(headers)
        if method == "POST":
            kind = headers.get("content-type", "application/json").partition(";")[0]
            if kind.strip().lower() != "application/json":
                raise Refused(415, "The request is not application/json.")
        return headers

    def identify(self, headers: Mapping[str, str]) -> None:
        """Raises Refused (401) without the token, if there is one."""
        if not self.token:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = headers.get("x-api-key", "")
        if not hmac.compare_digest(given.strip().encode(), self.token.encode()):
            raise Refused(
                401,
                "The token of this server is missing or wrong.",
                "authentication_error",
                "invalid_api_key",
                {"www-authenticate": "Bearer"},
            )

    def _host(self, headers: Mapping[str, str]) -> None:
        """A name that is not ours leads here by a trick with names (DNS rebinding)."""
        host = headers.get("host", "")
        name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not colon:
            name, port = host, ""
        known = (*OWN_NAMES, *self.hosts)
        if name.lower() not in known or (port and not port.isdigit()):
            raise Refused(403, "This server is not asked for by that name.")
        if name.lower() in OWN_NAMES and port and int(port) != self.port and not self.hosts:
            raise Refused(403, "This server is not asked for by that name.")

    def _page(self, headers: Mapping[str, str]) -> None:
        origin = headers.get("origin")
        own = [f"http://{name}:{self.port}" for name in OWN_NAMES]
        if origin is not None and origin not in (*own, *self.origins):
            raise Refused(403, "Web pages may not ask this server.")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and origin is None:
            raise Refused(403, "Web pages may not ask this server.")

    @staticmethod
    def _length(headers: Mapping[str, str]) -> None:
        if "content-length" in headers and "transfer-encoding" in headers:
            raise Refused(400, "The request has two lengths.")
        length = headers.get("content-length", "0")
        if not length.isdigit():
            raise Refused(400, "The length of the request is no number.")
        if int(length) > LARGEST:
            raise Refused(413, f"The request is larger than {LARGEST // 2**20} MiB.")
