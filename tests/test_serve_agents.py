"""Coding agents before a model that knows no tools: what it writes, they really do."""

import contextlib
import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.isolated_programs import PYTHON, there
from tests.model_server import Answer, ModelServer, Received, refused
from tests.node import installed
from tests.serve_process import ANSWER, PLAYING, calls, replied, serving, without_tools

pytestmark = pytest.mark.slow
TASK = "Look which songs are in this folder, and play the first one."
CLOSED = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
    "NO_PROXY": "127.0.0.1",
}
"""Nothing outside can be reached: what still asks (opencode does, for its plugins) does without."""
Script = Callable[[str], Sequence[str]]
"""The last message -> the pieces of the reply."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with songs."""
    work = tmp_path / "work"
    work.mkdir()
    for name in ("song1.mp3", "song2.mp3"):
        (work / name).write_bytes(b"ID3")
    return work


def agent(script: Script) -> Callable[[Received], Answer]:
    """A model that calls tools where it was told of some, and else makes titles."""
    told = without_tools(script)

    def answer(received: Received) -> Answer:
        first = received.body["messages"][0]
        return told(received) if "<tool_call>" in str(first["content"]) else replied("Songs")

    return answer


@contextlib.contextmanager
def before(
    home: Path, model: Callable[[Received], Answer], *arguments: str, checked: bool = True
) -> Iterator[tuple[str, ModelServer]]:
    """`andy serve` before this model; nothing is refused there."""
    named = ("--model", "m", "--dialect", "hermes")
    with ModelServer(model, checked=checked) as server:
        with serving(home, "--upstream", server.url, *named, *arguments) as address:
            yield address, server
        assert all("tools" not in each.body for each in server.requests)


