"""What `andy serve` makes of the fields of a request for the small model in its process."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.http_server import PLAIN
from tests.serve_process import schema, serving, serving_after
from tests.shell import ROOT

pytest_plugins = "tests.small_weights"

pytestmark = pytest.mark.slow
COLOR: Any = [{"role": "user", "content": "Tell me about a color."}]
LONG: Any = [{"role": "user", "content": "word " * 6000}]
SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {"color": {"enum": ["red", "blue"]}, "count": {"type": "integer"}},
    "required": ["color", "count"],
    "additionalProperties": False,
}
PLAY: Any = {"name": "play_mp3", "description": "Play a file.", "parameters": schema("play_mp3")}


@pytest.fixture(scope="module")
def place(weights_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the weights."""
    home = tmp_path_factory.mktemp("home")
    models = home / ".local" / "share" / "andy" / "models"
    models.parent.mkdir(parents=True)
    models.symlink_to(weights_file.parent)
    return home


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    with serving(place, "--upstream", "local:smollm2") as url:
        yield url


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def claude(address: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=address, api_key="none", max_retries=0) as client:
        yield client


def write(client: openai.OpenAI, **fields: Any) -> str:  # noqa: ANN401
    request: Any = {"model": "m", "messages": COLOR, "max_tokens": 24, **fields}
    text = client.chat.completions.create(**request).choices[0].message.content
    assert isinstance(text, str)
    return text


def test_temperature_and_seed_draw_other_words_and_the_same_again(client: openai.OpenAI) -> None:
    assert write(client) == write(client, temperature=0)
    warm = [write(client, temperature=1.5, seed=seed) for seed in (1, 1, 2, -1, 2**63)]
    assert warm[0] == warm[1]
    assert len(set(warm)) > 2
    cut = {write(client, temperature=1.5, top_p=0.0001, seed=seed) for seed in (1, 2, 3)}
    assert len(cut) == 1


def test_a_reply_ends_where_the_client_wants_it(
    client: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    whole = write(client)
    word = whole.split()[3]
    assert write(client, stop=word).strip() == whole.partition(word)[0].strip()
    assert write(client, stop=["zzz", word]).strip() == whole.partition(word)[0].strip()
    made = claude.messages.create(
        model="m", max_tokens=24, messages=COLOR, stop_sequences=["zzz", word]
    )
    assert (made.stop_reason, made.stop_sequence) == ("stop_sequence", word)


def test_a_reply_is_as_long_as_the_client_says(client: openai.OpenAI) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        named: Any = {name: 7}
        made = client.chat.completions.create(model="m", messages=COLOR, **named)
        assert made.choices[0].finish_reason == "length"
        assert made.usage
        assert made.usage.completion_tokens == 7


def test_without_a_limit_a_reply_ends_by_itself_or_with_the_context(
    client: openai.OpenAI,
) -> None:
    # More tokens than a reply has where nothing is said.
    sixty = {"type": "array", "items": {"const": "word"}, "minItems": 60, "maxItems": 60}
    shape = {"type": "json_schema", "json_schema": {"name": "many", "schema": sixty}}
    usual = write(client, response_format=shape, max_tokens=20)
    whole = write(client, response_format=shape, max_tokens=-1)
    assert len(usual) < len(whole)
    assert len(json.loads(whole)) == 60


@pytest.mark.parametrize("stream", [False, True])
def test_several_answers_are_told_apart(stream: bool, client: openai.OpenAI) -> None:
    asked: Any = {"model": "m", "messages": COLOR, "max_tokens": 12, "n": 3}
    asked |= {"temperature": 1.5, "seed": 5}
    texts = {0: "", 1: "", 2: ""}
    used: Any = None
    if stream:
        ids = set()
        asked["stream_options"] = {"include_usage": True}
        for event in client.chat.completions.create(**asked, stream=True):
            ids.add(event.id)
            used = event.usage or used
            for choice in event.choices:
                texts[choice.index] += choice.delta.content or ""
        assert len(ids) == 1
    else:
        made = client.chat.completions.create(**asked)
        texts = {choice.index: choice.message.content for choice in made.choices}
        used = made.usage
    assert len(set(texts.values())) == 3
    assert all(texts.values())
    assert used.completion_tokens == 36
    assert used.total_tokens == used.prompt_tokens + 36
    assert texts[1] == write(client, max_tokens=12, temperature=1.5, seed=6)


def test_an_answer_keeps_to_a_schema(client: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SHAPE}}
    said = [write(client, response_format=wanted, max_tokens=None)]
    tools = [{"type": "function", "function": PLAY}]
    said += [write(client, response_format=wanted, max_tokens=None, tools=tools)]
    text: Any = {"format": {"type": "json_schema", "name": "answer", "schema": SHAPE}}
    said += [client.responses.create(model="m", input="A color?", text=text).output_text]
    form: Any = {"format": {"type": "json_schema", "schema": SHAPE}}
    block: Any = claude.messages.create(
        model="m", max_tokens=200, messages=COLOR, output_config=form
    ).content[0]
    for answer in (*said, block.text):
        made = json.loads(answer)
        assert set(made) == {"color", "count"}
        assert made["color"] in ("red", "blue")
        assert isinstance(made["count"], int)
    loose = write(client, response_format={"type": "json_object"}, max_tokens=60)
    assert loose.lstrip().startswith("{")


