"""`andy models probe [NAME]`: in which notation a model uses tools best, found out by trying.

A notation is tried with and without what the server can do to hold the model to it.

Every notation that may be its best is tried against the real endpoint, as far as the time goes.
Kept is the one with the most tasks right, then with the fewest tokens; what is interrupted keeps
nothing.
"""

import asyncio
import gc
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from andy_cli.agent.prompt.trust import describe_trust
from andy_cli.compiler.detect import NATIVE, Detected
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.management.model_info import choose_named_model
from andy_cli.frontends.probe.counting_client import CountingClient
from andy_cli.frontends.probe.trials import (
    ProbeBench,
    ProbeRow,
    find_best,
    find_family,
    list_candidates,
    raise_if_unanswered,
    try_in_turn,
)
from andy_cli.frontends.probe.trust_trials import MeasuredTrust, TrustAttempt, measure_trust
from andy_cli.frontends.session_factory import create_fact_query, fetch_weights
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.addresses import show_url
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Learned
from andy_cli.models import select
from andy_cli.models.memory import (
    forget_refusals,
    learn_probe,
    learn_refusal,
    recall_model,
)
from andy_cli.models.select import Chosen
from andy_cli.settings import Settings, state_folder

CHOSEN_FOR = (
    "{name} is too weak to choose tools. From now on andy chooses each step for it, as for its own"
    " small model:\nit looks, searches and plays music, and the model writes texts. --set"
    " tools.offered=all leaves it all to the model."
)
SHARE_OF_TASKS = 2 / 3
"""The share of the time that the notations get; the rest is for what the model is trusted with."""

MORE_TIME = "Not all was tried in {minutes:g} minutes: `--minutes 30` gives it more time."
NOTE = 100
"""Characters of what a server said that stand in the table; `--json` has all."""


def probe_model(options: Options, tries: int, as_json: bool, minutes: float = math.inf) -> int:
    """The exit code: 1 if nothing worked. Raises UsageError, ModelError: nobody answers."""
    progress = ProbeProgress()
    try:
        return asyncio.run(_probe_model(options, tries, as_json, minutes, progress))
    except KeyboardInterrupt:
        progress.show("")
        sys.stderr.write("andy: stopped; nothing is kept.\n")
        return 130


async def _probe_model(
    options: Options, tries: int, as_json: bool, minutes: float, progress: "ProbeProgress"
) -> int:
    settings = options.settings()
    chosen = await choose_named_model(options, settings)
    if chosen.provider.name == "local":
        await fetch_weights(chosen.endpoint.model)
    gc.enable()  # the door switched it off, and this takes its time
    held_client, loose_client = connect_both(chosen, options, progress)
    start, seconds = time.monotonic(), minutes * 60
    bench = ProbeBench(
        chosen,
        held_client,
        loose_client,
        options,
        tries,
        progress.show,
        progress.report,
        tasks_end=start + seconds * SHARE_OF_TASKS,
        trust_end=start + seconds,
    )
    try:
        family = find_family(bench, (await create_fact_query(chosen, settings)()).template)
        rows = await try_in_turn(bench, list_candidates(bench, family.dialect.name))
        raise_if_unanswered(rows)
        winner = find_best(rows)
        # What ships with andy was measured with many more requests than these.
        measured = winner is not None and not held_client.guided
        trusted = await measure_trust(bench, winner.way) if winner and measured else None
    finally:
        progress.show("")
        await held_client.close()
        await loose_client.close()
    was_kept = keep_result(chosen, rows, winner, family, trusted)
    exit_code = 0 if winner else 1
    if as_json:
        print_json(make_probe_record(bench, rows, winner if was_kept else None, trusted))
        return exit_code
    print_table(list(_make_cells(rows, winner)))
    if trusted:
        sys.stdout.write(f"\n{describe_measured(trusted)}\n")
    conclusion = describe_conclusion(chosen, settings, winner, was_kept)
    if is_unfinished(rows, trusted):
        conclusion.append(MORE_TIME.format(minutes=minutes))
    sys.stdout.write("\n" + "\n".join(conclusion) + "\n")
    return exit_code


def is_unfinished(rows: Sequence[ProbeRow], trusted: MeasuredTrust | None) -> bool:
    """Tell whether the time was up before all was tried."""
    return any(row.is_out_of_time for row in rows) or (trusted is not None and not trusted.is_whole)


def connect_both(
    chosen: Chosen, options: Options, progress: "ProbeProgress"
) -> tuple[CountingClient, CountingClient]:
    """Connect to the model twice: held to what it may write, and not."""
    held_settings, loose_settings = switch_constraints(options)
    client = CountingClient(
        select.connect_client(chosen, held_settings, progress.tell, forget=True, may_guide=False)
    )
    if chosen.provider.connect:
        return client, client  # its weights are loaded once
    loose_client = select.connect_client(
        chosen, loose_settings, progress.tell, forget=True, may_guide=False
    )
    return client, CountingClient(loose_client)


def switch_constraints(options: Options) -> tuple[Settings, Settings]:
    """The settings, for a server that is asked to hold the model to what it may write, and not."""
    is_wanted = options.settings().text("constraints") != "off"
    held_options = replace(options, set=(*options.set, "constraints=on")) if is_wanted else options
    loose_options = replace(options, set=(*options.set, "constraints=off"))
    return held_options.settings(), loose_options.settings()


