"""`andy google`: a real login, through a real OAuth server, by a scripted browser."""

import asyncio
import json
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from andy_cli.errors import ToolError, UsageError
from andy_cli.frontends.doctor.machine_checks import Finding, look_at_google
from andy_cli.messages import Status
from andy_cli.settings import load
from andy_cli.toolbox.google.lazy import login_file
from andy_cli.toolbox.google.login import renewal, scopes, vault
from andy_cli.toolbox.google.login.consent import client_in, code_in, make_question
from andy_cli.toolbox.login_redirect import LoginRedirect
from andy_cli.toolbox.registry import Registry
from tests.google import accounts
from tests.google.emulator import Asked, Emulator
from tests.shell import ROOT, andy, environment, start_andy
from tests.tools import ran

pytest_plugins = "tests.google.fixtures"

pytestmark = pytest.mark.usefixtures("no_keyring")
slow = pytest.mark.slow


@pytest.fixture(autouse=True)
def here(home: Path) -> Path:
    return home


def flags(url: str, *more: str) -> list[str]:
    return [each for one in accounts.overrides(url, *more) for each in ("--set", one)]


class Login:
    """`andy google login`, running, up to the address that it shows."""

    def __init__(self, home: Path, url: str, *more: str) -> None:
        client = accounts.client_file(home)
        words = ("google", "login", "--client", str(client), *flags(url), *more)
        known = {name: "" for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        known["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
        self.process = start_andy(*words, home=home, cwd=ROOT, typed=True, **known)
        assert self.process.stdout
        lines = iter(self.process.stdout.readline, "")
        self.url = next((line.strip() for line in lines if line.startswith("http")), "")

    @property
    def redirect(self) -> str:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.url).query)
        return query["redirect_uri"][0]

    def end(self, typed: str | None = None) -> tuple[int | None, str]:
        out, err = self.process.communicate(typed, timeout=60)
        assert "Traceback" not in out + err
        return self.process.returncode, out + err


