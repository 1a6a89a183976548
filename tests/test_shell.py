"""No command with an effect runs without consent, however it is written."""

import functools
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.command import PART
from andy_cli.guard.commands.bash import MAX_CHARACTERS
from andy_cli.guard.shell import ORDER, Shell, judge, judge_in_workspace
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


@pytest.mark.parametrize("around", quick_every(8, AROUND.split("\n")))
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


@pytest.mark.slow
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


@pytest.fixture
def project(home: Path) -> Path:
    """A project in a home that lies nowhere usual, in which a start-up file is a link."""
    bea = home / "data" / "bea"
    project = bea / "proj"
    for folder in (project / "sub", bea / "dotfiles", bea / "Documents", home / "other"):
        folder.mkdir(parents=True)
    (bea / "dotfiles" / "rc").write_text("rc")
    (bea / ".bashrc").symlink_to("dotfiles/rc")
    (bea / "loose.txt").write_text("loose")
    (project / "link").symlink_to(bea)
    (project / "self").symlink_to(".")
    (project / "python").symlink_to("/usr/bin/env")
    return project


HARMFUL = """rm -rf {home}
rm -rf ..
rm -rf ../../bea
rm -rf ../../be*
rm -rf ../*
rm -rf ../../../data
rm -rf link/
rm -rf ../Documents
find {home} -delete
find ../ -delete
mv ../../bea x
mv ../.bashrc x
rsync -a --delete sub/ link
trash ..
cd link && rm -rf *
cd sub && cd ../.. && rm -rf .
d=../../bea; rm -rf $d
sudo rm -rf ../../bea
ls -d ../../bea | xargs rm -rf
echo x >> {home}/.bashrc
echo x >> ../.bashrc
echo x >> link/.bashrc
cp a ../.profile
cp .profile ..
cp .profile link
ln -sf /x ../.zshrc
echo x | tee -a ../.bashrc
dd if=a of=../.bashrc
sed -i s/a/b/ ../.bashrc
cd .. && touch .profile
cd .. && echo x >> .bashrc
sh -c 'cd .. && echo x >> .bashrc'
(cd sub); echo x >> ../.bashrc
cd sub | true; echo x >> ../.bashrc
echo x > ../.ssh/authorized_keys""".splitlines()
ORDINARY = """rm -rf build
rm -rf ./build {project}/build
find . -delete
find {project} -name '*.pyc' -delete
cd sub && rm -rf ../build
cd sub && make && cd .. && rm -rf build
(cd .. && ls) && rm -rf build
cp a b
mv a b
mv ../loose.txt .
rm -rf ../Documents/old
rm -rf {other}
rm -rf link
rm -rf self
ln -sf /usr/bin/env python
sed -i s/a/b/ notes.txt
rsync -a --delete sub/ build
echo x > notes.txt
echo x > ../notes.txt
echo x > .bashrc
make > /dev/null 2> /dev/stderr""".splitlines()


def test_the_home_is_known_by_where_it_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = project.parent
    monkeypatch.setenv("HOME", str(home))
    named = {"home": home, "project": project, "other": home.parent.parent / "other"}
    for line in HARMFUL:
        judged = judge_in_workspace(line.format(**named), project, "sh")
        assert judged.verdict == "deny", line
    for line in ORDINARY:
        judged = judge_in_workspace(line.format(**named), project, "sh")
        assert judged.verdict == "ask", (line, judged.reason)


def test_the_home_is_known_where_it_is_a_link_or_the_workspace_or_lies_in_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, link = project.parent, project.parent.parent / "link"
    link.symlink_to(home)
    for spelled_home in (home, link):
        monkeypatch.setenv("HOME", str(spelled_home))
        for line in ("rm -rf {}", "echo x >> {}.bashrc", "mv {} x"):
            for written in (f"{home}/", f"{link}/"):
                assert judge_in_workspace(line.format(written), project, "sh").verdict == "deny"
        for line in (
            "rm -rf .",
            "rm -rf *",
            "find . -delete",
            "echo x >> .bashrc",
            "rm -rf ../bea",
        ):
            assert judge_in_workspace(line, home, "sh").verdict == "deny", line
        for line in ("rm -rf build", "mv *.txt sub", "find proj -delete", "touch notes.txt"):
            assert judge_in_workspace(line, home, "sh").verdict == "ask", line
        for line in ("rm -rf bea", "rm -rf bea/*", "echo x >> bea/.bashrc"):
            assert judge_in_workspace(line, home.parent, "sh").verdict == "deny", line


def test_the_home_is_known_on_windows_too() -> None:
    def locate(place: str, follows: bool) -> tuple[str, ...]:
        return ("/~",) if place.endswith("\\bea") else ()

    for line in (r"rd /s /q ..\..\bea", r'rd /s /q "D:\homes\bea"'):
        assert judge(line, "cmd", locate=locate).verdict == "deny"
        assert judge(line, "cmd").verdict == "ask"
    assert judge(r"rd /s /q build", "cmd", locate=locate).verdict == "ask"
    assert judge(r"rm -r ..\..\bea", "powershell", locate=locate).verdict == "deny"


def test_a_place_that_no_file_system_can_name_is_judged_by_its_spelling(project: Path) -> None:
    for written in ("$'a\\0b'", "\ud800", "x" * 5000, "self/" * 900):
        assert judge_in_workspace(f"rm -rf {written}", project, "sh").verdict == "ask", written


@pytest.mark.slow
def test_many_places_are_looked_up_in_good_time(project: Path) -> None:
    names = " ".join(f"f{number}" for number in range(2000))
    for program in ("xargs rm", "sudo cp", "tee"):
        assert judge_in_workspace(f"{program} {names}", project, "sh").verdict == "ask"
    assert judge_in_workspace("cp " + "-t a " * 2000, project, "sh").verdict == "ask"


def test_a_cd_in_a_shell_of_its_own_counts_there_alone() -> None:
    for line in ("(cd sub); cat ../x", "echo $(cd sub); cat ../x", "cd sub | cat ../x"):
        assert judge(line).verdict == "ask", line
    assert judge("(cd sub; cat ../x)").verdict == "allow"
    assert judge("(cd sub); cat x").verdict == "allow"


@pytest.mark.slow
def test_a_line_that_names_too_many_deep_places_is_refused_at_once(tmp_path: Path) -> None:
    deep = "cd " + "a/" * 1900
    names = " ".join(f"f{number}" for number in range(700))
    assert judge_in_workspace(f"{deep}; mv {names} d", tmp_path).verdict == "deny"
    assert judge_in_workspace(f"mv {names} d", tmp_path).verdict == "ask"
