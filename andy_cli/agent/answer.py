"""The answer of a turn: shown while it arrives, held against what was found, and settled.

`turn.py` calls in this order: `show_reply`, `request_resend` or `accept_answer` for each reply,
then `request_rewrite`, `audit_answer` and `finish_turn`. A reply that only says what the model will
do is no answer (`announcements.py`).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from pathlib import Path

from andy_cli import events
from andy_cli.agent.announcements import (
    asks_something,
    intends_action,
    is_bare_call,
    is_short_line,
    only_announces,
)
from andy_cli.agent.conversation import AnswerProvenance, Conversation
from andy_cli.agent.grounding.audit import (
    describe_claim,
    find_unsupported_claims,
    is_figure,
    is_worth_asking,
    list_digits,
    mark_claims,
    write_rewrite_request,
)
from andy_cli.agent.grounding.evidence import FILE, Claim, Evidence
from andy_cli.agent.history.history import split_message
from andy_cli.agent.model.repetition import drop_repetition
from andy_cli.agent.model.reply import ModelReply
from andy_cli.agent.named_files import (
    find_mistaken_files,
    find_unread_files,
    find_unread_parts,
)
from andy_cli.agent.turn_state import (
    ONLY_THOUGHTS,
    THOUGHTS_CUT_OFF,
    TURN_OUTCOMES,
    ModelNote,
    TurnOutcome,
    TurnState,
)
from andy_cli.compiler.bodies.wrappings import is_only_framing, may_become_envelope, unwrap_answer
from andy_cli.compiler.compiler import Visible
from andy_cli.errors import AndyError, fill_hint
from andy_cli.events import Event
from andy_cli.messages import Effect, Message
from andy_cli.toolbox.runtime_context import run_in_daemon_thread

LOOKS = (Effect.READ, Effect.NETWORK, Effect.PROTOCOL)


class OutputFilter:
    """Turns what the compiler lets through into events. Build a new one for each reply.

    `is_held`: no text is shown before it is known whether the reply keeps to its protocol;
    `begins_anew`: another answer was shown before, which this one takes the place of; `unwraps`:
    an answer that is sent as the value of a JSON object is shown without it; `shown`: a reply on
    the screen, which is not shown again.
    """

    def __init__(
        self,
        is_held: bool = False,
        begins_anew: bool = False,
        unwraps: bool = False,
        shown: str = "",
    ) -> None:
        self._parts: list[str] = []
        self._held = is_held
        self._begins_anew = begins_anew
        self._unwraps = unwraps
        self._shown = shown.strip()

    @property
    def text(self) -> str:
        """All that was shown, or may be."""
        return "".join(self._parts)

    def take(self, visible: Visible) -> list[Event]:
        """Take the next piece as the compiler gives it."""
        shown_events: list[Event] = []
        if visible.retracted:  # what is on the screen stays there; the answer is a new paragraph
            self._parts, self._begins_anew = [], False
            shown_events += self._say("\n\n")
        if visible.reasoning:
            shown_events.append(events.Reasoned(visible.reasoning))
        if visible.text:
            self._parts.append(visible.text)
            shown_events += self._say(self._withhold_shown(self._withhold_object(visible.text)))
        return shown_events

    def _withhold_shown(self, text: str) -> str:
        """Return nothing while all so far is on the screen already, all once it is not."""
        if not text or not self._shown:
            return text
        if self._shown.startswith(self.text.strip()):
            return ""
        self._shown = ""
        return self.text

    def _withhold_object(self, text: str) -> str:
        """Return nothing while all so far may be an answer in an object, all once it is none."""
        if not self._unwraps:
            return text
        self._unwraps = may_become_envelope(self.text)
        return "" if self._unwraps else self.text

    def _say(self, text: str) -> list[Event]:
        if self._held or not text:
            return []
        text = f"\n\n{text}" if self._begins_anew else text
        self._begins_anew = False
        return [events.Said("assistant", text, delta=True)]

    def unwrap(self, is_alone: bool) -> None:
        """Keep of a complete text that is an answer in an object the answer alone; nothing of one
        that is only framing, where it is not alone: there are calls."""
        if self._unwraps and (answer := unwrap_answer(self.text)):
            self._parts = [answer]
        elif self._unwraps and not is_alone and is_only_framing(self.text):
            self._parts = []

    def release(self) -> list[Event]:
        """Show what was held after all."""
        was_held = self._held or self._unwraps or bool(self._shown)
        is_shown = self.text.strip() == self._shown
        self._held, self._unwraps, self._shown = False, False, ""
        return self._say(self.text) if was_held and not is_shown else []


def make_output_filter(conversation: Conversation, state: TurnState) -> OutputFilter:
    """Make the filter of the next reply; the last message says why the model is asked for it."""
    last_message = conversation.history.messages[-1]
    is_second = state.last_note in (ModelNote.WRITE_OR_EXPLAIN, ModelNote.WRITE_AGAIN)
    is_held = bool(state.rejected_answer) or conversation.model.enforces_format or is_second
    was_shown = bool((state.answer or state.announcement).strip())
    begins_anew = last_message.note and state.last_note is not ModelNote.CONTINUE and was_shown
    unwraps = not asks_for_objects(conversation)
    return OutputFilter(is_held, begins_anew, unwraps, shown=state.announcement)


async def show_reply(
    conversation: Conversation, state: TurnState, reply: ModelReply
) -> AsyncIterator[Event]:
    """Show the reply as it arrives. Whatever ends it, what was said is in the history."""
    output = make_output_filter(conversation, state)
    state.is_cut_off = False  # it may be another try
    async for event in doubt_announcement(conversation, state):
        yield event
    try:
        async for visible in reply:
            for event in output.take(visible):
                yield event
    except BaseException as error:
        for event in keep_broken_reply(conversation, state, reply, output):
            if isinstance(error, AndyError | asyncio.CancelledError):
                yield event
        raise
    finally:
        conversation.model.add_usage(reply.usage)
    for event in finish_reply(conversation, state, reply, output):
        yield event


def asks_for_objects(conversation: Conversation) -> bool:
    """Tell whether somebody who gives the model its task speaks of JSON, or writes an object."""
    texts = [*conversation.history.user_texts, *conversation.instructions.texts()]
    return any("json" in text.lower() or "{" in text for text in texts)


def keep_broken_reply(
    conversation: Conversation, state: TurnState, reply: ModelReply, output: OutputFilter
) -> list[Event]:
    """Put into the history what was said before the reply broke off."""
    remaining_events = [*output.take(reply.rest), *output.release()]
    if said := drop_repetition(reply.compiled.text):
        conversation.history.add(Message("assistant", said, partial=True))
        state.answer += output.text
        state.is_cut_off = True
    return remaining_events


def finish_reply(
    conversation: Conversation, state: TurnState, reply: ModelReply, output: OutputFilter
) -> Iterator[Event]:
    """Check the format of a complete reply, and note how the model writes."""
    model, compiled = conversation.model, reply.compiled
    output.unwrap(is_alone=not (state.calls or compiled.requests))
    violation = model.find_format_violation(reply)
    if state.check_format(output.text, violation, model.is_strict, model.advice):
        model.stop_enforcing_format()
    note_rest_of_call(conversation, state, reply)
    yield from release_reply(state, reply, output)
    state.last_note = ""  # this was the reply to it
    # Of one whose steps are chosen no reply tells what of the prompt it has read.
    warning = "" if conversation.client.guided else conversation.budget.warn_of_unread(reply)
    if warning:
        yield events.Failed("warning", "context", warning)
    model.note_reasoning(reply)
    if compiled.dialect or compiled.repairs or compiled.incomplete or compiled.hidden:
        dialect = compiled.dialect or model.dialect.name
        yield events.Compiled(
            dialect, compiled.spans, compiled.repairs, compiled.incomplete, compiled.hidden
        )


def note_rest_of_call(conversation: Conversation, state: TurnState, reply: ModelReply) -> None:
    """Note whether a reply without requests makes one together with the call that was cut off: it
    is no words for the user then."""
    is_wordy = not reply.compiled.requests and bool(state.open_call)
    joined = state.open_call + reply.raw
    state.is_rest_of_call = is_wordy and conversation.model.profile.is_call(joined)
    if state.is_rest_of_call:
        state.reply_text = ""
    else:
        state.open_call = reply.raw if reply.compiled.incomplete else ""


def release_reply(state: TurnState, reply: ModelReply, output: OutputFilter) -> Iterator[Event]:
    """Show what was held of a complete reply, unless it is to be sent again, or takes the place of
    an answer that is on the screen."""
    is_second = state.last_note is ModelNote.WRITE_OR_EXPLAIN
    state.is_withheld = is_second and not reply.compiled.requests
    is_answer = not (state.resend_note or state.is_rest_of_call)
    if is_answer and not (state.rejected_answer or state.is_withheld):
        yield from output.release()


def request_resend(conversation: Conversation, state: TurnState, reply: ModelReply) -> None:
    """Tell the model what breaks the format of its reply, which it has to send again."""
    conversation.history.add(Message("assistant", reply.raw))
    conversation.history.add(Message("user", state.resend_note, note=True))


def accept_answer(conversation: Conversation, state: TurnState, reply: ModelReply) -> bool:
    """Accept a reply without requests as the answer, or tell the model to go on and return False.

    It goes on where it was cut off, could not be read, says nothing, or only announces.
    """
    compiled = reply.compiled
    state.note_empty(compiled)
    if state.take_empty_retry():
        # It may have been a call that the server could not read: as text it would be seen.
        conversation.model.pause_native_tools()
        if not conversation.client.guided:
            return False
    partial = reply.cut_off or compiled.incomplete
    text, reasoning = compiled.text, compiled.reasoning
    conversation.history.add(Message("assistant", text, reasoning=reasoning, partial=partial))
    state.answer += state.reply_text
    if note := choose_note(conversation, state, reply):
        state.last_note = note
        conversation.history.add(Message("user", note, note=True))
        return False
    user, tools = conversation.history.user_request, conversation.model.profile.tools
    state.is_cut_off = partial
    is_whole_call = not partial and is_bare_call(reply.raw.strip(), user, tools)
    state.is_unreadable = bool(compiled.fault) or is_whole_call or state.is_rest_of_call
    state.unreadable_name = compiled.unreadable_name
    state.is_filtered = reply.finish == "content_filter"
    state.declined = reply.not_done
    return True


def choose_note(conversation: Conversation, state: TurnState, reply: ModelReply) -> str:
    """Choose the note on a reply that may not be the whole answer: a `ModelNote`, or a fault in
    words; nothing for one that is."""
    compiled = reply.compiled
    if compiled.fault and state.count_resend():
        state.end_paragraph()
        return compiled.fault
    if state.is_rest_of_call:
        return ModelNote.WRITE_AGAIN if state.count_resend() else ""
    if reply.cut_off or compiled.incomplete:
        if state.was_asked_to_continue:
            return ""
        state.was_asked_to_continue = True
        if not compiled.incomplete:
            return ModelNote.CONTINUE
        state.end_paragraph()
        return ModelNote.WRITE_AGAIN
    note = choose_nudge(conversation, state, reply)
    if note:
        state.announcement, state.answer = state.answer, ""
    return note


def choose_nudge(conversation: Conversation, state: TurnState, reply: ModelReply) -> str:
    """Choose the note, given once, on a reply that announces an action or shows a request without
    making it; nothing for any other reply."""
    if may_be_request(conversation, state, reply):
        return ModelNote.WRITE_OR_EXPLAIN
    return ModelNote.NUDGE if should_nudge(conversation, state, reply.raw) else ""


def may_be_request(conversation: Conversation, state: TurnState, reply: ModelReply) -> bool:
    """Tell whether an answer shows a request between its words, as many models do that mean it:
    then the model is told once to write it alone, or to answer without it."""
    is_first = not state.announcement and state.answer == state.reply_text
    shown = reply.compiled.shown_requests
    return bool(shown) and is_first and not asks_for_objects(conversation)


def should_nudge(conversation: Conversation, state: TurnState, written: str) -> bool:
    """Tell whether the answer only announces something, is one line about a file that nothing
    has looked at, or little but the name of a tool: then the model is told once to do it, or to
    say that it was the answer.

    One whose steps are chosen announces nothing, and would take that for the user's next wish.
    """
    if state.announcement or conversation.client.guided or state.answer != state.reply_text:
        return False
    if not conversation.model.profile.tools:
        return False
    user, tools = conversation.history.user_request, conversation.model.profile.tools
    if only_announces(user, state.answer, is_done=state.calls > 0):
        return True
    return is_bare_call(written.strip(), user, tools) or leaves_undone(conversation, state)


def leaves_undone(conversation: Conversation, state: TurnState) -> bool:
    """Tell whether one line that asks nothing ends with what is still to be done, or is about a
    file that nothing has looked at."""
    answer = state.answer
    if not is_short_line(answer) or asks_something(answer):
        return False
    is_unread = not has_used_tool(conversation) and bool(find_unread_files(conversation, answer))
    return is_unread or announces_change(conversation, answer)


def has_used_tool(conversation: Conversation) -> bool:
    """Tell whether a call of this turn was of a tool that there is."""
    return any(action.action for action in conversation.tools.turn_actions)


def announces_change(conversation: Conversation, reply: str) -> bool:
    """Tell whether a reply ends with what the speaker is going to do, to a file that it names or
    after mere looks: `I'll change it to Hello now.`"""
    new_actions = [action for action in conversation.tools.actions if not action.earlier]
    is_tried = any(action.effect not in LOOKS for action in new_actions)
    if is_tried or asks_something(conversation.history.user_request):
        return False
    return (bool(new_actions) or FILE.search(reply) is not None) and intends_action(reply)


def warn_of_unread(conversation: Conversation, answer: str) -> str:
    """Tell which files that the user named the model, which could have, did not look at: it
    answered with more than a question, without any tool, or tells of them what others hold.
    """
    may_call = conversation.model.profile.tools and not conversation.client.guided
    asks_back = is_short_line(answer) and asks_something(answer)
    if not (may_call and answer) or asks_back:
        return ""
    reason, find_unread = "No tool was used", find_unread_files
    if has_used_tool(conversation):
        reason, find_unread = "Only others were looked at", find_mistaken_files
    names = find_unread(conversation, answer)
    are = "was" if len(names) == 1 else "were"
    return f"{reason}: {' and '.join(names)} {are} neither read nor changed." if names else ""


MAX_EARLIER_MESSAGES = 500
"""Messages before a turn that are searched for names: no model is sent more of them."""


def collect_evidence(conversation: Conversation, state: TurnState) -> Evidence:
    """Collect what an answer may rest on: the results of this turn, what was said and found before
    it, the folder and the instructions, which the model knows too."""
    messages, start = conversation.history.messages, conversation.history.turn_start
    earlier = messages[max(0, start - MAX_EARLIER_MESSAGES) : start]
    known_texts = [message.content for message in earlier if message.role != "system"]
    known_texts += [str(conversation.folder), str(Path.home()), *conversation.instructions.texts()]
    user, attached = split_message(messages[start].content)
    if attached:  # it may be what a file holds that the user names
        known_texts.append(user)
    actions = tuple(conversation.tools.actions)
    return Evidence(tuple(state.results), user + attached, tuple(known_texts), actions)


async def doubt_announcement(conversation: Conversation, state: TurnState) -> AsyncIterator[Event]:
    """Say which deeds of the reply that is on the screen nobody did, as the model is told to do
    them: what it says and does next does not take that off the screen."""
    if state.last_note == ModelNote.NUDGE:
        claims = await find_claims(conversation, state, False, state.announcement)
        if deeds := [claim for claim in claims if claim.kind == "deed"]:
            yield doubt_claims(deeds)


def doubt_claims(claims: Sequence[Claim]) -> Event:
    texts = ", ".join(map(describe_claim, claims))
    warning = f"No result of a tool shows: {texts}. The model is asked once more."
    return events.Failed("warning", "grounding", warning)


async def find_claims(
    conversation: Conversation, state: TurnState, figures: bool, answer: str
) -> Sequence[Claim]:
    """Find what nothing supports in an answer; `figures` too, if so (R16).

    Of a model that each step is chosen for the answer is made of results.
    """
    if conversation.client.guided or not answer:
        return ()
    if state.subtype not in ("success", "error_permission"):
        return ()
    evidence = collect_evidence(conversation, state)
    # A long answer takes seconds, in which Ctrl-C, a signal and a time limit are obeyed.
    return await run_in_daemon_thread(partial(find_unsupported_claims, answer, evidence, figures))


async def find_final_claims(conversation: Conversation, state: TurnState) -> Sequence[Claim]:
    """Find what is marked in the answer: figures for those who ask, else those that the model
    repeats although it was told that nothing supports them: what it makes of others may be right.
    """
    if conversation.strict:
        return await find_claims(conversation, state, True, state.answer)
    doubted = state.doubted_figures
    claims = await find_claims(conversation, state, bool(doubted), state.answer)
    return [claim for claim in claims if not is_figure(claim) or list_digits(claim) in doubted]


async def request_rewrite(conversation: Conversation, state: TurnState) -> AsyncIterator[Event]:
    """Ask the model once to answer again without actions, names and precise figures that nothing
    supports (R16)."""
    # Where nothing was looked up now a figure may be known to everybody: the strict have it marked.
    has_figures = bool(state.results) and any(map(str.isdigit, state.answer))
    found = await find_claims(conversation, state, has_figures, state.answer)
    claims = [claim for claim in found if is_worth_asking(claim)]
    if claims:
        yield doubt_claims(claims)
        state.doubted_figures = frozenset(map(list_digits, filter(is_figure, claims)))
        conversation.history.add(Message("user", write_rewrite_request(claims), note=True))
        state.begin_rewrite(len(conversation.history.messages) - 1)


async def audit_answer(conversation: Conversation, state: TurnState) -> AsyncIterator[Event]:
    """Mark what is not supported beside the claim, in one look; nothing is taken out."""
    choose_final_answer(conversation, state)
    claims = await find_final_claims(conversation, state)
    state.unsupported = tuple(claim.text for claim in claims)
    final = conversation.sanitizer.clean(mark_claims(state.answer, claims))
    if leaks := conversation.sanitizer.find_leaks(state.answer):
        yield events.Audited(leaks=leaks)
    if state.rejected_answer or state.is_withheld or final != state.answer:
        state.answer = final
        yield events.Said("assistant", final)
    conversation.history.keep_audit(state.unsupported)
    if state.unsupported:
        yield events.Audited(state.unsupported)
    for warning in warn_beside_answer(conversation, state):
        yield warning
    _, attached = split_message(
        conversation.history.messages[conversation.history.turn_start].content
    )
    evidence, changes = collect_evidence(conversation, state), tuple(state.corrections)
    conversation.provenance = AnswerProvenance(
        state.answer, evidence, changes, state.unsupported, attached
    )


def choose_final_answer(conversation: Conversation, state: TurnState) -> None:
    """Choose among the answers of a turn; one that was asked for again leaves the history."""
    if state.rejected_answer:
        state.answer = state.answer or state.rejected_answer
        conversation.history.retract_answer(state.rewrite_position)
    if state.is_withheld:
        state.answer = state.answer or state.announcement


def warn_beside_answer(conversation: Conversation, state: TurnState) -> Iterator[Event]:
    """Warn of files, and parts of them, that were not looked at, and of what failed meanwhile."""
    if warning := warn_of_unread(conversation, state.answer):
        yield events.Failed("warning", "unread", warning)
    for part in find_unread_parts(conversation.tools.turn_actions, state.answer):
        yield events.Failed("warning", "unread", f"{part[:1].upper()}{part[1:]}.")
    for failure in conversation.background.take_failures():
        problem = f"Could not {failure.did}: {failure.problem or failure.content}"
        yield events.Failed("warning", "background", problem)


def finish_turn(conversation: Conversation, state: TurnState) -> Iterator[Event]:
    """Say what the answer does not, and end with the summary of the turn."""
    yield from [*settle_outcome(conversation, state), *conversation.history.report_log_problem()]
    conversation.model.end_turn(state.calls > 0)
    yield summarize_turn(conversation, state)


def settle_outcome(conversation: Conversation, state: TurnState) -> Iterator[Event]:
    """Decide how the turn ended, by the table of outcomes, and say what the answer does not."""
    state.answer = state.answer or state.announcement
    yield from conclude_from_results(conversation, state)
    state.not_done = (*conversation.tools.find_not_done(), *state.declined)
    if state.subtype == "success":
        state.end_as(find_shortcoming(state, conversation.strict))
    outcome = TURN_OUTCOMES[state.subtype]
    if outcome.sentence and state.error is None:
        kind = state.subtype.removeprefix("error_")
        outcome = explain_outcome(conversation, state, outcome)
        hint = fill_hint(outcome.hint, conversation.ways)
        state.error = events.Failed("error", kind, outcome.sentence, hint)
        yield state.error


def explain_outcome(
    conversation: Conversation, state: TurnState, outcome: TurnOutcome
) -> TurnOutcome:
    """Say of an outcome what is known of this turn beyond the table."""
    if state.subtype == "error_empty" and state.empty_reason:
        return outcome._replace(sentence=state.empty_reason)
    if state.subtype == "error_cut_off" and state.empty_reason == ONLY_THOUGHTS:
        return outcome if state.answer.strip() else THOUGHTS_CUT_OFF
    if state.subtype != "error_unreadable":
        return outcome
    outcome = outcome._replace(hint=conversation.model.advice)
    tool = conversation.registry.get(state.unreadable_name)
    if tool is None:
        return outcome
    return outcome._replace(sentence=f"The model's request to {tool.intent({})} cannot be read.")


def conclude_from_results(conversation: Conversation, state: TurnState) -> Iterator[Event]:
    """Say what was done and found, in the tools' own words, for a model that says nothing, or does
    the same again and again."""
    is_mute = not state.answer.strip() and state.empty_reason and state.subtype == "success"
    if not (is_mute or state.is_looping):
        return
    from andy_cli.models.inside.planning.replies.conclusion import ToldResult, conclude_all

    told = [
        ToldResult(content, action.did)
        for content, action in zip(state.results, conversation.tools.turn_actions, strict=False)
        if action.ok and action.did
    ]
    if told:
        yield state.append_paragraph(conversation.sanitizer.sanitize(conclude_all(told)))
        conversation.history.add(Message("assistant", state.answer))


def find_shortcoming(state: TurnState, strict: bool) -> events.Subtype:
    """Find the first thing that keeps a turn without errors from being a success."""
    # Who ends a turn by a call has perhaps said all by calls.
    says_nothing = not state.answer.strip() and not (state.ended_by_call and state.calls)
    shortcomings: tuple[tuple[events.Subtype, bool], ...] = (
        ("error_filtered", state.is_filtered),
        ("error_unreadable", state.is_unreadable),
        ("error_cut_off", state.is_cut_off),
        ("error_empty", says_nothing),
        ("error_not_done", strict and bool(state.not_done)),
        ("error_unsupported", strict and bool(state.unsupported)),
    )
    return next((subtype for subtype, is_so in shortcomings if is_so), "success")


def describe_error(state: TurnState) -> dict[str, str] | None:
    """Describe a failure for scripts; None where there is none."""
    if state.exit_code == 0:
        return None
    if state.error is not None:
        error = state.error
        return {"kind": error.kind, "message": error.message, "hint": error.hint}
    reasons = [str(action) for action in state.not_done]
    if state.subtype == "error_unsupported":
        reasons = [f"No result of a tool shows: {', '.join(state.unsupported)}"]
    message = "; ".join(reasons) or state.stop_reason or state.question or state.answer
    return {"kind": state.subtype.removeprefix("error_"), "message": message, "hint": ""}


def summarize_turn(conversation: Conversation, state: TurnState) -> events.Ended:
    """Make the last event of the turn."""
    usage, usage_before = conversation.model.usage, state.usage_before
    return events.Ended(
        subtype=state.subtype,
        is_error=state.exit_code != 0,
        result=state.answer,
        response=state.answer,
        session_id=conversation.session_id,
        num_turns=state.rounds,
        duration_ms=round((time.monotonic() - state.started) * 1000),
        exit_code=state.exit_code,
        usage={
            "input_tokens": usage.input_tokens - usage_before.input_tokens,
            "output_tokens": usage.output_tokens - usage_before.output_tokens,
        },
        permission_denials=tuple(state.denials),
        grounding={
            "status": "unsupported" if state.unsupported else "ok",
            "unsupported": list(state.unsupported),
        },
        not_done=tuple(action._asdict() for action in state.not_done),
        error=describe_error(state),
    )
