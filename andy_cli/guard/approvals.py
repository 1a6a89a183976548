"""Keep what the user agreed to: for how long a yes holds, and which rule would make it last.

A yes to reading or to the network holds for that place for the session: it is asked once. A yes to
a change or to a program holds once, or for the session if the user said so, and then for the very
same one. What is done in the user's name is asked each time.
"""

import glob
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from andy_cli.guard.commands.lookup import is_secret
from andy_cli.guard.rules import Rules, parse_rule
from andy_cli.guard.spec import Facet, catches_special, is_special_name, list_commands
from andy_cli.guard.workspace import ResourceAccess, inside, resolve, too_wide
from andy_cli.messages import Effect
from andy_cli.settings import is_balanced

MAX_RULES = 4
"""Paths that get a rule each."""


class ApprovalSubject(Protocol):
    """The parts of a request that are looked at here."""

    @property
    def tool(self) -> str: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def access(self) -> ResourceAccess: ...
    @property
    def fingerprint(self) -> str: ...


class ApprovalStore:
    def __init__(self) -> None:
        self._read: list[Path] = []
        self._hosts: set[str] = set()
        self._same: dict[tuple[str, ...], str] = {}
        """The calls that may be made again, each spelled as a rule would be."""

    def add(self, request: ApprovalSubject, resolved_paths: Sequence[Path], session: bool) -> None:
        """The user said yes; `resolved_paths` are where the paths of the access lead."""
        if request.effect in (Effect.READ, Effect.PLAY):
            self._read += resolved_paths
        elif request.effect is Effect.NETWORK:
            self._hosts.add(find_host(request.access))
        elif session and request.effect is not Effect.ACT:
            self._same[_approval_key(request)] = _spell_call(request)

    def list_grants(self) -> list[str]:
        """List what a yes holds for in this session, each spelled as a rule would be."""
        places = dict.fromkeys(f"{Effect.READ}({path})" for path in self._read)
        hosts = sorted(f"{Effect.NETWORK}({host})" for host in self._hosts)
        return [*places, *hosts, *self._same.values()]

    def cover(self, request: ApprovalSubject, resolved_paths: Sequence[Path]) -> bool:
        if request.effect in (Effect.READ, Effect.PLAY):
            return bool(resolved_paths) and all(
                inside(resolved_path, self._read) for resolved_path in resolved_paths
            )
        if request.effect is Effect.NETWORK:
            return bool(request.access.address) and find_host(request.access) in self._hosts
        return request.effect is not Effect.ACT and _approval_key(request) in self._same


def _approval_key(request: ApprovalSubject) -> tuple[str, ...]:
    access = request.access
    return (
        request.tool,
        request.effect.value,
        request.fingerprint,
        access.command,
        access.method,
        access.address,
        *access.places,
    )


def _spell_call(request: ApprovalSubject) -> str:
    """`write_file(notes.txt)`, `terminal_execute(make all)`; the tool alone if it names nothing."""
    access = request.access
    address = f"{access.method} {access.address}" if access.address else ""
    named = access.command or address or ", ".join(access.places)
    return f"{request.tool}({named})" if named else request.tool


def find_host(access: ResourceAccess) -> str:
    try:
        return urlsplit(access.address).netloc.lower()
    except ValueError:
        return access.address


def suggest_rules(request: ApprovalSubject, workspace: Path) -> tuple[str, ...]:
    """The rules that would allow this and its like for good; none where it is asked each time."""
    tool, access = request.tool, request.access
    if request.effect in (Effect.ACT, Effect.DESTROY):
        return ()
    if access.command:
        return tuple(
            _spell_rule(tool, prefix) for prefix in _command_prefixes(access.command, workspace)
        )
    site_rules = (f"{tool}({access.method} {_find_site(access)}/**)",) if access.address else ()
    if access.places:
        # Every part of a call needs a rule, and without one for its paths the other is of no use.
        place_rules = _place_rules(tool, access, workspace)
        return (*site_rules, *place_rules) if place_rules else ()
    if site_rules:
        return site_rules
    if request.fingerprint:
        return (f"{tool}(#{request.fingerprint[:16]})",)
    return (tool,)


