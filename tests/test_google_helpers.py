"""What the tools of Google are made of, where it needs neither Google nor a login."""

import base64
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.html import html_to_text
from andy_cli.toolbox.google import times
from andy_cli.toolbox.google.contents import message_text, pages
from andy_cli.toolbox.google.contents.cells import rows_of, show_rows
from andy_cli.toolbox.google.contents.document_text import render_document
from andy_cli.toolbox.google.contents.file_text import FilePage, is_text
from andy_cli.toolbox.google.contents.mail_draft import as_message, draft_mail, parse_receivers
from andy_cli.toolbox.google.drive import as_query
from andy_cli.toolbox.google.http.refusals import explain_refusal, parse_retry_after, read_refusal
from andy_cli.toolbox.google.ids import calendar_id, event_id, file_id
from andy_cli.toolbox.google.login import scopes
from tests.cases import loop_over


@pytest.mark.parametrize(
    ("written", "id"),
    [
        ("1a_B-c", "1a_B-c"),
        (" '1a' ", "1a"),
        ("https://docs.google.com/document/d/1a_B-c/edit?usp=sharing", "1a_B-c"),
        ("https://docs.google.com/spreadsheets/d/1a/edit#gid=0", "1a"),
        ("https://drive.google.com/file/d/1a/view", "1a"),
        ("https://drive.google.com/drive/u/0/folders/1a?resourcekey=x", "1a"),
        ("https://drive.google.com/open?id=1a", "1a"),
        ("https://drive.google.com/uc?export=download&id=1a", "1a"),
        ("docs.google.com/presentation/d/1a/edit", "1a"),
        ("<https://docs.google.com/document/d/1a>", "1a"),
    ],
)
def test_a_file_is_known_by_its_id_and_by_every_link_to_it(written: str, id: str) -> None:
    assert file_id(written, "a file") == id


@pytest.mark.parametrize(
    "written",
    [
        "https://evil.example/d/1a",
        "https://docs.google.com.evil.example/document/d/1a",
        "https://evil.example/docs.google.com/d/1a",
        "https://docs.google.com/document",
        "https://docs.google.com@evil.example/d/1a",
        "https://[/d/1a",
        "a/../b",
        "",
    ],
)
def test_a_link_to_elsewhere_is_no_file(written: str) -> None:
    with pytest.raises(ToolError):
        file_id(written, "a file")


def test_the_link_of_an_event_names_its_calendar() -> None:
    # "abc123 ada@example.org" and "abc123 ada@m", as Google shortens its own domains.
    long = "https://www.google.com/calendar/event?eid=YWJjMTIzIGFkYUBleGFtcGxlLm9yZw"
    short = "https://calendar.google.com/calendar/u/0/r/eventedit/YWJjMTIzIGFkYUBt"
    assert event_id(long) == ("abc123", "ada@example.org")
    assert event_id(short) == ("abc123", "ada@gmail.com")
    assert event_id("abc123_20300301T090000Z") == ("abc123_20300301T090000Z", "")


def test_calendars_are_named_by_addresses() -> None:
    assert calendar_id("") == "primary"
    assert calendar_id("team@group.calendar.google.com") == "team@group.calendar.google.com"
    assert calendar_id("https://calendar.google.com/calendar/embed?src=a%40b.org") == "a@b.org"


@pytest.mark.parametrize(
    ("written", "addresses"),
    [
        ("a@x.org", ["a@x.org"]),
        ("a@x.org, b@x.org; c@x.org\nd@x.org", ["a@x.org", "b@x.org", "c@x.org", "d@x.org"]),
        ('"Finch, Ada" <a@x.org>, Bob <b@x.org>', ["a@x.org", "b@x.org"]),
        (["a@x.org", "b@x.org, A@X.ORG"], ["a@x.org", "b@x.org"]),
        ("mailto:a@x.org", ["a@x.org"]),
        ("o'neil+tag@sub.example.co.uk", ["o'neil+tag@sub.example.co.uk"]),
        ("a@bücher.de", ["a@xn--bcher-kva.de"]),
    ],
    ids=str,
)
def test_receivers_are_found_however_they_are_listed(
    written: str | list[str], addresses: list[str]
) -> None:
    assert [each.address for each in parse_receivers(written)] == addresses


