"""Consent: one gate for all tools and dialects, after correction and before execution.

    read, play    inside the workspace: allowed; elsewhere, or a secret: asked, once for a place
    network       asked, once for a host
    write         inside: asked, allowed in mode `edits`; elsewhere: asked
    run           asked, unless every command of the line only reads inside the workspace
    act           asked each time
    destroy       refused, whatever else is allowed; so is what would destroy or open a door
    protocol      never comes here

Modes: `ask` as above; `plan` refuses whatever changes anything; `edits` lets files inside be
changed; `auto` asks only what a rule of `guard.ask` asks for. Rules come before modes:
deny beats ask beats allow. A request that may not be the model's own (it stood in a quotation, or
repeats what a tool returned) always needs a yes of its own. Where nobody can be asked, what would
have to be asked is refused.

Inside is the folder andy was started in, those of `--add-dir`, `music.folders`, and what the user
named in a request or attached to it; an address that the user named is looked at unasked.

A yes to reading or to the network holds for that place for the session: it is asked once. A yes to
a change or to a program holds once, or for the session if the user said so, and then for the very
same one. What is done in the user's name is asked each time.

A command line that the user typed themselves is judged by `decide_typed`: typing it was the yes.
"""

import glob
import os
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from andy_cli.call_notes import USER_SAID
from andy_cli.errors import ToolError
from andy_cli.guard.commands.lookup import is_secret, running_programs
from andy_cli.guard.rules import (
    Facet,
    Rules,
    RuleSubject,
    catches_special,
    enters_workspace,
    find_rule,
    is_special_name,
    list_commands,
    parse_rule,
)
from andy_cli.guard.workspace import (
    NO_ACCESS,
    NO_GRANTS,
    Grants,
    Operation,
    PathJudgement,
    ResourceAccess,
    contain,
    expand_home,
    find_peril,
    inside,
    is_secret_file,
    named_places,
    resolve,
    too_wide,
)
from andy_cli.messages import NO_ARGUMENTS, Arguments, Effect
from andy_cli.settings import is_balanced

MAX_RULES = 4
"""Paths that get a rule each."""


class ApprovalRequest(NamedTuple):
    """A call about to happen: exactly what is shown when asking, and exactly what will run."""

    tool: str
    effect: Effect
    action: str
    access: ResourceAccess = NO_ACCESS
    injection_reason: str = ""
    """Why the request may not be the model's own, or be done already: then it needs a yes whatever
    its effect."""
    guessed: bool = False
    """Which tool was meant is a guess."""
    fingerprint: str = ""
    """Of a tool from elsewhere: a yes to it is a yes to this version of it."""
    arguments: Arguments = NO_ARGUMENTS
    fault: str = ""
    """Why it cannot work, as its tool says beforehand: then nobody is asked."""
    problem: str = ""
    """The fault in words for the user, without advice."""
    action_end: str = ""
    """The words of the action behind all that the call names: `into the trash`."""
    why: str = ""
    """Why it is asked, in words; the gate fills it in."""


class ApprovalStore:
    def __init__(self) -> None:
        self._read: list[Path] = []
        self._hosts: set[str] = set()
        self._same: dict[tuple[str, ...], str] = {}
        """The calls that may be made again, each spelled as a rule would be."""

    def add(self, request: ApprovalRequest, resolved_paths: Sequence[Path], session: bool) -> None:
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

    def cover(self, request: ApprovalRequest, resolved_paths: Sequence[Path]) -> bool:
        if request.effect in (Effect.READ, Effect.PLAY):
            return bool(resolved_paths) and all(
                inside(resolved_path, self._read) for resolved_path in resolved_paths
            )
        if request.effect is Effect.NETWORK:
            return bool(request.access.address) and find_host(request.access) in self._hosts
        return request.effect is not Effect.ACT and _approval_key(request) in self._same


def _approval_key(request: ApprovalRequest) -> tuple[str, ...]:
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


def _spell_call(request: ApprovalRequest) -> str:
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


def suggest_rules(request: ApprovalRequest, workspace: Path) -> tuple[str, ...]:
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


LONE_BRACKETS = str.maketrans({"(": "[(]", ")": "[)]"})


def _spell_rule(tool: str, rule_spec: str) -> str:
    """The rule, in which a bracket without its pair stands for itself."""
    if not is_balanced(rule_spec):
        rule_spec = rule_spec.translate(LONE_BRACKETS)
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
    if path.suffix:
        return f"{_spell_path(workspace)}/*{glob.escape(path.suffix)}"
    return _spell_path(path)


def _is_special(path: Path, workspace: Path) -> bool:
    """Tell whether no pattern covers it, whatever stands around it."""
    inner = path.relative_to(workspace) if path.is_relative_to(workspace) else path
    return is_secret(f"/{inner}") or any(map(is_special_name, inner.parts))


