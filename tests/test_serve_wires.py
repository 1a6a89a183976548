import contextlib
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from andy_cli.frontends.serve.upstream.tool_prompt import DIALECTS, make_tool_prompt
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.frontends.serve.wires.chat_request import read_chat_request as asked_chat
from andy_cli.frontends.serve.wires.chat_writer import ChatWriter
from andy_cli.frontends.serve.wires.client_wire import AnswerWriter
from andy_cli.frontends.serve.wires.messages import MessagesWriter, read_messages_request
from andy_cli.frontends.serve.wires.responses_request import read_responses_request
from andy_cli.frontends.serve.wires.responses_writer import ResponsesWriter
from tests.cases import loop_over
from tests.model_server import Answer, ModelServer, Received, event, refused, status
from tests.serve_process import behind, hermes, replied, serving
from tests.wrong_requests import (
    BAD,
    CALL,
    CALLED,
    COUNT,
    FULL_MESSAGES,
    FULL_RESPONSES,
    FUNCTION,
    KINDS,
    MESSAGE,
    MESSAGES,
    OUTPUT,
    RESPONSE,
    RESPONSES,
    RESULT,
    SAID,
    TOOL,
    USES,
    broken,
    messages,
)

PICTURE = "iVBORw0KGgo="
PIECES: tuple[AnswerPart, ...] = (
    ReasoningDelta("Hm"),
    ReasoningDelta("m."),
    TextDelta("I "),
    TextDelta("look."),
    CompletedCall(0, "call_1", "list_mp3s", '{"path": "~/mp3"}'),
    CompletedCall(1, "call_2", "now", "{}"),
    Finish("tool_calls", 20, 5),
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with behind(tmp_path_factory.mktemp("home"), "hermes") as found:
        yield found


def posted(url: str, body: object) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def complaint(path: str, answer: str) -> str:
    """The message of an error in the shape of its protocol."""
    body = json.loads(answer)
    if path == RESPONSES:
        assert set(body) == {"error"}
        assert set(body["error"]) == {"message", "type", "param", "code"}
        first_word = body["error"]["message"].split()[0]
        assert first_word.istitle() or body["error"]["param"] == first_word
    else:
        assert (set(body), body["type"]) == ({"type", "error"}, "error")
        assert set(body["error"]) == {"type", "message"}
    assert body["error"]["type"] == "invalid_request_error"
    return str(body["error"]["message"])


@loop_over(
    ("path", "body"), [pytest.param(path, body, id=f"{path} {name}") for path, name, body in BAD]
)
def test_what_is_wrong_with_a_request_is_said(address: str, path: str, body: object) -> None:
    code, answer = posted(address + path, body)
    assert code == 400, answer
    assert complaint(path, answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "write", "full"),
    [
        (read_messages_request, MessagesWriter, FULL_MESSAGES),
        (read_responses_request, ResponsesWriter, FULL_RESPONSES),
    ],
)
def test_any_request_is_understood_or_refused(
    read: Callable[[object], ChatRequest],
    write: Callable[[ChatRequest, str], AnswerWriter],
    full: Mapping[str, object],
) -> None:
    assert read(full).tools
    understood = 0
    for body in broken(full):
        with contextlib.suppress(ApiError):
            asked = read(body)
            understood += 1
            write(asked, "m").write_answer(PIECES)
            for dialect in ("hermes", "andybot", "native"):
                make_tool_prompt(DIALECTS[dialect], asked.tools).render_messages(
                    asked.history, asked.parts
                )
    assert understood > 100


@pytest.mark.parametrize("path", [MESSAGES, COUNT, RESPONSES])
def test_what_is_no_json_is_refused(address: str, path: str) -> None:
    for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"max_tokens": ' + b"9" * 5000 + b"}"):
        code, answer = posted(address + path, body)
        assert code == 400, answer
        assert complaint(path, answer)


def test_a_huge_request_is_too_large(address: str) -> None:
    request = urllib.request.Request(
        address + MESSAGES, b"", {"content-type": "application/json", "content-length": str(2**30)}
    )
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    with caught.value as error:
        assert json.load(error)["error"]["type"] == "request_too_large"


