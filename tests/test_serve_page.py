"""The page of `andy serve` in a real browser: what it shows, and what it never runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import ModelServer, streamed
from tests.serve_raw_http import CHAT, Served, served

TOKEN = "sekrit-Token-4711-of-the-server"
HOSTILE = (
    "<img src=x onerror=\"document.title='taken'\">",
    "<script>document.title='taken'</script>",
    "</pre><svg onload=\"document.title='taken'\">",
    "<a href=\"javascript:document.title='taken'\">x</a>",
    "${document.title='taken'}{{7*7}}\u202etxt",
)
CALL = '<tool_call>\n{"name": "play", "arguments": {"File": "a.mp3"}}\n</tool_call>'
PARAMETERS = {
    "type": "object",
    "properties": {"file": {"type": "string", "description": "the file"}},
    "required": ["file"],
}
TOOLS = [{"type": "function", "function": {"name": "play", "parameters": PARAMETERS}}]


class Page(HTMLParser):
    """Text of a page, by the id of the element it stands in, and the elements there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text += data


class Browser:
    """A page in Chromium that can be used, over the pipes of its DevTools protocol."""

    def __init__(self, url: str, profile: Path) -> None:
        self._command = [*chromium(profile), "--remote-debugging-pipe", "about:blank"]
        self._url = url
        self._last = 0
        self._session = ""

    def __enter__(self) -> "Browser":
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        # Chromium reads from 3 and writes to 4.
        words = " ".join(shlex.quote(each) for each in self._command)
        shell = f"exec 3<&{read} 4>&{write}; exec {words}"
        self._process = subprocess.Popen(
            ["bash", "-c", shell], pass_fds=(read, write), stderr=subprocess.DEVNULL
        )
        os.close(read)
        os.close(write)
        self._answers = os.fdopen(self._read, "rb")
        target = self._say("Target.createTarget", url=self._url)["targetId"]
        attached = self._say("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        return self

    def __exit__(self, *_: object) -> None:
        self._session = ""
        self._say("Browser.close")
        self._process.wait(20)
        os.close(self._write)
        self._answers.close()

    def run(self, script: str) -> Any:  # noqa: ANN401
        """The value of an expression in the page."""
        got = self._say("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def until(self, script: str) -> None:
        for _ in range(400):
            # The page may not be there yet.
            if self.run(f"(() => {{ try {{ return {script} }} catch {{ return false }} }})()"):
                return
            time.sleep(0.05)
        raise TimeoutError(script)

    def _say(self, method: str, **parameters: object) -> dict[str, Any]:
        self._last += 1
        said: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            said["sessionId"] = self._session
        os.write(self._write, json.dumps(said).encode() + b"\0")
        while True:
            answer = json.loads(self._answer())
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _answer(self) -> bytes:
        letters = []
        while (letter := self._answers.read(1)) != b"\0":
            assert letter, "the browser has ended"
            letters.append(letter)
        return b"".join(letters)


def shown(url: str, profile: Path, *more: str) -> str:
    """The page as Chromium has made it, as markup."""
    command = [*chromium(profile), "--virtual-time-budget=4000", *more, url]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout


def chromium(profile: Path) -> list[str]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        pytest.skip("needs chromium")
    return [
        program,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
    ]


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Served]:
    """A server that has answered: with a corrected call, and with what is hostile."""
    replies = [CALL, *HOSTILE]
    with (
        ModelServer([streamed(each) for each in replies]) as models,
        served(tmp_path, models.url, "--dialect", "hermes") as server,
    ):
        for each in replies:
            words = [{"role": "user", "content": each}]
            answer = server.chat({**CHAT, "messages": words, "tools": TOOLS})
            assert answer.status == 200, answer.body
        yield server


@pytest.mark.slow
def test_the_page_shows_what_was_written_and_what_was_made_of_it(
    busy: Served, tmp_path: Path
) -> None:
    page = Page(shown(busy.url, tmp_path / "profile", "--dump-dom"))
    assert '{"name": "play", "arguments": {"File": "a.mp3"}}' in page.text
    assert r"{\"file\": \"a.mp3\"}" in page.text
    assert "Corrected" in page.text
    assert "File -> file" in page.text
    assert page.tags.count("details") == 1 + len(HOSTILE)
    assert "100 %" in page.text


@pytest.mark.slow
def test_what_a_model_wrote_is_text_whatever_it_is(busy: Served, tmp_path: Path) -> None:
    markup = shown(busy.url, tmp_path / "profile", "--dump-dom")
    page = Page(markup)
    assert "<title>andy serve</title>" in markup
    for each in HOSTILE:
        assert each.replace("\u202e", r"\u{202e}") in page.text
    assert "\u202e" not in page.text
    assert not {"img", "svg", "a"} & set(page.tags)
    assert page.tags.count("script") == 1


@pytest.mark.slow
def test_the_page_asks_for_a_token_where_there_is_one(tmp_path: Path) -> None:
    with (
        ModelServer([streamed("Hello")]) as models,
        served(tmp_path, models.url, "--token", TOKEN) as server,
    ):
        server.chat(authorization=f"Bearer {TOKEN}")
        markup = shown(server.url, tmp_path / "profile", "--dump-dom")
        with Browser(server.url, tmp_path / "other") as browser:
            browser.until("!document.getElementById('door').hidden")
            browser.run(f"document.getElementById('token').value = '{TOKEN}'")
            browser.run("document.querySelector('#door button').click()")
            browser.until("document.querySelectorAll('details').length === 1")
            assert (
                browser.run("getComputedStyle(document.getElementById('door')).display") == "none"
            )
            assert browser.run("document.cookie + JSON.stringify(localStorage)") == "{}"
    assert re.search(r'<form id="door">', markup)
    assert "Hello" not in markup
    assert TOKEN not in markup


@pytest.mark.slow
def test_a_request_can_be_tried_from_the_page(tmp_path: Path) -> None:
    call = CALL.replace("play", "weather").replace("File", "Place").replace("a.mp3", "Paris")
    with (
        ModelServer([streamed(call)], models=("small",)) as models,
        served(tmp_path, models.url, "--dialect", "hermes") as server,
        Browser(server.url, tmp_path / "profile") as browser,
    ):
        browser.until("document.getElementById('request').value.includes('small')")
        browser.run("document.querySelector('#try button').click()")
        browser.until("document.getElementById('answer').textContent.includes('Paris')")
        browser.until("document.querySelectorAll('details').length === 1")
        answer = json.loads(browser.run("document.getElementById('answer').textContent"))
        said = browser.run("document.getElementById('how').textContent")
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "weather"
    assert said == "200  hermes;repairs=1"


@pytest.mark.slow
def test_the_page_can_be_photographed(busy: Served, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    shown(busy.url, tmp_path / "profile", f"--screenshot={picture}", "--window-size=1000,1200")
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_page_runs_nothing_but_itself(busy: Served) -> None:
    answer = busy.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    text = answer.body.decode()
    assert not re.search(r"\son\w+\s*=|\bstyle=|src=|href=|innerHTML|insertAdjacent|eval\(", text)
    assert "http" not in text.replace("location.origin", "")


@pytest.mark.slow
def test_the_last_calls_come_newest_first_and_are_not_many(tmp_path: Path) -> None:
    with (
        ModelServer([streamed("Hello")]) as models,
        served(tmp_path, models.url, "--dialect", "hermes") as server,
    ):
        for at in range(55):
            server.chat({**CHAT, "messages": [{"role": "user", "content": f"number {at}"}]})
        told = server.get("/calls.json").json
    assert [each["asked"] for each in told["calls"][:2]] == ["number 54", "number 53"]
    assert len(told["calls"]) == 50
    assert told["models"] == [{"model": "m", "answers": 55, "with_calls": 0, "failed": 0}]
    assert json.dumps(told)
    assert not list(tmp_path.rglob("*.json*"))
