"""andy serve over many requests: its memory stays where it was."""

import asyncio
import json
import sys
import time

import aiohttp
import uvloop

from tests.benchmarks.serve import COMPILED, PLAIN, Client, free_port, memory, started, until_there

WARM = 5_000
"""Requests until everything is loaded that will be."""


async def many(port: int, requests: int) -> None:
    """One in fifty is a stream that is compiled."""
    plain, compiled = json.dumps(PLAIN).encode(), json.dumps(COMPILED).encode()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        client = Client(http, port)

        async def work(share: int) -> None:
            for at in range(share):
                await client.once(compiled if at % 200 == 199 else plain)

        await asyncio.gather(*(work(requests // 16) for _ in range(16)))


def main(requests: int) -> int:
    model, ours = free_port(), free_port()
    with started("tests.benchmarks.instant", str(model)):
        until_there(model)
        url = f"http://127.0.0.1:{model}/v1"
        serve = ("andy_cli", "serve", "--upstream", url, "--model", "m", "--dialect", "hermes")
        with started(*serve, "--port", str(ours)) as process:
            until_there(ours)
            time.sleep(0.3)
            idle = memory(process)
            uvloop.run(many(ours, WARM))
            warm, began = memory(process), time.monotonic()
            uvloop.run(many(ours, requests))
            seconds = time.monotonic() - began
            after = memory(process)
    sys.stdout.write(
        f"idle {idle:.1f} MB, after {WARM} requests {warm:.1f} MB,"
        f" after {requests} more {after:.1f} MB ({requests / seconds:.0f} requests/s)\n"
    )
    return 0
