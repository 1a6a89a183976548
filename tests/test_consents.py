"""The gate's finer promises: what a yes covers and for how long, which doubt comes first."""

import asyncio
import json
import re
import tempfile
from pathlib import Path

import pytest

from andy_cli import events
from andy_cli.agent.conversation import Conversation
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.screen import approval_choices
from andy_cli.guard.gate import NOBODY, ApprovalAnswer, ApprovalRequest, Decision, Gate, Mode
from andy_cli.guard.rules import Rules, parse_rules
from andy_cli.guard.workspace import Operation, ResourceAccess
from andy_cli.messages import Effect, ToolCall
from andy_cli.settings import load
from andy_cli.toolbox import runtime_context
from tests.cases import loop_over
from tests.fakes import ScriptedModel, native
from tests.scripted_tools import desk, read_question, speak
from tests.tools import shipped, work_in

YES, FOR_THE_SESSION, NO = (
    ApprovalAnswer(True),
    ApprovalAnswer(True, session=True),
    ApprovalAnswer(False),
)
NO_RULES = parse_rules((), (), ())


class User:
    """Says the same to everything, and remembers why they were asked."""

    def __init__(self, answer: ApprovalAnswer = YES) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def ask(self, approval_request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(approval_request.why)
        return self.answer


def gate_of(
    workspace: Path, user: User | None, mode: Mode = "ask", rules: Rules = NO_RULES
) -> Gate:
    return Gate(workspace, (), rules, mode, user.ask if user else None)


def decide(gate: Gate, effect: Effect, access: ResourceAccess, tool: str = "tool") -> Decision:
    return asyncio.run(gate.decide(ApprovalRequest(tool, effect, "do it", access)))


WRITING = ResourceAccess(("a.txt",), "write")
FETCHING = ResourceAccess(address="https://example.org/a")
RUNNING = ResourceAccess(command="make all")


# What a yes covers.


@pytest.mark.parametrize("answer", [YES, FOR_THE_SESSION])
def test_what_is_done_in_the_users_name_is_asked_each_time(
    answer: ApprovalAnswer, tmp_path: Path
) -> None:
    user = User(answer)
    gate = gate_of(tmp_path, user)
    for _ in range(3):
        assert decide(gate, Effect.ACT, ResourceAccess(shown="Dear Bea")) == Decision(
            True, "the user said yes", asked=True
        )
    assert user.asked == ["it is done in your name"] * 3


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.RUN])
def test_a_yes_to_a_change_or_a_program_holds_once(effect: Effect, tmp_path: Path) -> None:
    user = User(YES)
    gate = gate_of(tmp_path, user)
    for _ in range(2):
        assert decide(gate, effect, ResourceAccess(("a",), "write")).allowed
    assert len(user.asked) == 2


OTHERS = [
    ResourceAccess(("a",), "write", command="make b", address="https://a.org", method="PUT"),
    ResourceAccess(("a",), "write", command="make a", address="https://b.org", method="PUT"),
    ResourceAccess(("a",), "write", command="make a", address="https://a.org", method="POST"),
    ResourceAccess(("b",), "write", command="make a", address="https://a.org", method="PUT"),
    ResourceAccess(("a", "b"), "write", command="make a", address="https://a.org", method="PUT"),
]
ONE = ResourceAccess(("a",), "write", command="make a", address="https://a.org", method="PUT")


@pytest.mark.parametrize("other", OTHERS)
def test_a_yes_for_the_session_holds_for_the_very_same_call(
    other: ResourceAccess, tmp_path: Path
) -> None:
    user = User(FOR_THE_SESSION)
    gate = gate_of(tmp_path, user)
    decide(gate, Effect.RUN, ONE)
    assert decide(gate, Effect.RUN, ONE) == Decision(
        True, "agreed to in this session", granted={"a": tmp_path.resolve() / "a"}
    )
    assert len(user.asked) == 1
    decide(gate, Effect.RUN, other)
    assert len(user.asked) == 2


