"""`andy run`: one task. The answer goes to stdout and nothing else does; the rest to stderr."""

import asyncio
import contextlib
import json
import math
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.history.history import PIPED
from andy_cli.agent.named_files import attach_mentions
from andy_cli.agent.turn import turn
from andy_cli.errors import (
    SHELL_WAYS,
    AndyError,
    Cancelled,
    ConsentError,
    LimitError,
    OutputError,
    UsageError,
)
from andy_cli.events import Event, Subtype
from andy_cli.fenced_text import fence_text
from andy_cli.frontends.command_line.options import NO_ID, WHICH_ID, Options
from andy_cli.frontends.command_line.piped_input import read_piped
from andy_cli.frontends.session_factory import OpenConversation, open_chat
from andy_cli.frontends.terminal.messages import (
    CORRECTION_MARK,
    WITHDRAWN,
    describe_shortening,
    find_changed_paragraphs,
    format_action,
    format_problem,
    list_not_done,
)
from andy_cli.frontends.terminal.numbered_diff import render_diff
from andy_cli.guard.terminal_sanitizer import Neutralizer, neutralize_text, one_line
from andy_cli.messages import Arguments, Status
from andy_cli.sessions.store import ResumedSession
from andy_cli.toolbox.music import player
from andy_cli.toolbox.runtime_context import run_in_daemon_thread

AUTO = "-y for everything but destruction"
ASKING = "`andy chat`, which asks you"
RUN_GO_ON = '`andy run -c "go on"`'


class OutputFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


@dataclass(frozen=True, slots=True)
class RunTask:
    text: str
    format: OutputFormat = OutputFormat.TEXT
    quiet: bool = False
    strict: bool = False
    wait: bool = True
    """Wait until the music that was started is over."""
    stdin: bool = True
    """Read what is piped in."""
    verbose: bool = False
    timeout: str = ""
    """Seconds, as they were written."""
    options: Options = field(default_factory=Options)


def run_task(task: RunTask) -> int:
    """Carry out the task; returns the exit code."""
    try:
        return asyncio.run(_run_task(task))
    except KeyboardInterrupt:
        return 130


async def _run_task(task: RunTask) -> int:
    printer = RunPrinter(task)
    try:
        seconds = parse_seconds(task.timeout)
        options = task.options.in_their_folder()
        settings = options.settings()
        # In a thread, so that the first Ctrl-C ends the wait for a pipe.
        words, piped = await run_in_daemon_thread(partial(read_task, task))
        end_on_signals(printer)
        resumed = resume_session(options, printer) if options.resumes else None
        conversation = await open_chat(options, settings, printer.tell, resumed=resumed)
    except AndyError as error:
        return printer.report_not_started(error)
    conversation.chat.registry.progress = printer.show_progress
    conversation.chat.strict = task.strict
    conversation.chat.ways = SHELL_WAYS._replace(go_on=describe_way_on(options))
    try:
        code = await run_in_time(conversation, printer, words, piped, seconds)
    except asyncio.CancelledError:
        code = printer.report_cancelled(conversation.chat)
    finally:
        await conversation.close()
    if printer.lost_output:
        raise printer.lost_output
    return code


def describe_way_on(options: Options) -> str:
    """Describe the command that continues what was stopped: nobody can say anything here."""
    if options.no_session:
        return f"Leave out --no-session to continue with {RUN_GO_ON}"
    return f"Continue with {RUN_GO_ON}"


def resume_session(options: Options, printer: "RunPrinter") -> ResumedSession:
    """Open the session that the options name, and tell of it. Raises UsageError."""
    from andy_cli.frontends import session_choice  # seldom wanted

    session_card = session_choice.find_named_session(options)
    if session_card is None:
        raise UsageError(NO_ID, WHICH_ID)
    resumed = session_choice.open_session(session_card)
    printer.tell(session_choice.summarize_session(resumed))
    return resumed


def end_on_signals(printer: "RunPrinter") -> None:
    """As Ctrl-C does, but with an exit code of its own."""
    task_running = asyncio.current_task()
    assert task_running is not None

    def end() -> None:
        printer.is_terminated = True
        task_running.cancel()

    with contextlib.suppress(NotImplementedError, AttributeError):  # Windows has no such thing
        for number in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, end)


