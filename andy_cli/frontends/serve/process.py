"""One process of the server: its event loop, its connection to the models, its end."""

import socket

import aiohttp
import uvicorn

from andy_cli.frontends.serve.app import App
from andy_cli.frontends.serve.command import Serving
from andy_cli.frontends.serve.gatekeeper import Gatekeeper
from andy_cli.frontends.serve.records import Records
from andy_cli.frontends.serve.upstreams import upstreams
from andy_cli.settings import Settings

DRAIN = 8
"""Seconds that answers under way have to end once the server is told to."""


async def work(serving: Serving, settings: Settings, token: str, listening: socket.socket) -> int:
    """Serve until a signal; returns the exit code. Raises UsageError."""
    timeout = aiohttp.ClientTimeout(
        total=settings.number("network.total_timeout"),
        sock_connect=settings.number("network.connect_timeout"),
        sock_read=settings.number("network.idle_timeout") * 5,
    )
    connector = aiohttp.TCPConnector(limit=0, limit_per_host=0, keepalive_timeout=60)
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=True,
        trust_env=False,
    ) as http:
        behind = upstreams(serving.upstream, serving.model, serving.dialect, http, settings)
        port = listening.getsockname()[1]
        gatekeeper = Gatekeeper(port, token, tuple(serving.hosts), tuple(serving.origins))
        config = uvicorn.Config(
            App(behind, gatekeeper, Records()),
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=DRAIN,
            h11_max_incomplete_event_size=64 * 1024,
            ws="none",
        )
        await uvicorn.Server(config).serve(sockets=[listening])
    return 0
