"""The web client against real servers on loopback: what it asks for, and what it makes of answers.

A host of the outside is a name that leads to loopback and that the test trusts, as a user may; or
everything goes through a proxy that answers for the whole world.
"""

import asyncio
import gzip
import random
import re
import ssl
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import reduce
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from andy_cli.errors import ToolError
from andy_cli.guard.addresses import Resolver, judge
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.runtime_context import GrantedPath, granted_path, run_at_most
from andy_cli.toolbox.tool import PROGRESS
from andy_cli.toolbox.web.client import FetchedAnswer, WebRequest, fetch_answer, open_answer
from andy_cli.toolbox.web.files import KeptAnswer, keep_answer, send_body
from andy_cli.toolbox.web.limits import WebLimits, file_limits
from andy_cli.toolbox.web.redirect_policy import look_up_addresses
from andy_cli.toolbox.web.unpacking import CHUNK_SIZE, unpack_pieces
from tests.cases import Row, name, rows
from tests.certificates import secured
from tests.tools import work_in
from tests.web_server import Received, Script, WebServer, endless, head, page, sent_on, stalled

LIMITS = WebLimits(connect=5, idle=5, total=20, body=1_000_000)
SHORT = WebLimits(connect=2, idle=0.2, total=1.0, body=1_000_000)
KEYS = {"authorization": "Bearer abc", "Cookie": "id=1", "X-Api-Key": "abc", "accept": "text/x"}
ROWS = rows("guard/ssrf.jsonl", "guard/own_ssrf.jsonl")


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, home: Path) -> Iterator[Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    work_in(folder)
    yield folder
    runtime_context.leave_context()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """Of every host that the rows name."""
    hosts = {host for row in ROWS for host in row["resolve"] if host.isascii()}
    numbers = {urlsplit(row["url"]).hostname or "" for row in of("allow") if "://[" in row["url"]}
    return secured(tmp_path_factory.mktemp("tls"), sorted(hosts | numbers))


@pytest.fixture
def authority(
    certificate: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> ssl.SSLContext:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    return certificate[0]


def loopback(host: str) -> list[str]:
    return ["127.0.0.1"]


def fetched(
    request: WebRequest | str,
    limits: WebLimits = LIMITS,
    trusted: Iterable[str] = ("r.example", "s.example"),
    resolver: Resolver = loopback,
) -> FetchedAnswer:
    asked = WebRequest(request) if isinstance(request, str) else request
    return asyncio.run(fetch_answer(asked, limits, frozenset(trusted), resolver))


def refused(
    request: WebRequest | str,
    limits: WebLimits = LIMITS,
    trusted: Iterable[str] = ("r.example", "s.example"),
    resolver: Resolver = loopback,
) -> str:
    with pytest.raises(ToolError) as caught:
        fetched(request, limits, trusted, resolver)
    return caught.value.content


class World:
    """All hosts there are, behind a proxy: they answer as a row of the corpus says."""

    def __init__(self, row: Row) -> None:
        self._answers = iter(row["redirect"])
        self._row = row

    def __call__(self, received: Received) -> Iterable[bytes]:
        if self._row["id"] == "U066":
            return page(gzip.compress(bytes(100 << 20), 1), content_encoding="gzip")
        if self._row["cls"] == "size":
            return endless(b"x" * 60_000)
        status, _, rest = next(self._answers, "200 here").partition(" ")
        return page(rest) if status == "200" else sent_on(rest, int(status))

    def resolver(self, host: str) -> list[str]:
        answers = self._row["resolve"].get(host, [])
        return [str(each) for one in answers for each in one]


def through_a_proxy(row: Row, tls: ssl.SSLContext, workspace: Path) -> tuple[str, list[Received]]:
    """What came of a row: the text of an error, or nothing; and what was asked for."""
    world = World(row)
    with WebServer(world, tls) as proxy:
        work_in(workspace, f"web.proxy={proxy.url}")
        request = WebRequest(row["url"], row["method"], KEYS)
        try:
            fetched(request, trusted=(), resolver=world.resolver)
        except ToolError as error:
            return str(error), proxy.requests
    return "", proxy.requests


def of(*verdicts: str) -> list[Row]:
    return [row for row in ROWS if row["expect"] in verdicts]


def test_every_row_is_proved_below() -> None:
    proved = of("allow", "allow_stripped", "error", "block", "ask", "block_or_ask", "ask_or_block")
    assert proved == ROWS
    assert {"U065", "U066"} <= {row["id"] for row in of("error")}


@pytest.mark.parametrize("row", of("allow"), ids=name)
def test_what_is_allowed_is_asked_for_with_its_keys(
    row: Row, authority: ssl.SSLContext, workspace: Path
) -> None:
    error, requests = through_a_proxy(row, authority, workspace)
    assert error == ""
    assert [each.headers["x-api-key"] for each in requests] == ["abc"] * len(requests)
    assert len(requests) == 1 + sum(bool(re.match("3.. .", each)) for each in row["redirect"])


@pytest.mark.parametrize("row", of("allow_stripped"), ids=name)
def test_keys_do_not_go_along_to_another_place(
    row: Row, authority: ssl.SSLContext, workspace: Path
) -> None:
    error, requests = through_a_proxy(row, authority, workspace)
    assert error == ""
    first, *_, last = [each.headers for each in requests]
    assert {"authorization", "cookie", "x-api-key"} <= first.keys()
    assert not {"authorization", "cookie", "x-api-key"} & last.keys()
    assert last["accept"] == "text/x"


def last_host(row: Row) -> str:
    """Where a row leads in the end."""
    urls = [row["url"], *(each.partition(" ")[2] for each in row["redirect"])]
    return urlsplit(reduce(urljoin, urls)).hostname or ""


UNKNOWN = [row for row in of("error") if not row["resolve"].get(last_host(row))]
"""Names that lead nowhere: a proxy may know them all the same."""


@pytest.mark.parametrize("row", UNKNOWN, ids=name)
def test_a_name_that_leads_nowhere_is_an_error(row: Row) -> None:
    def resolver(host: str) -> list[str]:
        return ["127.0.0.1"] if host == "r.example" else []

    url = f"https://{last_host(row)}/"
    with WebServer(lambda received: sent_on(url)) as server:
        assert "to be found" in refused(url, resolver=resolver)
        sent = f"http://r.example:{server.port}/"
        assert "to be found" in refused(sent, resolver=resolver)


@pytest.mark.parametrize("row", [row for row in of("error") if row not in UNKNOWN], ids=name)
def test_what_has_no_end_is_an_error(row: Row, authority: ssl.SSLContext, workspace: Path) -> None:
    error, requests = through_a_proxy(row, authority, workspace)
    assert ("larger than 1 MB" if row["cls"] == "size" else "too many redirects") in error
    assert len(requests) <= 11


@pytest.mark.parametrize("row", of("block"), ids=name)
def test_what_is_blocked_is_never_asked_for(
    row: Row, authority: ssl.SSLContext, workspace: Path
) -> None:
    error, requests = through_a_proxy(row, authority, workspace)
    assert len(requests) == len(row["redirect"])
    # A page that sends on by itself is a page: it is read, and not followed.
    assert error or row["redirect"][0].startswith("200")
    assert "Traceback" not in error


@pytest.mark.parametrize("row", of("ask", "block_or_ask", "ask_or_block"), ids=name)
def test_nobody_is_sent_on_to_what_would_be_asked_about(
    row: Row, authority: ssl.SSLContext, workspace: Path
) -> None:
    sent = {**row, "url": "http://a.example/", "redirect": [f"302 {row['url']}"]}
    sent["resolve"] = {**row["resolve"], "a.example": [["93.184.216.34"]]}
    error, requests = through_a_proxy(sent, authority, workspace)
    assert "which is not followed" in error
    assert len(requests) == 1
    # The gate asks about it, before any name is looked up.
    assert judge(row["url"], "GET", lambda host: ()).verdict in ("ask", "block")


def test_the_connection_goes_to_the_address_that_was_judged(authority: ssl.SSLContext) -> None:
    answers = iter([["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]])
    with WebServer(lambda received: page("here"), authority) as server:
        url = f"https://r.example:{server.port}/"
        assert fetched(url, resolver=lambda host: next(answers)).body == b"here"
        assert (server.requests[0].name, server.requests[0].headers["host"]) == (
            "r.example",
            f"r.example:{server.port}",
        )


def test_the_next_address_is_tried_where_one_refuses() -> None:
    with WebServer(lambda received: page("here")) as server:
        url = f"http://r.example:{server.port}/"
        assert fetched(url, resolver=lambda host: ["127.0.0.9", "127.0.0.1"]).body == b"here"


def test_a_server_must_be_who_it_says(authority: ssl.SSLContext) -> None:
    with WebServer(lambda received: page("here"), authority) as server:
        told = refused(f"https://other.example:{server.port}/", trusted=["other.example"])
        assert told.startswith("other.example cannot prove that it is other.example")
        assert not server.requests


def test_a_certificate_of_nobody_known_is_not_taken(
    certificate: tuple[ssl.SSLContext, Path],
) -> None:
    with WebServer(lambda received: page("here"), certificate[0]) as server:
        assert "cannot prove" in refused(f"https://r.example:{server.port}/")


def test_certificates_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    assert "SSL_CERT_FILE" in refused("https://r.example:1/")


def test_a_server_of_ones_own_is_reached_only_if_it_is_trusted(workspace: Path) -> None:
    with WebServer(lambda received: page("mine")) as server:
        told = refused(server.url, trusted=())
        assert told == (
            f"{server.url} is not fetched: 127.0.0.1 is not on the public net. "
            "A server of one's own can be named: "
            f"`andy config set web.trusted {server.host}`."
        )
        assert server.connections == 0
        work_in(workspace, f"web.trusted=elsewhere, {server.host}")
        assert asyncio.run(fetch_answer(WebRequest(server.url), LIMITS)).body == b"mine"
        work_in(workspace, "web.trusted=127.0.0.1:1")
        assert refused(server.url, trusted=["127.0.0.1:1"])


def test_nobody_out_there_sends_us_to_what_is_trusted(authority: ssl.SSLContext) -> None:
    """A public host is one that the proxy answers for."""
    row = {"id": "own", "cls": "redirect", "method": "GET", "url": "http://r.example/"}
    world = World({**row, "redirect": [], "resolve": {"r.example": [["93.184.216.34"]]}})
    with WebServer(lambda received: page("mine")) as own:
        world = World(
            {**row, "redirect": [f"302 {own.url}"], "resolve": {"r.example": [["93.184.216.34"]]}}
        )
        with WebServer(world) as proxy:
            work_in(Path.cwd(), f"web.proxy={proxy.url}")
            told = refused("http://r.example/", trusted=[own.host], resolver=world.resolver)
    assert "which is not followed" in told
    assert not own.requests


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_post_is_sent_on_only_within_its_place(status: int) -> None:
    def script(received: Received) -> Iterable[bytes]:
        return page("done") if received.url == "/to" else sent_on("/to", status)

    with WebServer(script) as server:
        url = f"http://r.example:{server.port}/from"
        request = WebRequest(url, "POST", {"content-type": "text/x", "x-api-key": "k"}, b"hello")
        assert fetched(request).body == b"done"
        first, last = server.requests
    kept = status in (307, 308)
    assert (first.method, first.body) == ("POST", b"hello")
    assert (last.method, last.body) == (("POST", b"hello") if kept else ("GET", b""))
    assert ("content-type" in last.headers) == kept
    assert last.headers["x-api-key"] == "k"


def test_nothing_is_kept_between_requests() -> None:
    with WebServer(lambda received: page("x", set_cookie="id=1; path=/")) as server:
        url = f"http://r.example:{server.port}/"
        assert [fetched(url).status, fetched(url).status] == [200, 200]
        assert not any("cookie" in each.headers for each in server.requests)
        assert server.connections == 2


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with WebServer(lambda received: page("proxy")) as proxy:
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        with WebServer(lambda received: page("direct")) as server:
            assert fetched(f"http://r.example:{server.port}/").body == b"direct"
        assert not proxy.requests


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"Host": "other.example"}, "Host"),
        ({"Transfer-Encoding": "chunked"}, "Transfer-Encoding"),
        ({"X-One": "a\r\nX-Two: b"}, "X-One"),
        ({"a b": "c"}, "a b"),
        ({"x": "\u2603"}, "x"),
        ({"x": "y" * 9000}, "x"),
        ({"x\x1b[31m": "y"}, "no header"),
    ],
)
def test_a_header_is_one_header(headers: dict[str, str], word: str) -> None:
    told = refused(WebRequest("http://r.example/", headers=headers))
    assert word in told
    assert "\x1b" not in told


def cut_off(received: Received) -> Iterable[bytes]:
    return [head(content_length=100), b"not all"]


def slow(received: Received) -> Iterator[bytes]:
    yield head()
    while not received.closing.wait(0.05):
        yield b"."


FAULTS: list[tuple[str, Script, str]] = [
    ("no answer", lambda received: [], "broke off"),
    ("no HTTP", lambda received: [b"SSH-2.0-x\r\n\r\n"], "does not speak HTTP"),
    ("cut off", cut_off, "broke off"),
    ("silent", lambda received: stalled(received), "said nothing for 0.2 s"),
    ("silent after the head", lambda received: stalled(received, head()), "said nothing for 0.2 s"),
    ("a drop at a time", slow, "took longer than 1 s"),
    ("large", lambda received: [head(content_length=2_000_000)], "larger than 1 MB"),
    ("endless", lambda received: endless(b"x" * 9000), "larger than 1 MB"),
    ("endless head", lambda received: [b"HTTP/1.1 200 K\r\n", *[b"a: b\r\n"] * 90_000], "HTTP"),
    ("odd packing", lambda received: page(b"x", content_encoding="br\x1b[31m"), "not read"),
    ("damaged packing", lambda received: page(b"xxxx", content_encoding="gzip"), "damaged"),
    (
        "cut packing",
        lambda received: page(gzip.compress(random.randbytes(900))[:500], content_encoding="gzip"),
        "cut off",
    ),
    ("sent in a circle", lambda received: sent_on("/"), "too many redirects"),
    ("sent nowhere", lambda received: sent_on("http://["), "not followed"),
    ("sent to a file", lambda received: sent_on("file:///etc/passwd"), "not followed"),
    ("sent down", lambda received: sent_on("http://127.0.0.1:1/\x1b[2J"), "not followed"),
]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param(script, words, id=name, marks=[pytest.mark.slow] * (script is slow))
        for name, script, words in FAULTS
    ],
)
def test_whatever_goes_wrong_is_said_in_words(script: Script, words: str) -> None:
    with WebServer(script) as server:
        told = refused(f"http://r.example:{server.port}/", SHORT)
    assert words in told
    assert told.isprintable()
    assert len(told) < 500