def run(command: Sequence[str | Path], home: Path, work: Path, **more: str) -> str:
    """What it prints; it has to end well."""
    known = {"PATH": os.environ["PATH"], "HOME": str(home), **CLOSED, **more}
    done = subprocess.run(
        command,
        env=known,
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


CODEX = """
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
{provider}
[analytics]
enabled = false
[feedback]
enabled = false
[features]
apps = false
plugins = false
"""


PROVIDER = """
model_provider = "andy"
[model_providers.andy]
name = "andy"
base_url = "{address}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


def codex(address: str, home: Path, work: Path, model: str = "m", oss: bool = False) -> str:
    """What `codex exec` says in the end; with `oss` it takes the server for an Ollama."""
    program = installed("@openai/codex@0.169.0") / "@openai/codex/bin/codex.js"
    provider = "" if oss else PROVIDER.format(address=address)
    (home / "config.toml").write_text(CODEX.format(provider=provider))
    command: list[str | Path] = ["node", program, "exec", "--skip-git-repo-check", "-m", model]
    command += ["--oss", "--local-provider", "ollama"] if oss else []
    known = {"CODEX_HOME": str(home), "CODEX_OSS_BASE_URL": f"{address}/v1"}
    return run([*command, TASK], home, work, **known)


def shell(last: str) -> Sequence[str]:
    if PLAYING in last:
        return ANSWER[:9], ANSWER[9:]
    if "song1.mp3" in last:
        return "I play it. ", calls("exec_command", cmd=f"echo {PLAYING} | tee played.txt")
    return "I will look.\n", calls("exec_command", cmd="ls")


PATCH = f"""*** Begin Patch
*** Add File: played.txt
+{PLAYING}
*** End Patch
"""


def patching(last: str) -> Sequence[str]:
    """Its second tool takes a text and no arguments."""
    if "played.txt" in last:
        return (ANSWER,)
    return (calls("apply_patch", input=PATCH),) if "song1.mp3" in last else shell(last)


def programming(last: str) -> Sequence[str]:
    """All it has takes a text that is a program, and is in a namespace."""
    told = "text((await tools.exec_command({cmd: %s})).output)"
    if PLAYING in last:
        return (ANSWER,)
    command = f"echo {PLAYING} | tee played.txt" if "song1.mp3" in last else "ls"
    return (calls("exec", input=told % json.dumps(command)),)


@pytest.mark.parametrize(
    ("model", "script"), [("m", shell), ("gpt-5.5", patching), ("gpt-6-sol", programming)]
)
def test_codex_lists_and_plays(model: str, script: Script, home: Path, work: Path) -> None:
    with before(home, agent(script)) as (address, _):
        assert ANSWER in codex(address, home, work, model)
    assert (work / "played.txt").read_text().strip() == PLAYING


@pytest.mark.parametrize("model", ["m", "m:latest"])
def test_codex_finds_an_ollama_and_plays(model: str, home: Path, work: Path) -> None:
    """It wants a version that it knows, and pulls a model that is not listed by the very name."""
    with before(home, agent(shell)) as (address, _):
        assert ANSWER in codex(address, home, work, model, oss=True)
    assert (work / "played.txt").read_text().strip() == PLAYING


def opencode(address: str, home: Path, work: Path, package: str) -> str:
    """What `opencode run` says; `package` speaks to the server, and is built in."""
    program = installed("opencode-ai@1.18.33") / ".bin/opencode"
    model = {"name": "m", "tool_call": True, "limit": {"context": 60_000, "output": 4000}}
    provider = {
        "npm": package,
        "options": {"baseURL": f"{address}/v1", "apiKey": "none"},
        "models": {"m": model},
    }
    config: Mapping[str, object] = {
        "provider": {"andy": provider},
        "enabled_providers": ["andy"],
        "model": "andy/m",
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
    }
    off = "AUTOUPDATE MODELS_FETCH LSP_DOWNLOAD DEFAULT_PLUGINS CLAUDE_CODE".split()
    return run(
        [program, "run", TASK],
        home,
        work,
        OPENCODE_CONFIG_CONTENT=json.dumps(config),
        **{f"XDG_{each}_HOME": str(home / each) for each in ("CONFIG", "DATA", "CACHE", "STATE")},
        **{f"OPENCODE_DISABLE_{each}": "1" for each in off},
    )


def player(work: Path) -> Script:
    """Plays by what is in a file: looks which there are, reads it, and edits it."""
    file = str(work / "player.conf")

    def script(last: str) -> Sequence[str]:
        if "Edit applied" in last:
            return ANSWER[:9], ANSWER[9:]
        if "now = nothing" in last:
            old, new = "now = nothing", "now = song1.mp3"
            return (calls("edit", filePath=file, oldString=old, newString=new),)
        if "player.conf" in last:
            return "I read it. ", calls("read", filePath=file)
        return "I will look.\n", calls("glob", pattern="*")

    return script


@pytest.mark.parametrize(
    ("package", "wire"),
    [("openai-compatible", "chat"), ("openai", "responses"), ("anthropic", "messages")],
)
def test_opencode_looks_and_plays(package: str, wire: str, home: Path, work: Path) -> None:
    (work / "player.conf").write_text("volume = 3\nnow = nothing\n")
    # It asks for a title with two messages of the user in a row, which is passed on as it is.
    with before(home, agent(player(work)), checked=False) as (address, _):
        assert ANSWER in opencode(address, home, work, f"@ai-sdk/{package}")
        with urllib.request.urlopen(f"{address}/calls.json") as answer:
            assert {each["surface"] for each in json.load(answer)["calls"]} == {wire}
    assert (work / "player.conf").read_text() == "volume = 3\nnow = song1.mp3\n"


def claude_code(address: str, home: Path, work: Path) -> str:
    """What `claude -p` says in the end."""
    program = installed("@anthropic-ai/claude-code@2.1.197") / ".bin/claude"
    known = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_MODEL": "m"}
    off = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}
    allowed = ["--allowedTools", "Bash(ls:*)", "Read", "Edit"]
    return run([program, "-p", TASK, *allowed], home, work, **known, **off)


def player_of_claude_code(work: Path) -> Script:
    """As `player`, with two calls at once."""
    file = str(work / "player.conf")

    def script(last: str) -> Sequence[str]:
        if "has been updated" in last:
            return ANSWER[:9], ANSWER[9:]
        if "now = nothing" in last:
            return (calls("Edit", file_path=file, old_string="nothing", new_string="song1.mp3"),)
        if "player.conf" in last:
            listing = calls("Bash", command="ls -l", description="List files with sizes")
            return "Both. ", calls("Read", file_path=file), "\n", listing
        return "I will look.\n", calls("Bash", command="ls", description="List files")

    return script


def test_claude_code_looks_and_plays(home: Path, work: Path) -> None:
    (work / "player.conf").write_text("volume = 3\nnow = nothing\n")
    with before(home, agent(player_of_claude_code(work))) as (address, server):
        assert ANSWER in claude_code(address, home, work)
    assert (work / "player.conf").read_text() == "volume = 3\nnow = song1.mp3\n"
    assert len(server.requests) == 4


def test_claude_code_is_told_that_a_prompt_is_too_long(home: Path, work: Path) -> None:
    too_long = refused(400, "This model's maximum context length is 9 tokens, you requested 99.")
    wrong = pytest.raises(AssertionError, match="Prompt is too long")
    with before(home, lambda _: too_long) as (address, _), wrong:
        claude_code(address, home, work)


def aider(address: str, home: Path, work: Path, file: str) -> str:
    """What aider says."""
    there("aider")
    known = home / "models.json"  # else it asks for a list of all models there are
    known.write_text(json.dumps({"openai/m": {"max_input_tokens": 32_000, "mode": "chat"}}))
    off = """analytics check-update show-release-notes show-model-warnings git pretty detect-urls
    suggest-shell-commands""".split()
    command = [PYTHON, "-m", "aider", "--model", "openai/m", "--edit-format", "diff"]
    command += ["--model-metadata-file", str(known), "--yes-always", "--map-tokens", "0"]
    command += [*(f"--no-{each}" for each in off), "--message", TASK, file]
    return run(
        command,
        home,
        work,
        OPENAI_API_BASE=f"{address}/v1",
        OPENAI_API_KEY="none",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )


def edit(old: str, new: str) -> str:
    return f"player.conf\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"


def editor(last: str) -> Sequence[str]:
    """Gets its first edit wrong, is told so by aider, and gets it right."""
    right = "did not match" in last or "failed to match" in last
    text = edit("now = nothing" if right else "now = silence", "now = song1.mp3")
    return ANSWER, "\n\n", text[:30], text[30:]


def test_aider_edits(home: Path, work: Path) -> None:
    file = work / "player.conf"
    file.write_text("volume = 3\nnow = nothing\n")
    with before(home, without_tools(editor)) as (address, server):
        assert ANSWER in aider(address, home, work, file.name)
        assert len(server.requests) == 2
    assert file.read_text() == "volume = 3\nnow = song1.mp3\n"
