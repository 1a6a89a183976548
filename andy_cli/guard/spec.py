"""Hold the text in the brackets of a rule against one part of a call.

A command matches as its words, an exact line or with `*` for anything after (`git log *`, also
`git log:*`). A path matches where it really is: from the workspace unless it begins with `/` or
`~`, `*` within a folder, `**` through folders, a folder for all that is in it, a bare name at any
depth. An address matches by method, host and path. `name:pattern` matches an argument.
"""

import contextlib
import glob
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from andy_cli.guard.commands.lookup import WILDCARDS, is_secret
from andy_cli.guard.workspace import PROTECTED, ResourceAccess, compose_name, inside
from andy_cli.messages import Arguments

MAX_DEPTH = 3
MAX_CHARACTERS = 20_000


class Facet(NamedTuple):
    """One part of a call that a rule may speak of."""

    kind: Literal["command", "path", "address", "whole"]
    texts: tuple[str, ...] = ()
    """The words of a command; a path as it really is and as it was written; method and URL."""
    plain: bool = True
    """A command that is its words and nothing more: no file is written, nothing is assigned."""
    reads: tuple[str, ...] = ()
    """The files that are a command's input."""
    patterns: tuple[str, ...] = ()
    """Words of a command that its shell takes for patterns of names: none that is quoted."""


def list_facets(
    access: ResourceAccess, resolved_paths: Sequence[Path], hidden: bool
) -> list[Facet]:
    """List the parts of a call; with `hidden` also the commands that stand after wrappers.

    `resolved_paths` are where the paths of the access lead.
    """
    facets: list[Facet] = []
    if access.command:
        facets += list_commands(access.command, hidden)
    for written, resolved_path in zip(access.places, resolved_paths, strict=True):
        facets.append(Facet("path", (str(resolved_path), written)))
    if access.address:
        facets.append(Facet("address", (access.method, access.address)))
    return facets or [Facet("whole")]


def list_commands(line: str, hidden: bool) -> list[Facet]:
    """List the commands of a line; one that cannot be read is a part that no rule covers."""
    # The parser of command lines takes 20 ms to load, and most calls are no command.
    from andy_cli.guard.commands.bash import TooMuch, taken_apart

    if len(line) > MAX_CHARACTERS:
        return [Facet("command", (line,), plain=False)]
    try:
        shell_line = taken_apart(line)
    except (RecursionError, TooMuch):
        return [Facet("command", (line,), plain=False)]
    facets = [
        Facet(
            "command",
            command.texts,
            command.is_plain and not shell_line.doubt,
            command.read_texts,
            command.patterns,
        )
        for command in shell_line.commands
    ]
    if hidden:
        facets += [Facet("command", words) for words in behind(facets, MAX_DEPTH)]
    if shell_line.doubt or not facets:
        facets.append(Facet("command", (line,), plain=False))
    return facets


def is_clear(line: str) -> bool:
    """Check whether it can be known which programs a line runs: their names stand there as they
    are, and none of them runs what it reads."""
    from andy_cli.guard.commands.bash import TooMuch, taken_apart
    from andy_cli.guard.commands.destructive_commands import program_name
    from andy_cli.guard.commands.lookup import interpreters

    if len(line) > MAX_CHARACTERS:
        return False
    try:
        shell_line = taken_apart(line)
    except (RecursionError, TooMuch):
        return False
    names = [command.words[0] for command in shell_line.commands if command.words]
    return not shell_line.doubt and all(
        name.plain
        and not name.wild
        and len(name.values) == 1
        and program_name(name.text) not in interpreters() | {"alias", "busybox", "find"}
        for name in names
    )


def behind(facets: Sequence[Facet], deeper: int) -> Iterator[tuple[str, ...]]:
    """List what may be run by commands that run others: every end of their words, every script."""
    for outer_facet in facets:
        for index in range(1, min(len(outer_facet.texts), 40)):
            yield outer_facet.texts[index:]
        scripts = [word for word in outer_facet.texts[1:] if re.search(r"[\s;|&]", word)]
        for script in scripts[: 8 if deeper else 0]:
            inner_facets = list_commands(script, hidden=False)
            yield from (facet.texts for facet in inner_facets)
            yield from behind(inner_facets, deeper - 1)