def test_a_yes_for_the_session_holds_for_one_tool_effect_and_version(tmp_path: Path) -> None:
    user = User(FOR_THE_SESSION)
    gate = gate_of(tmp_path, user)
    base = ApprovalRequest("tool", Effect.RUN, "do it", fingerprint="one")
    asyncio.run(gate.decide(base))
    asyncio.run(gate.decide(base))
    assert len(user.asked) == 1
    for other in (
        base._replace(tool="other"),
        base._replace(effect=Effect.WRITE),
        base._replace(fingerprint="two"),
    ):
        asyncio.run(gate.decide(other))
    assert len(user.asked) == 4


@pytest.mark.parametrize("effect", [Effect.READ, Effect.PLAY])
def test_a_yes_to_some_places_is_none_to_all_places_of_a_call(
    effect: Effect, tmp_path: Path
) -> None:
    user = User()
    gate = gate_of(tmp_path, user)
    decide(gate, effect, ResourceAccess(("/a",)))
    decide(gate, effect, ResourceAccess(("/a/b", "/a")))
    assert len(user.asked) == 1
    for places in (("/a", "/b"), ("/b", "/a")):
        user.answer = NO
        assert not decide(gate, effect, ResourceAccess(places)).allowed
    assert len(user.asked) == 3
    user.answer = YES
    decide(gate, effect, ResourceAccess(("/b", "/c")))
    assert decide(gate, effect, ResourceAccess(("/c", "/a", "/b"))).allowed
    assert len(user.asked) == 4


def test_a_yes_to_the_network_holds_for_that_host(tmp_path: Path) -> None:
    user = User()
    gate = gate_of(tmp_path, user)
    decide(gate, Effect.NETWORK, FETCHING)
    assert decide(gate, Effect.NETWORK, ResourceAccess(address="https://EXAMPLE.org/b")).allowed
    assert len(user.asked) == 1
    decide(gate, Effect.NETWORK, ResourceAccess(address="https://other.org/a"))
    assert len(user.asked) == 2
    assert user.asked == ["it uses the network"] * 2


def test_what_names_no_place_and_no_address_is_asked_each_time(tmp_path: Path) -> None:
    user = User(FOR_THE_SESSION)
    gate = gate_of(tmp_path, user)
    for _ in range(2):
        decide(gate, Effect.NETWORK, ResourceAccess())
        asyncio.run(gate.decide(ApprovalRequest("t", Effect.READ, "read", guessed=True)))
    assert len(user.asked) == 4


def test_a_no_is_kept_for_nothing(tmp_path: Path) -> None:
    user = User(ApprovalAnswer(False, session=True, rules=("write",)))
    gate = gate_of(tmp_path, user)
    kept: list[object] = []
    gate.keep = kept.append
    for _ in range(2):
        assert decide(gate, Effect.WRITE, WRITING) == Decision(
            False, "the user said no", asked=True
        )
    assert len(user.asked) == 2
    assert kept == []


def test_a_yes_for_good_is_kept_and_holds_at_once(tmp_path: Path) -> None:
    user = User(ApprovalAnswer(True, rules=("tool(b/**)", "tool(a.txt)")))
    gate = gate_of(tmp_path, user, rules=parse_rules((), (), ("other",)))
    kept: list[object] = []
    gate.keep = kept.append
    decide(gate, Effect.WRITE, WRITING)
    assert decide(gate, Effect.WRITE, WRITING).reason == "the rule tool(a.txt) allows it"
    assert len(user.asked) == 1
    assert kept == [("tool(b/**)", "tool(a.txt)")]
    assert [rule.text for rule in gate.rules.allow] == ["other", "tool(b/**)", "tool(a.txt)"]


def test_what_holds_for_the_session_is_listed_as_a_rule_would_be(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, User(FOR_THE_SESSION))
    for _ in range(2):
        decide(gate, Effect.READ, ResourceAccess(("/etc/hosts",)))
        decide(gate, Effect.NETWORK, FETCHING)
        decide(gate, Effect.WRITE, WRITING)
        decide(gate, Effect.RUN, RUNNING)
        decide(gate, Effect.RUN, ResourceAccess())
        decide(gate, Effect.ACT, ResourceAccess())
    assert gate.list_grants() == [
        f"read({Path('/etc/hosts').resolve()})",
        "network(example.org)",
        "tool(a.txt)",
        "tool(make all)",
        "tool",
    ]
    once = gate_of(tmp_path, User(YES))
    decide(once, Effect.WRITE, WRITING)
    assert once.list_grants() == []


