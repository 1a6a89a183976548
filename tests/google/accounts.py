"""A user with a Google account: the client, the browser, the login, and tools that use it."""

import asyncio
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from functools import cache
from html import unescape
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any

from andy_cli.guard.workspace import ResourceAccess
from andy_cli.messages import Status, ToolCall, ToolResult
from andy_cli.resources import bundled_folder
from andy_cli.settings import load
from andy_cli.toolbox.collection import tools_in
from andy_cli.toolbox.google.login import scopes, vault
from andy_cli.toolbox.google.login.consent import Client, code_in, connect_account, make_question
from andy_cli.toolbox.google.login.vault import GoogleAccount, GoogleSecrets
from andy_cli.toolbox.google.seen_names import forget_names
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import Tool
from tests.google.emulator import Emulator
from tests.tools import work_in

EMAIL = "ada@example.org"
CLIENT = Client("andy-test.apps.googleusercontent.com", "GOCSPX-kanarienvogel-secret")
FAMILIES = ("mail", "drive", "calendar", "docs", "sheets", "tasks")
APIS = ("gmail", *FAMILIES[1:])
REDIRECT = "http://127.0.0.1:9/"
TOKEN = "ya29.kanarienvogel-access"
Data = Any


def tools() -> Registry:
    """All tools of Google."""
    return Registry(load_once())


@cache
def load_once() -> Sequence[Tool]:
    """Load them for all tests: to make their schemas takes longer than most of those."""
    files = [bundled_folder("tools") / f"google_{family}.py" for family in FAMILIES]
    return [tool for file in files for tool in tools_in(file)]


def used(tools: Registry, tool: str, /, **arguments: object) -> ToolResult:
    """What a call gives; arguments that do not fit fail as they would in a turn."""
    problems = tools.check(tool, arguments)
    assert not problems, problems
    return asyncio.run(tools.call(ToolCall("call00001", tool, arguments)))


def claimed(tools: Registry, tool: str, /, **arguments: object) -> ResourceAccess:
    return tools.find_access(ToolCall("call00001", tool, arguments))


def told(result: ToolResult) -> Data:
    """The data of a call that went well."""
    assert result.status is Status.SUCCESS, result.content
    return json.loads(result.content)


def client_file(folder: Path) -> Path:
    path = folder / "client.json"
    path.write_text(
        f'{{"installed": {{"client_id": "{CLIENT.id}", "client_secret": "{CLIENT.secret}"}}}}'
    )
    return path


def world(**more: object) -> dict[str, Any]:
    """What the emulator begins with: one user, one client, and what a test adds."""
    client = {
        "client_id": CLIENT.id,
        "client_secret": CLIENT.secret,
        "name": "andy",
        "redirect_uris": [REDIRECT],
    }
    primary = {"id": "primary", "summary": EMAIL, "primary": True, "time_zone": "UTC"}
    return {
        "users": [{"email": EMAIL, "name": "Ada Finch"}],
        "oauth_clients": [client],
        "calendars": [primary],
        **more,
    }


def overrides(url: str, *more: str) -> list[str]:
    """Settings that lead to a stand-in of Google, and waste no time there."""
    return [
        *(f"google.{api}_url={url}" for api in APIS),
        f"google.auth_url={url}/o/oauth2/v2/auth",
        f"google.token_url={url}/oauth2/token",
        f"google.revoke_url={url}/oauth2/revoke",
        "network.first_backoff=0.01",
        *more,
    ]


def work_with(url: str, folder: Path, *more: str) -> None:
    forget_names()
    work_in(folder, *overrides(url, *more))


class Unfollowed(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        request: urllib.request.Request,
        file: IO[bytes],
        code: int,
        message: str,
        headers: HTTPMessage,
        address: str,
    ) -> None:
        return None


def say_yes(url: str) -> str:
    """Do what a person does on Google's page; returns where the browser is sent then."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        page = answer.read().decode()
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)
    form = urllib.parse.urlencode([(name, unescape(value)) for name, value in fields])
    action = re.search(r'action="([^"]*)"', page)
    assert action, page
    target = urllib.parse.urljoin(url, unescape(action[1]))
    try:
        urllib.request.build_opener(Unfollowed).open(target, form.encode(), timeout=30)
    except urllib.error.HTTPError as sent:
        sent.close()
        return str(sent.headers["location"])
    raise AssertionError("the page did not send the browser back")


def log_in(emulator: Emulator, parts: str = "") -> GoogleAccount:
    """Connect the user of `world` for real, without the command."""
    settings = load(overrides(emulator.url), environment={})
    asked = make_question(settings, CLIENT, scopes.requested_scopes(parts), REDIRECT)
    emulator.expect(REDIRECT)
    code = code_in(asked, say_yes(asked.url))
    assert code
    return asyncio.run(connect_account(settings, CLIENT, asked, code))


def hold(token: str = TOKEN, parts: str = "", expires: float = 4e9) -> GoogleAccount:
    """Be connected, by a login that nobody gave."""
    held = GoogleSecrets(CLIENT.secret, "1//0kanarienvogel-refresh", token, expires)
    return vault.keep_login(
        GoogleAccount(EMAIL, CLIENT.id, tuple(scopes.requested_scopes(parts)), "file"), held
    )
