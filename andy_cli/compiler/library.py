"""The functions that other programs call: compile a reply, fit arguments, write a history.

Tools are function tools in OpenAI's form, messages those of its chat API. `dialect` is the notation
that the model was taught; without one every notation is read. Nothing here raises for what a model
wrote: only a dialect that does not exist is a ValueError.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

from andy_cli.compiler.compiler import CompiledReply, Compiler, Hidden, Visible, tools_by_name
from andy_cli.compiler.dialect import Dialect, dialects_by_name
from andy_cli.compiler.ids import rename_call_ids
from andy_cli.compiler.lexing.markers import Markers, build_markers
from andy_cli.compiler.mapper.json_schema import add_aliases
from andy_cli.compiler.mapper.mapper import Mapped, MappedCall, map_call
from andy_cli.foreign_values import read_json
from andy_cli.messages import (
    NO_ARGUMENTS,
    Arguments,
    Message,
    Problem,
    Role,
    ToolCall,
    ToolRequest,
    Wire,
)

__all__ = [
    "CompiledReply",
    "Hidden",
    "Mapped",
    "MappedCall",
    "Problem",
    "StreamCompiler",
    "ToolRequest",
    "Visible",
    "compile_text",
    "find_dialect",
    "fit_arguments",
    "list_dialects",
    "markers_for",
    "write_call",
    "write_history",
]

Functions = Sequence[Mapping[str, object]]
"""Function tools: `{"type": "function", "function": {"name": ..., "parameters": ...}}`."""


def list_dialects() -> tuple[str, ...]:
    """The names of all notations, sorted."""
    return tuple(sorted(dialects_by_name()))


def find_dialect(name: str) -> Dialect:
    """The dialect of that name; raises ValueError with all names if there is none."""
    try:
        return dialects_by_name()[name]
    except KeyError:
        known_names = ", ".join(list_dialects())
        raise ValueError(f"There is no dialect {name!r}. There are: {known_names}.") from None


def markers_for(tools: tuple[str, ...], dialect: str = "") -> Markers:
    """The markers of these tools. Raises ValueError for a dialect that there is not."""
    if dialect:
        find_dialect(dialect)
    return build_markers(tuple(dialects_by_name().values()), tools, dialect)


@cache
def word_markers() -> Markers:
    """Build the markers of replies that ask for nothing: in harmony words are framed, too."""
    return Markers([find_dialect("harmony")], reads_calls=False)


class StreamCompiler:
    """Reads one reply while it arrives, cut anywhere. Make a new one for each reply."""

    def __init__(
        self, tools: Functions = (), dialect: str = "", reasoning_open: bool = False
    ) -> None:
        """`reasoning_open`: the prompt ended after an opener such as `<think>`."""
        named_tools = tools_by_name(tools)
        self._compiler = Compiler(
            markers_for(tuple(add_aliases(named_tools)), dialect),
            named_tools,
            "known" if reasoning_open else "",
        )

    @property
    def requests(self) -> tuple[ToolRequest, ...]:
        """The calls that are complete so far: nothing that may still come changes them."""
        return self._compiler.settled

    @property
    def over(self) -> bool:
        """Somebody else's turn began: nothing that may still come belongs to the reply."""
        return self._compiler.over

    def feed(self, text: str) -> Visible:
        """Take the next piece; returns what can now be shown."""
        return self._compiler.feed(text)

    def finish(self, cut_off: bool = False) -> tuple[Visible, CompiledReply]:
        """End the reply; returns what was held back until now, and all that the reply means.

        `cut_off`: it ended for its length, or broke off. A call that was open then is not run.
        """
        return self._compiler.finish(cut_off)


def compile_text(
    text: str,
    tools: Functions = (),
    dialect: str = "",
    reasoning_open: bool = False,
    cut_off: bool = False,
) -> CompiledReply:
    """Read a whole reply: its text without calls, its reasoning, its calls."""
    stream = StreamCompiler(tools, dialect, reasoning_open)
    stream.feed(text)
    return stream.finish(cut_off)[1]


def fit_arguments(name: str, arguments: object, tools: Functions, guess: bool = False) -> Mapped:
    """Correct a call as far as the tool's schema says how; what fits is left as it is.

    `arguments` is an object, or a JSON text. `guess`: also take what is only likely, as is right
    for tools that change nothing. Calls are valid if `problems` is empty.
    """
    return map_call(name, _read_json(arguments), tools_by_name(tools), lambda tool_name: guess)


def write_call(name: str, arguments: Arguments, dialect: str) -> str:
    """Write a call as models of this notation do."""
    return find_dialect(dialect).write(ToolRequest(name, arguments))


def write_history(messages: Sequence[Mapping[str, object]], dialect: str) -> list[Wire]:
    """Write calls and results of a conversation in this notation, as text of its messages.

    With the dialect `native` they stay what they are. Roles other than the four are left out.
    """
    chosen_dialect = find_dialect(dialect)
    history: list[Message] = []
    names: dict[str, str] = {}  # a result may leave out its tool's name: its call has it
    for message in messages:
        read = _read_message(message)
        if read is None:
            continue
        names |= {call.id: call.name for call in read.calls}
        if read.role == "tool" and not read.name:
            read = read._replace(name=names.get(read.call_id, ""))
        history.append(read)
    return chosen_dialect.render(rename_call_ids(history, chosen_dialect.id_form))


ROLES: Mapping[object, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def _read_message(message: Mapping[str, object]) -> Message | None:
    role = ROLES.get(message.get("role"))
    if role is None:
        return None
    return Message(
        role,
        _read_content(message.get("content")),
        tuple(_read_calls(message.get("tool_calls"))),
        str(message.get("tool_call_id") or ""),
        str(message.get("name") or ""),
    )


def _read_content(content: object) -> str:
    """The text of a message; parts that are none (pictures) are left out."""
    if isinstance(content, str):
        return content
    content_parts: Collection[object] = content if isinstance(content, list | tuple) else ()
    texts = [
        content_part.get("text")
        for content_part in content_parts
        if isinstance(content_part, Mapping)
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _read_calls(calls: object) -> Iterator[ToolCall]:
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            arguments = _read_json(function.get("arguments"))
            known_arguments = arguments if isinstance(arguments, Mapping) else NO_ARGUMENTS
            yield ToolCall(str(call.get("id") or ""), function["name"], known_arguments)


def _read_json(value: object) -> object:
    """The value of a JSON text; what is none stays as it is."""
    return read_json(value, value) if isinstance(value, str) else value