def fetched(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def logged_in(home: Path, google: Emulator, *more: str) -> tuple[int | None, str]:
    google.begin(accounts.world())
    login = Login(home, google.url, *more)
    google.expect(login.redirect)
    status, page = fetched(accounts.say_yes(login.url))
    assert (status, "can be closed" in page) == (200, True)
    return login.end()


@slow
def test_P4_a_login_goes_from_the_browser_to_a_file_that_only_the_user_reads(
    google: Emulator, home: Path
) -> None:
    code, said = logged_in(home, google)
    file = home / ".config" / "andy" / "google.json"
    assert code == 0
    assert f"Connected to Google as {accounts.EMAIL}, for mail, drive, calendar, docs" in said
    assert str(file) in said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    kept, client = json.loads(file.read_text())["secrets"], home / "client.json"
    assert kept["client_secret"] == accounts.CLIENT.secret
    shown = andy("google", "status", home=home)
    record = json.loads(andy("google", "status", "--json", home=home).out)
    assert record["connected"]
    assert (record["account"], record["parts"]) == (accounts.EMAIL, list(scopes.PARTS))
    accounts.work_with(google.url, home)
    assert accounts.used(accounts.tools(), "gmail_list").status is Status.SUCCESS
    elsewhere = [each for each in home.rglob("*") if each.is_file() and each not in (file, client)]
    written = b"".join(each.read_bytes() for each in elsewhere).decode(errors="replace")
    for secret in (str(kept[name]) for name in kept if name != "expires"):
        assert secret not in said + shown.out + shown.err + json.dumps(record) + written


@slow
def test_logging_out_ends_the_login_here_and_at_google(google: Emulator, home: Path) -> None:
    logged_in(home, google)
    held = vault.load_secrets()
    done = andy("google", "logout", *flags(google.url), home=home)
    assert (done.code, done.err) == (0, "")
    assert done.out == "Google is not connected any more; the login is deleted here.\n"
    assert not login_file().exists()
    assert json.loads(andy("google", "status", "--json", home=home).out) == {"connected": False}
    with pytest.raises(ToolError, match="run out or was withdrawn"):
        asyncio.run(renewed(google, held))
    again = andy("google", "logout", *flags(google.url), home=home)
    assert (again.code, again.out) == (0, "Google was not connected.\n")


async def renewed(google: Emulator, held: vault.GoogleSecrets) -> dict[str, Any]:
    form = {
        "grant_type": "refresh_token",
        "refresh_token": held.refresh_token,
        "client_id": accounts.CLIENT.id,
        "client_secret": held.client_secret,
    }
    settings = load(accounts.overrides(google.url), environment={})
    return await renewal.request_tokens(settings, form, held)


def test_the_doctor_tells_whether_mail_and_calendar_are_set_up_and_how_they_would_be() -> None:
    every_part = "mail, drive, calendar, docs, sheets, tasks"
    assert look_at_google() == Finding(
        "google", "ok", f"not set up: `andy google login` connects {every_part}"
    )
    held = accounts.hold(parts="mail:read,calendar")
    assert look_at_google() == Finding(
        "google",
        "ok",
        f"{held.email}, for mail:read, calendar; "
        "`andy google login` adds mail, drive, docs, sheets, tasks",
    )
    accounts.hold()
    assert look_at_google() == Finding("google", "ok", f"{held.email}, for {every_part}")
    login_file().write_text("{")
    broken = look_at_google()
    assert (broken.grade, broken.fix) == ("fail", "andy google login")


@slow
def test_logging_out_without_a_network_says_where_the_rest_is_done(home: Path) -> None:
    accounts.hold()
    done = andy("google", "logout", *flags("http://127.0.0.1:1"), home=home)
    assert done.code == 0
    assert "https://myaccount.google.com/permissions" in done.out
    assert not login_file().exists()


@slow
def test_a_browser_that_brings_another_state_is_turned_away_and_the_waiting_goes_on(
    google: Emulator, home: Path
) -> None:
    google.begin(accounts.world())
    login = Login(home, google.url)
    google.expect(login.redirect)
    for foreign in ("?code=evil&state=wrong", "?code=evil", "", "favicon.ico", "?error=x&state="):
        assert fetched(login.redirect + foreign)[0] in (400, 404)
    assert fetched(accounts.say_yes(login.url))[0] == 200
    assert login.end()[0] == 0


@slow
def test_a_no_is_a_no(google: Emulator, home: Path) -> None:
    google.begin(accounts.world())
    login = Login(home, google.url)
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(login.url).query)["state"][0]
    assert fetched(f"{login.redirect}?error=access_denied&state={state}")[0] == 200
    code, said = login.end()
    assert (code, "Google was told no; nothing was changed here." in said) == (1, True)
    assert not login_file().exists()


@slow
def test_nobody_waits_forever_for_a_browser(home: Path) -> None:
    login = Login(home, "http://127.0.0.1:1", "--set", "google.login_timeout=0.1")
    code, said = login.end()
    assert (code, "Nobody said yes in the browser within 0.1 s." in said) == (1, True)


@slow
def test_a_browser_elsewhere_works_by_pasting(google: Emulator, home: Path) -> None:
    google.begin(accounts.world())
    login = Login(home, google.url, "--no-browser", "--scopes", "mail:read,tasks")
    google.expect(login.redirect)
    code, said = login.end(accounts.say_yes(login.url) + "\n")
    assert (code, "for mail:read, tasks." in said) == (0, True)
    wrong = Login(home, google.url, "--no-browser")
    code, said = wrong.end("http://127.0.0.1:1/?code=x&state=y\n")
    assert (code, "no answer to this question" in said) == (1, True)