@pytest.mark.parametrize(("answer", "asked"), [("/etc/*", 2), ("a.txt", 1)])
def test_always_by_an_edited_rule_holds_for_what_the_rule_covers_alone(
    answer: str, asked: int, tmp_path: Path
) -> None:
    user = User(approval_choices.parse_edited_rules(f"tool({answer})", NO_RULES, ["tool"]))
    gate = gate_of(tmp_path, user)
    for _ in range(2):
        assert decide(gate, Effect.WRITE, WRITING).allowed
    assert len(user.asked) == asked


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("wriet_file(x)", "never matches: there is no tool 'wriet_file', did you mean write_file."),
        ("write_file(a); nosuchtool", "never matches: there is no tool 'nosuchtool'."),
        ("edit_file(b)", "never matches: the rule 'edit_file' is stronger."),
        ("blah(", "'blah(' is no rule."),
        (" ", "There is no rule."),
    ],
)
def test_an_edited_rule_that_allows_nothing_is_refused_at_once(written: str, reason: str) -> None:
    rules, tools = parse_rules(("edit_file",), (), ()), ["write_file", "edit_file"]
    with pytest.raises(UsageError, match=re.escape(reason)):
        approval_choices.parse_edited_rules(written, rules, tools)
    assert approval_choices.parse_edited_rules("Write(b); mcp__s", rules, tools).rules == (
        "Write(b)",
        "mcp__s",
    )


# What comes first.


@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE, Effect.RUN, Effect.ACT])
@pytest.mark.parametrize("mode", ["ask", "edits", "auto"])
def test_a_doubtful_request_needs_a_yes_of_its_own(
    effect: Effect, mode: Mode, tmp_path: Path
) -> None:
    user = User(ApprovalAnswer(True, session=True, rules=("other",)))
    gate = gate_of(tmp_path, user, mode, parse_rules((), (), ("tool",)))
    kept: list[object] = []
    gate.keep = kept.append
    access = ResourceAccess(("a.txt",), "write" if effect is Effect.WRITE else "read")
    approval_request = ApprovalRequest(
        "tool", effect, "do it", access, injection_reason="it was quoted"
    )
    for _ in range(2):
        assert asyncio.run(gate.decide(approval_request)).asked
    assert user.asked == ["it was quoted"] * 2
    assert kept == []
    assert [rule.text for rule in gate.rules.allow] == ["tool"]


def test_a_yes_to_a_doubtful_request_holds_for_no_other(tmp_path: Path) -> None:
    user = User(FOR_THE_SESSION)
    gate = gate_of(tmp_path, user)
    approval_request = ApprovalRequest(
        "tool", Effect.READ, "read", ResourceAccess(("/a",)), injection_reason="it was quoted"
    )
    asyncio.run(gate.decide(approval_request))
    asyncio.run(gate.decide(approval_request._replace(injection_reason="")))
    assert user.asked == ["it was quoted", "/a is outside the workspace"]


def test_no_rule_is_offered_where_a_yes_is_needed_each_time(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, None)
    approval_request = ApprovalRequest(
        "tool", Effect.WRITE, "do it", WRITING, injection_reason="it was quoted"
    )
    assert asyncio.run(gate.decide(approval_request)) == Decision(
        False, f"it was quoted, and {NOBODY}", asked=True
    )
    assert (gate.tools_without_rule, gate.needs_user) == ([], True)
    decide(gate, Effect.ACT, ResourceAccess(shown="Dear Bea"))
    assert gate.missing_rules == []
    for _ in range(2):
        decide(gate, Effect.RUN, ResourceAccess(command="touch all"), tool="terminal_execute")
    assert gate.missing_rules == ["terminal_execute(touch all *)"]


