"""Which command the small model chooses for requests of trades that andy knows nothing of, and
which values it gives, with each of its parts alone: letters, meaning, the language model, all.
Beside that what the model does when it calls natively or is told of the commands in a prompt.

tests/corpora/small_model/foreign*.jsonl were written by people who had not seen the program: 1,906
requests to 346 trades with five to eight commands each; all batches but the first two are plain.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from andy_cli.messages import Choice, Constraint, Schema
from andy_cli.models.inside.encoder import Encoder, load_encoder
from andy_cli.models.inside.local_server import Engine
from andy_cli.models.inside.planning.choosing import Scorer, describe_command
from andy_cli.models.inside.planning.planner import Planner
from andy_cli.models.inside.planning.replies.dialogue import Turn
from andy_cli.models.inside.values.filling import Filler, Known
from tests.benchmarks.measure import table
from tests.shell import ROOT

CORPUS = ROOT / "tests" / "corpora" / "small_model"
BATCHES = ("foreign", *(f"foreign_{number}" for number in range(2, 50)))


@dataclass(frozen=True)
class Request:
    text: str
    tool: str | None
    values: Mapping[str, Sequence[object]]
    choices: tuple[Choice, ...]

    @property
    def names(self) -> list[str]:
        return [choice.text for choice in self.choices]


@dataclass(frozen=True)
class Chosen:
    tool: str | None
    values: Mapping[str, str]


Choose = Callable[[Request], Chosen]


def read_requests(batch: str) -> list[Request]:
    tools = json.loads((CORPUS / f"{batch}_tools.json").read_text(encoding="utf-8"))
    trades = {trade: tuple(map(as_choice, found)) for trade, found in tools.items()}
    lines = (CORPUS / f"{batch}.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Request(row["request"], row["tool"], row["args"], trades[row["trade"]])
        for row in map(json.loads, lines)
    ]


def as_choice(tool: Schema) -> Choice:
    function = tool["function"]
    return Choice(function["name"], function["description"], parameters=function["parameters"])


def planned(encoder: Encoder) -> Choose:
    """By a planner."""
    scorer, filler = Scorer(encoder), Filler(encoder)
    planner = Planner("small", encoder, scorer, filler)

    def choose(request: Request) -> Chosen:
        constraint = Constraint(request.choices, free_text=True)
        steps = planner.plan(Turn(request.text), constraint).steps
        if not steps:
            return Chosen(None, {})
        choice = request.choices[steps[0].at]
        found = filler.fill_by_meaning(choice, steps[0].text, Known())
        return Chosen(choice.text, found.values)

    return choose


PROMPT = (
    "A user asks a computer to do something. "
    "Each line gives the action that the computer takes and what the user said.\n"
    'Action: {action}. The user said: "'
)


def complete(engine: Engine, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let the model go on with a prompt, or with each of several."""
    answer = httpx.post(
        f"{engine.address}/v1/completions",
        json={"temperature": 0, **body},
        headers={"Authorization": f"Bearer {engine.key}"},
        timeout=600,
    )
    answer.raise_for_status()
    found: Mapping[str, Any] = answer.json()
    return found


def measure_likelihoods(engine: Engine, prompts: Sequence[str], text: str) -> list[float]:
    """For each prompt, how likely the model was to go on with just this text (natural log): the
    text is given token by token, and the library reports what the model made of each.
    """
    tokens = engine.tokens(text)
    body = {
        "prompt": list(prompts),
        "n_predict": len(tokens),
        "n_probs": 1,
        "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in tokens),
        "cache_prompt": True,
    }
    totals = [0.0] * len(prompts)
    for choice in complete(engine, body)["choices"]:
        totals[choice["index"]] = sum(token["logprob"] for token in choice["logprobs"]["content"])
    return totals