async def run_turn(
    conversation: OpenConversation, printer: "RunPrinter", words: str, piped: str
) -> int:
    try:
        attached = await attach_mentions(conversation.chat, words)
    except AndyError as error:
        code = printer.report_not_started(error)
        suggest_ways(conversation, printer)
        return code
    for sentence in attached.notices:
        printer.tell(sentence)
    if words and piped and conversation.chat.client.guided:
        printer.tell("This model cannot read what came through the pipe: it is too small for it.")
    code = 1
    async for event in turn(conversation.chat, words, attached.text + piped):
        printer.show_event(event)
        if isinstance(event, events.Ended):
            code = event.exit_code
    suggest_ways(conversation, printer)
    return code


def suggest_ways(conversation: OpenConversation, printer: "RunPrinter") -> None:
    """Tell what would have let happen what nobody could be asked about."""
    gate = conversation.chat.gate
    if gate.missing_rules:
        printer.tell(f"To let this happen: {join_rules(gate.missing_rules)}, or {AUTO}.")
    if gate.tools_without_rule:
        subject = "the rest" if gate.missing_rules else "this"
        rules = join_rules(gate.tools_without_rule)
        printer.tell(
            f"No narrow rule covers {subject}: {rules} for all of the tool, {AUTO}, or {ASKING}."
        )
    if gate.needs_user:
        printer.tell(f"What needs a yes each time can be done in {ASKING}.")


def join_rules(rules: Sequence[str]) -> str:
    return " ".join(f"--allow {shlex.quote(rule_text)}" for rule_text in rules)


async def run_in_time(
    conversation: OpenConversation,
    printer: "RunPrinter",
    words: str,
    piped: str,
    seconds: float | None,
) -> int:
    """Carry out the task; what is not done after so many seconds is broken off."""
    try:
        async with asyncio.timeout(seconds) as limit:
            await conversation.wait_for_servers(words or piped)
            code = await run_turn(conversation, printer, words, piped)
    except TimeoutError:
        if not limit.expired():
            raise
        return printer.report_timeout(conversation.chat, seconds or 0)
    if printer.task.wait:
        await wait_for_music(printer)
    return code


def parse_seconds(written: str) -> float | None:
    """The value of --timeout; None where there is no limit. Raises UsageError."""
    if not written:
        return None
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0
    if not 0 < seconds < 1e9:
        raise UsageError(f"--timeout takes seconds, such as 90, not {written!r}.")
    return seconds


async def wait_for_music(printer: "RunPrinter") -> None:
    """Let the music play to its end, with a line that shows how far it is."""
    try:
        while (player_state := player.current_state()).playing and not player_state.paused:
            name = player_state.path.name if player_state.path else ""
            position = format_clock(player_state.position)
            printer.show_progress(f"{name}  {position} / {format_clock(player_state.length)}")
            await asyncio.sleep(0.1)
    finally:
        if player.current_state().playing:
            player.shared_player().stop()
        printer.show_progress("")


