"""`andy models probe [NAME]`: in which notation a model uses tools best, found out by trying.

A notation is tried with and without what the server can do to hold the model to it.

Every notation that may be its best is tried against the real endpoint. Kept is the one with the
most tasks right, then with the fewest tokens; what is interrupted keeps nothing.
"""

import asyncio
import gc
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from andy_cli.agent.prompt.trust import describe_trust
from andy_cli.compiler.detect import NATIVE, Detected
from andy_cli.frontends.lists import print_json, print_table
from andy_cli.frontends.model_info import named
from andy_cli.frontends.opening import facts_of, fetched
from andy_cli.frontends.options import Options
from andy_cli.frontends.probe.counting import Counting
from andy_cli.frontends.probe.trials import (
    Bench,
    Row,
    best,
    candidates,
    fail_if_nobody_answered,
    family_of,
    in_turn,
)
from andy_cli.frontends.probe.trust_trials import Trusted, measure_trust
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Learned
from andy_cli.models import select
from andy_cli.models.http.addresses import show_url
from andy_cli.models.memory import learn_probe, learn_refusal
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings, state_folder

NOTE = 100
"""Characters of what a server said that stand in the table; `--json` has all."""


def probe(options: Options, tries: int, as_json: bool) -> int:
    """The exit code: 1 if nothing worked. Raises UsageError, ModelError: nobody answers."""
    progress = Progress()
    try:
        return asyncio.run(_probe(options, tries, as_json, progress))
    except KeyboardInterrupt:
        progress.show("")
        sys.stderr.write("andy: stopped; nothing is kept.\n")
        return 130


async def _probe(options: Options, tries: int, as_json: bool, progress: "Progress") -> int:
    settings = options.settings()
    found = await named(options, settings)
    if found.provider.name == "local":
        await fetched(found.endpoint.model)
    gc.enable()  # the door switched it off, and this takes its time
    held, loose = (
        Counting(select.connect_client(found, each, progress.tell, forget=True))
        for each in switched(options)
    )
    if found.provider.connect:
        loose = held  # its weights are loaded once
    bench = Bench(found, held, loose, options, tries, progress.show)
    try:
        family = family_of(bench, (await facts_of(found, settings)()).template)
        rows = await in_turn(bench, candidates(bench, family.dialect.name))
        fail_if_nobody_answered(rows)
        winner = best(rows)
        # What ships with andy was measured with many more requests than these.
        measured = winner is not None and not held.guided
        trusted = await measure_trust(bench, winner.way) if winner and measured else None
    finally:
        progress.show("")
        await held.close()
        await loose.close()
    kept = keep(found, rows, winner, family, trusted)
    if as_json:
        print_json(as_record(bench, rows, winner if kept else None, trusted))
    else:
        show(rows, winner)
        if trusted:
            sys.stdout.write("\n" + describe_measured(trusted) + "\n")
        sys.stdout.write("\n" + "\n".join(conclusion(found, settings, winner, kept)) + "\n")
    return 0 if winner else 1


def switched(options: Options) -> tuple[Settings, Settings]:
    """The settings, for a server that is asked to hold the model to what it may write, and not."""
    asked = options.settings().text("constraints") != "off"
    held = replace(options, set=(*options.set, "constraints=on")) if asked else options
    loose = replace(options, set=(*options.set, "constraints=off"))
    return held.settings(), loose.settings()


def describe_measured(trusted: Trusted) -> str:
    """What the model is trusted with from now on, and where it was first wrong."""
    wrong = [each for each in trusted.tried if not each.right]
    lines = [f"trusted with: {', '.join(describe_trust(trusted.effects)) or 'nothing'}"]
    lines += [f"  wrong: {each.trial.effect}: {each.said}" for each in wrong]
    return "\n".join(map(neutralize_text, lines))


