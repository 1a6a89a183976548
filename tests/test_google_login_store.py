"""Where the login is kept: in a keyring, through the package of that name, or in a file."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import keyring.core
import pytest
from keyring.backends.fail import Keyring as Failing
from keyring.backends.null import Keyring as Nothing
from keyring.errors import KeyringLocked, PasswordDeleteError

from andy_cli.errors import ToolError, UsageError
from andy_cli.toolbox.google.lazy import login_file
from andy_cli.toolbox.google.login import vault
from andy_cli.toolbox.google.login.vault import GoogleSecrets
from tests.google import accounts

pytestmark = pytest.mark.usefixtures("home")

SECRETS = (accounts.CLIENT.secret, accounts.TOKEN, "1//0kanarienvogel-refresh")


class Memory:
    """A keyring that keeps what it is given for as long as the test lasts. Not a KeyringBackend:
    those are found by whoever looks for one."""

    def __init__(self, priority: float = 5, shut: bool = False) -> None:
        self.priority = priority
        self.kept: dict[tuple[str, str], str] = {}
        self.shut = shut

    def get_password(self, service: str, username: str) -> str | None:
        if self.shut:
            raise KeyringLocked("it is shut")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.shut:
            raise KeyringLocked("it is shut")
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.kept:
            raise PasswordDeleteError("there is none")
        del self.kept[service, username]


def using(backend: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend)


def test_with_a_keyring_no_secret_is_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    using(memory := Memory(), monkeypatch)
    held = accounts.hold()
    assert held.kept == "keyring"
    assert vault.connected_account() == held
    written = login_file().read_text()
    assert not any(secret in written for secret in SECRETS)
    assert len(memory.kept) == 1
    assert vault.load_secrets().values() == (SECRETS[0], SECRETS[2], SECRETS[1])
    assert vault.forget_login()
    assert (memory.kept, login_file().exists(), vault.forget_login()) == ({}, False, False)


@pytest.mark.parametrize(
    "make",
    [Nothing, Failing, lambda: Memory(priority=0.5), lambda: Memory(shut=True)],
    ids=["nothing", "failing", "plain", "shut"],
)
def test_without_a_good_keyring_the_login_is_a_file_of_the_user_alone(
    make: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    using(make(), monkeypatch)
    assert accounts.hold().kept == "file"
    assert stat.S_IMODE(login_file().stat().st_mode) == 0o600
    assert vault.load_secrets().refresh_token == SECRETS[2]
    assert [each.name for each in login_file().parent.iterdir()] == ["google.json"]


def test_what_is_too_long_for_a_keyring_goes_into_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    using(Memory(), monkeypatch)
    assert accounts.hold(token="x" * 2000).kept == "file"


def test_a_keyring_that_is_gone_or_shut_says_to_log_in_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    using(memory := Memory(), monkeypatch)
    accounts.hold()
    memory.shut = True
    with pytest.raises(ToolError, match="does not give the Google login out"):
        vault.load_secrets()
    memory.shut = False
    memory.kept.clear()
    with pytest.raises(ToolError, match="not complete"):
        vault.load_secrets()
    using(Memory(priority=0), monkeypatch)
    with pytest.raises(ToolError, match="not there any more"):
        vault.load_secrets()


def test_P4_secrets_are_not_in_what_describes_them() -> None:
    held = GoogleSecrets("a-secret", "b-secret", "c-secret", 5.0)
    assert "secret" not in repr(held).replace("Secrets", "")
    assert "GOCSPX" not in repr(accounts.CLIENT)


@pytest.mark.usefixtures("no_keyring")
@pytest.mark.parametrize("content", [b"\xff\xfe", b"nonsense", b"[]", b"{}"])
def test_P12_a_damaged_login_is_set_aside_and_not_overwritten(content: bytes) -> None:
    login_file().parent.mkdir(parents=True)
    login_file().write_bytes(content)
    assert "Run `andy google login`." in vault.missing_scope("tasks")
    accounts.hold()
    assert vault.missing_scope("tasks") == ""
    assert login_file().with_suffix(".damaged").read_bytes() == content


@pytest.mark.usefixtures("no_keyring")
def test_P12_a_login_that_cannot_be_written_leaves_the_old_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accounts.hold()
    before = login_file().read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        accounts.hold(token="another")
    assert login_file().read_bytes() == before
    assert [each.name for each in login_file().parent.iterdir()] == ["google.json"]


@pytest.mark.usefixtures("no_keyring")
def test_a_login_with_odd_values_is_read_as_far_as_it_goes() -> None:
    accounts.hold()
    record = json.loads(login_file().read_text())
    odd = {"email": None, "scopes": "all", "kept": 5, "secrets": {"refresh_token": ""}}
    login_file().write_text(json.dumps({**record, **odd}))
    known = vault.connected_account()
    assert known is not None
    assert (known.email, known.scopes, known.kept) == ("", (), "file")
    with pytest.raises(ToolError, match="not complete"):
        vault.load_secrets()


@pytest.mark.usefixtures("no_keyring")
def test_asking_whether_google_is_connected_reads_one_file(home: Path) -> None:
    assert vault.missing_scope("tasks") == "Google is not connected. Run `andy google login`."
    accounts.hold(parts="tasks:read")
    assert vault.missing_scope("tasks.readonly") == ""
    assert vault.missing_scope("tasks") == (
        "The Google login does not allow this (tasks). Run `andy google login` again."
    )