def test_a_format_that_cannot_be_kept_to_is_the_clients_mistake(client: openai.OpenAI) -> None:
    broken = {"name": "answer", "schema": {"$ref": "#/nowhere"}}
    for wanted in (
        {"type": "dance"},
        {"type": "json_schema"},
        {"type": "json_schema", "json_schema": broken},
    ):
        with pytest.raises(openai.BadRequestError):
            write(client, response_format=wanted)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("tools", [False, True])
def test_what_is_too_long_is_refused_and_never_cut(
    tools: bool, stream: bool, client: openai.OpenAI, claude: anthropic.Anthropic
) -> None:
    functions: Any = {"tools": [{"type": "function", "function": PLAY}]} if tools else {}
    with pytest.raises(openai.BadRequestError) as chat:
        client.chat.completions.create(model="m", messages=LONG, stream=stream, **functions)
    assert chat.value.code == "context_length_exceeded"
    named: Any = {"tools": [{"type": "function", **PLAY}]} if tools else {}
    with pytest.raises(openai.BadRequestError) as response:
        client.responses.create(model="m", input="word " * 6000, stream=stream, **named)
    assert response.value.code == "context_length_exceeded"
    about = {"name": "play_mp3", "input_schema": schema("play_mp3")}
    offered: Any = {"tools": [about]} if tools else {}
    with pytest.raises(anthropic.BadRequestError, match="context"):
        claude.messages.create(model="m", max_tokens=9, messages=LONG, stream=stream, **offered)
    earlier: Any = [*LONG, {"role": "assistant", "content": "Yes."}, *COLOR]
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="m", messages=earlier, **functions)


@pytest.mark.parametrize("stream", [False, True])
def test_stop_sequences_end_words_and_no_command(stream: bool, client: openai.OpenAI) -> None:
    def ask(text: str, stop: Any) -> tuple[str, list[str]]:  # noqa: ANN401
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": text}], "stop": stop}
        asked["tools"] = [{"type": "function", "function": PLAY}]
        if not stream:
            message = client.chat.completions.create(**asked).choices[0].message
            return message.content or "", [each.function.name for each in message.tool_calls or []]
        words, names = "", []
        for event in client.chat.completions.create(**asked, stream=True):
            delta = event.choices[0].delta
            words += delta.content or ""
            names += [each.function.name for each in delta.tool_calls or [] if each.function.name]
        return words, names

    question, _ = ask("play a file", None)
    assert question.endswith("file to play?")
    assert ask("play a file", "file to") == (question.partition("file to")[0], [])
    for stop in ("DEAR", "PLAY", "song1", "play_mp3", " "):
        assert ask("play song1.mp3", stop) == ("", ["play_mp3"])