def test_where_nobody_listens_and_what_is_not_there_is_said() -> None:
    assert "nothing listens there" in refused("http://r.example:1/")
    told = refused("https://nowhere.example/", trusted=(), resolver=lambda host: [])
    assert told == "There is no nowhere.example to be found. Check the address and the network."
    assert look_up_addresses("no-such-host.invalid") == []
    assert look_up_addresses("a" * 300) == []


def test_a_look_up_that_hangs_ends() -> None:
    released = threading.Event()
    limits = SHORT._replace(connect=0.1)
    told = refused("http://slow.example/", limits, (), lambda host: [str(released.wait(5))])
    released.set()
    assert told == "No name could be looked up within 0.1 s. Check the network."


def test_work_apart_is_left_to_itself() -> None:
    released = threading.Event()
    with pytest.raises(TimeoutError):
        asyncio.run(run_at_most(0.05, lambda: released.wait(5)))
    released.set()
    assert asyncio.run(run_at_most(5, lambda: 3)) == 3


async def _unpacked(pieces: Iterable[bytes], packing: str) -> list[bytes]:
    async def arriving() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return [piece async for piece in unpack_pieces(arriving(), packing)]


BARE = zlib.compressobj(wbits=-15)
TEXT = b"All the pieces of a text. " * 9000
PACKED = [
    ("gzip", gzip.compress(TEXT), TEXT),
    ("x-gzip", gzip.compress(TEXT) + gzip.compress(b"and more"), TEXT + b"and more"),
    ("gzip", gzip.compress(TEXT) + b"\0\0 junk", TEXT),
    ("deflate", zlib.compress(TEXT), TEXT),
    ("deflate", BARE.compress(TEXT) + BARE.flush(), TEXT),
    ("identity", TEXT, TEXT),
    ("gzip", b"", b""),
    ("gzip", gzip.compress(b""), b""),
]


