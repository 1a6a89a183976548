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
every part of it is: each command of the line, each path, the address. It is denied or asked for
when any part is, whatever wrapper the command hides in.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.guard.commands.lookup import WILDCARDS
from andy_cli.guard.spec import Facet, catches_special, is_clear, list_facets, spec_fits
from andy_cli.guard.workspace import ResourceAccess, inside
from andy_cli.messages import Arguments, Effect
from andy_cli.settings import Settings, is_balanced, split_outside_brackets

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
        return self.tool == effect.value or any(fnmatchcase(tool, name) for name in self.names)


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

    def find_denial(self, subject: RuleSubject) -> PermissionRule | None:
        return find_rule(self.deny, subject)

    def find_question(self, subject: RuleSubject) -> PermissionRule | None:
        return find_rule(self.ask, subject)

    def find_unclear_denial(self, subject: RuleSubject) -> PermissionRule | None:
        """The rule that forbids some commands, where it cannot be known what a line runs."""
        spoken_of = [
            denial
            for denial in self.deny
            if denial.spec and denial.about(subject.tool, subject.effect)
        ]
        return (
            spoken_of[0]
            if spoken_of and subject.access.command and not is_clear(subject.access.command)
            else None
        )

    def find_permission(self, subject: RuleSubject) -> PermissionRule | None:
        """The rule that allows the last part of the call, if every part has one."""
        spoken_of = [
            permission
            for permission in self.allow
            if permission.about(subject.tool, subject.effect)
        ]
        permitting = None
        for facet in list_facets(subject.access, subject.places, hidden=False):
            permitting = next(
                (
                    permission
                    for permission in spoken_of
                    if rule_fits(permission, facet, subject, True)
                ),
                None,
            )
            if permitting is None:
                return None
        return permitting


def find_rule(rules: Sequence[PermissionRule], subject: RuleSubject) -> PermissionRule | None:
    """The first rule that speaks of any part of the call."""
    spoken_of = [candidate for candidate in rules if candidate.about(subject.tool, subject.effect)]
    if not spoken_of:
        return None
    facets = list_facets(subject.access, subject.places, hidden=True)
    return next(
        (
            candidate
            for candidate in spoken_of
            if any(rule_fits(candidate, facet, subject) for facet in facets)
        ),
        None,
    )


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
        reasons = [
            (entry.text, explain_unreachable(kind, entry, rules, known_tools)) for entry in listed
        ]
        sentences += [
            f"The rule {text!r} ({kind}) never matches: {reason}."
            for text, reason in reasons
            if reason
        ]
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
    overruling = next(
        (
            stronger_rule
            for stronger_rule in stronger
            if stronger_rule.tool == rule.tool and not stronger_rule.spec
        ),
        None,
    )
    return f"the rule {overruling.text!r} is stronger" if overruling else ""


def _may_name_tool(rule: PermissionRule, known_tools: Sequence[str]) -> bool:
    """Tell whether a rule is about an effect, a known tool, or a server's, which may come later."""
    if rule.tool.startswith("mcp__") or rule.tool in EFFECTS:
        return True
    server_names = [name.removesuffix(ANY_TOOL) for name in known_tools if name.endswith(ANY_TOOL)]
    if any(rule.tool.startswith(f"{server}.") for server in server_names):
        return True
    return any(fnmatchcase(name, pattern) for name in known_tools for pattern in rule.names)


ANY_TOOL = ".*"
"""Stands behind the name of a server whose tools are not known yet; no tool is called so."""


WRAPPERS = frozenset("sudo doas env xargs nohup timeout nice eval exec ssh su time watch".split())


def nearest_name(name: str, known_tools: Sequence[str]) -> str:
    import difflib  # only for a rule that names no tool

    nearest_names = difflib.get_close_matches(name, [*known_tools, *ALIASES], n=1)
    return f", did you mean {nearest_names[0]}" if nearest_names else ""