@pytest.mark.parametrize(
    ("name", "value"), [("logprobs", True), ("top_logprobs", 3), ("logit_bias", {"50256": -100})]
)
def test_scores_of_tokens_are_refused_by_name(
    name: str, value: object, client: openai.OpenAI
) -> None:
    named: Any = {"logprobs": True, name: value} if name == "top_logprobs" else {name: value}
    with pytest.raises(openai.BadRequestError) as caught:
        write(client, **named)
    assert caught.value.param == ("logprobs" if name == "top_logprobs" else name)
    assert write(client, logprobs=False, logit_bias={})


def test_an_ollama_client_may_want_an_answer_without_a_limit(place: Path) -> None:
    many = {"type": "array", "items": {"const": "word"}, "minItems": 20, "maxItems": 20}
    # A thousand tokens and more take the small model a minute.
    code = "from andy_cli.models.inside import local\nlocal.SCHEMA_TOKENS = 30"
    lengths = []
    with serving_after(code, place, "--upstream", "local:smollm2") as address:
        for limit in ({"num_predict": 10}, {}, {"num_predict": -1}):
            body = {"model": "m", "messages": COLOR, "stream": False, "format": many}
            made = httpx2.post(
                f"{address}/api/chat", json={**body, "options": limit}, timeout=120, verify=PLAIN
            )
            told = made.json()
            lengths.append(told["eval_count"])
    assert lengths[:2] == [10, 30]
    assert lengths[2] > 30
    assert json.loads(told["message"]["content"]) == ["word"] * 20


def test_the_command_is_called_that_takes_the_name_and_the_number_that_were_said(
    client: openai.OpenAI,
) -> None:
    corpus = ROOT / "tests" / "corpora" / "small_model" / "foreign_tools.json"
    trade = json.loads(corpus.read_text(encoding="utf-8"))["car_workshop"]
    wish: Any = [{"role": "user", "content": "let Jonas do number 318"}]
    made = client.chat.completions.create(model="m", messages=wish, tools=trade)
    calls = made.choices[0].message.tool_calls or []
    assert len(calls) == 1
    call = calls[0]
    assert call.type == "function"
    assert call.function.name == "assign_mechanic"
    assert json.loads(call.function.arguments) == {"job_id": 318, "mechanic": "Jonas"}


def make_tool(name: str, about: str, **parameters: dict[str, object]) -> dict[str, object]:
    schema = {"type": "object", "properties": parameters, "required": [*parameters]}
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": schema},
    }


SALON: Any = [
    make_tool(
        "book_grooming",
        "Book an appointment for a dog.",
        pet={"type": "string"},
        service={"type": "string", "enum": ["wash", "trim", "nails"]},
        day={"type": "string"},
    ),
    make_tool("cancel_appointment", "Cancel the appointment of a dog.", pet={"type": "string"}),
]


def ask_salon(client: openai.OpenAI, text: str) -> tuple[list[str], str]:
    """The names that are called, and what is said."""
    asked: Any = [{"role": "user", "content": text}]
    message = client.chat.completions.create(model="m", messages=asked, tools=SALON)
    said = message.choices[0].message
    names = [call.function.name for call in said.tool_calls or [] if call.type == "function"]
    return names, said.content or ""


@pytest.mark.parametrize(
    "text", ["do not cancel Bruno's appointment", "please don't cancel Bruno", "thanks", "hi"]
)
def test_what_is_not_to_be_done_calls_nothing(client: openai.OpenAI, text: str) -> None:
    assert ask_salon(client, text)[0] == []


def test_a_command_is_found_by_what_is_told_in_other_words(client: openai.OpenAI) -> None:
    assert ask_salon(client, "Bruno can't make it after all")[0] == ["cancel_appointment"]


