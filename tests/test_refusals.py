"""What a refusal names, and the request without it: for any body, and ending always."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.messages import Wire
from andy_cli.models.http import features
from andy_cli.models.http.features import Adapter, adapt_body, find_features
from andy_cli.models.http.refusals import (
    MAX_CHARACTERS,
    as_error,
    parse_refusal,
    read_page,
    read_refusal,
    too_long,
)

CALL = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
MESSAGES: list[Wire] = [
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "Hm."},
    {"role": "tool", "tool_call_id": "call_1", "content": "", "name": "now"},
]
BODY: dict[str, object] = {
    "model": "m",
    "messages": MESSAGES,
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "now", "parameters": {}}}],
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "max_tokens": 100,
    "stop": ["END"],
    "temperature": 0.5,
}
KNOWN = (
    features.TOOLS,
    features.TOOL_ROLE,
    features.SYSTEM_ROLE,
    features.DEVELOPER_ROLE,
    features.ALTERNATION,
    features.SHORT_IDS,
    features.NULL_CONTENT,
    features.EMPTY_CONTENT,
    features.REASONING,
    features.EXTRAS,
    features.LIMIT,
    "messages.name",
    "messages.reasoning_content",
    *BODY,
)
learned = st.sets(st.sampled_from([name for name in KNOWN if name not in ("model", "messages")]))
words = st.lists(
    st.sampled_from(
        "not supported unsupported tools tool role system messages[3].role content must be empty "
        "stop `stop` 'temperature' max_tokens too large reasoning_content missing alternate extra "
        "inputs prompt 5000 4096 tokens exceeds tool_calls[0].id name field < \n".split(" ")
    ),
    max_size=9,
).map(" ".join)
keys = st.sampled_from(
    "error message detail msg loc param type code errors field path keys".split()
)
bodies = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=10,
)


@given(bodies, st.sampled_from([400, 404, 413, 422, 429, 500]))
def test_any_refusal_is_read_and_answered_a_few_times_at_most(body: object, status: int) -> None:
    refusal = read_refusal(json.loads(json.dumps(body)))
    assert len(refusal.message) <= MAX_CHARACTERS + 1
    assert "\n" not in refusal.message
    adapter, sent = Adapter(), dict(BODY)
    for _ in range(len(KNOWN) + 1):
        changed = adapter.learn(status, refusal, sent)
        if changed is None:
            return
        assert changed != sent
        sent = changed
    raise AssertionError("there is no end to it")


@given(st.text(max_size=60))
def test_any_page_is_read(text: str) -> None:
    assert "<" not in read_page(text).message


@given(learned)
def test_a_request_is_adapted_once_and_stays_itself(names: set[str]) -> None:
    before = copy.deepcopy(BODY)
    once = adapt_body(BODY, names)
    assert before == BODY
    assert adapt_body(once, names) == once
    json.dumps(once)


@given(learned)
def test_what_was_said_is_still_there(names: set[str]) -> None:
    said = json.dumps(adapt_body(BODY, names)["messages"])
    assert all(text in said for text in ("Be brief.", "Be kind.", "hi"))


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("Unsupported parameter: 'stop' is not supported with this model.", "stop"),
        ("Please stop asking so often.", None),
        ("Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "short ids"),
        ("tools.0.input_schema: JSON schema is invalid", None),
        ("Invalid base64 image_url.", None),
        ("messages[3].role: unknown variant `assistant`", "alternation"),
    ],
)
def test_the_feature_that_is_named_comes_first(said: str, first: str | None) -> None:
    refusal = read_refusal({"error": {"message": said}})
    assert next(find_features(400, refusal, BODY), None) == first


@pytest.mark.parametrize(
    ("said", "context"),
    [
        ("The prompt is 9001 tokens; this model reads 8192.", True),
        ("Rate limit: 30000 tokens per min, the prompt has 40000 tokens.", False),
        ("max_tokens must be at least 1", False),
        ("The model `gpt-9` does not exist", False),
    ],
)
def test_a_conversation_that_is_too_long_is_known(said: str, context: bool) -> None:
    assert too_long(read_refusal({"error": {"message": said}})) is context


def test_the_wrong_key_that_google_answers_with_400_is_one() -> None:
    body = [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]
    error = as_error(400, read_refusal(body), "gemini", "GEMINI_API_KEY")
    assert (error.kind, error.exit_code, error.hint) == ("auth", 77, "Check GEMINI_API_KEY.")
    other = as_error(400, read_refusal({"error": "no such field"}), "gemini", "GEMINI_API_KEY")
    assert other.exit_code == 1


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_refusal_is_read_in_any_form_of_unicode(charset: str) -> None:
    said = '{"error": {"message": "Das Modell ist müde.", "code": "tired"}}'
    refusal = parse_refusal(said.encode(charset))
    assert (refusal.message, refusal.name) == ("Das Modell ist müde.", "tired")


def test_a_refusal_in_words_is_shown_without_its_mark() -> None:
    assert parse_refusal("Zu müde.".encode("utf-8-sig")).message == "Zu müde."
    assert parse_refusal(b'{"error": "caf\xe9"}').message == "caf\ufffd"


@pytest.mark.parametrize(
    ("message", "share"),
    [
        ("maximum context length is 4096 tokens. However, you sent 16,384 (16,000 and 384)", 0.25),
        ("prompt is too long: 400000 tokens > 200000 maximum", 0.5),
        ("the request exceeds the available context size, try increasing it", 0),
        ("request 20261130123: the prompt has more than 4096 tokens", 0),
        ("Error code: 400 - the maximum context length is 4096 tokens", 0),
    ],
)
def test_how_much_of_a_prompt_fits_is_read_from_the_sizes_that_are_told(
    message: str, share: float
) -> None:
    error = as_error(400, read_refusal({"error": {"message": message}}), "The server")
    assert error.fitting_share == share