@pytest.mark.parametrize("length", [1, 2, 7, 1 << 20])
@pytest.mark.parametrize(("packing", "packed", "plain"), PACKED, ids=range(len(PACKED)))
def test_where_a_packed_body_is_cut_never_matters(
    packing: str, packed: bytes, plain: bytes, length: int
) -> None:
    pieces = [packed[at : at + length] for at in range(0, len(packed), length)]
    assert b"".join(asyncio.run(_unpacked(pieces, packing))) == plain


def test_no_piece_of_a_bomb_is_large() -> None:
    pieces = asyncio.run(_unpacked([gzip.compress(bytes(50 << 20))], "gzip"))
    assert max(map(len, pieces)) <= CHUNK_SIZE
    assert sum(map(len, pieces)) == 50 << 20


async def download_file(url: str, granted: GrantedPath) -> KeptAnswer:
    async with open_answer(WebRequest(url), file_limits()) as answer:
        return await keep_answer(answer, granted)


def downloaded(url: str, workspace: Path, to: str) -> tuple[int, list[str]]:
    """The bytes that were kept, and what was shown meanwhile."""
    told: list[str] = []
    PROGRESS.set(told.append)
    kept = asyncio.run(download_file(url, granted_path(to, "write")))
    return kept.bytes, told


@pytest.fixture
def trusting(workspace: Path) -> Callable[..., None]:
    """Trust loopback, with further settings."""

    def work(*overrides: str) -> None:
        work_in(workspace, "web.trusted=127.0.0.1", *overrides)

    return work


