"""Asking the user, on Google's own page, whether andy may use the account.

OAuth 2.0 for installed programs: the browser is sent to Google with a question, and comes back to
this machine with a code, which is exchanged for tokens (RFC 8252; PKCE is RFC 7636). The client is
the user's own: its secret is none that andy could keep from anybody.

Not google-auth-oauthlib: it brings a second HTTP client with it, which knows nothing of our time
limits, and takes every part that was not granted for a failure. The tests hold this against it.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from andy_cli.errors import ToolError, UsageError
from andy_cli.foreign_values import as_record, decode_base64url
from andy_cli.settings import Settings
from andy_cli.toolbox.google.http.apis import safe_address
from andy_cli.toolbox.google.login import vault
from andy_cli.toolbox.google.login.renewal import request_tokens, token_lifetime
from andy_cli.toolbox.google.login.vault import GoogleAccount, GoogleSecrets

HOW = "docs/google.md tells how to make one."


@dataclass(frozen=True, slots=True)
class Client:
    id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ConsentQuestion:
    """The address that the browser is sent to, and the marks that its answer is known by."""

    url: str
    redirect: str
    state: str
    verifier: str = field(repr=False)


def client_in(path: Path) -> Client:
    """The client in the JSON file that Google's console gives. Raises UsageError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", HOW) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON file of a client.", HOW) from error
    clients_by_kind = as_record(content)
    if "web" in clients_by_kind:
        raise UsageError(f"{path} is for a web site; andy needs one for a desktop app.", HOW)
    installed = clients_by_kind.get("installed")
    if isinstance(installed, dict):
        id, secret = installed.get("client_id"), installed.get("client_secret")
        if isinstance(id, str) and isinstance(secret, str) and id and secret:
            return Client(id, secret)
    raise UsageError(f"{path} holds no client of a desktop app.", HOW)


def make_question(
    settings: Settings, client: Client, scopes: Sequence[str], redirect: str
) -> ConsentQuestion:
    """Make the question for the user. Raises ToolError for an address that is not safe."""
    state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(64)
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": redirect,
        "scope": " ".join(scopes),
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
        # Without these two Google gives what can be renewed the first time alone.
        "access_type": "offline",
        "prompt": "consent",
    }
    url = f"{safe_address(settings, 'google.auth_url')}?{urlencode(query)}"
    return ConsentQuestion(url, redirect, state, verifier)


def code_in(question: ConsentQuestion, address: str) -> str | None:
    """The code in an address that the browser was sent back to; None if it answers another
    question. Raises ToolError for a no."""
    try:
        query = parse_qs(urlsplit(address.strip()).query)
    except ValueError:
        return None
    state, code, error = ((query.get(name) or [""])[0] for name in ("state", "code", "error"))
    if not secrets.compare_digest(state.encode(), question.state.encode()):
        return None
    if error == "access_denied":
        raise ToolError("Google was told no; nothing was changed here.")
    if error or not code:
        raise ToolError("Google did not give its leave. Run `andy google login` again.")
    return code


async def connect_account(
    settings: Settings, client: Client, question: ConsentQuestion, code: str
) -> GoogleAccount:
    """Exchange the code for tokens and keep them. Raises ToolError or UsageError."""
    token_form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": question.redirect,
        "code_verifier": question.verifier,
        "client_id": client.id,
        # In the form, not in a header: not every server reads both.
        "client_secret": client.secret,
    }
    secrets_sent = GoogleSecrets(client.secret, code)
    answer = await request_tokens(settings, token_form, secrets_sent)
    renewable, scope = answer.get("refresh_token"), answer.get("scope")
    if not isinstance(renewable, str) or not renewable:
        raise ToolError(
            "Google gave a login that cannot be renewed. Run `andy google login` again."
        )
    asked_for = parse_qs(urlsplit(question.url).query)["scope"][0]
    account = GoogleAccount(
        email=_email_in(answer.get("id_token")),
        client_id=client.id,
        scopes=tuple((scope if isinstance(scope, str) else asked_for).split()),
        kept="file",
    )
    new_secrets = GoogleSecrets(
        client.secret, renewable, answer["access_token"], time.time() + token_lifetime(answer)
    )
    return vault.keep_login(account, new_secrets)


def _email_in(token: object) -> str:
    """Read whose account it is. Google itself sent it over TLS, so its signature says no more."""
    try:
        payload = str(token).split(".")[1]
        claims = json.loads(decode_base64url(payload))
        email = claims.get("email")
    except (IndexError, ValueError, AttributeError, RecursionError):
        return ""
    return email if isinstance(email, str) and email.isprintable() else ""