@pytest.mark.slow
def test_many_calls_are_read_in_no_time() -> None:
    calls = [{**CALL, "call_id": f"c{at}"} for at in range(30_000)]
    results = [{**OUTPUT, "call_id": f"c{at}"} for at in range(30_000)]
    made = read_responses_request({**RESPONSE, "input": [*calls, *results]})
    assert len(made.history) == 30_001


def test_what_a_client_found_itself_is_told_with_its_title_and_source() -> None:
    found = {
        "type": "search_result",
        "source": "https://example.org/tea",
        "title": "Tea",
        "content": [{"type": "text", "text": "Boil."}, {"type": "text", "text": "Wait."}],
        "citations": {"enabled": True},
    }
    said = messages("Hello", [USES], [{**RESULT, "content": [found]}, found])
    result, user = read_messages_request({**MESSAGE, **said, "tools": [TOOL]}).history[-2:]
    told = "Tea\nhttps://example.org/tea\nBoil.\nWait."
    assert (result.role, result.content, user.content) == ("tool", told, told)


@pytest.mark.parametrize(
    "source",
    [
        {"type": "text", "media_type": "text/plain", "data": "Boil."},
        {"type": "content", "content": [{"type": "text", "text": "Boil."}]},
    ],
    ids=["text", "content"],
)
def test_a_document_is_told_with_its_title_and_what_is_said_about_it(
    source: dict[str, object],
) -> None:
    about = {"title": "Tea", "context": "From 1904.", "citations": {"enabled": True}}
    said = messages([{"type": "document", "source": source, **about}])
    made = read_messages_request({**MESSAGE, **said})
    assert made.history[-1].content == "Tea\nFrom 1904.\nBoil."


def test_a_document_in_bytes_has_its_title_for_a_name() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    document = {"type": "document", "source": source, "title": "Tea", "context": "From 1904."}
    made = read_messages_request({**MESSAGE, **messages([document])})
    file = {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "Tea"}
    [(mark, kept)] = made.parts.items()
    assert (made.history[-1].content, kept["file"]) == (f"From 1904.\n{mark}", file)  # type: ignore[index]


def test_the_answer_format_has_two_names_in_anthropics_api() -> None:
    wanted = {"type": "json_schema", "schema": {"type": "object"}}
    asked: list[dict[str, object]] = [
        {"output_format": wanted},  # of the beta
        {"output_config": {"format": wanted}},
        {"output_config": {"effort": "low"}, "output_format": wanted},
    ]
    for fields in asked:
        made = read_messages_request({**MESSAGE, **messages("Hello"), **fields})
        assert made.answer_schema == {"type": "object"}


def test_tools_that_a_search_of_the_client_found_are_named_to_the_model() -> None:
    found = {"type": "tool_reference", "tool_name": "list_mp3s"}
    said = messages("Hello", [USES], [{**RESULT, "content": [found]}])
    made = read_messages_request({**MESSAGE, **said, "tools": [{**TOOL, "defer_loading": True}]})
    assert made.history[-1].content == "found: list_mp3s"
    assert [*made.tools] == ["list_mp3s"]