def test_a_file_arrives_in_its_place_in_one_step(
    workspace: Path, trusting: Callable[..., None]
) -> None:
    trusting()
    music = random.randbytes(3_500_000)
    (workspace / "song.mp3").write_bytes(b"before")
    (workspace / "song.mp3").chmod(0o600)
    seen: list[list[str]] = []

    def script(received: Received) -> Iterable[bytes]:
        yield head(200, "audio/mpeg", content_length=len(music)) + music[:1000]
        seen.append([each.read_bytes().decode() for each in workspace.glob("song.mp3")])
        yield music[1000:]

    with WebServer(script) as server:
        count, told = downloaded(f"{server.url}/song", workspace, "song.mp3")
    assert seen == [["before"]]
    assert count == len(music)
    assert (workspace / "song.mp3").read_bytes() == music
    assert (workspace / "song.mp3").stat().st_mode & 0o777 == 0o600
    assert told[-1] == "4 of 4 MB"
    assert 3 <= len(told) <= 5


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (cut_off, "broke off"),
        (lambda received: endless(b"x" * 60_000), "larger than 1 MB"),
        (lambda received: [head(content_length=2_000_000)], "larger than 1 MB"),
    ],
)
def test_what_comes_to_nothing_leaves_nothing(
    script: Script, words: str, workspace: Path, trusting: Callable[..., None]
) -> None:
    trusting("web.largest_file=1")
    (workspace / "file").write_text("before")
    with WebServer(script) as server, pytest.raises(ToolError, match=words):
        downloaded(server.url, workspace, "file")
    assert [each.name for each in workspace.iterdir()] == ["file"]
    assert (workspace / "file").read_text() == "before"