def _command_prefixes(line: str, workspace: Path) -> list[str]:
    """A rule for each command of a line; none where one of them has none."""
    prefixes: dict[str, None] = {}
    for command in list_commands(line, hidden=False):
        if command.needs_no_rule or enters_workspace(command, workspace):
            continue
        if not command.plain or command.runs_input or not command.texts:
            return []
        very_words = glob.escape(" ".join(command.texts))
        if catches_special(very_words, command, workspace):
            return []
        beginning = _find_beginning(command)
        says_more = not beginning or catches_special(beginning, command, workspace)
        prefixes[very_words if says_more else beginning] = None
    return list(prefixes)


def _find_beginning(command: Facet) -> str:
    """`git status *` for `git status -s`; nothing for programs that run others."""
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


Mode = Literal["ask", "plan", "edits", "auto"]


class Decision(NamedTuple):
    allowed: bool
    reason: str
    asked: bool = False
    """The user was asked, or would have had to be."""
    granted: Grants = NO_GRANTS
    """The real paths of the access, by how they were written: what was judged is what is used."""
    needed_no_consent: bool = False
    """Nobody had to agree, as with a command line that only reads."""


class ApprovalAnswer(NamedTuple):
    """The user's answer: yes or no, how long it holds, and why not."""

    yes: bool
    session: bool = False
    reason: str = ""
    rules: tuple[str, ...] = ()
    """Always: the rules that are kept, as the user wants them."""


AskApproval = Callable[[ApprovalRequest], Awaitable[ApprovalAnswer]]
CHANGING_EFFECTS = (Effect.WRITE, Effect.RUN, Effect.ACT)
CONSENT_REASONS = {
    Effect.WRITE: "it changes a file",
    Effect.RUN: "it may do anything",
    Effect.ACT: "it is done in your name",
}
"""Why a call of such an effect is asked about, where nothing nearer is known: the words behind
"You are asked because"."""
NOBODY = "it needs a yes and nobody can be asked"


