"""A conversation that leaves marks: a tool that notes in a file each time it really runs.

Told `Mark 6 times`, the scripted model calls `mark` with 1, 2, ... 6 and then ends its turn. It
counts on from the results it is shown, or as it is told: `Mark 1 times from 700`. All texts and ids
differ, so that one that is there twice has been doubled.
"""

import json
from pathlib import Path

from tests.model_server import Answer, Received, event, raw, status

ANSWER = "That is all for turn"
TOOL = '''
"""Note that something happened."""

import os

from andy_cli.toolbox.tool import Outcome, tool


@tool(effect="write", action="mark {number}")
def mark(number: int) -> Outcome:
    """Mark a number"""
    marks = os.open(os.environ["MARKS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(marks, f"{number}\\n".encode())
    os.close(marks)
    return Outcome(f"marked {number}", f"marked {number}")
'''


def install_mark_tool(config: Path) -> None:
    """Bring the tool into a configuration folder."""
    (config / "tools").mkdir(parents=True)
    (config / "tools" / "mark.py").write_text(TOOL, encoding="utf-8")


def call_id(number: int) -> str:
    return f"call{number:05}"


def answer_request(received: Received) -> Answer:
    """What the model says to a request: the next mark, or the end of the turn."""
    messages = received.body["messages"]
    roles = [message["role"] for message in messages]
    asked = len(roles) - 1 - roles[::-1].index("user")
    _, wanted, _, *start = messages[asked]["content"].split()
    done = roles[asked:].count("tool")
    if done >= int(wanted):
        return spoken(f"{ANSWER} {roles.count('user')}.")
    first = int(start[1]) if start[:1] == ["from"] else roles[:asked].count("tool") + 1
    number = first + done
    function = {"name": "mark", "arguments": json.dumps({"number": number})}
    call = {"index": 0, "id": call_id(number), "type": "function", "function": function}
    words = event({"content": f"Step {number} of many."})
    return [status(), words, event({"tool_calls": [call]}), event({}, "tool_calls"), DONE]


DONE = raw("data: [DONE]\n\n")


def spoken(text: str) -> Answer:
    pieces = [event({"content": text[at : at + 8]}) for at in range(0, len(text), 8)]
    return [status(), *pieces, event({}, "stop"), DONE]
