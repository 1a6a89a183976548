"""`andy google login|logout|status`."""

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from andy_cli.errors import AndyError, ToolError, UsageError
from andy_cli.frontends.terminal.tables import print_json
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.settings import Settings, config_folder, load
from andy_cli.toolbox.google.lazy import LOG_IN, login_file
from andy_cli.toolbox.google.login import scopes, vault
from andy_cli.toolbox.google.login.consent import (
    HOW,
    Client,
    client_in,
    code_in,
    connect_account,
    make_question,
)
from andy_cli.toolbox.google.login.renewal import withdraw_login
from andy_cli.toolbox.google.login.vault import GoogleAccount
from andy_cli.toolbox.login_redirect import LoginRedirect

NOWHERE = "http://127.0.0.1:1/"
"""A browser elsewhere is sent there: no page opens, and the address in its bar holds the code."""


def log_in(client_file: str, part_names: str, no_browser: bool, overrides: Sequence[str]) -> None:
    """Connect an account. Raises AndyError."""
    settings = load(overrides)
    client = _find_client(client_file)
    wanted_scopes = scopes.requested_scopes(part_names)
    try:
        connect = _connect_by_paste if no_browser else _connect_by_browser
        account = asyncio.run(connect(settings, client, wanted_scopes))
    except ToolError as error:
        raise AndyError(str(error)) from error
    sys.stdout.write(f"Connected to Google{_describe_account(account)}\n")
    refused = [
        scope for scope in wanted_scopes if scope not in account.scopes and scope not in scopes.WHO
    ]
    if refused:
        refused_names = ", ".join(scope.removeprefix(scopes.ADDRESS) for scope in refused)
        sys.stdout.write(f"Not granted: {refused_names}. What needs it is not offered.\n")


def _find_client(written: str) -> Client:
    """The client that was named, else that of the last login, else the one in our folder."""
    if written:
        return client_in(Path(written).expanduser())
    try:
        connected = vault.connected_account()
        if connected is not None:
            return Client(connected.client_id, vault.load_secrets().client_secret)
    except ToolError:
        pass  # what is left of a login is no reason not to log in again
    default = config_folder() / "google-client.json"
    if default.is_file():
        return client_in(default)
    raise UsageError("Google has to know andy first: give a client with --client FILE.", HOW)


async def _connect_by_browser(
    settings: Settings, client: Client, wanted_scopes: list[str]
) -> GoogleAccount:
    redirect = LoginRedirect[str]()
    async with redirect.listen():
        question = make_question(settings, client, wanted_scopes, redirect.address)
        redirect.expect(partial(code_in, question))
        is_opened = _open_browser(question.url)
        instruction = "Your browser asks whether andy may. If not, open" if is_opened else "Open"
        sys.stdout.write(
            f"{instruction} this address in a browser on this machine:\n\n{question.url}\n\n"
        )
        if not is_opened:
            sys.stdout.write("In a browser elsewhere it works with --no-browser.\n")
        sys.stdout.flush()
        code = await _wait_for_code(redirect, settings.number("google.login_timeout"))
    return await connect_account(settings, client, question, code)


async def _wait_for_code(redirect: LoginRedirect[str], seconds: float) -> str:
    try:
        return await redirect.wait(seconds)
    except TimeoutError as error:
        raise ToolError(
            f"Nobody said yes in the browser within {seconds:g} s. Run `andy google login` again; "
            "google.login_timeout gives more time."
        ) from error


async def _connect_by_paste(
    settings: Settings, client: Client, wanted_scopes: list[str]
) -> GoogleAccount:
    question = make_question(settings, client, wanted_scopes, NOWHERE)
    sys.stdout.write(
        f"Open this address in any browser and say yes:\n\n{question.url}\n\n"
        "It ends at a page that does not open. Paste the address of that page here: "
    )
    sys.stdout.flush()
    code = code_in(question, sys.stdin.readline())
    if code is None:
        raise ToolError("That address is no answer to this question. Try again.")
    return await connect_account(settings, client, question, code)


def _open_browser(url: str) -> bool:
    """Start the browser, if there is one with a window: one in this terminal would take it over."""
    import webbrowser  # 10 ms, and only the login needs it

    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    ):
        return False
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    # Some only come back when their window is closed.
    threading.Thread(target=browser.open, args=(url,), daemon=True).start()
    return True


def _describe_account(account: GoogleAccount) -> str:
    email = f" as {one_line(account.email)}" if account.email else ""
    part_names = ", ".join(scopes.in_words(account.scopes)) or "nothing"
    storage = "the system's keyring" if account.kept == "keyring" else login_file()
    return f"{email}, for {part_names}. The login is kept in {storage}."


def log_out(overrides: Sequence[str]) -> None:
    """End the login at Google and here. Raises AndyError."""
    settings = load(overrides)
    try:
        was_connected = vault.connected_account() is not None
    except ToolError:
        was_connected = True
    if not was_connected:
        sys.stdout.write("Google was not connected.\n")
        return
    withdrawal_fault = asyncio.run(withdraw_login(settings))
    vault.forget_login()
    sys.stdout.write("Google is not connected any more; the login is deleted here.\n")
    if withdrawal_fault:
        sys.stdout.write(
            f"At Google it may still be there ({withdrawal_fault}) "
            "Take it out at https://myaccount.google.com/permissions.\n"
        )


def show_status(as_json: bool) -> None:
    """Print who is connected and for what, without asking Google. Raises AndyError."""
    try:
        account = vault.connected_account()
    except ToolError as error:
        raise AndyError(str(error)) from error
    if as_json:
        print_json(_make_record(account))
    elif account is None:
        sys.stdout.write(f"Google is not connected. {LOG_IN}\n")
    else:
        sys.stdout.write(f"Google is connected{_describe_account(account)}\n")


def _make_record(account: GoogleAccount | None) -> dict[str, object]:
    if account is None:
        return {"connected": False}
    return {
        "connected": True,
        "account": account.email,
        "parts": scopes.in_words(account.scopes),
        "scopes": list(account.scopes),
        "kept": account.kept,
        "file": str(login_file()),
    }
