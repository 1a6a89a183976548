"""Find model servers that run on this machine.

Their usual ports are asked together and have 300 ms. The few bytes are sent and read here, for
httpx2 takes longer to import than that, and most of the time there is nobody to talk to.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from andy_cli.foreign_values import read_json
from andy_cli.guard.addresses import is_loopback_url
from andy_cli.models.known_providers import providers_by_name
from andy_cli.settings import Settings

TIMEOUT = 0.3
"""Seconds."""

MAX_BYTES = 2**20
"""Bytes of an answer that are read."""

OWNERS = {
    "library": "ollama",
    "organization_owner": "lmstudio",
    "llamacpp": "llamacpp",
    "vllm": "vllm",
}
"""The name that a server writes into `owned_by` of its models, and who it therefore is."""


@dataclass(frozen=True, slots=True)
class FoundServer:
    provider: str
    base_url: str
    models: tuple[str, ...]
    """In the server's order; empty when it has none loaded."""


async def scan_servers(
    settings: Settings,
    ports: Mapping[str, int] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> list[FoundServer]:
    """The servers that answer, in the order of preference.

    `ports` says where to look for which provider instead of at the usual places.
    """
    if not settings.flag("network.scan"):
        return []
    import asyncio  # it runs us

    known_ports = usual_ports(environment) if ports is None else ports
    servers = await asyncio.gather(
        *(_probe_server(name, port) for name, port in known_ports.items())
    )
    return [item for item in servers if item]


def usual_ports(environment: Mapping[str, str]) -> dict[str, int]:
    ports = {
        provider.name: provider.local_port
        for provider in providers_by_name().values()
        if provider.local_port
    }
    if host := environment.get("OLLAMA_HOST"):
        address = ollama_address(host)
        ports.pop("ollama", None)
        if is_loopback_url(address):
            ports = {"ollama": urlsplit(address).port or 11434, **ports}
    return ports


def ollama_address(host: str) -> str:
    """The base URL for OLLAMA_HOST: `host`, `host:port`, `:port` or a URL (Ollama's own rules)."""
    scheme, separator, host_and_path = host.strip().rpartition("://")
    url_parts = urlsplit(f"//{host_and_path}")
    usual_port = {"http": 80, "https": 443}.get(scheme, 11434) if separator else 11434
    try:
        port = url_parts.port or usual_port
    except ValueError:
        port = usual_port
    name = url_parts.hostname or "127.0.0.1"
    if name in ("0.0.0.0", "::"):  # where it listens; nobody can be reached there
        name = "127.0.0.1"
    name = f"[{name}]" if ":" in name else name
    return f"{scheme or 'http'}://{name}:{port}{url_parts.path.rstrip('/').removesuffix('/v1')}/v1"


async def _probe_server(provider: str, port: int) -> FoundServer | None:
    import asyncio

    path = "/api/tags" if provider == "ollama" else "/v1/models"
    try:
        async with asyncio.timeout(TIMEOUT):
            answer = await _fetch_answer(port, path)
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return None
    return parse_answer(provider, f"http://127.0.0.1:{port}/v1", answer)


async def _fetch_answer(port: int, path: str) -> bytes:
    """The whole answer, head and body. HTTP/1.0, so that the body comes in one piece."""
    import asyncio

    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        request = (
            f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n"
        )
        writer.write(request.encode())
        await writer.drain()
        answer = b""
        while (received := await reader.read(2**16)) and len(answer) < MAX_BYTES:
            answer += received
        return answer
    finally:
        writer.close()


def parse_answer(provider: str, base_url: str, answer: bytes) -> FoundServer | None:
    """Read the answer; None if it is not that of a model server."""
    head, _, body = answer.partition(b"\r\n\r\n")
    protocol, _, status = head.partition(b" ")
    if not protocol.startswith(b"HTTP/") or status.split(b" ", 1)[0] != b"200":
        return None
    key, name_key = ("models", "name") if provider == "ollama" else ("data", "id")
    rows = _read_rows(body, key)
    if rows is None:
        return None
    names = [row.get(name_key) for row in rows]
    model_names = tuple(name for name in names if isinstance(name, str))
    return FoundServer(_find_owner(rows) or provider, base_url, model_names)


def _find_owner(rows: Sequence[Mapping[str, object]]) -> str:
    """Find the server that its models name; nothing where that is none that is known."""
    owners = (str(row.get("owned_by")) for row in rows)
    return next((OWNERS[owner] for owner in owners if owner in OWNERS), "")


def _read_rows(body: bytes, key: str) -> list[dict[str, object]] | None:
    """Read the list of models; None if there is none."""
    listed = read_json(body)
    rows = listed.get(key) if isinstance(listed, dict) else None
    is_list = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    return rows if is_list else None