def test_messages_become_a_history() -> None:
    picture = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    said = messages(
        [{"type": "text", "text": "Look:"}, {"type": "image", "source": picture}],
        [
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": "I look."},
            USES,
            {**USES, "id": "c2"},
        ],
        [
            {"type": "text", "text": "Here."},
            {
                **RESULT,
                "tool_use_id": "c2",
                "content": [{"type": "text", "text": "no"}],
                "is_error": True,
            },
            RESULT,
        ],
    )
    made = read_messages_request(
        {
            **MESSAGE,
            **said,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {}}],
            "tools": [TOOL, {"type": "web_search_1", "name": "web_search"}],
            "tool_choice": {"type": "tool", "name": "list_mp3s", "disable_parallel_tool_use": True},
            "stop_sequences": ["END"],
            "top_k": 5,
            "metadata": {"user_id": "me"},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        }
    )
    system, user, assistant, first, second, last = made.history
    assert (system.role, system.content) == ("system", "Be brief.")
    assert user.content.startswith("Look:\n")
    url = {"url": f"data:image/png;base64,{PICTURE}"}
    assert [*made.parts.values()] == [{"type": "image_url", "image_url": url}]
    assert assistant.content == "I look."
    assert [(each.id, each.arguments) for each in assistant.calls] == [
        ("c1", {"path": "~/mp3"}),
        ("c2", {"path": "~/mp3"}),
    ]
    assert (first.call_id, first.name, first.content) == ("c2", "list_mp3s", "Error: no")
    assert (second.call_id, second.content) == ("c1", "a.mp3")
    assert (last.role, last.content) == ("user", "Here.")
    assert [*made.tools] == ["list_mp3s"]
    assert (made.choice.how, made.choice.name, made.parallel) == ("required", "list_mp3s", False)
    assert made.fields == {"max_tokens": 9, "stop": ["END"], "top_k": 5, "user": "me"}


def test_what_other_servers_did_themselves_is_left_out_of_a_history() -> None:
    found: list[dict[str, object]] = [{"type": "web_search_result", "url": "https://example.org"}]
    said = messages(
        "Hello",
        [
            {"type": "compaction", "content": "They talked of tea."},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "t"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": found},
            {"type": "text", "text": "Boil it."},
        ],
        "Thanks",
    )
    items = [
        {"role": "user", "content": "Hello"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"},
        {"type": "mcp_call", "id": "m1", "name": "find", "server_label": "s", "arguments": "{}"},
        {"role": "assistant", "content": "Boil it."},
        {"role": "user", "content": "Thanks"},
    ]
    blocks = read_messages_request({**MESSAGE, **said}).history
    assert [each.content for each in blocks] == ["Hello", "They talked of tea.\nBoil it.", "Thanks"]
    history = read_responses_request({**RESPONSE, "input": items}).history
    assert [each.content for each in history] == ["Hello", "Boil it.", "Thanks"]


def test_items_become_a_history() -> None:
    made = read_responses_request(
        {
            **RESPONSE,
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Play."}]},
                {"type": "reasoning", "id": "rs_1", "summary": []},
                CALL,
                {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {**CALL, "call_id": "c2"},
                {"role": "user", "content": "Hurry."},
                {**OUTPUT, "call_id": "c2", "output": [{"type": "input_text", "text": "b.mp3"}]},
                OUTPUT,
            ],
            "tools": [FUNCTION, {"type": "web_search"}],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "list_mp3s"}],
            },
            "parallel_tool_calls": False,
            "max_output_tokens": 50,
            "text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": "object"}}},
            "store": True,
            "metadata": {"a": "b"},
        }
    )
    roles = [each.role for each in made.history]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assistant = made.history[2]
    assert (assistant.content, [each.id for each in assistant.calls]) == ("I look.", ["c1", "c2"])
    assert [each.content for each in made.history[3:5]] == ["b.mp3", "a.mp3"]
    assert (made.choice.how, made.parallel) == ("required", False)
    form = {"name": "x", "schema": {"type": "object"}}
    assert made.fields == {
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": form},
    }


GIVEN: Mapping[str, Mapping[str, object]] = {
    "list_mp3s": {"path": "~/mp3"},
    "box__list_mp3s": {"path": "~/mp3"},
    "edit": {"input": "x\ny"},
    "box__edit": {"input": "z"},
    "tool_search": {"query": "music"},
    "local_shell": {"command": ["ls"], "working_directory": "/"},
    "shell": {"commands": ["ls"]},
    "apply_patch": {"type": "update_file", "path": "a", "diff": "+x"},
    "found": {},
    "brought": {},
}
"""The names of the tools under which a model knows them, and arguments."""
CALLS_MADE: list[Mapping[str, object]] = [
    {"type": "function_call", "name": "list_mp3s", "arguments": '{"path": "~/mp3"}'},
    {
        "type": "function_call",
        "name": "list_mp3s",
        "namespace": "box",
        "arguments": '{"path": "~/mp3"}',
    },
    {"type": "custom_tool_call", "name": "edit", "input": "x\ny"},
    {"type": "custom_tool_call", "name": "edit", "namespace": "box", "input": "z"},
    {"type": "tool_search_call", "execution": "client", "arguments": {"query": "music"}},
    {
        "type": "local_shell_call",
        "action": {"type": "exec", "env": {}, "command": ["ls"], "working_directory": "/"},
    },
    {"type": "shell_call", "action": {"commands": ["ls"]}},
    {"type": "apply_patch_call", "operation": GIVEN["apply_patch"]},
    {"type": "function_call", "name": "found", "arguments": "{}"},
    {"type": "function_call", "name": "brought", "arguments": "{}"},
]


