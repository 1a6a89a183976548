"""The state of one answer while the dialogue for it goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from andy_cli.compiler.bodies.constraint_schemas import call_constraint
from andy_cli.compiler.detect import NATIVE
from andy_cli.compiler.dialect import Tools
from andy_cli.frontends.serve.answers.streamed_calls import EarlyCall
from andy_cli.frontends.serve.upstream.sources import ReplySource
from andy_cli.frontends.serve.upstream.tool_catalogue import ToolCatalogue
from andy_cli.frontends.serve.upstream.tool_prompt import ToolPrompt
from andy_cli.frontends.serve.wires.answer_parts import Finish
from andy_cli.frontends.serve.wires.chat_request import ChatRequest
from andy_cli.messages import Constraint, Message, Request, TurnContext, Usage, Wire

MUST = "You must use one of the commands now; do not answer in words."
MUST_THIS = "You must use {} now; do not answer in words."
NOTHING_USED = Usage()


@dataclass(slots=True)
class ToolDialogue:
    """One answer while it is made."""

    chat_request: ChatRequest
    source: ReplySource
    tool_prompt: ToolPrompt
    thinks_first: set[str] = field(default_factory=set)
    """Models whose replies begin inside reasoning that the prompt opened, as far as was seen."""
    usage: Usage = NOTHING_USED
    side: list[Wire] = field(default_factory=list)
    """Messages to the model beside the client's history, and its replies to that."""
    repairs: tuple[str, ...] = ()
    said: bool = False
    """The client has seen text of this answer."""
    early_call: EarlyCall | None = None
    """None where it may not go on while it is written."""
    was_asked_about_shown: bool = False
    """The model was asked whether a request between its words was meant."""
    unsaid: list[str] = field(default_factory=list)
    """Words of the model instead of calls to use; if `said`, the client saw the first."""
    again: str = ""
    """The tool that is asked for once more, as the arguments that it was called with do not fit."""
    catalogue: ToolCatalogue | None = None
    """All tools of the request, where they are more than the model can read."""

    @property
    def begun_call(self) -> EarlyCall | None:
        """The first call, once its client knows of it."""
        early_call = self.early_call
        return early_call if early_call is not None and early_call.is_begun else None

    @property
    def results(self) -> list[str]:
        return [message.content for message in self.chat_request.history if message.role == "tool"]

    @property
    def must(self) -> bool:
        return self.chat_request.choice.how == "required"

    @property
    def demand(self) -> str:
        """The note for a model that had to call a tool and did not; empty if it need not."""
        if not self.must:
            return ""
        name = self.chat_request.choice.name
        return MUST_THIS.format(name) if name else MUST

    @property
    def due(self) -> str:
        """The one tool that has to be called now; nothing where it may be any."""
        return self.chat_request.choice.name or self.again

    @property
    def native(self) -> bool:
        """The model is given the tools themselves."""
        are_tools_wanted = bool(self.chat_request.tools) and self.chat_request.choice.how != "none"
        return are_tools_wanted and self.tool_prompt.dialect.name == NATIVE

    @property
    def callable_tools(self) -> Tools:
        """The tools that a reply may call: what is only named may be called too."""
        return self.catalogue.tools if self.catalogue else self.chat_request.tools

    @property
    def wanted_tools(self) -> Tools:
        """The tools of which the client gets a call, by its `tool_choice`."""
        choice = self.chat_request.choice
        tools = {**self.callable_tools, **self.chat_request.tools}
        if choice.how == "none":
            return {}
        return {choice.name: tools[choice.name]} if choice.name else tools

    @property
    def most_calls(self) -> int | None:
        """So many calls the client gets at most; None where there is no limit."""
        return None if self.chat_request.parallel else 1

    @property
    def fields(self) -> Mapping[str, object]:
        """The fields that are passed on; with native calls also what is wanted of them."""
        if not self.native:
            return self.chat_request.fields
        choice: dict[str, object] = {}
        if self.must or self.again:
            function = {"type": "function", "function": {"name": self.due}}
            choice["tool_choice"] = function if self.due else "required"
        if not self.chat_request.parallel:
            choice["parallel_tool_calls"] = False
        return {**self.chat_request.fields, **choice}

    def build_request(
        self, further_messages: Sequence[Wire] = (), constraint: Constraint | None = None
    ) -> Request:
        chat_request = self.chat_request
        may_call = chat_request.choice.how != "none"
        told_texts = [self.catalogue.tell_others()] if self.catalogue and may_call else []
        history = chat_request.history
        if self.source.guided:
            # A11 keeps words and not the call beside them; what is chosen next needs the call.
            history = tuple(
                message._replace(content="") if message.calls else message for message in history
            )
        else:  # a model that is chosen for needs no words for it
            told_texts.append(self.demand)
        further_text = "\n\n".join(filter(None, told_texts))
        messages = self.tool_prompt.render_messages(
            history, chat_request.parts, further_text, may_call
        )
        return Request(
            messages=(*messages, *self.side, *further_messages),
            tools=tuple(chat_request.tools.values()) if self.native else (),
            constraint=constraint,
            stop=self.tool_prompt.dialect.stop,
        )

    def add_usage(self, usage: Usage) -> None:
        self.usage = self.usage.plus(usage)

    def make_finish(self, reason: str, dialect: str = "") -> Finish:
        return Finish(reason, *self.usage, dialect=dialect, repairs=self.repairs)


def constrain_reply(dialogue: ToolDialogue) -> Constraint | None:
    """Constrain the next reply, for sources that can hold a model to it."""
    dialect = dialogue.tool_prompt.dialect
    choice = dialogue.chat_request.choice
    if not dialogue.source.guided:
        return constrain_free_reply(dialogue)
    results = collect_results(dialogue.chat_request.history)
    if choice.how == "none" and results:
        return Constraint(free_text=True, context=TurnContext(results=(*results,)))
    if not dialect.constraint or choice.how == "none":
        return None
    tools = dialogue.tool_prompt.tools
    base_constraint = dialect.constraint(
        {choice.name: tools[choice.name]} if choice.name else tools
    )
    if base_constraint.schema:
        return base_constraint
    earlier = dialogue.results[: len(dialogue.results) - len(results)]
    context = TurnContext(results=(*results,), earlier=(*earlier,))
    return base_constraint._replace(free_text=choice.how != "required", context=context)


def constrain_free_reply(dialogue: ToolDialogue) -> Constraint | None:
    """Constrain a model that writes by itself: words stay free unless a call is due."""
    chat_request, tool_prompt = dialogue.chat_request, dialogue.tool_prompt
    if dialogue.native or not chat_request.tools or chat_request.choice.how == "none":
        return None
    if dialogue.source.endpoint.model in dialogue.thinks_first:
        return None  # held to a call it could not think first
    tools = {dialogue.due: tool_prompt.tools[dialogue.due]} if dialogue.due else tool_prompt.tools
    is_call_due = dialogue.must or bool(dialogue.again)
    if tool_prompt.dialect.constraint is not None:
        return tool_prompt.dialect.constraint(tools, is_call_due)
    return call_constraint(tools) if is_call_due else None


def collect_results(history: Sequence[Message]) -> list[str]:
    """Collect what tools returned since the user spoke last."""
    results: list[str] = []
    for message in history:
        if message.role == "user":
            results = []
        elif message.role == "tool":
            results.append(message.content)
    return results
