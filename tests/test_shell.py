"""No command with an effect runs without consent, however it is written."""

import functools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.command import PART
from andy_cli.guard.commands.verdict import ORDER
from andy_cli.guard.shell import MAX_CHARACTERS, Shell, judge
from tests.cases import Row, loop_over, name, quick_every, rows, sample_every

ROWS = rows("guard/commands.jsonl", "guard/own_commands.jsonl")
ALLOWED = [row for row in ROWS if row["expect"] == "allow"]
HELD = [row for row in ROWS if row["expect"] != "allow" and row["shell"] == "sh"]
ONE_LINE = [row["line"] for row in HELD if "<<" not in row["line"] and "#" not in row["line"]]


def strictness(row: Row) -> tuple[int, int]:
    """How strictly a row is judged, and how strictly it should be."""
    verdict = judge(row["line"], row["shell"]).verdict
    return ORDER.index(verdict), ORDER.index(row["expect"])


@loop_over("row", ROWS, ids=name)
def test_no_verdict_is_looser_than_it_should_be(row: Row) -> None:
    judged, expected = strictness(row)
    assert judged >= expected


def test_hardly_any_verdict_is_stricter(capsys: pytest.CaptureFixture[str]) -> None:
    stricter = [row["line"] for row in ALLOWED if strictness(row)[0] > 0]
    with capsys.disabled():
        sys.stderr.write(
            f"\n{len(stricter)} of {len(ALLOWED)} harmless commands are asked: {stricter}\n"
        )
    assert len(stricter) <= 0.05 * len(ALLOWED)


AROUND = """true; {}
({})
{{ {}; }}
echo $({})
ls && {}
ls || {}
if true; then {}; fi
for x in a; do {}; done
! {}
f() {{ {}; }}; f
cat <({})
x=$({})
case a in a) {};; esac
sh -c '{}'"""


@pytest.mark.parametrize("around", AROUND.split("\n"))
def test_nothing_is_hidden_by_what_stands_around_it(around: str) -> None:
    whole = [line for line in ONE_LINE if not ("'" in line and "'" in around)]
    lines = sample_every(5, whole)
    looser = [
        line
        for line in lines
        if ORDER.index(judge(around.format(line)).verdict) < ORDER.index(verdict_of(line))
    ]
    assert looser == []


@functools.cache
def verdict_of(line: str) -> str:
    return judge(line).verdict


@given(st.sampled_from(HELD), st.data())
def test_quotes_and_backslashes_hide_nothing(row: Row, data: st.DataObject) -> None:
    line = row["line"]
    at = data.draw(st.integers(0, len(line)))
    put = data.draw(st.sampled_from(["''", '""', "\\\n", "\u200b", "\u00a0", "$()"]))
    assert judge(line[:at] + put + line[at:]).verdict != "allow" or "'" in line or '"' in line


@pytest.mark.parametrize("shell", ["sh", "cmd", "powershell"])
@given(
    text=st.text(
        alphabet="lsrmcat /~.-*$`'\"\\;|&<>(){}[]\n=xA%^!#@:,\u200b\u00e9\ufffc\x00", max_size=60
    )
)
def test_no_line_raises(shell: str, text: str) -> None:
    assert PART.answer({"line": text, "shell": shell}, ChunkCut())["verdict"] in ORDER


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert judge(text).verdict in ORDER


@given(st.text(alphabet="lsgrepcat ab./-*'\"\\;|&<>\n$", max_size=30))
def test_what_reads_outside_is_asked_whatever_stands_before_it(text: str) -> None:
    if judge(text).verdict == "allow":
        assert judge(text + "; cat /etc/passwd").verdict == "ask"


@pytest.mark.parametrize(
    "text",
    quick_every(
        3, ["(", "$(", "`", '"', "{a,", "a|", "a;", "ls ", "\\", "<", "x=$x ", "if ", "'", "a\n"]
    ),
)
def test_hostile_lines_end_in_good_time(text: str) -> None:
    shells: tuple[Shell, ...] = ("sh", "cmd", "powershell")
    for shell in shells:
        assert judge(text * (MAX_CHARACTERS // len(text)), shell).verdict in ORDER


def test_links_are_asked_of_whoever_can_see_them() -> None:
    assert judge("cat link", inside=lambda path: path != "link").verdict == "ask"
    assert judge("cat /work/a", inside=lambda path: path == "/work/a").verdict == "allow"
    assert judge("cd sub; cat ../link", inside=lambda path: path != "link").verdict == "ask"


def test_debug_command_says_which_shells_there_are() -> None:
    with pytest.raises(ValueError, match="powershell"):
        PART.answer({"line": "ls", "shell": "fish"}, ChunkCut())
    assert PART.answer({"line": "ls"}, ChunkCut())["verdict"] == "allow"


def test_what_is_too_much_to_be_judged_never_runs() -> None:
    assert judge("ls " + "a" * MAX_CHARACTERS).verdict == "deny"
    assert judge("dir " + "a" * 9000, "cmd").verdict == "deny"
    assert judge("ls;" * 3000).verdict == "deny"
    assert judge("ls" + "|ls" * 3000).verdict == "deny"
    assert judge("ls " + "{a,b}" * 12).verdict == "deny"
    assert judge(" \0").verdict == "ask"


def test_a_script_in_a_script_is_looked_into() -> None:
    assert judge("""bash -c 'sh -c "rm -rf /"'""").verdict == "deny"
    assert judge("sh -c " * 9 + "'rm -rf /'").verdict == "deny"
