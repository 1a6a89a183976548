"""The question before something is done: what is shown, which answers there are, what they mean."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from andy_cli.call_notes import USER_SAID
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.screen.diff_view import DiffView
from andy_cli.frontends.chat.screen.folded_texts import count_fitting_rows, fold_end
from andy_cli.frontends.terminal import markdown
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest, suggest_rules
from andy_cli.guard.rules import Rules, explain_unreachable, parse_rule, parse_rule_list
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.messages import Effect

YES = frozenset(("y", "yes", "1", "once"))
SESSION = frozenset(("s", "session", "2"))
ALWAYS = frozenset(("a", "always", "3"))
EDIT = ("e", "edit")
ALL = ("d", "diff", "all")
"""Shows what was too long for the screen."""
NO = ("n", "no", "4")
LETTERS = {"1": "y", "2": "s", "3": "a", "4": "n"}
"""The letters that mean the same as the numbers of the answers."""
PUNCTUATION = ",.:;"
ASKS_WHY = ("4",)
KEY = "d shows all"


class ApprovalChoices(NamedTuple):
    """The answers that are offered."""

    session: bool
    always: tuple[str, ...]
    """The rules that would be kept."""
    meaning: str = ""
    """The scope that they allow, in words."""

    @property
    def rule_line(self) -> str:
        """Describe what "always" would allow; a line of its own, as it may be long."""
        if not self.always:
            return ""
        rules = spell_out("; ".join(self.always))
        return f"  always: {spell_out(self.meaning)} (the rule {rules}, e edits it)"

    @property
    def answers(self) -> list[str]:
        """The answers that can be typed, each with its meaning."""
        answers = ["1 once"]
        if self.session:
            answers.append("2 this session")
        if self.always:
            answers.append("3 always")
        return [*answers, "4 no (say why)"]

    @property
    def answer_line(self) -> str:
        return "  ".join(self.answers) + " "


def find_choices(request: ApprovalRequest, workspace: Path) -> ApprovalChoices:
    """Find the answers to offer; what acts in the user's name, may not be the
    model's own request or may be done already, is always asked."""
    if request.effect is Effect.ACT or request.injection_reason:
        return ApprovalChoices(False, ())
    rules = suggest_rules(request, workspace)
    return ApprovalChoices(True, rules, describe_rules(request, rules, workspace))


def describe_rules(request: ApprovalRequest, rules: Sequence[str], workspace: Path) -> str:
    """Describe what the offered rules allow: `edit any file in src/`."""
    if not rules:
        return ""
    access, specs = request.access, [parse_rule(rule_text).spec for rule_text in rules]
    if access.command:
        return f"run {' and '.join(_describe_command(spec) for spec in specs)}"
    if access.address:
        site = specs[0].removesuffix("/**").rpartition(" ")[2]
        places = " and ".join(_describe_places(spec, workspace) for spec in specs[1:])
        asks = f"ask {site} for anything"
        return f"{asks} and keep it in {places}" if places else asks
    if access.places:
        action_verb = request.action.partition(" ")[0]
        places = " and ".join(_describe_places(spec, workspace) for spec in specs)
        return f"{action_verb} {places} {request.action_end}".rstrip()
    return f"{request.action}, whatever it is given"


def _describe_command(command_spec: str) -> str:
    """`"git push" and what may follow` for `git push *`."""
    beginning = command_spec.removesuffix(" *")
    if beginning == command_spec:
        return f'"{command_spec}"'
    return f'"{beginning}" with anything after it'


def _describe_places(path_spec: str, workspace: Path) -> str:
    """`any file in src/`, `any *.py here`, or the file itself."""
    path = Path(path_spec).expanduser()
    is_inside = path.is_relative_to(workspace)
    shown_path = str(path.relative_to(workspace)) if is_inside else path_spec
    if path.name == "**":
        return f"any file in {shown_path.removesuffix('**')}"
    return f"any {shown_path} here" if path.name.startswith("*.") else shown_path


def render_headline(request: ApprovalRequest) -> str:
    """`andy wants to edit calc.py (1 line added)`, `andy wants to run: pytest -q`."""
    headline = _describe_action(request)
    if request.access.summary:
        headline += f" ({request.access.summary})"
    return f"andy wants to {spell_out(headline)}"


