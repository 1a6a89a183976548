"""A call that a server leaves in the text is a call, on every wire, streamed or not.

The server takes the client's tools and says nothing against them; its model writes a call in the
notation of each family that there is.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS
from andy_cli.messages import ToolRequest
from tests.cases import quick_every
from tests.http_server import PLAIN
from tests.model_server import (
    Answer,
    ModelServer,
    Received,
    answered,
    called,
    ollama_end,
    ollama_event,
    ollama_reply,
    raw,
    refused,
    status,
    streamed,
)
from tests.serve_client import MP3S, PATHS, USER, Served, calls_in, joined, request_on, serving

PLAY = ToolRequest("play_mp3", {"path": "~/mp3", "file": "blue.mp3"}, id="functions.play_mp3:0")
NOTATIONS = {
    name: text
    for name, dialect in DIALECTS.items()
    if dialect.interview is None and name != "code" and (text := dialect.write(PLAY))
}
"""All that are written at once; a program in a fence is an example where nobody was taught it."""


def whole(message: Mapping[str, Any], finish: str = "stop") -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    return answered(
        {"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    )


def answer_request(received: Received) -> Answer:
    """The reply that the user asked for by its name."""
    if received.body.get("tools") and received.body.get("model") == "refuses":
        return refused(400, "this model does not support tools")
    last = str(received.body["messages"][-1]["content"])
    text = NOTATIONS.get(last, "Hello there.")
    return streamed(text) if received.body.get("stream") else whole({"content": text})


SERVERS = ("accepts", "refuses", "ignores")
"""What a server does with tools that are sent to it."""
NO_TOOLS = {"/props": {"chat_template_caps": {"supports_tools": False}}}


@pytest.fixture(scope="module")
def all_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    """A server of each kind, by what it does with tools."""
    with ExitStack() as stack:
        found = {}
        for kind in SERVERS:
            facts = NO_TOOLS if kind == "ignores" else None
            server = stack.enter_context(ModelServer(answer_request, checked=False, facts=facts))
            home = tmp_path_factory.mktemp(kind)
            found[kind] = stack.enter_context(serving(server.url, "--model", kind, home=home))
        yield found


@pytest.fixture
def served(all_served: dict[str, Served]) -> Served:
    return all_served["accepts"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", quick_every(28, NOTATIONS))
@pytest.mark.parametrize("kind", SERVERS)
def test_a_call_in_the_text_is_a_call_on_every_wire(
    kind: str, name: str, path: str, stream: bool, all_served: dict[str, Served]
) -> None:
    url = f"{all_served[kind].url}/{path}"
    response = httpx2.post(
        url, json={**request_on(path, name), "stream": stream}, timeout=30, verify=PLAIN
    )
    assert response.status_code == 200, response.text
    assert calls_in(path, response.text, stream) == [("play_mp3", PLAY.arguments)]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", quick_every(3, ["hermes", "qwen3_coder", "glm45"]))
def test_a_call_behind_one_that_went_on_while_it_was_written_is_one_of_its_own(
    name: str, path: str, tmp_path: Path
) -> None:
    ping = ToolRequest("play_mp3", {"file": "red.mp3"})
    text = "\n".join(DIALECTS[name].write(call) or "" for call in (PLAY, ping))
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    with (
        ModelServer([streamed(*pieces)], checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        body = {**request_on(path, "hi"), "stream": True}
        told = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
    wanted = [("play_mp3", PLAY.arguments), ("play_mp3", ping.arguments)]
    assert calls_in(path, told, True) == wanted


FENCED = f"```json\n{json.dumps({'name': 'play_mp3', 'arguments': PLAY.arguments})}\n```"


def write_beside_words(received: Received) -> Answer:
    """A call in a fence behind words; alone where the model was asked for that."""
    is_asked = "write the request alone" in str(received.body["messages"][-1]["content"])
    text = FENCED if is_asked else f"I play it now.\n{FENCED}"
    return streamed(text) if received.body.get("stream") else whole({"content": text})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_call_in_a_fence_behind_words_is_asked_about_on_every_wire(
    stream: bool, tmp_path: Path
) -> None:
    with (
        ModelServer(write_beside_words, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path in PATHS:
            body = {**request_on(path, "hi"), "stream": stream}
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert calls_in(path, text, stream) == [("play_mp3", PLAY.arguments)]
    assert len(server.requests) == 2 * len(PATHS)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_an_answer_that_shows_a_call_stays_where_asking_about_it_fails(
    stream: bool, tmp_path: Path
) -> None:
    def answer(received: Received) -> Answer:
        is_asked = "write the request alone" in str(received.body["messages"][-1]["content"])
        return refused(429, "slow down") if is_asked else write_beside_words(received)

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path in PATHS:
            body = {**request_on(path, "hi"), "stream": stream}
            response = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
            assert response.status_code == 200
            assert "I play it now." in response.text
            assert "slow down" not in response.text
            assert re.search(r'"(stop|end_turn|completed)"', response.text)


EMPTY = "who knows?"
AGE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
NAMED_AGE = {"name": "age", "schema": AGE}
WANTED_FORMATS: Mapping[str, Mapping[str, object]] = {
    "v1/chat/completions": {"response_format": {"type": "json_schema", "json_schema": NAMED_AGE}},
    "v1/responses": {"text": {"format": {"type": "json_schema", **NAMED_AGE}}},
    "v1/messages": {"output_config": {"format": {"type": "json_schema", "schema": AGE}}},
    "api/chat": {"format": AGE},
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("tools", [False, True], ids=["words", "tools"])
def test_json_that_a_client_wants_comes_without_the_words_and_the_fence_around_it(
    tools: bool, stream: bool, tmp_path: Path
) -> None:
    fitting = '{"age": 42}'
    written = f'As in {{"age": "old"}}, here it is:\n```json\n{fitting}\n```\nAsk for more.'

    def answer(received: Received) -> Answer:
        texts = {
            "plain": fitting,
            "behind": f"{fitting}\n\nAsk for more, or {{}}.",
            EMPTY: "I do not know {that}.",
            "other": "{that} I do not know.",
        }
        text = texts.get(str(received.body["messages"][-1]["content"]), written)
        pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
        return streamed(*pieces) if received.body.get("stream") else whole({"content": text})

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, wanted in WANTED_FORMATS.items():
            body = {**wire_body(path, tools, stream), **wanted}
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert json.dumps(fitting)[1:-1] in text, path
            assert not any(word in text for word in ("here it", "```", "Ask"))
        assert len(server.requests) == len(PATHS)
        for asked, words in (
            ("plain", fitting),
            ("behind", fitting),
            (EMPTY, "I do not know {that}."),
            ("other", "{that} I do not know."),
        ):
            messages = [{"role": "user", "content": asked}]
            wanted = {**WANTED_FORMATS[PATHS[0]], "messages": messages}
            body = {**wire_body(PATHS[0], tools, stream), **wanted}
            assert words_of(served.post(body), stream) == words


@pytest.mark.parametrize("tools", [False, True], ids=["words", "tools"])
def test_values_of_json_that_a_client_wants_are_corrected_where_it_is_not_begun(
    tools: bool, tmp_path: Path
) -> None:
    plain, fenced = '{"age": "42"}', 'Here:\n```json\n{"age": "42"}\n```'

    def answer(received: Received) -> Answer:
        text = str(received.body["messages"][-1]["content"])
        return streamed(text) if received.body.get("stream") else whole({"content": text})

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for asked, stream in ((plain, False), (fenced, False), (fenced, True)):
            messages = [{"role": "user", "content": asked}]
            wanted = {**WANTED_FORMATS[PATHS[0]], "messages": messages}
            body = {**wire_body(PATHS[0], tools, stream), **wanted}
            assert words_of(served.post(body), stream) == '{"age": 42}'


@pytest.mark.parametrize("dialect", ["native", "hermes"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_arguments_of_a_demanded_tool_are_a_call_of_it(
    dialect: str, stream: bool, tmp_path: Path
) -> None:
    """As libraries get data from a model: by a tool that it must call."""
    texts = ('{"name": "Ann", "age": 42}', 'It is:\n```json\n{"name": "Ann", "age": "42"}\n```')
    properties = {"name": {"type": "string"}, "age": {"type": "integer"}}
    parameters = {"type": "object", "properties": properties, "required": ["name", "age"]}
    tool = {"type": "function", "function": {"name": "Person", "parameters": parameters}}

    def answer(received: Received) -> Answer:
        text = str(received.body["messages"][-1]["content"])
        return streamed(text) if received.body.get("stream") else whole({"content": text})

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "m", "--dialect", dialect, home=tmp_path) as served,
    ):
        for text in texts:
            messages = [{"role": "user", "content": text}]
            tools = [tool, {"type": "function", "function": {"name": "now"}}]
            body = {"model": "m", "messages": messages, "tools": tools, "stream": stream}
            response = served.post({**body, "tool_choice": "required"})
            assert "tool_calls" in response.text
            assert json.dumps('{"name": "Ann", "age": 42}')[1:-1] in response.text
    assert len(server.requests) == len(texts)


@pytest.mark.parametrize("dialect", ["native", "hermes"])
@pytest.mark.parametrize("tools", [False, True], ids=["words", "tools"])
def test_the_schema_of_an_answer_is_told_to_a_model_whose_server_takes_none(
    tools: bool, dialect: str, tmp_path: Path
) -> None:
    def answer(received: Received) -> Answer:
        if "response_format" in received.body:
            return refused(400, "Unsupported parameter: 'response_format'", param="response_format")
        first = received.body["messages"][0]
        is_told = first["role"] == "system" and json.dumps(AGE) in first["content"]
        text = '```json\n{"age": 42}\n```' if is_told else "It is 42 years old."
        return streamed(text) if received.body.get("stream") else whole({"content": text})

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "m", "--dialect", dialect, home=tmp_path) as served,
    ):
        for path, wanted in WANTED_FORMATS.items():
            body = {**wire_body(path, tools, False), **wanted}
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert json.dumps('{"age": 42}')[1:-1] in text, path
    assert ["response_format" in each.body for each in server.requests] == [True] + [False] * 4


def words_of(response: httpx2.Response, stream: bool) -> str:
    """The words that a client of the chat API gets."""
    if stream:
        return str(joined(sent_events(response.text))["text"])
    return str(message_of(response)["content"])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_thoughts_in_an_answer_without_tools_are_no_words_and_plain_ones_stay_as_they_are(
    stream: bool, tmp_path: Path
) -> None:
    texts = {
        "think": "<think>\nHm.</think>\n\nFine.",
        "plain": "Plain <b>words</b>.",
        "begun": "Hm.\n</think>\n\nFine.",
    }

    def answer(received: Received) -> Answer:
        asked = str(received.body["messages"][-1]["content"])
        text = texts[asked]
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
        return streamed(*pieces) if received.body.get("stream") else whole({"content": text})

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        body = wire_body("v1/chat/completions", False, stream)
        told = {
            asked: served.post({**body, "messages": [{"role": "user", "content": asked}]})
            for asked in texts
        }
    assert words_of(told["plain"], stream) == texts["plain"]
    # Where the prompt began the thoughts, a stream has told them before it shows that.
    for response in [told["think"]] if stream else [told["think"], told["begun"]]:
        assert words_of(response, stream).strip() == "Fine."
        assert "think>" not in response.text
        assert '"reasoning_content":"' in response.text


# What a whole answer of the chat API may be: here the server's own calls count.

TYPED = {
    "type": "function",
    "function": {
        "name": "set_volume",
        "parameters": {
            "type": "object",
            "properties": {"level": {"type": "integer"}},
            "required": ["level"],
        },
    },
}


def native(name: str, arguments: str, id: str = "c1") -> dict[str, object]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (("\u00dcbung ma", "cht"), None),
        (("<", "think>Hm.", "</think>Yes."), "Yes."),
        (("\u25c1", "think\u25b7Hm.", "\u25c1/think\u25b7Yes."), "Yes."),
    ],
)
@pytest.mark.parametrize("escapes", [r"\u003c", r"\u003C", "<"])
def test_the_first_character_tells_a_stream_of_words_from_thoughts_however_it_is_written(
    pieces: tuple[str, ...], words: str | None, escapes: str, tmp_path: Path
) -> None:
    events = [*(on(0, {"content": piece}) for piece in pieces), on(0, {}, "stop")]
    written = [json.dumps(event["data"]).replace("<", escapes) for event in events]
    first, *rest = [f"data: {event}\n\n" for event in [*written, "[DONE]"]]
    answer = [status(), raw(first), {"op": "sleep", "s": 0.1}, raw("".join(rest))]
    with (
        ModelServer([answer], checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        text = served.post(wire_body("v1/chat/completions", False, True)).text
    assert (
        text == "".join([first, *rest])
        if words is None
        else joined(sent_events(text))["text"] == words
    )


def ask(home: Path, *answers: Answer, **fields: object) -> tuple[httpx2.Response, ModelServer]:
    """What a client gets that does not stream, from a server that answers so."""
    body = {"model": "m", "messages": [USER], "tools": [*MP3S, TYPED], **fields}
    with (
        ModelServer(answers, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=home) as served,
    ):
        return served.post(body), server


def message_of(response: httpx2.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()["choices"][0]["message"]
    return found


UNCHANGED = [
    {"content": "Hello there.\n", "annotations": []},
    {"content": None, "tool_calls": [native("ping", "{}")], "refusal": None},
    {"content": "I look.", "tool_calls": [native("set_volume", '{ "level" : 7 }', "odd-id")]},
    {"content": "Both.", "tool_calls": [native("ping", "{}"), native("list_mp3s", "{}", "c2")]},
    {"content": "", "reasoning_content": "Well.", "tool_calls": [native("ping", "{}")]},
    {"content": None, "refusal": "I will not."},
]


@pytest.mark.slow
@pytest.mark.parametrize("message", UNCHANGED)
def test_an_answer_that_needs_no_change_is_passed_on_byte_for_byte(
    message: dict[str, object], tmp_path: Path
) -> None:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    answer = whole(message, finish)
    response, server = ask(tmp_path, answer)
    assert response.json() == answer[1]["body"]
    assert response.headers["x-andy-compiled"] == "native;repairs=0"
    assert len(server.requests) == 1


def test_arguments_that_do_not_fit_are_corrected(tmp_path: Path) -> None:
    wrong = {"content": None, "tool_calls": [native("functions.set_volume", '{"Level": "7"}')]}
    response, _ = ask(tmp_path, whole(wrong, "tool_calls"))
    [call] = message_of(response)["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
        "set_volume",
        {"level": 7},
    )
    assert "repairs=0" not in response.headers["x-andy-compiled"]


RELEASE_PARAMETERS = {
    "type": "object",
    "properties": {
        "version": {"type": "string"},
        "python": {"type": "string", "enum": ["3.1", "3.10"]},
        "price": {"type": "number"},
        "names": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["version"],
}
RELEASE = {"version": "3.10", "python": "3.10", "price": 1.5, "names": ["2.0", "1e3"]}
BARE = '{"version": 3.10, "python": 3.10, "price": 1.50, "names": [2.0, 1e3]}'
"""What a model writes that leaves out the quotation marks of a version."""


@pytest.mark.parametrize(
    "reply",
    [
        streamed(f'<tool_call>{{"name": "set_release", "arguments": {BARE}}}</tool_call>'),
        streamed(f"Action: set_release\nAction Input: {BARE}"),
        streamed("[set_release(version=3.10, python=3.10, price=1.50, names=[2.0, 1e3])]"),
        streamed("<tool_call>{'name': 'set_release', 'arguments': " + BARE + "}</tool_call>"),
        streamed(f'<tool_call>{{"name": "set_release", "arguments": {BARE},}}</tool_call>'),
        streamed(
            "Für Größe\n<tool_call>{'name': 'set_release',\n'arguments': {'names': ['2.0', 1e3],\n"
            "'version': 3.10, 'python': 3.10, 'price': 1.50}}</tool_call>"
        ),
        called("set_release", BARE),
    ],
    ids=["json", "react", "python", "quotes", "comma", "lines", "native"],
)
def test_a_number_where_a_text_is_wanted_is_the_text_that_was_written(
    reply: Answer, tmp_path: Path
) -> None:
    function = {"name": "set_release", "description": "", "parameters": RELEASE_PARAMETERS}
    tools = [{"type": "function", "function": function}]
    with ModelServer([reply]) as model, serving(model.url, home=tmp_path) as server:
        for path in PATHS:
            body = {**request_on(path, "release it", tools), "stream": True}
            told = httpx2.post(f"{server.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert calls_in(path, told, True) == [("set_release", RELEASE)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_flag_that_a_server_writes_as_a_number_is_a_flag(stream: bool, tmp_path: Path) -> None:
    parameters = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
    function = {"name": "set_light", "description": "", "parameters": parameters}
    wrong = {"content": None, "tool_calls": [native("set_light", '{"on": 1}')]}
    reply = called("set_light", '{"on": 1}') if stream else whole(wrong, "tool_calls")
    path = "v1/chat/completions"
    body = request_on(path, "light", [{"type": "function", "function": function}])
    with ModelServer([reply]) as model, serving(model.url, home=tmp_path) as server:
        told = server.post({**body, "stream": stream}).text
    [(_, arguments)] = calls_in(path, told, stream)
    assert json.dumps(arguments) == '{"on": true}'  # to Python 1 and true are equal


OPTIONAL: dict[str, object] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
STRICT = {
    "name": "add_task",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "note": OPTIONAL,
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"what": {"type": "string"}, "who": OPTIONAL},
                    "required": ["what", "who"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["title", "note", "steps"],
        "additionalProperties": False,
    },
}
"""As OpenAI's SDK and agents write a function: an optional value is one that may be null."""