def test_a_guessed_tool_is_asked_for_even_where_it_only_reads(tmp_path: Path) -> None:
    user = User()
    gate = gate_of(tmp_path, user)
    approval_request = ApprovalRequest(
        "tool", Effect.READ, "read", ResourceAccess(("a",)), guessed=True
    )
    assert asyncio.run(gate.decide(approval_request)).asked
    assert user.asked == ["which tool was meant is a guess"]
    free = asyncio.run(gate.decide(approval_request._replace(guessed=False)))
    assert free == Decision(
        True,
        "inside the workspace",
        granted={"a": tmp_path.resolve() / "a"},
        needed_no_consent=True,
    )


def test_a_rule_that_asks_comes_before_one_that_allows_and_before_the_mode(tmp_path: Path) -> None:
    user = User()
    rules = parse_rules((), ("tool(a.txt)",), ("tool(a.txt)", "tool(b.txt)"))
    for mode in ("ask", "edits", "auto"):
        gate = gate_of(tmp_path, user, mode, rules)
        decide(gate, Effect.WRITE, WRITING)
        decide(gate, Effect.WRITE, ResourceAccess(("b.txt",), "write"))
    assert user.asked == ["the rule tool(a.txt) asks for it"] * 3


def test_a_rule_that_denies_comes_before_every_yes(tmp_path: Path) -> None:
    user = User()
    for mode in ("ask", "edits", "auto"):
        gate = gate_of(tmp_path, user, mode, parse_rules(("tool(a.txt)",), (), ("tool",)))
        assert decide(gate, Effect.WRITE, WRITING) == Decision(
            False, "the rule tool(a.txt) forbids it"
        )
    assert user.asked == []


WHY = [
    (Effect.WRITE, ResourceAccess(("a.txt",), "write"), "it changes a file"),
    (Effect.RUN, ResourceAccess(("a.txt",)), "it may do anything"),
    (Effect.RUN, ResourceAccess(command="ls"), "there is no sandbox that would hold it"),
    (
        Effect.RUN,
        ResourceAccess(command="cat <<'END'\ntext\nEND"),
        "what its here-document does is not checked",
    ),
    (Effect.ACT, ResourceAccess(command="ls"), "it is done in your name"),
    (Effect.NETWORK, FETCHING, "it uses the network"),
    (Effect.READ, ResourceAccess((".env",)), ".env may hold secrets"),
]


@pytest.mark.parametrize(("effect", "access", "why"), WHY)
def test_the_user_is_told_why_they_are_asked(
    effect: Effect, access: ResourceAccess, why: str, tmp_path: Path
) -> None:
    user = User()
    decide(gate_of(tmp_path, user), effect, access)
    assert user.asked == [why]


# Modes.


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.RUN, Effect.ACT])
def test_plan_mode_refuses_whatever_changes_something(effect: Effect, tmp_path: Path) -> None:
    user = User()
    gate = gate_of(tmp_path, user, "plan", parse_rules((), (), ("tool",)))
    verdict = decide(gate, effect, WRITING)
    assert not verdict.allowed
    assert not verdict.asked
    assert "plan mode" in verdict.reason
    injection_reason = ApprovalRequest(
        "tool", effect, "do it", WRITING, injection_reason="it was quoted"
    )
    assert not asyncio.run(gate.decide(injection_reason)).asked
    assert user.asked == []


def test_plan_mode_reads_as_mode_ask_does(tmp_path: Path) -> None:
    user = User()
    gate = gate_of(tmp_path, user, "plan")
    assert not decide(gate, Effect.READ, ResourceAccess(("a",))).asked
    assert not decide(gate, Effect.RUN, ResourceAccess(command="ls", contained=True)).asked
    assert decide(gate, Effect.NETWORK, FETCHING).asked
    assert decide(gate, Effect.READ, ResourceAccess(("/a",))).asked