def _describe_action(request: ApprovalRequest) -> str:
    command = request.access.command.strip()
    if request.action != f"run {' '.join(command.split())}":
        return request.action
    # A script of several lines stands below, as it is.
    return "run a script:" if "\n" in command else f"run: {command}"


def render_reason(request: ApprovalRequest) -> str:
    return f"  You are asked because {spell_out(request.why)}."


def render_details(request: ApprovalRequest) -> Iterator[str]:
    """Render what the headline does not say; without the change to a file."""
    access = request.access
    headline, command = _describe_action(request), access.command.strip()
    # A tool that does different things in several places shows them itself.
    shown_places = () if access.shown and access.operations else access.places
    yield from _spell_lines(
        (shown_place for shown_place in shown_places if shown_place not in headline), "  "
    )
    if command not in headline:
        yield from _spell_lines(command.split("\n"), "  $ ")
    if access.address and access.address not in headline:
        yield f"  {spell_out(access.method)} {spell_out(access.address)}"
    if access.shown:
        yield from _spell_lines(access.shown.split("\n"), "  ")


def _spell_lines(lines: Iterable[str], prefix: str) -> Iterator[str]:
    for line in lines:
        yield prefix + spell_out(line)


class ApprovalQuestion(NamedTuple):
    """The rows that are printed above the answers."""

    rows: Sequence[Text]
    whole: Sequence[Text] = ()
    """All rows, where those are not."""


def draw_question(request: ApprovalRequest, console: Console) -> ApprovalQuestion:
    """Exactly what would happen; a change of many lines by its beginning."""
    above = [markdown.style_text(render_headline(request), markdown.WARNING)]
    middle: list[Text] = []
    for line in render_details(request):
        details = markdown.style_text(line, markdown.WARNING)
        middle += details.wrap(console, max(10, console.width))
    if request.access.diff:
        middle += DiffView(request.access.diff).render_rows(console.width)
    below = [markdown.style_text(render_reason(request), markdown.WARNING)] if request.why else []
    short = fold_end(middle, count_fitting_rows(console), KEY)
    all_rows = [] if len(short) == len(middle) else [*above, *middle, *below]
    return ApprovalQuestion([*above, *short, *below], all_rows)


def parse_answer(written_answer: str, offered: ApprovalChoices) -> ApprovalAnswer | None:
    """Parse a typed answer; words after a no are its reason. None if it is neither yes nor no.

    A yes with other words after it is none: `a better way is pytest` allows nothing for good.
    """
    first_word, _, reason = written_answer.strip().partition(" ")
    if first_word.lower().strip(PUNCTUATION) in NO:
        return refuse_with_reason(reason)
    match {word.strip(PUNCTUATION) for word in written_answer.lower().split()}:
        case words if not words:
            return None
        case words if words <= YES:
            return ApprovalAnswer(True)
        case words if words <= SESSION and offered.session:
            return ApprovalAnswer(True, session=True)
        case words if words <= ALWAYS and offered.always:
            # Not for the session as well: what the rules do not cover is asked about again.
            return ApprovalAnswer(True, rules=offered.always)
    return None


def refuse_with_reason(reason: str) -> ApprovalAnswer:
    """No, and why; the model is told."""
    return ApprovalAnswer(False, reason=reason.strip() and f"{USER_SAID}: {reason.strip()}")


def describe_bad_answer(written_answer: str, offered: ApprovalChoices) -> str:
    """Describe what can be answered, to somebody who typed something else."""
    numbers = [answer[0] for answer in offered.answers]
    keys = ", ".join(f"{number} ({LETTERS[number]})" for number in numbers)
    typed = spell_out(written_answer.strip()[:40])
    return f"{typed!r} is no answer: type {keys}, or Esc for no."


def parse_edited_rules(text: str, rules: Rules, tools: Collection[str]) -> ApprovalAnswer:
    """Always, by the rules as the user wrote them, beside the `rules` and `tools` there are.

    Raises UsageError for what is no rule, or one that could never allow anything.
    """
    if not text.strip():
        raise UsageError("There is no rule.")
    parsed_rules = rules._replace(allow=tuple(parse_rule_list(text)))
    for rule in parsed_rules.allow:
        if reason := explain_unreachable("allow", rule, parsed_rules, list(tools)):
            raise UsageError(f"The rule {rule.text!r} never matches: {reason}.")
    return ApprovalAnswer(True, rules=tuple(rule.text for rule in parsed_rules.allow))
