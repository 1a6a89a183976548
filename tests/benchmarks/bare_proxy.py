"""The least a proxy can do, of the same parts: `python -m tests.benchmarks.bare_proxy PORT URL`."""

import asyncio
import sys
from typing import Any

import aiohttp
import uvicorn
import uvloop


async def serve(port: int, url: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
            body = (await receive())["body"]
            headers = {"content-type": "application/json"}
            async with http.post(url, data=body, headers=headers) as response:
                kind = response.headers["content-type"].encode()
                start = {"type": "http.response.start", "status": 200}
                await send({**start, "headers": [(b"content-type", kind)]})
                async for data in response.content.iter_any():
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        config = uvicorn.Config(
            app, port=port, log_config=None, lifespan="off", access_log=False, proxy_headers=False
        )
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(int(sys.argv[1]), sys.argv[2]))