@pytest.mark.parametrize(
    "written",
    [
        "bob",
        "a@b",
        "a b@x.org",
        "a@x.org b@x.org",
        "Ada <a@x.org> Bob <b@x.org>",
        "a..b@x.org",
        ".a@x.org",
        "a@x..org",
        "ä@x.org",
        "a@[127.0.0.1]",
        "a@x.org\u202e",
        "a\x00@x.org",
        "Ada\x1b[2J <a@x.org>",
        "friends:;",
        "x" * 65 + "@x.org",
        "a@" + "x" * 300 + ".org",
    ],
    ids=ascii,
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ToolError, match=r"mail address|that no name has"):
        parse_receivers(written)


@given(st.text(max_size=60), st.text(st.characters(codec="utf-8"), max_size=60))
def test_no_text_becomes_a_header(subject: str, body: str) -> None:
    from email import message_from_bytes
    from email.policy import default

    try:
        mail = draft_mail(
            "Ada <a@x.org>", subject + "\r\nBcc: eve@x.org", body + "\r\n\r\nBcc: x@y.org"
        )
    except ToolError:
        return  # half a character
    read = message_from_bytes(as_message(mail, "me@x.org"), policy=default)
    names = {"from", "to", "subject", "content-type", "content-transfer-encoding", "mime-version"}
    assert {name.lower() for name, _ in read.items()} == names
    assert str(read["to"]) == "Ada <a@x.org>"


NOW = date.today()


@pytest.mark.parametrize(
    ("written", "api"),
    [
        ("2026-03-01", {"date": "2026-03-01"}),
        ("20260301", {"date": "2026-03-01"}),
        ("2026-03-01T15:00", {"dateTime": "2026-03-01T15:00:00+01:00"}),
        ("2026-07-01 15:00:30", {"dateTime": "2026-07-01T15:00:30+02:00"}),
        ("2026-03-01T14:00Z", {"dateTime": "2026-03-01T14:00:00+00:00"}),
        ("2026-03-01T14:00:00.000-05:00", {"dateTime": "2026-03-01T14:00:00-05:00"}),
        (
            "2026-03-01 15:00 Asia/Tokyo",
            {"dateTime": "2026-03-01T15:00:00+09:00", "timeZone": "Asia/Tokyo"},
        ),
        (
            "2026-03-01T15:00[America/New_York]",
            {"dateTime": "2026-03-01T15:00:00-05:00", "timeZone": "America/New_York"},
        ),
        ("2026-03-01 15:00 UTC", {"dateTime": "2026-03-01T15:00:00+00:00", "timeZone": "UTC"}),
    ],
)
def test_B25_times_are_taken_in_every_usual_form(
    berlin: None, written: str, api: dict[str, str]
) -> None:
    assert times.parse_moment(written, "start").for_api() == api


def test_B25_days_are_taken_as_words() -> None:
    tomorrow = (datetime.now().date() + timedelta(1)).isoformat()
    assert times.parse_moment("tomorrow", "start").for_api() == {"date": tomorrow}
    at = times.parse_moment("Tomorrow at 9:30", "start").at
    assert at is not None
    assert at.isoformat().startswith(f"{tomorrow}T09:30:00")
    assert times.parse_moment("now", "start").at is not None


@pytest.mark.parametrize("zone", ["", " Europe/Berlin"])
def test_a_time_that_clocks_skip_or_show_twice_is_asked_about(zone: str, berlin: None) -> None:
    with pytest.raises(ToolError, match="No clock shows 02:30 of 2026-03-29"):
        times.parse_moment(f"2026-03-29T02:30{zone}", "start")
    with pytest.raises(ToolError, match="is there twice") as refused:
        times.parse_span(f"2026-10-25 01:00{zone}", "02:30")
    for offset, utc in (("+0100", "01:30"), ("+0200", "00:30")):
        written = f"2026-10-25T02:30{offset}"
        assert written in refused.value.advice
        at = times.parse_moment(written, "start").at
        assert at is not None
        assert f"{at.astimezone(UTC):%H:%M}" == utc
    for hour in ("01:59", "03:00"):
        assert times.parse_moment(f"2026-03-29T{hour}{zone}", "start").at is not None
    for written in ("2026-03-29T02:30", "2026-10-25T02:30"):  # what is looked at may be doubtful
        assert times.parse_bound(f"{written}{zone}", "timeMin").startswith(written[:11])


