"""What docs/deploy holds works: nginx with two servers behind it, and well-formed files."""

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.isolated_programs import PYTHON, there
from tests.long.replicas import PROXIES, REPLICAS, TOKEN, run_behind
from tests.model_server import ModelServer, streamed
from tests.proxies import DEPLOY, MODEL, NotInstalled, Proxy, run_nginx
from tests.serve_raw_http import PATH, read, served, written
from tests.shell import ROOT, andy, environment

FOLDER = {"type": "string", "description": "what folder"}
FILE = {"type": "string", "description": "what file"}


def tool(name: str, parameter: str, schema: object) -> dict[str, object]:
    parameters = {"type": "object", "properties": {parameter: schema}, "required": [parameter]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool("list_mp3s", "path", FOLDER), tool("play_mp3", "file", FILE)]
WORDS = {"role": "user", "content": "look at files in ~/mp3 and play the first one"}
LETTERS = ("DEAR ANDYBOT, LIST_MP3S", "~/mp3", "DEAR ANDYBOT, PLAY_MP3", "song1.mp3", "It plays.")


@contextmanager
def proxied(proxy: Proxy, folder: Path, ports: Sequence[int]) -> Iterator[str]:
    try:
        with proxy(folder, ports, TOKEN) as address:
            yield address
    except NotInstalled as error:
        pytest.skip(str(error))


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
        proxied(run_nginx, folders[2], (one.port, two.port)) as address,
    ):
        port = int(address.rpartition(":")[2])
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
    known = set("ARG FROM WORKDIR COPY RUN USER ENV EXPOSE HEALTHCHECK ENTRYPOINT CMD".split())
    steps = instructions()
    names = [name for name, _ in steps]
    assert set(names) <= known
    bases = dict(rest.split("=") for name, rest in steps if name == "ARG")
    assert all(":" in base and ":latest" not in base for base in bases.values())
    froms = [rest.split()[0] for name, rest in steps if name == "FROM"]
    assert froms == [f"${{{name}}}" for name in bases for _ in froms]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert int(dict(steps)["USER"]) > 0  # as a number, or `runAsNonRoot` cannot see who it is
    for name, rest in steps:
        if name in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(each, str) for each in json.loads(rest))
        if name == "COPY" and not rest.startswith("--from"):
            assert all((ROOT / each).exists() for each in rest.split()[:-1])
    words = " ".join(rest for _, rest in steps).lower()
    assert not re.search(r"(key|token|secret|password)\s*=", words)


def read_documents(name: str) -> list[Any]:
    yaml = pytest.importorskip("yaml", reason="there is no YAML reader here")
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


def test_the_compose_file_names_what_is_there() -> None:
    (told,) = read_documents("compose.yaml")
    assert set(told) <= {"services", "volumes", "networks"}
    nginx, andy = told["services"]["nginx"], told["services"]["andy"]
    assert (DEPLOY / andy["build"]["context"] / andy["build"]["dockerfile"]).is_file()
    assert (DEPLOY / nginx["volumes"][0].split(":")[0]).is_file()
    for service in (nginx, andy):
        assert set(service["depends_on"]) <= set(told["services"])
    assert all(each.startswith("127.0.0.1:") for each in nginx["ports"])
    assert "ports" not in andy
    assert all(value.startswith("${") for value in andy["environment"].values())
    configured = (DEPLOY / "nginx.conf").read_text()
    assert f"server andy:{andy['expose'][0]} " in configured
    assert f"listen {nginx['ports'][0].rpartition(':')[2]};" in configured
    grace = int(andy["stop_grace_period"].removesuffix("s"))
    assert grace > int(value_of("--drain", andy["command"]))