@slow
def test_a_code_that_google_does_not_know_is_told_in_a_sentence(
    google: Emulator, home: Path
) -> None:
    google.begin(accounts.world())
    login = Login(home, google.url)
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(login.url).query)["state"][0]
    fetched(f"{login.redirect}?code=stolen-elsewhere&state={state}")
    code, said = login.end()
    assert (code, "Run `andy google login`." in said) == (1, True)
    assert not login_file().exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("nonsense", "no JSON file"),
        ("[" * 100_000, "no JSON file"),
        ("[]", "no client of a desktop app"),
        ('{"web": {"client_id": "a", "client_secret": "b"}}', "for a web site"),
        ('{"installed": {"client_id": "a"}}', "no client of a desktop app"),
        ('{"installed": {"client_id": 5, "client_secret": ["b"]}}', "no client"),
    ],
)
def test_a_client_file_that_does_not_fit_is_explained(
    content: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "client.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=said) as caught:
        client_in(path)
    assert "docs/google.md" in caught.value.hint


@pytest.mark.parametrize("parts", ["post", "mail:write", "mail,nope", "mail:"])
def test_parts_that_there_are_not_are_a_usage_error(parts: str) -> None:
    with pytest.raises(UsageError, match="no part"):
        scopes.requested_scopes(parts)


def test_a_login_without_a_client_says_how_to_make_one(home: Path) -> None:
    done = andy("google", "login", home=home)
    assert (done.code, "docs/google.md" in done.err) == (2, True)


def test_the_question_is_the_one_that_googles_own_library_asks() -> None:
    """google-auth-oauthlib is the reference; state and challenge are random."""
    library = pytest.importorskip("google_auth_oauthlib.flow", reason="needs google-auth-oauthlib")
    settings, wanted = load(environment={}), scopes.requested_scopes("")
    ours = make_question(settings, accounts.CLIENT, wanted, accounts.REDIRECT)
    config = {
        "client_id": accounts.CLIENT.id,
        "client_secret": accounts.CLIENT.secret,
        "auth_uri": settings.text("google.auth_url"),
        "token_uri": settings.text("google.token_url"),
    }
    flow = library.Flow.from_client_config(
        {"installed": config}, wanted, redirect_uri=accounts.REDIRECT, code_verifier=ours.verifier
    )
    theirs, _ = flow.authorization_url(prompt="consent", state=ours.state)
    assert parts_of(ours.url) == parts_of(theirs)


def parts_of(url: str) -> tuple[str, list[tuple[str, str]]]:
    parts = urllib.parse.urlsplit(url)
    return parts.netloc + parts.path, sorted(urllib.parse.parse_qsl(parts.query))


def test_only_the_answer_to_this_question_is_taken() -> None:
    asked = make_question(load(environment={}), accounts.CLIENT, [], accounts.REDIRECT)
    other = make_question(load(environment={}), accounts.CLIENT, [], accounts.REDIRECT)
    assert asked.state != other.state
    assert code_in(asked, f"{accounts.REDIRECT}?code=c&state={asked.state}") == "c"
    for foreign in (f"?code=c&state={other.state}", "?code=c", "", "http://[", "?state=é"):
        assert code_in(asked, foreign) is None
    assert asked.verifier not in repr(asked)


@slow
@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n\r\n", b"\0" * 100 + b"\r\n\r\n", b"GET /" + b"x" * 50_000, b"GET / HTTP/1.1\r\n"],
)
def test_nonsense_at_the_page_for_the_browser_ends_nothing(sent: bytes) -> None:
    async def answered() -> str:
        settings = load(environment={})
        redirect = LoginRedirect[str]()
        async with redirect.listen():
            asked = make_question(settings, accounts.CLIENT, [], redirect.address)
            redirect.expect(partial(code_in, asked))
            waiting = asyncio.create_task(redirect.wait(20))
            await asyncio.to_thread(poke, redirect.address, sent)
            await asyncio.to_thread(fetched, f"{redirect.address}?code=good&state={asked.state}")
            return await waiting

    assert asyncio.run(answered()) == "good"


