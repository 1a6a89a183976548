"""The prompt by which one model is told of a client's tools, and the reading of its replies.

Made from the request alone; the same tools and dialect give the same, so the last ones are kept.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.agent.history.result_pairing import pair_results
from andy_cli.agent.prompt.system_prompt import render_tool_prompt
from andy_cli.compiler.compiler import Compiler, Opened
from andy_cli.compiler.detect import NATIVE
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.ids import rename_call_ids
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.compiler.library import dialects_by_name, markers_for
from andy_cli.compiler.mapper.provider_schema import render_provider_schema
from andy_cli.messages import Message, Wire

DIALECTS: Mapping[str, Dialect] = dialects_by_name()


@dataclass(frozen=True)
class ToolPrompt:
    dialect: Dialect
    tools: Tools

    @cached_property
    def markers(self) -> Markers:
        return markers_for(tuple(self.tools), self.dialect.name)

    @cached_property
    def lesson(self) -> str:
        return render_tool_prompt(
            self.dialect, {name: render_provider_schema(tool) for name, tool in self.tools.items()}
        )

    def make_compiler(
        self,
        plain: Collection[tuple[int, int]] = (),
        wants_code: bool = False,
        opened: Opened = "",
    ) -> Compiler:
        return Compiler(
            self.markers,
            self.tools,
            opened,
            plain_spans=plain,
            wants_code=wants_code,
            keeps_objects=self.dialect.name == NATIVE,  # passed on as they are
        )

    def render_messages(
        self,
        history: Sequence[Message],
        parts: Mapping[str, object],
        more: str = "",
        teach: bool = True,
    ) -> tuple[Wire, ...]:
        """The history as the model reads it: the lesson once, in the system message (A4).

        Unless it shall not `teach`, since no tool may be used now.
        """
        told = [_escape_result(message) for message in history if message.role != "system"]
        system = "\n\n".join(message.content for message in history if message.role == "system")
        if teach and self.lesson and self.lesson not in system:
            system = "\n\n".join(filter(None, [system, self.lesson]))
        system = "\n\n".join(filter(None, [system, more]))
        head = [Message("system", system)] if system else []
        wires = self.dialect.render(
            rename_call_ids(pair_results([*head, *told]), self.dialect.id_form)
        )
        return tuple(_restore_parts(wire, parts) for wire in wires)


def _escape_result(message: Message) -> Message:
    """Results are data: what would be a marker in them is broken (P9)."""
    if message.role != "tool":
        return message
    return message._replace(content=escape_control_tokens(message.content))


def _restore_parts(wire: Wire, parts: Mapping[str, object]) -> Wire:
    """Pictures back in their places."""
    content = wire.get("content")
    if not parts or not isinstance(content, str) or "\ufdd0" not in content:
        return wire
    pieces: list[Any] = []
    for text in _split_at_marks(content, parts):
        if text in parts:
            pieces.append(parts[text])
        elif text.strip():
            pieces.append({"type": "text", "text": text.strip("\n")})
    return {**wire, "content": pieces}


def _split_at_marks(content: str, marks: Iterable[str]) -> list[str]:
    texts = [content]
    for mark in marks:
        texts = [
            piece
            for text in texts
            for at, part in enumerate(text.split(mark))
            for piece in ([mark, part] if at else [part])
        ]
    return texts


@lru_cache(maxsize=64)
def _cached_prompt(dialect: str, tools: str) -> ToolPrompt:
    import json

    return ToolPrompt(DIALECTS[dialect], json.loads(tools))


def make_tool_prompt(dialect: Dialect, tools: Tools) -> ToolPrompt:
    import json

    return _cached_prompt(dialect.name, json.dumps(tools))