def test_each_kind_of_tool_is_a_function_to_the_model() -> None:
    asked = read_responses_request(
        {**FULL_RESPONSES} | {"tools": [FUNCTION, *KINDS], "tool_choice": "auto"}
    )
    assert {*asked.tools} == {*GIVEN}
    edit = asked.tools["edit"]["function"]["parameters"]
    assert edit["required"] == ["input"]
    assert "start: x" in edit["properties"]["input"]["description"]
    pieces: list[AnswerPart] = [
        *(
            CompletedCall(at, f"e{at}", name, json.dumps(each))
            for at, (name, each) in enumerate(GIVEN.items())
        ),
        Finish("tool_calls"),
    ]
    made = json.loads(ResponsesWriter(asked, "m").write_answer(pieces))["output"]
    for at, (item, wanted) in enumerate(zip(made, CALLS_MADE, strict=True)):
        assert item.pop("id")
        assert item == {**wanted, "call_id": f"e{at}", "status": "completed"}
    before = FULL_RESPONSES["input"]
    asked = read_responses_request({**FULL_RESPONSES, "input": [*before, *made]})
    calls = asked.history[-1].calls
    assert [each.name for each in calls] == [*GIVEN]
    assert {each.name: {**GIVEN[each.name], **each.arguments} for each in calls} == {
        each.name: each.arguments for each in calls
    }


def test_results_of_each_kind_are_told() -> None:
    asked = read_responses_request({**FULL_RESPONSES, "input": CALLED})
    assert [each.content for each in asked.history if each.role == "tool"] == [
        "done",
        "found: found",
        "a.mp3",
        "a.mp3\nexit code 0",
        "completed\ngone",
    ]


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ({"type": "custom", "name": "edit"}, "edit"),
        ({"type": "custom", "name": "edit", "namespace": "box"}, "box__edit"),
        ({"type": "apply_patch"}, "apply_patch"),
    ],
)
def test_a_tool_of_each_kind_can_be_wanted(choice: Mapping[str, str], name: str) -> None:
    asked = read_responses_request({**RESPONSE, "tools": KINDS, "tool_choice": choice})
    assert (asked.choice.how, asked.choice.name) == ("required", name)


def test_a_stream_tells_of_a_call_with_a_text() -> None:
    writer = ResponsesWriter(read_responses_request({**RESPONSE, "tools": KINDS}), "m")
    pieces: list[AnswerPart] = [
        CompletedCall(0, "c1", "edit", '{"input": "x"}'),
        Finish("tool_calls"),
    ]
    told = events(b"".join(map(writer.write_event, pieces)))[2:-1]
    assert [each["type"].removeprefix("response.") for each in told] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert (told[0]["item"]["input"], told[1]["delta"], told[2]["input"]) == ("", "x", "x")


def test_what_an_assistant_refused_stays_in_its_history() -> None:
    refused_turn = {"role": "assistant", "content": None, "refusal": "I may not."}
    asked = asked_chat({"messages": [*SAID, refused_turn, *SAID]})
    assert [message.content for message in asked.history[1:2]] == ["I may not."]