def test_auto_asks_for_nothing_and_says_so(tmp_path: Path) -> None:
    user = User()
    gate = gate_of(tmp_path, user, "auto")
    for effect in (Effect.READ, Effect.NETWORK, Effect.WRITE, Effect.RUN, Effect.ACT):
        verdict = decide(gate, effect, ResourceAccess(("/srv/a",), "write"))
        assert verdict.allowed
        assert not verdict.needed_no_consent
        assert verdict.reason == "everything but destruction is allowed"
    assert user.asked == []


EDITED: list[tuple[tuple[str, ...], Operation, bool]] = [
    (("a.txt",), "write", True),
    (("docs/a.txt", "b.txt"), "write", True),
    (("../a.txt",), "write", False),
    (("a.txt", "../b.txt"), "write", False),
    ((".git/config",), "write", False),
    ((".git/hooks/pre-commit",), "write", False),
    ((".env",), "read", False),
    ((".env",), "list", False),
    (("a.txt",), "list", True),
    (("../a.txt",), "list", False),
    ((), "write", False),
]


@pytest.mark.parametrize(("places", "operation", "free"), EDITED)
def test_mode_edits_changes_files_inside_but_no_settings_and_reads_no_secrets(
    places: tuple[str, ...], operation: Operation, free: bool, tmp_path: Path
) -> None:
    user = User()
    gate = gate_of(tmp_path, user, "edits")
    access = ResourceAccess(places, operations=(operation,) * len(places))
    assert decide(gate, Effect.WRITE, access).allowed
    assert bool(user.asked) is not free


def test_mode_edits_asks_for_what_also_goes_to_the_network(tmp_path: Path) -> None:
    user = User()
    gate = gate_of(tmp_path, user, "edits")
    access = ResourceAccess(("a.txt",), "write", address="https://example.org/a")
    assert decide(gate, Effect.WRITE, access).asked
    assert decide(gate, Effect.RUN, RUNNING).asked


def test_mode_edits_copies_from_where_the_user_named_a_place(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "named").mkdir()
    user = User()
    gate = gate_of(tmp_path / "work", user, "edits")
    source = str(tmp_path / "named" / "a.txt")
    access = ResourceAccess((source, "a.txt"), operations=("read", "write"))
    decide(gate, Effect.WRITE, access)
    assert user.asked == [f"{source} is outside the workspace"]
    gate.note_user_paths(f"copy a.txt from {tmp_path}/named here")
    assert not decide(gate, Effect.WRITE, access).asked


def test_what_may_hold_secrets_is_read_unasked_where_the_user_named_that_very_file(
    tmp_path: Path,
) -> None:
    user = User()
    gate = gate_of(tmp_path, user)
    for name in (".env", ".env.local"):
        (tmp_path / name).write_text("KEY=1")
    gate.note_user_paths(f"read {tmp_path}/.env please")
    assert not decide(gate, Effect.READ, ResourceAccess((".env",))).asked
    assert decide(gate, Effect.READ, ResourceAccess((".env.local",))).asked


# Addresses.


NAMED = [
    ("https://example.org/news", "GET", True),
    ("https://example.org/news#part", "GET", True),
    ("https://example.org/news", "HEAD", False),
    ("https://example.org/news", "POST", False),
    ("https://example.org/other", "GET", False),
    ("http://example.org/news", "GET", False),
]


@pytest.mark.parametrize(("address", "method", "free"), NAMED)
def test_an_address_is_looked_at_unasked_where_the_user_named_that_very_one(
    address: str, method: str, free: bool, tmp_path: Path
) -> None:
    user = User()
    gate = gate_of(tmp_path, user)
    gate.note_user_paths("what is on (https://example.org/news#top)?")
    gate.note_user_paths("and then?")
    decide(gate, Effect.NETWORK, ResourceAccess(address=address, method=method))
    assert bool(user.asked) is not free


def test_an_address_that_looks_like_another_is_asked_also_where_the_user_named_it(
    tmp_path: Path,
) -> None:
    user = User()
    gate = gate_of(tmp_path, user)
    gate.note_user_paths("look at https://xn--80ak6aa92e.com/a")
    decide(gate, Effect.NETWORK, ResourceAccess(address="https://xn--80ak6aa92e.com/a"))
    assert len(user.asked) == 1
    assert "letters that look like others" in user.asked[0]