class Gate:
    """Decides on requests for approval; remembers what the user agreed to for the session."""

    def __init__(
        self,
        workspace: Path,
        folders: Iterable[str] = (),
        rules: Rules = Rules(),  # noqa: B008
        mode: Mode = "ask",
        ask: AskApproval | None = None,
        further: Iterable[Path] = (),
    ) -> None:
        """`folders` count as inside for reading and playing, `further` ones for changes too."""
        self._workspace = workspace.resolve()
        self._further = [folder.resolve() for folder in further]
        known_folders = [resolve(folder, workspace) for folder in folders]
        self._roots = [self._workspace, *self._further, *known_folders]
        self._alone: list[Path] = []
        """Folders that the user named and that are too wide: they count, what is in them does not.
        """
        self._named: list[Path] = []
        """All that the user named: what may hold secrets may be read if it is among them."""
        self._addresses: set[str] = set()
        """Addresses that the user named."""
        self._consents = ApprovalStore()
        self.rules = rules
        self.mode = mode
        self.ask = ask
        self.keep: Callable[[Sequence[str]], object] = lambda rules: None
        """Keeps rules for good, where the user asked for that."""
        self.missing_rules: list[str] = []
        """The rules that would have allowed what nobody could be asked for."""
        self.tools_without_rule: list[str] = []
        """The tools that could have been allowed as a whole alone: no narrower rule covers it."""
        self.needs_user = False
        """Something needs a yes each time, whatever is allowed, and nobody could be asked."""

    def note_user_paths(self, text: str) -> None:
        """The user's own words: the places they name count as inside from now on, and the
        addresses may be looked at."""
        self._addresses |= {_plain_address(address) for address in ADDRESS.findall(text)}
        for resolved_path in named_places(text, self._workspace):
            self._named.append(resolved_path)
            (self._alone if too_wide(resolved_path) else self._roots).append(resolved_path)

    def note_attachment(self, written: str) -> None:
        """The user attached this path to a request: it counts as inside from now on.

        Not a link that leads out of what was inside, which others may have put there; and what may
        hold secrets still needs its yes. Raises ToolError for what no file system can name.
        """
        spelled = Path(os.path.normpath(self._workspace / expand_home(written)))
        if not inside(spelled, self._roots):
            resolved_path = resolve(written, self._workspace)
            (self._alone if too_wide(resolved_path) else self._roots).append(resolved_path)

    def list_grants(self) -> list[str]:
        """List what the user agreed to for this session, each spelled as a rule would be."""
        return self._consents.list_grants()

    def resolve_paths(self, access: ResourceAccess) -> tuple[Path, ...]:
        """Find where the paths of a call lead. Raises ToolError for one that leads nowhere."""
        return tuple(resolve(path, self._workspace, operation) for path, operation in access.uses)

    async def decide(self, request: ApprovalRequest) -> Decision:
        try:
            resolved_paths = self.resolve_paths(request.access)
        except ToolError as error:
            return Decision(False, str(error))
        verdict = await self._decide_resolved(request, resolved_paths)
        if not verdict.allowed:
            return verdict
        return verdict._replace(granted=request.access.grants(resolved_paths))

    async def _decide_resolved(
        self, request: ApprovalRequest, resolved_paths: tuple[Path, ...]
    ) -> Decision:
        rule_subject = self._make_rule_subject(request, resolved_paths)
        if reason := self._find_refusal(request, rule_subject):
            return Decision(False, reason)
        consent_reason = self._explain_needed_consent(request, resolved_paths)
        if self.mode == "plan" and consent_reason and request.effect in CHANGING_EFFECTS:
            return Decision(False, "in plan mode nothing is changed, only planned")
        if reason := request.injection_reason:
            return await self._ask_user(request, resolved_paths, reason, only_once=True)
        if reason := self._rule_asks(rule_subject):
            return await self._ask_user(request, resolved_paths, reason, each_time=True)
        if not consent_reason:
            return Decision(True, "inside the workspace", needed_no_consent=True)
        if reason := self._find_given_consent(request, rule_subject):
            return Decision(True, reason)
        return await self._ask_user(request, resolved_paths, consent_reason)

    def _find_given_consent(self, request: ApprovalRequest, rule_subject: RuleSubject) -> str:
        """Tell why what needs a yes has one already, or nothing."""
        if matching_rule := self.rules.find_permission(rule_subject):
            return f"the rule {matching_rule.text} allows it"
        if self.mode == "auto":
            return "everything but destruction is allowed"
        agreed = self._consents.cover(request, rule_subject.places)
        return "agreed to in this session" if agreed else ""

    def decide_typed(self, request: ApprovalRequest) -> Decision:
        """Decide on a command line that the user typed: nobody is asked about their own word.

        Refused is what is never done, what a rule forbids, and in plan mode what may change
        something.
        """
        if reason := self._find_refusal(request, self._make_rule_subject(request, ())):
            return Decision(False, reason)
        if self.mode == "plan" and self._explain_needed_consent(request, ()):
            return Decision(False, "in plan mode nothing is changed; /mode ask lets it run")
        return Decision(True, "the user typed it")

    def _make_rule_subject(
        self, request: ApprovalRequest, resolved_paths: tuple[Path, ...]
    ) -> RuleSubject:
        """The call as rules see it."""
        return RuleSubject(
            request.tool,
            request.effect,
            request.access,
            request.arguments,
            self._workspace,
            resolved_paths,
            request.fingerprint,
        )

    def _find_refusal(self, request: ApprovalRequest, rule_subject: RuleSubject) -> str:
        """Tell why a call is refused without asking, in every mode, or nothing."""
        if never := self._find_prohibition(request, rule_subject.places):
            return never
        matching_rule = find_rule(self.rules.deny, rule_subject)
        return f"the rule {matching_rule.text} forbids it" if matching_rule else ""

    def _rule_asks(self, rule_subject: RuleSubject) -> str:
        """Tell why a rule wants a yes, or nothing."""
        if matching_rule := find_rule(self.rules.ask, rule_subject):
            return f"the rule {matching_rule.text} asks for it"
        if matching_rule := self.rules.find_unclear_denial(rule_subject):
            return f"the rule {matching_rule.text} forbids what this may run"
        return ""

    def _find_prohibition(self, request: ApprovalRequest, resolved_paths: tuple[Path, ...]) -> str:
        """Tell why a call is refused whatever is allowed, or nothing."""
        access = request.access
        if request.effect is Effect.DESTROY:
            return "this is never done"
        for resolved_path, (written, operation) in zip(resolved_paths, access.uses, strict=True):
            # A start-up file may be a link to one of another name.
            entry = resolve(written, self._workspace, "delete")
            for path in dict.fromkeys((resolved_path, entry)):
                if reason := find_peril(path, operation, self._workspace):
                    return reason
        if access.command:
            return _judge_command(access, self._workspace, "deny")
        return _judge_address(access, "block", "error")

    def _explain_needed_consent(
        self, request: ApprovalRequest, resolved_paths: tuple[Path, ...]
    ) -> str:
        """Tell why a call needs a yes, or nothing."""
        effect, access = request.effect, request.access
        if request.guessed:
            return "which tool was meant is a guess"
        if effect in (Effect.READ, Effect.PLAY):
            return self._check_reading(access.places, resolved_paths)
        if effect is Effect.RUN and access.command:
            return self._check_command(access)
        if (
            effect is Effect.WRITE
            and self.mode == "edits"
            and resolved_paths
            and not access.address
        ):
            return self._check_change(access, resolved_paths)
        if effect is Effect.NETWORK:
            return self._check_address(access)
        return CONSENT_REASONS.get(effect, "it needs a yes")

    def _check_command(self, access: ResourceAccess) -> str:
        """Tell why a command line needs consent, or nothing."""
        judged = _judge_command(access, self._workspace, "ask")
        return judged or ("" if access.contained else "there is no sandbox that would hold it")

    def _check_address(self, access: ResourceAccess) -> str:
        """Tell why an address needs consent, or nothing: the user may have named it."""
        is_named = access.method == "GET" and _plain_address(access.address) in self._addresses
        return _judge_address(access, "ask") or ("" if is_named else "it uses the network")

    def _check_reading(self, paths: Sequence[str], resolved_paths: Sequence[Path]) -> str:
        """Tell why reading there needs consent, or nothing."""
        for written, resolved_path in zip(paths, resolved_paths, strict=True):
            if not inside(resolved_path, self._roots) and resolved_path not in self._alone:
                return f"{written} is outside the workspace"
            if is_secret_file(resolved_path, self._workspace) and resolved_path not in self._named:
                return f"{written} may hold secrets"
        return ""

    def _check_change(self, access: ResourceAccess, resolved_paths: tuple[Path, ...]) -> str:
        """Tell why a change needs consent in mode `edits`, or nothing: what lies inside and is no
        setting of something may be changed."""
        for (written, operation), resolved_path in zip(access.uses, resolved_paths, strict=True):
            if operation in ("read", "list"):
                if reason := self._check_reading([written], [resolved_path]):
                    return reason
                continue
            contained = self._contain_path(written, operation, resolved_path)
            if contained.verdict != "inside":
                return contained.reason or f"{written} is outside the workspace"
        return ""

    def _contain_path(
        self, written: str, operation: Operation, resolved_path: Path
    ) -> PathJudgement:
        """Judge a path by the workspace, and one outside it by the further folders."""
        judged = contain(written, self._workspace, operation, resolved_path)
        for folder in self._further:
            if judged.verdict == "outside":
                judged = contain(str(resolved_path), folder, operation, resolved_path)
        return judged

    async def _ask_user(
        self,
        request: ApprovalRequest,
        resolved_paths: tuple[Path, ...],
        question: str,
        only_once: bool = False,
        each_time: bool = False,
    ) -> Decision:
        """Ask, if there is somebody: a yes holds `only_once`, or a rule wants one `each_time`."""
        if self.ask is None:
            self._note_missing(request, only_once or each_time)
            return Decision(False, f"{question}, and {NOBODY}" if only_once else NOBODY, asked=True)
        answer = await self.ask(request._replace(why=question))
        if answer.yes and not only_once:
            self._consents.add(request, resolved_paths, session=answer.session)
            self._save_rules(answer.rules)
        reason = answer.reason or f"{USER_SAID} {'yes' if answer.yes else 'no'}"
        return Decision(answer.yes, reason, asked=True)

    def _note_missing(self, request: ApprovalRequest, is_always_asked: bool) -> None:
        """Note what would have let happen what nobody could be asked about."""
        if is_always_asked:
            self.needs_user = True
            return
        rules = suggest_rules(request, self._workspace)
        self.missing_rules += [
            suggested for suggested in rules if suggested not in self.missing_rules
        ]
        if not rules and request.tool not in self.tools_without_rule:
            self.tools_without_rule.append(request.tool)

    def _save_rules(self, texts: tuple[str, ...]) -> None:
        if texts:
            self.rules = add_allow_rules(self.rules, texts)
            self.keep(texts)


