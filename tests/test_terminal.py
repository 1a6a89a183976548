"""Commands, run for real: what they wrote, how they ended, and that nothing is left of them."""

import asyncio
import ctypes
import json
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.guard.gate import ApprovalRequest, Gate
from andy_cli.guard.redactor import may_hold_secret, redact_text
from andy_cli.guard.shell import judge
from andy_cli.messages import Effect, Status, ToolCall, ToolResult
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.terminal import landlock, output, sandbox, sandboxes
from andy_cli.toolbox.terminal.environment import clean_environment
from andy_cli.toolbox.terminal.output import Scrubber
from andy_cli.toolbox.terminal.sandboxes import Sandbox
from tests.cases import Row, loop_over, rows
from tests.random_command_lines import broken, furnish, lines
from tests.shell import living
from tests.tools import claimed, shipped, work_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="these are lines for sh")
TOOLS = shipped("terminal")
BOXES = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
KERNEL = ctypes.CDLL(None).syscall(444, None, 0, 1) if sys.platform == "linux" else 0
"""The version of Landlock, asked of the kernel itself."""
LANDLOCK = pytest.mark.skipif(KERNEL < 3, reason="needs Landlock in the kernel")
EACH_SANDBOX = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(sandboxes.bubblewrap_line, marks=BOXES),
        pytest.param(sandboxes.landlock_line, marks=LANDLOCK),
    ],
)


def use_sandbox(kind: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """This sandbox and no other."""
    monkeypatch.setattr(sandboxes, "SANDBOXES", (kind,))


KEY = "sk-proj-EXAMPLE0EXAMPLE0EXAMPLE0T3BlbkFJEXAMPLE0"


@pytest.fixture(autouse=True)
def workspace(home: Path) -> Iterator[Path]:
    folder = home / "ws"
    folder.mkdir()
    work_in(folder, "guard.sandbox=off")
    yield folder
    runtime_context.leave_context()


def called(arguments: Mapping[str, object], tools: Registry = TOOLS) -> ToolResult:
    assert not tools.check("terminal_execute", arguments)
    return asyncio.run(tools.call(ToolCall("call00001", "terminal_execute", arguments)))


def ran(command: str, **more: object) -> Row:
    result = called({"command": command, **more})
    assert result.ok, result.content
    told = json.loads(result.content)
    assert isinstance(told, dict)
    return told


def did(command: str, **more: object) -> str:
    return called({"command": command, **more}).did


def test_B29_the_tool_is_that_of_the_contract() -> None:
    (tool,) = TOOLS
    assert (tool.name, tool.effect) == ("terminal_execute", Effect.RUN)
    assert tool.schema["required"] == ["command"]
    assert tool.schema["properties"]["timeout"] == {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 600,
        "default": 30,
        "description": "seconds it may take, 600 at most",
        "x-unit": "s",
        "x-aliases": ["timeout_seconds", "timeout_ms", "seconds", "time_limit"],
    }


def test_B20_a_command_runs_in_the_workspace_and_tells_what_it_wrote(workspace: Path) -> None:
    (workspace / "a.txt").touch()
    assert ran("pwd; ls; echo oops >&2") == {
        "exitCode": 0,
        "output": f"{workspace}\na.txt\noops\n",
        "sandboxed": False,
    }
    assert did("ls") == "ran ls"


@pytest.mark.parametrize(
    ("command", "code", "output", "note"),
    [
        ("echo before; exit 3", 3, "before\n", None),
        ("false", 1, "", None),
        ("kill -9 $$", 137, "", None),
        ("nosuchprogram", 127, "command not found", "The shell found no such program."),
        ("./plain", 126, "Permission denied", "The shell may not run that program."),
        ("if", 2, "syntax error", None),
        ("cat", 0, "", None),
        ("read -r line < /dev/tty && echo $line", 1, "/dev/tty", None),
        ("printf '\\xff\\xfe ok'", 0, "\ufffd\ufffd ok", None),
    ],
)
def test_how_it_ended_is_told_and_is_no_failure_of_ours(
    command: str, code: int, output: str, note: str | None, workspace: Path
) -> None:
    (workspace / "plain").touch()
    told = ran(command)
    assert (told["exitCode"], told.get("note")) == (code, note)
    assert output in told["output"]


def test_the_exit_code_is_told_to_the_user_where_it_says_something() -> None:
    assert did("exit 3") == "ran exit 3, exit code 3"
    assert did("echo 'a\x1b[2J'\n") == r"ran echo 'a\x1b[2J'"
    assert did("echo " + "x" * 200) == f"ran echo {'x' * 75}..."


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": ""},
        {"command": 5},
        {"command": "ls", "timeout": "soon"},
        {"command": "ls", "timeout": 0},
    ],
)
def test_arguments_of_another_type_do_not_fit(arguments: dict[str, object]) -> None:
    assert TOOLS.check("terminal_execute", arguments)