def test_a_link_that_comes_in_the_way_is_not_followed(
    workspace: Path, trusting: Callable[..., None]
) -> None:
    trusting()
    outside = workspace.parent / "outside"
    outside.write_text("untouched")

    def script(received: Received) -> Iterable[bytes]:
        (workspace / "file").symlink_to(outside)
        yield from page("new")

    with WebServer(script) as server, pytest.raises(ToolError, match="no plain file"):
        downloaded(server.url, workspace, "file")
    assert outside.read_text() == "untouched"


def test_who_stops_a_download_leaves_nothing(
    workspace: Path, trusting: Callable[..., None]
) -> None:
    trusting()
    to = granted_path("file", "write")

    async def stopped(url: str) -> None:
        task = asyncio.create_task(download_file(url, to))
        while not list(workspace.glob(".file.*.new")):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with WebServer(lambda received: stalled(received, head(), b"some")) as server:
        asyncio.run(stopped(server.url))
    assert not list(workspace.iterdir())


def test_a_file_is_sent_as_it_is_read(workspace: Path, trusting: Callable[..., None]) -> None:
    trusting()
    content = random.randbytes(2_500_000)
    (workspace / "file").write_bytes(content)
    told: list[str] = []
    PROGRESS.set(told.append)
    with (
        WebServer(lambda received: page("thanks", status=201)) as server,
        (workspace / "file").open("rb") as file,
    ):
        answer = asyncio.run(send_body(f"{server.url}/x", "PUT", file))
    (request,) = server.requests
    assert (answer.status, answer.body) == (201, b"thanks")
    assert (request.method, request.body) == ("PUT", content)
    assert "transfer-encoding" not in request.headers
    assert told[-1] == "2 of 2 MB"


def test_an_address_is_asked_for_as_it_was_written() -> None:
    with WebServer(lambda received: page("")) as server:
        fetched(f"http://R.Example:{server.port}/a%20b/\u00fc?q=x y&z=%2F#part")
        assert server.requests[0].url == "/a%20b/%C3%BC?q=x%20y&z=%2F"
        assert server.requests[0].headers["host"] == f"r.example:{server.port}"


def test_a_request_can_be_stopped_in_the_middle() -> None:
    async def stopped(url: str, server: WebServer) -> None:
        task = asyncio.create_task(fetch_answer(WebRequest(url), LIMITS, {"r.example"}, loopback))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with WebServer(lambda received: stalled(received, head())) as server:
        asyncio.run(stopped(f"http://r.example:{server.port}/", server))