@pytest.mark.parametrize(
    "written",
    [
        "",
        "next week",
        "2026-02-30",
        "2026-13-01",
        "2026-03-01T25:00",
        "2026-03-01T15:00 Nowhere/City",
        "2026-03-01T15:00 ../../etc/passwd",
        "15:00",
        "\x1b[2J",
        "9" * 5000,
    ],
    ids=ascii,
)
def test_B25_a_time_that_is_none_is_explained(written: str) -> None:
    with pytest.raises(ToolError, match="no day or time for the start") as error:
        times.parse_moment(written, "start")
    assert str(error.value).isprintable()


def test_B25_a_bound_is_a_time_with_a_zone(berlin: None) -> None:
    assert times.parse_bound("2026-03-01", "timeMin") == "2026-03-01T00:00:00+01:00"
    assert times.parse_bound("2026-03-28", "timeMax", is_end=True) == "2026-03-29T00:00:00+01:00"
    assert times.parse_bound("2026-03-29", "timeMax", is_end=True) == "2026-03-30T00:00:00+02:00"
    with pytest.raises(ToolError, match="too far away"):
        times.parse_bound("9999-12-31", "timeMax", is_end=True)


def test_B25_a_stretch_of_time_is_said_as_people_do() -> None:
    said = [
        times.parse_span("2026-03-01", "2026-03-01").show_span(),
        times.parse_span("2026-03-01", "2026-03-04").show_span(),
        times.parse_span("2026-03-01 15:00 UTC", "16:30 UTC").show_span(),
        times.parse_span("2026-03-01T15:00Z", "2026-03-02T01:00Z").show_span(),
    ]
    assert said == [
        "Sun 1 Mar 2026, all day",
        "Sun 1 Mar 2026 to Tue 3 Mar 2026, all day",
        "Sun 1 Mar 2026, 15:00 UTC to 16:30",
        "Sun 1 Mar 2026, 15:00 +0000 to Mon 2 Mar 2026, 01:00 +0000",
    ]


@pytest.mark.parametrize(
    ("start", "end", "hours", "said"),
    [
        ("2026-03-02 15:00 Asia/Tokyo", "16:00", 1, "15:00 Asia/Tokyo to 16:00"),
        ("2026-03-02 15:00 Asia/Tokyo", "2026-03-02T16:00", 1, "15:00 Asia/Tokyo to 16:00"),
        ("2026-03-02T15:00Z", "2026-03-02T16:00", 1, "15:00 +0000 to 16:00"),
        ("2026-03-02T15:00+01:00", "2026-03-02T16:00Z", 2, "Mon 2 Mar 2026, 16:00 +0000"),
        ("2026-03-28T15:00", "2026-03-29T15:00", 23, "Sun 29 Mar 2026, 15:00 +0200"),
    ],
)
def test_B25_an_end_without_a_zone_is_in_that_of_its_start_and_another_one_is_said(
    berlin: None, start: str, end: str, hours: int, said: str
) -> None:
    span = times.parse_span(start, end)
    assert span.start.at is not None
    assert span.end.at is not None
    assert span.end.at.astimezone(UTC) - span.start.at.astimezone(UTC) == timedelta(hours=hours)
    assert span.show_span().endswith(said)


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("2026-03-02T09:00:00-05:00", "2026-03-02T10:00:00-05:00", "15:00 +0100 to 16:00"),
        ("2026-03-02T20:00:00-05:00", "2026-03-02T21:00:00-05:00", "Tue 3 Mar 2026, 02:00 +0100"),
        ("2026-03-02T15:00:00Z", "2026-03-02T15:00:00Z", "16:00 +0100 to 16:00"),
        ("2026-03-02", "2026-03-03", "Mon 2 Mar 2026, all day"),
        ("2026-03-02", "2026-03-04", "Mon 2 Mar 2026 to Tue 3 Mar 2026, all day"),
    ],
)
def test_B25_an_event_is_told_with_its_last_day_and_in_the_users_zone(
    berlin: None, start: str, end: str, said: str
) -> None:
    assert said in times.show_here(start, end)
    assert times.show_here("soon", end) == times.show_here(start, "") == ""


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b", "a\n\nb"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<b>a</b> &amp; &lt;b&gt;&nbsp;c", "a & <b> c"),
        ("<style>x{}</style><script>if (a<b) {}</script>a<!-- b -->c", "ac"),
        ("<ul><li>one<li>two</ul>", "- one\n- two"),
        ("<a href='https://x.org/?a=1&amp;b=2'>here</a>", "here (https://x.org/?a=1&b=2)"),
        ("<a href=https://x.org>https://x.org</a>", "https://x.org"),
        ("<a href='javascript:x()'>here</a>", "here"),
        ("<img alt='a cat' src=x> 1 < 2 & 3 > 2", "[a cat] 1 < 2 & 3 > 2"),
        ("<td>a<td>b</tr>", "a b"),
        ("a <b", "a"),
        ("<title>x</title><textarea><p>no</textarea>yes", "yes"),
        ("", ""),
    ],
)
def test_html_is_read_as_a_reader_sees_it(html: str, text: str) -> None:
    assert html_to_text(html, message_text.MAIL_STYLE)[1] == text


