"""Tool calls from a model that has none: the dialogue with the model that no client ever sees.

The model is taught a notation in its prompt; what it writes in it becomes the calls of the answer.
Where it leaves parameters open it is asked for them (A16 to A20); what does not fit is corrected,
or told to it once. Nothing is run and nothing is kept: the dialogue lives inside the request.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence

from andy_cli.agent.calls.tool_runner import WRITE_ALONE
from andy_cli.agent.model.reply import ModelReply, exchange, may_run_calls
from andy_cli.agent.prompt.shortlist import DESCRIBE
from andy_cli.compiler.compiler import Visible
from andy_cli.errors import ModelError
from andy_cli.frontends.serve.answers.dialogue_constraints import constrain_reply
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.frontends.serve.answers.early_call import EarlyCall, OpenCallReader
from andy_cli.frontends.serve.answers.reply_understanding import (
    WORDS,
    UnderstoodReply,
    find_in_reasoning,
    make_reader,
    understand_reply,
)
from andy_cli.frontends.serve.upstream.sources import ReplySource
from andy_cli.frontends.serve.upstream.tool_catalogue import ToolCatalogue
from andy_cli.frontends.serve.upstream.tool_prompt import ToolPrompt, make_tool_prompt
from andy_cli.frontends.serve.wires.answer_parts import (
    AnswerPart,
    ApiError,
    CompletedCall,
    Finish,
    ReasoningDelta,
    TextDelta,
    TextRetracted,
)
from andy_cli.frontends.serve.wires.chat_request import ChatRequest

MAX_TRIES = 3
"""Replies that are asked for until one can be used."""
LOOK_UPS = 2
"""Replies more where tools can be looked up."""
UNREADABLE = "Your call could not be read whole, so nothing was done. Write it again."
LOOKED_UP = "These tools are described now: {}. Go on."


async def stream_answer(
    chat_request: ChatRequest,
    source: ReplySource,
    tool_prompt: ToolPrompt,
    thinks_first: set[str],
    streams_call: Callable[[str], bool],
    catalogue: ToolCatalogue | None = None,
) -> AsyncGenerator[AnswerPart | TextRetracted, None]:
    """The answer, in pieces as it is made. Raises ApiError.

    `streams_call`: whether the client can be shown a call of this tool while it is written.
    """
    dialogue = ToolDialogue(chat_request, source, tool_prompt, thinks_first, catalogue=catalogue)
    dialogue.early_call = make_early_call(dialogue, streams_call)
    async for answer_part in continue_dialogue(dialogue):
        yield answer_part


def make_early_call(
    dialogue: ToolDialogue, streams_call: Callable[[str], bool]
) -> EarlyCall | None:
    """Make the reader that shows a call while it is written; None where it must be whole."""
    chat_request = dialogue.chat_request
    if (
        not (chat_request.stream and chat_request.tools)
        or chat_request.choice.how == "none"
        or dialogue.source.guided
    ):
        return None
    names = [chat_request.choice.name] if chat_request.choice.name else chat_request.tools
    tools = {
        name: chat_request.tools[name] for name in names if name != DESCRIBE and streams_call(name)
    }
    return EarlyCall(tools, dialogue.results)


async def continue_dialogue(
    dialogue: ToolDialogue, tries: int = MAX_TRIES
) -> AsyncGenerator[AnswerPart | TextRetracted, None]:
    """Ask until a reply can be used, and yield the answer; some of it may be said already."""
    async for answer_part in exchange(DialogueAsker(dialogue, tries)):
        yield answer_part


class DialogueAsker:
    """Asks the model for one answer (agent/model/reply.py), at most so many times."""

    def __init__(self, dialogue: ToolDialogue, tries: int) -> None:
        self._dialogue = dialogue
        # A model that is chosen for takes a note of ours for the user's words, and what it is told
        # to say is the same each time.
        replies = 1 if dialogue.source.guided else tries
        self._tries_left = replies + LOOK_UPS * (dialogue.catalogue is not None)
        self._is_answered = False
        self._reader = make_reader(dialogue)
        self._silent = self._is_silent
        """The client is shown no words of the reply that was asked for."""
        self._behind: list[AnswerPart] = []
        """Words after a call that is being written: its client gets one after the other."""

    def begin_round(self) -> bool:
        self._tries_left -= 1
        return not self._is_answered

    @property
    def _is_last(self) -> bool:
        return self._tries_left == 0

    @property
    def _is_silent(self) -> bool:
        """A reply is wanted without words: what was said is not said again in others."""
        return self._dialogue.said or (self._dialogue.must and not self._is_last)

    async def ask(self) -> ModelReply:
        dialogue = self._dialogue
        self._silent, self._reader = self._is_silent, make_reader(dialogue)
        request = dialogue.build_request(constraint=constrain_reply(dialogue))
        return ModelReply(
            dialogue.source.reply(request, dialogue.fields), self._reader, raw_limit=MAX_CHARACTERS
        )

    async def show(self, reply: ModelReply) -> AsyncIterator[AnswerPart | TextRetracted]:
        async for answer_part in stream_words(self._dialogue, reply, self._silent, self._reader):
            if isinstance(answer_part, TextDelta | ReasoningDelta) and self._dialogue.begun_call:
                self._behind.append(answer_part)
            else:
                yield answer_part
        note_reply(self._dialogue, reply, self._silent)

    async def recover(self, error: ModelError) -> AnswerPart | TextRetracted:
        raise error  # what a server refused is an ApiError here, and goes to the client

    async def use(self, reply: ModelReply) -> AsyncIterator[AnswerPart | TextRetracted]:
        dialogue = self._dialogue
        understood = await find_requests(dialogue, reply)
        note = choose_note(dialogue, understood, reply)
        if note and not (understood.calls or self._is_last):
            ask_again(dialogue, understood, reply.raw, note)
            return
        self._is_answered = True
        calls = complete_calls(dialogue, understood, reply, self._is_last)
        answer_parts = [*closing_pieces(dialogue, understood, calls, self._behind)]
        are_whole = any(call.is_whole for call in calls)
        finish = end_answer(dialogue, reply, understood.dialect, are_whole)
        if note and finish.reason == "stop" and not (answer_parts or dialogue.said):
            raise useless_error(note)
        for answer_part in answer_parts:
            yield answer_part
        yield finish


def choose_note(dialogue: ToolDialogue, understood: UnderstoodReply, reply: ModelReply) -> str:
    """Choose what the model is told of a reply that may not do; else nothing."""
    note = understood.note or dialogue.unmet_demand
    if not note and shows_request(dialogue, reply):
        note, dialogue.was_asked_about_shown = WRITE_ALONE, True
    return note


def shows_request(dialogue: ToolDialogue, reply: ModelReply) -> bool:
    """Tell whether the first reply shows a request between its words, as many models do that mean
    it; the model is told once to write it alone."""
    is_first = not dialogue.side and dialogue.chat_request.choice.how != "none"
    return is_first and dialogue.said and bool(reply.compiled.shown_requests)


def useless_error(note: str) -> ApiError:
    """The error of an answer that would say nothing. `note`: what the model was told, in vain."""
    message = f"The model gave no answer that can be used. It was told: {note}"
    return ApiError(502, message, "upstream_error")


def end_answer(dialogue: ToolDialogue, reply: ModelReply, dialect: str, calls: bool) -> Finish:
    if calls:
        return dialogue.make_finish("tool_calls", dialect)
    stopped_at = find_stop_sequence(dialogue.chat_request, reply)
    return dialogue.make_finish(find_finish_reason(reply))._replace(stopped_at=stopped_at)


async def find_requests(dialogue: ToolDialogue, reply: ModelReply) -> UnderstoodReply:
    """Find what a reply asks for; the tools that it looks up are told to it on the side."""
    compiled, reply_text = find_in_reasoning(dialogue, reply)
    understood = await understand_reply(dialogue, compiled, reply_text)
    if compiled.incomplete and may_run_calls(reply.finish) and not understood.note:
        note = WORDS if dialogue.chat_request.choice.how == "none" else UNREADABLE
        understood = understood._replace(note=note)
    return (
        await look_up_tools(dialogue, dialogue.catalogue, understood)
        if dialogue.catalogue
        else understood
    )


def ask_again(
    dialogue: ToolDialogue, understood: UnderstoodReply, reply_text: str, note: str
) -> None:
    """Put a reply that cannot be used on the side, and what is wrong with it after it."""
    if dialogue.begun_call:
        dialogue.begun_call.note_invalid_calls(understood.invalid_calls)
    dialogue.again = next((call.name for call in understood.invalid_calls), "")
    dialogue.side += [
        {"role": "assistant", "content": reply_text.strip() or "..."},
        {"role": "user", "content": note},
    ]


async def look_up_tools(
    dialogue: ToolDialogue, catalogue: ToolCatalogue, understood: UnderstoodReply
) -> UnderstoodReply:
    """Show the model the tools that its reply looks up; the client's calls are left."""
    wanted_words = [
        json.loads(call.arguments)["what"] for call in understood.calls if call.name == DESCRIBE
    ]
    calls = tuple(call for call in understood.calls if call.name != DESCRIBE)
    wanted_words += [call.name for call in understood.invalid_calls]
    if not wanted_words:
        return understood
    names = await catalogue.look_up(wanted_words)
    shortened = catalogue.shorten_request(dialogue.chat_request)
    dialogue.chat_request = shortened
    dialogue.tool_prompt = make_tool_prompt(dialogue.tool_prompt.dialect, shortened.tools)
    note = understood.note or LOOKED_UP.format(", ".join(names))
    return understood._replace(calls=calls, note=note)


