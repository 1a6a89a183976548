"""Programs that know Ollama's wire alone, before models that take tools and models that do not."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.isolated_programs import PYTHON, there
from tests.model_server import ModelServer
from tests.node import installed
from tests.serve_process import (
    ANSWER,
    CALLS,
    FILES,
    PLAYING,
    SCHEMAS,
    TASK,
    behind,
    schema,
    serving,
    without_tools,
)

pytestmark = pytest.mark.slow
SCENE = json.dumps(
    {
        "task": TASK,
        "files": FILES,
        "tools": [
            {"name": name, "description": about, "parameters": schema(name)}
            for name, (about, _, _) in SCHEMAS.items()
        ],
    }
)


@pytest.fixture(scope="module", params=["hermes", "andybot", "native"])
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with behind(tmp_path_factory.mktemp("home"), request.param) as url:
        yield url


def run_client(command: Sequence[str | Path], home: Path) -> dict[str, Any]:
    """What it prints in its last line; it has to end well."""
    known = {"PATH": os.environ["PATH"], "HOME": str(home), "SCENE": SCENE}
    done = subprocess.run(
        command,
        env={**known, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize("how", ["whole", "streamed"])
def test_ollamas_javascript_client_lists_and_plays(address: str, how: str, tmp_path: Path) -> None:
    modules = installed("ollama@0.6.4")
    script = shutil.copy(Path(__file__).parent / "ollama_client.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(modules)
    told = run_client(["node", script, address, how], tmp_path)
    assert ([tuple(call) for call in told["calls"]], told["answer"]) == (CALLS, ANSWER)
    about = told["about"]
    assert (about["names"], about["capabilities"]) == (["m:latest"], ["completion", "tools"])
    assert about["pulled"] == {"status": "success"}
    assert "Embeddings" in about["refusal"]


@pytest.mark.parametrize("how", ["whole", "streamed"])
def test_litellm_chats_as_with_ollama(address: str, how: str, tmp_path: Path) -> None:
    there("litellm")
    script = Path(__file__).parent / "litellm_client.py"
    told = run_client([PYTHON, script, address, "ollama_chat", how], tmp_path)
    assert ([tuple(call) for call in told["calls"]], told["answer"]) == (CALLS, ANSWER)


def write_json(last: str) -> Sequence[str]:
    """LiteLLM itself asks for calls in JSON, and reads them, where it generates."""
    if PLAYING in last:
        return (ANSWER,)
    name, arguments = CALLS["song1.mp3" in last]
    text = json.dumps({"name": name, "arguments": arguments})
    return text[:9], text[9:]


@pytest.mark.parametrize("how", ["whole", "streamed"])
def test_litellm_generates_as_with_ollama(how: str, tmp_path: Path) -> None:
    there("litellm")
    script = Path(__file__).parent / "litellm_client.py"
    with (
        ModelServer(without_tools(write_json)) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m") as url,
    ):
        told = run_client([PYTHON, script, url, "ollama", how], tmp_path)
    assert ([tuple(call) for call in told["calls"]], told["answer"]) == (CALLS, ANSWER)
    assert all(each.body["response_format"] == {"type": "json_object"} for each in server.requests)
