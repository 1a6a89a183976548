"""Render the system prompt: the rules of the house, and how the dialect calls tools."""

from datetime import date
from pathlib import Path
from string import Template

from andy_cli.agent.prompt.example_arguments import make_example_arguments
from andy_cli.agent.prompt.instructions import NO_INSTRUCTIONS, Instructions
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.messages import ToolRequest
from andy_cli.resources import bundled_folder


def render_system_prompt(
    dialect: Dialect,
    tools: Tools,
    folder: Path,
    today: date,
    instructions: Instructions = NO_INSTRUCTIONS,
) -> str:
    """Render both as one text; tools are left out when the dialect does not teach them."""
    rules = load_prompt("system").substitute(folder=folder, date=today.isoformat())
    return "\n\n".join(
        filter(None, [instructions.wrap_rules(rules), render_tool_prompt(dialect, tools)])
    )


def render_tool_prompt(dialect: Dialect, tools: Tools) -> str:
    """Teach the tools in the notation of the dialect; nothing where it has no lesson or no tool."""
    if not (dialect.prompt_template and tools):
        return ""
    slots = {"tools": dialect.render_tools(tools), "example": render_example_call(dialect, tools)}
    return load_prompt(dialect.prompt_template).substitute(slots).strip()


def render_example_call(dialect: Dialect, tools: Tools) -> str:
    """Write a call in the dialect: of the first tool that example arguments are sure to fit."""
    for name, tool in tools.items():
        arguments = make_example_arguments(tool["function"].get("parameters") or {})
        if arguments is not None:
            return dialect.write(ToolRequest(name=name, arguments=arguments))
    return dialect.write(ToolRequest(name=next(iter(tools)), arguments={}))


def load_prompt(name: str) -> Template:
    return Template((bundled_folder("prompts") / f"{name}.txt").read_text(encoding="utf-8"))