def note_reply(dialogue: ToolDialogue, reply: ModelReply, silent: bool) -> None:
    """Note what a reply said, and how; `silent`: its client saw none of its words."""
    dialogue.add_usage(reply.usage)
    if reply.compiled.thought_first:
        dialogue.thinks_first.add(dialogue.source.endpoint.model)
    words = reply.compiled.text.strip()
    if silent:
        dialogue.unsaid.append(words)
    elif dialogue.said:
        dialogue.unsaid = [words]


MAX_CHARACTERS = 2**25
"""Characters of a reply: what is quoted in it is looked up."""


def complete_calls(
    dialogue: ToolDialogue, understood: UnderstoodReply, reply: ModelReply, is_last: bool
) -> tuple[CompletedCall, ...]:
    """Choose the calls of the answer; the one that has begun is among them. Raises ApiError."""
    calls = understood.choose_calls(is_last)
    if not dialogue.begun_call:
        return calls
    cut_off = find_finish_reason(reply) != "stop"
    completed = dialogue.begun_call.complete_calls(calls, understood.invalid_calls, cut_off)
    return completed[: dialogue.most_calls]


def closing_pieces(
    dialogue: ToolDialogue,
    understood: UnderstoodReply,
    calls: tuple[CompletedCall, ...],
    held_parts: Sequence[AnswerPart],
) -> Iterator[AnswerPart]:
    """The calls, and what of the answer was not said while it came."""
    words = [*held_parts, *map(TextDelta, closing_words(dialogue, understood))]
    yield from (*calls, *words) if dialogue.begun_call else (*words, *calls)