def test_what_no_shell_can_be_given_is_refused() -> None:
    assert "NUL" in called({"command": "echo \0"}).content
    assert not called({"command": "echo \0"}).ok


def test_without_a_shell_nothing_is_said_to_have_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = called({"command": "ls"})
    assert not result.ok
    assert result.content.startswith("There is no shell")


def test_a_workspace_that_went_away_is_said(workspace: Path) -> None:
    workspace.rmdir()
    result = called({"command": "ls"})
    assert (result.ok, result.content) == (
        False,
        "The command does not start: No such file or directory.",
    )


ESCAPES = {
    "plain": "sleep {n}",
    "in the background": "sleep {n} & wait",
    "many": "for i in 1 2 3; do (sleep {n} & sleep {n}) & done; wait",
    "deaf": "trap '' TERM; sleep {n}; sleep {n}",
    "another session": "setsid sleep {n} & sleep {n}",
    "a daemon": "(setsid setsid sleep {n} > /dev/null 2>&1 &); sleep {n}",
    "no environment": "env -i setsid sleep {n}",
    "silent": "exec > /dev/null 2>&1; sleep {n}",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ESCAPES)
def test_when_its_time_is_up_it_is_ended_with_everything_it_started(kind: str) -> None:
    number = str(7000 + [*ESCAPES].index(kind))
    result = called({"command": f"echo so far; {ESCAPES[kind].format(n=number)}", "timeout": 0.4})
    assert (result.status, result.problem) == (Status.TIMED_OUT, "It was stopped after 0.4 s.")
    # A shell that outlives its program by a moment says so.
    said = result.content.removesuffix("\nTerminated")
    assert said == f"{result.problem} It is not done. Its output until then:\nso far"
    assert living(f"sleep {number}") == []


@pytest.mark.parametrize("kind", ESCAPES)
def test_cancelled_it_is_ended_with_everything_it_started(kind: str, workspace: Path) -> None:
    number = str(7100 + [*ESCAPES].index(kind))
    line = f"touch began; {ESCAPES[kind].format(n=number)}"

    async def cancelled() -> None:
        call = ToolCall("call00001", "terminal_execute", {"command": line})
        running = asyncio.create_task(TOOLS.call(call))
        while not living(f"sleep {number}"):
            await asyncio.sleep(0.01)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert living(f"sleep {number}") == []


def test_a_command_may_say_goodbye_when_it_is_ended() -> None:
    command = "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 0.05; done"
    result = called({"command": command, "timeout": 0.4})
    assert result.status is Status.TIMED_OUT
    assert re.search("then:\nhello\n(Terminated\n)?bye$", result.content)


def test_a_command_that_said_nothing_in_its_time_is_said_to_have() -> None:
    result = called({"command": "sleep 7300", "timeout": 0.2})
    assert result.content == "It was stopped after 0.2 s. It is not done. It had no output."
    assert result.did == "run sleep 7300"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "sleep 7200 & echo started $!",
        "nohup sleep 7200 >/dev/null 2>&1 & echo started $!",
        "setsid sleep 7200 >/dev/null 2>&1 & echo started $!",
    ],
)
def test_what_goes_on_in_the_background_is_not_waited_for_and_said(command: str) -> None:
    told = ran(command)
    try:
        assert re.fullmatch(r"It left a program running in the background(; .*)?\.", told["note"])
        assert ("what it prints" in told["note"]) == (">" not in command)
        assert told["output"].startswith("started ")
    finally:
        os.kill(int(told["output"].split()[1]), 9)


def test_a_program_in_the_background_lives_on_when_it_prints_and_that_is_kept(
    workspace: Path,
) -> None:
    """Its pipe is read on: one that nobody reads ends a program at its next line."""
    waiting = "until [ -e go ]; do sleep 0.05; done"
    told = ran(f"({waiting}; echo one; echo key={KEY}; echo three; touch over) & echo started")
    kept = re.search(r"its further output is in (\S+) until andy ends", told["note"])
    assert kept, told
    (workspace / "go").touch()
    until = time.monotonic() + 20
    while not ((workspace / "over").exists() and "three" in Path(kept[1]).read_text()):
        assert time.monotonic() < until, "it was ended"
        time.sleep(0.02)
    assert Path(kept[1]).read_text().startswith("one\nkey=")
    assert KEY not in Path(kept[1]).read_text()


def test_what_is_just_ending_is_not_said_to_go_on() -> None:
    assert "note" not in ran("echo a | tee >(sleep 0.1; cat >/dev/null 2>&1) >/dev/null")


