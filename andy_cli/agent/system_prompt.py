"""The system prompt: the rules of the house, and the lesson of the dialect."""

from datetime import date
from pathlib import Path
from string import Template

from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.messages import ToolRequest
from andy_cli.resources import bundled


def system_prompt(dialect: Dialect, tools: Tools, folder: Path, today: date) -> str:
    """Both as one text; the lesson is left out when the dialect has none or there is no tool."""
    rules = template("system").substitute(folder=folder, date=today.isoformat())
    return "\n\n".join(filter(None, [rules.strip(), lesson(dialect, tools)]))


def lesson(dialect: Dialect, tools: Tools) -> str:
    if not (dialect.lesson and tools):
        return ""
    slots = {"tools": dialect.catalogue(tools), "example": example(dialect, tools)}
    return template(dialect.lesson).substitute(slots).strip()


def example(dialect: Dialect, tools: Tools) -> str:
    """How the dialect writes a call of the first tool, with stand-ins for its required values."""
    name, tool = next(iter(tools.items()))
    schema = tool["function"].get("parameters") or {}
    properties = schema.get("properties") or {}
    arguments = {each: f"<{each}>" for each in schema.get("required") or properties}
    return dialect.write(ToolRequest(name=name, arguments=arguments))


def template(name: str) -> Template:
    return Template((bundled("prompts") / f"{name}.txt").read_text(encoding="utf-8"))
