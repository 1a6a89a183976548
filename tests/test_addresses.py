"""Which addresses may be fetched, by every answer of names and servers."""

import ipaddress
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.url import PART
from andy_cli.guard.addresses import (
    AddressJudgement,
    advise_opening,
    is_loopback,
    is_public,
    judge,
    judge_redirect,
    judge_redirects,
)
from andy_cli.settings import save
from tests.cases import Row, loop_over, name, rows

ROWS = rows("guard/ssrf.jsonl", "guard/own_ssrf.jsonl")
JUDGED = [row for row in ROWS if row["cls"] != "size"]  # a limit of whoever reads the body
LOOSENESS = ["block", "error", "ask", "allow_stripped", "allow"]
PUBLIC = "93.184.216.34"


def public(_: str) -> list[str]:
    return [PUBLIC]


@loop_over("row", JUDGED, ids=name)
def test_each_row_gets_its_verdict(row: Row) -> None:
    assert PART.answer(row, ChunkCut())["verdict"] in row["expect"].split("_or_")


@loop_over("row", [row for row in JUDGED if row["expect"] == "block"], ids=name)
@loop_over("before", ["https://r.example/", "http://r.example/"])
def test_a_redirect_to_what_is_blocked_is_blocked(row: Row, before: str) -> None:
    answers = {**row["resolve"], "r.example": [[PUBLIC]]}
    # What is less than an address is read from where it stands.
    if re.match(r"https?://[^/?#]", row["url"]) and row["method"] == "GET":
        sent = {"url": before, "resolve": answers, "redirect": [f"302 {row['url']}"]}
        sent["redirect"] += row["redirect"]
        assert PART.answer(sent, ChunkCut())["verdict"] != "allow"


def test_what_was_checked_is_what_is_used() -> None:
    judged = judge("https://a.example/x", "GET", public)
    assert (judged.verdict, judged.pinned) == ("allow", (PUBLIC,))
    assert judge("https://8.8.8.8/", "GET", public).pinned == ("8.8.8.8",)


def test_a_name_that_changes_its_answer_is_seen() -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    assert judge("https://a.example/", "GET", lambda _: next(answers)).verdict == "block"


def test_the_settings_may_open_a_place_of_their_own() -> None:
    for trusted in (["127.0.0.1"], ["127.0.0.1:8888"]):
        opened = judge("http://127.0.0.1:8888/", "GET", public, trusted)
        assert (opened.verdict, opened.pinned) == ("allow", ("127.0.0.1",))
    assert judge("http://127.0.0.1:8889/", "GET", public, ["127.0.0.1:8888"]).verdict == "block"
    named = judge("http://localhost:8888/", "GET", lambda _: ["127.0.0.1"], ["localhost"])
    assert (named.verdict, named.pinned) == ("allow", ("127.0.0.1",))


def test_keys_stay_behind_for_the_rest_of_the_way() -> None:
    sent = ["302 https://b.example/", "302 https://b.example/2", "200 here"]
    assert judge_redirects("GET", "https://a.example/", sent, public).verdict == "allow_stripped"


def test_an_odd_redirect_is_blocked() -> None:
    before = judge("https://a.example/", "GET", public)
    assert judge_redirect(before, 302, "http://[", public).verdict == "block"


def test_how_often_one_is_sent_on_is_counted() -> None:
    judged = judge("https://a.example/", "GET", public)
    for _ in range(10):
        judged = judge_redirect(judged, 302, "/again", public)
    assert (judged.verdict, judged.hops) == ("allow", 10)
    assert judge_redirect(judged, 302, "/again", public).verdict == "error"


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "{:#x}", "0{:o}"]))
def test_no_spelling_of_an_address_gets_through(number: int, spelling: str) -> None:
    judged = judge(f"http://{spelling.format(number)}/", "GET", public)
    assert judged.verdict == "block"


@given(st.integers(0, 2**32 - 1))
def test_an_address_inside_another_counts(number: int) -> None:
    inner = ipaddress.IPv4Address(number)
    for net, shift in (("::ffff:0:0", 0), ("64:ff9b::", 0), ("2002::", 80)):
        outer = ipaddress.IPv6Address(int(ipaddress.IPv6Address(net)) + (number << shift))
        assert is_public(str(outer)) == is_public(str(inner))


@given(st.text() | st.text(alphabet="htps:/@[]%.0x17f\u24601\u3002\t \\#?-").map("http://".__add__))
def test_nothing_is_raised_and_only_public_addresses_are_pinned(url: str) -> None:
    judged = judge(url, "GET", lambda host: ["127.0.0.1"])
    assert judged.verdict in ("block", "ask", "error", "allow")
    assert all(map(is_public, judged.pinned))


@given(st.text(), st.integers(100, 599))
def test_no_redirect_raises(location: str, status: int) -> None:
    before = judge("https://a.example/", "POST", public)
    assert judge_redirect(before, status, location, public).verdict in LOOSENESS


def test_debug_url_says_what_does_not_fit() -> None:
    with pytest.raises(TypeError, match="resolve"):
        PART.answer({"url": "https://a.example", "resolve": []}, ChunkCut())
    flat = {"url": "https://a.example", "resolve": {"a.example": [PUBLIC]}}
    assert PART.answer(flat, ChunkCut())["verdict"] == "allow"


def test_an_origin_is_scheme_host_and_port() -> None:
    assert AddressJudgement("allow", "", url="HTTPS://A/", host="a", port=443).origin == (
        "https",
        "a",
        443,
    )


def test_a_name_that_cannot_be_read_is_asked() -> None:
    assert judge("http://xn--99999999999.example/", "GET", public).verdict in ("ask", "block")


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "0:0:0:0:0:0:0:1", "::1%lo"]
)
def test_this_machine_is_known_by_name_and_address(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "0.0.0.0",
        "::",
        "10.0.0.1",
        "127.0.0.256",
        "127.0.0.08",
        "127.1",
        "127.0.0.1.example.org",
    ],
)
def test_an_odd_host_is_not_this_machine(host: str) -> None:
    assert not is_loopback(host)


def test_the_advice_to_name_a_server_keeps_those_that_are_named(home: Path) -> None:
    judged = judge("http://127.0.0.1:81/", "GET", lambda host: ("127.0.0.1",))
    assert "`andy config set web.trusted 127.0.0.1:81`" in advise_opening(judged)
    for url, host in (
        ("http://localhost:3000/", "localhost:3000"),
        ("https://printer.local/x", "printer.local:443"),
        ("http://[fe80::1%25eth0]/", ""),
    ):
        refused = judge(url, "GET", lambda host: ())
        command = f"`andy config set web.trusted {host}`"
        assert advise_opening(refused) == (
            f"A server of one's own can be named: {command}." if host else ""
        )
    save("web.trusted", "nas, 10.0.0.1:80")
    told = advise_opening(judged)
    assert "`andy config set web.trusted 'nas, 10.0.0.1:80, 127.0.0.1:81'`" in told
