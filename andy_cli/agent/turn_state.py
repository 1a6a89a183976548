"""The state of one turn: what it has done, and when it has done enough (R7)."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from andy_cli import events
from andy_cli.compiler.compiler import CompiledReply
from andy_cli.errors import AndyError, ModelError, UserWays
from andy_cli.events import Event
from andy_cli.messages import NotDone, Status, ToolCall, ToolResult, Usage
from andy_cli.toolbox.files.names import count_noun

SAID_NOTHING = "The model said nothing."
ONLY_THOUGHTS = "The model only thought and said nothing."
MAX_RESENDS = 2
"""Times in a turn that the model is asked to write a reply again that breaks its protocol, or whose
request cannot be read (R13)."""
ONE_LINE_INSTEAD = 'If you cannot, write one line instead: @tool NAME {"argument": "value"}'


class ModelNote(StrEnum):
    """A note to the model on a reply that may not be the whole answer."""

    CONTINUE = "You were cut off. Go on exactly where you stopped."
    WRITE_AGAIN = "Your request was cut off and nothing was done. Write it again, shorter."
    NUDGE = (
        "No tool was used for that. If it was still to come, do it now. If what you said is your "
        "whole answer, give it again. If you cannot do it, say so plainly."
    )
    WRITE_OR_EXPLAIN = (
        "What stands between your words was not run, as it may be an example. If it is to be done, "
        "write the request alone. If the user wants to see how it is written, give your whole "
        "answer again. Else answer in plain words; if you cannot do it, say so."
    )


class TurnOutcome(NamedTuple):
    """One way to end a turn.

    `sentence` is what the user is told; empty where the answer says it, or an error does. In the
    hint the slots of `UserWays` stand for what depends on the front end.
    """

    exit_code: int
    sentence: str = ""
    hint: str = ""

    @property
    def is_error(self) -> bool:
        return self.exit_code != 0


THOUGHTS_CUT_OFF = TurnOutcome(
    1,
    "The model only thought until its reply was cut off, and said nothing.",
    "Set max_tokens higher, or give its server a longer context window.",
)
TURN_OUTCOMES: Mapping[events.Subtype, TurnOutcome] = {
    "success": TurnOutcome(0),
    "error_empty": TurnOutcome(1, SAID_NOTHING, "Say it again, or use another model."),
    "error_cut_off": TurnOutcome(1, "The answer is cut off.", "{go_on}, or set max_tokens."),
    "error_filtered": TurnOutcome(
        1, "The model's server held the answer back.", "Say it otherwise."
    ),
    "error_unreadable": TurnOutcome(
        1,
        "What the model asked for cannot be read.",
        "Say it again, or use another model.",
    ),
    "error_unclear": TurnOutcome(1),
    "error_unsupported": TurnOutcome(1),
    "error_not_done": TurnOutcome(1),
    "error_permission": TurnOutcome(3),
    "error_limit": TurnOutcome(4),
    "error_provider": TurnOutcome(1),
    "error_usage": TurnOutcome(2),
    "error_cancelled": TurnOutcome(130),
}
"""`error_provider` has the code of its error: 75 for what may work later, 77 for a wrong key.
`error_unsupported` and `error_not_done` are those of `--strict`."""


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """The limits of one turn (R7)."""

    rounds: int
    calls_per_reply: int
    calls: int
    repeats: int = 3
    """Times that the same call may have the same result."""


CallKey = tuple[str, str]
"""The name and the arguments of a call."""


def make_call_key(call: ToolCall) -> CallKey:
    return (call.name, repr(sorted(call.arguments.items())))


@dataclass(slots=True)
class TurnState:
    """Counters, answer and outcome of one turn."""

    usage_before: Usage
    started: float = field(default_factory=time.monotonic)
    rounds: int = 0
    calls: int = 0
    was_asked_to_continue: bool = False
    """A reply was cut off, and the model was asked to go on with it."""
    open_call: str = ""
    """The last reply, if it ended in the middle of a call."""
    is_rest_of_call: bool = False
    """The last reply goes on with the call that the one before it ended in."""
    is_cut_off: bool = False
    """The answer is cut off: by an error, or although the model was asked to go on with it."""
    has_repeated: bool = False
    """A call had the same result once more; the model is told so after the results."""
    reply_text: str = ""
    """The words of the last reply to the user."""
    answer: str = ""
    invalid_round: int = -1
    """The last round in which a request could not be understood."""
    resends: int = 0
    resend_note: str = ""
    """The note to the model on its last reply, if that has to be sent again."""
    last_note: str = ""
    """The note on its last reply, if that may not be the whole answer: a `ModelNote`, or a fault.
    """
    examples: dict[str, str] = field(default_factory=dict)
    """Tool -> the reply that was shown because its request for this tool might be an example."""
    example_round: int = -1
    """The last round whose reply was shown with an example of a request in it."""
    is_done: bool = False
    """The last reply was taken as the answer, or the model ended its turn by a call."""
    ended_by_call: bool = False
    stop_reason: str = ""
    """Why the turn had to end early, in words."""
    is_looping: bool = False
    """It had to end as the model did the same again and again: to go on would do so once more."""
    question: str = ""
    """The question to the user before anything can go on."""
    empty_reason: str = ""
    """Why the last reply says nothing, if it does."""
    took_empty_retry: bool = False
    announcement: str = ""
    """An answer that only announced what was to be done; the model was told to do it."""
    is_withheld: bool = False
    """The last reply was not shown yet: it takes the place of one that was."""
    declined: tuple[NotDone, ...] = ()
    """Wishes of which the answer itself says that they are not fulfilled."""
    is_filtered: bool = False
    """The server held the answer back."""
    unreadable_name: str = ""
    """The tool of a request that could not be read, where that is known."""
    is_unreadable: bool = False
    """The last request could not be read, and may not be sent again."""
    subtype: events.Subtype = "success"
    exit_code: int = 0
    error: events.Failed | None = None
    """The error that ended it, if one did."""
    denials: list[str] = field(default_factory=list)
    failed_calls: set[str] = field(default_factory=set)
    """Ids of the calls that ended badly."""
    results: list[str] = field(default_factory=list)
    """The contents of the results of this turn."""
    corrections: list[str] = field(default_factory=list)
    """The corrections of requests: `file -> path`."""
    rejected_answer: str = ""
    """The answer that did not hold, while another is asked for."""
    rewrite_position: int = 0
    doubted_figures: frozenset[str] = frozenset()
    """The digits of the figures that the model was told nothing supports."""
    """The place in the history at which the model is asked for another answer."""
    unsupported: tuple[str, ...] = ()
    not_done: tuple[NotDone, ...] = ()
    _repeats: dict[tuple[CallKey, str], list[int]] = field(default_factory=dict)
    """The rounds in which a call had a result."""

    @property
    def is_over(self) -> bool:
        return bool(self.is_done or self.stop_reason or self.question)

    def begin_round(self, limits: TurnLimits) -> bool:
        """Count another reply; False if the limit is reached."""
        if self.rounds == limits.rounds:
            self.stop(f"Stopped after {count_noun(self.rounds, 'reply')} without an answer.")
            return False
        self.rounds += 1
        return True

    def check_format(self, text: str, violation: str, is_strict: bool, advice: str) -> bool:
        """Note what a reply said, and what in it breaks the format of its protocol, if anything.

        True if the violation is tolerated: `dialect_strict` is off, and the model was asked often
        enough. Raises ModelError with the advice where it is on.
        """
        self.reply_text, self.resend_note = text, ""
        if not violation:
            return False
        if self.count_resend():
            self.resend_note = violation if self.resends == 1 else f"{violation} {ONE_LINE_INSTEAD}"
            return False
        if is_strict:
            raise ModelError("The model does not keep to its protocol.", advice)
        return True

    def note_empty(self, compiled: CompiledReply) -> None:
        """Note why a reply without requests says nothing."""
        self.empty_reason = ""
        if not (self.reply_text.strip() or compiled.fault or compiled.incomplete):
            self.empty_reason = ONLY_THOUGHTS if compiled.reasoning.strip() else SAID_NOTHING

    def take_empty_retry(self) -> bool:
        """Take the one retry that a turn has for a reply that says nothing; False if it was taken,
        or something was said before."""
        if not self.empty_reason or self.took_empty_retry or self.answer or self.is_cut_off:
            return False
        self.took_empty_retry = True
        return True

    def count_resend(self) -> bool:
        """Count a reply that the model is to write again; False if the limit is reached."""
        self.resends += 1
        return self.resends <= MAX_RESENDS

    def append_paragraph(self, text: str) -> Event:
        """Add a text to the answer as a paragraph of its own."""
        parted = f"\n\n{text}" if self.answer else text
        self.answer += parted
        return events.Said("assistant", parted, delta=True)

    def end_paragraph(self) -> None:
        """Begin a new paragraph with what is added to the answer next."""
        if self.answer.strip():
            self.answer = f"{self.answer.rstrip()}\n\n"

    def _withdraw_example(self, tool: str) -> None:
        """Take out of the answer a reply that was no example: what it asked for is done now."""
        if example := self.examples.pop(tool, ""):
            self.answer = self.answer.replace(f"{example}\n\n", "", 1)

    def begin_rewrite(self, position: int) -> None:
        """Wait for another answer; `position`: where in the history the model is asked for it."""
        self.rejected_answer, self.answer, self.is_done = self.answer, "", False
        self.rewrite_position = position

    def stop(self, reason: str) -> None:
        """End the turn early."""
        self.stop_reason = reason
        self.end_as("error_limit")

    def end_as(self, subtype: events.Subtype) -> None:
        """Settle how the turn ends, with the exit code that the table has for it."""
        self.subtype, self.exit_code = subtype, TURN_OUTCOMES[subtype].exit_code

    def repeats_invalid_call(self) -> bool:
        """Note a request that cannot be understood; True if the round before had one too."""
        was_invalid = self.invalid_round == self.rounds - 1
        self.invalid_round = self.rounds
        return was_invalid

    def ask_user(self, question: str) -> None:
        """End the turn with a question to the user."""
        self.question = question
        self.end_as("error_unclear")

    def explain_end(self, way_on: str) -> Iterator[Event]:
        """Say why the turn ended early, and how to go on; a question to the user is the answer."""
        if self.question:
            self.answer = self.question
            yield events.Said("assistant", self.question, delta=True)
        elif self.stop_reason:
            hint = "Say it otherwise, or use another model." if self.is_looping else f"{way_on}."
            self.error = events.Failed("warning", "limit", self.stop_reason, hint)
            yield self.error

    def fail(self, error: AndyError, ways: UserWays) -> events.Failed:
        """End the turn with an error; its hint is told in the words of the front end, with how to
        go on from half an answer."""
        self.subtype = "error_cancelled" if error.exit_code == 130 else "error_provider"
        self.exit_code = error.exit_code
        self.answer = self.answer or self.rejected_answer
        # Of a model that repeats itself more of the same would come.
        can_go_on = self.is_cut_off and error.kind != "repetition"
        cut_off = f"{TURN_OUTCOMES['error_cut_off'].sentence} {ways.go_on}." * can_go_on
        hint = f"{error.hint_for(ways)} {cut_off}".strip()
        self.error = events.Failed("error", error.kind, str(error), hint)
        return self.error

    def count_repeats(self, call: ToolCall, result: ToolResult) -> int:
        """Count the replies of this turn whose call had this result, this one included: a model
        that asks twice in one reply has not seen the result yet."""
        rounds = self._repeats.setdefault((make_call_key(call), result.content), [])
        if self.rounds not in rounds:
            rounds.append(self.rounds)
        return len(rounds)

    def count_result(self, result: ToolResult) -> None:
        """Count a call that has its result."""
        self.calls += 1
        self.results.append(result.content)
        if result.ok:
            self._withdraw_example(result.name)
        else:
            self.failed_calls.add(result.call_id)
        if result.status is Status.DENIED:
            self.denials.append(result.did)
            self.end_as("error_permission")