def test_a_tool_of_the_chat_api_may_take_a_text() -> None:
    grammar = {"syntax": "lark", "definition": "start: x"}
    custom = {"name": "edit", "format": {"type": "grammar", "grammar": grammar}}
    edit = {"name": "edit", "input": "x"}
    made = {"id": "c1", "type": "custom", "custom": edit}
    body = {
        "messages": [
            *SAID,
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ],
        "tools": [{"type": "custom", "custom": custom}],
        "tool_choice": {"type": "custom", "custom": {"name": "edit"}},
    }
    asked = asked_chat(body)
    assert asked.choice.name == "edit"
    assert asked.history[1].calls[0].arguments == {"input": "x"}
    pieces: list[AnswerPart] = [
        CompletedCall(0, "c1", "edit", '{"input": "x"}'),
        Finish("tool_calls"),
    ]
    message = json.loads(ChatWriter(asked, "m").write_answer(pieces))["choices"][0]["message"]
    assert message["tool_calls"] == [made]
    told = ChatWriter(asked, "m").write_event(pieces[0]).decode().removeprefix("data: ")
    assert json.loads(told)["choices"][0]["delta"]["tool_calls"] == [{"index": 0, **made}]


@pytest.mark.parametrize(
    ("type", "commands"),
    [
        ("text_editor_20250728", ["view", "create", "str_replace", "insert"]),
        ("text_editor_20250124", ["view", "create", "str_replace", "insert", "undo_edit"]),
        ("memory_20250818", ["view", "create", "str_replace", "insert", "delete", "rename"]),
        ("bash_20250124", []),
    ],
)
def test_tools_that_need_no_schema_have_one(type: str, commands: list[str]) -> None:
    asked = read_messages_request({**MESSAGE, "tools": [{"type": type, "name": "mine"}]})
    parameters = asked.tools["mine"]["function"]["parameters"]
    command = parameters["properties"]["command"]
    assert [*command.get("enum", [])] == commands
    assert {*parameters["required"]} <= {*parameters["properties"]}
    text = "insert_text" in parameters["properties"]
    assert text is ("insert" in commands and "undo_edit" not in commands)


def events(data: bytes) -> list[dict[str, Any]]:
    """Each is named in its head as in its body."""
    found = []
    for each in data.decode().split("\n\n")[:-1]:
        head, body = each.split("\n")
        found.append(json.loads(body.removeprefix("data: ")))
        assert head == f"event: {found[-1]['type']}"
    return found


def test_blocks_of_an_answer() -> None:
    asked = read_messages_request({**MESSAGE, "thinking": {"type": "adaptive"}})
    made = json.loads(MessagesWriter(asked, "m").write_answer(PIECES))
    assert made["content"] == [
        {"type": "thinking", "thinking": "Hmm.", "signature": ""},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "call_1", "name": "list_mp3s", "input": {"path": "~/mp3"}},
        {"type": "tool_use", "id": "call_2", "name": "now", "input": {}},
    ]
    assert made["stop_reason"] == "tool_use"
    assert made["usage"] == {"input_tokens": 20, "output_tokens": 5}


def test_thoughts_are_for_those_who_asked_for_them() -> None:
    made = json.loads(MessagesWriter(read_messages_request(MESSAGE), "m").write_answer(PIECES))
    assert [each["type"] for each in made["content"]] == ["text", "tool_use", "tool_use"]


