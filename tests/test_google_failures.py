"""Every tool of Google when something is wrong: with its arguments, the login, the net, Google."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from andy_cli.agent.turn import turn
from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.errors import ToolError
from andy_cli.events import Consented, Ended, Event
from andy_cli.messages import Effect, Status, ToolCall, ToolResult
from andy_cli.toolbox.google.http.refusals import NOT_DONE, UNSURE
from andy_cli.toolbox.google.lazy import LOG_IN, login_file
from andy_cli.toolbox.registry import Registry
from tests.cases import quick_every
from tests.fakes import ScriptedModel, native
from tests.google import accounts
from tests.google.accounts import TOKEN, claimed, used
from tests.google.emulator import Asked
from tests.google.faults import JSON, Faults, answered, given, refused
from tests.model_server import Answer, raw, status
from tests.scripted_tools import desk, speak

pytestmark = pytest.mark.usefixtures("no_keyring", "home")

CALLS: dict[str, dict[str, Any]] = {
    "gmail_list": {},
    "gmail_read": {"messageId": "x"},
    "gmail_send": {"to": "bob@example.org", "subject": "Hello", "body": "Bob"},
    "gmail_search": {"query": "from:bob"},
    "drive_list": {},
    "drive_read": {"fileId": "x"},
    "drive_create": {"name": "n.txt", "content": "text"},
    "drive_update": {"fileId": "x", "content": "text"},
    "drive_delete": {"fileId": "x"},
    "drive_search": {"query": "plan"},
    "calendar_list": {},
    "calendar_events": {},
    "calendar_create": {"summary": "Lunch", "start": "2030-03-01T12:00", "end": "13:00"},
    "calendar_update": {"eventId": "x", "summary": "Dinner"},
    "calendar_delete": {"eventId": "x"},
    "docs_read": {"documentId": "x"},
    "docs_create": {"title": "New"},
    "docs_append": {"documentId": "x", "text": "more"},
    "docs_replace": {"documentId": "x", "findText": "a", "replaceText": "b"},
    "sheets_read": {"spreadsheetId": "x", "range": "A1:B2"},
    "sheets_write": {"spreadsheetId": "x", "range": "A1", "values": [["a"]]},
    "sheets_append": {"spreadsheetId": "x", "range": "A1", "values": [["a"]]},
    "sheets_create": {"title": "New"},
    "sheets_clear": {"spreadsheetId": "x", "range": "A1"},
    "tasks_list": {},
    "tasks_get": {"taskId": "x"},
    "tasks_create": {"title": "Milk"},
    "tasks_update": {"taskId": "x", "title": "Milk"},
    "tasks_complete": {"taskId": "x"},
    "tasks_delete": {"taskId": "x"},
}
READS = [
    name for name in CALLS if name.partition("_")[2] in ("list", "read", "search", "events", "get")
]
CHANGES = [name for name in CALLS if name not in READS]
SECRETS = (TOKEN, accounts.CLIENT.secret, "1//0kanarienvogel-refresh", "kanarienvogel")


async def drain(happening: AsyncIterator[Event]) -> None:
    async for _ in happening:
        pass


@pytest.fixture
def tools() -> Registry:
    return accounts.tools()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Faults]]:
    """A server that answers reads on the way to a change, and all else by the script."""
    begun: list[Faults] = []

    def start(answer: Answer | Callable[[Asked], Answer], *settings: str) -> Faults:
        def script(asked: Asked) -> Answer:
            return answer(asked) if callable(answer) else answer

        begun.append(Faults(script).__enter__())
        accounts.hold()
        accounts.work_with(begun[-1].url, tmp_path, *settings)
        return begun[-1]

    yield start
    for server in begun:
        server.__exit__(None, None, None)


Serve = Callable[..., Faults]


def changing(fault: Answer) -> Callable[[Asked], Answer]:
    """Reads go well, changes do not."""
    return lambda asked: answered(given(asked)) if _reads(asked) else fault


def _reads(asked: Asked) -> bool:
    return asked.method == "GET" or asked.path == "/oauth2/token"


def test_the_calls_are_those_of_every_tool(tools: Registry) -> None:
    assert sorted(CALLS) == sorted(each.name for each in tools)
    effects = {each.name: each.effect for each in tools}
    assert effects == {name: Effect.ACT if name in CHANGES else Effect.NETWORK for name in CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_B14_B15_B16_B17_B18_B19_every_tool_does_what_it_is_asked(
    name: str, tools: Registry, serve: Serve
) -> None:
    server = serve(lambda asked: answered(given(asked)))
    done = used(tools, name, **CALLS[name])
    assert (done.status, bool(done.did)) == (Status.SUCCESS, True), done.content
    assert len(server.changes) == (name in CHANGES)


@pytest.mark.parametrize("name", CALLS)
def test_case_23_without_a_login_no_tool_succeeds_and_none_is_offered(
    name: str, tools: Registry
) -> None:
    done = used(tools, name, **CALLS[name])
    assert done.status is Status.FAILED
    assert done.content == "Google is not connected. Run `andy google login`."
    assert name not in tools.ready_functions(tools.known_functions(calls_only=True))


@pytest.mark.parametrize("content", ["", "{}", "nonsense", "[1]", '{"client_id": 5}'])
def test_case_23_a_damaged_login_is_none(content: str, tools: Registry) -> None:
    login_file().parent.mkdir(parents=True)
    login_file().write_text(content)
    done = used(tools, "gmail_list")
    assert done.status is Status.FAILED
    assert done.content.endswith("Run `andy google login`.")


def test_case_23_what_was_not_granted_is_not_offered(tools: Registry) -> None:
    accounts.hold(parts="mail:read,tasks,drive")
    offered_now = set(tools.ready_functions(tools.known_functions(calls_only=True)))
    wanted = {name for name in CALLS if name.startswith(("tasks", "drive", "docs", "sheets"))}
    assert offered_now == wanted | {"gmail_list", "gmail_read", "gmail_search"}
    done = used(tools, "gmail_send", **CALLS["gmail_send"])
    assert done.content == (
        "The Google login does not allow this (gmail.send). Run `andy google login` again."
    )


HTML = [status(headers={"content-type": "text/html"}), raw("<html>Sign in to this network</html>")]
CUT = [
    status(headers={**JSON, "content-length": "5000"}),
    raw('{"id": "x"'),
    {"op": "close"},
]
HUGE = [
    status(headers=JSON),
    raw('{"id": "'),
    {"op": "repeat_raw", "text": "x" * 2**20, "n": 100},
]
FAULTS: dict[str, tuple[Answer, str, bool]] = {
    "400": (
        refused(400, "badRequest", "Bad value\n\x1b[31mfor x"),
        "did not accept this (400)",
        False,
    ),
    "403 scopes": (refused(403, "insufficientPermissions"), LOG_IN[:-1], False),
    "403 rate": (refused(403, "userRateLimitExceeded"), "was asked too often (403)", False),
    "403 quota": (refused(403, "storageQuotaExceeded"), "quota of", False),
    "403 off": (refused(403, "accessNotConfigured"), "console.cloud.google.com", False),
    "403": (refused(403, "forbidden"), "The account may not do this", False),
    "404": (refused(404, "notFound"), " no", False),
    "409": (refused(409, "conflict"), "something has changed there meanwhile", False),
    "413": (refused(413, "tooLarge"), "larger than", False),
    "429": (refused(429, "", retry_after="3600"), "Try again in 3600 seconds.", False),
    "302": (
        [status(302, {"location": "http://127.0.0.1:1/evil"})],
        "points to another address",
        False,
    ),
    "500": (refused(500, "backendError"), "has a fault at the moment (500)", True),
    "503 page": ([status(503), raw("<html>Down</html>")], "has a fault at the moment (503)", True),
    "page": (HTML, "answered something else than data", True),
    "a list": (answered([1, 2]), "answered something else than data", True),
    "deep": ([status(headers=JSON), raw("[" * 100_000)], "answered something else than data", True),
    "cut": (CUT, "broke off", True),
    "huge": (HUGE, "answer", True),
    "reset": ([{"op": "reset"}], "broke off", True),
    "closed": ([{"op": "close"}], "broke off", True),
}


NAMES = quick_every(7, sorted(FAULTS, key=lambda fault: fault == "huge"))


@pytest.mark.parametrize("fault", NAMES)
def test_a_fault_of_google_is_told_in_a_sentence_and_is_never_a_success(
    fault: str, tools: Registry, serve: Serve
) -> None:
    answer, said, _ = FAULTS[fault]
    serve(changing(answer) if fault == "404" else answer, "network.tries=1")
    names = CHANGES if fault == "404" else [*CALLS]
    done = {name: used(tools, name, **CALLS[name]) for name in names}
    if fault in ("page", "a list", "deep", "cut", "huge"):
        # A file may well be a page, and of a large one the beginning is read.
        done.pop("drive_read", None)
    assert {name: each.status for name, each in done.items()} == dict.fromkeys(done, Status.FAILED)
    assert [each.content for each in done.values() if not fine(each.content, said)] == []


def fine(sentence: str, said: str) -> bool:
    hidden = not any(secret in sentence for secret in SECRETS)
    return said in sentence and hidden and sentence.isprintable() and sentence.endswith(".")


@pytest.mark.parametrize("fault", NAMES)
def test_P8_a_change_is_sent_once_and_says_whether_it_may_have_happened(
    fault: str, tools: Registry, serve: Serve
) -> None:
    answer, _, unsure = FAULTS[fault]
    for name in CHANGES:
        server = serve(changing(answer))
        done = used(tools, name, **CALLS[name])
        assert done.status is Status.FAILED
        assert (len(server.changes), name) == (1, name)
        assert done.problem.endswith(UNSURE if unsure else NOT_DONE), done.content
        assert done.content.startswith(done.problem)


@pytest.mark.parametrize(
    ("then", "sent"),
    [
        ({"body": "Bob"}, 1),
        ({"body": "Bob!"}, 1),
        ({"to": "eve@example.org"}, 2),
    ],
    ids=str,
)
def test_P8_what_may_have_been_sent_is_not_sent_again_without_a_yes(
    then: dict[str, str], sent: int, tools: Registry, serve: Serve
) -> None:
    server = serve(changing(refused(503)))
    mail = CALLS["gmail_send"]
    calls = [native(("gmail_send", json.dumps(written))) for written in (mail, {**mail, **then})]
    model = ScriptedModel([*calls, "That is all."], name="x:model", tools=True)
    chat = desk(model, registry=tools)
    chat.gate.mode, chat.gate.ask = "auto", None
    events = speak(chat, "send them a mail")
    assert len(server.changes) == sent
    refusals = [event for event in events if isinstance(event, Consented)]
    assert [event.reason.startswith("this may have been done") for event in refusals] == [True] * (
        2 - sent
    )
    ended = next(event for event in events if isinstance(event, Ended))
    assert "It is not known whether it happened" in ended.not_done[0]["reason"]


def test_P8_what_was_interrupted_while_it_was_sent_is_not_sent_again_without_a_yes(
    tools: Registry, serve: Serve
) -> None:
    stalled: Answer = [{"op": "stall"}]
    server = serve(changing(stalled))
    call = native(("gmail_send", json.dumps(CALLS["gmail_send"])))
    chat = desk(ScriptedModel([call, call, "No."], name="x:model", tools=True), registry=tools)
    chat.gate.mode, chat.gate.ask = "auto", None

    async def interrupt() -> None:
        sending = asyncio.create_task(drain(turn(chat, "send them a mail")))
        await asyncio.to_thread(server.stalled.wait, 10)
        sending.cancel()
        await asyncio.wait([sending])

    asyncio.run(interrupt())
    assert chat.history.messages[-1].content.endswith("it may have been done all the same")
    refusals = [event for event in speak(chat, "go on") if isinstance(event, Consented)]
    assert [event.decision for event in refusals] == ["denied"]
    assert len(server.changes) == 1


def test_P8_what_surely_was_not_sent_may_be_sent_again(tools: Registry, serve: Serve) -> None:
    server = serve(changing(refused(429, "rateLimitExceeded")))
    call = native(("gmail_send", json.dumps(CALLS["gmail_send"])))
    chat = desk(ScriptedModel([call, call, "No."], name="x:model", tools=True), registry=tools)
    chat.gate.mode, chat.gate.ask = "auto", None
    speak(chat, "send them a mail")
    assert len(server.changes) == 2


ANSWERED = [name for name in CHANGES if name not in ("calendar_delete", "tasks_delete")]
"""To the others Google says nothing."""


@pytest.mark.parametrize("name", ANSWERED)
def test_P8_a_change_whose_answer_says_nothing_is_no_success(
    name: str, tools: Registry, serve: Serve
) -> None:
    serve(changing(answered({"kind": "something"})))
    done = used(tools, name, **CALLS[name])
    assert done.status is Status.FAILED


def test_P8_a_document_whose_text_did_not_get_in_is_told_as_made(
    tools: Registry, serve: Serve
) -> None:
    serve(lambda asked: refused(400, "") if "batch" in asked.path else answered(given(asked)))
    done = used(tools, "docs_create", title="New", text="text")
    assert done.status is Status.FAILED
    assert done.content.startswith("The document x was made, but without its text. Google Docs did")
    assert NOT_DONE not in done.content


@pytest.mark.parametrize("name", READS)
def test_a_read_is_tried_again_where_that_may_help(
    name: str, tools: Registry, serve: Serve
) -> None:
    faults = [refused(503, ""), refused(429, "", retry_after="0")]
    server = serve(lambda asked: faults.pop() if faults else answered(given(asked)))
    assert used(tools, name, **CALLS[name]).status is Status.SUCCESS
    assert (faults, server.changes) == ([], [])


def test_a_read_is_tried_no_more_often_than_the_settings_say(tools: Registry, serve: Serve) -> None:
    server = serve(refused(503, ""), "network.tries=3")
    assert used(tools, "tasks_list").status is Status.FAILED
    assert len(server.asked) == 3


def test_a_wait_that_is_too_long_is_told_at_once(tools: Registry, serve: Serve) -> None:
    server = serve(refused(429, "", retry_after="120"))
    done = used(tools, "tasks_list")
    assert done.content == "Google Tasks was asked too often (429). Try again in 120 seconds."
    assert len(server.asked) == 1


def test_a_login_that_is_refused_twice_is_not_tried_for_ever(tools: Registry, serve: Serve) -> None:
    def script(asked: Asked) -> Answer:
        return (
            answered(given(asked)) if asked.path == "/oauth2/token" else refused(401, "authError")
        )

    for name in READS:
        server = serve(script)
        done = used(tools, name, **CALLS[name])
        assert done.content == (
            "Google does not accept the login any more (401). Run `andy google login`."
        )
        assert len(server.asked) == 3  # the call, the renewal, the call


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refused(400, "x"), "did not accept this"),
        ([status(400, JSON), {"op": "json", "body": {"error": "invalid_grant"}}], "run out or was"),
        ([status(401, JSON), {"op": "json", "body": {"error": "invalid_client"}}], "does not know"),
        (HTML, "something else than a token"),
        (answered({"access_token": 5}), "something else than a token"),
        ([{"op": "reset"}], "broke off"),
        (HUGE, "something else than a token"),
        (refused(400, "x", f"bad {TOKEN} and {accounts.CLIENT.secret}"), "[redacted]"),
    ],
)
def test_P4_a_renewal_that_fails_is_told_without_a_secret(
    answer: Answer, said: str, tools: Registry, serve: Serve
) -> None:
    server = serve(lambda asked: answer if asked.path == "/oauth2/token" else refused(401, ""))
    for name in ("gmail_list", "gmail_send"):
        done = used(tools, name, **CALLS[name])
        assert done.status is Status.FAILED
        assert said in done.content
        assert not any(secret in done.content for secret in SECRETS)
    assert len(server.changes) == 1


def test_P4_words_of_google_that_hold_a_secret_are_redacted(tools: Registry, serve: Serve) -> None:
    words = f"Header Authorization: Bearer {TOKEN} is bad \x1b]0;x\x07 \u202e" + "x" * 900
    serve(refused(400, "x", words))
    content = used(tools, "tasks_list").content
    assert not any(secret in content for secret in SECRETS)
    assert content.isprintable()
    assert len(content) < 500


@pytest.mark.slow
@pytest.mark.parametrize("names", [READS, CHANGES], ids=["reads", "changes"])
def test_a_server_that_says_nothing_is_waited_for_no_longer_than_set(
    names: list[str], tools: Registry, serve: Serve
) -> None:
    stalled: Answer = [{"op": "stall"}]
    serve(changing(stalled) if names is CHANGES else stalled, "google.timeout=2")

    async def together() -> list[ToolResult]:
        calls = (tools.call(ToolCall("c", name, CALLS[name])) for name in names)
        return await asyncio.gather(*calls)

    for done in asyncio.run(together()):
        assert done.status is Status.TIMED_OUT
        late = ("took longer than 2 s", "said nothing for too long")
        assert any(each in done.content for each in late), done.content
        assert done.content.endswith(UNSURE) == (names is CHANGES)


UNREACHABLE = [
    "http://127.0.0.1:1",
    pytest.param("https://nowhere.invalid", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("url", UNREACHABLE)
def test_without_a_network_nothing_was_sent(url: str, tools: Registry, tmp_path: Path) -> None:
    accounts.hold()
    accounts.work_with(url, tmp_path)
    done = {name: used(tools, name, **CALLS[name]) for name in CALLS}
    assert {each.status for each in done.values()} == {Status.FAILED}
    assert all("cannot be" in each.content for each in done.values())
    straight = [name for name in CHANGES if name not in ("drive_update", "docs_append")]
    assert all(done[name].content.endswith(NOT_DONE) for name in straight)


@pytest.mark.parametrize(
    "url", ["http://example.org", "ftp://127.0.0.1", "nonsense", "https://a@b.org", "http://[", ""]
)
def test_a_token_goes_to_no_address_that_is_not_safe(
    url: str, tools: Registry, tmp_path: Path
) -> None:
    accounts.hold()
    accounts.work_with(url, tmp_path)
    for name in CALLS:
        done = used(tools, name, **CALLS[name])
        assert "_url is no https:// address. Correct it or take it out." in done.content


def test_an_address_of_this_machine_in_the_settings_is_used_by_the_tools(
    tools: Registry, serve: Serve
) -> None:
    server = serve(lambda asked: answered(given(asked)))
    calls = [native((name, json.dumps(CALLS[name]))) for name in ("gmail_list", "gmail_send")]
    chat = desk(ScriptedModel([*calls, "Done."], name="x:model", tools=True), registry=tools)
    speak(chat, "list my mails and send one")
    assert [asked.path for asked in server.changes] == ["/gmail/v1/users/me/messages/send"]
    assert "/gmail/v1/users/me/messages" in [asked.path for asked in server.asked]


DRIVE_TYPE = "application/vnd.google-apps."
DRIVE_FILES: dict[str, dict[str, object]] = {
    "short": {"mimeType": f"{DRIVE_TYPE}shortcut", "shortcutDetails": {"targetId": "full"}},
    "empty": {"mimeType": f"{DRIVE_TYPE}folder"},
    "plan": {"mimeType": "text/plain"},
    "budget": {"mimeType": f"{DRIVE_TYPE}spreadsheet"},
    "letter": {"mimeType": f"{DRIVE_TYPE}document"},
}


def drive(asked: Asked) -> Answer:
    """A Drive with an empty folder, a full one that a shortcut leads to, and a file."""
    if asked.path == "/drive/v3/files":
        return answered({"files": [{"id": "a", "name": "a.txt"}] * ("full" in asked.query)})
    id = asked.path.removeprefix("/drive/v3/files/")
    if id.endswith("/export"):
        return [status(headers={"content-type": "text/csv"}), raw("a,b\n1,2\n")]
    return answered({"id": id, "name": id, **DRIVE_FILES[id]})


def test_B24_a_folder_is_listed_through_a_shortcut_and_what_is_none_is_not_empty(
    tools: Registry, serve: Serve
) -> None:
    serve(drive)
    listed = {id: used(tools, "drive_list", folderId=id) for id in ("short", "empty", "plan")}
    assert '"a.txt"' in listed["short"].content
    assert json.loads(listed["empty"].content) == {"files": []}
    assert listed["plan"].content == "'plan' is no folder. drive_read reads a file."


def test_B24_of_a_spreadsheet_drive_reads_the_first_sheet_and_says_so(
    tools: Registry, serve: Serve
) -> None:
    serve(drive)
    read = {id: json.loads(used(tools, "drive_read", fileId=id).content) for id in NOTED}
    assert {id: "first sheet" in data.get("note", "") for id, data in read.items()} == NOTED
    assert {data["text"] for data in read.values()} == {"a,b\n1,2\n"}


NOTED = {"budget": True, "letter": False}


def test_B25_an_event_says_where_the_user_is_not_busy_by_it(tools: Registry, serve: Serve) -> None:
    guests: list[dict[str, object]] = [
        {"email": "bob@example.org", "responseStatus": "declined"},
        {"email": "ada@example.org", "responseStatus": "accepted", "self": True},
    ]
    refused_by_user: list[dict[str, object]] = [{**guests[1], "responseStatus": "declined"}]
    events = [
        {"id": "a", "status": "confirmed", "attendees": guests},
        {"id": "b", "status": "tentative", "attendees": refused_by_user},
        {"id": "c", "status": "confirmed", "transparency": "transparent"},
    ]
    serve(answered({"items": events}))
    told = json.loads(used(tools, "calendar_events").content)["events"]
    assert [(event.get("userAnswered"), event.get("status")) for event in told] == [
        ("accepted", None),
        ("declined", "tentative"),
        (None, None),
    ]
    assert [event.get("userIs") for event in told] == [None, None, "free"]


@pytest.mark.parametrize("name", quick_every(5, CALLS))
def test_a_call_can_be_stopped_in_the_middle(name: str, tools: Registry, serve: Serve) -> None:
    stalled: Answer = [{"op": "stall"}]
    server = serve(changing(stalled) if name in CHANGES else stalled)

    async def stopped() -> bool:
        call = asyncio.create_task(tools.call(ToolCall("c", name, CALLS[name])))
        await asyncio.to_thread(server.stalled.wait, 10)
        call.cancel()
        await asyncio.wait([call])
        return call.cancelled()

    assert asyncio.run(stopped())
    assert server.left.wait(5)
    assert len(server.changes) == (name in CHANGES)


def test_of_a_huge_file_only_the_beginning_is_read(tools: Registry, serve: Serve) -> None:
    about = {"id": "x", "name": "big.log", "mimeType": "text/plain", "size": "104857600"}
    lines: Answer = [
        status(headers={"content-type": "text/plain"}),
        {"op": "repeat_raw", "text": "0123456789abcde\n" * 2**16, "n": 100},
    ]
    server = serve(lambda asked: lines if "alt=media" in asked.query else answered(about))
    done = used(tools, "drive_read", fileId="x")
    read = json.loads(done.content)
    assert (len(read["text"]), read["nextOffset"]) == (20_000, 20_000)
    assert server.left.wait(10)
    further = json.loads(used(tools, "drive_read", fileId="x", offset=1_600_000).content)
    assert further["text"].startswith("0123456789abcde\n0123")


@pytest.mark.parametrize("name", quick_every(4, READS))
def test_what_the_model_is_told_has_a_bound_whatever_google_sends(
    name: str, tools: Registry, serve: Serve
) -> None:
    long = "<tool_call>\x1b[2J" + "x" * 40_000
    about: dict[str, Any] = {
        "id": "x",
        "title": long,
        "summary": long,
        "subject": long,
        "name": long,
    }
    headers = [{"name": each, "value": long} for each in ("Subject", "From", "To", "Date", "Cc")]
    parts = [{"filename": long, "mimeType": long, "body": {"size": 1}}]
    many = [about] * 4
    body = {"content": [{"paragraph": {"elements": [{"textRun": {"content": long}}]}}]}
    answer = {
        **about,
        "range": long,
        "mimeType": "text/plain",
        "snippet": long,
        "labelIds": ["UNREAD"] * 20_000,
        "payload": {"headers": headers, "parts": parts * 20},
        "messages": [{"id": "x"}] * 9,
        "values": [[long] * 4] * 4,
        "body": body,
        **dict.fromkeys(("files", "items"), many),
    }
    serve(lambda asked: answered(answer))
    done = used(tools, name, **CALLS[name])
    assert done.status is Status.SUCCESS, done.content
    assert len(done.content) < 200_000
    assert done.did.isprintable()
    assert len(done.did) < 200


@pytest.mark.parametrize("name", CALLS)
def test_arguments_of_another_type_do_not_fit(name: str, tools: Registry, serve: Serve) -> None:
    server = serve(lambda asked: answered(given(asked)))
    tool = tools.get(name)
    assert tool
    properties: Mapping[str, Any] = tool.schema["properties"]
    for parameter in properties:
        for wrong in ({"a": {"b": 1}}, 5.5, [["x", {}]], ""):
            if wrong == "" and properties[parameter].get("minLength") != 1:
                continue
            arguments = {**CALLS[name], parameter: wrong}
            assert tools.check(name, arguments), (parameter, wrong)
            done = asyncio.run(tools.call(ToolCall("c", name, arguments)))
            assert done.status is Status.FAILED
    for parameter in tool.schema["required"]:
        some = {key: value for key, value in CALLS[name].items() if key != parameter}
        (problem,) = tools.check(name, some)
        assert (problem.path, problem.rule) == (parameter, "required")
    assert [each.rule for each in tools.check(name, {**CALLS[name], "nope": 1})] == [
        "additionalProperties"
    ]
    assert server.asked == []


IDS = {
    "messageId": "a mail",
    "fileId": "a file",
    "documentId": "a document",
    "spreadsheetId": "a spreadsheet",
    "eventId": "an event",
    "taskId": "a task",
    "taskListId": "a task list",
    "calendarId": "a calendar",
    "folderId": "a folder",
    "range": "range",
}
NO_IDS = [
    "../../x",
    "a/b",
    "..",
    "x?y=1",
    "a b",
    "\x1b[2J",
    "x\0",
    "http://evil.org/d/ID",
    "x" * 999,
]


@pytest.mark.parametrize("wrong", NO_IDS, ids=ascii)
def test_what_is_no_id_is_refused_before_anything_is_asked(
    wrong: str, tools: Registry, serve: Serve
) -> None:
    server = serve(lambda asked: answered(given(asked)))
    for name, arguments in CALLS.items():
        tool = tools.get(name)
        assert tool
        for parameter in tool.schema["properties"]:
            if parameter not in IDS or (
                parameter == "range" and wrong.isascii() and len(wrong) < 99
            ):
                continue
            done = used(tools, name, **{**arguments, parameter: wrong})
            assert done.status is Status.FAILED, (name, parameter)
            assert IDS[parameter] in done.content
            assert done.content.isprintable()
    assert server.asked == []


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("gmail_send", {"to": "bob"}, "'bob' is no usable mail address. Ask the user for it."),
    ("gmail_send", {"to": "b@x.org\nBcc: eve@x.org"}, "'Bcc: eve@x.org' is no usable mail address"),
    ("gmail_send", {"to": " , "}, "The mail has no receiver."),
    ("gmail_send", {"to": ",".join(f"a{at}@x.org" for at in range(101))}, "100 receivers at most"),
    ("gmail_send", {"body": "\ud800"}, "half a character"),
    ("gmail_send", {"body": "x" * 5_000_001}, "too long"),
    ("drive_create", {"mimeType": "text/plain\r\nX: y"}, "is no media type"),
    ("drive_create", {"mimeType": "application/vnd.google-apps.form"}, "makes no"),
    ("drive_create", {"mimeType": "application/vnd.google-apps.folder"}, "A folder has no content"),
    ("drive_create", {"content": "x" * (5 * 2**20 + 1)}, "more than 5 MB"),
    ("calendar_create", {"start": "next week"}, "'next week' is no day or time for the start."),
    ("calendar_create", {"end": "2030-02-30"}, "is no day or time for the end."),
    ("calendar_create", {"end": "11:00"}, "is not after the start"),
    ("calendar_create", {"end": "2030-03-02"}, "One of start and end is a day, the other a time"),
    ("calendar_create", {"summary": " \n"}, "needs a title"),
    ("sheets_write", {"values": "[[1]"}, ""),
    ("docs_create", {"text": "x" * 1_000_001}, "a million characters"),
    ("docs_create", {"title": " "}, "needs a title"),
    ("tasks_create", {"title": "x" * 1025}, "1024 characters at most"),
    ("tasks_create", {"notes": "x" * 8193}, "8192 characters at most"),
]


@pytest.mark.parametrize(("name", "wrong", "said"), BAD, ids=lambda each: ascii(each)[:40])
def test_what_cannot_be_done_is_refused_before_a_yes_is_asked_for(
    name: str, wrong: dict[str, Any], said: str, tools: Registry, serve: Serve
) -> None:
    server = serve(lambda asked: answered(given(asked)))
    arguments = {**CALLS[name], **wrong}
    if not tools.check(name, arguments):
        done = used(tools, name, **arguments)
        assert done.status is Status.FAILED
        assert said in done.content
    if not (name == "docs_create" and "text" in wrong):
        with pytest.raises(ToolError):
            claimed(tools, name, **{**arguments})
    assert server.asked == []


def test_B23_what_is_shown_before_the_yes_is_what_is_sent(tools: Registry, serve: Serve) -> None:
    server = serve(lambda asked: answered(given(asked)))
    arguments: dict[str, Any] = {
        "to": ["bob@bücher.de", "Bob@bücher.de"],
        "subject": "a\r\nBcc: eve@x.org\r\n\r\nb",
        "body": "c",
    }
    shown = claimed(tools, "gmail_send", **arguments).shown
    assert shown == ("To: bob@bücher.de (bob@xn--bcher-kva.de)\nSubject: a Bcc: eve@x.org b\n\nc")
    used(tools, "gmail_send", **arguments)
    (sent,) = server.changes
    assert b"eve" not in b"".join(
        line for line in json.loads(sent.body)["raw"].encode().split(b"Subject")[:1]
    )


def test_every_change_shows_all_of_what_it_changes(tools: Registry, serve: Serve) -> None:
    serve(lambda asked: answered(given(asked)))
    for name in CHANGES:
        access = claimed(tools, name, **CALLS[name])
        values = [each for each in CALLS[name].values() if isinstance(each, str)]
        told = access.shown.replace("Fri 1 Mar 2030, 12:00", "2030-03-01T12:00")
        assert all(each in told for each in values), (name, access.shown)
        assert access.method in ("POST", "PUT", "PATCH", "DELETE")
        assert access.address.startswith("http://127.0.0.1")
    for name in READS:
        access = claimed(tools, name, **CALLS[name])
        assert (access.method, access.shown, access.places) == ("GET", "", ())


def test_what_is_named_by_its_id_is_shown_with_the_name_that_was_seen(
    tools: Registry, serve: Serve
) -> None:
    lunch = {
        "id": "x",
        "summary": "Lunch\nwith Bob",
        "start": {"dateTime": "2030-03-01T12:00:00Z"},
        "end": {"dateTime": "2030-03-01T13:00:00Z"},
    }
    lists = {
        "calendar_events": ({"items": [lunch]}, "calendar_delete", "'Lunch with Bob', Fri 1 Mar"),
        "drive_list": ({"files": [{"id": "x", "name": "a.txt"}]}, "drive_delete", "'a.txt'"),
        "drive_search": ({"files": [{"id": "x", "name": "Sums"}]}, "sheets_write", "'Sums'"),
        "docs_read": ({"title": "Plan"}, "docs_replace", "'Plan'"),
        "tasks_list": ({"items": [{"id": "x", "title": "Milk"}]}, "tasks_delete", "'Milk'"),
    }
    for name, (listed, change, shown) in lists.items():
        serve(answered(listed))
        assert f"x ({shown}" not in claimed(tools, change, **CALLS[change]).shown
        assert used(tools, name, **CALLS[name]).ok
        assert f"x ({shown}" in claimed(tools, change, **CALLS[change]).shown


DRIFTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "docs_replace",
        {"documentId": "d", "find": "a", "replace": "b"},
        {"documentId": "d", "findText": "a", "replaceText": "b"},
    ),
    (
        "docs_replace",
        {"docId": "d", "oldText": "a", "newText": "b"},
        {"documentId": "d", "findText": "a", "replaceText": "b"},
    ),
    ("docs_append", {"documentId": "d", "content": "t"}, {"documentId": "d", "text": "t"}),
    ("tasks_update", {"taskId": "t", "updates": "new"}, {"taskId": "t", "title": "new"}),
    ("tasks_update", {"taskId": "t", "updates": {"title": "n"}}, {"taskId": "t", "title": "n"}),
    ("drive_list", {"pageSize": 5}, {"maxResults": 5}),
    ("drive_search", {"q": "plan", "pageSize": "5"}, {"query": "plan", "maxResults": 5}),
    ("gmail_search", {"q": "plan", "limit": 5}, {"query": "plan", "maxResults": 5}),
    ("gmail_list", {"labels": "INBOX,UNREAD"}, {"labelIds": ["INBOX", "UNREAD"]}),
    (
        "gmail_send",
        {"recipient": "a@x.org", "subject": "s", "content": "b"},
        {"to": "a@x.org", "subject": "s", "body": "b"},
    ),
    (
        "gmail_send",
        {"to": ["a@x.org", "b@x.org"], "subject": "s", "message": "b"},
        {"to": "a@x.org,b@x.org", "subject": "s", "body": "b"},
    ),
    (
        "calendar_create",
        {"title": "t", "startTime": "2030-03-01", "endTime": "2030-03-02"},
        {"summary": "t", "start": "2030-03-01", "end": "2030-03-02"},
    ),
    ("gmail_read", {"id": "m"}, {"messageId": "m"}),
    ("tasks_complete", {"listId": "l", "id": "t"}, {"taskListId": "l", "taskId": "t"}),
    (
        "sheets_append",
        {"sheetId": "s", "range": "A1", "rows": ["a", 1]},
        {"spreadsheetId": "s", "range": "A1", "values": [["a", 1]]},
    ),
    (
        "sheets_write",
        {"spreadsheetId": "s", "range": "A1", "values": '[["a", 1]]'},
        {"spreadsheetId": "s", "range": "A1", "values": [["a", 1]]},
    ),
]


@pytest.mark.parametrize(("name", "written", "meant"), DRIFTS, ids=lambda each: str(each)[:40])
def test_case_38_the_names_that_models_use_are_understood(
    name: str, written: dict[str, Any], meant: dict[str, Any], tools: Registry
) -> None:
    tool = tools.get(name)
    assert tool
    (call,) = map_call(name, written, {name: tool.function}, lambda name: False).calls
    assert call.arguments == meant
    assert not tools.check(name, call.arguments)