def test_a_member_that_was_not_said_is_asked_for(client: openai.OpenAI) -> None:
    names, said = ask_salon(client, "book Rex for a massage on Friday")
    assert names == []
    assert said == "What is the service: wash, trim or nails?"


SLEEP_LAB: Any = [
    make_tool(
        "order_mask",
        "Order a mask for a patient",
        patient={"type": "string", "description": "patient number"},
        mask_type={"type": "string", "enum": ["nasal", "full_face", "pillows"]},
        rush={"type": "boolean", "description": "goes before other orders"},
    ),
    make_tool("cancel_night", "Cancel a night in the sleep lab", patient={"type": "string"}),
]


def converse(client: openai.OpenAI, *texts: str) -> list[str]:
    """What is said to each text of one conversation; of a call its name and arguments."""
    messages: Any = []
    replies = []
    for text in texts:
        messages.append({"role": "user", "content": text})
        answer = client.chat.completions.create(model="m", messages=messages, tools=SLEEP_LAB)
        message = answer.choices[0].message
        calls = [call.function for call in message.tool_calls or [] if call.type == "function"]
        replies.append(calls[0].name + calls[0].arguments if calls else message.content or "")
        messages.append({"role": "assistant", "content": message.content or "Done."})
    return replies


def test_what_is_asked_for_one_by_one_becomes_one_call(client: openai.OpenAI) -> None:
    *asked, called = converse(client, "order a mask", "40218", "full face", "no")
    assert asked == [
        "What is the patient number?",
        "What is the mask type: nasal, full face or pillows?",
        "Goes before other orders: yes or no?",
    ]
    arguments = json.loads(called.removeprefix("order_mask"))
    assert arguments == {"patient": "40218", "mask_type": "full_face", "rush": False}


def test_talk_and_other_wishes_are_no_answers(client: openai.OpenAI) -> None:
    for text in ("thanks, never mind", "forget it", "what can you do?", "hello"):
        asked, said = converse(client, "cancel the night", text)
        assert (asked, "cancel_night" in said) == ("What is the patient?", False)
    _, called = converse(client, "order a mask", "no, cancel the night of 77-A")
    assert json.loads(called.removeprefix("cancel_night")) == {"patient": "77-A"}
    _, called = converse(client, "cancel the night", "Imogen Blake")
    assert json.loads(called.removeprefix("cancel_night")) == {"patient": "Imogen Blake"}


@pytest.mark.parametrize("text", ["thanks again", "danke nochmal", "same to you"])
def test_thanks_do_nothing_once_more(client: openai.OpenAI, text: str) -> None:
    send = make_tool("send_email", "Send an email", to={"type": "string"}, text={"type": "string"})
    wish = "send an email to tom@example.org that says I am late"
    call = {"name": "send_email", "arguments": '{"to": "tom@example.org", "text": "I am late"}'}
    messages: Any = [
        {"role": "user", "content": wish},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sent"},
        {"role": "assistant", "content": "Sent."},
    ]
    tools: Any = [send]
    asked = [*messages, {"role": "user", "content": text}]
    answer = client.chat.completions.create(model="m", messages=asked, tools=tools)
    assert not answer.choices[0].message.tool_calls
    assert answer.choices[0].message.content


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux")
def test_the_language_model_is_not_loaded_for_a_call_that_is_chosen_by_meaning(
    place: Path, tmp_path: Path
) -> None:
    wish = [{"role": "user", "content": "play blue.mp3"}]
    request = {"model": "m", "messages": wish, "tools": [{"type": "function", "function": PLAY}]}
    told = tmp_path / "process"
    code = f"import os, pathlib; pathlib.Path({str(told)!r}).write_text(str(os.getpid()))"
    with serving_after(code, place, "--upstream", "local:smollm2") as url:
        answer = httpx2.post(f"{url}/v1/chat/completions", json=request, timeout=60).json()
        loaded = Path("/proc", told.read_text(), "maps").read_text()
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "play_mp3"
    assert "numpy" in loaded
    assert ".gguf" not in loaded