@pytest.mark.parametrize("address", ["http://169.254.169.254/latest/meta-data", "ftp://a.org/b"])
def test_an_address_that_is_never_asked_is_refused_whatever_is_allowed(
    address: str, tmp_path: Path
) -> None:
    user = User()
    gate = gate_of(tmp_path, user, "auto", parse_rules((), (), ("tool",)))
    verdict = decide(gate, Effect.NETWORK, ResourceAccess(address=address))
    assert not verdict.allowed
    assert not verdict.asked
    assert decide(gate, Effect.NETWORK, ResourceAccess(address=address, trusted=True)).allowed


def test_what_a_tool_may_not_do_is_not_granted(tmp_path: Path) -> None:
    gate = gate_of(tmp_path, None)
    assert decide(gate, Effect.WRITE, WRITING).granted == {}
    allowed = decide(gate_of(tmp_path, User()), Effect.WRITE, ResourceAccess(("./a//b",), "write"))
    assert allowed.granted == {"a/b": tmp_path.resolve() / "a" / "b"}


@pytest.mark.parametrize(
    ("rule", "allowed"), [("tool(#12345678)", True), ("tool(#1234567)", False)]
)
def test_a_rule_for_a_version_names_enough_of_its_fingerprint(
    rule: str, allowed: bool, tmp_path: Path
) -> None:
    gate = gate_of(tmp_path, None, rules=parse_rules((), (), (rule,)))
    approval_request = ApprovalRequest("tool", Effect.RUN, "do it", fingerprint="1234567890abcdef")
    assert asyncio.run(gate.decide(approval_request)).allowed is allowed


def test_a_claim_reads_where_it_says_nothing_else() -> None:
    assert ResourceAccess(("a", "b")).uses == (("a", "read"), ("b", "read"))
    assert ResourceAccess(("a",), "write").uses == (("a", "write"),)
    assert not ResourceAccess().uses


def test_a_path_that_cannot_be_is_refused_without_a_question(tmp_path: Path) -> None:
    user = User()
    verdict = decide(gate_of(tmp_path, user), Effect.READ, ResourceAccess(("a\0b",)))
    assert (verdict.allowed, verdict.asked, user.asked) == (False, False, [])


# What always means, in words.

RUN_GIT = ResourceAccess(command="git push -f && make")
OFFERED = [
    (
        "edit_file",
        Effect.WRITE,
        "edit src/a.py",
        ResourceAccess(("src/a.py",), "write"),
        "edit any file in src/",
    ),
    (
        "edit_file",
        Effect.WRITE,
        "edit a.py",
        ResourceAccess(("a.py",), "write"),
        "edit any *.py here",
    ),
    ("write_file", Effect.WRITE, "write .env", ResourceAccess((".env",), "write"), "write .env"),
    (
        "terminal_execute",
        Effect.RUN,
        "run it",
        RUN_GIT,
        'run "git push" with anything after it and "make"',
    ),
    (
        "fetch_page",
        Effect.NETWORK,
        "read a page",
        ResourceAccess(address="https://a.example/b"),
        "ask https://a.example for anything",
    ),
    (
        "api_call",
        Effect.WRITE,
        "send a request",
        ResourceAccess(("a.json",), "write", address="https://a.example/b"),
        "ask https://a.example for anything and keep it in any *.json here",
    ),
    ("fs.move", Effect.RUN, "move (fs)", ResourceAccess(), "move (fs), whatever it is given"),
]


@pytest.mark.parametrize(("tool", "effect", "action", "access", "meaning"), OFFERED)
def test_what_always_would_allow_is_said_in_words_beside_the_rule(
    tool: str, effect: Effect, action: str, access: ResourceAccess, meaning: str, tmp_path: Path
) -> None:
    offered = approval_choices.find_choices(ApprovalRequest(tool, effect, action, access), tmp_path)
    assert offered.rule_line.startswith(f"  always: {meaning} (the rule {tool}")
    assert all(rule in offered.rule_line for rule in offered.always)


