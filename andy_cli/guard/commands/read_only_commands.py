"""Programs that only read, and the options with which they do; anything else is asked."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from getopt import GetoptError, getopt, gnu_getopt
from itertools import pairwise
from typing import NamedTuple

from andy_cli.guard.commands.bash import SAFE_IN_TEST, ShellCommand, Word
from andy_cli.guard.commands.lookup import (
    UNKNOWN,
    WORKSPACE,
    ShellFolder,
    is_inside,
    is_secret,
    load_pattern,
    load_table,
    program_set,
    resolve_place,
    split_expressions,
)

PROGRAMS_WITH_COMMANDS = ("git", "go")
"""Programs that are several: the first word says which."""
OUTSIDE = "it reads outside the workspace"


class ReadOnlyProgram(NamedTuple):
    letters: str
    long: list[str]
    kind: str
    filters: bool = False
    """Without a path it reads its standard input."""
    walking_options: str = ""
    """A pattern of the options with which it reads folders even so: `grep -r`."""


@cache
def read_only_programs() -> dict[str, ReadOnlyProgram]:
    """The programs of `read_only_programs.toml`, by name."""
    programs = {}
    for row in load_table("read_only_programs")["program"]:
        names = row["names"].split()
        program = ReadOnlyProgram(
            row.get("letters", ""),
            row.get("long", "").split(),
            row["takes"],
            row.get("filters", False),
            row.get("walking_options", ""),
        )
        if names[0] in PROGRAMS_WITH_COMMANDS:
            names = [row["names"]]
        programs.update(dict.fromkeys(names, program))
    return programs


@cache
def version_lines() -> frozenset[str]:
    """The command lines of `read_only_programs.toml` that only tell a version."""
    return frozenset(load_table("read_only_programs")["versions"].strip().split("\n"))


Inside = Callable[[str], bool]
"""Tells whether a path, as written from the workspace, really lies inside."""


def doubt_about(words: Sequence[Word], folder: ShellFolder, inside: Inside) -> str:
    """Say why a command is asked, or nothing if it only reads inside the folder's workspace."""
    words = _drop_pager_option(_drop_timer(words))
    if unclear := _find_unclear_part(words):
        return unclear
    name, arguments = words[0].text, [word.text for word in words[1:]]
    if arguments == ["--version"] or f"{name} {' '.join(arguments)}" in version_lines():
        return ""
    if name in SPECIAL:
        return SPECIAL[name](arguments, folder, inside)
    if name in PROGRAMS_WITH_COMMANDS and arguments:
        name, arguments = f"{name} {arguments[0]}", arguments[1:]
    if name not in read_only_programs():
        return f"{name} may do anything"
    return _judge_reader(name, read_only_programs()[name], arguments, folder, inside)


def find_harmless_commands(commands: Sequence[ShellCommand]) -> set[int]:
    """Find the numbers of the commands that touch no file, and feed none that may do more."""
    harmless_commands: set[int] = set()
    # What flows into a command may be what it does (`echo "drop table x" | psql`): the last first.
    for number, command in reversed(list(enumerate(commands))):
        fed_commands = {at for at, other in enumerate(commands) if number in other.fed_by}
        if fed_commands <= harmless_commands and _touches_no_file(command):
            harmless_commands.add(number)
    return harmless_commands


def _touches_no_file(command: ShellCommand) -> bool:
    """Tell whether a command only prints its words, or works on what a pipe brings: `| head -5`."""
    words = _drop_timer(command.words)
    program = read_only_programs().get(words[0].text) if words else None
    # What the shell makes of `grep *` are the names of files.
    if program is None or command.reads or command.patterns or not command.is_plain:
        return False
    if not (program.kind in TAKES_NO_PATH or (program.filters and command.fed_by)):
        return False
    return not (
        _walks_folders(program, words) or doubt_about(words, ShellFolder(), lambda path: False)
    )


def _walks_folders(program: ReadOnlyProgram, words: Sequence[Word]) -> bool:
    """Tell whether an option makes a program go through folders."""
    return bool(program.walking_options) and any(
        re.match(program.walking_options, word.text) for word in words[1:]
    )


TAKES_NO_PATH = frozenset({"none", "text", "any"})


def _drop_timer(words: Sequence[Word]) -> Sequence[Word]:
    """Drop a program that only takes the time of what stands behind it, or gives it some."""
    match [word.text for word in words[:3]]:
        case ["time", program, *_] if program != "cd":  # the folder after it is another
            return words[1:]
        case ["timeout", seconds, _] if re.fullmatch(r"\d+(?:\.\d+)?[smhd]?", seconds):
            return words[2:]
    return words


def _drop_pager_option(words: Sequence[Word]) -> Sequence[Word]:
    """Drop `--no-pager`, with which git starts no program to show its output."""
    match [word.text for word in words[:2]]:
        case ["git", "--no-pager"]:
            return [words[0], *words[2:]]
    return words