@given(
    st.lists(st.sampled_from(["<", ">", "<a href='", "<!--", "-->", "&#", "<script>", "</", "x"]))
)
def test_no_html_is_too_broken_to_be_read(pieces: list[str]) -> None:
    page = "".join(pieces)
    assert len(html_to_text(page, message_text.MAIL_STYLE)[1]) <= len(page)


def text_part(kind: str, text: str, name: str = "") -> dict[str, object]:
    data = base64.urlsafe_b64encode(text.encode()).decode()
    return {"mimeType": f"text/{kind}", "filename": name, "body": {"data": data}}


HTML, PLAIN = text_part("html", "<p>All of it"), text_part("plain", "In short")


@pytest.mark.parametrize(
    ("kind", "parts", "texts"),
    [
        ("alternative", [PLAIN, HTML], ["In short"]),
        ("alternative", [text_part("plain", " \r\n"), HTML], ["All of it"]),
        ("alternative", [PLAIN, {"mimeType": "multipart/mixed", "parts": [HTML]}], ["In short"]),
        ("mixed", [PLAIN, text_part("plain", "log", "a.log"), PLAIN], ["In short", "In short"]),
        ("mixed", [HTML, text_part("plain", "the list")], ["All of it", "the list"]),
        ("related", [{"mimeType": "multipart/alternative", "parts": [HTML]}], ["All of it"]),
    ],
)
def test_B23_of_a_mail_every_text_is_read_and_of_alternatives_one(
    kind: str, parts: list[object], texts: list[str]
) -> None:
    bodies = message_text.list_bodies(
        {"payload": {"mimeType": f"multipart/{kind}", "parts": parts}}
    )
    assert [message_text.read_body(body, body.data).strip() for body in bodies] == texts


def test_a_message_is_read_whatever_is_missing_in_it() -> None:
    odd: list[Any] = [{}, {"payload": 5}, {"payload": {"headers": {}, "parts": "x", "body": []}}]
    for message in odd:
        assert message_text.message_headers(message) == {}
        assert message_text.list_bodies(message) == []
        assert message_text.list_attachments(message) == []
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"parts": [deep]}
    assert message_text.list_bodies({"payload": deep}) == []


def test_a_document_is_read_whatever_is_missing_in_it() -> None:
    deep: dict[str, Any] = {"content": []}
    for _ in range(500):
        cell = {"tableCells": [deep]}
        deep = {"content": [{"table": {"tableRows": [cell]}}]}
    odd: list[Any] = [{}, {"body": 5}, {"tabs": [{}, 5]}, {"body": {"content": [{}, 5, "x"]}}]
    for document in odd:
        assert render_document(document).strip("=\n ") == ""
    assert len(render_document({"body": deep})) < 500


@given(st.text(max_size=300), st.integers(0, 320), st.lists(st.integers(1, 50), max_size=8))
def test_a_page_of_a_file_does_not_depend_on_how_it_comes_in(
    text: str, offset: int, cuts: list[int]
) -> None:
    data = text.encode("utf-8", "replace")
    whole = data.decode().removeprefix("\ufeff")
    taking = FilePage(offset, surely_text=True)
    for cut in cuts:
        taking.feed(data[:cut])
        data = data[cut:]
    taking.feed(data)
    taking.finish()
    if "\0" not in whole and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert (taking.text, taking.more) == (whole[offset:], False)


