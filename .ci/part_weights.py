"""Learn the weights by which a request is cut into parts (models/inside/planning/parts.toml).

    python .ci/part_weights.py

Every way to cut each request of tests/corpora/small_model/everyday_*.jsonl is planned, and compared
with what the row wants; for commands of others those of foreign*.jsonl. The weights make the ways
that are right the likeliest (softmax). What is printed is how many requests are planned rightly
with weights of all batches but their own. Takes fifteen minutes of CPU; the model and its encoder
have to be there (`andy models pull`).
"""

import json
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

sys.path.insert(0, str(Path(__file__).parent))

from client_requests import HELD_OUT

from andy_cli.__main__ import main as run_andy
from andy_cli.messages import Constraint, Wire
from andy_cli.models.inside.encoder import load_encoder
from andy_cli.models.inside.planning.choosing import Scorer, find_command_name
from andy_cli.models.inside.planning.cutting import list_ways
from andy_cli.models.inside.planning.planned_request import Plan
from andy_cli.models.inside.planning.planner import Planner, Utterance, shorten_request
from andy_cli.models.inside.planning.replies.dialogue import Turn
from andy_cli.models.inside.values.filling import Filler, Known
from tests.benchmarks import small_choices
from tests.benchmarks.small_model import CORPORA, Row, contains, make_folder, read_rows, read_world
from tests.shell import ROOT

WEIGHTS = ROOT / "andy_cli" / "models" / "inside" / "planning" / "parts.toml"
BATCHES = sorted(path.stem for path in CORPORA.glob("everyday_*.jsonl"))
EARLY = ("everyday_2", "everyday_3", "everyday_4", "everyday_6")
"""Of few requests for two things."""
WISHES = CORPORA / "foreign_wishes.jsonl"
WISHES_COUNT = 3
"""Times that each request for two commands of others counts: there are few of them."""
STEPS, RATE, SMOOTH, SPREAD, RIDGE = 400, 0.03, 0.9, 0.99, 0.02


class Way(NamedTuple):
    measured: Mapping[str, float]
    is_right: bool


Rows = dict[str, list[list[Way]]]
"""Batch -> requests -> ways to cut each."""


def judge(row: Row, plan: Plan, planner: Planner, constraint: Constraint) -> bool:
    """Tell whether a plan calls what the row wants, with what a person would insist on."""
    choices = [constraint.choices[step.at] for step in plan.steps]
    if row.want.kind == "talk":
        return not choices
    known = Known((), constraint.context.names)
    filled = [
        planner._filler.fill_by_meaning(choice, step.text, known)
        for choice, step in zip(choices, plan.steps, strict=True)
    ]
    wanted = [tools.split("|") for tools in row.want.tools]
    names = list(map(find_command_name, choices))
    if row.want.kind != "tool":
        return all(
            choice.beyond or any(name in tools for tools in wanted)
            for choice, name in zip(choices, names, strict=True)
        )
    if len(names) != len(wanted) or any(choice.beyond for choice in choices):
        return False
    # Of what is pointed at the value is only found when there are results.
    is_open = any(found.missing for found in filled)
    said = [" ".join(found.values.values()) for found in filled]
    insisted = [
        value
        for name, values in row.want.arguments.items()
        for value in ([values] if isinstance(values, str) else values)
        if name != "timezone"
    ]
    has_values = is_open or all(any(contains(text, value) for text in said) for value in insisted)
    return has_values and all(name in tools for name, tools in zip(names, wanted, strict=True))


def examine(row: Row, planner: Planner, constraint: Constraint) -> list[Way]:
    """Measure every way to cut a request, and plan it in that way."""
    text = shorten_request(row.text)
    found = []
    reader = planner._make_request_plan(constraint, Turn())._reader
    for way in list_ways(text):
        plan = planner._make_request_plan(constraint, Turn())
        measured = reader.measure(way, reader._find_nearness(text))
        plan._reader.choose_parts = lambda _, parts=way.parts: parts  # type: ignore[method-assign,misc]
        planned = plan.plan(text, is_first=True)
        found.append(Way(measured, judge(row, planned, planner, constraint)))
    return found


