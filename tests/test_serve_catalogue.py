"""A client's tools that are too many for the model behind `andy serve`."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.http_server import PLAIN
from tests.model_server import Answer, ModelServer, Received, called, streamed
from tests.serve_client import PATHS, Served, calls_in, request_on, serving

THINGS = "invoice lease parcel recipe ticket budget garden holiday payroll patent".split()
VERBS = "archive rename export print sign translate weigh audit colour stamp".split()
WINDOW = {"/props": {"default_generation_settings": {"n_ctx": 6000}}}


def make_tool(verb: str, thing: str) -> dict[str, Any]:
    about = {"type": "string", "description": f"which {thing}, by the number on its first page"}
    schema = {"type": "object", "properties": {thing: about}, "required": [thing]}
    description = f"{verb.capitalize()} a {thing} of the house"
    return {
        "type": "function",
        "function": {
            "name": f"{verb}_{thing}",
            "description": description,
            "parameters": schema,
        },
    }


HUNDRED = [make_tool(verb, thing) for verb in VERBS for thing in THINGS]


def write_call(received: Received, name: str, arguments: dict[str, str]) -> Answer:
    """The call as this server's model writes it: native, or in the notation it was taught."""
    if received.body.get("tools"):
        return called(name, json.dumps(arguments))
    return streamed(f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>")


def look_up_first(received: Received) -> Answer:
    """One tool is called when its description is there, and looked up before."""
    if "Audit a patent of the house" in json.dumps(received.body):
        return write_call(received, "audit_patent", {"patent": "12"})
    return write_call(received, "describe_tools", {"what": "audit_patent"})


def call_at_once(received: Received) -> Answer:
    """The same tool is called with nothing but its name being known."""
    return write_call(received, "audit_patent", {"patent": "12"})


@contextmanager
def serving_each(model: ModelServer, home: Path) -> Iterator[dict[str, Served]]:
    """A server for each way in which the model is given tools."""
    with ExitStack() as stack:
        found = {}
        for dialect in ("native", "hermes"):
            words = ("--model", "m", "--dialect", dialect)
            found[dialect] = stack.enter_context(serving(model.url, *words, home=home))
        yield found


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(look_up_first, checked=False, facts=WINDOW) as server:
        yield server


@pytest.fixture(scope="module")
def served(
    model: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Served]]:
    with serving_each(model, tmp_path_factory.mktemp("home")) as found:
        yield found


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("dialect", ["native", "hermes"])
def test_what_is_only_named_is_looked_up_and_no_client_sees_it(
    dialect: str, path: str, stream: bool, served: dict[str, Served], model: ModelServer
) -> None:
    before = len(model.requests)
    asked = request_on(path, "please weigh the parcel number 12", HUNDRED)
    response = httpx2.post(
        f"{served[dialect].url}/{path}", json={**asked, "stream": stream}, timeout=60, verify=PLAIN
    )
    assert response.status_code == 200, response.text
    assert "describe_tools" not in response.text
    assert calls_in(path, response.text, stream) == [("audit_patent", {"patent": "12"})]
    first, second = model.requests[before:]
    assert "Weigh a parcel of the house" in json.dumps(first.body)
    assert "before you use it: " in json.dumps(first.body)
    assert "Audit a patent of the house" in json.dumps(second.body)
    assert len(json.dumps(second.body)) < len(json.dumps(HUNDRED)) / 2


def test_what_is_only_named_may_be_called_at_once(tmp_path: Path) -> None:
    with (
        ModelServer(call_at_once, checked=False, facts=WINDOW) as model,
        serving_each(model, tmp_path) as served,
    ):
        for dialect, there in served.items():
            for stream in (False, True):
                path = "v1/chat/completions"
                body = {**request_on(path, "weigh the parcel", HUNDRED), "stream": stream}
                response = httpx2.post(f"{there.url}/{path}", json=body, timeout=60, verify=PLAIN)
                found = calls_in(path, response.text, stream)
                assert found == [("audit_patent", {"patent": "12"})], dialect
        assert len(model.requests) == 4


def test_tools_that_the_clients_instructions_speak_of_are_described_first(tmp_path: Path) -> None:
    told = "You work for the house. Use `audit_patent` first, then stamp_garden/sign_ticket."
    path = "v1/chat/completions"
    with (
        ModelServer(call_at_once, checked=False, facts=WINDOW) as model,
        serving(model.url, "--model", "m", home=tmp_path) as served,
    ):
        asked = {"role": "user", "content": "please weigh the parcel number 12"}
        messages = [{"role": "system", "content": told}, asked]
        body = {**request_on(path, "", HUNDRED), "messages": messages}
        httpx2.post(f"{served.url}/{path}", json=body, timeout=60, verify=PLAIN)
        shown = [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
    assert {"audit_patent", "stamp_garden", "sign_ticket", "weigh_parcel"} <= {*shown}
    assert len(shown) < len(HUNDRED) / 2


def test_tools_that_have_the_room_are_passed_on_as_they_are(tmp_path: Path) -> None:
    large = {"/props": {"default_generation_settings": {"n_ctx": 64000}}}
    with (
        ModelServer(call_at_once, checked=False, facts=large) as model,
        serving(model.url, "--model", "m", home=tmp_path) as served,
    ):
        path = "v1/chat/completions"
        body = {**request_on(path, "weigh the parcel", HUNDRED), "stream": True}
        httpx2.post(f"{served.url}/{path}", json=body, timeout=60, verify=PLAIN)
        assert model.requests[0].body["tools"] == HUNDRED