@pytest.mark.parametrize(
    ("data", "sure", "text"),
    [
        (b"", False, ""),
        (b"plain", False, "plain"),
        ("\ufeffwith a mark".encode(), False, "with a mark"),
        ("zwei Bytes".encode("utf-16"), False, "zwei Bytes"),
        ("grüße".encode("latin-1"), True, "grüße"),
        ("grüße".encode("latin-1"), False, None),
        (b"%PDF-\0", True, None),
        (b"\x89PNG\r\n\x1a\n", False, None),
        (b"x" * 4095 + "ü".encode(), False, "x" * 4095 + "ü"),
    ],
    ids=lambda each: str(each)[:20],
)
def test_what_is_a_text_is_seen_from_its_beginning(
    data: bytes, sure: bool, text: str | None
) -> None:
    taking = FilePage(0, sure)
    taking.feed(data)
    taking.finish()
    assert (None if taking.binary else taking.text) == text


def test_media_types_of_texts_are_known() -> None:
    texts = ["text/plain", "text/csv; charset=utf-8", "application/json", "image/svg+xml"]
    assert all(map(is_text, texts))
    assert not any(map(is_text, ["application/pdf", "image/png", "application/octet-stream", ""]))


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("plan", "(name contains 'plan' or fullText contains 'plan') and trashed = false"),
        (
            "it's a\\b",
            "(name contains 'it\\'s a\\\\b' or fullText contains 'it\\'s a\\\\b') "
            "and trashed = false",
        ),
        (
            "' or trashed = true or name contains '",
            "(name contains '\\' or trashed = true or name contains \\'' or "
            "fullText contains '\\' or trashed = true or name contains \\'') and trashed = false",
        ),
        ("name contains 'x'", "(name contains 'x') and trashed = false"),
        (
            "mimeType='a/b' and starred = true",
            "(mimeType='a/b' and starred = true) and trashed = false",
        ),
        ("not name contains 'x'", "(not name contains 'x') and trashed = false"),
        ("'root' in parents", "('root' in parents) and trashed = false"),
        ("trashed = true", "trashed = true"),
        (
            "name of the rose",
            "(name contains 'name of the rose' or fullText contains 'name of the rose') "
            "and trashed = false",
        ),
    ],
)
def test_B24_words_become_a_query_and_a_query_stays_one(written: str, query: str) -> None:
    assert as_query(written) == query


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ([["a", 1], [None, True]], [["a", 1], [None, True]]),
        (["a", 1], [["a", 1]]),
        ([["a"], "b"], [["a"], ["b"]]),
        ('[["a", 1]]', [["a", 1]]),
        ('["a"]', [["a"]]),
        ("a,b\nc", [["a", "b"], ["c"]]),
        ('"a,b", =SUM(A1:A2)', [["a,b", "=SUM(A1:A2)"]]),
        ("=SUM(A1,B1)", [["=SUM(A1,B1)"]]),
        ('a, =IF(A1="x",MAX(1,2),3), b', [["a", '=IF(A1="x",MAX(1,2),3)', "b"]]),
        ("=A1,=B1", [["=A1", "=B1"]]),
        ('=CONCAT(A1, ", ", B1), b', [['=CONCAT(A1, ", ", B1)', "b"]]),
        ('"a,=b(c",d\n=F("(",1),2', [["a,=b(c", "d"], ['=F("(",1)', "2"]]),
        ('"=SUM(A1,B1)",2', [["=SUM(A1,B1)", "2"]]),
        ("=SUM(A1,\nb", [["=SUM(A1,"], ["b"]]),
    ],
    ids=str,
)
def test_B27_rows_are_taken_in_every_usual_form(written: object, rows: list[list[object]]) -> None:
    assert rows_of(written) == rows


def test_B27_rows_are_shown_cell_by_cell_before_a_yes() -> None:
    rows = rows_of([["a", 1, True], ["a | b", "c\nd", None], ["", " x", "O'Neil"]])
    assert show_rows(rows) == 'a | 1 | true\n"a | b" | "c\\nd" | (as it is)\n"" | " x" | O\'Neil'


@pytest.mark.parametrize(
    "written",
    [[], "", None, 5, "[[1]", {"a": 1}, [[{"a": 1}]], [["x" * 50_001]], [[1]] * 50_001, "[" * 9999],
    ids=lambda each: str(each)[:20],
)
def test_B27_what_are_no_rows_is_explained(written: object) -> None:
    with pytest.raises(ToolError):
        rows_of(written)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("5", 5.0), (" 0 ", 0.0), ("", None), ("soon", None), ("-1", None), ("9" * 99, None)],
)
def test_how_long_to_wait_is_a_number(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header) == seconds


