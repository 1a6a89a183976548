"""The question to the user when the model could not put a request right: no word of tools (C16)."""

from collections.abc import Sequence

from andy_cli.agent.calls.request_resolution import read_parameters
from andy_cli.messages import Problem, Schema

UNKNOWN = "I have no way to do that. What would you like me to do instead?"


def ask_for_clarification(action: str, tool: Schema | None, problems: Sequence[Problem]) -> str:
    """Ask for what is missing or does not fit.

    `action`: what was to be done, in words; `tool` is None where there is none for it.
    """
    if tool is None or not problems:
        return UNKNOWN
    problem = problems[0]
    missing = describe_parameter(problem.path or problem.message, tool)
    if problem.rule == "required":
        return f"To {action} I still need to know {missing}. Could you tell me?"
    return f"To {action} I need to know {missing}, and what I have does not fit. What should it be?"


def describe_parameter(path: str, tool: Schema) -> str:
    """Describe a parameter by its description, else by its name as words."""
    name = path.split("/")[0]
    schema = read_parameters(tool).get("properties", {}).get(name, {})
    description = schema.get("description") if isinstance(schema, dict) else None
    if isinstance(description, str) and description.strip():
        return description.strip().rstrip(".?!")
    if not name.isidentifier():
        return "more"
    return "the " + name.replace("_", " ").strip()
