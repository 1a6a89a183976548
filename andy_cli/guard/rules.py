"""Rules that the user settled beforehand, of the form `Tool` or `Tool(spec)`.

    terminal_execute(git status *)     Bash(npm test)          command lines
    write_file(docs/**)                Read(./.env)            paths, from the workspace
    fetch_page(domain:example.org)     api_call(GET https://api.example.org/v1/**)
    gmail_send(to:*@example.org)                               any argument by its name
    gmail_*    mcp__files__read    network                     tools, servers, effects

Several may stand in one text: with commas between them, or blanks, `Bash(git *) Edit`.

Without brackets, or with `(**)`, a rule for what changes files means the workspace. In what is
allowed a wildcard stands for no hidden file, for none with secrets and for none that something runs
by itself: who means `.env` or `.github/**` writes so. In a command line it stands for no word that
names a file with secrets.

Deny beats ask beats allow, wherever they come from and in whatever order. A call is allowed when
every part of it is: each command of the line, each path, the address. What touches no file, such as
`| head -5`, and a `cd` to the workspace need no rule beside another. It is denied or asked for when
any part is, whatever wrapper the command hides in.

A command matches as its words, an exact line or with `*` for anything after (`git log *`, also
`git log:*`); an exact one says nothing of what flows into a program that may run it (`| bash`). A
path matches where it really is: from the workspace unless it begins with `/` or `~`, `*` within a
folder, `**` through folders, a folder for all that is in it, a bare name at any depth. An address
matches by method, host and path. `name:pattern` matches an argument.
"""

import contextlib
import glob
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from andy_cli.errors import UsageError
from andy_cli.guard.commands.destructive_commands import program_name
from andy_cli.guard.commands.lookup import (
    MAX_SCRIPTS,
    MAX_WORDS,
    WILDCARDS,
    interpreters,
    is_secret,
    program_set,
    running_programs,
    split_behind_signs,
)
from andy_cli.guard.workspace import PROTECTED, ResourceAccess, compose_name, inside
from andy_cli.messages import Arguments, Effect
from andy_cli.settings import Settings, is_balanced, split_outside_brackets

MAX_DEPTH = 3
SCRIPT_SIGN = re.compile(r"[\s;|&]")
"""A word that holds one may be a script, as for `bash -c`."""


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
    runs_input: bool = False
    """A command that may run what flows into it: `bash < setup.sh`, `xargs rm`."""
    needs_no_rule: bool = False
    """A command that touches no file, and feeds none that may do more: `| head -5`."""


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
    from andy_cli.guard.commands.bash import read_shell_line
    from andy_cli.guard.commands.read_only_commands import find_harmless_commands

    unread_facet = Facet("command", (line,), plain=False)
    shell_line = read_shell_line(line)
    if shell_line is None:
        return [unread_facet]
    harmless_commands = find_harmless_commands(shell_line.commands)
    facets = [
        Facet(
            "command",
            command.texts,
            plain=command.is_plain and not shell_line.doubt,
            reads=command.read_texts,
            patterns=command.patterns,
            runs_input=command.has_input and runs_input(command.texts),
            needs_no_rule=number in harmless_commands,
        )
        for number, command in enumerate(shell_line.commands)
    ]
    if hidden:
        facets += [Facet("command", words) for words in behind(facets, MAX_DEPTH)]
    if shell_line.doubt or not facets:
        facets.append(unread_facet)
    return facets


def is_clear(line: str) -> bool:
    """Check whether it can be known which programs a line runs: their names stand there as they
    are, and none of them runs what it reads."""
    from andy_cli.guard.commands.bash import read_shell_line

    shell_line = read_shell_line(line)
    if shell_line is None or shell_line.doubt:
        return False
    names = [command.words[0] for command in shell_line.commands if command.words]
    if not all(name.is_exact for name in names):
        return False
    run_others = interpreters() | {"alias", "busybox", "find"}
    return run_others.isdisjoint(program_name(name.text) for name in names)


