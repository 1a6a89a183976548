"""The limits on the next reply of a dialogue, for models that can be held to them."""

from collections.abc import Sequence

from andy_cli.compiler.bodies.constraint_schemas import call_constraint
from andy_cli.frontends.serve.answers.dialogue_state import ToolDialogue
from andy_cli.messages import Constraint, Message, TurnContext


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
    earlier = collect_results(dialogue.chat_request.history, everything=True)
    allows_text = choice.how != "required"
    earlier_results = earlier[: len(earlier) - len(results)]
    context = TurnContext(results=(*results,), earlier=(*earlier_results,))
    return base_constraint._replace(free_text=allows_text, context=context)


def constrain_free_reply(dialogue: ToolDialogue) -> Constraint | None:
    """The same for a model that writes by itself: words stay free unless a call is due."""
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


def collect_results(history: Sequence[Message], everything: bool = False) -> list[str]:
    """Collect what tools returned since the user spoke last, or `everything` that they did."""
    start = (
        0
        if everything
        else max(
            (position for position, message in enumerate(history) if message.role == "user"),
            default=0,
        )
    )
    return [message.content for message in history[start:] if message.role == "tool"]
