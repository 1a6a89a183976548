"""andy serve over many requests: its memory stays where it was."""

import json
import sys
import time

import uvloop

from tests.benchmarks.serve import COMPILED, PLAIN, Client, memory, started, until_there
from tests.shell import free_port


async def many(port: int, requests: int) -> None:
    """Of sixteen clients; one in two hundred is a stream that is compiled."""
    client = Client(port)
    plain, compiled = json.dumps(PLAIN).encode(), json.dumps(COMPILED).encode()
    for _ in range(requests // 1000):
        await client.rate(plain, 16, 992)
        await client.rate(compiled, 4, 8)


def main(requests: int) -> int:
    model, ours = free_port(), free_port()
    with started("tests.benchmarks.instant", str(model)):
        until_there(model)
        url = f"http://127.0.0.1:{model}/v1"
        serve = ("andy_cli", "serve", "--upstream", url, "--model", "m", "--dialect", "hermes")
        with started(*serve, "--port", str(ours)) as process:
            until_there(ours)
            time.sleep(0.3)
            sys.stdout.write(f"idle {memory(process):.1f} MB; then after each tenth:")
            for _ in range(10):
                uvloop.run(many(ours, requests // 10))
                sys.stdout.write(f" {memory(process):.1f}")
                sys.stdout.flush()
    sys.stdout.write("\n")
    return 0