def format_clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class RunPrinter:
    """Events to stdout and stderr, in the format asked for."""

    def __init__(self, task: RunTask) -> None:
        self.task = task
        self.is_terminated = False
        self.lost_output: OutputError | None = None
        """Why nothing more can be printed: whoever read it has seen enough, the disk is full."""
        self._streams_answer = task.format is OutputFormat.TEXT and sys.stdout.isatty()
        self._streamed = False
        self._written_answer = ""
        self._answer = ""
        """The model's words to the user so far."""
        self._started = time.monotonic()
        self._is_interrupted = False
        """Something else was written after the answer, or within."""
        self._neutralizer = Neutralizer()
        self._can_redraw = not task.options.plain
        self._shows_progress = sys.stderr.isatty() and self._can_redraw and not task.quiet
        self._progress_line = ""
        self._told_shortening = False
        self._is_withdrawn = False
        """The answer on the screen was sent back."""
        self._is_line_open = False
        """On the terminal the answer ends within a line."""

    def show_event(self, event: Event) -> None:
        if self.lost_output:
            return
        if isinstance(event, events.Said) and event.role == "assistant":
            self._answer = self._answer + event.content if event.delta else event.content
        try:
            if self.task.verbose:
                self._show_details(event)
            self._print_event(event)
        except OutputError as error:
            self.lost_output = error
            # Cancelled, not raised: an error from here would leave the turn's generators open.
            if not isinstance(event, events.Ended) and (task_running := asyncio.current_task()):
                task_running.cancel()

    def _print_event(self, event: Event) -> None:
        if self.task.format is OutputFormat.STREAM_JSON:
            print_out(events.as_json(event) + "\n")
        match event:
            case events.Said(role="assistant") if self._streams_answer:
                self._tell_withdrawal(is_replaced=not event.delta)
                self._stream_answer(event)
            case events.ToolUsed() if event.action:
                self._tell_withdrawal()
                self.show_progress(one_line(event.action))
            case events.ToolAnswered() if event.did:
                self._tell_action(event)
            case events.Compressed() if not self._told_shortening:
                self._told_shortening = True
                self.tell(describe_shortening(event))
            case events.Failed(kind="grounding") if self._streams_answer:
                self._is_withdrawn = self._streamed  # what is put right is seen
            case events.Failed():
                self.tell(format_problem(event.message, event.hint), always=True)
            case events.Audited() if event.unsupported:
                claim_texts = ", ".join(event.unsupported)
                self.tell(f"andy: nothing that was found supports: {claim_texts}", always=True)
            case events.Ended():
                self._print_end(event)

    def _tell_withdrawal(self, is_replaced: bool = False) -> None:
        """Say that an answer does not hold, where the next one does not take its place."""
        if self._is_withdrawn and not is_replaced:
            self.tell(WITHDRAWN, always=True)
        self._is_withdrawn = False

    def _tell_action(self, event: events.ToolAnswered) -> None:
        self.tell(f"• {format_action(event)}")
        if self.task.verbose and event.display.diff:
            for line in render_diff(remove_secrets(event.display.diff)):
                self.tell(f"  {line}")

    def _show_details(self, event: Event) -> None:
        """Tell what only -v asks for: the model, and what each call is made with."""
        match event:
            case events.Init():
                self.tell(f"{event.model}, {event.dialect}, {len(event.tools)} tools")
            case events.Corrected():
                self.tell(f"  corrected: {'; '.join(event.changes)}")
            case events.ToolUsed():
                self.tell(f"  {event.tool_name} {render_arguments(event.parameters)}")
            case events.ToolAnswered() if event.status is not Status.SUCCESS:
                self.tell(f"  {event.status.value} after {event.seconds:.1f} s")

    def _stream_answer(self, event: events.Said) -> None:
        """A piece as it comes; a whole answer takes the place of its pieces."""
        if not event.delta and self._streamed:
            content = event.content
            if rows_back := self._rows_back():
                print_out(f"\x1b[{rows_back}F\x1b[J")
            else:
                changed_text = find_changed_paragraphs(self._written_answer, content)
                content = f"\n\n{CORRECTION_MARK}\n\n{changed_text}" if changed_text else ""
            event = replace(event, content=content)
            self._neutralizer = Neutralizer()
        self._written_answer += event.content
        self._streamed = self._is_line_open = True
        print_out(self._neutralizer.feed(event.content))

    def _rows_back(self) -> int:
        """Count the rows to go up to write over the answer; 0 if that cannot be."""
        if self._is_interrupted or not self._written_answer or not self._can_redraw:
            return 0
        from rich.cells import cell_len  # an answer is seldom replaced

        width, height = shutil.get_terminal_size()
        lines = self._written_answer.split("\n")
        rows = sum(max(1, math.ceil(cell_len(line) / width)) for line in lines)
        print_out("\n")
        return rows if rows < height else 0

    def _print_end(self, event: events.Ended) -> None:
        if self.task.format is OutputFormat.JSON:
            print_out(events.as_json(event) + "\n")
        elif self.task.format is OutputFormat.TEXT:
            if self._streamed:
                print_out(self._neutralizer.finish() + "\n" * self._is_line_open)
            elif event.result:
                answer = neutralize_text(event.result) if sys.stdout.isatty() else event.result
                print_out(answer if answer.endswith("\n") else answer + "\n")
        for line in list_not_done(event):
            self.tell(line, always=True)

    def report_not_started(self, error: AndyError) -> int:
        """There is no turn to tell of, but scripts that read JSON get their object all the same."""
        subtype: Subtype = "error_provider"
        if isinstance(error, UsageError):
            subtype = "error_usage"
        elif isinstance(error, ConsentError):
            subtype = "error_permission"
        elif isinstance(error, LimitError):
            subtype = "error_limit"
        if self.task.format is OutputFormat.STREAM_JSON:
            print_out(events.as_json(make_failure(error)) + "\n")
        if self.task.format is not OutputFormat.TEXT:
            print_out(events.as_json(make_end(subtype, error, error.exit_code)) + "\n")
        self.tell(format_problem(str(error), error.hint), always=True)
        return error.exit_code

    def report_cancelled(self, conversation: Conversation) -> int:
        """Print how a turn ended that Ctrl-C or a signal broke off."""
        code = 143 if self.is_terminated else 130
        if not self.lost_output:
            self._report_broken_off(conversation, "error_cancelled", Cancelled("stopped."), code)
        return code

    def report_timeout(self, conversation: Conversation, seconds: float) -> int:
        """Print how a turn ended that --timeout broke off."""
        error = LimitError(
            f"Stopped after {seconds:g} seconds.", "A larger --timeout gives it more."
        )
        self._report_broken_off(conversation, "error_limit", error, error.exit_code)
        return error.exit_code

    def _report_broken_off(
        self, conversation: Conversation, subtype: Subtype, error: AndyError, code: int
    ) -> None:
        """Print how a turn ended, with what had been said and what was not done."""
        history, usage = conversation.history, conversation.model.usage
        of_turn = history.messages[history.turn_start :]
        not_done = conversation.tools.find_not_done()
        end = replace(
            make_end(subtype, error, code),
            result=self._answer,
            response=self._answer,
            session_id=conversation.session_id,
            num_turns=sum(message.role == "assistant" for message in of_turn),
            duration_ms=round((time.monotonic() - self._started) * 1000),
            usage={"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
            not_done=tuple(entry._asdict() for entry in not_done),
        )
        self.show_event(make_failure(error))
        self.show_event(end)

    def tell(self, line: str, always: bool = False) -> None:
        if self.task.quiet and not always:
            return
        self._end_line()
        self.show_progress("")
        sys.stderr.write(neutralize_text(line) + "\n")
        sys.stderr.flush()

    def _end_line(self) -> None:
        """End the line of the answer before something else is written to the terminal."""
        self._is_interrupted = bool(self._written_answer)
        if self._is_line_open and sys.stderr.isatty():
            self._is_line_open = False
            print_out("\n")

    def show_progress(self, line: str) -> None:
        """Rewrite the progress line; nothing where stderr is no terminal."""
        if self._shows_progress and line != self._progress_line:
            self._end_line()
            # One row of the screen: a longer line could not be taken back.
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[K" + one_line(line)[:width])
            sys.stderr.flush()
            self._progress_line = line


def make_failure(error: AndyError) -> events.Failed:
    return events.Failed("error", error.kind, str(error), error.hint)


def make_end(subtype: Subtype, error: AndyError, code: int) -> events.Ended:
    """The end of a task that failed before anything was said in it."""
    error_record = {"kind": error.kind, "message": str(error), "hint": error.hint}
    return events.Ended(subtype, True, "", "", "", 0, 0, code, error=error_record)


def remove_secrets(text: str) -> str:
    """The text as it may stand in a log."""
    from andy_cli.guard.redactor import redact_text, secrets_of  # 3 ms, for -v alone

    return redact_text(text, secrets_of(os.environ))


def render_arguments(arguments: Arguments) -> str:
    """The arguments of a call in one line, without secrets."""
    from andy_cli.guard.redactor import redact_value, secrets_of  # as above

    redacted = redact_value(dict(arguments), secrets_of(os.environ))
    return json.dumps(redacted, ensure_ascii=False, default=str)


def print_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def read_task(task: RunTask) -> tuple[str, str]:
    """Return the task and the text that was piped in; without a task that text is the task."""
    alone = task.text.strip() in ("", "-")
    piped = read_piped(alone, task.quiet, parse_seconds(task.timeout) or 0.0) if task.stdin else ""
    if alone:
        if not piped.strip():
            raise UsageError("There is no task.", 'Say what to do: andy run "list my music"')
        return "", piped.strip()
    if not piped.strip():
        return task.text, ""
    return task.text, f"{PIPED}{fence_text(piped)}"
