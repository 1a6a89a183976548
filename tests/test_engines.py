"""Plug-ins for engines: what they share; vLLM's own classes and LiteLLM's proxy where installed."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.engines.reasoning_splitter import (
    OPENERS,
    ReasoningSplitter,
    find_opener,
    split_reasoning,
)
from andy_cli.engines.reply_reader import EngineReplyReader, ReplyDelta, read_reply
from tests.benchmarks.serve import until_there
from tests.isolated_programs import PYTHON, there
from tests.model_server import (
    Answer,
    ModelServer,
    Received,
    answered,
    called,
    event,
    raw,
    status,
    streamed,
)
from tests.shell import free_port

HERE = Path(__file__).parent
CASES = json.loads((HERE / "corpora" / "vllm_replies.json").read_text(encoding="utf-8"))
"""Replies and what they mean, from the tests of vLLM 0.33 (Apache-2.0)."""
VLLM = os.environ.get("ANDY_VLLM_PYTHON", sys.executable)
KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def tools_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Tools that the calls of a case fit."""
    found: dict[str, dict[str, Any]] = {}
    for call in case["calls"]:
        properties = {
            key: {} if value is None else {"type": KINDS.get(type(value), "object")}
            for key, value in call["arguments"].items()
        }
        parameters = {"type": "object", "properties": properties}
        function = {"name": call["name"], "parameters": parameters}
        found[call["name"]] = {"type": "function", "function": function}
    return [*found.values()] or [{"type": "function", "function": {"name": "ping"}}]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["family"])
def test_a_reply_means_what_the_engine_says(case: Mapping[str, Any]) -> None:
    tools = tools_of(case)
    whole = read_reply(case["reply"], tools)
    assert (whole.text, read_calls(whole)) == (case["content"], case["calls"])
    for size in (1, 3):
        reader = EngineReplyReader(tools)
        pieces = [case["reply"][at : at + size] for at in range(0, len(case["reply"]), size)]
        assert join_deltas([*map(reader.feed, pieces), reader.finish()]) == whole


def read_calls(reply: ReplyDelta) -> list[dict[str, object]]:
    return [{"name": each.name, "arguments": json.loads(each.arguments)} for each in reply.calls]


def join_deltas(deltas: Sequence[ReplyDelta]) -> ReplyDelta:
    return ReplyDelta(
        "".join(each.text for each in deltas),
        "".join(each.reasoning for each in deltas),
        tuple(call for each in deltas for call in each.calls),
    )


def test_a_call_is_told_once_and_not_only_at_the_end() -> None:
    reader = EngineReplyReader([{"name": "ping"}])
    told = reader.feed('<tool_call>{"name": "ping", "arguments": {}}</tool_call>')
    assert [call.name for call in told.calls] == ["ping"]
    assert reader.feed("Done.") == ReplyDelta("Done.")
    assert reader.finish() == ReplyDelta()


def test_arguments_are_corrected_to_the_schema_or_left_as_they_are() -> None:
    parameters = {
        "type": "object",
        "properties": {"days": {"type": "integer"}},
        "required": ["days"],
    }
    tools = [{"name": "wait", "parameters": parameters}]
    for written, fitted in (({"Days": "3"}, {"days": 3}), ({"days": "x"}, {"days": "x"})):
        call = json.dumps({"name": "wait", "arguments": written})
        reply = read_reply(f"<tool_call>{call}</tool_call>", tools)
        assert json.loads(reply.calls[0].arguments) == fitted


replies = st.lists(
    st.sampled_from([*OPENERS, "</think>", "[/THINK]", "<th", " ", "\n", "Hm.", "Here is"])
).map("".join)


@given(replies, st.sampled_from(["", "<think>"]), st.integers(1, 5))
def test_reasoning_is_split_alike_however_it_is_cut(reply: str, opener: str, size: int) -> None:
    splitter = ReasoningSplitter(opener)
    pieces = [reply[at : at + size] for at in range(0, len(reply), size)]
    deltas = [*map(splitter.feed, pieces), splitter.finish()]
    whole = split_reasoning(reply, opener)
    assert "".join(each.reasoning for each in deltas) == whole.reasoning
    assert "".join(each.content for each in deltas) == whole.content