def behind(facets: Sequence[Facet], deeper: int) -> Iterator[tuple[str, ...]]:
    """List what may be run by commands that run others: every end of their words, every script."""
    for outer_facet in facets:
        for index in range(1, min(len(outer_facet.texts), MAX_WORDS)):
            yield outer_facet.texts[index:]
        if not deeper:
            continue
        scripts = [word for word in outer_facet.texts[1:] if SCRIPT_SIGN.search(word)]
        for script in scripts[:MAX_SCRIPTS]:
            inner_facets = list_commands(script, hidden=False)
            yield from (facet.texts for facet in inner_facets)
            yield from behind(inner_facets, deeper - 1)


def runs_input(words: Sequence[str]) -> bool:
    """Tell whether a command may run what flows into it: `bash`, `python -`, `xargs rm`; for
    `python sum.py` that is data. Behind an option (`bash -o pipefail`) no word is surely a script.
    """
    program, script = program_name("".join(words[:1])), "".join(words[1:2])
    has_script = bool(script) and not script.startswith(("-", "/dev/", "/proc/"))
    takes_script = program in program_set("scripted") and has_script
    return program in running_programs() and not takes_script


def spec_fits(
    rule_spec: str, facet: Facet, arguments: Arguments, workspace: Path, wholly: bool
) -> bool:
    """Match a spec with a part of a call: `wholly` if it is covered for certain, else if the spec
    touches it."""
    name, colon, pattern = rule_spec.partition(":")
    if colon and name in arguments:
        return _argument_fits(pattern, arguments[name], facet, wholly)
    if wholly and not is_coverable(rule_spec, facet):
        return False
    if facet.kind == "command":
        is_fitting = command_fits(rule_spec, facet.texts, wholly)
    elif facet.kind == "path":
        is_fitting = _place_fits(rule_spec, facet.texts, workspace, wholly)
    else:
        return facet.kind == "address" and address_fits(rule_spec, *facet.texts)
    return is_fitting and not (wholly and catches_special(rule_spec, facet, workspace))


def is_coverable(rule_spec: str, facet: Facet) -> bool:
    """Tell whether the words of a part say all of it, or the spec allows whatever else there is."""
    return facet.plain and not (facet.runs_input and WILDCARDS.isdisjoint(rule_spec))


def _argument_fits(pattern: str, value: object, facet: Facet, wholly: bool) -> bool:
    if wholly and facet.kind != "whole":
        return False  # what is judged by its parts is allowed by its parts
    return value_fits(pattern, value, wholly)


def _place_fits(path_spec: str, texts: Sequence[str], workspace: Path, wholly: bool) -> bool:
    """Match a path as it really is; where it is enough to touch it, also as it was written."""
    if not wholly:
        return any(path_fits(path_spec, text, workspace) for text in texts)
    return path_fits(path_spec, texts[0], workspace)


def value_fits(pattern: str, value: object, wholly: bool = True) -> bool:
    """Match every value of a list, or with `wholly` off any; case apart, as addresses are written
    either way.

    A pattern for addresses is about each of them, however they are parted: where all must match,
    its wildcard stands for no `@`, else one within a value will do. Other values may have lines.
    """
    wanted_value = pattern.strip().lower()
    values = [listed.strip().lower() for listed in _list_values(value)]
    if "@" in wanted_value:
        values = _part_addresses(values, wholly)
    if not wholly:
        return any(fnmatchcase(listed, wanted_value) for listed in values)
    # `all` would take nothing for a match.
    return bool(values) and all(_is_wholly(listed, wanted_value) for listed in values)


def _part_addresses(values: Sequence[str], wholly: bool) -> list[str]:
    """Part values into addresses: by lines, or with `wholly` off wherever one may end, too."""
    if wholly:
        return [line for value in values for line in LINE_BREAKS.split(value)]
    return [*values, *(part for value in values for part in WITHIN_VALUE.split(value))]