@pytest.mark.parametrize(
    ("reason", "stop", "state"),
    [
        ("stop", "end_turn", "completed"),
        ("length", "max_tokens", "incomplete"),
        ("content_filter", "refusal", "incomplete"),
        ("tool_calls", "tool_use", "completed"),
    ],
)
def test_why_an_answer_ended(reason: str, stop: str, state: str) -> None:
    pieces = (TextDelta("Hello"), Finish(reason))
    made = json.loads(MessagesWriter(read_messages_request(MESSAGE), "m").write_answer(pieces))
    assert made["stop_reason"] == stop
    response = json.loads(
        ResponsesWriter(read_responses_request(RESPONSE), "m").write_answer(pieces)
    )
    assert (response["status"], bool(response["incomplete_details"])) == (
        state,
        state == "incomplete",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "reason", "sequence"),
    [
        ({"stop_reason": "END"}, "stop_sequence", "END"),
        ({"matched_stop": "END"}, "stop_sequence", "END"),
        ({"stop_reason": "another"}, "end_turn", None),
        ({"stop_reason": 13}, "end_turn", None),
        ({}, "end_turn", None),
    ],
)
def test_the_stop_sequence_that_ended_an_answer_is_told_where_the_server_tells(
    told: dict[str, object], reason: str, sequence: str | None, home: Path
) -> None:
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", **told}]}
    script = [[status(), event({"content": "Hi"}), {"op": "sse", "data": last}]]
    with ModelServer(script) as model, serving(home, "--upstream", model.url) as address:
        body = json.dumps({**MESSAGE, "stop_sequences": ["END"]}).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{address}/v1/messages", body, headers)
        with urllib.request.urlopen(request) as answer:
            made = json.load(answer)
    assert (made["stop_reason"], made["stop_sequence"]) == (reason, sequence)


def test_events_of_messages() -> None:
    writer = MessagesWriter(read_messages_request(MESSAGE), "m")
    told = events(b"".join(map(writer.write_event, PIECES)))
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert [each["type"] for each in told] == [
        "message_start",
        "ping",
        *block[:2],
        *block[1:],
        *block,
        *block,
        "message_delta",
        "message_stop",
    ]


def test_events_of_responses() -> None:
    writer = ResponsesWriter(read_responses_request(RESPONSE), "m")
    told = events(b"".join(map(writer.write_event, PIECES)))
    assert [each["sequence_number"] for each in told] == [*range(len(told))]
    added, done = "output_item.added", "output_item.done"
    part, ended = "content_part.added", "content_part.done"
    call = "function_call_arguments"
    calls = [added, f"{call}.delta", f"{call}.done", done]
    assert [each["type"].removeprefix("response.") for each in told] == [
        "created",
        "in_progress",
        *[added, part, *["reasoning_text.delta"] * 2, "reasoning_text.done", ended, done],
        *[added, part, *["output_text.delta"] * 2, "output_text.done", ended, done],
        *calls,
        *calls,
        "completed",
    ]
    items = [each["item"] for each in told if each["type"].endswith(done)]
    assert told[-1]["response"]["output"] == items
    assert told[-1]["response"]["usage"]["total_tokens"] == 25


def test_a_stream_of_responses_that_fails_keeps_its_id() -> None:
    writer = ResponsesWriter(read_responses_request(RESPONSE), "m")
    first, *_ = events(writer.write_event(TextDelta("Hel")))
    failed, error = events(writer.write_failure(ApiError(502, "It broke off.")))
    assert failed["response"]["id"] == first["response"]["id"]
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert (error["message"], error["error"]["message"]) == ("It broke off.", "It broke off.")


def test_tokens_are_counted(address: str) -> None:
    code, answer = posted(address + COUNT, {"model": "m", "messages": SAID})
    assert code == 200
    few = json.loads(answer)["input_tokens"]
    assert 0 < few < 20
    _, answer = posted(address + COUNT, {"model": "m", "messages": SAID, "tools": [TOOL]})
    assert json.loads(answer)["input_tokens"] > few


BODIES = {
    MESSAGES: {**MESSAGE, "stream": True, "tools": [TOOL]},
    RESPONSES: {**RESPONSE, "stream": True, "tools": [FUNCTION]},
}