def poke(address: str, sent: bytes) -> None:
    port = urllib.parse.urlsplit(address).port
    with socket.create_connection(("127.0.0.1", port or 0)) as connection:
        connection.sendall(sent)


@slow
def test_a_token_that_google_no_longer_takes_is_renewed_and_a_read_goes_on(
    google: Emulator, tmp_path: Path
) -> None:
    tools = begun(google, tmp_path)
    google.expire()
    done = ran(tools, "gmail_list")
    assert done.status is Status.SUCCESS
    assert tokens_asked(google) == 2  # the login, and one renewal
    lists = [each for each in google.asked() if each.path.endswith("/messages")]
    assert len(lists) == 2


@slow
def test_P8_a_mail_is_sent_once_even_if_its_token_is_refused(
    google: Emulator, tmp_path: Path
) -> None:
    tools = begun(google, tmp_path)
    google.expire()
    mail: dict[str, Any] = {"to": "bob@example.org", "subject": "Hello", "body": "Bob"}
    done = ran(tools, "gmail_send", **mail)
    assert done.status is Status.FAILED
    assert done.content == "The Google login had to be renewed. Nothing was changed. Try again."
    assert len(sent(google)) == 1
    assert ran(tools, "gmail_send", **mail).status is Status.SUCCESS
    assert len(sent(google)) == 2


@slow
def test_a_token_whose_hour_is_over_is_renewed_before_anything_is_sent(
    google: Emulator, tmp_path: Path
) -> None:
    tools = begun(google, tmp_path)
    expired()
    done = ran(tools, "gmail_send", to="bob@example.org", subject="Hello", body="Bob")
    assert done.status is Status.SUCCESS
    assert len(sent(google)) == 1
    assert vault.load_secrets().expires > time.time() + 3000


@slow
def test_a_login_that_was_withdrawn_says_to_log_in_again(google: Emulator, tmp_path: Path) -> None:
    tools = begun(google, tmp_path)
    token = urllib.parse.urlencode({"token": vault.load_secrets().refresh_token}).encode()
    urllib.request.urlopen(f"{google.url}/oauth2/revoke", token, timeout=30).close()
    google.expire()
    mail: dict[str, Any] = {"to": "b@example.org", "subject": "s", "body": "b"}
    for done in (ran(tools, "gmail_list"), ran(tools, "gmail_send", **mail)):
        assert done.status is Status.FAILED
        assert done.content == (
            "The Google login has run out or was withdrawn. Run `andy google login`."
        )


RENEW = """
import asyncio, sys
from andy_cli.settings import load
from andy_cli.toolbox.google.login.renewal import access_token
print(asyncio.run(access_token(load(sys.argv[1:], environment={}))))
"""


@slow
def test_processes_that_find_a_token_run_out_renew_it_once(
    google: Emulator, home: Path, tmp_path: Path
) -> None:
    begun(google, tmp_path)
    expired()
    command = [sys.executable, "-c", RENEW, *accounts.overrides(google.url)]
    known = environment(home, PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring")
    started = [
        subprocess.Popen(command, env=known, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    given = {each.communicate(timeout=60)[0].strip() for each in started}
    assert given == {vault.load_secrets().access_token}
    assert tokens_asked(google) == 2


def begun(google: Emulator, folder: Path) -> Registry:
    """Everything anew, and the user logged in."""
    google.begin(accounts.world())
    accounts.log_in(google)
    accounts.work_with(google.url, folder)
    return accounts.tools()


def expired() -> None:
    held, known = vault.load_secrets(), vault.connected_account()
    assert known
    vault.keep_login(
        known, vault.GoogleSecrets(held.client_secret, held.refresh_token, held.access_token, 1.0)
    )


def tokens_asked(google: Emulator) -> int:
    return [each.path for each in google.asked()].count("/oauth2/token")


def sent(google: Emulator) -> list[Asked]:
    return [each for each in google.asked() if each.path.endswith("/messages/send")]