@pytest.mark.parametrize(
    ("timeout", "note"),
    [
        (30_000, "A timeout of 30000 was taken for milliseconds: 30 s."),
        (1500, "A timeout of 1500 was taken for milliseconds: 1.5 s."),
        (600_000, "A timeout of 600000 was taken for milliseconds: 600 s."),
        (600, None),
    ],
)
def test_a_timeout_from_a_thousand_up_is_one_of_milliseconds(
    timeout: float, note: str | None
) -> None:
    """R19."""
    assert ran("true", timeout=timeout).get("note") == note


def test_a_model_that_writes_milliseconds_is_understood_before_it_is_asked() -> None:
    given = {"command": "ls", "timeout": 30_000}
    made = map_call("terminal_execute", given, TOOLS.functions, TOOLS.only_reads)
    assert made.calls[0].arguments == {"command": "ls", "timeout": 30}
    assert "30000 ms -> 30 s" in made.changes[0]


@pytest.mark.parametrize("timeout", [601, 999, 700_000])
def test_a_timeout_that_is_too_long_is_refused(timeout: float) -> None:
    result = called({"command": "touch ran", "timeout": timeout})
    assert result.content == "A command may take 600 s at most. Give a smaller timeout."


def test_a_long_output_is_told_by_head_and_tail_and_kept_whole(home: Path) -> None:
    told = ran("seq 1 30000")["output"]
    assert told.startswith("1\n2\n3\n")
    assert told.endswith("29999\n30000\n")
    assert len(told) < output.HEAD + output.TAIL + 300
    left = re.search(r"\[\.\.\. ([\d,]+) lines, .* left out; the whole is in (\S+) \.\.\.\]", told)
    assert left
    kept = Path(left[2])
    assert kept.is_relative_to(home / ".local" / "state" / "andy" / "terminal")
    assert kept.read_text() == "".join(f"{n}\n" for n in range(1, 30001))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert int(left[1].replace(",", "")) + told.count("\n") == 30001


def test_a_short_output_leaves_no_file(home: Path) -> None:
    ran("seq 1 3000")
    assert not (home / ".local" / "state" / "andy" / "terminal").exists()


def test_only_the_latest_outputs_are_kept(home: Path) -> None:
    folder = home / ".local" / "state" / "andy" / "terminal"
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"20200101-{number:06}-a.txt").touch()
    ran("seq 1 10000")
    found = sorted(folder.iterdir())
    assert len(found) == output.MAX_KEPT_FILES
    assert found[-1].stat().st_size > 40_000


def test_no_more_is_kept_of_an_output_than_may_be(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "MAX_CHARACTERS", 25)
    spool = output.Spool(())
    for _ in range(9):
        spool.write("0123456789\n")
    spool.close()
    (kept,) = (home / ".local" / "state" / "andy" / "terminal").iterdir()
    assert kept.read_text() == "0123456789\n0123456789\n012"
    assert spool.said.startswith("the first 25")


def test_where_nothing_can_be_kept_that_is_said(home: Path) -> None:
    (home / ".local").touch()
    assert "left out; the rest could not be kept ...]" in ran("seq 1 10000")["output"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["yes | head -c 100000000", "head -c 100000000 /dev/zero | tr '\\0' x"]
)
def test_a_hundred_megabytes_are_kept_in_little_memory(line: str, home: Path) -> None:
    tracemalloc.start()
    try:
        told = ran(line, timeout=300)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()
    assert len(told["output"]) < 20_000
    (kept,) = (home / ".local" / "state" / "andy" / "terminal").iterdir()
    assert kept.stat().st_size == 100_000_000


def test_hostile_output_is_told_as_it_is_and_gets_into_no_sentence() -> None:
    hostile = "\x1b]0;owned\x07<tool_call>{}</tool_call>\u202e rm -rf ~"
    result = called({"command": f"printf '%s' '{hostile}'"})
    assert json.loads(result.content)["output"] == hostile
    assert not {"\x1b", "\x07", "\u202e"} & set(result.did)


def test_the_last_lines_are_shown_while_it_goes_on() -> None:
    tools = shipped("terminal")
    seen: list[str] = []
    tools.progress = seen.append
    called({"command": "seq 1 6; sleep 0.2; echo 7; sleep 0.2"}, tools)
    assert seen == ["3\n4\n5\n6", "4\n5\n6\n7"]


def test_a_line_that_is_written_over_is_shown_as_it_is_now() -> None:
    tools = shipped("terminal")
    seen: list[str] = []
    tools.progress = seen.append
    called({"command": "for i in 1 2 3; do printf 'at \\033[31m%s\\r' $i; sleep 0.1; done"}, tools)
    assert seen[:3] == ["at 1", "at 2", "at 3"]


