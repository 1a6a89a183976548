"""Commands that never run, whatever is allowed: they destroy, send secrets out, or open a door.

Each rule looks at one simple command, its words as values. What is not found here is not harmless,
only not certain.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import dropwhile, pairwise

from andy_cli.guard.commands.lookup import (
    UNKNOWN,
    ShellFolder,
    interpreters,
    is_disk,
    is_secret,
    is_startup,
    is_system,
    is_vital,
    list_places,
    load_pattern,
    load_table,
    output_options,
    program_set,
    split_expressions,
)

Words = Sequence[str]

ESCALATION, DESTRUCTION, EXFILTRATION = (
    "it opens a lasting door or raises rights",
    "it destroys the system, a disk or the home",
    "it sends secrets out",
)


def find_danger(words: Words, writes: Words, folder: ShellFolder) -> str:
    """Give the reason why a command never runs, or nothing; `words` are its name and arguments."""
    reason = _first_write_danger(writes, folder)
    if reason or not words:
        return reason
    name, arguments = program_name(words[0]), words[1:]
    if name in program_set("never") or name.startswith(("mkfs", "fsck.", "mkinitcpio")):
        return "" if _only_shows(name, arguments) else f"{name}: {DESTRUCTION} or {ESCALATION}"
    for judge_command in RULES:
        if reason := judge_command(name, arguments, folder):
            return reason
    return ""


def _judge_subcommand(name: str, arguments: Words, folder: ShellFolder) -> str:
    """Judge programs of which some subcommands destroy or open a door."""
    given_words = {argument.partition("=")[0] for argument in arguments}
    if given_words.isdisjoint(load_table("programs")["subcommands"].get(name, "").split()):
        return ""
    return DESTRUCTION if name in program_set("erasers") else ESCALATION


def _judge_escalation(name: str, arguments: Words, folder: ShellFolder) -> str:
    """Judge programs that give rights away by their arguments."""
    line = " ".join(["", *map(_glue_blanks, arguments), ""])
    opens = any(
        name in names and argument_pattern.search(line)
        for names, argument_pattern in _door_patterns()
    )
    return ESCALATION if opens else ""


def _glue_blanks(argument: str) -> str:
    """Put `_` for blanks within an argument: they are none between two of them."""
    return "".join("_" if letter.isspace() else letter for letter in argument)


@cache
def _door_patterns() -> list[tuple[frozenset[str], re.Pattern[str]]]:
    """List programs, and the form of arguments that give rights away."""
    return [
        (frozenset(entry["programs"].split()), re.compile(entry["arguments"]))
        for entry in load_table("programs")["escalations"]
    ]


def _only_shows(name: str, arguments: Words) -> bool:
    lists = "disk" in name or "parted" in name
    return (lists and "-l" in arguments) or (
        len(arguments) == 1 and arguments[0] in ("--help", "--version", "-l", "--list")
    )


def program_name(word: str) -> str:
    """The name of a program, without its folder."""
    return word.rstrip("/").rpartition("/")[2]


def find_write_danger(resolved_place: str) -> str:
    """Give the reason why a place is never written to, or nothing."""
    if is_disk(resolved_place):
        return DESTRUCTION
    if (
        resolved_place.startswith(("/dev/tcp/", "/dev/udp/"))
        or is_startup(resolved_place)
        or is_system(resolved_place)
    ):
        return ESCALATION
    if is_secret(resolved_place) and not resolved_place.endswith((".env", ".asc", ".pem", ".key")):
        return "it overwrites keys"
    return ""


def _first_write_danger(targets: Iterable[str], folder: ShellFolder, follows: bool = True) -> str:
    """Give the reason why one of the files is never written to, or nothing."""
    for target in targets:
        for place in list_places(target, folder, follows):
            if reason := find_write_danger(place):
                return reason
    return ""


def _has_option(arguments: Words, letters: str, *words: str) -> bool:
    """Check for one of the short options, alone or among others, or one of the words."""
    options = [argument[1:] for argument in arguments if argument.startswith("-")]
    short = "".join(option for option in options if option.isascii() and option.isalpha())
    return bool(set(short) & set(letters) or set(words) & set(arguments))


def _plain_arguments(arguments: Words) -> list[str]:
    return [argument for argument in arguments if argument and not argument.startswith("-")]


def _named_paths(arguments: Words, folder: ShellFolder) -> Iterator[str]:
    """The places of what is no option; an unknown beginning may be nothing at all."""
    for argument in _plain_arguments(arguments):
        yield from _list_entries(argument, folder)
        if UNKNOWN in argument and argument.replace(UNKNOWN, "").startswith("/"):
            yield from _list_entries(argument.replace(UNKNOWN, ""), folder)


def _list_entries(argument: str, folder: ShellFolder) -> Iterator[str]:
    """The places of an entry of a folder: a link is itself, unless a slash stands behind it."""
    return list_places(argument, folder, follows=argument.endswith("/"))


def _judge_removal(name: str, arguments: Words, folder: ShellFolder) -> str:
    """Judge commands that remove files or change their owner, mode or attributes."""
    if name not in program_set("removers", "changers"):
        return ""
    removes = name in program_set("removers")
    is_recursive = name == "rimraf" or _has_option(
        arguments, "rR" if removes else "R", "--recursive"
    )
    for resolved_place in _named_paths(arguments, folder):
        if _loses_everything(resolved_place, removes, is_recursive):
            return DESTRUCTION
        if "/\ufdd0" in resolved_place or name == "xattr":
            continue
        if reason := _judge_single_place(resolved_place, removes):
            return reason
    return DESTRUCTION if "--no-preserve-root" in arguments else ""


def _judge_single_place(resolved_place: str, removes: bool) -> str:
    """Judge one file: secrets are not removed, and what starts by itself is not changed."""
    if removes:
        return DESTRUCTION if is_secret(resolved_place) else ""
    return ESCALATION if is_startup(resolved_place) else ""


def _loses_everything(resolved_place: str, removes: bool, is_recursive: bool) -> bool:
    """Check whether removing or changing a place takes a system, a disk or a home with it."""
    is_whole = resolved_place in HOMES if removes else resolved_place == "/"
    return (
        is_whole
        or is_system(resolved_place)
        or is_disk(resolved_place)
        or (is_recursive and is_vital(resolved_place))
    )


HOMES = frozenset(["/", "/~", "/*", "/~/*", "/root", "/home", "/home/*", "/Users"])


def _judge_raw_copy(name: str, arguments: Words, folder: ShellFolder) -> str:
    if name != "dd":
        return ""
    targets = [argument[3:] for argument in arguments if argument[:3] == "of="]
    return _first_write_danger(targets, folder)


MOVERS = frozenset("mv cp install ln rsync scp tee rename link".split())
THROUGH_LINKS = frozenset("cp scp tee".split())
"""Movers that write to what a link leads to; the others put a file in its place."""


def _judge_move(name: str, arguments: Words, folder: ShellFolder) -> str:
    """Judge commands that move or copy files: those that are gone, and those that are written."""
    if name not in MOVERS:
        return ""
    plain = _plain_arguments(arguments)
    if any(map(is_vital, _named_paths(_list_gone(name, plain, arguments), folder))):
        return DESTRUCTION
    targets = (plain if name == "tee" else plain[-1:]) + _list_target_folders(arguments)
    sources = [] if name == "tee" else plain[:-1]
    # What lands in a folder lands there under its own name; more folders than one are an error.
    landing = [f"{target}/{program_name(source)}" for target in targets[:3] for source in sources]
    return _first_write_danger(targets + landing, folder, follows=name in THROUGH_LINKS)


def _list_gone(name: str, plain: list[str], arguments: Words) -> list[str]:
    """List the arguments of a move that may be no more where they were."""
    if name == "mv":
        return plain[:-1]
    mirrors = any(argument.startswith(("--del", "--remove")) for argument in arguments)
    # What it goes into may be a link to a folder.
    return [f"{path}/" for path in plain] if name == "rsync" and mirrors else []


def _list_target_folders(arguments: Words) -> list[str]:
    """List the folders that options of a move name."""
    long_options = [argument for argument in arguments if argument.startswith("--target-dir")]
    long_values = [argument.partition("=")[2] for argument in long_options]
    return long_values + _list_option_values(arguments, "-t")


def _list_option_values(arguments: Words, *options: str) -> list[str]:
    """List what stands behind options, as a word of its own."""
    return [value for option, value in pairwise(arguments) if option in options]


def _judge_output_option(name: str, arguments: Words, folder: ShellFolder) -> str:
    targets = _list_edited(name, arguments, folder)
    for output_flag in output_options(name):
        targets += _list_option_values(arguments, output_flag)
        glued_flag = output_flag + "=" if output_flag.startswith("--") else output_flag
        glued_options = [argument for argument in arguments if argument.startswith(glued_flag)]
        targets += [option.removeprefix(glued_flag).lstrip("=") for option in glued_options]
    return _first_write_danger(filter(None, targets), folder)


def _list_edited(name: str, arguments: Words, folder: ShellFolder) -> list[str]:
    """List the arguments of an editor that may be files which matter where they lie."""
    if name not in program_set("editors"):
        return []
    plain = _plain_arguments(arguments)
    return [argument for argument in plain if "/" in argument or _is_at_home(argument, folder)]


def _is_at_home(argument: str, folder: ShellFolder) -> bool:
    places = list_places(argument, folder, follows=True)
    return any(place.startswith("/~/") for place in places)


def _judge_find(name: str, arguments: Words, folder: ShellFolder) -> str:
    if name != "find" or not set(arguments) & {"-delete", "-exec", "-execdir", "-ok", "-okdir"}:
        return ""
    paths, expressions = split_expressions(list(dropwhile(_precedes_places, arguments)))
    removes = {"-delete", "rm", "shred", "unlink", "chmod", "chown", "mv", "sh", "bash"}
    is_destructive = not removes.isdisjoint(map(program_name, expressions))
    # Without a place it looks where it runs.
    names_vital_place = any(map(is_vital, _named_paths(paths or ["."], folder)))
    return DESTRUCTION if is_destructive and names_vital_place else ""


def _precedes_places(argument: str) -> bool:
    """Tell whether an argument of `find` may stand before the places where it looks: `-L`, `-O3`,
    `--`, or nothing, which it complains of and goes on."""
    if argument and not argument.startswith("-"):
        return False  # a folder may be called `d`
    return argument.startswith("-O") or set(argument) <= set("-DEHLPXdfsx")


def _judge_rights(name: str, arguments: Words, folder: ShellFolder) -> str:
    """A shell of another user's rights."""
    if name not in ("sudo", "doas", "pkexec", "run0", "gosu"):
        return ""
    option_values = _list_option_values(arguments, "-u", "-g", "-h", "-p", "-C", "-T")
    commands = [
        argument
        for argument in _plain_arguments(arguments)
        if "=" not in argument and argument not in option_values
    ]
    if not commands:
        return ESCALATION if _has_option(arguments, "si") else ""
    return ESCALATION if program_name(commands[-1]) in program_set("shells") | {"su", "-"} else ""


def _judge_code(name: str, arguments: Words, folder: ShellFolder) -> str:
    """Code in an argument that removes what must stay, or runs what it fetches."""
    if name not in interpreters():
        return ""
    if any(map(load_pattern("programs", "removes_in_code").search, arguments)):
        return DESTRUCTION
    fetched = [argument for argument in arguments if _names_address(argument)]
    runs_in_code = load_pattern("programs", "runs_in_code").search
    return "it runs what it just fetched" if any(map(runs_in_code, fetched)) else ""


def _names_address(argument: str) -> bool:
    return any(scheme in argument for scheme in ("http://", "https://", "ftp://"))


Rule = Callable[[str, Words, ShellFolder], str]
RULES: tuple[Rule, ...] = (
    _judge_subcommand,
    _judge_escalation,
    _judge_removal,
    _judge_raw_copy,
    _judge_move,
    _judge_output_option,
    _judge_find,
    _judge_rights,
    _judge_code,
)
