"""An access token that holds: the one there is, or a new one from Google; and giving it back.

A token lasts an hour. Processes that find it run out at the same time renew it once: whoever has
the lock does, the others read what it wrote.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, BinaryIO
from urllib.parse import urlencode

from andy_cli.errors import ToolError, ToolTimeout, UsageError
from andy_cli.foreign_values import read_json
from andy_cli.settings import Settings, lock_file
from andy_cli.toolbox.google.http.apis import safe_address
from andy_cli.toolbox.google.http.exchange import ApiCall, ApiReply, BrokenExchange, WholeAnswer
from andy_cli.toolbox.google.http.refusals import explain_refusal, read_refusal
from andy_cli.toolbox.google.lazy import LOG_IN, login_file
from andy_cli.toolbox.google.login import vault
from andy_cli.toolbox.google.login.vault import GoogleSecrets, connected_account

EARLY = 60.0
"""Seconds before its end from which a token is not used any more."""

TIMEOUT = 15.0
"""Seconds to wait for another process that renews."""

MAX_TRIES = 3


async def access_token(settings: Settings, refused: str = "") -> str:
    """An access token that is not the `refused` one. Raises ToolError."""
    # A keyring may ask the user something; nothing else waits for it.
    known_secrets = await asyncio.to_thread(vault.load_secrets)
    if _still_holds(known_secrets, refused):
        return known_secrets.access_token
    async with _hold_lock():
        known_secrets = await asyncio.to_thread(vault.load_secrets)
        if _still_holds(known_secrets, refused):
            return known_secrets.access_token
        renewed = await _renew_token(settings, known_secrets)
        account = connected_account()
        if account is not None:
            # Not kept, it is good for this time all the same.
            with contextlib.suppress(UsageError):
                await asyncio.to_thread(vault.keep_login, account, renewed)
        return renewed.access_token


def _still_holds(known_secrets: GoogleSecrets, refused: str) -> bool:
    fresh = known_secrets.expires > time.time() + EARLY
    return bool(known_secrets.access_token) and known_secrets.access_token != refused and fresh


async def _renew_token(settings: Settings, known_secrets: GoogleSecrets) -> GoogleSecrets:
    account = connected_account()
    token_form = {
        "client_id": account.client_id if account else "",
        "client_secret": known_secrets.client_secret,
        "refresh_token": known_secrets.refresh_token,
        "grant_type": "refresh_token",
    }
    answer = await request_tokens(settings, token_form, known_secrets)
    return replace(
        known_secrets,
        access_token=answer["access_token"],
        refresh_token=str(answer.get("refresh_token") or known_secrets.refresh_token),
        expires=time.time() + token_lifetime(answer),
    )


async def request_tokens(
    settings: Settings, token_form: dict[str, str], known_secrets: GoogleSecrets
) -> dict[str, Any]:
    """Request tokens for a form, an access token among them (RFC 6749, section 5).

    Raises ToolError with a sentence.
    """
    # 60 ms, and only who uses Google needs it.
    from andy_cli.toolbox.google.http.wire import open_http

    url = safe_address(settings, "google.token_url")
    request = _form_call(url, token_form)
    async with open_http(url, settings) as exchange:
        for attempt in range(1, MAX_TRIES + 1):
            body = WholeAnswer()
            try:
                reply = await exchange(request, "", body)
            except BrokenExchange as broken:
                if attempt == MAX_TRIES:
                    message = f"The login at Google did not come about. {broken}"
                    raise (ToolTimeout if broken.late else ToolError)(message) from broken
            else:
                if reply.status < 500 or attempt == MAX_TRIES:
                    return _read_answer(reply, body, known_secrets)
            await asyncio.sleep(settings.number("network.first_backoff") * attempt)
    raise AssertionError("the last try returns or raises")


def _form_call(url: str, form: dict[str, str]) -> ApiCall:
    kind = "application/x-www-form-urlencoded"
    return ApiCall("POST", url, content=urlencode(form).encode(), kind=kind)


def _read_answer(
    reply: ApiReply, body: WholeAnswer, known_secrets: GoogleSecrets
) -> dict[str, Any]:
    if not reply.ok:
        refusal = read_refusal(reply.status, reply.headers, reply.refused, known_secrets.values())
        if "invalid_grant" in refusal.reasons:
            raise ToolError(f"The Google login has run out or was withdrawn. {LOG_IN}")
        if refusal.reasons & {"invalid_client", "unauthorized_client"}:
            raise ToolError(f"Google does not know the client that andy uses. {LOG_IN}")
        raise ToolError(
            explain_refusal(refusal, "Google's login", "There is no login there", False)
        )
    answer = read_json(body.data)
    if not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
        raise ToolError("Google's login answered something else than a token. Try again.")
    return answer


def token_lifetime(answer: dict[str, Any]) -> float:
    """Seconds that a token lasts; an hour if that is not said."""
    seconds = answer.get("expires_in")
    return float(seconds) if isinstance(seconds, int | float) and 0 < seconds < 1e7 else 3600.0


@asynccontextmanager
async def _hold_lock() -> AsyncIterator[None]:
    """Hold the lock of the login; where it cannot be had in time, go on without: renewing twice
    costs a request and nothing else."""
    try:
        lock = login_file().with_suffix(".lock").open("ab")
    except OSError:
        yield
        return
    with lock:
        until = time.monotonic() + TIMEOUT
        while not _lock_file(lock) and time.monotonic() < until:
            await asyncio.sleep(0.05)
        yield


def _lock_file(lock: BinaryIO) -> bool:
    """Lock the file until it is closed; tell whether it is ours."""
    try:
        lock_file(lock.fileno())
    except OSError:
        return False
    return True


async def withdraw_login(settings: Settings) -> str:
    """Tell Google to forget the login; empty if it has, else why not, in one sentence."""
    # 60 ms, and only who uses Google needs it.
    from andy_cli.toolbox.google.http.wire import open_http

    try:
        known_secrets = await asyncio.to_thread(vault.load_secrets)
        url = safe_address(settings, "google.revoke_url")
        request = _form_call(url, {"token": known_secrets.refresh_token})
        async with open_http(url, settings) as exchange:
            reply = await exchange(request, "", WholeAnswer())
    except (ToolError, BrokenExchange) as error:
        return str(error)
    # 400: it was not valid any more, which is as good.
    return "" if reply.ok or reply.status == 400 else f"Google answered {reply.status}."