@pytest.mark.parametrize(
    ("reply", "reasoning", "content"),
    [
        ("<think>a</think>b", "a", "b"),
        ("\n<think>a</thinking>b</think>", "a", "b</think>"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("a<think>b</think>", "", "a<think>b</think>"),
        ("<think>a", "a", ""),
        ("<thin", "", "<thin"),
        ("Here is my thought process: a", "", "Here is my thought process: a"),
    ],
)
def test_reasoning_is_what_stands_at_the_start(reply: str, reasoning: str, content: str) -> None:
    assert split_reasoning(reply) == (reasoning, content)


def test_a_prompt_may_open_the_reasoning() -> None:
    assert find_opener("<|assistant|>\n<think>\n") == "<think>"
    assert find_opener("<think>\n\n</think>\n\n") == ""
    assert split_reasoning("a</think>b", "<think>") == ("a", "b")


def test_the_entry_point_is_there_and_loads_nothing() -> None:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["vllm.general_plugins"]["andy"].partition(":")
    assert callable(getattr(import_module(module), name))
    code = (
        "import sys, andy_cli.engines.vllm_plugin; print([*filter(sys.modules.get,"
        " ['vllm', 'openai', 'pydantic', 'andy_cli.compiler.compiler'])])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def in_vllm(what: str, asked: object) -> Any:  # noqa: ANN401
    there("vllm", python=VLLM)
    done = subprocess.run(
        [VLLM, HERE / "vllm_replies.py", what],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_vllm_reads_five_families_streamed_and_whole() -> None:
    plain = [{**case, "tools": tools_of(case)} for case in CASES]
    thinks = {"reasoning": "andy"}
    thought = [{**case, **thinks, "reply": f"<think>Hm.</think>{case['reply']}"} for case in plain]
    opened = [
        {**case, **thinks, "prompt": "Hi<think>\n", "reply": f"Hm.</think>{case['reply']}"}
        for case in plain
    ]
    unthought = [{**case, **thinks} for case in plain]
    cases = [*plain, *thought, *opened, *unthought]
    for case, found in zip(cases, in_vllm("read", cases), strict=True):
        calls = [
            {**each, "arguments": json.loads(each["arguments"])} for each in found["whole"]["calls"]
        ]
        reasoning = "Hm." if "Hm." in case["reply"] else ""
        assert found["whole"]["reasoning"] == reasoning, case
        assert (found["whole"]["content"], calls) == (case["content"], case["calls"]), case
        assert all(each == found["whole"] for each in found["streamed"]), case
        assert found["skips"] is False


@pytest.mark.slow
def test_vllm_leaves_the_text_alone_where_no_call_is_wanted() -> None:
    cases = [{**case, "tools": tools_of(case), "tool_choice": "none"} for case in CASES]
    for case, found in zip(cases, in_vllm("read", cases), strict=True):
        text = {"reasoning": "", "content": case["reply"], "calls": []}
        assert [found["whole"], *found["streamed"]] == [text] * 5
        assert found["skips"] is not False


@pytest.mark.slow
def test_vllm_asks_whether_the_reasoning_is_over() -> None:
    asked = ["<think>a", "<think>a</think>b", "<think></think><think>", "a"]
    over = [each["ended"] for each in in_vllm("reach", asked)]
    assert over == [False, True, False, False]
    assert [each["content"] for each in in_vllm("reach", asked)] == ["", "b", "<think>", ""]
    assert not any(each["skips"] for each in in_vllm("reach", asked))


LITELLM = {
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
}


@contextmanager
def litellm_proxy(upstream: str, folder: Path) -> Iterator[openai.OpenAI]:
    """The real proxy with our callback in front of a model's server."""
    there("litellm", "andy_cli")
    model = {"model": "openai/m", "api_base": upstream, "api_key": "none"}
    configuration = {
        "model_list": [{"model_name": "m", "litellm_params": model}],
        "litellm_settings": {"callbacks": "andy_cli.engines.litellm.andy"},
    }
    (folder / "config.yaml").write_text(json.dumps(configuration), encoding="utf-8")
    port = free_port()
    program = Path(PYTHON).with_name("litellm")
    listen = ("--host", "127.0.0.1", "--port", str(port), "--telemetry", "False")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "--config", folder / "config.yaml", *listen],
            stdout=log,
            stderr=log,
            env={**os.environ, **LITELLM, "HOME": str(folder)},
            cwd=folder,
        )
    try:
        until_there(port, 120)
        address = f"http://127.0.0.1:{port}/v1"
        with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
            yield client
    finally:
        process.terminate()
        process.wait(60)


def answer_case(received: Received) -> Answer:
    """The reply that the user's message names, whole or in pieces of three characters."""
    text = CASES[int(received.body["messages"][0]["content"])]["reply"]
    if received.body.get("stream"):
        return streamed(*(text[at : at + 3] for at in range(0, len(text), 3)))
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return answered({"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice]})


@pytest.mark.slow
def test_litellm_makes_calls_of_what_a_model_left_in_its_text(tmp_path: Path) -> None:
    with (
        ModelServer(answer_case, checked=False) as server,
        litellm_proxy(server.url, tmp_path) as client,
    ):
        for at, case in enumerate(CASES):
            asked: Any = {
                "model": "m",
                "messages": [{"role": "user", "content": str(at)}],
                "tools": tools_of(case),
            }
            whole = client.chat.completions.create(**asked).choices[0]
            with client.chat.completions.stream(**asked) as stream:
                piecewise = stream.get_final_completion().choices[0]
            for choice in (whole, piecewise):
                calls = [
                    {"name": each.function.name, "arguments": json.loads(each.function.arguments)}
                    for each in choice.message.tool_calls or []
                ]
                assert (choice.message.content or "", calls) == (case["content"], case["calls"])
                assert choice.finish_reason == ("tool_calls" if calls else "stop")
            del asked["tools"]
            plain = client.chat.completions.create(**asked).choices[0].message
            assert plain.content == case["reply"]


@pytest.mark.slow
def test_litellm_passes_real_calls_on_with_the_text_before_them(tmp_path: Path) -> None:
    reply = [status(), event({"content": "A <tool"}), *called("ping", "{}")[1:]]
    with (
        ModelServer([[*reply, raw("data: [DONE]\n\n")]], checked=False) as server,
        litellm_proxy(server.url, tmp_path) as client,
    ):
        asked: Any = {
            "model": "m",
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"type": "function", "function": {"name": "ping"}}],
        }
        with client.chat.completions.stream(**asked) as stream:
            choice = stream.get_final_completion().choices[0]
        assert choice.message.content == "A <tool"
        assert [each.function.name for each in choice.message.tool_calls or []] == ["ping"]
        assert choice.finish_reason == "tool_calls"
