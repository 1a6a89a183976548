"""Write calls in every frame with every body: what a careless model mixes up.

A frame says where a call begins and ends, a body how the arguments are written. Most pairs belong
to no notation, and all of them occur.
"""

import html
import json
from collections.abc import Callable, Mapping
from typing import NamedTuple

Arguments = Mapping[str, object]


class Frame(NamedTuple):
    name: str
    write: Callable[[str, str], str]
    """(name of the tool, body) -> the call."""


def plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_kwargs(arguments: Arguments) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


def elements(opened: str, closed: str) -> Callable[[str, Arguments], str]:
    def write(name: str, arguments: Arguments) -> str:
        return "\n".join(
            opened.replace("KEY", key) + plain(value) + closed.replace("KEY", key)
            for key, value in arguments.items()
        )

    return write


BODIES: Mapping[str, Callable[[str, Arguments], str]] = {
    "json": lambda name, arguments: json.dumps(arguments, ensure_ascii=False),
    "indented json": lambda name, arguments: json.dumps(arguments, indent=2),
    "whole call": lambda name, arguments: json.dumps({"name": name, "arguments": arguments}),
    "call with parameters": lambda name, arguments: json.dumps(
        {"name": name, "parameters": arguments}
    ),
    "escaped json": lambda name, arguments: json.dumps(arguments).replace('"', '\\"'),
    "fenced json": lambda name, arguments: f"```json\n{json.dumps(arguments)}\n```",
    "parameter=": elements("<parameter=KEY>\n", "\n</parameter>"),
    "parameter name": elements('<parameter name="KEY">', "</parameter>"),
    "param=": elements("<param=KEY>", "</param>"),
    "param name": elements('<param name="KEY">', "</param>"),
    "children": elements("<KEY>", "</KEY>"),
    "wrapped children": lambda name, arguments: (
        f"<parameters>{elements('<KEY>', '</KEY>')(name, arguments)}</parameters>"
    ),
    "pairs": elements("<arg_key>KEY</arg_key>\n<arg_value>", "</arg_value>"),
    "self-closing": lambda name, arguments: "".join(
        f'<parameter name="{key}" value="{html.escape(plain(value))}"/>'
        for key, value in arguments.items()
    ),
    "colons": lambda name, arguments: "\n".join(
        f"{key}: {plain(value)}" for key, value in arguments.items()
    ),
    "equals": lambda name, arguments: "\n".join(
        f"{key} = {plain(value)}" for key, value in arguments.items()
    ),
    "kwargs": lambda name, arguments: as_kwargs(arguments),
    "bracketed kwargs": lambda name, arguments: f"({as_kwargs(arguments)})",
}
"""How arguments are written."""

NAMED = [
    Frame("function=", lambda name, body: f"<function={name}>\n{body}\n</function>"),
    Frame("function name", lambda name, body: f'<function name="{name}">{body}</function>'),
    Frame("invoke", lambda name, body: f'<invoke name="{name}">\n{body}\n</invoke>'),
    Frame(
        "qwen3_coder",
        lambda name, body: f"<tool_call>\n<function={name}>\n{body}\n</function>\n</tool_call>",
    ),
    Frame(
        "anthropic_xml",
        lambda name, body: (
            f'<function_calls>\n<invoke name="{name}">\n{body}\n</invoke>\n</function_calls>'
        ),
    ),
    Frame(
        "minimax_m2",
        lambda name, body: (
            f'<minimax:tool_call>\n<invoke name="{name}">\n{body}\n</invoke>\n</minimax:tool_call>'
        ),
    ),
    Frame(
        "seed_oss",
        lambda name, body: (
            f"<seed:tool_call>\n<function={name}>\n{body}\n</function>\n</seed:tool_call>"
        ),
    ),
    Frame(
        "deepseek_dsml",
        lambda name, body: (
            f'<｜DSML｜function_calls>\n<｜DSML｜invoke name="{name}">\n{body}\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
        ),
    ),
    Frame(
        "dots",
        lambda name, body: (
            f'<dots_function_call>\n<invoke name="{name}">\n{body}\n'
            "</invoke>\n</dots_function_call>"
        ),
    ),
    Frame(
        "step3",
        lambda name, body: (
            "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
            f'<steptml:invoke name="{name}">{body}</steptml:invoke>'
            "<｜tool_call_end｜><｜tool_calls_end｜>"
        ),
    ),
    Frame("glm", lambda name, body: f"<tool_call>{name}\n{body}\n</tool_call>"),
    Frame("longcat", lambda name, body: f"<longcat_tool_call>{name}\n{body}\n</longcat_tool_call>"),
    Frame(
        "hy_v3",
        lambda name, body: (
            f"<tool_calls>\n<tool_call>{name}<tool_sep>\n{body}\n</tool_call>\n</tool_calls>"
        ),
    ),
    Frame(
        "kimi_k2",
        lambda name, body: (
            f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0"
            f"<|tool_call_argument_begin|>{body}<|tool_call_end|><|tool_calls_section_end|>"
        ),
    ),
    Frame(
        "deepseek_v31",
        lambda name, body: (
            f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{body}"
            "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        ),
    ),
    Frame(
        "kimi_k3",
        lambda name, body: (
            f'<|open|>tools<|sep|><|open|>call tool="{name}" index="1"<|sep|>{body}'
            "<|close|>call<|sep|><|close|>tools<|sep|>"
        ),
    ),
    Frame("lfm2", lambda name, body: f"<|tool_call_start|>{name}{body}<|tool_call_end|>"),
    Frame("named tag", lambda name, body: f"<tool_use><{name}>{body}</{name}></tool_use>"),
]
"""Frames that hold the name of the tool themselves."""