def test_how_long_to_wait_may_be_a_date() -> None:
    from email.utils import format_datetime

    soon = parse_retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=90)))
    assert soon is not None
    assert 60 < soon < 91
    assert parse_retry_after("Mon, 01 Jan 2001 00:00:00 GMT") == 0


@loop_over(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"error": null}',
        b'{"error": {"errors": 5, "details": {"a": 1}, "message": 5, "status": []}}',
        b'{"error": {"errors": [5, null, {"reason": {}}]}}',
        b'{"error": "x", "error_description": ["y"]}',
        b"[" * 60_000,
    ],
    ids=lambda each: str(each[:30]),
)
@loop_over("status", [400, 401, 403, 404, 408, 410, 429, 500, 302, 599, 418])
def test_every_refusal_has_a_sentence(status: int, body: bytes) -> None:
    refusal = read_refusal(status, {}, body)
    for change in (False, True):
        said = explain_refusal(refusal, "Gmail", "There is no such mail.", change)
        assert said.endswith(".")
        assert said.isprintable()


def test_a_login_may_be_for_parts_and_for_reading_alone() -> None:
    everything = scopes.requested_scopes("")
    assert scopes.in_words(everything) == list(scopes.PARTS)
    some = scopes.requested_scopes("mail:read, tasks docs:change")
    assert scopes.in_words(some) == ["mail:read", "docs", "tasks"]
    assert scopes.in_words(scopes.requested_scopes("drive:read")) == [
        "drive:read",
        "docs:read",
        "sheets:read",
    ]
    assert scopes.in_words(scopes.requested_scopes("drive")) == ["drive", "docs", "sheets"]
    assert scopes.in_words([]) == []


def test_every_scope_is_one_that_the_apis_take() -> None:
    from tests.google.discovery import methods

    taken = {scope for method in methods() for scope in method.about.get("scopes", ())}
    asked = {
        scopes.ADDRESS + each for part in scopes.PARTS.values() for each in part.read + part.change
    }
    assert asked <= taken


OPERATIONS = {
    "gmail.readonly": ["gmail.users.messages.list", "gmail.users.messages.get"],
    "gmail.send": ["gmail.users.messages.send"],
    "drive.readonly": ["drive.files.list", "drive.files.get", "drive.files.export"],
    "drive": ["drive.files.create", "drive.files.update"],
    "calendar.calendarlist.readonly": ["calendar.calendarList.list"],
    "calendar.events.readonly": ["calendar.events.list"],
    "calendar.events": [f"calendar.events.{each}" for each in ("insert", "patch", "delete")],
    "documents.readonly": ["docs.documents.get"],
    "documents": ["docs.documents.create", "docs.documents.batchUpdate"],
    "spreadsheets.readonly": ["sheets.spreadsheets.values.get"],
    "spreadsheets": ["sheets.spreadsheets.create", "sheets.spreadsheets.values.update"],
    "tasks.readonly": ["tasks.tasks.list", "tasks.tasks.get"],
    "tasks": [f"tasks.tasks.{each}" for each in ("insert", "patch", "delete")],
}


@pytest.mark.parametrize("scope", OPERATIONS)
def test_what_a_tool_needs_is_enough_for_what_it_does(scope: str) -> None:
    from tests.google.discovery import methods

    by_id = {method.id: method for method in methods()}
    for allowed in (scope, *scopes.ALSO.get(scope, ())):
        for id in OPERATIONS[scope]:
            assert scopes.ADDRESS + allowed in by_id[id].about["scopes"], (id, allowed)


def test_a_list_is_told_as_far_as_it_fits() -> None:
    items = [{"name": "x" * 90, "at": at} for at in range(1000)]
    kept = pages.fitting_items(items)
    assert 0 < len(kept) < 1000
    assert kept == items[: len(kept)]
    assert len(json.dumps(kept)) < pages.LIST + 1000
    assert pages.fitting_items([["x" * 500_000]]) == [["x" * 2000 + "... (500000 characters)"]]
    assert pages.fitting_items([["x" * 2000] * 999]) == []


def test_foreign_words_in_a_sentence_are_short_and_harmless() -> None:
    assert pages.shorten_words("a\nb\x1b[2J\u202ec" + "d" * 99) == f"'a bc{'d' * 53}...'"
