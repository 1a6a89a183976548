"""The prompt by which one model is told of a client's tools, and the reading of its replies.

Made from the request alone; the same tools and dialect give the same, so the last ones are kept.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.history.history import pair_results
from andy_cli.agent.prompt.system_prompt import render_tool_prompt
from andy_cli.compiler.compiler import Compiler, Opened
from andy_cli.compiler.detect import NATIVE
from andy_cli.compiler.dialect import Dialect, Tools, dialects_by_name
from andy_cli.compiler.ids import rename_call_ids
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.library import markers_for
from andy_cli.compiler.mapper.json_schema import add_aliases, render_provider_schema
from andy_cli.messages import Message, Wire

DIALECTS: Mapping[str, Dialect] = dialects_by_name()


@dataclass(frozen=True)
class ToolPrompt:
    dialect: Dialect
    tools: Tools

    @cached_property
    def markers(self) -> Markers:
        return markers_for(tuple(add_aliases(self.tools)), self.dialect.name)

    @cached_property
    def lesson(self) -> str:
        return render_tool_prompt(
            self.dialect, {name: render_provider_schema(tool) for name, tool in self.tools.items()}
        )

    def make_compiler(
        self,
        plain_spans: Collection[tuple[int, int]] = (),
        wants_code: bool = False,
        reasoning_opened: Opened = "",
    ) -> Compiler:
        return Compiler(
            self.markers,
            self.tools,
            reasoning_opened,
            plain_spans=plain_spans,
            wants_code=wants_code,
            keeps_objects=self.dialect.name == NATIVE,  # passed on as they are
        )

    def render_messages(
        self,
        history: Sequence[Message],
        kept_parts: Mapping[str, object],
        further_text: str = "",
        teach: bool = True,
    ) -> tuple[Wire, ...]:
        """The history as the model reads it: the lesson once, in the system message (A4).

        Unless it shall not `teach`, since no tool may be used now.
        """
        told_messages = [_escape_result(message) for message in history if message.role != "system"]
        system = "\n\n".join(message.content for message in history if message.role == "system")
        if teach and self.lesson and self.lesson not in system:
            system = "\n\n".join(filter(None, [system, self.lesson]))
        system = "\n\n".join(filter(None, [system, further_text]))
        head = [Message("system", system)] if system else []
        wires = self.dialect.render(
            rename_call_ids(pair_results([*head, *told_messages]), self.dialect.id_form)
        )
        return tuple(_restore_parts(wire_message, kept_parts) for wire_message in wires)


def _escape_result(message: Message) -> Message:
    """Results are data: what would be a marker in them is broken (P9)."""
    if message.role != "tool":
        return message
    return message._replace(content=escape_control_tokens(message.content))


def _restore_parts(wire_message: Wire, kept_parts: Mapping[str, object]) -> Wire:
    content = wire_message.get("content")
    if not kept_parts or not isinstance(content, str) or "\ufdd0" not in content:
        return wire_message
    content_parts: list[Any] = []
    marks = "|".join(map(re.escape, kept_parts))
    for text in re.split(f"({marks})", content):
        if text in kept_parts:
            content_parts.append(kept_parts[text])
        elif text.strip():
            content_parts.append({"type": "text", "text": text.strip("\n")})
    return {**wire_message, "content": content_parts}


@lru_cache(maxsize=64)
def _cached_prompt(dialect: str, tools: str) -> ToolPrompt:
    return ToolPrompt(DIALECTS[dialect], json.loads(tools))


def make_tool_prompt(dialect: Dialect, tools: Tools) -> ToolPrompt:
    return _cached_prompt(dialect.name, json.dumps(tools))