def spec_fits(
    rule_spec: str, facet: Facet, arguments: Arguments, workspace: Path, wholly: bool
) -> bool:
    """Match a spec with a part of a call: `wholly` if it is covered for certain, else if the spec
    touches it."""
    name, colon, pattern = rule_spec.partition(":")
    if colon and name in arguments:
        return _argument_fits(pattern, arguments[name], facet, wholly)
    if wholly and not facet.plain:
        return False
    if facet.kind == "command":
        is_fitting = command_fits(rule_spec, facet.texts, wholly)
    elif facet.kind == "path":
        is_fitting = _place_fits(rule_spec, facet.texts, workspace, wholly)
    else:
        return facet.kind == "address" and address_fits(rule_spec, *facet.texts)
    return is_fitting and not (wholly and catches_special(rule_spec, facet, workspace))


def _argument_fits(pattern: str, value: object, facet: Facet, wholly: bool) -> bool:
    if wholly and facet.kind != "whole":
        return False  # what is judged by its parts is allowed by its parts
    return value_fits(pattern, value, all if wholly else any)


def _place_fits(path_spec: str, texts: Sequence[str], workspace: Path, wholly: bool) -> bool:
    """Match a path as it really is; where it is enough to touch it, also as it was written."""
    if not wholly:
        return any(path_fits(path_spec, text, workspace) for text in texts)
    return path_fits(path_spec, texts[0], workspace)


def value_fits(pattern: str, value: object, every: Callable[[Iterable[bool]], bool] = all) -> bool:
    """Match every value of a list, or any; case apart, as addresses are written either way."""
    values = value if isinstance(value, list) else str(value).replace(";", ",").split(",")
    return bool(values) and every(
        fnmatchcase(str(value).strip().lower(), pattern.strip().lower()) for value in values
    )


THROUGH = re.compile(
    r"(?:(?:nohup|time|command|setsid|stdbuf(?: -\S+)+|nice(?: -n ?-?\d+| -\d+)?"
    r"|timeout(?: -\S+)* [\d.]+[smhd]?) )+"
)
"""Wrappers that change nothing about what a command does."""


def command_fits(command_spec: str, words: Sequence[str], wholly: bool) -> bool:
    line, command_spec = " ".join(words), " ".join(command_spec.split())
    if command_spec.endswith(":*"):
        command_spec = f"{command_spec[:-2]} *"
    lines = {line, THROUGH.sub("", line, count=1) if THROUGH.match(line) else line}
    if not wholly:
        lines.add(" ".join([Path(words[0]).name, *words[1:]]) if words else line)
    if command_spec.endswith(" *"):
        beginning = command_spec[:-2]
        return any(
            fnmatchcase(line, beginning) or fnmatchcase(line, f"{beginning} *") for line in lines
        )
    return any(fnmatchcase(line, command_spec) for line in lines)


def path_fits(path_spec: str, path: str, workspace: Path) -> bool:
    """Check whether a path, as it really is, is what the spec names or lies below it, in whichever
    code points either is spelled."""
    if path_spec.startswith("~"):
        path_spec = str(Path.home().resolve()) + path_spec[1:]
    elif not path_spec.startswith("/"):
        anywhere = "/" not in path_spec.rstrip("/")
        path_spec = (
            f"{glob.escape(str(workspace))}/{'**/' * anywhere}{path_spec.removeprefix('./')}"
        )
    expression = path_expression(compose_name(re.sub("/+", "/", path_spec).rstrip("/")))
    return expression.fullmatch(compose_name(path)) is not None


def catches_special(rule_spec: str, facet: Facet, workspace: Path) -> bool:
    """Check whether only a wildcard of the spec stands for what it must be named for."""
    if facet.kind == "path":
        return is_only_caught(rule_spec, facet.texts[0], workspace)
    return facet.kind == "command" and _catches_secret(rule_spec, facet)


def _catches_secret(command_spec: str, command: Facet) -> bool:
    """Check whether a command is given a file with secrets that the spec does not name."""
    words = command.texts
    if command_spec in (" ".join(words), glob.escape(" ".join(words))):
        words = ()
    secret_specs = [*filter(is_secret, command_spec.split())]
    given_words = (*words, *command.reads)
    secret_words = [
        *filter(_names_secret, given_words),
        *(word for word in command.patterns if word in given_words and HIDDEN.search(word)),
    ]
    return any(
        not any(fnmatchcase(word, secret_spec) for secret_spec in secret_specs)
        for word in secret_words
    )


HIDDEN = re.compile(r"(?:^|/)\.[^/]*[*?\[]")
"""A pattern that takes hidden files."""


