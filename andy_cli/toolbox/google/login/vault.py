"""The login: whose account is connected, and the place of its secrets.

That is the system's keyring if it has one, else a 0600 file.

The file is replaced in one step; a damaged one is set aside, never overwritten (P12).
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from andy_cli.errors import ToolError, UsageError
from andy_cli.settings import replace_file
from andy_cli.toolbox.google.lazy import LOG_IN, login_file
from andy_cli.toolbox.google.login.scopes import is_granted

SERVICE = "andy-cli"
MAX_SECONDS = 1e12
"""Seconds since 1970 of a time that can be reckoned with."""
MAX_CHARACTERS = 1_200
"""Characters that every system's keyring takes: Windows gives an entry 2,560 bytes."""


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


@dataclass(frozen=True, slots=True)
class GoogleSecrets:
    """None of it is ever written out: it must not get into an error by accident (P4)."""

    client_secret: str = field(repr=False)
    refresh_token: str = field(repr=False)
    access_token: str = field(default="", repr=False)
    expires: float = 0.0
    """When the access token runs out, in seconds since the epoch."""

    def values(self) -> tuple[str, ...]:
        return (self.client_secret, self.refresh_token, self.access_token)


class Keyring(Protocol):
    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


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
    is_in_keyring = login_record.get("kept") == "keyring"
    return GoogleAccount(
        email=str(login_record.get("email") or ""),
        client_id=login_record["client_id"],
        scopes=tuple(map(str, scopes)) if isinstance(scopes, list) else (),
        kept="keyring" if is_in_keyring else "file",
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


def system_keyring() -> Keyring | None:
    """The system's keyring; None without the extra or without anything safe behind it."""
    try:
        import keyring as system  # 60 ms, and only who uses Google needs it
    except ImportError:
        return None
    keyring_backend = system.get_keyring()
    # Below 1 are those that keep nothing and those that keep it in plain sight.
    return keyring_backend if keyring_backend.priority >= 1 else None


def _keyring_failures() -> tuple[type[Exception], ...]:
    """List what a keyring may raise: it is a program of its own, behind a bus of its own."""
    from keyring.errors import KeyringError  # with the extra alone

    return (KeyringError, OSError, RuntimeError, ValueError)


def load_secrets() -> GoogleSecrets:
    """Raises ToolError where they are gone."""
    account = connected_account()
    if account is None:
        raise ToolError(f"Google is not connected. {LOG_IN}")
    if account.kept == "file":
        return _read_secrets(record().get("secrets"))
    system = system_keyring()
    if system is None:
        raise ToolError(f"The Google login is in a keyring that is not there any more. {LOG_IN}")
    try:
        kept_text = system.get_password(SERVICE, str(login_file()))
        return _read_secrets(json.loads(kept_text or "null"))
    except _keyring_failures() as error:
        raise ToolError(f"The keyring does not give the Google login out. {LOG_IN}") from error


def _read_secrets(stored: object) -> GoogleSecrets:
    if not isinstance(stored, Mapping) or not stored.get("refresh_token"):
        raise ToolError(f"The Google login is not complete. {LOG_IN}")
    expires = stored.get("expires")
    if not (isinstance(expires, int | float) and expires < MAX_SECONDS):
        expires = 0.0
    return GoogleSecrets(
        client_secret=str(stored.get("client_secret") or ""),
        refresh_token=str(stored["refresh_token"]),
        access_token=str(stored.get("access_token") or ""),
        expires=float(expires),
    )


def keep_login(account: GoogleAccount, new_secrets: GoogleSecrets) -> GoogleAccount:
    """Keep the login, in place of any before; returns it with where its secrets are.

    Raises UsageError if that cannot be done.
    """
    stored = asdict(new_secrets)
    if _in_keyring(json.dumps(stored)):
        account = replace(account, kept="keyring")
        _write_file(asdict(account))
    else:
        account = replace(account, kept="file")
        _write_file({**asdict(account), "secrets": stored})
    return account


def _in_keyring(text: str) -> bool:
    """Put a text into the keyring; tell whether that worked: one that is shut takes none."""
    system = system_keyring()
    if system is None or len(text) > MAX_CHARACTERS:
        return False
    try:
        system.set_password(SERVICE, str(login_file()), text)
        return system.get_password(SERVICE, str(login_file())) == text
    except _keyring_failures():
        return False


def forget_login() -> bool:
    """Delete the login here; whether there was one. Raises UsageError if it stays."""
    existed = login_file().exists()
    if (system := system_keyring()) is not None:
        with contextlib.suppress(*_keyring_failures()):
            system.delete_password(SERVICE, str(login_file()))
    try:
        login_file().unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{login_file()} cannot be deleted: {error.strerror}.") from error
    return existed


def _write_file(content: Mapping[str, Any]) -> None:
    path = login_file()
    try:
        _set_aside(path)
        replace_file(path, json.dumps(content, indent=2))
    except OSError as error:
        raise UsageError(f"The login cannot be kept in {path}: {error.strerror}.") from error


def _set_aside(path: Path) -> None:
    try:
        record()
    except ToolError:
        path.replace(path.with_suffix(".damaged"))
