"""Servers that can hold a model to what it may write are asked to: how, when, and what if not."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialects.protocols import action, andybot, envelope
from andy_cli.compiler.dialects.protocols.andybot import constrain_answer
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.mapper.prepared_schema import PreparedSchema
from andy_cli.messages import Choice, Chunk, Constraint, Request
from andy_cli.models.client import Endpoint
from andy_cli.models.http.request import choice_grammar, read_answer, write_constraint
from andy_cli.models.inside.local_server import Engine
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.memory import learn_without, recall_model
from andy_cli.models.select import Chosen, connect_client
from andy_cli.settings import load
from tests.model_server import (
    Answer,
    ModelServer,
    Received,
    answered,
    called,
    ollama_end,
    ollama_event,
    ollama_reply,
    refused,
    streamed,
)
from tests.serve_client import calls_of, serving
from tests.shell import andy

pytest_plugins = "tests.small_weights"

SWITCH: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "light_switch",
        "description": "Switch the light of a room",
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"type": "string", "enum": ["kitchen", "bedroom", "hall"]},
                "state": {"type": "string", "enum": ["on", "off"]},
            },
            "required": ["room", "state"],
        },
    },
}
SWITCHES = {"light_switch": SWITCH}
ASKED = {"role": "user", "content": "Please switch the kitchen light off."}
ON_OR_OFF = Constraint((Choice("on"), Choice("off")))
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}}
WRAPPED = {
    "type": "object",
    "properties": {"answer": {"enum": ["on", "off"]}},
    "required": ["answer"],
    "additionalProperties": False,
}


def named(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}


pytestmark = pytest.mark.usefixtures("home")


# Which server is told what.


@pytest.mark.parametrize(
    ("kind", "constraint", "sent"),
    [
        ("llamacpp", ON_OR_OFF, {"grammar": 'root ::= "on" | "off"'}),
        ("llamacpp", Constraint(grammar="root ::= [0-9]"), {"grammar": "root ::= [0-9]"}),
        ("llamacpp", Constraint(schema=OBJECT), {"json_schema": OBJECT}),
        ("vllm", ON_OR_OFF, {"structured_outputs": {"choice": ["on", "off"]}}),
        ("vllm", Constraint(grammar="g"), {"structured_outputs": {"grammar": "g"}}),
        ("vllm", Constraint(schema=OBJECT), {"structured_outputs": {"json": OBJECT}}),
        ("lmstudio", Constraint(schema=OBJECT), {"response_format": named("andy_reply", OBJECT)}),
        ("ollama", Constraint(schema=OBJECT), {"response_format": named("andy_reply", OBJECT)}),
        ("openai", ON_OR_OFF, {"response_format": named("andy_answer", WRAPPED)}),
        ("openai", Constraint(grammar="g"), {}),
        ("llamacpp", Constraint((Choice("a"),), free_text=True), {}),
    ],
)
def test_each_kind_of_server_is_held_by_a_field_that_it_takes(
    kind: str, constraint: Constraint, sent: dict[str, Any]
) -> None:
    assert write_constraint(kind, constraint) == sent


def test_the_next_field_is_tried_where_one_was_refused() -> None:
    assert write_constraint("llamacpp", ON_OR_OFF, {"grammar"}) == {
        "json_schema": {"enum": ["on", "off"]}
    }
    fallback = write_constraint("vllm", ON_OR_OFF, {"structured_outputs"})
    assert fallback == {"response_format": named("andy_answer", WRAPPED)}
    assert write_constraint("openai", ON_OR_OFF, {"response_format"}) == {}
    assert write_constraint("llamacpp", ON_OR_OFF, {"constraints"}) == {}


def test_a_grammar_of_choices_escapes_them() -> None:
    assert choice_grammar(['a"b', "c\n"]) == r'root ::= "a\"b" | "c\n"'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "on"}', "on"),
        ('{"answer": 40}', "40"),
        ("on", "on"),
        ('{"other": 1}', '{"other": 1}'),
        ('{"answer": "o', '{"answer": "o'),
    ],
)
def test_an_answer_is_taken_out_of_its_object(text: str, answer: str) -> None:
    assert read_answer(text) == answer


# What a reply may be.


def fits(schema: Mapping[str, Any], value: object) -> bool:
    return not PreparedSchema(dict(schema)).problems(value)


def parsed(name: str, text: str) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    dialects = [each.DIALECT for each in (action, envelope)]
    compiler = Compiler(Markers(dialects, ("light_switch",), name), SWITCHES)
    compiler.feed(text)
    _, reply = compiler.finish()
    return reply.text, [(each.name, dict(each.arguments or {})) for each in reply.requests]


@pytest.mark.parametrize("dialect", [action.DIALECT, envelope.DIALECT])
def test_a_schema_admits_what_the_notation_writes_and_words(dialect: Any) -> None:  # noqa: ANN401
    from andy_cli.messages import ToolRequest

    free, due = (dialect.constraint(SWITCHES, demanded).schema for demanded in (False, True))
    right = ToolRequest("light_switch", {"room": "hall", "state": "on"})
    wrong = right._replace(arguments={"room": "hall", "state": "bright"})
    for schema in (free, due):
        assert fits(schema, json.loads(dialect.write(right)))
        assert not fits(schema, json.loads(dialect.write(wrong)))
        assert not fits(schema, json.loads(dialect.write(right._replace(name="lamp"))))
    said = {
        "action": {"final": {"content": "Hello there."}},
        "envelope": {
            "toolCalls": [
                {
                    "type": "send_chat",
                    "id": "1",
                    "operation": "send",
                    "parameters": {"content": "Hello there."},
                }
            ]
        },
    }[dialect.name]
    assert fits(free, said)
    assert not fits(due, said)
    assert "Hello there." in str(parsed(dialect.name, json.dumps(said)))


def test_a_schema_says_no_more_than_every_server_reads() -> None:
    strange = {
        "type": "object",
        "properties": {
            "when": {"type": "string", "format": "date", "pattern": "(?=2).*"},
            "who": {"$ref": "#/$defs/name"},
            "how_many": {"type": "integer", "minimum": 1, "multipleOf": 2},
        },
        "required": ["when"],
        "$defs": {"name": {"type": "string", "enum": ["Ada", "Bo"]}},
    }
    tool = {"type": "function", "function": {"name": "book", "parameters": strange}}
    schema = action.constraint({"book": tool}, demanded=True).schema
    assert schema
    args = schema["properties"]["action"]["properties"]["args"]
    assert args["properties"] == {
        "when": {"type": "string"},
        "who": {"type": "string", "enum": ["Ada", "Bo"]},
        "how_many": {"type": "integer", "minimum": 1},
    }
    assert args["required"] == ["when"]
    assert "$defs" not in str(schema)


def test_an_answer_in_the_interview_is_held_to_its_parameter() -> None:
    assert constrain_answer({"type": "string"}, True) is None
    assert constrain_answer({"enum": ["a", "b"]}, False) == Constraint(
        (Choice("a"), Choice("b"), Choice("skip"))
    )
    listed = {"type": "array", "items": {"type": "string"}}
    assert constrain_answer(listed, True) == Constraint(schema=listed)
    assert andybot.constraint(SWITCHES).free_text
    assert not andybot.constraint(SWITCHES, demanded=True).free_text


@pytest.mark.parametrize(
    "written",
    [
        '{"required": true}',
        '{"required": "x"}',
        '{"required": [["x"]]}',
        '{"properties": {"x": true}}',
        '{"properties": {"x": {"type": "array", "items": true}}}',
        '{"properties": {"x": {"type": ["string"]}}}',
        '{"properties": {"x": {"enum": {}}}}',
        '{"properties": {"x": {"enum": 5}}}',
    ],
)
def test_an_interview_goes_by_what_is_right_in_a_malformed_schema(written: str) -> None:
    schema = {"properties": {"x": {"type": "string"}}, **json.loads(written)}
    interview = andybot.interview("look", schema, {})
    assert not next(interview).required
    with pytest.raises(StopIteration) as ended:
        interview.send("skip")
    assert ended.value.value == {}


@pytest.mark.parametrize("properties", [[], True, "x", None])
def test_an_interview_without_properties_asks_nothing(properties: object) -> None:
    with pytest.raises(StopIteration) as ended:
        next(andybot.interview("look", {"properties": properties, "required": True}, {}))
    assert ended.value.value == {}


# On the wire.


def said(server: ModelServer, provider: str, *constraints: Constraint) -> list[str]:
    """What a client of that server replies to one request for each constraint."""
    settings = load(("network.tries=1",), environment={"ANDY_CONFIG_DIR": "/none"})
    endpoint = Endpoint(provider, "m", server.url)
    client = connect_client(Chosen(endpoint, providers_by_name()[provider], "said"), settings)

    async def text(constraint: Constraint) -> str:
        request = Request((ASKED,), constraint=constraint)
        return "".join([chunk.text async for chunk in client.reply(request)])

    async def every() -> list[str]:
        try:
            return [await text(each) for each in constraints]
        finally:
            await client.close()

    return asyncio.run(every())


def test_ollama_is_held_by_its_own_format() -> None:
    answer = ollama_reply(ollama_event('{"ans'), ollama_event('wer": "off"}'), ollama_end())
    with ModelServer([answer], facts={"/api/show": {}}, ollama=True) as server:
        assert said(server, "ollama", ON_OR_OFF) == ["off"]
    assert server.requests[0].body["format"] == WRAPPED
    assert "response_format" not in server.requests[0].body


def test_a_server_at_an_address_of_ones_own_says_which_it_is() -> None:
    listed = {"data": [{"id": "m", "owned_by": "vllm"}]}
    with ModelServer([streamed("off")], facts={"/v1/models": listed}) as server:
        assert said(server, "openai", ON_OR_OFF, ON_OR_OFF) == ["off", "off"]
    sent = [each.body.get("structured_outputs") for each in server.requests]
    assert sent == [{"choice": ["on", "off"]}] * 2
    assert [each.path for each in server.others].count("/v1/models") == 1


@pytest.mark.parametrize(
    ("provider", "words", "then"),
    [
        ("lmstudio", "Invalid field 'response_format': json_schema is not supported", set()),
        ("openai", "'response_format.type' must be 'text'", set()),
        ("llamacpp", "Failed to initialize samplers: failed to parse grammar", {"json_schema"}),
        ("vllm", "Extra inputs are not permitted: structured_outputs", {"response_format"}),
    ],
)
def test_what_a_server_refuses_is_left_out_from_then_on_and_remembered(
    provider: str, words: str, then: set[str]
) -> None:
    fields = {"grammar", "json_schema", "structured_outputs", "response_format"}

    def answer(received: Received) -> Answer:
        first = not server.requests[:-1]
        return refused(400, words) if first else streamed("off")

    with ModelServer(answer) as server:
        assert said(server, provider, ON_OR_OFF) == ["off"]
        assert said(server, provider, ON_OR_OFF) == ["off"]
    sent = [fields & received.body.keys() for received in server.requests]
    first = next(iter(sent[0]))
    assert sent == [{first}, then, then]
    assert recall_model(Endpoint(provider, "m", server.url)).without == (first,)


def test_ollama_without_schemas_is_asked_without(home: Path) -> None:
    words = "json: cannot unmarshal object into Go struct field ChatRequest.format of type string"

    def answer(received: Received) -> Answer:
        if "format" in received.body:
            return refused(400, words)
        return ollama_reply(ollama_event("off"), ollama_end())

    with ModelServer(answer, facts={"/api/show": {}}, ollama=True) as server:
        assert said(server, "ollama", ON_OR_OFF, ON_OR_OFF) == ["off", "off"]
    assert len(server.requests) == 3


def test_nothing_is_sent_where_it_is_switched_off(home: Path) -> None:
    final = json.dumps({"final": {"content": "Hello."}})
    sent = []
    for switch in ("auto", "off"):
        with ModelServer([streamed(final)]) as server:
            to = ("--model", "lmstudio:m", "--base-url", server.url, "--set", "dialect=action")
            done = andy("run", *to, "--set", f"constraints={switch}", "hello", home=home)
            sent += [each.body.get("response_format") for each in server.requests]
        assert done.out == "Hello.\n"
    assert sent[0]["json_schema"]["name"] == "andy_reply"
    assert sent[1:] == [None]


def test_a_model_that_thinks_first_is_not_held_to_an_object(home: Path) -> None:
    final = json.dumps({"final": {"content": "Hello."}})
    with ModelServer([streamed(f"Let me see.</think>{final}"), streamed(final)]) as server:
        to = ("--model", "lmstudio:m", "--base-url", server.url, "--set", "dialect=action")
        done = andy("chat", *to, home=home, stdin="hello\nhello\n/exit\n")
    assert done.code == 0
    assert ["response_format" in each.body for each in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("owner", "switch", "held"),
    [
        ("vllm", "auto", ["tool_choice", "structured_outputs"]),
        ("llamacpp", "auto", ["tool_choice", "grammar", "json_schema"]),
        ("somebody", "auto", ["tool_choice"]),
        ("vllm", "off", ["tool_choice"]),
    ],
)
def test_models_info_shows_by_what_a_server_holds_its_model(
    owner: str, switch: str, held: list[str], home: Path
) -> None:
    listed = {"data": [{"id": "m", "owned_by": owner}]}
    with ModelServer([], facts={"/v1/models": listed}) as server:
        learn_without(Endpoint("openai", "m", server.url), {"response_format"})
        where = ("m", "--base-url", server.url, "--set", f"constraints={switch}")
        done = andy("models", "info", *where, "--json", home=home)
        words = andy("models", "info", *where, home=home)
    assert json.loads(done.out)["held_by"] == held
    assert f"held by               {', '.join(held)}\n" in words.out


# `andy serve`.


def test_serve_holds_the_questions_of_an_interview_to_their_answers(home: Path) -> None:
    replies = ["DEAR ANDYBOT, LIGHT_SWITCH", '{"answer": "kitchen"}', '{"answer": "off"}']
    with (
        ModelServer([streamed(each) for each in replies]) as server,
        serving(server.url, "--dialect", "andybot", home=home) as served,
    ):
        message = served.message(ASKED, tools=[SWITCH])
    assert calls_of(message) == [("light_switch", {"room": "kitchen", "state": "off"})]
    formats = [each.body.get("response_format") for each in server.requests]
    assert formats[0] is None  # the model may answer in words
    schemas = [each["json_schema"]["schema"]["properties"]["answer"] for each in formats[1:]]
    assert schemas == [{"enum": ["kitchen", "bedroom", "hall"]}, {"enum": ["on", "off"]}]


def test_serve_leaves_words_free_unless_a_call_is_due(home: Path) -> None:
    with (
        ModelServer([streamed("It is a lamp.")]) as server,
        serving(server.url, "--dialect", "hermes", home=home) as served,
    ):
        served.message(ASKED, tools=[SWITCH])
        served.message(ASKED, tools=[SWITCH], tool_choice="required")
        own = named("mine", OBJECT)
        served.message(ASKED, tools=[SWITCH], tool_choice="required", response_format=own)
    formats = [each.body.get("response_format") for each in server.requests]
    assert formats[0] is None
    call = formats[1]["json_schema"]["schema"]["properties"]
    assert call["name"] == {"const": "light_switch"}
    assert formats[-1] == own  # what the client wants comes first


def test_a_dry_run_shows_what_a_reply_would_be_held_to(home: Path) -> None:
    with (
        ModelServer([streamed("never asked")]) as server,
        serving(server.url, "--dialect", "action", home=home) as served,
    ):
        body = {"model": "m", "messages": [ASKED], "tools": [SWITCH]}
        shown = served.post(body, x_andy_dry_run="1").json()["request"]
    assert shown["response_format"]["json_schema"]["name"] == "andy_reply"
    assert server.requests == []


def test_serve_demands_a_call_that_did_not_fit_of_a_server_that_can(home: Path) -> None:
    """The wrong value of an enumeration is asked for once more, by `tool_choice`."""

    def answer(received: Received) -> Answer:
        due = received.body.get("tool_choice")
        state = "off" if due else "dark"
        arguments = json.dumps({"room": "kitchen", "state": state})
        if received.body.get("stream"):
            return called("light_switch", arguments)
        function = {"name": "light_switch", "arguments": arguments}
        message = {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}
        return answered({"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    with (
        ModelServer(answer) as server,
        serving(server.url, "--dialect", "native", home=home) as served,
    ):
        message = served.message(ASKED, tools=[SWITCH])
    assert calls_of(message) == [("light_switch", {"room": "kitchen", "state": "off"})]
    due = {"type": "function", "function": {"name": "light_switch"}}
    assert [each.body.get("tool_choice") for each in server.requests] == [None, due]


# llama.cpp's own server.


@pytest.fixture(scope="module")
def engine(weights_file: Path) -> Engine:
    return Engine(weights_file)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["andybot", "action", "envelope", "hermes"])
def test_llama_cpp_holds_a_model_without_tool_calls_to_a_call_that_fits(
    engine: Engine, dialect: str, home: Path
) -> None:
    wanted = {"tools": [SWITCH], "tool_choice": "required", "temperature": 0, "max_tokens": 60}
    made = {}
    for switch in ("off", "auto"):
        words = ("--dialect", dialect, "--set", f"constraints={switch}")
        behind = serving(f"{engine.address}/v1", *words, home=home, OPENAI_API_KEY=engine.key)
        with behind as served:
            made[switch] = calls_of(served.message(ASKED, **wanted))
    ((name, arguments),) = made["auto"]
    assert name == "light_switch"
    assert arguments["room"] in ("kitchen", "bedroom", "hall")
    assert arguments["state"] in ("on", "off")
    assert made["off"] == []


@pytest.mark.slow
def test_llama_cpp_refuses_a_broken_grammar_and_answers_without(engine: Engine) -> None:
    settings = load(("network.first_backoff=0.01",), environment={"ANDY_CONFIG_DIR": "/none"})
    endpoint = Endpoint("openai", "m", f"{engine.address}/v1", engine.key)
    client = connect_client(Chosen(endpoint, providers_by_name()["openai"], "said"), settings)

    async def chunks() -> list[Chunk]:
        broken = Request((ASKED,), constraint=Constraint(grammar="root ::= ("), max_tokens=8)
        held = Request((ASKED,), constraint=ON_OR_OFF, max_tokens=8)
        try:
            return [chunk for each in (broken, held) async for chunk in client.reply(each)]
        finally:
            await client.close()

    assert "".join(each.text for each in asyncio.run(chunks())).endswith(('"on"', '"off"'))
    assert recall_model(endpoint).without == ("grammar",)