def by_likelihood(engine: Engine) -> Choose:
    """By the language model alone: the command, or talk, that the words are likeliest with."""

    def choose(request: Request) -> Chosen:
        actions = [*map(describe_command, request.choices), "Just chat with the user"]
        prompts = [PROMPT.format(action=action) for action in actions]
        found = measure_likelihoods(engine, prompts, f'{request.text}"')
        best = max(range(len(found)), key=found.__getitem__)
        return Chosen(request.names[best] if best < len(request.choices) else None, {})

    return choose


def by_native_calls(engine: Engine) -> Choose:
    """By the calls that llama.cpp reads from what the model writes by itself."""

    def choose(request: Request) -> Chosen:
        chunks: list[Mapping[str, Any]] = []

        def receive(chunk: Mapping[str, Any]) -> bool:
            chunks.append(chunk)
            return False

        functions = [
            {"name": choice.text, "description": choice.about, "parameters": choice.parameters}
            for choice in request.choices
        ]
        tools = [{"type": "function", "function": function} for function in functions]
        asked = [{"role": "user", "content": request.text}]
        engine.chat({"messages": asked, "tools": tools, "max_tokens": 80}, receive)
        deltas = [choice.get("delta", {}) for chunk in chunks for choice in chunk["choices"]]
        calls = [call for delta in deltas for call in delta.get("tool_calls") or ()]
        names = [call.get("function", {}).get("name") for call in calls]
        return Chosen(next(filter(None, names), None), {})

    return choose


def by_description(engine: Engine) -> Choose:
    """By what the model writes when it is told of the commands and asked for one of them."""

    def choose(request: Request) -> Chosen:
        listed = "\n".join(f"{choice.text}: {choice.about}" for choice in request.choices)
        prompt = (
            f"Commands:\n{listed}\n\nWrite the name of the command that the user wants, or NONE.\n"
            f"User: {request.text}\nCommand:"
        )
        found = str(complete(engine, {"prompt": prompt, "n_predict": 12})["choices"][0]["text"])
        first = (found.split() or [""])[0]
        return Chosen(first if first in request.names else None, {})

    return choose


def fits(wanted: Mapping[str, Sequence[object]], got: Mapping[str, str]) -> bool:
    def plain(value: object) -> str:
        text = str(value).strip().lower().rstrip(".!?")
        return {"yes": "true", "no": "false"}.get(text, text)

    return all(
        name in got and plain(got[name]) in map(plain, values) for name, values in wanted.items()
    )


def measure(model: Path) -> None:
    engine = Engine(model)
    with tempfile.TemporaryDirectory() as folder:
        meaning = load_encoder(Path(folder))
        parts: dict[str, Choose] = {
            "letters": planned(Encoder()),
            "meaning": planned(meaning),
            "native calls": by_native_calls(engine),
            "told of": by_description(engine),
            "model": by_likelihood(engine),
        }
        rows = []
        for batch in BATCHES:
            requests = read_requests(batch)
            for name, choose in parts.items():
                rows += [
                    (f"{batch}, {name}: {label}", value, "", goal)
                    for label, value, goal in score(requests, choose, name == "meaning")
                ]
    table("small model: commands of foreign trades", rows)


def score(
    requests: Sequence[Request], choose: Choose, with_goal: bool
) -> list[tuple[str, str, str]]:
    wanting = [request for request in requests if request.tool is not None]
    chosen = {request.text: choose(request) for request in requests}
    right = [request for request in wanting if chosen[request.text].tool == request.tool]
    whole = [request for request in right if fits(request.values, chosen[request.text].values)]
    talk = [request for request in requests if request.tool is None]
    none = sum(chosen[request.text].tool is None for request in talk)
    return [
        ("command", f"{100 * len(right) / len(wanting):.0f} %", "(88 %)" if with_goal else ""),
        ("whole call", f"{100 * len(whole) / len(wanting):.0f} %", "(62 %)" if with_goal else ""),
        ("none where none is wanted", f"{none} of {len(talk)}", ""),
    ]