@pytest.mark.parametrize("path", BODIES)
def test_a_server_that_refuses_tools_is_taught_them(tmp_path: Path, path: str) -> None:
    def script(received: Received) -> Answer:
        if "tools" in received.body:
            return refused(400, "This model does not support tools.")
        return replied(*hermes(str(received.body["messages"][-1]["content"])))

    with (
        ModelServer(script) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "hermes-3") as address,
    ):
        code, answer = posted(address + path, BODIES[path])
        assert (code, "list_mp3s" in answer) == (200, True)
        posted(address + path, BODIES[path])
    assert ["tools" in each.body for each in server.requests] == [True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("path", BODIES)
def test_a_refusal_of_the_models_server_is_passed_on(tmp_path: Path, path: str) -> None:
    script = [refused(429, "Slowly.", {"retry-after": "7"})]
    with (
        ModelServer(script) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m", "--dialect", "hermes") as at,
    ):
        code, answer = posted(at + path, BODIES[path])
    assert (code, json.loads(answer)["error"]["message"]) == (429, "Slowly.")
    if path == MESSAGES:
        assert json.loads(answer)["error"]["type"] == "rate_limit_error"


@pytest.mark.parametrize("path", BODIES)
def test_clients_learn_that_a_prompt_is_too_long_as_their_api_says_it(
    tmp_path: Path, path: str
) -> None:
    said = "This model's maximum context length is 4096 tokens, your prompt has 5000."
    with (
        ModelServer([refused(400, said)], checked=False) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m", "--dialect", "hermes") as at,
    ):
        code, answer = posted(at + path, BODIES[path])
    error = json.loads(answer)["error"]
    assert code == 400
    if path == MESSAGES:
        assert error == {
            "type": "invalid_request_error",
            "message": f"prompt is too long: {said}",
        }
    else:
        assert (error["code"], error["message"]) == ("context_length_exceeded", said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "last"), [(MESSAGES, "event: error"), (RESPONSES, "event: response.failed")]
)
def test_a_stream_that_breaks_off_says_so(tmp_path: Path, path: str, last: str) -> None:
    chunked = status(headers={"content-type": "text/event-stream", "transfer-encoding": "chunked"})
    broken_off = [chunked, *[event({"content": "Hello there. " * 9})] * 3, {"op": "close"}]
    with (
        ModelServer([broken_off]) as server,
        serving(tmp_path, "--upstream", server.url, "--model", "m", "--dialect", "hermes") as at,
    ):
        code, answer = posted(at + path, BODIES[path])
    assert code == 200
    assert last in answer
    assert "Traceback" not in answer


@pytest.mark.parametrize("path", [MESSAGES, COUNT])
def test_fields_that_anthropic_refuses_are_refused(address: str, path: str) -> None:
    for thread in ({"type": "create"}, {"type": "continue", "previous_message_id": "msg_1"}):
        code, answer = posted(address + path, {**MESSAGE, "thread": thread})
        error = json.loads(answer)["error"]
        assert (code, error["type"]) == (400, "invalid_request_error")
        assert error["details"] == {"error_code": "thread_unsupported_request"}
    code, answer = posted(address + path, {**MESSAGE, "dance": 1})
    assert (code, complaint(path, answer)) == (400, "dance: Extra inputs are not permitted")
    assert posted(address + path, {**MESSAGE, "thread": None, "service_tier": "auto"})[0] == 200
    look = {"name": "look", "input_schema": {"type": "object"}}
    code, answer = posted(address + path, {**MESSAGE, "tools": [look, {**look, "description": ""}]})
    assert (code, complaint(path, answer)) == (400, "tools: Tool names must be unique.")


@pytest.mark.parametrize("reference", [{"type": "item_reference"}, {"type": None}, {}])
def test_an_item_that_is_not_there_is_not_found(
    address: str, reference: Mapping[str, object]
) -> None:
    named = {"id": "msg_1", **reference}
    code, answer = posted(address + RESPONSES, {**RESPONSE, "input": [named, *SAID]})
    error = json.loads(answer)["error"]
    assert (code, error["type"], error["param"]) == (404, "invalid_request_error", "input")
    assert "Item with id 'msg_1' not found" in error["message"]
    assert "`store` false" in error["message"]


def test_a_reference_to_an_item_of_the_same_input_is_no_second_item() -> None:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": "I look."}
    named = {"type": "item_reference", "id": "msg_1"}
    whole = read_responses_request({**RESPONSE, "input": [*SAID, item, *SAID]}).history
    for items in ([*SAID, item, named, *SAID], [*SAID, named, item, *SAID]):
        assert read_responses_request({**RESPONSE, "input": items}).history == whole
