"""Strict alternation: user, assistant, user, assistant - the one place that makes it so (R1).

Many chat templates refuse two messages of one role in a row, an empty assistant message, or a
conversation that the assistant opens.
"""

from collections.abc import Iterable

from andy_cli.messages import Wire


def alternate_roles(messages: Iterable[Wire]) -> list[Wire]:
    """Messages with a role and a text, so merged that roles alternate after an optional system.

    Neighbours of one role are joined by a blank line, empty assistant messages are dropped, and
    assistant messages before the first user message are dropped.
    """
    system_texts: list[str] = []
    turns: list[tuple[str, str]] = []
    for message in messages:
        role, content = str(message["role"]), str(message["content"])
        if role == "system":
            system_texts.append(content)
        elif role == "assistant" and (not content.strip() or not turns):
            continue
        elif turns and turns[-1][0] == role:
            turns[-1] = (role, f"{turns[-1][1]}\n\n{content}")
        else:
            turns.append((role, content))
    system_turn = [("system", "\n\n".join(system_texts))] if system_texts else []
    return [{"role": role, "content": content} for role, content in [*system_turn, *turns]]