def test_kubernetes_is_told_the_ports_labels_and_times_that_fit_together() -> None:
    kinds = {each["kind"]: each for each in read_documents("kubernetes.yaml")}
    deployment, pod = kinds["Deployment"]["spec"], kinds["Deployment"]["spec"]["template"]
    container = pod["spec"]["containers"][0]
    labels = pod["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels == kinds["Service"]["spec"]["selector"]
    assert kinds["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    target = kinds["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert target["name"] == kinds["Deployment"]["metadata"]["name"]
    assert kinds["Service"]["metadata"]["name"] == value_of("--allow-host", container["args"])
    entry = dict(instructions())
    assert container["ports"][0]["containerPort"] == int(entry["EXPOSE"])
    assert str(pod["spec"]["securityContext"]["runAsUser"]) == entry["USER"]
    waits = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    open_ones = int(value_of("--drain", container["args"]))
    assert pod["spec"]["terminationGracePeriodSeconds"] > waits + open_ones + 1
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in pod["spec"]["volumes"]}
    secret = [each["valueFrom"]["secretKeyRef"]["name"] for each in container["env"]]
    assert f"secret generic {secret[0]} " in (DEPLOY / "kubernetes.yaml").read_text()


def value_of(flag: str, words: Sequence[str]) -> str:
    return words[words.index(flag) + 1]


def compose_words() -> list[str]:
    (told,) = read_documents("compose.yaml")
    return [*image_words(), *told["services"]["andy"]["command"]]


def kubernetes_words() -> list[str]:
    words: list[str] = read_documents("kubernetes.yaml")[0]["spec"]["template"]["spec"][
        "containers"
    ][0]["args"]
    return [*image_words(), *words]


def image_words() -> list[str]:
    words: list[str] = json.loads(dict(instructions())["ENTRYPOINT"])
    assert words[:2] == ["andy", "serve"]
    return words[2:]


def unit_words() -> list[str]:
    unit = (DEPLOY / "andy-serve.service").read_text()
    started = re.search(r"^ExecStart=\S+/andy serve (.*)$", unit, re.MULTILINE)
    assert started
    return started[1].split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("find_words", "names"),
    [
        (compose_words, ["127.0.0.1:8080", "andy.example"]),
        (kubernetes_words, ["10.1.2.3:8787", "andy:8787", "andy.default.svc.cluster.local:8787"]),
        (unit_words, ["127.0.0.1:8787"]),
    ],
)
def test_andy_serve_starts_as_it_is_started_there_and_is_found_under_its_names(
    find_words: Callable[[], list[str]], names: list[str], tmp_path: Path
) -> None:
    words = find_words()
    for flag in ("--upstream", "--port"):  # those of the test are given instead
        at = words.index(flag)
        del words[at : at + 2]
    token = {"ANDY_SERVE_TOKEN": TOKEN}
    with (
        ModelServer([streamed("Hello.")]) as models,
        served(tmp_path, models.url, *words, env=token) as server,
    ):
        for name in names:
            assert server.get("/health", host=name).status == 200
            told = server.get("/v1/models", host=name, authorization=f"Bearer {TOKEN}")
            assert told.status == 200
        assert server.get("/v1/models").status == 401


def test_paths_that_are_probed_are_those_of_its_health() -> None:
    container = read_documents("kubernetes.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
    probed = {container[f"{name}Probe"]["httpGet"]["path"] for name in ("readiness", "liveness")}
    assert probed == {"/health"}
    assert "8787/health" in dict(instructions())["HEALTHCHECK"]


def test_litellm_takes_turns_with_the_token_from_the_environment() -> None:
    (told,) = read_documents("litellm.yaml")
    rows = [each["litellm_params"] for each in told["model_list"]]
    assert {each["model_name"] for each in told["model_list"]} == {MODEL}
    assert {each["api_key"] for each in rows} == {"os.environ/ANDY_SERVE_TOKEN"}
    assert len({each["api_base"] for each in rows}) == len(rows) == REPLICAS
    assert told["router_settings"]["num_retries"] >= len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("proxy", PROXIES.values(), ids=PROXIES)
def test_only_streams_that_were_under_way_at_a_server_that_is_killed_may_be_lost(
    proxy: Proxy, tmp_path: Path
) -> None:
    try:
        found = run_behind(proxy, tmp_path, 300, endings=4)
    except NotInstalled as error:
        pytest.skip(str(error))
    assert not found.faults, found


def test_kubernetes_own_schemas_take_the_manifest() -> None:
    there("kubernetes_validate")
    for version in ("1.37.0", "1.30.0"):
        command = [PYTHON, "-m", "kubernetes_validate", "-k", version, "--strict"]
        done = run_program(*command, DEPLOY / "kubernetes.yaml")
        assert done.returncode == 0, done.stdout + done.stderr


def test_hadolint_has_nothing_to_say_of_the_dockerfile() -> None:
    program = Path(PYTHON).with_name("hadolint")
    if not program.exists():
        pytest.skip(f"hadolint: not in the environment of {PYTHON}")
    done = run_program(program, DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_compose_itself_reads_the_file() -> None:
    plugin = shutil.which("docker") and run_program("docker", "compose", "version").returncode == 0
    command = ("docker", "compose") if plugin else ("docker-compose",)
    if not shutil.which(command[0]):
        pytest.skip("there is no compose here")
    asked = (*command, "-f", str(DEPLOY / "compose.yaml"), "config", "-q")
    assert run_program(*asked, ANDY_SERVE_TOKEN=TOKEN).returncode == 0
    assert "a token is needed" in run_program(*asked).stderr


def run_program(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, check=False, env={**environment(ROOT), **env}
    )


def test_flags_in_the_documentation_are_flags_of_the_command() -> None:
    files = [ROOT / "docs" / "serve.md", ROOT / "docs" / "deploy.md", *DEPLOY.iterdir()]
    words = " ".join(file.read_text() for file in files)
    told = andy("serve", "--help", home=ROOT).out
    ours = set(
        re.findall(r"--(?:upstream|model|dialect|host|port|workers|token|drain|allow-\w+)\b", words)
    )
    assert len(ours) >= 9
    assert not [flag for flag in ours if flag not in told]