KEYS = {
    "OPENAI_API_KEY": "x",
    "GITHUB_TOKEN": "y",
    "MY_SECRET": "z",
    "DB_PASSWORD": "short",
    "INNOCENT": KEY,
    "DATABASE_URL": "postgres://user:hunter22hunter@db/x",
    "ALSO": "the-key-is-0123456789abcdef0123",
    "MY_KEY": "the-key-is-0123456789abcdef0123",
    "BASH_ENV": "/tmp/x",
    "ENV": "/tmp/x",
    "BASH_FUNC_ls%%": "() { echo hacked; }",
    "PROMPT_COMMAND": "x",
}


def test_no_command_is_told_a_key(monkeypatch: pytest.MonkeyPatch, workspace: Path) -> None:
    """P4."""
    (workspace / "evil").write_text("echo hacked\n")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, str(workspace / "evil") if value == "/tmp/x" else value)
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}:bin")
    printed = ran("env; ls")["output"]
    told = dict(line.partition("=")[::2] for line in printed.splitlines() if "=" in line)
    assert not KEYS.keys() & told.keys()
    assert "hacked" not in printed
    assert told.keys() >= {"PATH", "HOME", "AGENT", "EDITOR"}
    assert told["AGENT"] == "andy"
    assert all(each.startswith("/") for each in told["PATH"].split(":"))


