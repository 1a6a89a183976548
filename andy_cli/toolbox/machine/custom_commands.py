"""Commands that the user made: `[custom.NAME]` with a `command` in config.toml.

    [custom.shrink]
    command = "convert {file} -resize {size} small.png"
    about = "make a picture smaller"

A slot takes one word: what a model gives for it is quoted for the shell, whatever it is. So a slot
may not stand in quotes, where that would undo them. `${NAME}` is the shell's own, `{{` a brace.
"""

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.runtime_context import current_context

SLOT = re.compile(r"\{\{|\}\}|(?<!\$)\{([A-Za-z_]\w*)\}")
UNSAFE = ("<<", "`", "$'", "((", "[[")
"""Places where quotes mean something else, or nothing: here-documents, escapes, reckoning."""


def command_names() -> list[str]:
    commands = current_context().settings.read_custom()
    return sorted(name for name, custom in commands.items() if custom.get("command"))


def fill_command(name: str, arguments: Mapping[str, object]) -> str:
    """The command line with every slot filled. Raises ToolError that says what there is."""
    if sys.platform == "win32":
        raise ToolError(
            "Commands of one's own do not run on Windows: nothing is quoted safely there."
        )
    commands = current_context().settings.read_custom()
    template = commands.get(name, {}).get("command", "")
    if not template:
        known_ones = describe_commands() or "none"
        raise ToolError(f"There is no command {spell_out(name)[:60]!r}. There are: {known_ones}.")
    _check_arguments(name, list(dict.fromkeys(_template_slots(template))), arguments)
    if _is_quoted_slot(template):
        raise ToolError(
            f"custom.{name}.command has a slot in quotes, or one of \\ << ` $' (( [[: what is "
            "filled in is quoted anyway.",
            "Ask the user to take them away.",
        )
    return SLOT.sub(lambda slot_match: _slot_value(slot_match, arguments), template)


def _check_arguments(name: str, slot_names: Sequence[str], arguments: Mapping[str, object]) -> None:
    if missing := [slot_name for slot_name in slot_names if arguments.get(slot_name) is None]:
        raise ToolError(f"{name} needs {', '.join(missing)} in its arguments.")
    if unknown := [argument for argument in arguments if argument not in slot_names]:
        takes = ", ".join(slot_names) or "none"
        raise ToolError(
            f"{name} takes no {spell_out(', '.join(unknown))[:80]}. Its arguments: {takes}."
        )


def describe_commands() -> str:
    """The commands there are, with what each takes and is for."""
    commands = current_context().settings.read_custom()
    return "; ".join(_describe_command(name, commands[name]) for name in command_names())


def _describe_command(name: str, custom: Mapping[str, str]) -> str:
    slots = ", ".join(dict.fromkeys(_template_slots(custom["command"])))
    about = f": {custom['about']}" if custom.get("about") else ""
    return f"{name}({slots}){about}"


def _template_slots(template: str) -> Iterator[str]:
    return (slot_match[1] for slot_match in SLOT.finditer(template) if slot_match[1])


def _slot_value(slot_match: re.Match[str], arguments: Mapping[str, object]) -> str:
    if not slot_match[1]:
        return slot_match[0][0]
    value = arguments[slot_match[1]]
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if "\0" in text:
        raise ToolError(f"{slot_match[1]} holds a NUL character, which no command can be given.")
    return shlex.quote(text)


def _is_quoted_slot(template: str) -> bool:
    """Tell whether a slot stands where quotes are open, or where quoting means nothing."""
    if not any(_template_slots(template)):
        return False
    if any(sign in template for sign in UNSAFE):
        return True
    slot_positions = {slot_match.start() for slot_match in SLOT.finditer(template) if slot_match[1]}
    return not slot_positions.isdisjoint(_find_quoted(template))


def _find_quoted(template: str) -> Iterator[int]:
    """Find the places of the characters in quotes, and of those after a backslash."""
    quote, position = "", 0
    while position < len(template):
        character = template[position]
        if quote:
            yield position
        if character == "\\" and quote != "'":
            yield position + 1
            position += 1
        elif character in "'\"" and quote in ("", character):
            quote = "" if quote else character
        position += 1
