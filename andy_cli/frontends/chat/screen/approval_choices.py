"""The question before something is done: what is shown, which answers there are, what they mean."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import UsageError
from andy_cli.frontends.terminal.numbered_diff import write_lines
from andy_cli.guard.approvals import suggest_rules
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest
from andy_cli.guard.rules import parse_rule
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.messages import Effect

YES = ("y", "yes", "1", "once")
SESSION = ("s", "session", "2")
ALWAYS = ("a", "always", "3")
EDIT = ("e", "edit")
ALL = ("d", "diff", "all")
"""Shows what was too long for the screen."""
NO = ("n", "no", "4")
ASKS_WHY = ("4",)
PLACES = (Effect.READ, Effect.PLAY, Effect.NETWORK)
"""A yes to these holds for the place for the session."""


class Choices(NamedTuple):
    """What may be answered."""

    session: bool
    always: tuple[str, ...]
    """The rules that would be kept."""
    meaning: str = ""
    """What they allow, in words."""

    @property
    def rule(self) -> str:
        """What always would mean; a line of its own, as it may be long."""
        if not self.always:
            return ""
        rules = spell_out("; ".join(self.always))
        return f"  always: {spell_out(self.meaning)} (the rule {rules}, e edits it)"

    @property
    def line(self) -> str:
        parts = ["1 once", *["2 this session"] * self.session, *["3 always"] * bool(self.always)]
        return "  ".join([*parts, "4 no, because..."]) + " "


def choices(proposal: ApprovalRequest, workspace: Path) -> Choices:
    """What is done in the user's name, or may not be the model's wish, is asked each time."""
    if proposal.effect is Effect.ACT or proposal.doubtful:
        return Choices(False, ())
    rules = suggest_rules(proposal, workspace)
    return Choices(True, rules, describe_rules(proposal, rules, workspace))


def describe_rules(proposal: ApprovalRequest, rules: Sequence[str], workspace: Path) -> str:
    """What the rules that are offered allow: `edit any file in src/`."""
    claim, specs = proposal.claim, [parse_rule(rule).spec for rule in rules]
    if claim.command:
        return f"run {' and '.join(_describe_command(spec) for spec in specs)}"
    if claim.address:
        return (
            f"ask {specs[0].removesuffix('/**').rpartition(' ')[2]} for anything" if specs else ""
        )
    if claim.places:
        verb = proposal.action.partition(" ")[0]
        return f"{verb} {' and '.join(_describe_places(spec, workspace) for spec in specs)}"
    return f"{proposal.action}, whatever it is given"


def _describe_command(spec: str) -> str:
    """`"git push" and what may follow` for `git push *`."""
    begins = spec.removesuffix(" *")
    return f'"{spec}"' if begins == spec else f'"{begins}" with anything behind it'


def _describe_places(spec: str, workspace: Path) -> str:
    """`any file in src/`, `any *.py here`, or the file itself."""
    path = Path(spec).expanduser()
    inside = path.is_relative_to(workspace)
    shown = str(path.relative_to(workspace)) if inside else spec
    if path.name == "**":
        return f"any file in {shown.removesuffix('**')}"
    return f"any {shown} here" if path.name.startswith("*.") else shown


def shown(proposal: ApprovalRequest) -> Iterator[str]:
    """Exactly what would happen, every character visible; all of it, however long."""
    yield headline(proposal)
    yield from details(proposal)
    yield from write_lines(proposal.claim.diff)
    if proposal.why:
        yield reason(proposal)


def headline(proposal: ApprovalRequest) -> str:
    """`andy wants to edit calc.py (1 line added)`, `andy wants to run: pytest -q`."""
    summary = f" ({proposal.claim.summary})" * bool(proposal.claim.summary)
    return f"andy wants to {spell_out(_action(proposal) + summary)}"


def _action(proposal: ApprovalRequest) -> str:
    command = proposal.claim.command.strip()
    if proposal.action != f"run {' '.join(command.split())}":
        return proposal.action
    # A script of several lines stands below, as it is.
    return "run a script:" if "\n" in command else f"run: {command}"


def reason(proposal: ApprovalRequest) -> str:
    return f"  It is asked because {spell_out(proposal.why)}."


def details(proposal: ApprovalRequest) -> Iterator[str]:
    """What the headline does not say; without the change to a file."""
    claim = proposal.claim
    said, command = _action(proposal), claim.command.strip()
    # A tool that does different things in several places shows them itself.
    places = () if claim.shown and claim.operations else claim.places
    yield from (f"  {spell_out(each)}" for each in places if each not in said)
    if command not in said:
        yield from (f"  $ {spell_out(each)}" for each in command.split("\n"))
    if claim.address and claim.address not in said:
        yield f"  {spell_out(claim.method)} {spell_out(claim.address)}"
    yield from (f"  {spell_out(each)}" for each in claim.shown.split("\n") if claim.shown)


def understood(said: str, offered: Choices) -> ApprovalAnswer | None:
    """What a typed answer means; what stands behind a no is its reason. None if it is neither."""
    word, _, reason = said.strip().partition(" ")
    match word.lower().strip(",.:;"):
        case word if word in YES:
            return ApprovalAnswer(True)
        case word if word in SESSION and offered.session:
            return ApprovalAnswer(True, session=True)
        case word if word in ALWAYS and offered.always:
            return ApprovalAnswer(True, session=True, rules=offered.always)
        case word if word in NO:
            return refused(reason)
    return None


def refused(reason: str) -> ApprovalAnswer:
    """No, and why; the model is told."""
    return ApprovalAnswer(False, reason=reason.strip() and f"the user said: {reason.strip()}")


def not_understood(said: str, offered: Choices) -> str:
    """What is said to an answer that is none of those offered."""
    numbers = ["1", *["2"] * offered.session, *["3"] * bool(offered.always), "4"]
    return (
        f"{spell_out(said.strip()[:40])!r} is no answer: type {', '.join(numbers)}, or Esc for no."
    )


def edited(text: str) -> ApprovalAnswer:
    """Always, by the rules as the user wrote them. Raises UsageError for what is no rule."""
    rules = [each.strip() for each in text.split("; ") if each.strip()]
    for each in rules:
        parse_rule(each)
    if not rules:
        raise UsageError("There is no rule.")
    return ApprovalAnswer(True, session=True, rules=tuple(rules))
