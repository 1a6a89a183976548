"""Command lines made at random, and a referee: what bash truly did with one in the sandbox."""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from andy_cli.guard.commands.read_only_commands import SPECIAL, read_only_programs
from andy_cli.toolbox.terminal import running, sandbox

CANARY = "canary-7f3a"
PROGRAMS = [
    *read_only_programs(),
    *SPECIAL,
    "awk",
    "tee",
    "touch",
    "rm",
    "mv",
    "cp",
    "python3",
    "dd",
]
OPTIONS = """
    -a -b -c -d -e -f -h -i -l -n -o -r -s -t -u -v -w -x -z -A -R -S -C -n1 -c5 -rh -la --all
    --lines=3 --bytes=9 -w9 -exec -delete -name --output=x -printf --files0-from=list
""".split()
PATHS = """
    a.txt notes.md sub sub/b.txt .env .ssh/id_rsa key.pem link link/diary.txt link/../diary.txt
    ../outside/diary.txt ../outside ~/.bashrc ~/diary.txt /etc/passwd /proc/self/environ
    /proc/1/environ * l*/diary.txt .e* ./.e?v sub/../.env here/../link/diary.txt {a,b}.txt -
    /dev/stdin $HOME/diary.txt ${IFS} $(cat_link) `ls` "a b" 'x' status log diff --stat
""".split()
SIGNS = ["|", "&&", "||", ";", "&", ">", ">>", "<", "2>&1", "<<<", "\n"]
TESTS = ["[ -f a.txt ]", "[ a ]", "[[ -f a.txt ]]", "test -d sub", "(ls)", "{ ls; }", "! ls", "x=1"]


class Places(NamedTuple):
    """A workspace with secrets and links, beside what lies outside of it."""

    workspace: Path
    outside: Path


def furnish(folder: Path) -> Places:
    """Make the places below a folder."""
    places = Places(folder / "workspace", folder / "outside")
    for each in places:
        each.mkdir(parents=True)
    (places.outside / "diary.txt").write_text(CANARY)
    inside = places.workspace
    (inside / "sub").mkdir()
    (inside / ".ssh").mkdir()
    for name in ("a.txt", "notes.md", "sub/b.txt"):
        (inside / name).write_text("some words\nKEY of the song\n")
    for name in (".env", ".ssh/id_rsa", "key.pem", "sub/credentials.json"):
        (inside / name).write_text(f"KEY={CANARY}\n")
    (inside / "link").symlink_to(places.outside)
    (inside / "here").symlink_to("sub")
    (inside / "list").write_text(str(places.outside / "diary.txt"))
    return places


def lines(seed: int) -> Iterator[str]:
    """Command lines without end, the same for the same seed."""
    draw = random.Random(seed)
    while True:
        parts = [_command(draw)]
        for _ in range(draw.choice([0, 0, 0, 1, 1, 2])):
            sign = draw.choice(SIGNS)
            redirects = sign in (">", ">>", "<", "<<<")
            parts += [sign, draw.choice(PATHS) if redirects else _command(draw)]
        yield draw.choice([" ", " ", ""] if len(parts) > 1 else [" "]).join(parts)


def _command(draw: random.Random) -> str:
    if draw.random() < 0.1:
        return draw.choice(TESTS)
    words = [draw.choice(PROGRAMS)]
    words += draw.choices(OPTIONS, k=draw.choice([0, 0, 1, 1, 2]))
    words += draw.choices(PATHS, k=draw.choice([0, 1, 1, 2]))
    return " ".join(words)


def broken(line: str, places: Places) -> str:
    """Run a line that nobody would be asked about as it would be run; what it did that it must
    not, in words, or nothing."""
    before = _seen(places)
    shell = running._shell_line(line)
    box = sandbox.sandboxed_line(shell, harmless=True)
    if box is None:
        return "it has no sandbox"
    done = subprocess.run(
        box, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    if CANARY.encode() in done.stdout + done.stderr:
        return "it read what it must not"
    return "it changed something" if _seen(places) != before else ""


def _seen(places: Places) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() if path.is_file() else b""
        for folder in places
        for path in sorted(folder.rglob("*"))
    }