def closing_words(dialogue: ToolDialogue, understood: UnderstoodReply) -> Iterator[str]:
    """Find the words of an answer that were not said while it came."""
    yield from understood.shown
    if understood.calls or understood.invalid_calls:
        return
    words = list(dict.fromkeys(filter(None, dialogue.unsaid)))
    if dialogue.was_asked_about_shown:
        return  # the first reply was the answer, and is said
    if dialogue.said:
        yield from (f"\n\n{text}" for text in words[1:])
    elif not understood.shown:
        # Nothing else was said: what looked like a call, and named no tool, was the answer.
        yield from understood.foreign or words[-1:]


def list_visible_parts(
    dialogue: ToolDialogue, visible: Visible, silent: bool
) -> Iterator[AnswerPart | TextRetracted]:
    if not dialogue.side:
        if visible.retracted:
            yield TextRetracted()
        if visible.reasoning:
            yield ReasoningDelta(visible.reasoning)
    if visible.text and not silent:
        dialogue.said = True
        yield TextDelta(visible.text)


async def stream_words(
    dialogue: ToolDialogue, reply: ModelReply, silent: bool, reading: OpenCallReader
) -> AsyncIterator[AnswerPart | TextRetracted]:
    """Yield what may be shown of a reply as it comes; `silent`: words were not asked for.

    `reading` is who reads the reply.
    """
    failure: ApiError | None = None
    try:
        async for visible in reply:
            for visible_part in list_visible_parts(dialogue, visible, silent):
                yield visible_part
            if dialogue.early_call and (call_delta := dialogue.early_call.read_more(reading)):
                yield call_delta
    except ApiError as api_error:
        failure = api_error
    if failure is not None:
        held_back = reply.rest.text if dialogue.said and not silent else ""
        if held_back:
            yield TextDelta(held_back)
        raise failure


def find_finish_reason(reply: ModelReply) -> str:
    """Why the reply ended, as far as the client may know: a call that was cut off is no call."""
    if reply.finish in ("length", "content_filter"):
        return reply.finish
    return "stop"


def find_stop_sequence(chat_request: ChatRequest, reply: ModelReply) -> str:
    """The stop sequence that ended it, if the client gave it: notations have some of their own."""
    given_stop = chat_request.fields.get("stop")
    own_sequences = given_stop if isinstance(given_stop, list) else [given_stop]
    return reply.stopped_at if reply.stopped_at in own_sequences else ""
