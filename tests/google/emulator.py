"""The emulator of `@emulators/google`, a real OAuth server among it, run by node.

Its packages are fetched once, into the user's cache: never by `npx`, whose `emulate` is another
package. Without npm or node the tests skip.
"""

import base64
import json
import select
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.http_server import HttpRequest
from tests.node import installed

PACKAGES = (
    "@emulators/google@0.4.1",
    "@emulators/core@0.4.1",
    "hono@4.13.19",
    "jose@6.2.17",
    "@hono/node-server@2.1.8",
)
SCRIPT = Path(__file__).with_name("emulator.mjs")
SECONDS = 60


class Asked(NamedTuple):
    """A request that the emulator was sent."""

    method: str
    path: str
    query: str
    kind: str
    body: bytes

    @classmethod
    def from_request(cls, request: HttpRequest) -> "Asked":
        path, _, query = request.target.partition("?")
        kind = request.headers.get("content-type", "")
        return cls(request.method, path, query, kind, request.body)


class Emulator(NamedTuple):
    url: str

    def begin(self, config: Mapping[str, Any]) -> None:
        """Start anew, with these accounts and what is in them."""
        self._control("begin", config)

    def expire(self) -> None:
        """No access token that was given out so far is good any more."""
        self._control("expire", {})

    def expect(self, redirect: str) -> None:
        """Register where the browser may be sent back to; Google takes any port there."""
        self._control("redirect", {"address": redirect})

    def asked(self) -> list[Asked]:
        found = self._control("asked", {})["asked"]
        return [Asked(**{**each, "body": base64.b64decode(each["body"])}) for each in found]

    def _control(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.url}/_control/{name}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@contextmanager
def running() -> Iterator[Emulator]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, to run an emulator of Google")
    process = subprocess.Popen(
        [node, "--input-type=module", "-"],
        cwd=installed(*PACKAGES).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert process.stdin
        assert process.stdout
        process.stdin.write(SCRIPT.read_bytes())
        process.stdin.close()
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        said = process.stdout.readline().decode() if ready else ""
        assert said.startswith("ready "), said
        yield Emulator(f"http://127.0.0.1:{said.split()[1]}")
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