def _place_rules(tool: str, access: ResourceAccess, workspace: Path) -> tuple[str, ...]:
    """One for each path, or for its like; for many, one for each of their folders, or for the one
    above them all."""
    paths = dict.fromkeys(resolve(written_path, workspace) for written_path in access.places)
    if len(paths) > MAX_RULES:
        path_specs = _list_folder_specs(paths, workspace)
    elif all(operation == "write" for _, operation in access.uses):
        path_specs = [_files_like(path, workspace) for path in paths]
    else:
        path_specs = [_spell_path(path) for path in paths]
    return tuple(_spell_rule(tool, path_spec) for path_spec in dict.fromkeys(path_specs))


def _spell_rule(tool: str, rule_spec: str) -> str:
    """The rule, in which a bracket without its pair stands for itself."""
    if not is_balanced(rule_spec):
        rule_spec = re.sub(r"[()]", r"[\g<0>]", rule_spec)
    return f"{tool}({rule_spec})"


def _list_folder_specs(paths: Collection[Path], workspace: Path) -> list[str]:
    """List the folders that hold all paths; none where no pattern covers those or says too much."""
    if any(_is_special(path, workspace) for path in paths):
        return []
    folders = _list_folders(paths)
    if any(too_wide(folder) or folder in workspace.parents for folder in folders):
        return []
    return [f"{_spell_path(folder)}/**" for folder in folders]


def _list_folders(paths: Collection[Path]) -> list[Path]:
    """List the folders of paths, without those in others; for many, the one above them all."""
    parents = dict.fromkeys(path.parent for path in paths)
    folders = [folder for folder in parents if parents.keys().isdisjoint(folder.parents)]
    return folders if len(folders) <= MAX_RULES else [Path(os.path.commonpath(folders))]


def _files_like(path: Path, workspace: Path) -> str:
    """The folder of a file in the workspace; beside that, in the workspace itself, the files of its
    kind. The file alone where that would say more than was asked."""
    is_inside = path != workspace and path.is_relative_to(workspace)
    if not is_inside or too_wide(path.parent) or _is_special(path, workspace):
        return _spell_path(path)
    if path.parent != workspace:
        return f"{_spell_path(path.parent)}/**"
    return (
        f"{_spell_path(workspace)}/*{glob.escape(path.suffix)}"
        if path.suffix
        else _spell_path(path)
    )


def _is_special(path: Path, workspace: Path) -> bool:
    """Tell whether no pattern covers it, whatever stands around it."""
    inner = path.relative_to(workspace) if path.is_relative_to(workspace) else path
    return is_secret(f"/{inner}") or any(map(is_special_name, inner.parts))


def _command_prefixes(line: str, workspace: Path) -> list[str]:
    """A rule for each command of a line; none where one of them has none."""
    prefixes: dict[str, None] = {}
    for command in list_commands(line, hidden=False):
        if not command.plain or not command.texts:
            return []
        very_words = glob.escape(" ".join(command.texts))
        if catches_special(very_words, command, workspace):
            return []
        beginning = _find_beginning(command)
        says_more = not beginning or catches_special(beginning, command, workspace)
        prefixes[very_words if says_more else beginning] = None
    return [*prefixes]


def _find_beginning(command: Facet) -> str:
    """`git status *` for `git status -s`; nothing for programs that run others."""
    # Imported with the parser of command lines, which most calls do not need.
    from andy_cli.guard.commands.lookup import running_programs

    name, *arguments = command.texts
    if name in running_programs():
        return ""
    is_subcommand = bool(arguments) and arguments[0].replace("-", "").isalpha()
    if is_subcommand and not arguments[0].startswith("-"):
        return f"{name} {arguments[0]} *"
    return f"{name} *"


def _find_site(access: ResourceAccess) -> str:
    url_parts = urlsplit(access.address)
    return f"{url_parts.scheme}://{url_parts.netloc}"


def _spell_path(path: Path) -> str:
    """The whole path: the rule holds in every folder, and must not mean another file there."""
    home_folder = Path.home().resolve()
    if path != home_folder and path.is_relative_to(home_folder):
        return f"~/{glob.escape(str(path.relative_to(home_folder)))}"
    return glob.escape(str(path))


def add_allow_rules(rules: Rules, texts: Sequence[str]) -> Rules:
    """With these rules added to what is allowed. Raises UsageError for what is no rule."""
    return rules._replace(allow=(*rules.allow, *map(parse_rule, texts)))
