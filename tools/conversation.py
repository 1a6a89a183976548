"""Tools to say something and to end a turn, where everything is a call; carried out by the turn."""

from typing import Annotated

from andy_cli.toolbox.tool import ToolError, parameter, tool

Content = Annotated[
    str,
    parameter("what the user is to read, in Markdown", aliases=["text", "message", "markdown"]),
]
NO_STEP = "This is no step of its own."
ADVICE = "Write what the user is to read as your answer."


@tool(effect="protocol", title="chat", action="say something")
def send_chat(content: Content) -> None:
    """Show a text to the user."""
    raise ToolError(NO_STEP, ADVICE)


@tool(effect="protocol", title="end of the turn", action="end the turn")
def end_turn() -> None:
    """End your turn; the only thing that does."""
    raise ToolError(NO_STEP, ADVICE)
