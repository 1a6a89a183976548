"""How long it takes to go on with a session of 100 MB, and to list a thousand."""

import tempfile
import time
from pathlib import Path

from andy_cli.messages import Message
from andy_cli.sessions.log import CARD, VERSION, encode_record, make_record
from tests.benchmarks.measure import ANDY, table, wall
from tests.benchmarks.startup import instant_server

SIZE = 100_000_000
RESULT = "Lines of text as a tool returns them, one after the other. " * 60


def write_session(path: Path, size: int) -> None:
    """A session of turns with one result each; not synced, to be quick."""
    number = 0

    def line(type: str, **fields: object) -> bytes:
        nonlocal number
        number += 1
        return encode_record({"seq": number, "type": type, "time": round(time.time(), 3), **fields})

    with path.open("wb") as file:
        file.write(line(CARD, version=VERSION, folder=str(Path.cwd()), title="Look", pid=1))
        while file.tell() < size:
            for message in (
                Message("user", f"Look at number {number}"),
                Message("assistant", f"It holds {number} lines. {RESULT}"),
            ):
                file.write(line("message", **make_record(message)))
        file.write(line(CARD, version=VERSION, folder=str(Path.cwd()), title="Look", pid=1))


def main() -> None:
    with tempfile.TemporaryDirectory() as home, instant_server(20) as url:
        sessions = Path(home) / ".local" / "state" / "andy" / "sessions"
        sessions.mkdir(parents=True)
        env = {"HOME": home, "TERM": "xterm-256color", "OPENAI_API_KEY": ""}
        run = [ANDY, "run", "--base-url", url, "--model", "m"]
        new = wall([*run, "--no-session", "hi"], env=env)
        write_session(sessions / "20260101-000000-aaaa.jsonl", SIZE)
        resumed = wall([*run, "-c", "hi"], env=env)
        (sessions / "20260101-000000-aaaa.jsonl").unlink()
        short = wall([ANDY, "sessions", "list"], env=env)
        for at in range(1000):
            write_session(sessions / f"20260101-{at:06}-aaaa.jsonl", 20_000)
        listed = wall([ANDY, "sessions", "list"], env=env)
    table(
        "sessions: seconds, median",
        [
            ("andy run -c, 100 MB", f"{resumed:.3f}", f"{new:.3f}  a new one", "(<= 1 s)"),
            ("andy sessions list, 1,000", f"{listed:.3f}", f"{short:.3f}  none", ""),
        ],
    )
