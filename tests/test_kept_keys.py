"""Keys that the user had kept: for the owner alone, and after those of the environment."""

import asyncio
from pathlib import Path

import pytest

from andy_cli.errors import UsageError
from andy_cli.models.kept_keys import keep_key, keys_file, read_keys
from andy_cli.models.select import choose_model, key_of, keyed_providers
from andy_cli.settings import load


@pytest.fixture(autouse=True)
def _a_home_of_its_own(home: Path) -> None:
    pass


def test_a_kept_key_is_used_and_said_to_be_kept() -> None:
    path = keep_key("GROQ_API_KEY", 'k"1')
    assert keep_key("MISTRAL_API_KEY", "k2") == path == keys_file()
    assert path.stat().st_mode & 0o077 == 0
    assert list(path.parent.iterdir()) == [path]
    assert read_keys() == {"GROQ_API_KEY": 'k"1', "MISTRAL_API_KEY": "k2"}
    chosen = asyncio.run(choose_model(load(["network.scan=false"])))
    assert (chosen.endpoint.key, chosen.why) == ('k"1', "GROQ_API_KEY is kept")
    assert [name for _, name in keyed_providers()] == ["GROQ_API_KEY", "MISTRAL_API_KEY"]


def test_a_key_in_the_environment_comes_before_the_kept_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_key("GROQ_API_KEY", "kept")
    monkeypatch.setenv("GROQ_API_KEY", "set")
    chosen = asyncio.run(choose_model(load(["network.scan=false"])))
    assert (chosen.endpoint.key, chosen.why) == ("set", "GROQ_API_KEY is set")
    assert key_of("GROQ_API_KEY") == "set"


def test_a_damaged_file_of_keys_is_named_without_what_it_holds() -> None:
    path = keep_key("GROQ_API_KEY", "k")
    path.write_text('GROQ_API_KEY = "gsk_half')
    with pytest.raises(UsageError, match=r"secrets\.toml cannot be read") as raised:
        keep_key("GROQ_API_KEY", "other")
    assert "gsk_" not in str(raised.value)
    assert path.read_text() == 'GROQ_API_KEY = "gsk_half'
