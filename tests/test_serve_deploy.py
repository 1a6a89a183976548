"""What docs/deploy holds works: nginx with two servers behind it, and well-formed files."""

import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import ModelServer, streamed
from tests.served_raw import PATH, read, served, written
from tests.shell import ROOT, andy

DEPLOY = ROOT / "docs" / "deploy"
FOLDER = {"type": "string", "description": "what folder"}
FILE = {"type": "string", "description": "what file"}


def tool(name: str, parameter: str, schema: object) -> dict[str, object]:
    parameters = {"type": "object", "properties": {parameter: schema}, "required": [parameter]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool("list_mp3s", "path", FOLDER), tool("play_mp3", "file", FILE)]
WORDS = {"role": "user", "content": "look at files in ~/mp3 and play the first one"}
LETTERS = ("DEAR ANDYBOT, LIST_MP3S", "~/mp3", "DEAR ANDYBOT, PLAY_MP3", "song1.mp3", "It plays.")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def nginx(folder: Path, ports: tuple[int, int]) -> Iterator[int]:
    """The configuration as it is in the documentation, at ports and paths of a test."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not program:
        pytest.skip("needs nginx")
    port = free_port()
    text = (DEPLOY / "nginx.conf").read_text()
    for old, new in (("8787;", f"{ports[0]};"), ("8788;", f"{ports[1]};")):
        text = text.replace(f"server 127.0.0.1:{old}", f"server 127.0.0.1:{new}")
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    text = text.replace("worker_processes auto;", "worker_processes 1;")
    places = "".join(
        f"    {name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = text.replace("http {\n", "http {\n" + places)
    file = folder / "nginx.conf"
    file.write_text(f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n" + text)
    command = [program, "-p", str(folder), "-c", str(file), "-e", str(folder / "error.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen([*command, "-g", "daemon off;"], stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(port)


@pytest.mark.slow
def test_a_conversation_goes_on_wherever_its_next_request_is_answered(tmp_path: Path) -> None:
    folders = [tmp_path / each for each in ("one", "two", "nginx")]
    for folder in folders:
        folder.mkdir()
    more = ("--dialect", "andybot", "--allow-host", "andy.example")
    history: list[dict[str, Any]] = [{**WORDS}]
    calls = []
    with (
        ModelServer([streamed(each) for each in LETTERS]) as models,
        served(folders[0], models.url, *more) as one,
        served(folders[1], models.url, *more) as two,
        nginx(folders[2], (one.port, two.port)) as port,
    ):
        for result in ('["song1.mp3","song2.mp3"]', "playing song1.mp3", ""):
            message = asked(port, history)
            history.append(message)
            for call in message.get("tool_calls", []):
                calls.append((call["function"]["name"], json.loads(call["function"]["arguments"])))
                history.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        shown = [len(each.get("/calls.json").json["calls"]) for each in (one, two)]
    assert calls == [("list_mp3s", {"path": "~/mp3"}), ("play_mp3", {"file": "song1.mp3"})]
    assert history[-1]["content"] == "It plays."
    assert sorted(shown) == [1, 2]


def asked(port: int, history: object) -> dict[str, Any]:
    body = json.dumps({"model": "m", "messages": history, "tools": TOOLS}).encode()
    headers = {"content-type": "application/json", "host": "andy.example"}
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(written("POST", PATH, port, headers, body))
        answer = read(connection)
    assert answer.status == 200, answer.body
    message: dict[str, Any] = answer.json["choices"][0]["message"]
    return message


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd here")
    # The program is elsewhere on this machine, and verify looks for it.
    text = (DEPLOY / "andy-serve.service").read_text().replace("/opt/andy/bin/andy", "/bin/true")
    unit = tmp_path / "andy-serve.service"
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert "andy-serve.service" not in done.stderr, done.stderr


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: name and rest, lines that go on joined."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_the_image_is_built_apart_and_runs_as_nobody_special() -> None:
    known = set("FROM WORKDIR COPY RUN USER ENV EXPOSE HEALTHCHECK ENTRYPOINT CMD".split())
    steps = instructions()
    names = [name for name, _ in steps]
    assert set(names) <= known
    assert names[0] == "FROM"
    assert all(":" in rest and ":latest" not in rest for name, rest in steps if name == "FROM")
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "root" not in dict(steps)["USER"]
    for name, rest in steps:
        if name in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(each, str) for each in json.loads(rest))
    words = " ".join(rest for _, rest in steps).lower()
    assert not re.search(r"(key|token|secret|password)\s*=", words)


def test_the_compose_file_names_what_is_there() -> None:
    yaml = pytest.importorskip("yaml", reason="there is no YAML reader here")
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(told) <= {"services", "volumes", "networks"}
    andy = told["services"]["andy"]
    assert (DEPLOY / andy["build"]["context"] / andy["build"]["dockerfile"]).is_file()
    assert set(andy["depends_on"]) <= set(told["services"])
    assert all(each.startswith("127.0.0.1:") for each in andy["ports"])
    assert all(value.startswith("${") for value in andy["environment"].values())


def test_flags_in_the_documentation_are_flags_of_the_command() -> None:
    files = [ROOT / "docs" / "serve.md", *DEPLOY.iterdir()]
    words = " ".join(file.read_text() for file in files)
    told = andy("serve", "--help", home=ROOT).out
    ours = set(
        re.findall(r"--(?:upstream|model|dialect|host|port|workers|token|allow-\w+)\b", words)
    )
    assert len(ours) >= 8
    assert not [flag for flag in ours if flag not in told]
