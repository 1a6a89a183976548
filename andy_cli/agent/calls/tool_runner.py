"""Run one tool call: say what it would do, ask the gate, run it, note how it ended.

What of a turn was not done is told from facts alone (R7): the calls that were refused, failed, ran
out of time or were stopped, and that no later call put right. The wording of the model is not
looked at.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from andy_cli.agent.calls.injection import (
    holds_only_words_of,
    is_quoted,
    repeats_foreign,
    stands_in_sentence,
)
from andy_cli.agent.calls.request_resolution import OfferedTools
from andy_cli.agent.grounding.evidence import ActionRecord, find_names
from andy_cli.agent.history.history import History
from andy_cli.call_notes import write_refusal
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.errors import ToolError
from andy_cli.foreign_values import text_of
from andy_cli.guard.gate import ApprovalRequest, Decision, Gate
from andy_cli.guard.workspace import NO_ACCESS, Grants, ResourceAccess
from andy_cli.messages import Effect, NotDone, Status, ToolCall, ToolRequest, ToolResult
from andy_cli.sessions.log import END, Record, int_of
from andy_cli.sessions.store import EndedCall
from andy_cli.toolbox.registry import Registry

LOOKING_EFFECTS = (Effect.READ, Effect.NETWORK, Effect.PROTOCOL)
REASONS = {
    Status.DENIED: "not allowed",
    Status.TIMED_OUT: "it ran out of time",
    Status.CANCELLED: "it was stopped",
    Status.FAILED: "it failed",
}
WRITTEN_AS_EXAMPLE = "the model wrote it as an example"
MAX_REASON_CHARACTERS = 160
"""Characters of a reason."""
MIN_SIMILARITY = 0.5
"""Of two texts of which one is written anew for the other."""
WORD = re.compile(r"\w+")
MAX_VALUES = 12
"""Single values of a call that are compared one by one."""
MAX_COMPARED_LENGTH = 1000
"""Characters of a value that are compared."""
MIN_NAME_LENGTH = 2
"""Characters of what the user calls by its name."""


class CallValue(NamedTuple):
    """A single value among the arguments of a call."""

    name: str
    text: str


def find_not_done(actions: Sequence[ActionRecord], request: str = "") -> tuple[NotDone, ...]:
    """List what of one turn was not done or seen only in part, each once, in order.

    `request` is what the user asked for.
    """
    not_done: dict[NotDone, None] = {}
    for position, action in enumerate(actions, start=1):
        is_told = action.action and not _is_done_already(action, actions[: position - 1])
        reason = _explain(action, actions[position:], request) if is_told else ""
        if reason:
            not_done[NotDone(action.action, reason)] = None
    return tuple(not_done)


def _is_done_already(action: ActionRecord, earlier: Sequence[ActionRecord]) -> bool:
    """Tell whether an equal call did it before: an edit that is asked for twice fails then."""
    if action.status is not Status.FAILED or action.effect is not Effect.WRITE:
        return False
    done = [(other.tool, other.arguments) for other in earlier if other.ok]
    return (action.tool, action.arguments) in done


def _explain(action: ActionRecord, later: Sequence[ActionRecord], request: str) -> str:
    if action.ok:
        return _explain_partial(action, later)
    if any(other.ok and _makes_up_for(action, other, request) for other in later):
        return ""
    if _is_example_look(action, request):
        return ""
    if (action.status is Status.FAILED or action.may_be_done) and action.problem:
        return _shorten_reason(action.problem)
    return REASONS[action.status]


def _is_example_look(action: ActionRecord, request: str) -> bool:
    """Tell whether a look at what the user named nothing of was written as an example."""
    is_example = action.problem == WRITTEN_AS_EXAMPLE and action.effect in LOOKING_EFFECTS
    return is_example and not any(_is_named(value.text, request) for value in _list_values(action))


def _explain_partial(action: ActionRecord, later: Sequence[ActionRecord]) -> str:
    """Explain what was done in part, or a command that failed and that no other one follows."""
    has_failed = action.exit_code and action.effect not in LOOKING_EFFECTS
    if has_failed and not any(other.ok and other.effect is action.effect for other in later):
        return f"exit code {action.exit_code}"
    return f"only in part: {action.problem}" if action.problem else ""


def _makes_up_for(action: ActionRecord, later: ActionRecord, request: str) -> bool:
    """Tell whether a later call did what this one could not: the same act on the same things, or
    a look at them. Where the user named none of them any look of the tool does.
    """
    if action.effect not in LOOKING_EFFECTS:
        is_same_act = later.tool == action.tool and _is_same_act(action, later)
        return is_same_act or _does_same_change(action, later, request)
    wanted = [*_list_values(action)]
    named = [value for value in wanted if _is_named(value.text, request)]
    is_any_look = later.tool == action.tool and not named
    return later.effect in LOOKING_EFFECTS and (is_any_look or _looks_at(later, named or wanted))


def _looks_at(later: ActionRecord, wanted: Sequence[CallValue]) -> bool:
    """Tell whether a look is at all of these things."""
    others = [*_list_values(later)]
    return all(any(_is_same_thing(value.text, other.text) for other in others) for value in wanted)


def _does_same_change(action: ActionRecord, later: ActionRecord, request: str) -> bool:
    """Tell whether a call of another kind, or a command that succeeded, puts the same text into the
    same file, as who writes it whole where the part that was to be replaced was not found; or is
    about all the things of a change without a text."""
    is_change = action.effect is Effect.WRITE and later.effect in (Effect.WRITE, Effect.RUN)
    if not is_change or later.exit_code:
        return False
    texts = [value for value in _list_values(action) if not _is_named(value.text, action.action)]
    if texts:
        missing = _list_missing(action, later)
        return len(missing) <= min(1, len(texts) - 1) and {*missing} <= {*texts}
    is_same_kind = later.effect is Effect.RUN or later.tool == action.tool
    return is_same_kind and _is_about_all(action, later, request)


def _is_about_all(action: ActionRecord, later: ActionRecord, request: str) -> bool:
    """Tell whether a call names all the things of another one, two at least. A name that the user
    did not say was the model's slip, if all that the user named is there."""
    missing = _list_missing(action, later)
    is_slip = missing and not any(_is_named(value.text, request) for value in missing)
    wanted = find_names(request) if is_slip else {value.text for value in _list_values(action)}
    return len(wanted) > 1 and all(_names(later, name) for name in wanted)