def _find_unclear_part(words: Sequence[Word]) -> str:
    """Say what of a command only the shell itself would know, or nothing."""
    program = words[0]
    if not re.fullmatch(r"[a-z:][a-z0-9_+-]*", program.text) or not program.bare:
        return "the name of the program is not plain"
    if not all(word.plain for word in words[1:]):
        return "it is not clear what it is given"
    if any(word.wild for word in words[1:]) and program.text not in program_set("harmless"):
        return "a file's name may be an option"
    return ""


def _judge_reader(
    name: str,
    reader: ReadOnlyProgram,
    arguments: Sequence[str],
    folder: ShellFolder,
    inside: Inside,
) -> str:
    """Say why a program of the table is asked, or nothing."""
    if reader.kind == "any":
        return ""
    given_arguments = [
        argument for argument in arguments if not re.fullmatch(r"--colou?r(=\w+)?", argument)
    ]
    if unknown := _find_unknown_options(given_arguments, reader):
        return f"{name} --{min(unknown)} is not known to read only"
    try:
        options, operands = gnu_getopt(given_arguments, reader.letters, reader.long)
    except GetoptError as error:
        return f"{name} is not known to read only: {error}"
    scripts, paths = _split_scripts(name, reader, options, operands)
    if name in SCRIPTS and not all(map(SCRIPTS[name], scripts)):
        return f"the script of {name} may do more than read"
    if reader.kind == "text":
        return ""
    if len(paths) > {"none": 0, "one": 1}.get(reader.kind, 999):
        return f"{name} is not known to read {paths[-1]!r} only"
    paths = [*paths, *_list_words_behind(given_arguments, reader)]
    return judge_paths(_split_revisions(name, paths), folder, inside)


def _split_revisions(name: str, paths: list[str]) -> list[str]:
    """Split what git is given at colons: `HEAD:.env` names a file of an older day."""
    if not name.startswith("git "):
        return paths
    return [revision_part for path in paths for revision_part in path.split(":")]


def _find_unknown_options(arguments: Sequence[str], reader: ReadOnlyProgram) -> set[str]:
    """Find the long options that the table does not have; getopt also takes what is cut short."""
    unknown: set[str] = set()
    for argument in arguments:
        name, equals, _ = argument.removeprefix("--").partition("=")
        # In the table `name=` takes a value, here or in the next word.
        is_known = name + equals in reader.long or f"{name}{equals}=" in reader.long
        if argument.startswith("--") and argument != "--" and not is_known:
            unknown.add(name + equals)
    return unknown


def _list_words_behind(arguments: Sequence[str], reader: ReadOnlyProgram) -> list[str]:
    """List the words behind long options that take a value: for some it is no value but a path."""
    behind_names = {f"--{name.rstrip('=')}" for name in reader.long if name.endswith("=")}
    return [word for option, word in pairwise(arguments) if option in behind_names]


def _split_scripts(
    name: str, reader: ReadOnlyProgram, options: Sequence[tuple[str, str]], operands: list[str]
) -> tuple[list[str], list[str]]:
    """Split what a program is given into the scripts that it runs and the paths that it reads."""
    scripts = [value for option, value in options if option in ("-e", "--regexp", "--expression")]
    scripted = bool(scripts) and name != "jq"
    if reader.kind == "first" and not scripted and ("--files", "") not in options:
        return operands[:1], operands[1:]
    return scripts, operands


def _only_prints(script: str) -> bool:
    prints = load_pattern("read_only_programs", "sed_command").fullmatch
    return all(map(prints, re.split(r"\s*[;\n]\s*", script.strip())))


def _only_filters(script: str) -> bool:
    return load_pattern("read_only_programs", "jq_beyond_input").search(script) is None


def _only_computes(script: str) -> bool:
    return load_pattern("read_only_programs", "awk_beyond_input").search(script) is None


SCRIPTS: dict[str, Callable[[str], bool]] = {
    "date": lambda script: script.startswith("+"),
    "sed": _only_prints,
    "jq": _only_filters,
    "awk": _only_computes,
    "gawk": _only_computes,
    "mawk": _only_computes,
}


def judge_paths(paths: Sequence[str], folder: ShellFolder, inside: Inside) -> str:
    """Say why paths may not be read without a yes, or nothing."""
    for path in paths:
        resolved_place = resolve_place(path, folder)
        if path in ("-", "/dev/null"):
            continue
        if is_secret(resolved_place):
            return "it reads what may be a secret"
        if UNKNOWN in path or path.startswith("~"):
            return OUTSIDE
        if not is_inside(resolved_place) and not path.startswith("/"):
            return OUTSIDE
        if not inside(_from_workspace(resolved_place)):
            return OUTSIDE
    return ""


def _from_workspace(resolved_place: str) -> str:
    if is_inside(resolved_place):
        return resolved_place.removeprefix(WORKSPACE).removeprefix("/") or "."
    return resolved_place


