"""One process of the server: its event loop, its connection to the models, its end."""

import asyncio
import gc
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from time import monotonic

import aiohttp
from uvicorn.config import Config
from uvicorn.server import ServerState

from andy_cli.frontends.serve.app import App
from andy_cli.frontends.serve.call_records import CallRecords
from andy_cli.frontends.serve.command import WorkerContext, announce_address
from andy_cli.frontends.serve.http.client_connection import ClientConnection
from andy_cli.frontends.serve.http.request_guard import RequestGuard, read_host_name, read_origin
from andy_cli.frontends.serve.upstream.backend import AnswerTimeouts, make_backend
from andy_cli.frontends.serve.upstream.upstreams import UpstreamOpener
from andy_cli.guard.addresses import is_loopback
from andy_cli.models.client import Endpoint
from andy_cli.models.server.facts import ServerFacts, facts

FAREWELL = 1
"""Seconds for the words that tell a client why its answer ends here."""
GARBAGE = 20_000
"""Objects that may be new before unused ones are looked for: failures leave some."""
KEEP_ALIVE_SECONDS = 75
"""Seconds that an idle connection stays open: longer than proxies keep theirs (60)."""


async def run_worker(context: WorkerContext) -> int:
    """Serve until a signal; returns the exit code. Raises UsageError."""
    configure_logging()
    async with open_app(context) as app:
        return await serve_until_stopped(app, context)


async def check_setup(context: WorkerContext) -> None:
    """Raises UsageError for what no worker could begin with."""
    async with open_app(context):
        return


@asynccontextmanager
async def open_app(context: WorkerContext) -> AsyncIterator[App]:
    """The application with its connections to the models. Raises UsageError."""
    options, settings = context.options, context.settings
    timeouts = AnswerTimeouts(
        settings.number("network.total_timeout"), settings.number("network.idle_timeout") * 5
    )
    connecting = settings.number("network.connect_timeout")
    connector = aiohttp.TCPConnector(limit=0, limit_per_host=0, keepalive_timeout=60)
    async with aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connecting),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=True,
        trust_env=False,
    ) as http_session:
        reached = partial(make_backend, http_session, timeouts)

        async def get_facts(endpoint: Endpoint, only_safe_requests: bool = False) -> ServerFacts:
            return await facts(
                endpoint, settings, reached(endpoint).fetch_facts, only_safe_requests
            )

        opener = UpstreamOpener(options.model, options.dialect, reached, settings, get_facts)
        upstreams = opener.open_all(options.upstream)
        guard = RequestGuard(
            context.token,
            tuple(map(read_host_name, options.hosts)),
            tuple(map(read_origin, options.origins)),
            takes_addresses=not is_loopback(options.host),
        )
        yield App(upstreams, guard, CallRecords(context.stats, context.slot))


async def serve_until_stopped(app: App, context: WorkerContext) -> int:
    """Answer until a signal or the shutdown pipe says to end; 130 after Ctrl-C."""
    config = Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        interface="asgi3",
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        http="httptools",
    )
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        partial(ClientConnection, config, state), sock=context.listening
    )
    if context.stats is None:
        announce_address(context.options, context.listening)
    # The door switched it off; what is loaded by now stays and need not be looked at again.
    gc.freeze()
    gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])
    gc.enable()
    try:
        code = await wait_for_stop(context)
    finally:
        server.close()
    for connection in list(state.connections):
        connection.shutdown()
    await drain_connections(state, context.options.drain)
    return code


async def wait_for_stop(context: WorkerContext) -> int:
    """The exit code, once a signal or the shutdown pipe says to end."""
    loop = asyncio.get_running_loop()
    exit_code: asyncio.Future[int] = loop.create_future()

    def tell(code: int) -> None:
        if not exit_code.done():
            exit_code.set_result(code)

    context.signals.call_on_signal(lambda code: loop.call_soon_threadsafe(tell, code))
    context.shutdown_pipe.call_at_end(loop, tell)
    return await exit_code


async def drain_connections(state: ServerState, drain: int) -> None:
    """Open answers may end within `drain` seconds; the others are ended, and their clients told."""
    await wait_until_idle(state, drain)
    for task in state.tasks:
        task.cancel()
    await wait_until_idle(state, FAREWELL)
    for connection in list(state.connections):
        connection.transport.abort()


async def wait_until_idle(state: ServerState, seconds: float) -> None:
    end = monotonic() + seconds
    while (state.tasks or state.connections) and monotonic() < end:
        await asyncio.sleep(0.02)


def configure_logging() -> None:
    """Log errors of the libraries in a line, without tracebacks: those could hold what was asked.

    What is no error is not said at all.
    """
    handler = logging.StreamHandler()
    handler.setLevel(logging.ERROR)
    handler.addFilter(shorten_record)
    for name in ("uvicorn", "asyncio", "aiohttp"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False


def shorten_record(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, asyncio.CancelledError):
        return False
    if error is not None:
        fault = f"an unexpected {type(error).__name__}"
        for frame in traceback.extract_tb(error.__traceback__)[-1:]:
            fault += f" at {Path(frame.filename).name}:{frame.lineno}"
        record.msg = f"andy serve: {fault}. Please report it."
    else:
        record.msg = "andy serve: " + record.getMessage().partition("\n")[0][:200]
    record.args, record.exc_info, record.exc_text = (), None, None
    return True
