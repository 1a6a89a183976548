"""No run of a secret gets through, and prose does."""

import base64
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.redact import PART
from andy_cli.guard.redactor import (
    MASK,
    RUN_LENGTH,
    mask_secrets,
    redact_text,
    redact_value,
    secrets_of,
)
from tests.cases import loop_over, rows

ROWS = rows("secrets.jsonl", "guard/own_secrets.jsonl")
ELSEWHERE = {"fs": "modes of files: test_capture.py", "mcp_env": "what children inherit"}
TEXTS = [row for row in ROWS if row["where"] not in ELSEWHERE and row["where"] != "stream"]


def runs(secret: str) -> set[str]:
    return {secret[at : at + RUN_LENGTH] for at in range(len(secret) - RUN_LENGTH + 1)}


def known(row: dict[str, Any]) -> list[str]:
    return [row["secret"]] if row["cls"] == "known" else []


@loop_over("row", [row for row in TEXTS if row["expect"] == "redact"], ids=lambda row: row["id"])
def test_no_run_of_a_secret_comes_out(row: dict[str, Any]) -> None:
    said = redact_text(row["text"], known(row))
    assert not [run for run in runs(row["secret"]) if run in said]


@loop_over("row", [row for row in TEXTS if row["expect"] == "redact"], ids=lambda row: row["id"])
def test_redacting_twice_changes_nothing_more(row: dict[str, Any]) -> None:
    once = redact_text(row["text"], known(row))
    assert redact_text(once, known(row)) == once


@loop_over(
    "text",
    [row["text"] for row in ROWS if row["expect"] == "keep"]
    + [
        "Play the song Secret Garden, then tell me the password policy.",
        "password: required",
        "The token: it is what a lexer returns.",
        "max_tokens=4096",
        'password=os.environ["DB_PASSWORD"]',
        "token = get_token()",
        "see https://example.org/a:b/c@d and mail bea@example.org",
        "the desk-reservation-system-overview page",
        "risk-assessment-of-the-century",
    ],
)
def test_prose_and_code_stay_as_they_are(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("before", [r"\n", r"\t", r"\u00e9", "é", "=", "("])
def test_a_form_is_known_after_an_escape_of_json(before: str) -> None:
    key = "sk-proj-EXAMPLE0EXAMPLE0EXAMPLE0"
    assert key not in redact_text(before + key)


def test_both_halves_of_a_known_secret_are_hidden() -> None:
    secret = "0ELPMAXE0ELPMAXE0ELPMAXEzz"
    assert redact_text(f"a {secret[:13]} b {secret[13:]} c", [secret]) == f"a {MASK} b {MASK} c"


@pytest.mark.parametrize("before", ["", "a", "ab"])
def test_a_known_secret_is_known_in_base64_and_in_addresses(before: str) -> None:
    secret = "0ELP/AXE0+LPMAXE0ELPMAXEzz"
    encoded = base64.b64encode(f"{before}{secret}".encode()).decode()
    assert (
        len(redact_text(f"Basic {encoded}", [secret]).replace(MASK, ""))
        < len("Basic ") + RUN_LENGTH
    )
    assert "AXE0" not in redact_text(quote(secret, safe=""), [secret])


def test_a_secret_that_goes_on_in_the_next_line_is_hidden_whole() -> None:
    assert redact_text("API_KEY=Zx8Qw\nB3nTb9Lk2Vm7RsYp4\nHdJf9x\nThe end") == (
        f"API_KEY={MASK}\n{MASK}\n{MASK}\nThe end"
    )
    assert redact_text("password: tr0ub4dor\ntrack01\nsong2.mp3") == (
        f"password: {MASK}\ntrack01\nsong2.mp3"
    )


def test_a_short_known_value_is_hidden_only_whole() -> None:
    assert redact_text("lm-studio lm-stud", ["lm-studio"]) == f"{MASK} lm-stud"


def test_a_value_is_hidden_by_the_name_beside_it() -> None:
    value = {"Authorization": "x y", "a": [{"api_key": "short"}], "token": {"type": "string"}}
    assert redact_value(value) == {
        "Authorization": MASK,
        "a": [{"api_key": MASK}],
        "token": {"type": "string"},
    }


@given(st.text(), st.text(alphabet="abcXYZ012", min_size=16, max_size=40), st.text())
def test_a_known_secret_never_comes_out(before: str, secret: str, after: str) -> None:
    assert not [
        run for run in runs(secret) if run in redact_text(before + secret + after, [secret])
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *("sk-", "a_", "a-", "eyJ-", "Cookie:", "://a:", "token=", "Bearer ", "=", " ", "\\u"),
        *("mysql -p", "tokens: [", 'tokens: ["aB1aB1aB1",', "<token>", 'token="', "key=/a1B"),
        *("sk-EXAMPLE0EXAMPLE0EXAMPLE0\n", "token=abcdefgh12\nk2Vm7RsYp4a\n", "password: |\n"),
    ],
)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    repeated = text * (200_000 // len(text))
    assert len(redact_text(repeated, ["0ELPMAXE0ELPMAXE0ELPMAXEzz"])) <= len(repeated)


@given(st.text() | st.text(alphabet="sk-ghp_0aA:=\"' tokenpwd/\n.@?&", max_size=80))
def test_nothing_is_raised_and_a_second_time_changes_nothing(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


def test_the_environment_gives_its_secrets_away_by_their_names() -> None:
    given_by = {
        "OPENAI_API_KEY": "abcdefgh1",
        "HOME": "/home/bea",
        "GH_TOKEN": "",
        "KEYBOARD": "de",
        "PWD": "/home/bea/songs",
        "OLDPWD": "/home/bea",
    }
    assert secrets_of(given_by) == ("abcdefgh1",)


def test_debug_redact_joins_what_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "0ELPMAXE0ELPMAXE")
    split = next(row for row in ROWS if row["where"] == "stream")
    for text in (split["text"], "it is 0ELPMAXE0ELPMAXE"):
        said = str(PART.answer({"text": text}, ChunkCut())["text"])
        assert not [run for run in runs(split["secret"]) | {"0ELPMAXE"} if run in said]
    with pytest.raises(TypeError, match="text"):
        PART.answer({"text": 3}, ChunkCut())


def test_stars_move_nothing() -> None:
    assert mask_secrets("a 0ELPMAXE0 b", ["0ELPMAXE0"]) == "a ********* b"
    assert redact_text("a short one", ["short"]) == "a short one"
    assert redact_value([1, None, {"token": 3}]) == [1, None, {"token": 3}]
