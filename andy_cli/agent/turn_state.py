"""What a turn has done so far, and when it has done enough (R7)."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from andy_cli import events
from andy_cli.agent.announcements import only_announces
from andy_cli.agent.conversation import Conversation
from andy_cli.agent.not_done import NotDone, find_not_done
from andy_cli.agent.outcomes import TURN_OUTCOMES
from andy_cli.compiler.compiler import CompiledReply
from andy_cli.errors import AndyError, ModelError
from andy_cli.events import Event
from andy_cli.messages import Status, ToolCall, ToolResult, Usage

REPEATED = "You did this before and got the same result. Go on with what you know."
SAID_NOTHING = "The model said nothing."
ONLY_THOUGHTS = "The model only thought and said nothing."
RESENDS = 2
"""How often a reply that breaks its protocol may be sent again (R13)."""
INSTEAD = 'If you cannot, write one line instead: @tool NAME {"argument": "value"}'


@dataclass(slots=True)
class TurnState:
    """The account of one turn. `stopped` says in words why it had to end early."""

    before: Usage
    started: float = field(default_factory=time.monotonic)
    rounds: int = 0
    calls: int = 0
    continued: bool = False
    cut_off: bool = False
    """The answer still is, after it was continued."""
    repeated: bool = False
    spoken: str = ""
    """What the last reply said to the user."""
    answer: str = ""
    misfit_in: int = -1
    """The last round in which a request could not be understood."""
    resent: int = 0
    refused: str = ""
    """What the model is told of its last reply, if that has to be sent again."""
    done: bool = False
    """The model ended its turn by a call."""
    stopped: str = ""
    asked: str = ""
    """What the user has to be asked before anything can go on."""
    empty: str = ""
    """Why the last reply says nothing, if it does."""
    asked_empty_again: bool = False
    announced: str = ""
    """An answer that only announced what was to be done; the model was told to do it."""
    filtered: bool = False
    """The server held the answer back."""
    unreadable: bool = False
    """The last request could not be read, and may not be sent again."""
    subtype: events.Subtype = "success"
    exit_code: int = 0
    error: events.Failed | None = None
    """What ended it, if an error did."""
    denials: list[str] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    """Ids of the calls that ended badly."""
    results: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    rewriting: str = ""
    """The answer that did not hold, while another is asked for."""
    rewritten_at: int = 0
    unsupported: tuple[str, ...] = ()
    not_done: tuple[NotDone, ...] = ()
    _seen: dict[tuple[str, str, str], int] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return bool(self.done or self.stopped or self.asked)

    def hear(self, spoken: str, fault: str, lenient: bool) -> bool:
        """What a reply said, and what breaks the letter of its protocol, if anything does.

        True if it is taken as it is for the model can do no better; raises ModelError if it may
        not be.
        """
        self.spoken, self.refused = spoken, ""
        if not fault:
            return False
        if self.may_resend():
            self.refused = fault if self.resent == 1 else f"{fault} {INSTEAD}"
            return False
        if not lenient:
            raise ModelError("The model does not keep to its protocol.", "Try `--dialect auto`.")
        return True

    def note_empty(self, compiled: CompiledReply) -> None:
        """Note why a reply without requests says nothing."""
        self.empty = ""
        if not (compiled.text.strip() or compiled.fault or compiled.incomplete):
            self.empty = ONLY_THOUGHTS if compiled.reasoning.strip() else SAID_NOTHING

    def may_ask_empty_again(self, compiled: CompiledReply) -> bool:
        """Whether a reply that says nothing is asked for once more, and nothing was said before."""
        if not self.empty or self.asked_empty_again or self.answer or self.cut_off:
            return False
        self.asked_empty_again = True
        return True

    def may_nudge(self, chat: Conversation) -> bool:
        """Whether the answer only announces something, and the model is told to do it: once."""
        if self.announced or not chat.speech.tools or self.answer != self.spoken:
            return False
        if not only_announces(chat.own_words, self.answer, done=self.calls > 0):
            return False
        self.announced, self.answer = self.answer, ""
        return True

    def may_resend(self) -> bool:
        self.resent += 1
        return self.resent <= RESENDS

    def say(self, text: str) -> Event:
        """A text that is part of the answer and a paragraph of its own."""
        parted = f"\n\n{text}" if self.answer else text
        self.answer += parted
        return events.Said("assistant", parted, delta=True)

    def answer_again(self, at: int) -> None:
        """`at`: where in the history the model is asked to."""
        self.rewriting, self.answer, self.done = self.answer, "", False
        self.rewritten_at = at

    def stop(self, why: str) -> None:
        self.stopped, self.subtype, self.exit_code = why, "error_limit", 4

    def misfit(self) -> bool:
        """A request could not be understood; True if that was so in the round before too."""
        again = self.misfit_in == self.rounds - 1
        self.misfit_in = self.rounds
        return again

    def ask(self, question: str) -> None:
        self.asked, self.subtype, self.exit_code = question, "error_unclear", 1

    def why_over(self) -> Iterator[Event]:
        """What is said when there will be no further reply."""
        if self.asked:
            self.answer = self.asked
            yield events.Said("assistant", self.asked, delta=True)
        elif self.stopped:
            yield events.Failed("warning", "limit", self.stopped, "Say `go on` to continue.")

    def fail(self, error: AndyError) -> events.Failed:
        self.subtype = "error_cancelled" if error.exit_code == 130 else "error_provider"
        self.exit_code = error.exit_code
        self.answer = self.answer or self.rewriting
        self.error = events.Failed("error", error.kind, str(error), error.hint)
        return self.error

    def settle(self, chat: Conversation) -> Iterator[Event]:
        """Decide how the turn ended, by the table of outcomes, and say what the answer does not."""
        self.answer = self.answer or self.announced
        self.not_done = find_not_done([each for each in chat.deeds if not each.earlier])
        if self.subtype == "success":
            self.subtype = self._shortcoming(chat)
            self.exit_code = TURN_OUTCOMES[self.subtype].exit_code
        outcome = TURN_OUTCOMES[self.subtype]
        if outcome.sentence and self.error is None:
            kind = self.subtype.removeprefix("error_")
            empty = self.empty if self.subtype == "error_empty" else ""
            sentence = empty or outcome.sentence
            self.error = events.Failed("error", kind, sentence, outcome.hint)
            yield self.error

    def _shortcoming(self, chat: Conversation) -> events.Subtype:
        if self.filtered:
            return "error_filtered"
        if self.unreadable:
            return "error_unreadable"
        if self.cut_off:
            return "error_cut_off"
        # Who ends a turn by a call has perhaps said all by calls.
        if not self.answer.strip() and not (self.done and self.calls):
            return "error_empty"
        if chat.strict and self.not_done:
            return "error_not_done"
        if chat.strict and self.unsupported:
            return "error_unsupported"
        return "success"

    def _error(self) -> dict[str, str] | None:
        """What a script is told of a failure."""
        if self.exit_code == 0:
            return None
        if self.error is not None:
            return {"kind": self.error.kind, "message": self.error.message, "hint": self.error.hint}
        reasons = [str(each) for each in self.not_done]
        if self.subtype == "error_unsupported":
            reasons = [f"Nothing that was found supports: {', '.join(self.unsupported)}"]
        message = "; ".join(reasons) or self.stopped or self.asked
        return {"kind": self.subtype.removeprefix("error_"), "message": message, "hint": ""}

    def repeats(self, call: ToolCall, result: ToolResult) -> int:
        """How often this call has had this result in this turn, this time included."""
        key = (call.name, repr(sorted(call.arguments.items())), result.content)
        self._seen[key] = self._seen.get(key, 0) + 1
        return self._seen[key]

    def count(self, result: ToolResult) -> None:
        self.calls += 1
        self.results.append(result.content)
        if not result.ok:
            self.failed.add(result.call_id)
        if result.status is Status.DENIED:
            self.denials.append(result.did)
            self.subtype, self.exit_code = "error_permission", 3

    def ended(self, chat: Conversation) -> events.Ended:
        usage = {
            "input_tokens": chat.usage.input_tokens - self.before.input_tokens,
            "output_tokens": chat.usage.output_tokens - self.before.output_tokens,
        }
        grounding: dict[str, object] = {
            "status": "unsupported" if self.unsupported else "ok",
            "unsupported": list(self.unsupported),
        }
        return events.Ended(
            subtype=self.subtype,
            is_error=self.exit_code != 0,
            result=self.answer,
            response=self.answer,
            session_id=chat.session_id,
            num_turns=self.rounds,
            duration_ms=round((time.monotonic() - self.started) * 1000),
            exit_code=self.exit_code,
            usage=usage,
            permission_denials=tuple(self.denials),
            grounding=grounding,
            not_done=tuple(each._asdict() for each in self.not_done),
            error=self._error(),
        )