def _list_missing(action: ActionRecord, later: ActionRecord) -> Sequence[CallValue]:
    return [value for value in _list_values(action) if not _names(later, value.text)]


def _names(later: ActionRecord, name: str) -> bool:
    return any(_is_named(name, value.text) for value in _list_values(later))


def _is_same_act(action: ActionRecord, later: ActionRecord) -> bool:
    """Tell whether a call tries anew what another could not do. A command is the same one only as
    it stands. Of all else what its tool names is the same; of the rest one value may be another.
    """
    is_command = Effect.RUN in (action.effect, later.effect)
    values, others = [*_list_values(action)], [*_list_values(later)]
    if is_command or max(len(values), len(others)) > MAX_VALUES:
        return action.arguments == later.arguments
    changed = [value for value in values if not _has_match(value, others)]
    is_other_thing = any(_is_named(value.text, action.action) for value in changed)
    rewritten = [value for value in changed if _is_rewritten(value, others)]
    return not is_other_thing and len(changed) - len(rewritten) <= 1


def _has_match(value: CallValue, others: Sequence[CallValue]) -> bool:
    return any(
        value.name == other.name and _is_same_thing(value.text, other.text) for other in others
    )


def _is_rewritten(value: CallValue, others: Sequence[CallValue]) -> bool:
    return any(
        value.name == other.name and _measure_similarity(value.text, other.text) >= MIN_SIMILARITY
        for other in others
    )


def _measure_similarity(one: str, other: str) -> float:
    """Measure the share of words that two texts have in common: 1 if all. Takes linear time."""
    words, other_words = Counter(WORD.findall(one)), Counter(WORD.findall(other))
    return 2 * (words & other_words).total() / max(1, words.total() + other_words.total())


def _is_same_thing(one: str, other: str) -> bool:
    """Tell whether one text is the other, or a whole part of it: `01.mp3` is `songs/01.mp3`."""
    return _is_named(one, other) or _is_named(other, one)


def _is_named(text: str, within: str) -> bool:
    """Tell whether a text stands in another one, as words of its own."""
    name = text.strip().removeprefix("./")
    if len(name) < MIN_NAME_LENGTH:
        return name == within.strip()
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", within, re.I) is not None


