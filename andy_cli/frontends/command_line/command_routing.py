"""Find the command that a command line without one means.

andy "PROMPT"            andy chat "PROMPT"
andy -p "TASK" -o json   andy run "TASK" -o json
echo TASK | andy         andy run, which reads it
andy -m NAME run "TASK"  andy run -m NAME "TASK"
andy modles              a suggestion: one word that nearly is a command is hardly a prompt
"""

import shlex
from collections.abc import Collection, Mapping, Sequence

from andy_cli.errors import UsageError
from andy_cli.frontends.command_line.options import (
    ROOT_OPTIONS,
    SHARED_OPTIONS,
    CommandLine,
    read_line,
)

HELP = ("-h", "--help")
VERSION = ("-V", "--version")
ROOT_ONLY = (*HELP, *VERSION, "--install-completion", "--show-completion")
PRINT_FLAGS = next(option.flags for option in ROOT_OPTIONS if option.field == "print")
RUNNING = {option.field for option in ROOT_OPTIONS}
"""Chat knows none of them."""

Commands = Mapping[str, Collection[str]]
"""The names of the commands, each with the names of its own."""


def route_command(arguments: Sequence[str], commands: Commands, typed: bool) -> list[str]:
    """The arguments with a command in front. Raises UsageError for a misspelt command.

    `typed` says whether somebody sits at a keyboard; nobody else can chat.
    """
    options = (*SHARED_OPTIONS, *ROOT_OPTIONS)
    line = read_line(arguments, options, to_first_word=True)
    if line.words and not line.ended and "print" not in line.given:
        if routed := route_named(line, commands):
            return routed
        reject_misspelt(line.words, commands)
    line = read_line(arguments, options)
    if line.unread in ROOT_ONLY:
        return [line.unread]
    command = "chat" if typed and not RUNNING & line.given.keys() else "run"
    if line.unread:
        return [command, *arguments]  # Typer says what is wrong
    prompt = ["--", " ".join(line.words)] if line.words else []
    return [command, *remove_print(line), *prompt]


def route_named(line: CommandLine, commands: Commands) -> list[str]:
    """Route a line whose first word is a command, or `help`; nothing for another."""
    first_word, *later_words = line.words
    if first_word in commands:
        # What stood in front of the command goes after its name.
        names = line.words[:2] if commands[first_word] else line.words[:1]
        return [*names, *line.written, *line.words[len(names) :]]
    if first_word == "help" and (not later_words or later_words[0] in commands):
        return [*later_words, "--help"]
    return []


def remove_print(line: CommandLine) -> list[str]:
    return [word for word in line.written if word not in PRINT_FLAGS]


def reject_misspelt(words: Sequence[str], commands: Commands) -> None:
    """Raise UsageError if these words were meant for a command whose name they nearly hold."""
    first = words[0]
    second = words[1] if len(words) > 1 else ""
    nearest_name = find_nearest(first, commands)
    if not nearest_name:
        return
    own_commands = commands[nearest_name]
    subcommand = second if second in own_commands else find_nearest(second, own_commands)
    swapped = first != nearest_name and sorted(first) == sorted(nearest_name)  # `rnu`: no word
    if len(words) == 1 or second.startswith("-") or " " in second or subcommand or swapped:
        meant_line = " ".join(filter(None, ("andy", nearest_name, subcommand)))
        raise UsageError(
            f"There is no command {first!r}.",
            f"Did you mean `{meant_line}`? "
            f"To say it to a model: andy chat {shlex.quote(' '.join(words))}",
        )


def find_nearest(word: str, names: Collection[str]) -> str:
    """The name that this word misspells, or nothing; two letters that changed places are one."""
    if not word or not word.isascii() or not word.replace("-", "").isalpha():
        return ""
    # 10 ms, and most words are commands or sentences.
    from rapidfuzz.distance import OSA

    most_faults = max(1, len(word) // 3)
    faults = {name: OSA.distance(word.lower(), name) for name in sorted(names)}
    near_names = [name for name in faults if faults[name] <= most_faults]
    return min(near_names, key=faults.__getitem__, default="")