@pytest.mark.parametrize("is_streamed", [True, False], ids=["streamed", "whole"])
def test_an_optional_value_of_a_strict_tool_may_be_left_out(
    is_streamed: bool, tmp_path: Path
) -> None:
    script = call_script(native("add_task", '{"title": "Tea", "steps": [{"what": "boil"}]}'))
    chat_tool = {"type": "function", "function": STRICT}
    tools = {PATHS[0]: chat_tool, PATHS[1]: {"type": "function", **STRICT}}
    with (
        ModelServer(script, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, tool in tools.items():
            body = {**request_on(path, "hi"), "tools": [tool], "stream": is_streamed}
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            steps = [{"what": "boil", "who": None}]
            given = {"title": "Tea", "note": None, "steps": steps}
            assert calls_in(path, text, is_streamed) == [("add_task", given)], path
        assert len(server.requests) == len(tools)
    not_strict = {"add_task": {"type": "function", "function": {**STRICT, "strict": False}}}
    assert map_call(
        "add_task", {"title": "Tea", "steps": []}, not_strict, lambda name: True
    ).problems


def test_a_name_that_there_is_not_is_told_to_the_model(tmp_path: Path) -> None:
    unknown = whole({"content": None, "tool_calls": [native("fly_to_moon", "{}")]}, "tool_calls")
    response, server = ask(tmp_path, unknown, called("ping", "{}"))
    assert [each["function"]["name"] for each in message_of(response)["tool_calls"]] == ["ping"]
    assert "fly_to_moon" in str(server.requests[1].body["messages"])


@pytest.mark.slow
def test_an_answer_is_never_empty(tmp_path: Path) -> None:
    unknown = whole({"content": None, "tool_calls": [native("fly_to_moon", "{}")]}, "tool_calls")
    response, _ = ask(tmp_path, unknown, streamed("I cannot fly."))
    assert message_of(response)["content"] == "I cannot fly."


def test_a_call_that_stands_in_the_reasoning_is_a_call(tmp_path: Path) -> None:
    thought = {"content": "", "reasoning_content": f"I play it. {NOTATIONS['hermes']}"}
    response, _ = ask(tmp_path, whole(thought))
    [call] = message_of(response)["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == PLAY.arguments


def test_each_of_several_answers_is_read(tmp_path: Path) -> None:
    texts = ["Hello.", NOTATIONS["hermes"], NOTATIONS["llama3_json"]]
    choices = [
        {"index": at, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for at, text in enumerate(texts)
    ]
    response, _ = ask(tmp_path, answered({"id": "c", "choices": choices}), n=3)
    found = response.json()["choices"]
    assert [each["finish_reason"] for each in found] == ["stop", "tool_calls", "tool_calls"]
    assert found[0]["message"]["content"] == "Hello."
    assert [each["index"] for each in found] == [0, 1, 2]


@pytest.mark.slow
def test_calls_that_were_cut_off_are_passed_on_as_cut_off(tmp_path: Path) -> None:
    cut = whole({"content": None, "tool_calls": [native("ping", '{"a')]}, "length")
    response, _ = ask(tmp_path, cut)
    assert response.json() == cut[1]["body"]


# Streams: what is sure goes on at once, the rest when it is known what it means.


def pieces(*arguments: str, name: str = "play_mp3", index: int = 0, choice: int = 0) -> Answer:
    """A call in pieces, as servers stream it."""
    function = {"name": name, "arguments": ""}
    opener = {"index": index, "id": f"c{index}", "type": "function", "function": function}
    deltas = [opener, *({"index": index, "function": {"arguments": each}} for each in arguments)]
    return [on(choice, {"tool_calls": [delta]}) for delta in deltas]


def on(choice: int, delta: Mapping[str, object], finish: str | None = None) -> dict[str, object]:
    listed = [{"index": choice, "delta": delta, "finish_reason": finish}]
    return {"op": "sse", "data": {"id": "c", "choices": listed}}


DONE = raw("data: [DONE]\n\n")


def stream(home: Path, *answers: Answer, **fields: object) -> tuple[str, ModelServer]:
    """The text of the stream that a client gets."""
    response, server = ask(home, *answers, stream=True, **fields)
    assert response.status_code == 200, response.text
    return response.text, server


def events_in(text: str) -> list[dict[str, Any]]:
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


def streamed_calls(text: str) -> list[tuple[str, object]]:
    return [
        (each["name"], json.loads(each["arguments"])) for each in joined(events_in(text))["calls"]
    ]


def test_calls_that_need_no_change_go_on_byte_for_byte(tmp_path: Path) -> None:
    answer = [
        status(),
        *pieces('{"fi', 'le": "b', 'lue.mp3"', "}"),
        *pieces("{}", name="ping", index=1),
        on(0, {}, "tool_calls"),
        DONE,
    ]
    text, _ = stream(tmp_path, answer)
    sent = [each["data"] for each in answer if each["op"] == "sse"]
    assert events_in(text) == sent


@pytest.mark.slow
def test_arguments_in_a_stream_are_corrected_behind_what_went_on(tmp_path: Path) -> None:
    answer = [
        status(),
        *pieces('{"level"', ': "7"', "}", name="set_volume"),
        *pieces('{"path": "x", "FI', 'LE": "a.mp3"}', index=1),
        on(0, {}, "tool_calls"),
        DONE,
    ]
    text, server = stream(tmp_path, answer)
    assert streamed_calls(text) == [
        ("set_volume", {"level": 7}),
        ("play_mp3", {"path": "x", "file": "a.mp3"}),
    ]
    assert len(server.requests) == 1


@pytest.mark.slow
def test_a_name_in_a_stream_that_there_is_not_is_told_to_the_model(tmp_path: Path) -> None:
    unknown = [status(), *pieces("{}", name="fly_to_moon"), on(0, {}, "tool_calls"), DONE]
    text, server = stream(tmp_path, unknown, called("ping", "{}"))
    assert streamed_calls(text) == [("ping", {})]
    assert "fly_to_moon" not in text
    assert len(server.requests) == 2


@pytest.mark.slow
def test_a_stream_is_never_empty(tmp_path: Path) -> None:
    unknown = [status(), *pieces("{}", name="fly_to_moon"), on(0, {}, "tool_calls"), DONE]
    text, _ = stream(tmp_path, unknown, streamed("I cannot fly."))
    found = joined(events_in(text))
    assert (found["text"], found["calls"], found["finish"]) == ("I cannot fly.", [], "stop")


def test_a_call_in_the_reasoning_of_a_stream_is_a_call(tmp_path: Path) -> None:
    thought = on(0, {"reasoning_content": f"I play it. {NOTATIONS['hermes']}"})
    text, _ = stream(tmp_path, [status(), thought, on(0, {}, "stop"), DONE])
    assert streamed_calls(text) == [("play_mp3", PLAY.arguments)]


@pytest.mark.slow
def test_several_answers_in_one_stream_are_read_apart(tmp_path: Path) -> None:
    call = NOTATIONS["hermes"]
    halves = [call[:30], call[30:]]
    answer = [
        status(),
        on(0, {"content": "Hel"}),
        on(1, {"content": halves[0]}),
        on(0, {"content": "lo."}),
        on(1, {"content": halves[1]}),
        on(0, {}, "stop"),
        on(1, {}, "stop"),
        DONE,
    ]
    text, _ = stream(tmp_path, answer, n=2)
    by_choice = {
        at: joined([each for each in events_in(text) if each["choices"][0]["index"] == at])
        for at in (0, 1)
    }
    assert (by_choice[0]["text"], by_choice[0]["finish"]) == ("Hello.", "stop")
    assert (by_choice[1]["text"], by_choice[1]["finish"]) == ("", "tool_calls")
    assert json.loads(by_choice[1]["calls"][0]["arguments"]) == PLAY.arguments


@pytest.mark.parametrize(
    ("behind", "words"), [("Yes.", "Yes."), ("", ""), (NOTATIONS["hermes"], "")]
)
def test_thoughts_in_the_text_of_a_stream_are_told_as_those_of_a_whole_answer(
    behind: str, words: str, tmp_path: Path
) -> None:
    text, _ = stream(tmp_path, streamed("<think>We", "ll.", "</think>", behind))
    deltas = [each["choices"][0]["delta"] for each in events_in(text)]
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "Well."
    assert joined(events_in(text))["text"] == words


def test_one_end_of_thoughts_makes_thoughts_of_no_later_answer(tmp_path: Path) -> None:
    """Its prompt may have opened the thoughts of the next reply too; the next one tells."""

    def answer(received: Received) -> Answer:
        is_marked = "think" in str(received.body["messages"][-1]["content"])
        text = "So.</think>Yes." if is_marked else "Hello there."
        return streamed(text) if received.body.get("stream") else whole({"content": text})

    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):

        def count_words(path: str, words: str, is_streamed: bool) -> int:
            body = {**request_on(path, words), "stream": is_streamed}
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            return text.count("Hello")

        for path in PATHS:
            plain = [count_words(path, "hi", is_streamed) for is_streamed in (False, True)]
            for marked_stream in (False, True):
                count_words(path, "think", marked_stream)
                assert count_words(path, "hi", False) == plain[0], path
                count_words(path, "think", marked_stream)
                count_words(path, "hi", True)  # the one that tells
                assert count_words(path, "hi", True) == plain[1], path


def test_a_character_that_is_cut_in_two_is_one_in_a_stream(tmp_path: Path) -> None:
    halves = [on(0, {"content": text}) for text in ("So \ud83d", "\ude00 ok")]
    thought = on(0, {"content": "<think>Hm.</think>"})  # then the words are written anew
    for before in ([], [thought]):
        text, _ = stream(tmp_path, [status(), *before, *halves, on(0, {}, "stop"), DONE])
        assert joined(events_in(text))["text"] == "So \N{GRINNING FACE} ok"


def test_words_beside_an_end_that_is_said_twice_are_not_lost(tmp_path: Path) -> None:
    ends = [on(0, {"content": "lo."}, "stop"), on(0, {"content": ""}, "stop")]
    text, _ = stream(tmp_path, [status(), on(0, {"content": "Hel"}), *ends, DONE])
    told = joined(events_in(text))
    assert (told["text"], told["finish"]) == ("Hello.", "stop")


@pytest.mark.parametrize("tools", [True, False], ids=["tools", "words"])
def test_an_answer_has_the_form_that_its_client_reads(tools: bool, tmp_path: Path) -> None:
    """A server may answer whole where a stream is wanted, or only know streams."""

    def answer(received: Received) -> Answer:
        is_streamed = not received.body.get("stream")
        return streamed("Hel", "lo.") if is_streamed else whole({"content": "Hello."})

    body = wire_body("v1/chat/completions", tools, False)
    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        assert message_of(served.post(body))["content"] == "Hello."
        response = served.post({**body, "stream": True})
        assert response.headers["content-type"].startswith("text/event-stream")
        told = joined(events_in(response.text))
        assert (told["text"], told["finish"]) == ("Hello.", "stop")
        assert len(server.requests) == 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_tokens_are_estimated_where_a_reply_ends_before_its_server_tells_them(
    stream: bool, tmp_path: Path
) -> None:
    """Somebody else's turn began: its server was told to stop, and says nothing more."""
    turns = streamed("It is sunny.<|im_end|>\n<|im_start|>user\n", "and tomorrow?")
    told = {"v1/responses": "put_tokens", "v1/messages": "put_tokens", "api/chat": "eval_count"}
    for path in PATHS[1:]:
        with (
            ModelServer([turns], checked=False) as server,
            serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
        ):
            body = wire_body(path, False, stream)
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            counts = re.findall(rf'{told[path]}":(\d+)', text)[-2:]
            assert all(0 < int(count) < 40 for count in counts), (path, text)
            assert len(counts) == 2, path


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_tokens_that_a_server_had_read_before_are_told_as_its_client_counts_them(
    stream: bool, tmp_path: Path
) -> None:
    details = {
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107, **details}
    told = {"op": "sse", "data": {"id": "c", "choices": [], "usage": usage}}
    with (
        ModelServer([[*streamed("Hello.")[:-1], told, DONE]], checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, wanted in (
            ("v1/responses", '"cached_tokens":60}'),
            ("v1/responses", '"reasoning_tokens":3}'),
            ("v1/responses", '"input_tokens":100'),
            ("v1/messages", '"input_tokens":40'),
            ("v1/messages", '"cache_read_input_tokens":60'),
        ):
            body = wire_body(path, False, stream)
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert wanted in text, path


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_words_in_channels_are_words_where_there_are_no_tools(stream: bool, tmp_path: Path) -> None:
    framed = (
        "<|channel|>analysis<|message|>A greeting.<|end|>",
        "<|start|>assistant<|channel|>final<|message|>Hel",
        "lo.<|return|>",
    )
    with (
        ModelServer([streamed(*framed)], checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path in PATHS[1:]:
            body = wire_body(path, False, stream)
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert "Hel" in text, path
            assert "lo." in text, path
            assert "final" not in text, path
            assert "analysis" not in text, path


@pytest.mark.slow
def test_events_with_carriage_returns_are_events(tmp_path: Path) -> None:
    data = json.dumps({"choices": [{"index": 0, "delta": {"content": NOTATIONS["hermes"]}}]})
    end = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    answer = [status(), raw(f"data: {data}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\r\n\r\n")]
    text, _ = stream(tmp_path, answer)
    assert streamed_calls(text) == [("play_mp3", PLAY.arguments)]


FORMS = {
    "lines": "data: {before}\ndata: {after}\n\n",
    "named": "event: message\nid: 7\ndata: {before}{after}\n\n",
    "comment": ": ping\ndata: {before}{after}\n\n",
}
"""An event as a server may write it."""


@pytest.mark.parametrize("form", FORMS)
def test_an_event_is_read_however_its_server_writes_it(form: str, tmp_path: Path) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    content = {"choices": [{"index": 0, "delta": {"content": NOTATIONS["hermes"]}}]}
    halves = [json.dumps(each).partition('"index": 0, ') for each in (content, end)]
    events = [FORMS[form].format(before=a + b, after=c) for a, b, c in halves]
    done = FORMS["named"].format(before="[DONE]", after="")
    text, _ = stream(tmp_path, [status(), *map(raw, events), raw(done)])
    assert streamed_calls(text) == [("play_mp3", PLAY.arguments)]
    assert joined(events_in(text))["finish"] == "tool_calls"


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
WORDS_AS: dict[str, list[dict[str, Any]]] = {
    "no delta": [{"delta": None}, {"delta": {"content": "Hello."}}, {"finish_reason": "stop"}],
    "message": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
    "message after it": [
        {"delta": {"content": "Hello."}},
        {"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"},
    ],
    "parts": [
        {"delta": {"role": "assistant", "content": [THOUGHT]}},
        {"delta": {"content": [{"type": "text", "text": "Hel"}]}},
        {"delta": {"content": "lo."}},
        {"delta": {}, "finish_reason": "stop"},
    ],
}
"""The choices of a server that takes liberties with deltas."""


@pytest.mark.parametrize("name", WORDS_AS)
def test_every_choice_of_a_stream_has_a_delta_that_clients_can_read(
    name: str, tmp_path: Path
) -> None:
    choices = [{"index": 0, "finish_reason": None, **choice} for choice in WORDS_AS[name]]
    events = [{"op": "sse", "data": {"id": "c", "choices": [choice]}} for choice in choices]
    text, _ = stream(tmp_path, [status(), *events, DONE])
    told = joined(events_in(text))
    assert (told["text"], told["finish"]) == ("Hello.", "stop")
    deltas = [each["choices"][0]["delta"] for each in events_in(text)]
    thoughts = "".join(delta.get("reasoning_content") or "" for delta in deltas)
    assert thoughts == ("hm" if name == "parts" else "")


@pytest.mark.slow
def test_a_stream_of_calls_that_is_cut_off_goes_on_as_it_came(tmp_path: Path) -> None:
    answer = [status(), *pieces('{"file": "a', '.mp3", "pa'), on(0, {}, "length"), DONE]
    text, _ = stream(tmp_path, answer)
    assert events_in(text) == [each["data"] for each in answer if each["op"] == "sse"]


@pytest.mark.slow
@pytest.mark.parametrize("taught", [False, True], ids=["native", "taught"])
def test_a_call_that_takes_long_is_a_stream_that_lives(taught: bool, tmp_path: Path) -> None:
    """Half a call, a pause, the other half: nothing of it can be shown before it is whole."""
    call = NOTATIONS["hermes"]
    pause = {"op": "sleep", "s": 2.5}
    halves = [on(0, {"content": call[:40]}), pause, on(0, {"content": call[40:]})]
    answer = [status(), *halves, on(0, {}, "stop"), DONE]
    dialect = ("--dialect", "hermes") if taught else ()
    with (
        ModelServer([answer], checked=False) as server,
        serving(server.url, "--model", "gpt-9", *dialect, home=tmp_path) as served,
        ThreadPoolExecutor(3) as pool,  # the pauses pass at the same time
    ):

        def ask(path: str) -> str:
            body = {**request_on(path, "play"), "stream": True}
            return httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text

        answers = list(pool.map(ask, PATHS[:3]))
    for path, answer_text in zip(PATHS[:3], answers, strict=True):
        assert ": still writing" in answer_text, path
        assert calls_in(path, answer_text, stream=True) == [("play_mp3", PLAY.arguments)], path


# A server whose stream is damaged: what is missing from an answer, nobody knows.

DAMAGED = raw('data: {"choices": [{"delta": {"content": " no\n\n')
ENDINGS = {
    "v1/chat/completions": ('data: {"error":', '"finish_reason": "stop"'),
    "v1/responses": ("event: error", "response.completed"),
    "v1/messages": ("event: error", "message_stop"),
    "api/chat": ('{"error":', '"done":true'),
}
"""On each wire, how a stream fails and how one is complete."""


def wire_body(path: str, tools: bool, stream: bool) -> dict[str, object]:
    body = {**request_on(path, "hi"), "stream": stream}
    return body if tools else {name: body[name] for name in body if name != "tools"}


@pytest.mark.parametrize("words", [(), ("--dialect", "hermes")], ids=["native", "taught"])
@pytest.mark.parametrize(
    "tools", [pytest.param(True, marks=pytest.mark.slow), False], ids=["tools", "words"]
)
def test_a_damaged_stream_ends_in_an_error_and_is_one_where_nothing_was_sent(
    words: tuple[str, ...], tools: bool, tmp_path: Path
) -> None:
    rest = [DAMAGED, on(0, {"content": "Never."}), on(0, {}, "stop"), DONE]
    begun = [status(), on(0, {"content": "Do it. "}), {"op": "sleep", "s": 0.2}, *rest]
    with (
        ModelServer([begun] * 4 + [[status(), *rest]], checked=False) as server,
        serving(server.url, "--model", "gpt-9", *words, home=tmp_path) as served,
    ):

        def ask(path: str, stream: bool) -> httpx2.Response:
            body = wire_body(path, tools, stream)
            return httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)

        for path, (failed, completed) in ENDINGS.items():
            text = ask(path, stream=True).text
            assert failed in text, path
            assert completed not in text, path
        for path in PATHS:
            for stream in (True, False):
                assert ask(path, stream).status_code == 502, path


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False])
def test_a_damaged_line_of_an_ollama_ends_its_answer_in_an_error(
    stream: bool, tmp_path: Path
) -> None:
    lines = ollama_reply(ollama_event("Do it. "), ollama_event("Never."), ollama_end())
    damaged = [*lines[:2], raw('{"message": {"content": " no\n'), *lines[2:]]
    with (
        ModelServer([damaged], ollama=True) as server,
        serving(f"ollama+{server.url}", "--model", "m", home=tmp_path) as served,
    ):
        for path, (failed, completed) in ENDINGS.items():
            body = wire_body(path, False, stream)
            found = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
            assert completed not in found.text, path
            assert found.status_code == 502 or failed in found.text, path


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("tools", [True, False], ids=["tools", "words"])
def test_a_limit_of_minus_one_is_none_and_is_not_sent(
    name: str, tools: bool, tmp_path: Path
) -> None:
    with (
        ModelServer([whole({"content": "Hello."})], checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        body = {**wire_body(PATHS[0], tools, False), name: -1}
        assert message_of(served.post(body))["content"] == "Hello."
        assert name not in server.requests[0].body
        assert served.post({**body, name: 0}).status_code == 400


NO_ROOM = (
    "This model's maximum context length is 4,096 tokens. However, you requested {} tokens "
    "({} in the messages, {} in the completion). Please reduce the length of the messages or "
    "completion."
)
"""As vLLM, SGLang and OpenAI's own servers say it."""


@pytest.mark.parametrize(("prompt", "limit"), [(240, 32_000), (4500, 400)])
def test_a_limit_for_which_there_is_no_room_beside_the_prompt_is_left_out(
    prompt: int, limit: int, tmp_path: Path
) -> None:
    message = NO_ROOM.format(prompt + limit, prompt, limit)

    def answer(received: Received) -> Answer:
        if "max_tokens" in received.body:
            return refused(400, message, type="BadRequestError")
        return streamed("Hi.") if received.body.get("stream") else whole({"content": "Hi."})

    is_prompt_too_long = prompt > limit
    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, name in zip(PATHS[:3], ("tokens", "output_tokens", "tokens"), strict=True):
            body = {**wire_body(path, False, False), f"max_{name}": limit}
            response = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
            assert ("Hi." in response.text) is not is_prompt_too_long, path
            assert response.status_code == (400 if is_prompt_too_long else 200), path
        assert len(server.requests) == (3 if is_prompt_too_long else 6)


@pytest.mark.parametrize(
    ("named", "fields"),
    [
        ("temperature", ["temperature", "temperature", None, None]),  # two wires have no such word
        ("messages[0].content", ["messages[0].content", None, None, None]),  # `input`, there
    ],
)
def test_the_field_that_a_server_refuses_is_named_as_its_client_wrote_it(
    named: str, fields: list[str | None], tmp_path: Path
) -> None:
    refusal = refused(400, "It is too high.", type="invalid_request_error", param=named)
    with (
        ModelServer([refusal], checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, field in zip(PATHS, fields, strict=True):
            body = {**wire_body(path, False, False), "temperature": 0.5}
            response = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
            error = response.json()["error"]
            assert (error.get("param") if isinstance(error, dict) else None) == field, path


# A server's own call that nobody can use: asked again, and then an error instead of nothing.


CORRECTED = ("could not be read", "There is no tool")


def call_script(*calls: dict[str, object]) -> Callable[[Received], Answer]:
    """Native calls, and after a correction those of the next reply."""

    def answer(received: Received) -> Answer:
        told_again = sum(
            any(words in str(each["content"]) for words in CORRECTED)
            for each in received.body["messages"]
        )
        call = calls[min(told_again, len(calls) - 1)]
        if not received.body.get("stream"):
            return whole({"content": None, "tool_calls": [call]}, "tool_calls")
        return [status(), on(0, {"tool_calls": [{"index": 0, **call}]}), on(0, {}, "tool_calls")]

    return answer


USELESS = {
    "unreadable": native("play_mp3", "file=a.mp3!"),
    "no object": native("play_mp3", "[1, 2]"),
    "unknown": native("fly_to_moon", "{}"),
}


@pytest.mark.parametrize("name", USELESS)
def test_a_call_that_cannot_be_used_is_asked_for_again(name: str, tmp_path: Path) -> None:
    script = call_script(USELESS[name], native("play_mp3", '{"file": "a.mp3"}'))
    with (
        ModelServer(script, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path in PATHS:
            for is_streamed in (True, False):
                body = {**request_on(path, "hi"), "stream": is_streamed}
                response = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
                assert response.status_code == 200, path
                found = calls_in(path, response.text, is_streamed)
                assert found == [("play_mp3", {"file": "a.mp3"})], path


CALLED = ('"finish_reason": "tool_calls"', "response.completed", '"tool_use"', '"done":true')


@pytest.mark.parametrize("is_streamed", [True, False], ids=["streamed", "whole"])
def test_a_call_of_a_server_that_was_sent_no_tools_goes_on_as_it_is_on_every_wire(
    is_streamed: bool, tmp_path: Path
) -> None:
    script = call_script(native("fly_to_moon", '{"at": 7}'))
    with (
        ModelServer(script, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, ending in zip(PATHS, CALLED, strict=True):
            body = wire_body(path, False, is_streamed)
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert calls_in(path, text, is_streamed) == [("fly_to_moon", {"at": 7})], path
            assert ending in text or not is_streamed, path
        assert len(server.requests) == len(PATHS)


@pytest.mark.parametrize("name", USELESS)
def test_a_call_that_never_can_be_used_is_an_error_and_no_empty_answer(
    name: str, tmp_path: Path
) -> None:
    with (
        ModelServer(call_script(USELESS[name]), checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path, (failed, completed) in ENDINGS.items():
            for is_streamed in (True, False):
                body = {**request_on(path, "hi"), "stream": is_streamed}
                found = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
                assert completed not in found.text, path
                assert found.status_code == 502 or failed in found.text, path
        assert len(server.requests) == 3 * 2 * len(PATHS)


def test_words_beside_a_call_that_was_of_no_use_make_room_for_those_beside_the_next(
    tmp_path: Path,
) -> None:
    useless = NOTATIONS["hermes"].replace("play_mp3", "fly_to_moon")
    written = [f"I fly.\n{useless}", f"I play.\n{NOTATIONS['hermes']}"]
    with (
        ModelServer([streamed(text) for text in written] * len(PATHS), checked=False) as server,
        serving(server.url, "--dialect", "hermes", home=tmp_path) as served,
    ):
        for path in PATHS:
            body = wire_body(path, True, False)
            text = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN).text
            assert calls_in(path, text, False) == [("play_mp3", PLAY.arguments)]
            assert ("I fly." in text, "I play." in text) == (False, True), path


@pytest.mark.parametrize("is_streamed", [True, False], ids=["streamed", "whole"])
def test_who_wants_no_call_gets_words_and_no_error_from_a_model_that_only_calls(
    is_streamed: bool, tmp_path: Path
) -> None:
    call = NOTATIONS["hermes"]
    with (
        ModelServer(
            [streamed(call), streamed(call), streamed(f"It plays.\n{call}")] + [streamed(call)] * 3,
            checked=False,
        ) as server,
        serving(server.url, "--dialect", "hermes", home=tmp_path) as served,
    ):
        body = {**wire_body(PATHS[0], True, is_streamed), "tool_choice": "none"}
        texts = []
        for _ in range(2):
            response = served.post(body)
            assert response.status_code == 200
            assert '"finish_reason":"stop"' in response.text
            texts.append(response.text)
    assert ["It plays." in text for text in texts] == [True, False]
    assert not any("tool_call" in text or "error" in text for text in texts)
    assert len(server.requests) == 6


def test_a_stream_never_ends_well_behind_arguments_that_cannot_be_read(tmp_path: Path) -> None:
    cut = [status(), *pieces('{"file": "a', ".mp3"), on(0, {}, "tool_calls"), DONE]
    text, _ = stream(tmp_path, cut)
    assert '"file' in "".join(each["arguments"] for each in joined(sent_events(text))["calls"])
    assert joined(sent_events(text))["finish"] is None
    assert "arguments of play_mp3 that cannot be read" in text


BEGUN = [status(), *pieces('{"file": "a', ".mp3"), on(0, {}, "tool_calls"), DONE]
"""A call whose arguments miss their end, though its server says that it is whole."""


def answers_on_wires(
    home: Path, answer: Callable[[Received], Answer], paths: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """The paths, and the streams that their clients get; nothing where the answer is a 502."""
    with (
        ModelServer(answer, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=home) as served,
    ):
        for path in paths:
            body = {**request_on(path, "hi"), "stream": True}
            response = httpx2.post(f"{served.url}/{path}", json=body, verify=PLAIN)
            yield path, "" if response.status_code == 502 else response.text


def test_a_call_that_began_and_cannot_be_read_ends_no_stream_well(tmp_path: Path) -> None:
    for path, text in answers_on_wires(tmp_path, lambda received: BEGUN, ENDINGS):
        failed, completed = ENDINGS[path]
        assert failed in text or not text, path
        assert completed not in text, path


def test_a_call_that_began_in_the_text_is_not_mixed_with_one_of_the_server(tmp_path: Path) -> None:
    text = NOTATIONS["hermes"]
    words = [on(0, {"content": text[at : at + 5]}) for at in range(0, len(text), 5)]
    both = [status(), *words, *pieces('{"file": "b.mp3"}'), on(0, {}, "tool_calls"), DONE]
    told, _ = stream(tmp_path, both)
    assert "The model began a call of play_mp3 that cannot be used." in told
    assert "b.mp3" not in told
    assert joined(sent_events(told))["finish"] is None


def test_a_call_that_began_and_was_given_up_is_no_call(tmp_path: Path) -> None:
    def answer(received: Received) -> Answer:
        return streamed("No.") if len(received.body["messages"]) > 1 else BEGUN

    for path, text in answers_on_wires(tmp_path, answer, PATHS[1:3]):
        failed, completed = ENDINGS[path]
        assert '{\\"file\\": \\"a' in text, path
        assert failed in text, path
        assert completed not in text, path


def test_a_call_that_began_and_was_cut_off_is_an_item_that_is_not_complete(tmp_path: Path) -> None:
    cut = [status(), *pieces('{"file": "a', ".mp3"), on(0, {}, "length"), DONE]
    [(_, text)] = answers_on_wires(tmp_path, lambda received: cut, PATHS[1:2])
    response = events_in(text)[-1]["response"]
    assert [item["status"] for item in response["output"]] == ["incomplete"]
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert "arguments.done" not in text


def test_a_call_with_a_name_twice_is_one_call_on_every_wire(tmp_path: Path) -> None:
    twice = [status(), *pieces('{"file": "a.mp3", ', '"file": "b.mp3"}'), on(0, {}, "tool_calls")]
    for path, text in answers_on_wires(tmp_path, lambda received: twice, PATHS):
        assert calls_in(path, text, stream=True) == [("play_mp3", {"file": "b.mp3"})], path


def test_arguments_that_a_server_sends_again_are_one_call_on_every_wire(tmp_path: Path) -> None:
    arguments = '{"file": "a.mp3"}'
    again = [status(), *pieces(arguments, arguments), on(0, {}, "tool_calls"), DONE]
    for path, text in answers_on_wires(tmp_path, lambda received: again, PATHS):
        assert calls_in(path, text, stream=True) == [("play_mp3", {"file": "a.mp3"})], path


def test_two_argument_objects_are_two_whole_calls_on_every_wire(tmp_path: Path) -> None:
    first, second = '{"file": "a.mp3"}', '{"file": "b.mp3"}'
    glued = [status(), *pieces(first, second), on(0, {}, "tool_calls"), DONE]
    for path, text in answers_on_wires(tmp_path, lambda received: glued, PATHS):
        wanted = [("play_mp3", {"file": "a.mp3"}), ("play_mp3", {"file": "b.mp3"})]
        assert calls_in(path, text, stream=True) == wanted, path


def test_a_brace_too_many_is_left_out_and_words_behind_arguments_end_no_stream_well(
    tmp_path: Path,
) -> None:
    brace, words = (
        [status(), *pieces('{"file": ', '"a.mp3"}', left), on(0, {}, "tool_calls"), DONE]
        for left in ("}", ' and "b.mp3"')
    )
    for path, text in answers_on_wires(tmp_path, lambda received: brace, ENDINGS):
        assert ENDINGS[path][0] not in text, path
        assert calls_in(path, text, stream=True) == [("play_mp3", {"file": "a.mp3"})], path
    (tmp_path / "words").mkdir()
    for path, text in answers_on_wires(tmp_path / "words", lambda received: words, ENDINGS):
        failed, completed = ENDINGS[path]
        assert failed in text or not text, path
        assert completed not in text, path


JUDGED = {
    "{'file': 'a', 'path': {}}": {"file": "a", "path": {}},
    "null": {},
    '{"path": NaN, "file": "a"}': {"path": "nan", "file": "a"},  # JSON has no such number
}


@pytest.mark.parametrize("arguments", JUDGED)
def test_arguments_that_do_not_fit_are_json_in_the_end_on_every_wire(
    arguments: str, tmp_path: Path
) -> None:
    """The model was told twice, and the client has to judge them."""
    call = native("play_mp3", arguments)
    opener = {**call, "function": {"name": "play_mp3", "arguments": ""}}
    told: list[int] = []

    def answer(received: Received) -> Answer:
        told.append(len(received.body["messages"]))
        pieces_of_it: list[dict[str, object]] = [opener, {"function": {"arguments": arguments}}]
        deltas = [on(0, {"tool_calls": [{"index": 0, **each}]}) for each in pieces_of_it]
        return [status(), *deltas, on(0, {}, "tool_calls"), DONE]

    for path, text in answers_on_wires(tmp_path, answer, PATHS):
        assert calls_in(path, text, stream=True) == [("play_mp3", JUDGED[arguments])], path
    assert told == [1, 3, 5] * len(PATHS)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ({"patch": "my text"}, 200, '"input":"my text"'),  # whatever the model calls it
        ({"patch": "my text", "file": "a"}, 502, "without that text"),  # which it is nobody knows
    ],
)
def test_the_text_of_a_free_form_call_is_never_made_up(
    arguments: Mapping[str, str], code: int, told: str, tmp_path: Path
) -> None:
    edit = {"name": "edit", "description": "takes a text"}
    tool = {"type": "custom", "custom": edit, **edit}
    with (
        ModelServer(call_script(native("edit", json.dumps(arguments))), checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for path in PATHS[:2]:
            for is_streamed in (True, False):
                body = {**request_on(path, "hi"), "tools": [tool], "stream": is_streamed}
                response = httpx2.post(f"{served.url}/{path}", json=body, timeout=30, verify=PLAIN)
                assert told in response.text, (path, is_streamed)
                assert is_streamed or response.status_code == code, path


# What a server leaves out beside its calls: ids of their own, and why the answer ended.

PING = {"function": {"name": "ping", "arguments": "{}"}}
LIST = {"function": {"name": "list_mp3s", "arguments": "{}"}}
INCOMPLETE: dict[str, tuple[list[dict[str, Any]], str | None]] = {
    "no id": ([PING, LIST], "tool_calls"),
    "empty ids": ([{**PING, "id": ""}, {**LIST, "id": ""}], "tool_calls"),
    "one id": ([{**PING, "id": "x"}, {**LIST, "id": "x"}], "tool_calls"),
    "stop": ([{**PING, "id": "x"}, {**LIST, "id": "y"}], "stop"),
    "no reason": ([{**PING, "id": "x"}, {**LIST, "id": "y"}], None),
}


@pytest.mark.parametrize("place", ["index", "one index", "no index"])
@pytest.mark.parametrize("name", quick_every(5, INCOMPLETE))
def test_calls_in_a_stream_have_ids_of_their_own_and_their_reason(
    name: str, place: str, tmp_path: Path
) -> None:
    calls, finish = INCOMPLETE[name]
    places = {"index": [{"index": 0}, {"index": 1}], "one index": [{"index": 0}] * 2}
    placed = [{**at, **call} for at, call in zip(places.get(place, [{}, {}]), calls, strict=True)]
    deltas = [on(0, {"tool_calls": [call]}) for call in placed]
    end = [on(0, {}, finish)] if finish else []
    text, server = stream(tmp_path, [status(), *deltas, *end, DONE])
    found = joined(events_in(text))
    assert [call["name"] for call in found["calls"]] == ["ping", "list_mp3s"]
    ids = [call["id"] for call in found["calls"]]
    assert all(ids)
    assert len({*ids}) == 2
    assert found["finish"] == "tool_calls"
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", quick_every(2, INCOMPLETE))
def test_calls_of_a_whole_answer_have_ids_of_their_own_and_their_reason(
    name: str, tmp_path: Path
) -> None:
    calls, finish = INCOMPLETE[name]
    answer = whole({"content": None, "tool_calls": calls})
    answer[1]["body"]["choices"][0]["finish_reason"] = finish
    response, _ = ask(tmp_path, answer)
    ids = [call.get("id") for call in message_of(response)["tool_calls"]]
    assert all(ids)
    assert len({*ids}) == 2
    assert response.json()["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
def test_a_client_of_tools_gets_no_call_in_the_older_form(
    is_streamed: bool, tmp_path: Path
) -> None:
    message = {"content": None, "function_call": PING["function"]}
    events = [status(), on(0, message), on(0, {}, "function_call"), DONE]
    answer = events if is_streamed else whole(message, "function_call")
    response, _ = ask(tmp_path, answer, stream=is_streamed)
    assert "function_call" not in response.text
    assert calls_in(PATHS[0], response.text, is_streamed) == [("ping", {})]


def sent_events(text: str) -> list[dict[str, Any]]:
    """The events of a stream but for its error."""
    return [each for each in events_in(text) if "choices" in each]


# What a client says of calls holds whatever its server does, in a stream too.

LIST_ONE = {"type": "function", "function": {"name": "list_mp3s"}}
WISHES: dict[str, tuple[dict[str, object], list[str]]] = {
    "none": ({"tool_choice": "none"}, []),
    "named": ({"tool_choice": LIST_ONE}, ["list_mp3s"]),
    "one": ({"parallel_tool_calls": False}, ["ping"]),
    "all": ({}, ["ping", "list_mp3s"]),
}


def answer_with_two_calls(received: Received) -> Answer:
    """Two calls at once, and words where it is told something of them."""
    calls = [native("ping", "{}"), native("list_mp3s", '{"path": "x"}', "c2")]
    is_streamed = received.body.get("stream")
    if len(received.body["messages"]) > 1:
        return streamed("In words.") if is_streamed else whole({"content": "In words."})
    if not is_streamed:
        return whole({"content": None, "tool_calls": calls}, "tool_calls")
    deltas = [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(calls)]
    return [status(), *(on(0, delta) for delta in deltas), on(0, {}, "tool_calls"), DONE]


@pytest.mark.parametrize("wish", WISHES)
def test_what_a_client_says_of_calls_holds_in_a_stream_as_in_a_whole_answer(
    wish: str, tmp_path: Path
) -> None:
    fields, names = WISHES[wish]
    body = {"model": "m", "messages": [USER], "tools": MP3S, **fields}
    with (
        ModelServer(answer_with_two_calls, checked=False) as server,
        serving(server.url, "--model", "gpt-9", home=tmp_path) as served,
    ):
        for is_streamed in (True, False):
            text = served.post({**body, "stream": is_streamed}).text
            if is_streamed:
                found = joined(events_in(text))
                called_names = [call["name"] for call in found["calls"]]
                said, finish = found["text"], found["finish"]
            else:
                choice = json.loads(text)["choices"][0]
                calls = choice["message"].get("tool_calls", ())
                called_names = [call["function"]["name"] for call in calls]
                said, finish = choice["message"]["content"], choice["finish_reason"]
            assert called_names == names
            assert finish == ("tool_calls" if names else "stop")
            assert (said or "") == ("" if names else "In words.")
