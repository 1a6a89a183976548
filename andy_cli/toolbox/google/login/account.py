"""The Google account that is connected, as far as it may be known by everybody."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from andy_cli.errors import ToolError, UsageError
from andy_cli.toolbox.google.lazy import LOG_IN, login_file
from andy_cli.toolbox.google.login.scopes import is_granted

Keeper = Literal["keyring", "file"]


@dataclass(frozen=True, slots=True)
class GoogleAccount:
    email: str
    """Empty if Google did not say."""
    client_id: str
    scopes: tuple[str, ...]
    """The scopes that were granted, with full addresses."""
    kept: Keeper
    """The place of the secrets: in the system's keyring, or in the file itself."""


def record() -> dict[str, Any]:
    """The file's content; empty where there is none. Raises ToolError for one that is damaged."""
    try:
        content = json.loads(login_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ToolError(f"The Google login in {login_file()} cannot be read. {LOG_IN}") from error
    if not isinstance(content, dict) or not isinstance(content.get("client_id"), str):
        raise ToolError(f"The Google login in {login_file()} is damaged. {LOG_IN}")
    return content


def connected_account() -> GoogleAccount | None:
    """Find who is connected, if anybody. Raises ToolError for a damaged file."""
    login_record = record()
    if not login_record:
        return None
    scopes = login_record.get("scopes")
    return GoogleAccount(
        email=str(login_record.get("email") or ""),
        client_id=login_record["client_id"],
        scopes=tuple(map(str, scopes)) if isinstance(scopes, list) else (),
        kept="keyring" if login_record.get("kept") == "keyring" else "file",
    )


def missing_scope(scope: str) -> str:
    """Say what is missing before a tool can work that needs this scope; empty if nothing is."""
    try:
        account = connected_account()
    except (ToolError, UsageError) as error:
        return str(error)
    if account is None:
        return f"Google is not connected. {LOG_IN}"
    if not is_granted(account.scopes, scope):
        return f"The Google login does not allow this ({scope}). Run `andy google login` again."
    return ""