def keep(
    found: Chosen,
    rows: Sequence[Row],
    winner: Row | None,
    family: Detected,
    trusted: Trusted | None,
) -> bool:
    """Learn what the probe showed; whether it could be kept."""
    native = next((_native(row) for row in rows if row.protocol == NATIVE), None)
    if winner is None:
        instead = (family.dialect.name, family.why)
        return native is not False or learn_refusal(found.endpoint, *instead)
    found_best = Learned(
        native=native,
        dialect=winner.protocol,
        right=winner.right,
        tasks=len(winner.outcomes),
        tokens=sum(winner.usage),
        constrained=find_help(rows, winner),
        trusted=trusted.effects if trusted else None,
    )
    return learn_probe(found.endpoint, found_best)


def find_help(rows: Sequence[Row], winner: Row) -> bool | None:
    """Whether the model did better when it was held; None where that made no row of its own."""
    tried = any(row.protocol == winner.protocol and row.way.held for row in rows)
    return winner.way.held if tried else None


def _native(row: Row) -> bool | None:
    if not row.outcomes:
        return False
    return True if row.works else None


def show(rows: Sequence[Row], winner: Row | None) -> None:
    print_table(
        [("", "protocol", "right", "tokens in", "out", "seconds", ""), *_cells(rows, winner)]
    )


def _cells(rows: Sequence[Row], winner: Row | None) -> Iterator[tuple[str, ...]]:
    for row in rows:
        figures = ("-", "-", "-")
        if row.outcomes:
            right = f"{row.right} of {len(row.outcomes)}"
            figures = (right, f"{row.usage.input_tokens:,}", f"{row.usage.output_tokens:,}")
        note = neutralize_text(row.note if len(row.note) <= NOTE else f"{row.note[:NOTE]}…")
        mark = "*" if row is winner else ""
        yield (mark, row.way.name, *figures, f"{row.seconds:.1f}", note)


def conclusion(found: Chosen, settings: Settings, winner: Row | None, kept: bool) -> list[str]:
    """What will be done from now on."""
    name = neutralize_text(f"{found.endpoint.provider}:{found.endpoint.model}")
    if winner is None:
        return [f"{name} used no tool in any of them: nothing changes."]
    if not kept:
        return [f"* did best, but {state_folder()} cannot be written: it is not remembered."]
    lines = [f"* is used with {name} from now on."]
    wanted = settings["dialect"]
    if wanted.value != "auto":
        lines.append(f"Now {wanted.origin} says {wanted.value}, which comes first.")
    return lines


def as_record(
    bench: Bench, rows: Sequence[Row], kept: Row | None, trusted: Trusted | None
) -> dict[str, object]:
    endpoint = bench.chosen.endpoint
    return {
        "name": f"{endpoint.provider}:{endpoint.model}",
        "endpoint": show_url(endpoint.base_url) if endpoint.base_url else "inside andy",
        "tries": bench.tries,
        "protocols": [
            {
                "protocol": row.protocol,
                "held": row.way.held,
                "right": row.right,
                "tasks": len(row.outcomes),
                "input_tokens": row.usage.input_tokens,
                "output_tokens": row.usage.output_tokens,
                "seconds": row.seconds,
                "note": row.note,
                "outcomes": [
                    {"task": each.task.name, "right": not each.why, "why": each.why}
                    for each in row.outcomes
                ],
            }
            for row in rows
        ],
        "kept": kept.protocol if kept else None,
        "kept_held": kept.way.held if kept else None,
        "trusted": trusted.effects if trusted else None,
        "trials": [
            {"effect": each.trial.effect, "values": each.trial.values, "said": each.said}
            | {"right": each.right}
            for each in (trusted.tried if trusted else ())
        ],
    }


class Progress:
    """A line on stderr that is rewritten; nothing where that is no terminal."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def show(self, line: str) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K" + neutralize_text(line))
            sys.stderr.flush()

    def tell(self, line: str) -> None:
        """What a retry says: of use to whoever watches."""
        if self._terminal:
            self.show("")
            sys.stderr.write(neutralize_text(line) + "\n")