def test_all_of_an_action_is_said_of_always(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.py").write_text("x = 1\n")
    chat = desk(ScriptedModel([]), registry=shipped("files"))
    approval_request = chat.tools.propose(ToolCall("1", "trash", {"paths": ["long.py"]}))
    offered = approval_choices.find_choices(approval_request, tmp_path)
    assert offered.meaning == "put long.py into the trash"


def test_nothing_is_said_of_always_where_it_is_not_offered(tmp_path: Path) -> None:
    offered = approval_choices.find_choices(
        ApprovalRequest("gmail_send", Effect.ACT, "send it"), tmp_path
    )
    assert (offered.rule_line, offered.always) == ("", ())
    for command in ("echo $(id)", "make > x"):
        access = ResourceAccess(command=command)
        assert (
            approval_choices.find_choices(
                ApprovalRequest("t", Effect.RUN, "run", access), tmp_path
            ).rule_line
            == ""
        )


# What is shown before a yes.

SHOWN = [
    ("run pytest -q", ResourceAccess(command="pytest -q\n"), ["andy wants to run: pytest -q"]),
    (
        "run echo \x1b[2J",
        ResourceAccess(command="echo \x1b[2J"),
        ["andy wants to run: echo \\x1b[2J"],
    ),
    (
        "run cd src make",
        ResourceAccess(command="cd src\nmake"),
        ["andy wants to run a script:", "  $ cd src", "  $ make"],
    ),
    (
        "run your command called shrink",
        ResourceAccess(command="convert a.png"),
        ["andy wants to run your command called shrink", "  $ convert a.png"],
    ),
    (
        "write a.txt",
        ResourceAccess(
            ("a.txt",), "write", summary="new file, 1 line", diff="@@ -0,0 +1,1 @@\n+x\u202e"
        ),
        ["andy wants to write a.txt (new file, 1 line)", "  1 + x\\u202e"],
    ),
]


@pytest.mark.parametrize(("action", "access", "lines"), SHOWN)
def test_before_a_yes_exactly_what_would_happen_is_said_once(
    action: str, access: ResourceAccess, lines: list[str]
) -> None:
    assert read_question(ApprovalRequest("tool", Effect.RUN, action, access)) == lines


LONG = "".join(f"{number}\n" for number in range(1, 4001))
CHANGES = {
    "replaced": ("write_file", {"content": "one\nTWO\n"}, "one\ntwo\n", "ZERO\none\ntwo\n"),
    "made": ("write_file", {"content": "mine\n"}, "", "precious\n"),
    "long": ("write_file", {"content": "x\n"}, LONG, LONG.replace("\n2500\n", "\nprecious\n")),
    "edited": ("edit_file", {"old_string": "b", "new_string": "c", "replace_all": True}, "b", "bb"),
    "edited away": ("edit_file", {"old_string": "b", "new_string": "c"}, "b\n", "a\n"),
    "moved": ("move", {"paths": ["*.txt"], "destination": "to/"}, "one\n", "one\n"),
}


@loop_over(("name", "arguments", "before", "after"), CHANGES.values(), ids=CHANGES)
def test_a_yes_is_none_to_what_became_of_a_file_while_it_was_asked_about(
    name: str, arguments: dict[str, object], before: str, after: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder, "a.txt"), Path(folder, "b.txt")
        work_in(Path(folder))
        path.write_text(before) if before else None

        async def ask(approval_request: ApprovalRequest) -> ApprovalAnswer:
            path.write_text(after)
            other.write_text("another")
            return YES

        written = json.dumps(arguments if name == "move" else {"path": "a.txt", **arguments})
        model = ScriptedModel([native((name, written)), "It was changed."], tools=True)
        gate = Gate(Path(folder), ask=ask)
        chat = Conversation(model, shipped("files"), gate, load((), environment={}), Path(folder))
        seen = speak(chat, "change it")
        runtime_context.leave_context()
        assert path.read_text() == after
        result = next(event for event in seen if isinstance(event, events.ToolAnswered))
        assert result.error.startswith("What this would change has changed after it was shown")
        assert result.problem == "what is there changed after it was shown"