def _names_secret(word: str) -> bool:
    """Check whether a word names a file with secrets, whole or behind a sign."""
    return "://" not in word and any(map(is_secret, (word, *re.split(r"[@=:;,<]", word))))


def is_only_caught(path_spec: str, path: str, workspace: Path) -> bool:
    """Check whether a pattern fits a special file without naming it: `src/**` says nothing of
    `src/.env`, and `*.json` nothing of `mcp.json`."""
    if WILDCARDS.isdisjoint(path_spec):
        return False
    # Where the workspace lies is nobody's pattern: it may be below `~/.local`.
    inner = Path(path).relative_to(workspace) if inside(Path(path), (workspace,)) else Path(path)
    spelled_names = [
        spelled_name
        for spelled_name in compose_name(path_spec).split("/")
        if spelled_name[:1] not in ("*", "?", "")
    ]
    special_names = map(compose_name, filter(is_special_name, inner.parts))
    unnamed = any(
        not any(fnmatchcase(special_name, spelled_name) for spelled_name in spelled_names)
        for special_name in special_names
    )
    return unnamed or (is_secret(f"/{inner}") and not is_secret(f"/{path_spec}"))


def is_special_name(name: str) -> bool:
    """Check whether a file or folder is hidden, or holds what something runs by itself."""
    return name.startswith(".") or name in PROTECTED


@cache
def path_expression(path_spec: str) -> re.Pattern[str]:
    glob_parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]/\\]+\])", path_spec)
    expression = "".join(SPELLED.get(glob_part) or _letters(glob_part) for glob_part in glob_parts)
    return re.compile(f"{expression}(?:/.*)?", re.DOTALL)


SPELLED = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _letters(glob_part: str) -> str:
    """A choice of letters such as `[ab]`; what is none stands for itself."""
    if glob_part[:1] == "[" and glob_part[-1:] == "]":
        choice = f"[{glob_part[1:-1].replace('[', chr(92) + '[')}]"
        with contextlib.suppress(re.error):
            re.compile(choice)
            return choice
    return re.escape(glob_part)


PORTS = {"http": 80, "https": 443}
ADDRESS = re.compile(r"(?:([A-Z]+) )?(https?)://([^/?#\s]+)([^\s]*)")
HOST_AND_PORT = re.compile(r"\[?([^\[\]]*?)\]?(?::(\d{0,5}))?")


def address_fits(address_spec: str, method: str, url: str) -> bool:
    """Match an address, hosts as hosts: `https://a.example*` says nothing of `a.example.evil`."""
    from urllib.parse import urlsplit

    try:
        url_parts = urlsplit(url)
        host, port = (url_parts.hostname or "").rstrip("."), url_parts.port
    except ValueError:
        return False
    if address_spec.startswith("domain:"):
        return host_fits(address_spec[7:].strip(), host)
    wanted_address = ADDRESS.fullmatch(address_spec)
    if wanted_address is None:
        return host_fits(address_spec, host)
    return (
        (wanted_address[1] or method) == method
        and wanted_address[2] == url_parts.scheme
        and _authority_fits(wanted_address[3], url_parts.scheme, host, port)
        and _address_path_fits(wanted_address[4], url_parts.path, url_parts.query)
    )


def _authority_fits(authority: str, scheme: str, host: str, port: int | None) -> bool:
    """Match a host and its port: the usual one of the scheme, where none is named."""
    host_and_port = HOST_AND_PORT.fullmatch(authority)
    if host_and_port is None:
        return False
    usual_port = PORTS.get(scheme)
    same_port = (int(host_and_port[2] or 0) or usual_port) == (port or usual_port)
    return same_port and host_fits(host_and_port[1], host, exactly=True)


def _address_path_fits(pattern: str, path: str, query: str) -> bool:
    path_and_query = path + (f"?{query}" if query else "")
    return ".." not in path and fnmatchcase(
        path_and_query or "/", (pattern or "/*").replace("**", "*")
    )


def host_fits(pattern: str, host: str, exactly: bool = False) -> bool:
    """Match a domain and all below it; with `exactly` the host itself, unless it is `*.domain`."""
    pattern = pattern.lower().rstrip(".")
    if pattern.startswith("*."):
        return host.lower().endswith(pattern[1:])
    return host.lower() == pattern or (not exactly and host.lower().endswith(f".{pattern}"))