ADDRESS = re.compile(r"https?://[^\s<>\"'`]+")


def _plain_address(text: str) -> str:
    """Without what may follow it in a sentence, and without the part that is not asked for."""
    return text.partition("#")[0].rstrip(".,;:!?)]}>/")


def _judge_command(access: ResourceAccess, workspace: Path, verdict: Literal["ask", "deny"]) -> str:
    """Give the reason of the judge of command lines, if that is its verdict."""
    # The parser takes 20 ms to load, and most calls are no command.
    from andy_cli.guard import shell

    judged = shell.judge_in_workspace(access.command, workspace)
    return judged.reason if judged.verdict == verdict else ""


def _judge_address(access: ResourceAccess, *verdicts: str) -> str:
    """Give the reason of the judge of addresses for one before any name is looked up."""
    if not access.address or access.trusted:
        return ""
    from andy_cli.guard.addresses import advise_opening, judge  # for what goes to the network

    judged = judge(access.address, access.method, lambda host: (PUBLIC,))
    if judged.verdict not in verdicts:
        return ""
    advice = advise_opening(judged)
    return f"{judged.reason}. {advice.rstrip('.')}" if advice else judged.reason


PUBLIC = "93.184.215.14"
"""Some public address, in place of the one a name leads to: that is looked up when it is fetched,
not before the yes."""