def describe_measured(trusted: MeasuredTrust) -> str:
    """Describe what the model is trusted with from now on, and where it was first wrong."""
    kept = trusted.kept
    known = "everything" if kept is None else ", ".join(describe_trust(kept)) or "nothing"
    if not trusted.says_enough:
        not_measured = "as before: the time was up before that was measured"
        return neutralize_text(f"trusted with {known}, {not_measured}")
    wrong = [attempt for attempt in trusted.tried if not attempt.right]
    lines = [f"trusted with: {known}"]
    lines += [f"  wrong: {attempt.trial.effect}: {attempt.request_text}" for attempt in wrong]
    return "\n".join(map(neutralize_text, lines))


def keep_result(
    chosen: Chosen,
    rows: Sequence[ProbeRow],
    winner: ProbeRow | None,
    family: Detected,
    trusted: MeasuredTrust | None,
) -> bool:
    """Learn what the probe showed; whether it could be kept."""
    native = next((_shows_native(row) for row in rows if row.protocol == NATIVE), None)
    if winner is None:
        forget_refusals(chosen.endpoint)
        instead = (family.dialect.name, family.why)
        return native is not False or learn_refusal(chosen.endpoint, *instead)
    learned = Learned(
        native=native,
        dialect=winner.protocol,
        right=winner.right,
        tasks=len(winner.outcomes),
        tokens=winner.usage.total,
        constrained=find_help_of_constraints(rows, winner),
        trusted=trusted.kept if trusted else None,
    )
    return learn_probe(chosen.endpoint, learned)


def find_help_of_constraints(rows: Sequence[ProbeRow], winner: ProbeRow) -> bool | None:
    """Find out if the model did better when it was held; None where that made no row of its own."""
    was_tried = any(row.protocol == winner.protocol and row.way.held for row in rows)
    return winner.way.held if was_tried else None


def _shows_native(row: ProbeRow) -> bool | None:
    if row.was_refused:
        return False
    return True if row.did_something else None


def _make_cells(rows: Sequence[ProbeRow], winner: ProbeRow | None) -> Iterator[tuple[str, ...]]:
    yield ("", "protocol", "right", "tokens in", "out", "seconds", "")
    for row in rows:
        figures = ("-", "-", "-")
        if row.outcomes:
            right = f"{row.right} of {len(row.outcomes)}"
            figures = (right, f"{row.usage.input_tokens:,}", f"{row.usage.output_tokens:,}")
        note = neutralize_text(row.note if len(row.note) <= NOTE else f"{row.note[:NOTE]}…")
        winner_mark = "*" if row is winner else ""
        yield (winner_mark, row.way.name, *figures, f"{row.seconds:.1f}", note)


def describe_conclusion(
    chosen: Chosen, settings: Settings, winner: ProbeRow | None, was_kept: bool
) -> list[str]:
    """Describe what will be used from now on."""
    name = neutralize_text(f"{chosen.endpoint.provider}:{chosen.endpoint.model}")
    if winner is None:
        return [f"{name} used no tool in what was tried: what is in use stays."]
    if not was_kept:
        return [f"* did best, but {state_folder()} cannot be written: it is not remembered."]
    lines = [f"* is used with {name} from now on."]
    if select.needs_guidance(recall_model(chosen.endpoint), settings):
        lines = [CHOSEN_FOR.format(name=name)]
    dialect_setting = settings["dialect"]
    if dialect_setting.value != "auto":
        lines.append(
            f"Now {dialect_setting.origin} says {dialect_setting.value}, which comes first."
        )
    return lines


def make_probe_record(
    bench: ProbeBench,
    rows: Sequence[ProbeRow],
    was_kept: ProbeRow | None,
    trusted: MeasuredTrust | None,
) -> dict[str, object]:
    endpoint = bench.chosen.endpoint
    attempts = trusted.tried if trusted else ()
    return {
        "name": f"{endpoint.provider}:{endpoint.model}",
        "endpoint": show_url(endpoint.base_url) if endpoint.base_url else "inside andy",
        "tries": bench.tries,
        "protocols": [make_row_record(row) for row in rows],
        "kept": was_kept.protocol if was_kept else None,
        "kept_held": was_kept.way.held if was_kept else None,
        "trusted": trusted.kept if trusted else None,
        "trials": [make_attempt_record(attempt) for attempt in attempts],
    }


def make_row_record(row: ProbeRow) -> dict[str, object]:
    return {
        "protocol": row.protocol,
        "held": row.way.held,
        "right": row.right,
        "tasks": len(row.outcomes),
        "input_tokens": row.usage.input_tokens,
        "output_tokens": row.usage.output_tokens,
        "seconds": row.seconds,
        "note": row.note,
        "outcomes": [
            {"task": outcome.task.name, "right": not outcome.why, "why": outcome.why}
            for outcome in row.outcomes
        ],
    }


def make_attempt_record(attempt: TrustAttempt) -> dict[str, object]:
    return {
        "effect": attempt.trial.effect,
        "values": attempt.trial.value_count,
        "said": attempt.request_text,
        "right": attempt.right,
    }


class ProbeProgress:
    """A line on stderr that is rewritten; where that is no terminal, a line for each notation."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def show(self, line: str) -> None:
        if self._terminal:
            sys.stderr.write("\r\x1b[K" + neutralize_text(line))
            sys.stderr.flush()

    def report(self, line: str) -> None:
        """Print how far it is where no line can be rewritten."""
        if not self._terminal:
            sys.stderr.write(neutralize_text(line) + "\n")
            sys.stderr.flush()

    def tell(self, line: str) -> None:
        """Print what a retry says, for whoever watches."""
        if self._terminal:
            self.show("")
            sys.stderr.write(neutralize_text(line) + "\n")
