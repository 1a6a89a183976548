"""nginx and LiteLLM's proxy as docs/deploy configures them, in front of servers of a test."""

import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.peer_programs import find_peer
from tests.shell import ROOT, environment, free_port

DEPLOY = ROOT / "docs" / "deploy"
MODEL = "my-model"
"""As litellm.yaml calls it."""


class NotInstalled(Exception):
    """What a proxy needs and how it is installed, in a sentence."""


Proxy = Callable[[Path, Sequence[int], str], AbstractContextManager[str]]
"""From a folder, ports of `andy serve` and their token to the proxy's address."""


def find_nginx() -> str:
    """Raises NotInstalled."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program:
        raise NotInstalled("It needs nginx: apt-get install nginx.")
    return program


@contextmanager
def run_nginx(folder: Path, ports: Sequence[int], _: str = "") -> Iterator[str]:
    """Answers say in `x-tried` which servers were asked. Raises NotInstalled."""
    program, port = find_nginx(), free_port()
    text = (DEPLOY / "nginx.conf").read_text()
    named = next(line for line in text.splitlines() if "server andy:8787" in line)
    servers = [named.replace("andy:8787", f"127.0.0.1:{each}") for each in ports]
    text = text.replace(named, "\n".join(servers))
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    text = text.replace("worker_processes auto;", "worker_processes 1;")
    lines = [f"{name}_temp_path {folder}/{name};" for name in TEMPORARY]
    lines += ['add_header x-tried "$upstream_addr" always;']
    text = text.replace("http {\n", "\n".join(("http {", *lines, "")))
    file = folder / "nginx.conf"
    file.write_text(f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n" + text)
    command = [program, "-p", str(folder), "-c", str(file), "-e", str(folder / "error.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    with ending(process):
        wait_for(f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}"


TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextmanager
def run_litellm(folder: Path, ports: Sequence[int], token: str) -> Iterator[str]:
    """Answers say in `x-litellm-attempted-retries` how often. Raises NotInstalled."""
    program = find_peer("litellm")
    if program is None:
        raise NotInstalled(
            "LiteLLM is not there: python -m tests.benchmarks serve installs it, or give the "
            "Python of an environment that has litellm[proxy] as ANDY_PEERS_PYTHON."
        )
    port = free_port()
    text = (DEPLOY / "litellm.yaml").read_text()
    for number, each in enumerate(ports, 1):
        text = text.replace(f"http://andy-{number}:8787/", f"http://127.0.0.1:{each}/")
    file = folder / "litellm.yaml"
    file.write_text(text)
    known = {
        "ANDY_SERVE_TOKEN": token,
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_LOG": "ERROR",
    }
    listen = ("--host", "127.0.0.1", "--port", str(port), "--telemetry", "False")
    with (folder / "litellm.log").open("w") as log:
        process = subprocess.Popen(
            [program, "--config", file, *listen],
            stdout=log,
            stderr=log,
            cwd=folder,
            env=environment(folder, **known),
        )
    with ending(process):
        wait_for(f"http://127.0.0.1:{port}/health/liveliness", 90)
        yield f"http://127.0.0.1:{port}"


@contextmanager
def ending(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(url: str, patience: float = 10) -> None:
    """Until it answers 200."""
    began = time.monotonic()
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError as error:
            if time.monotonic() - began > patience:
                raise TimeoutError(f"{url}: {error}") from error
            time.sleep(0.05)