def _judge_find(arguments: Sequence[str], folder: ShellFolder, inside: Inside) -> str:
    paths, expressions = split_expressions(arguments)
    own_expressions, executed_commands = _split_executed(expressions)
    for words in executed_commands:
        if reason := _judge_executed("find", words, folder, inside):
            return reason
    if executed_commands:  # what is found by its name is read as that name
        paths = [*paths, *(word for word in own_expressions if not word.startswith("-"))]
    for expression in own_expressions:
        # A number is the value of an expression: `-mtime -7`, `-size -1M`.
        if not expression.startswith("-") or re.fullmatch(r"-\d+\w?", expression):
            continue
        if expression not in program_set("find"):
            return f"find {expression} is not known to read only"
    return judge_paths(paths, folder, inside)


def _split_executed(expressions: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Split the expressions of `find` into its own and the commands of `-exec`; empty is one that
    does not end."""
    own_expressions: list[str] = []
    commands: list[list[str]] = []
    rest = list(expressions)
    while "-exec" in rest:
        start = rest.index("-exec")
        own_expressions += rest[:start]
        behind = rest[start + 1 :]
        end = next((at for at, word in enumerate(behind) if _ends_executed(behind, at)), None)
        commands.append([] if end is None else behind[:end])
        rest = [] if end is None else behind[end + 1 :]
    return [*own_expressions, *rest], commands


def _ends_executed(words: Sequence[str], at: int) -> bool:
    return words[at] == ";" or (words[at] == "+" and at > 0 and words[at - 1] == "{}")


def _judge_executed(
    runner: str, command: Sequence[str], folder: ShellFolder, inside: Inside
) -> str:
    """Judge a command that `find` runs on what it finds, or `xargs` on its input: of any names."""
    name, arguments = "".join(command[:1]), command[1:]
    if name not in program_set("harmless") or name not in read_only_programs():
        return f"{runner} runs {name or 'something'}"
    return _judge_reader(name, read_only_programs()[name], arguments, folder, inside)


def _judge_xargs(arguments: Sequence[str], folder: ShellFolder, inside: Inside) -> str:
    """Judge `xargs` by what it runs; `takes_unknown_names` judges what it is given."""
    try:
        options, command = getopt(list(arguments), "0rn:L:P:d:", ["null", "no-run-if-empty"])
    except GetoptError as error:
        return f"xargs is not known to read only: {error}"
    if any(option == "-d" and value != r"\n" for option, value in options):
        return "xargs makes other names of the ones that it is given"
    return _judge_executed("xargs", command, folder, inside)


def takes_unknown_names(command: ShellCommand, commands: Sequence[ShellCommand]) -> bool:
    """Tell whether `xargs` may be given names that no finder of files in the workspace printed."""
    if "xargs" not in command.texts[:3]:
        return False
    feeding = [commands[number] for number in command.fed_by]
    has_files = bool(command.reads or command.given)
    return has_files or not feeding or not all(map(_passes_names, feeding))


LISTING = frozenset(["-l", "--files", "--files-with-matches"])
SIFTERS = frozenset(["head", "tail", "sort", "uniq", "grep"])
SIFTING = frozenset(f"-{letter}" for letter in "0123456789EFGdeiknrtuvwxz")
"""Options with which a sifter prints no line otherwise than it came: `tail -c +2` cuts names."""


def _passes_names(command: ShellCommand) -> bool:
    """Tell whether a command prints names that it found, or sifts what flows into it. What cuts
    them may make `/etc/passwd` of `./etc/passwd`."""
    if any(is_secret(resolve_place(word, ShellFolder())) for word in command.texts):
        return False
    match command.texts:
        case ("find", *expressions):
            return not {"-printf", "-ls", "-exec"} & set(expressions)
        case ("fd", *_) | ("git", "ls-files", *_):
            return True
        case ("rg" | "grep" as name, *arguments) if LISTING & _parse_options(name, arguments):
            return "--json" not in arguments
        case (name, *arguments) if name in SIFTERS:
            return _parse_options(name, arguments) <= SIFTING and _touches_no_file(command)
    return False


def _parse_options(name: str, arguments: Sequence[str]) -> set[str]:
    """Parse which options a program of the table is given; a value of one may look as another."""
    reader = read_only_programs()[name]
    try:
        options, _ = gnu_getopt(list(arguments), reader.letters, reader.long)
    except GetoptError as error:
        return {str(error)}
    return {option for option, _ in options}


def _judge_cd(arguments: Sequence[str], folder: ShellFolder, inside: Inside) -> str:
    plain = len(arguments) == 1 and not arguments[0].startswith("-")
    return judge_paths(arguments, folder, inside) if plain else OUTSIDE


def _judge_lookup(arguments: Sequence[str], folder: ShellFolder, inside: Inside) -> str:
    looks = arguments[:1] in (["-v"], ["-V"]) and len(arguments) == 2
    return "" if looks else "it runs another command"


def _judge_test(arguments: Sequence[str], folder: ShellFolder, inside: Inside) -> str:
    return "" if all(map(SAFE_IN_TEST.fullmatch, arguments)) else "a test may do more than look"


SPECIAL: dict[str, Callable[[Sequence[str], ShellFolder, Inside], str]] = {
    "find": _judge_find,
    "xargs": _judge_xargs,
    "cd": _judge_cd,
    "command": _judge_lookup,
    "test": _judge_test,
}
