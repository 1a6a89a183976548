"""Tools that are no functions, as functions of the chat API.

One that a model knows without being told gets a description and parameters; one that takes a text
and no arguments has that text as its one parameter.
"""

import json
from collections.abc import Mapping

from andy_cli.agent.calls.request_resolution import read_parameters
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.messages import Arguments, Schema

INPUT = "input"


def freeform_parameters(syntax: object = None, grammar: str = "") -> dict[str, object]:
    """`grammar` is what the text has to follow."""
    text_schema = {"type": "string"}
    if grammar:
        text_schema["description"] = f"the whole text, by this grammar ({syntax}):\n{grammar}"
    return {"type": "object", "properties": {INPUT: text_schema}, "required": [INPUT]}


def function_schema(
    about: str, required: str, **properties: Mapping[str, object]
) -> Mapping[str, object]:
    """The description and parameters of a function; `required` are names with blanks between."""
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return {"description": about, "parameters": parameters}


def freeform_arguments(text: str) -> dict[str, object]:
    return {INPUT: text}


def fit_freeform_arguments(arguments: Arguments, tool: Schema) -> Arguments:
    """Give the one text of a call to a tool that takes one text, whatever the model calls it."""
    parameters = read_parameters(tool)
    takes_text = [*parameters.get("properties", ())] == parameters.get("required") == [INPUT]
    texts = [value for value in arguments.values() if isinstance(value, str)]
    is_one_text = len(texts) == len(arguments) == 1
    return freeform_arguments(texts[0]) if takes_text and is_one_text else arguments


def read_freeform_text(arguments: Arguments | Mapping[str, object]) -> str:
    """Read the text that such a tool is called with. Raises ApiError where there is none."""
    value = arguments.get(INPUT)
    if value is None:
        message = "The model called a tool that takes a text without that text."
        raise ApiError(502, message, "upstream_error")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