def _list_values(value: object) -> list[str]:
    values = value if isinstance(value, list) else str(value).replace(";", ",").split(",")
    return list(map(str, values))


LINE_BREAKS = re.compile(r"\s*[\r\n]\s*")
WITHIN_VALUE = re.compile(r"[,;\s<>()\"]+")
"""Parts an address from its name, and from another one in the item of a list."""


def _is_wholly(value: str, pattern: str) -> bool:
    one_address = "@" not in pattern or value.count("@") == pattern.count("@")
    return one_address and fnmatchcase(value, pattern)


THROUGH = re.compile(
    r"(?:(?:nohup|time|command|setsid|stdbuf(?: -\S+)+|nice(?: -n ?-?\d+| -\d+)?"
    r"|timeout(?: -\S+)* [\d.]+[smhd]?) )+"
)
"""Wrappers that change nothing about what a command does."""


def command_fits(command_spec: str, words: Sequence[str], wholly: bool) -> bool:
    line, command_spec = " ".join(words), " ".join(command_spec.split())
    if command_spec.endswith(":*"):
        command_spec = f"{command_spec[:-2]} *"
    spellings = {line}
    if wrappers := THROUGH.match(line):
        spellings.add(line[wrappers.end() :])
    # Of a program that is denied any copy is meant; allowed is the one that was written.
    if words and not wholly:
        spellings.add(" ".join([Path(words[0]).name, *words[1:]]))
    patterns = [command_spec]
    if command_spec.endswith(" *"):
        patterns.append(command_spec[:-2])  # `git log *` is also `git log` alone
    return any(matches_any(spelling, patterns) for spelling in spellings)