def examine_batch(batch: str) -> list[list[Way]]:
    """Examine a batch in a process of its own, inside one `andy run` in the folder of requests."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, into = Path(scratch, "things"), Path(scratch, "found")
        folder.mkdir()
        make_folder(folder, read_world(batch))
        if os.fork() == 0:
            os.chdir(folder)
            Planner.write_reply = _write_found(batch, into)  # type: ignore[method-assign,assignment]
            sys.argv = ["andy", "run", "--no-session", "--model", "local:smollm2", "what is here?"]
            run_andy()
            os._exit(1)
        os.wait()
        rows: list[list[Way]] = pickle.loads(into.read_bytes())
        return rows


Say = Callable[[Planner, Sequence[Wire], Constraint], Utterance]


def _write_found(batch: str, into: Path) -> Say:
    def write_reply(
        planner: Planner, messages: Sequence[Wire], constraint: Constraint
    ) -> Utterance:
        found = [examine(row, planner, constraint) for row in read_rows(batch)]
        into.write_bytes(pickle.dumps(found))
        os._exit(0)

    return write_reply


def examine_foreign() -> Rows:
    """Measure the ways to cut requests for commands of others; two of them are wanted of some."""
    encoder = load_encoder(Path())
    planner = Planner("small", encoder, Scorer(encoder), Filler(encoder))
    requests = [
        (batch, request.text, [request.tool] if request.tool else [], request.choices)
        for batch in small_choices.BATCHES
        for request in small_choices.read_requests(batch)
    ]
    for line in WISHES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tools = json.loads((CORPORA / f"{row['batch']}_tools.json").read_text(encoding="utf-8"))
        choices = tuple(map(small_choices.as_choice, tools[row["trade"]]))
        wish = (f"wishes {row['trade']}", row["request"], row["tools"], choices)
        requests += [wish] * (WISHES_COUNT if len(row["tools"]) > 1 else 1)
    found: Rows = {}
    for batch, text, wanted, choices in requests:
        constraint = Constraint(choices, free_text=True)
        reader = planner._make_request_plan(constraint, Turn())._reader
        ways = []
        for way in list_ways(text):
            plan = planner._make_request_plan(constraint, Turn())
            plan._reader.choose_parts = lambda _, parts=way.parts: parts  # type: ignore[method-assign,misc]
            steps = plan.plan(text, is_first=True).steps
            names = [choices[step.at].text for step in steps]
            ways.append(Way(reader.measure(way, 0.0), names == wanted))
        found.setdefault(batch, []).append(ways)
    return found


def learn(rows: Sequence[Sequence[Way]], names: Sequence[str]) -> dict[str, float]:
    """Find the weights by which the right ways are the likeliest (Adam, on all rows at once)."""
    import numpy

    open_rows = [ways for ways in rows if len({way.is_right for way in ways}) == 2]
    measured = [numpy.array([[way.measured.get(name, 0.0) for name in names] for way in ways])
                for ways in open_rows]  # fmt: skip
    right = [numpy.array([way.is_right for way in ways], bool) for ways in open_rows]
    scale = numpy.concatenate(measured).std(0) + 1e-6
    measured = [ways / scale for ways in measured]
    weights, moved, spread = numpy.zeros((3, len(names)))
    for step in range(1, STEPS + 1):
        slope = RIDGE * weights / 10
        for ways, is_right in zip(measured, right, strict=True):
            scores = ways @ weights
            likely = numpy.exp(scores - scores.max())
            wanted = likely * is_right
            slope -= ways.T @ (wanted / wanted.sum() - likely / likely.sum()) / len(open_rows)
        moved = SMOOTH * moved + (1 - SMOOTH) * slope
        spread = SPREAD * spread + (1 - SPREAD) * slope * slope
        size = numpy.sqrt(spread / (1 - SPREAD**step)) + 1e-8
        weights = weights - RATE * (moved / (1 - SMOOTH**step)) / size
    return {name: round(float(w), 2) for name, w in zip(names, weights / scale, strict=True)}


def count_right(rows: Sequence[Sequence[Way]], weights: Mapping[str, float]) -> int:
    def weigh(way: Way) -> float:
        return sum(weights.get(name, 0.0) * value for name, value in way.measured.items())

    return sum(max(ways, key=weigh).is_right for ways in rows)


def find_weights(rows: Rows) -> list[str]:
    """Find the weights, one a line, and print how good those of other batches are; what is for
    comparison only is not learned.
    """
    every = [ways for batch, own in rows.items() if batch not in HELD_OUT for ways in own]
    names = sorted({name for ways in every for way in ways for name in way.measured})
    for batch, own in rows.items():
        others = [ways for other in rows if other != batch for ways in rows[other]]
        best = sum(any(way.is_right for way in ways) for ways in own)
        right = count_right(own, learn(others, names))
        sys.stdout.write(f"{batch}: {right} of {len(own)}, {best} where a cut is right\n")
    return [f'"{name}" = {weight}' for name, weight in learn(every, names).items()]


def main() -> None:
    known: Rows = {batch: examine_batch(batch) for batch in BATCHES if batch not in EARLY}
    lines = ["[known]", *find_weights(known), "", "[described]", *find_weights(examine_foreign())]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
