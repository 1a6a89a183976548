"""What `python -m tests.benchmarks house` says of a package whose figures are counted by hand."""

from pathlib import Path

import pytest

from tests.benchmarks.house import count_members, is_participle, measure, read_source, visited_files

FIRST = '''"""What it is for."""

import re


class Asked:
    """A request."""

    def told(self, word: str) -> bool:  # one word
        return bool(re.search("a", word)) if word else False


def find_words(text: str) -> list[str]:
    return [each for each in text.split() if each]
'''
SECOND = """class Asked:
    pass


class Reply:
    pass


for letter in "ab":
    pass
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "room" / "second.py").write_text(SECOND)
    return tmp_path


def test_a_package_is_measured_as_one_counts_it(package: Path) -> None:
    source = read_source(package)
    assert (source.lines, source.code_lines, source.comments) == (14 + 10, 6 + 6, 1)
    found = measure(source)
    assert found["files of the fullest room"] == "1"
    assert found["functions of one word"] == "50%"
    assert found["functions that are a participle"] == "50%"
    assert found["classes that share their name"] == "67%"
    assert found["loops over `each`"] == "50%"
    assert found["conditional expressions per 100 functions"] == "50.0"
    assert found["comprehensions per 100 functions"] == "50.0"
    assert found["regex calls per 1,000 lines"] == "41.7"
    assert found["functions of complexity over 10"] == "0"


@pytest.mark.parametrize(
    ("name", "participle"),
    [("told", True), ("shown", True), ("asked", True), ("feed", False), ("shred", False),
     ("read", False), ("red", False), ("told_history", False), ("tell", False)],
)  # fmt: skip
def test_a_participle_is_known(name: str, participle: bool) -> None:
    assert is_participle(name) is participle


def test_a_member_counts_once_an_object(tmp_path: Path) -> None:
    file = tmp_path / "turn.py"
    file.write_text(
        "import re\ndef go(chat, tally):\n"
        "    chat.add(tally.text, chat.add, re.M)\n    tally.text\n"
    )
    assert count_members(file) == 2


@pytest.mark.slow
def test_the_files_of_a_call_are_those_it_goes_through() -> None:
    visited = visited_files()
    assert {"andy_cli/agent/turn.py", "andy_cli/guard/gate.py"} <= set(visited)
    assert "andy_cli/frontends/doctor.py" not in visited
    assert not any(path.startswith("andy_cli/frontends/serve/") for path in visited)