def _list_values(action: ActionRecord) -> Iterator[CallValue]:
    """List the single values of the arguments; those of a list have its name."""
    try:
        arguments = json.loads(action.arguments)
    except ValueError:
        arguments = action.arguments
    yield from _flatten("", arguments)


def _flatten(name: str, value: object) -> Iterator[CallValue]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flatten(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _flatten(name, inner)
    elif value not in ("", None):
        yield CallValue(name, str(value)[:MAX_COMPARED_LENGTH])


def _shorten_reason(text: str) -> str:
    line = text.strip().partition("\n")[0].rstrip(" .")
    return line if len(line) <= MAX_REASON_CHARACTERS else f"{line[: MAX_REASON_CHARACTERS - 3]}..."


class InjectionReason(StrEnum):
    """A reason for which a request needs a yes in every mode, as the user is told it: it may not be
    the model's own wish, or be one that was done already."""

    NONE = ""
    REPEATS_RESULT = "this repeats what a tool returned, it may not be the model's own wish"
    REPEATS_ATTACHED = "this repeats what came with a message, it may not be the model's own wish"
    QUOTED = "the model wrote this in a quotation, it may not be its own wish"
    MAY_BE_DONE = "this may have been done already: when it was sent before, no clear answer came"


WRITE_ALONE = (
    "This was not run: it stood in a quotation, in a sentence, or in code beside words, and may be"
    " an example. If it is to be done, write the request alone. If not, answer the user."
)
CHANGED_MEANWHILE = (
    "What this would change has changed after it was shown to the user. Nothing was done. Look at"
    " it again, and write the request for what is there now."
)
MAX_EARLIER_ACTIONS = 200
"""Calls of earlier turns that count as actions of the session: the newest."""


class BackgroundCalls:
    """Runs calls that a turn does not wait for, and keeps those that failed; andy ends after
    them."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[ToolResult]] = set()
        self._failed: list[ToolResult] = []

    def start(self, coroutine: Coroutine[None, None, ToolResult]) -> None:
        task = asyncio.create_task(coroutine)
        self._running.add(task)
        task.add_done_callback(self._finish_task)

    def _finish_task(self, task: asyncio.Task[ToolResult]) -> None:
        self._running.discard(task)
        if not task.cancelled() and not task.result().ok:
            self._failed.append(task.result())

    def take_failures(self) -> list[ToolResult]:
        """Return what has failed since this was last asked."""
        failed, self._failed = self._failed, []
        return failed

    async def join(self) -> None:
        while self._running:
            await asyncio.wait(self._running)


class ToolRunner:
    """The registry behind the gate. What is asked and begun is in the log before it happens."""

    def __init__(
        self, registry: Registry, gate: Gate, history: History, background: BackgroundCalls
    ) -> None:
        self._registry, self._gate = registry, gate
        self._history, self._background = history, background
        self.actions: list[ActionRecord] = []
        """The calls of this session, and how each ended."""
        self._sent_id = ""
        """The call that was begun last, if it acts for the user elsewhere."""

    def begin_turn(self) -> None:
        """Count the actions so far as those of earlier turns."""
        self.actions = [
            action._replace(earlier=True) for action in self.actions[-MAX_EARLIER_ACTIONS:]
        ]

    def offer(self, known_tools: Tools) -> OfferedTools:
        """Bundle the tools that a request may mean with what checks their arguments."""
        registry = self._registry
        return OfferedTools(
            known_tools, registry.only_reads, registry.check, registry.find_meant_paths
        )

    def read_spoken_text(self, request: ToolRequest) -> str | None:
        """Read the text of a request to say something to the user (`send_chat`), whatever name the
        model gave its parameter; None where there is none.
        """
        mapped = map_call(
            request.name, request.arguments or {}, self._registry.functions, lambda name: True
        )
        text = mapped.calls[0].arguments.get("content")
        return text if isinstance(text, str) else None

    def find_injection_reason(
        self, request: ToolRequest, effect: Effect, reply_text: str, quoted: bool
    ) -> InjectionReason:
        """Find why a request may not be the model's own wish; the effect is this very call's."""
        if is_quoted(request, reply_text) or (quoted and effect is not Effect.READ):
            return InjectionReason.QUOTED
        if reason := self._find_repetition(request, reply_text, effect):
            return reason
        # In a sentence, or in a fence beside words, it may be an example; but what only looks, and
        # from a fence at what the user named, is done.
        if effect is Effect.READ:
            own_words = holds_only_words_of(request, self._history.user_texts)
            is_example = quoted and not own_words
        else:
            is_example = stands_in_sentence(request, reply_text)
        return InjectionReason.QUOTED if is_example else InjectionReason.NONE

    def _find_repetition(
        self, request: ToolRequest, reply_text: str, effect: Effect
    ) -> InjectionReason:
        """Find whose words a request repeats that are not the user's."""
        history = self._history
        for foreign_texts, reason in (
            (history.told.list_results(), InjectionReason.REPEATS_RESULT),
            ([*history.attached_texts], InjectionReason.REPEATS_ATTACHED),
        ):
            if repeats_foreign(request, reply_text, foreign_texts, history.user_texts, effect):
                return reason
        return InjectionReason.NONE

    def propose(self, call: ToolCall) -> ApprovalRequest:
        """Say what a call would do and touch."""
        tool = self._registry.get(call.name)
        assert tool is not None, "resolve lets no unknown tool through"
        access, fault, problem = NO_ACCESS, "", ""
        try:
            access = self._registry.find_access(call)
            self._gate.resolve_paths(access)  # nobody's yes helps where that fails
        except ToolError as error:
            fault, problem = error.content, str(error)
        return ApprovalRequest(
            tool=tool.name,
            effect=access.effect or tool.effect,
            action=tool.intent(call.arguments),
            access=access,
            fingerprint=tool.fingerprint,
            fault=fault,
            problem=problem,
            arguments=call.arguments,
            action_end=tool.action_end,
        )

    def add_doubt(
        self, approval_request: ApprovalRequest, injection_reason: InjectionReason
    ) -> ApprovalRequest:
        """Add why a request may not be the model's own wish, or may be done already.

        Where no user can confirm a quoted request it fails, and the model is told to write it
        alone.
        """
        doubt = injection_reason or self._find_open_end(approval_request)
        doubted = approval_request._replace(injection_reason=doubt)
        if injection_reason is InjectionReason.QUOTED and self._gate.ask is None:
            return doubted._replace(fault=WRITE_ALONE, problem=WRITTEN_AS_EXAMPLE)
        return doubted

    def _find_open_end(self, approval_request: ApprovalRequest) -> InjectionReason:
        """Find out whether the same was sent before and nobody knows whether it happened."""
        call = ToolCall("", approval_request.tool, approval_request.arguments)
        effect, action = approval_request.effect, approval_request.action
        wanted = ActionRecord(call.name, effect, action, arguments=write_arguments(call))
        # One that was refused, or changed nothing, says nothing of the one before it.
        ends = [
            sent.may_be_done
            for sent in self.actions
            if sent.tool == call.name and (sent.ok or sent.may_be_done)
            if _is_same_act(sent, wanted)
        ]
        is_open = ends[-1:] == [True] and effect not in LOOKING_EFFECTS
        return InjectionReason.MAY_BE_DONE if is_open else InjectionReason.NONE

    async def decide(self, call: ToolCall, approval_request: ApprovalRequest) -> Decision:
        """Let the gate decide; its decision is on disk before anything runs (P8)."""
        if approval_request.fault:
            return Decision(False, approval_request.fault)
        decision = await self._gate.decide(approval_request)
        session_log = self._history.log
        if session_log is not None and decision.asked:
            session_log.append(
                "consent", call_id=call.id, allowed=decision.allowed, reason=decision.reason
            )
        return decision

    async def execute(
        self, call: ToolCall, approval_request: ApprovalRequest, decision: Decision
    ) -> ToolResult:
        """Run a call if it is allowed, else say why it was not run.

        A yes of the user is one to what was shown: where the call would do something else by now,
        as its file was changed meanwhile, it fails.
        """
        action = approval_request.action
        fault, problem = approval_request.fault, approval_request.problem
        if decision.allowed and decision.asked and self._has_changed(call, approval_request.access):
            fault, problem = CHANGED_MEANWHILE, "what is there changed after it was shown"
        elif decision.allowed:
            return await self._run(call, approval_request, decision.granted)
        if fault:
            return ToolResult(call.id, call.name, fault, Status.FAILED, did=action, problem=problem)
        reason = decision.reason.rstrip(".")
        note = write_refusal(reason)
        denied = ToolResult(call.id, call.name, note, Status.DENIED, did=action)
        # A user who answered needs no reason. `asked` is also true where no user is there: at its
        # end `andy run` names the rule that would have allowed it.
        return denied if decision.asked else denied._replace(problem=reason)

    def _has_changed(self, call: ToolCall, shown: ResourceAccess) -> bool:
        """Tell whether a call would no longer do what was shown of it."""
        try:
            return self._registry.find_access(call) != shown
        except ToolError:
            return True

    def may_be_done(self, call: ToolCall) -> bool:
        """Tell whether a call that has no result was begun, and may have reached somebody else."""
        return call.id == self._sent_id

    def _keep_start(self, call: ToolCall, approval_request: ApprovalRequest) -> None:
        """Keep that a call begins; whatever is done elsewhere may be done from then on."""
        effect, action = approval_request.effect, approval_request.action
        self._sent_id = call.id if effect is Effect.ACT else ""
        if self._history.log is not None:
            begun = {"call_id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            self._history.log.append("start", **begun, effect=effect, action=action)

    async def _run(
        self, call: ToolCall, approval_request: ApprovalRequest, granted: Grants
    ) -> ToolResult:
        tool, action = self._registry.get(call.name), approval_request.action
        self._keep_start(call, approval_request)
        if tool is None or not tool.background:
            return await self._registry.call(call, granted)
        self._background.start(self._registry.call(call, granted))
        return ToolResult(call.id, call.name, "started", did=f"started to {action}")

    @property
    def turn_actions(self) -> Sequence[ActionRecord]:
        """The actions of this turn."""
        return [action for action in self.actions if not action.earlier]

    def find_not_done(self) -> tuple[NotDone, ...]:
        """Find what of this turn was not done, each in words."""
        return find_not_done(self.turn_actions, self._history.user_request)

    def record_result(
        self, call: ToolCall, effect: Effect, action: str, result: ToolResult
    ) -> None:
        """Note a call, and how it ended, among the actions of the session."""
        record = ActionRecord(
            tool=call.name,
            effect=effect,
            action=action,
            did=result.did,
            status=result.status,
            arguments=write_arguments(call),
            problem=result.partial if result.ok else result.problem,
            exit_code=result.display.exit_code,
            changed_nothing=result.changed_nothing,
            unfinished=result.unfinished,
            may_be_done=result.may_be_done,
        )
        self.actions.append(record)
        if self._history.log is not None:
            kept = {key: value for key, value in record._asdict().items() if value}
            del kept["tool"], kept["arguments"]  # they stand in the message with the call
            self._history.log.note(END, call_id=call.id, **kept)

    def record_left_out(self, requests: Sequence[ToolRequest], problem: str) -> None:
        """Note requests that were not even tried; what is no tool's name says nothing."""
        for request in requests:
            if (tool := self._registry.get(request.name)) is not None:
                call = ToolCall(request.id, tool.name, request.arguments or {})
                self.actions.append(
                    ActionRecord(
                        tool=tool.name,
                        effect=tool.effect,
                        action=tool.intent(call.arguments),
                        status=Status.FAILED,
                        arguments=write_arguments(call),
                        problem=problem,
                    )
                )

    def restore_actions(self, ended: Iterable[EndedCall]) -> None:
        """Take the calls of an earlier process, and how they ended, for those of earlier turns."""
        self.actions = [record for call, end in ended if (record := read_action(call, end))]


def write_arguments(call: ToolCall) -> str:
    return json.dumps(dict(call.arguments), ensure_ascii=False, default=str)


def read_action(call: ToolCall, end: Record) -> ActionRecord | None:
    """Read how a call of an earlier process ended; None for what no andy wrote."""
    try:
        effect, status = Effect(text_of(end, "effect")), Status(text_of(end, "status"))
    except ValueError:
        return None
    return ActionRecord(
        tool=call.name,
        effect=effect,
        action=text_of(end, "action"),
        did=text_of(end, "did"),
        status=status,
        arguments=write_arguments(call),
        problem=text_of(end, "problem"),
        earlier=True,
        exit_code=int_of(end, "exit_code"),
        changed_nothing=bool(end.get("changed_nothing")),
        unfinished=text_of(end, "unfinished"),
        may_be_done=bool(end.get("may_be_done")),
    )
