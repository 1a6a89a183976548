"""Giving the login back to Google."""

import asyncio
from urllib.parse import urlencode

from andy_cli.errors import ToolError
from andy_cli.settings import Settings
from andy_cli.toolbox.google.http.apis import safe_address
from andy_cli.toolbox.google.http.exchange import ApiCall, Broken, Whole
from andy_cli.toolbox.google.login import vault


async def withdraw_login(settings: Settings) -> str:
    """Tell Google to forget the login; empty if it has, else why not, in one sentence."""
    # 60 ms, and only who uses Google needs it.
    from andy_cli.toolbox.google.http.wire import open_http

    try:
        known_secrets = await asyncio.to_thread(vault.load_secrets)
        url = safe_address(settings, "google.revoke_url")
        revoke_form = urlencode({"token": known_secrets.refresh_token}).encode()
        request = ApiCall(
            "POST", url, content=revoke_form, kind="application/x-www-form-urlencoded"
        )
        async with open_http(url, settings) as transport:
            reply = await transport.exchange(request, "", Whole())
    except (ToolError, Broken) as error:
        return str(error)
    # 400: it was not valid any more, which is as good.
    return "" if reply.ok or reply.status == 400 else f"Google answered {reply.status}."