def matches_any(text: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def path_fits(path_spec: str, path: str, workspace: Path) -> bool:
    """Check whether a path, as it really is, is what the spec names or lies below it, in whichever
    code points either is spelled."""
    if path_spec.startswith("~"):
        path_spec = str(Path.home().resolve()) + path_spec[1:]
    elif not path_spec.startswith("/"):
        through_folders = "" if "/" in path_spec.rstrip("/") else "**/"
        below_workspace = through_folders + path_spec.removeprefix("./")
        path_spec = f"{glob.escape(str(workspace))}/{below_workspace}"
    path_spec = re.sub("/+", "/", path_spec).rstrip("/")
    expression = path_expression(compose_name(path_spec))
    return expression.fullmatch(compose_name(path)) is not None


def catches_special(rule_spec: str, facet: Facet, workspace: Path) -> bool:
    """Check whether only a wildcard of the spec stands for what it must be named for."""
    if facet.kind == "path":
        return is_only_caught(rule_spec, facet.texts[0], workspace)
    return facet.kind == "command" and _catches_secret(rule_spec, facet)


def _catches_secret(command_spec: str, command: Facet) -> bool:
    """Check whether a command is given a file with secrets that the spec does not name."""
    line = " ".join(command.texts)
    is_whole_line = command_spec in (line, glob.escape(line))
    # Who wrote the whole line named every word of it; the files that flow into it are no words.
    given_words = command.reads if is_whole_line else (*command.texts, *command.reads)
    hidden_patterns = {word for word in command.patterns if HIDDEN.search(word)}
    secret_specs = [word for word in command_spec.split() if is_secret(word)]
    return any(
        (word in hidden_patterns or _names_secret(word)) and not matches_any(word, secret_specs)
        for word in given_words
    )


HIDDEN = re.compile(r"(?:^|/)\.[^/]*[*?\[]")
"""A pattern that takes hidden files."""


def _names_secret(word: str) -> bool:
    """Check whether a word names a file with secrets, whole or behind a sign."""
    return "://" not in word and any(map(is_secret, (word, *split_behind_signs(word))))


def is_only_caught(path_spec: str, path: str, workspace: Path) -> bool:
    """Check whether a pattern fits a special file without naming it: `src/**` says nothing of
    `src/.env`, and `*.json` nothing of `mcp.json`."""
    if WILDCARDS.isdisjoint(path_spec):
        return False
    # Where the workspace lies is nobody's pattern: it may be below `~/.local`.
    inner = Path(path).relative_to(workspace) if inside(Path(path), (workspace,)) else Path(path)
    spec_names = compose_name(path_spec).split("/")
    spelled_names = [name for name in spec_names if name and name[0] not in "*?"]
    special_names = map(compose_name, filter(is_special_name, inner.parts))
    if not all(matches_any(name, spelled_names) for name in special_names):
        return True
    return is_secret(f"/{inner}") and not is_secret(f"/{path_spec}")


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
        # Python warns of a bracket within: some day it may begin a set there.
        letters = glob_part[1:-1].replace("[", "\\[")
        choice = f"[{letters}]"
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


ORGANISING = ("move", "copy", "make_folder", "trash")
ALIASES = {
    "Bash": ("terminal_execute",),
    "Read": ("read_file", "list_directory", "search_files", "file_get", "file_ingest", "list_mp3s"),
    "Write": ("write_file", "file_put", *ORGANISING),
    "Edit": ("edit_file", "write_file", "file_put", *ORGANISING),
    "WebFetch": ("fetch_page", "api_call"),
    "WebSearch": ("web_search",),
}
"""Names that other agents' rules use; a rule for editing holds for whatever changes a file."""

RULE = re.compile(r"([\w.:/*?\[\]!-]+)(?:\((.*)\))?", re.DOTALL)
ANOTHER_RULE = re.compile(r"\).*[\s,;][\w.:/*?\[\]!-]+\(", re.DOTALL)
"""The beginning of another rule within the brackets of one."""
EFFECTS = frozenset(effect.value for effect in Effect)


class PermissionRule(NamedTuple):
    tool: str
    """A name, a pattern of names, an alias or an effect."""
    spec: str = ""
    text: str = ""
    """As it was written."""

    @property
    def names(self) -> tuple[str, ...]:
        """Patterns of registered names."""
        if self.tool.startswith("mcp__"):
            server, _, tool = self.tool[5:].partition("__")
            return (f"{server}.{tool or '*'}",)
        return ALIASES.get(self.tool, (self.tool,))

    def about(self, tool: str, effect: Effect) -> bool:
        """Tell whether it speaks of this tool at all."""
        return self.tool == effect.value or matches_any(tool, self.names)


def parse_rule(text: str) -> PermissionRule:
    """Parse one rule. Raises UsageError for what is none."""
    match = RULE.fullmatch(text.strip())
    if match is None or not _is_spec(text, match[2]):
        raise _refuse_text(text)
    rule_spec = (match[2] or "").strip()
    return PermissionRule(match[1], "" if rule_spec in ("*", "**") else rule_spec, text.strip())


def _is_spec(text: str, written: str | None) -> bool:
    """Tell whether what stands in the brackets of a text is of one rule. A lone bracket may be a
    command's own, where no other rule seems to begin behind one that closes."""
    if written is None:
        return True
    is_one = is_balanced(written) or not (is_balanced(text) or ANOTHER_RULE.search(written))
    return is_one and bool(written.strip())


def _refuse_text(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is no rule.",
        "A rule is a tool, or a tool and what for: Bash(git status *). Several have commas between"
        " them. A bracket that is not one of a pair is written [(] or [)].",
    )


def parse_rule_list(text: str) -> list[PermissionRule]:
    """Parse the rules of one text, one or several. Raises UsageError for what is none."""
    if not is_balanced(text):
        return [parse_rule(text)]
    rules = [
        rule
        for part in split_outside_brackets(text, RULE_SEPARATORS)
        for rule in _parse_spaced_rules(part)
    ]
    if not rules:
        raise _refuse_text(text)
    return rules


RULE_SEPARATORS = ",;\n"


def _parse_spaced_rules(part: str) -> list[PermissionRule]:
    """Parse rules with nothing but blanks between them.

    Who writes `Bash npm test *` forgot the brackets, and must not be given all of `Bash`, nor all
    tools: a name that may be a word of a command needs a comma before it.
    """
    words = split_outside_brackets(part, " \t\r\f\v")
    try:
        rules = [parse_rule(word) for word in words]
    except UsageError as error:
        raise _refuse_text(part) from error
    for before, rule in pairwise(rules):
        is_known = rule.tool in ALIASES or rule.tool in EFFECTS
        is_apart = before.text.endswith(")") and WILDCARDS.isdisjoint(rule.tool)
        if not (is_known or is_apart):
            raise _refuse_text(part)
    return rules


class RuleSubject(NamedTuple):
    """The call that is judged."""

    tool: str
    effect: Effect
    access: ResourceAccess
    arguments: Arguments
    workspace: Path
    places: tuple[Path, ...] = ()
    """The real paths of the access, looked up once for all who judge them."""
    fingerprint: str = ""
    """Of a tool from elsewhere."""


class Rules(NamedTuple):
    deny: tuple[PermissionRule, ...] = ()
    ask: tuple[PermissionRule, ...] = ()
    allow: tuple[PermissionRule, ...] = ()

    def find_unclear_denial(self, subject: RuleSubject) -> PermissionRule | None:
        """The rule that forbids some commands, where it cannot be known what a line runs."""
        spoken_of = [rule for rule in self.deny if rule.about(subject.tool, subject.effect)]
        denial = next((rule for rule in spoken_of if rule.spec), None)
        if denial is None or not subject.access.command or is_clear(subject.access.command):
            return None
        return denial

    def find_permission(self, subject: RuleSubject) -> PermissionRule | None:
        """The rule that allows the last part of the call, if every part has one."""
        spoken_of = [rule for rule in self.allow if rule.about(subject.tool, subject.effect)]
        permitting = None
        facets = list_facets(subject.access, subject.places, hidden=False)
        for facet in facets:
            covering = (rule for rule in spoken_of if rule_fits(rule, facet, subject, wholly=True))
            covering_rule = next(covering, None)
            needs_none = facet.needs_no_rule or enters_workspace(facet, subject.workspace)
            if covering_rule is None and not needs_none:
                return None
            permitting = covering_rule or permitting
        return permitting


def enters_workspace(facet: Facet, workspace: Path) -> bool:
    """Tell whether a command only goes to where it is: `cd /home/ada/project && make test`."""
    match facet.texts:
        # The shell takes `/link/..` for `/`, wherever the link leads.
        case ("cd", folder) if facet.kind == "command" and facet.plain and ".." not in folder:
            return folder == "." or (folder[:1] == "/" and Path(folder).resolve() == workspace)
    return False


def find_rule(rules: Sequence[PermissionRule], subject: RuleSubject) -> PermissionRule | None:
    """The first rule that speaks of any part of the call."""
    spoken_of = [candidate for candidate in rules if candidate.about(subject.tool, subject.effect)]
    if not spoken_of:
        return None
    facets = list_facets(subject.access, subject.places, hidden=True)
    for candidate in spoken_of:
        if any(rule_fits(candidate, facet, subject) for facet in facets):
            return candidate
    return None


def rule_fits(
    rule: PermissionRule, facet: Facet, subject: RuleSubject, wholly: bool = False
) -> bool:
    """`wholly`: it must cover the part for certain, not only touch it."""
    if rule.spec.startswith("#"):
        return len(rule.spec) > 8 and subject.fingerprint.startswith(rule.spec[1:])
    if not rule.spec:
        return not wholly or _covers_anything(rule, facet, subject)
    return spec_fits(rule.spec, facet, subject.arguments, subject.workspace, wholly)


def _covers_anything(rule: PermissionRule, facet: Facet, subject: RuleSubject) -> bool:
    """Check a part of a call by a rule that says nothing of it, or `(**)`."""
    if rule.text.endswith(")"):
        is_caught = catches_special("**", facet, subject.workspace)
        return _in_workspace(facet, subject.workspace) and not is_caught
    return subject.effect is not Effect.WRITE or _in_workspace(facet, subject.workspace)


def _in_workspace(facet: Facet, workspace: Path) -> bool:
    """`Write`, `write_file(**)`: what may be changed, or is said with a pattern, is so from the
    workspace."""
    return facet.kind != "path" or (facet.plain and inside(Path(facet.texts[0]), (workspace,)))


def parse_rules(deny: Iterable[str], ask: Iterable[str], allow: Iterable[str]) -> Rules:
    """Parse texts that hold one rule or several. Raises UsageError for what is no rule."""
    return Rules(_parse_texts(deny), _parse_texts(ask), _parse_texts(allow))


def read_rules(settings: Settings) -> Rules:
    """Parse the rules of the settings. Raises UsageError for what is no rule, with its origin."""
    parsed_rules: dict[str, tuple[PermissionRule, ...]] = {}
    for kind in Rules._fields:
        key = f"guard.{kind}"
        try:
            parsed_rules[kind] = _parse_texts(settings.texts(key))
        except UsageError as error:
            raise UsageError(f"{settings[key].origin}: {key}: {error}", error.hint) from error
    return Rules(**parsed_rules)


def _parse_texts(texts: Iterable[str]) -> tuple[PermissionRule, ...]:
    return tuple(rule for text in texts for rule in parse_rule_list(text))


def find_unreachable_rules(
    rules: Rules, tools: Iterable[str], servers: Iterable[str] = ()
) -> list[str]:
    """Why a rule can never matter, in words, one sentence for each such rule.

    Tools of MCP servers may come later: rules about `mcp__...`, and about tools of one of the
    `servers`, match one that is still to come.
    """
    known_tools = [*tools, *(f"{server}{ANY_TOOL}" for server in servers)]
    sentences = []
    for kind, listed in rules._asdict().items():
        for entry in listed:
            if reason := explain_unreachable(kind, entry, rules, known_tools):
                sentences.append(f"The rule {entry.text!r} ({kind}) never matches: {reason}.")
    return sentences


def explain_unreachable(
    kind: str, rule: PermissionRule, rules: Rules, known_tools: Sequence[str]
) -> str:
    if not _may_name_tool(rule, known_tools):
        return f"there is no tool {rule.tool!r}" + nearest_name(rule.tool, known_tools)
    if kind == "allow":
        if rule.tool == Effect.DESTROY:
            return "what destroys is never done"
        program = rule.spec.removesuffix("*").removesuffix(":").removesuffix(" ")
        if program in WRAPPERS and rule.spec.endswith("*"):
            return "it names a program that runs others, and not what it may run"
    stronger = {"allow": (*rules.deny, *rules.ask), "ask": rules.deny, "deny": ()}[kind]
    for stronger_rule in stronger:
        if stronger_rule.tool == rule.tool and not stronger_rule.spec:
            return f"the rule {stronger_rule.text!r} is stronger"
    return ""


def _may_name_tool(rule: PermissionRule, known_tools: Sequence[str]) -> bool:
    """Tell whether a rule is about an effect, a known tool, or a server's, which may come later."""
    if rule.tool.startswith("mcp__") or rule.tool in EFFECTS:
        return True
    server_names = [name.removesuffix(ANY_TOOL) for name in known_tools if name.endswith(ANY_TOOL)]
    if any(rule.tool.startswith(f"{server}.") for server in server_names):
        return True
    return any(matches_any(name, rule.names) for name in known_tools)


ANY_TOOL = ".*"
"""Stands behind the name of a server whose tools are not known yet; no tool is called so."""

WRAPPERS = frozenset("sudo doas env xargs nohup timeout nice eval exec ssh su time watch".split())


def nearest_name(name: str, known_tools: Sequence[str]) -> str:
    import difflib  # only for a rule that names no tool

    nearest_names = difflib.get_close_matches(name, [*known_tools, *ALIASES], n=1)
    return f", did you mean {nearest_names[0]}" if nearest_names else ""