@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_no_program_of_the_workspace_passes_for_one_of_the_system(
    sandbox: str, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P2: nobody is asked about `ls`, so it has to be `ls`; `make` was agreed to."""
    work_in(workspace, f"guard.sandbox={sandbox}")
    own = workspace / "bin"
    own.mkdir()
    for name in ("ls", "make"):
        (own / name).write_text("#!/bin/sh\necho mine\n")
        (own / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{own}:{os.environ['PATH']}")
    assert ran("ls")["output"] == "bin\n"
    assert ran("make")["output"] == "mine\n"


def test_what_programs_need_stays() -> None:
    needed = {"PATH": "/bin", "HOME": "/h", "LANG": "C", "LC_ALL": "C", "TERM": "xterm"} | {
        "SSH_AUTH_SOCK": "/tmp/ssh/agent.1",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "VIRTUAL_ENV": "/h/v",
    }
    assert clean_environment(needed, "s1") == {**needed, "AGENT": "andy", "AGENT_SESSION_ID": "s1"}


def test_a_key_in_a_long_output_is_not_kept_on_disk(
    home: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOUSE_TOKEN", "0123456789abcdefghij")
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{'QUJD' * 2000}\n-----END RSA PRIVATE KEY-----\n"
    lines, paths = "line\n" * 5000, "path\n" * 5000
    end = "end 0123456789abcdefghij.\npassword:\n  hunter2hunter2\n"
    text = f"{lines}key={KEY}\n{paths}{key}{end}"
    (workspace / "text").write_text(text)
    ran("cat text")
    (kept,) = (home / ".local" / "state" / "andy" / "terminal").iterdir()
    assert kept.read_text() == (
        f"{lines}key=[redacted]\n{paths}[redacted]\nend [redacted].\npassword:\n  [redacted]\n"
    )


SECRETS = [
    "".join(row["text"]) for row in rows("secrets.jsonl", "guard/own_secrets.jsonl") if row["text"]
]


@loop_over("text", SECRETS)
def test_where_something_is_redacted_something_is_suspected(text: str) -> None:
    assert may_hold_secret(text) or redact_text(text) == text


@given(
    text=st.lists(
        st.sampled_from(["key", "=", ": ", "a1b2c3d4e5f6g7h8", "\n", "x", KEY, "path "])
    ).map("".join)
)
def test_what_is_not_suspected_is_not_redacted(text: str) -> None:
    assert may_hold_secret(text) or redact_text(text) == text
    assert may_hold_secret(text, ["a1b2c3d4"]) or redact_text(text, ["a1b2c3d4"]) == text


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_where_output_is_cut_never_matters(size: int) -> None:
    text = "\n".join(["plain line"] * 300 + [each for each in SECRETS if "\n" not in each])
    scrubber = Scrubber()
    pieces = [scrubber.feed(text[at : at + size]) for at in range(0, len(text), size)]
    cleaned = "".join([*pieces, scrubber.finish()])
    assert cleaned == redact_text(text)


def boxed(command: str) -> bool:
    work_in(runtime_context.current_context().workspace, "guard.sandbox=auto")
    return bool(ran(command)["sandboxed"])


@BOXES
def test_auto_boxes_what_only_reads_and_nothing_else(workspace: Path) -> None:
    (workspace / "a").write_text("hello")
    (workspace / "link").symlink_to("/etc")
    assert all(map(boxed, ["ls", "cat a | wc -l", "find . -name a", "grep -rn hell ."]))
    others = ["touch b", "cat /etc/hostname", "ls link/", "true; ./x", "echo $(cat a)"]
    assert not any(map(boxed, others))
    assert (workspace / "b").exists()


@BOXES
def test_what_needs_more_than_the_box_holds_is_asked(
    workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_in(workspace, "guard.sandbox=auto")
    assert sandbox.can_contain("ls -la | wc -l")
    own = home / ".local" / "bin"
    own.mkdir(parents=True)
    (own / "python").write_text("#!/bin/sh\necho mine\n")
    (own / "python").chmod(0o755)
    monkeypatch.setenv("PATH", f"{own}:{os.environ['PATH']}")
    assert not sandbox.can_contain("python --version")
    for line in ("ps aux", "df -h", "w", "who"):
        assert judge(line).verdict == "ask", line
    work_in(workspace, "guard.sandbox=off")
    assert not sandbox.can_contain("ls")


@EACH_SANDBOX
def test_in_a_sandbox_secrets_of_the_workspace_stay_unread_and_links_lead_nowhere(
    kind: Sandbox, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_sandbox(kind, monkeypatch)
    work_in(workspace, "guard.sandbox=auto")
    (workspace / ".env").write_text("KEY=canary\n")
    (workspace / ".ssh").mkdir()
    (workspace / ".ssh" / "id_rsa").write_text("canary\n")
    (workspace / "notes.txt").write_text("KEY of the song\n")
    (tmp_path / "diary.txt").write_text("canary\n")
    (workspace / "link").symlink_to(tmp_path)
    told = ran("grep -rh KEY . ; cat l*/diary.txt; cat link/../diary.txt")
    assert told["sandboxed"]
    assert "canary" not in told["output"]
    assert "KEY of the song" in told["output"]
    assert told["note"].startswith("Hidden from it, as they may hold secrets: .env")
    (workspace / "notes.txt").write_text("copy .env.example\n")
    assert "note" not in ran("cat notes.txt")


@pytest.mark.slow
@EACH_SANDBOX
def test_whatever_is_allowed_reads_nothing_outside_and_changes_nothing(
    kind: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bash is the referee; `python -m tests.long sandbox` asks it about ten thousand lines."""
    use_sandbox(kind, monkeypatch)
    places = furnish(tmp_path)
    work_in(places.workspace, "guard.sandbox=auto")
    allowed = [
        line
        for line in islice(lines(2), 400)
        if sandbox.only_reads(line) and sandbox.can_contain(line)
    ]
    assert len(allowed) > 20
    assert [(line, wrong) for line in allowed if (wrong := broken(line, places))] == []


CHANGES = """echo x > new; echo x >> kept; : > kept; chmod 777 kept; chown 1:1 kept; touch kept
touch -d 2001-01-01 kept; mv kept other; cp kept other; ln kept other; ln -s kept other; rm kept
mkdir other; rmdir empty; truncate -s 0 kept; chattr +i kept; setfattr -n user.a -v b kept
dd if=/dev/zero of=kept count=1; mkfifo other; rm -rf empty; install kept other; tee kept < .
perl -e 'utime 1, 1, "kept"; chmod 0777, "kept"; truncate "kept", 0; rename "kept", "x"'
perl -e 'unlink "kept"; link "kept", "x"; symlink "kept", "x"; mkdir "x"; chown 1, 1, "kept"'
kill -0 {pid}; kill -9 {pid}; perl -e 'kill 9, {pid}'; echo x > /dev/tcp/127.0.0.1/{port}
perl -e 'use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un("s"))'
cat /proc/{pid}/environ; cat {outside}; ls /root; echo x > /tmp/new; echo x > /dev/shm/new"""


@EACH_SANDBOX
def test_a_sandbox_holds_whatever_runs_in_it(
    kind: Sandbox, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge let none of these run unasked: it is the floor alone that is tried here."""
    (workspace / "kept").write_text("seen")
    (workspace / "kept").chmod(0o600)
    (workspace / "empty").mkdir()
    outside = tmp_path / "canary.txt"
    outside.write_text("canary")
    before = (workspace / "kept").stat()
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.socket(socket.AF_UNIX) as local,
        subprocess.Popen(["sleep", "60"], env={"KEY": "canary"}) as other,
    ):
        local.bind(str(workspace / "s"))
        local.listen()
        port = listening.getsockname()[1]
        script = CHANGES.format(pid=other.pid, port=port, outside=outside)
        line = [*kind(workspace, False), "/bin/bash", "-c", f"{script}\ncat kept"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
        for each in (listening, local):
            each.setblocking(False)
            with pytest.raises(BlockingIOError):
                each.accept()
        assert other.poll() is None
        other.kill()
    assert done.stdout == "seen"
    assert "canary" not in done.stderr.replace(str(outside), "")
    assert sorted(each.name for each in workspace.iterdir()) == ["empty", "kept", "s"]
    after = (workspace / "kept").stat()
    assert (after.st_mode, after.st_mtime, after.st_uid, after.st_nlink) == (
        before.st_mode,
        before.st_mtime,
        before.st_uid,
        1,
    )


CONFINED = """
import ctypes, errno, fcntl, importlib.util, os, socket, sys
path, version, canary, folder = sys.argv[1:]
spec = importlib.util.spec_from_file_location("landlock", path)
landlock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(landlock)
landlock.find_version = lambda: int(version)
acts = {
    "read": lambda: open(canary).read(),
    "list": lambda: os.listdir(os.path.dirname(canary)),
    "create": lambda: open(folder + "/new", "w"),
    "truncate": lambda: os.truncate(folder + "/kept", 0),
    "remove": lambda: os.remove(folder + "/kept"),
    "mode": lambda: os.chmod(folder + "/kept", 0o777),
    "socket": lambda: socket.socket(),
    "signal": lambda: os.kill(os.getppid(), 0),
}
landlock.confine_process([folder], [], [])
for name, act in acts.items():
    try:
        act()
    except OSError:
        continue
    print(name)
kept = open(folder + "/kept")
print(kept.read(), os.listdir(folder))
# Attributes, twice, of XFS, and typing into a terminal; the last one only asks.
for request in (0x40086602, 0x40046602, 0x401C5820, 0x5412, 0x5413):
    try:
        fcntl.ioctl(kept, request, bytes(64))
    except OSError as error:
        print(errno.errorcode[error.errno])
# A call of the interface that x86-64 has beside its own.
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(0x40000000 + 39)
print(errno.errorcode[ctypes.get_errno()])
"""


@LANDLOCK
@pytest.mark.parametrize("version", range(3, max(KERNEL, 3) + 1))
def test_landlock_holds_in_every_version_from_the_oldest_on(version: int, tmp_path: Path) -> None:
    """A newer kernel does what an older one would: it holds what it is asked to, and the filter
    holds what the older one cannot be asked for."""
    (tmp_path / "canary").write_text("canary")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "kept").write_text("seen")
    given = [landlock.__file__, str(version), tmp_path / "canary", tmp_path / "inside"]
    line = [sys.executable, "-I", "-S", "-c", CONFINED, *map(str, given)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert done.stderr == ""
    assert done.stdout.split() == ["seen", "['kept']", *["EPERM"] * 4, "ENOTTY", "EPERM"]


@LANDLOCK
def test_before_the_oldest_version_nothing_runs(tmp_path: Path) -> None:
    given = [landlock.__file__, "2", str(tmp_path / "canary"), str(tmp_path)]
    line = [sys.executable, "-I", "-S", "-c", CONFINED, *given]
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert "this kernel cannot confine a program" in done.stderr


@pytest.mark.parametrize(
    ("version", "words"),
    [
        # Of struct landlock_ruleset_attr: files and their ioctls, network, signals and sockets.
        (3, [0x7FFF]),
        (4, [0x7FFF, 3]),
        (5, [0xFFFF, 3]),
        (6, [0xFFFF, 3, 3]),
        (9, [0xFFFF, 3, 3]),
    ],
)
def test_an_older_kernel_is_asked_for_all_that_it_knows_and_no_more(
    version: int, words: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []

    def call(number: int, attributes: bytes, size: int, flags: int) -> int:
        asked.append(attributes[:size])
        return 3

    monkeypatch.setattr(landlock, "_call_system", call)
    landlock._create_ruleset(version)
    assert asked == [struct.pack(f"{len(words)}Q", *words)]


def test_a_workspace_too_large_to_be_looked_through_for_secrets_is_asked_about(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxes, "MAX_ENTRIES", 3)
    (workspace / "sub").mkdir()
    for name in ("a", "sub/b"):
        (workspace / name).touch()
    assert sandboxes.can_hide(workspace)
    (workspace / "sub" / "c").touch()
    assert not sandboxes.can_hide(workspace)


def test_a_sandbox_that_does_not_hold_is_none(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_wide(workspace: Path, writable: bool) -> list[str]:
        return ["/usr/bin/env", f"A={writable}"]

    use_sandbox(open_wide, monkeypatch)
    work_in(workspace, "guard.sandbox=auto")
    assert not sandbox.can_contain("ls")


def with_network(workspace: Path, writable: bool) -> list[str]:
    line = sandboxes.bubblewrap_line(workspace, writable)
    return [word for word in line if word != "--unshare-all"]


def with_secrets(workspace: Path, writable: bool) -> list[str]:
    line = sandboxes.bubblewrap_line(workspace, writable)
    at = line.index(str(workspace / ".env"))
    return [*line[: at - 2], *line[at + 1 :]]


def with_changes(workspace: Path, writable: bool) -> list[str]:
    return sandboxes.bubblewrap_line(workspace, True)


def doing(act: str) -> Sandbox:
    """A sandbox that lets one thing through."""

    def leaking(workspace: Path, writable: bool) -> list[str]:
        return [
            "/bin/sh",
            "-c",
            f'{act}; exec "$@"',
            "sh",
            *sandboxes.bubblewrap_line(workspace, False),
        ]

    return leaking


LEAKS = [doing(act) for act in ("chmod 644 a", "touch b", "printf x >> ../outside")]


@BOXES
@pytest.mark.parametrize("kind", [with_network, with_secrets, with_changes, *LEAKS])
def test_a_sandbox_with_one_hole_does_not_hold(kind: Sandbox, workspace: Path) -> None:
    work_in(workspace)
    assert not sandbox.sandbox_holds(kind, "bwrap", False)


@BOXES
def test_a_sandbox_that_may_change_the_workspace_changes_it_and_nothing_outside(
    workspace: Path,
) -> None:
    def leaking(workspace: Path, writable: bool) -> list[str]:
        act = 'printf x >> ../outside; exec "$@"'
        return ["/bin/sh", "-c", act, "sh", *sandboxes.bubblewrap_line(workspace, True)]

    def unchanging(workspace: Path, writable: bool) -> list[str]:
        return sandboxes.bubblewrap_line(workspace, False)

    assert sandbox.sandbox_holds(sandboxes.bubblewrap_line, "bwrap", True)
    assert not sandbox.sandbox_holds(leaking, "sh", True)
    assert not sandbox.sandbox_holds(unchanging, "bwrap", True)


def confine(folder: Path, *line: str) -> list[str]:
    """A line confined to the programs of the system."""
    system = [path for path in sandboxes.SYSTEM if Path(path).exists()]
    spec = {"read": system, "list": [], "devices": [], "folder": str(folder)}
    return [sys.executable, "-I", "-S", landlock.__file__, json.dumps(spec), *line]


@LANDLOCK
def test_a_confined_command_ends_with_whoever_started_it(tmp_path: Path) -> None:
    line = confine(Path("/usr"), "/bin/sleep", "7391")
    start = f"import subprocess; subprocess.Popen({line!r}); input()"
    with subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.PIPE) as starter:
        assert wait_for(lambda: living("/bin/sleep 7391") != [])
        starter.kill()
    assert wait_for(lambda: living("/bin/sleep 7391") == [])


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


@LANDLOCK
def test_a_sandbox_that_does_not_start_says_so_and_runs_nothing(tmp_path: Path) -> None:
    line = confine(tmp_path / "gone", "/bin/echo", "ran")
    done = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (126, "")
    assert "The sandbox does not start: No such file" in done.stderr


@BOXES
def test_only_what_was_switched_on_or_only_reads_is_put_in_a_sandbox(workspace: Path) -> None:
    boxed = {}
    for setting in ("off", "auto", "on"):
        work_in(workspace, f"guard.sandbox={setting}")
        for harmless in (True, False):
            boxed[setting, harmless] = sandbox.sandboxed_line(["ls"], harmless) is not None
    assert [each for each, is_boxed in boxed.items() if is_boxed] == [
        ("auto", True),
        ("on", True),
        ("on", False),
    ]


def test_seatbelt_is_told_what_may_be_read_and_changed(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its profile, as text: the program itself is on macOS alone."""
    assert sandboxes.seatbelt_line(workspace, False) == [] or sys.platform == "darwin"
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "sandbox-exec").write_text("")
    (programs / "sandbox-exec").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    (workspace / ".env").write_text("KEY=x")
    reading = sandboxes.seatbelt_line(workspace, False)[2].splitlines()
    changing = sandboxes.seatbelt_line(workspace, True)[2].splitlines()
    assert f'(deny file-read* (subpath "{workspace}/.env"))' in reading
    assert not [rule for rule in reading if rule.startswith("(allow file-write* ")]
    assert f'(allow file-write* (subpath "{workspace}"))' in changing
    assert {reading[1], reading[-1]} == {"(deny default)", "(deny network*)"}


def test_where_no_sandbox_works_every_line_is_asked(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_sandbox(sandboxes.bubblewrap_line, monkeypatch)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    work_in(workspace, "guard.sandbox=auto")
    access = claimed(TOOLS, "terminal_execute", command="ls")
    asked = Gate(workspace).decide(ApprovalRequest("terminal_execute", Effect.RUN, "", access))
    assert asyncio.run(asked).allowed is False


@pytest.mark.parametrize(
    "line",
    ["[ a ]>/etc/passwd", "[ a ] > ~/.bashrc", "[ -f x ] >> notes.txt", "tac -b x ~/.ssh/id"],
)
def test_a_redirection_behind_a_test_writes(line: str) -> None:
    assert judge(line).verdict != "allow"


@BOXES
def test_in_the_box_there_is_the_workspace_and_no_home_and_no_network(
    workspace: Path, home: Path
) -> None:
    work_in(workspace, "guard.sandbox=on")
    (home / "secret.txt").write_text("canary")
    listening = subprocess.Popen(
        [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert listening.stdout
        port = re.search(r"port (\d+)", listening.stdout.readline())
        assert port
        told = ran(
            f"cat {home}/secret.txt; touch /etc/x; echo made > here; "
            f"echo > /dev/tcp/127.0.0.1/{port[1]}; ls -A {home} /run /tmp"
        )
    finally:
        listening.kill()
        listening.communicate()
    assert told["sandboxed"]
    assert "canary" not in told["output"]
    assert "Read-only file system" in told["output"]
    assert re.search("Connection refused|Network is unreachable", told["output"])
    assert (workspace / "here").read_text() == "made\n"
    assert not Path("/etc/x").exists()


@BOXES
def test_what_nobody_was_asked_about_cannot_even_change_the_workspace(workspace: Path) -> None:
    line = sandboxes.bubblewrap_line(workspace, False)
    done = subprocess.run([*line, "touch", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Read-only file system" in done.stderr


@pytest.mark.slow
@BOXES
@pytest.mark.parametrize("kind", ESCAPES)
def test_a_boxed_command_is_ended_too(kind: str, workspace: Path) -> None:
    work_in(workspace, "guard.sandbox=on")
    number = str(7300 + [*ESCAPES].index(kind))
    result = called({"command": f"echo so far; {ESCAPES[kind].format(n=number)}", "timeout": 0.6})
    assert result.status is Status.TIMED_OUT
    # A shell that outlives its program by a moment says so.
    said = result.content.removesuffix("\nTerminated")
    assert said.endswith("It ran in a sandbox. Its output until then:\nso far")
    assert living(f"sleep {number}") == []


@BOXES
def test_a_boxed_command_has_its_exit_code(workspace: Path) -> None:
    work_in(workspace, "guard.sandbox=on")
    assert ran("exit 7")["exitCode"] == 7


def test_without_bubblewrap_auto_goes_without_and_on_refuses(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_sandbox(sandboxes.bubblewrap_line, monkeypatch)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "ls", "touch"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    work_in(workspace, "guard.sandbox=auto")
    assert ran("ls")["sandboxed"] is False
    work_in(workspace, "guard.sandbox=on")
    result = called({"command": "touch ran"})
    assert (result.ok, result.problem) == (False, sandbox.MISSING)
    assert "apt install bubblewrap" in sandbox.MISSING
    assert not (workspace / "ran").exists()


def test_a_box_that_does_not_work_is_as_none(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_sandbox(sandboxes.bubblewrap_line, monkeypatch)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    work_in(workspace, "guard.sandbox=auto")
    assert ran("ls")["sandboxed"] is False


def test_what_is_asked_shows_the_line_and_whether_there_is_a_box(workspace: Path) -> None:
    line = "rm -rf build && make"
    access = claimed(TOOLS, "terminal_execute", command=line)
    assert (access.command, access.places) == (line, ())
    assert access.shown == "It runs outside a sandbox: it can do all that you can do."
    work_in(workspace, "guard.sandbox=on")
    assert "no network, no home" in claimed(TOOLS, "terminal_execute", command=line).shown


@BOXES
@pytest.mark.parametrize(
    ("line", "allowed"),
    [("ls | wc -l", True), ("make", False), ("cat ../x", False), ("rm -rf ~", False)],
)
def test_B20_the_gate_judges_the_line_itself(line: str, allowed: bool, workspace: Path) -> None:
    work_in(workspace, "guard.sandbox=auto")
    access = claimed(TOOLS, "terminal_execute", command=line)
    verdict = Gate(workspace).decide(ApprovalRequest("terminal_execute", Effect.RUN, "", access))
    assert asyncio.run(verdict).allowed is allowed
