"""What an answer says that nothing supports is found, and what is supported is left alone."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andy_cli.agent.grounding.audit import (
    Claim,
    Deed,
    Evidence,
    backing,
    marked,
    rewrite_request,
    unsupported,
)
from andy_cli.agent.grounding.marking import MARKER, unmarked
from andy_cli.frontends.debug.part import Cut
from andy_cli.frontends.debug.parts.ground import PART

CORPUS = Path(__file__).parent / "corpora" / "grounding"


def rows(name: str) -> list[dict[str, str]]:
    lines = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def scenes(name: str) -> dict[str, Evidence]:
    lines = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        each["scene"]: Evidence(
            tuple(each["results"]),
            each["user"],
            tuple(each["history"]),
            tuple(Deed(*deed) for deed in each.get("deeds", ())),
        )
        for each in map(json.loads, lines)
    }


SCENES = scenes("scenes")
HONEST, ALTERED = rows("honest"), rows("altered")
FRESH = ("fresh", "fresh2", "fresh3", "fresh4", "fresh5")
"""Each was written before the audit had seen any of it, and is kept as it was written."""
LISTED = Evidence(('["song1.mp3", "song2.mp3"]',), "play something")


def texts(answer: str, evidence: Evidence) -> list[str]:
    return [each.text for each in unsupported(answer, evidence)]


def caught(row: dict[str, str], evidence: Evidence) -> bool:
    found = texts(row["answer"], evidence)
    return any(row["expect"] in each or each in row["expect"] for each in found)


def test_the_written_sets_are_long_and_a_part_of_them_was_kept_aside() -> None:
    assert len(HONEST) >= 200
    assert len(ALTERED) >= 200
    assert any(row["aside"] for row in HONEST)


def test_hardly_an_honest_answer_raises_an_alarm() -> None:
    alarms = [row["id"] for row in HONEST if texts(row["answer"], SCENES[row["scene"]])]
    assert len(alarms) <= len(HONEST) // 100, alarms


def test_few_altered_answers_are_missed() -> None:
    missed = [row["id"] for row in ALTERED if not caught(row, SCENES[row["scene"]])]
    assert len(missed) <= len(ALTERED) // 12, missed


@pytest.mark.parametrize("name", FRESH)
def test_an_honest_answer_of_a_fresh_set_raises_no_alarm(name: str) -> None:
    known = scenes(f"{name}_scenes")
    honest = [row for row in rows(name) if not row["expect"]]
    alarms = [row["id"] for row in honest if texts(row["answer"], known[row["scene"]])]
    assert len(honest) >= 15
    assert not alarms


@pytest.mark.parametrize("name", FRESH)
def test_most_altered_answers_of_a_fresh_set_are_caught(name: str) -> None:
    known = scenes(f"{name}_scenes")
    altered = [row for row in rows(name) if row["expect"]]
    missed = [row["id"] for row in altered if not caught(row, known[row["scene"]])]
    assert len(altered) > 30
    assert len(missed) <= len(altered) // 4, missed


DEEDS = [
    ("I've sent the email to Ann.", Deed("gmail_send", "send mail to Ann", "sent it", True), []),
    ("I have deleted a.txt.", Deed("shell", "run `rm a.txt`", "ran `rm a.txt`", True), []),
    ("I have moved it to b.txt.", Deed("file_put", "write b.txt", "", False), ["moved", "b.txt"]),
    ("I have deleted a.txt.", Deed("delete", "delete a.txt", "", False), ["I have deleted a.txt"]),
    ("I could not delete a.txt.", Deed("delete", "delete a.txt", "", False), []),
    ("I've closed the issue.", Deed("tracker_x1", "frobnicate 7", "frobnicated 7", True), []),
    (
        "I am playing b.mp3.",
        Deed("play_mp3", "play a.mp3", "started a.mp3", True),
        ["I am playing"],
    ),
    ("I ran the tests; two failed.", Deed("terminal_execute", "run pytest", "", False), []),
    ("I've deleted a.txt.", Deed("list_directory", "list files", "listed 3 files", True), ["I've"]),
]


@pytest.mark.parametrize(("answer", "deed", "parts"), DEEDS)
def test_what_is_said_to_be_done_was_done(answer: str, deed: Deed, parts: list[str]) -> None:
    found = texts(answer, Evidence((), "see to a.txt, b.mp3 and b.txt", (), (deed,)))
    assert bool(found) == bool(parts)
    assert all(any(part in each for each in found) for part in parts[:1])


def test_a_claim_says_where_it_stands() -> None:
    answer = "There are song1.mp3, ghost.mp3 and song2.mp3."
    assert unsupported(answer, LISTED) == (Claim("ghost.mp3", 21, 30, "file"),)


def test_without_results_only_deeds_are_looked_at() -> None:
    assert texts("The file ghost.mp3 has 7 MB and 12 pages.", Evidence(())) == []


MARKINGS = [
    ("Play ghost.mp3 now.", "Play ghost.mp3 (not verified) now."),
    ("Play `ghost.mp3` now.", "Play `ghost.mp3` (not verified) now."),
    ("Play **ghost.mp3**.", "Play **ghost.mp3** (not verified)."),
    ("Play [ghost.mp3](a.html)", "Play [ghost.mp3](a.html) (not verified)"),
    ("```\nghost.mp3\n```\nThere.", "```\nghost.mp3\n```\n (not verified)\nThere."),
]


@pytest.mark.parametrize(("answer", "shown"), MARKINGS)
def test_the_marker_stands_beside_the_claim_and_never_in_code(answer: str, shown: str) -> None:
    at = answer.index("ghost.mp3")
    assert marked(answer, [Claim("ghost.mp3", at, at + 9, "file")]) == shown


def test_the_model_is_asked_once_for_all() -> None:
    claims = unsupported("I deleted song1.mp3. There is ghost.mp3.", LISTED)
    request = rewrite_request(claims)
    assert "- I deleted song1.mp3" in request
    assert "- ghost.mp3" in request


def test_each_sentence_is_shown_with_the_line_that_backs_it() -> None:
    evidence = Evidence(("a.txt 12 bytes\nb.txt 40 bytes", "rain in Oslo"))
    first, second, third = backing("b.txt has 40 bytes. Oslo has rain. Hello!", evidence)
    assert (first.result, first.snippet) == (0, "b.txt 40 bytes")
    assert (second.result, second.snippet) == (1, "rain in Oslo")
    assert third.result is None


def test_the_debug_part_takes_texts_values_and_messages() -> None:
    record = {
        "answer": "There are song1.mp3, old.mp3 and ghost.mp3.",
        "results": [["song1.mp3"], "{}"],
        "user": "what is there?",
        "history": [{"role": "tool", "content": '["old.mp3"]'}],
    }
    assert PART.answer(record, Cut()) == {"supported": False, "unsupported": ["ghost.mp3"]}


PIECES = st.sampled_from(
    [
        "ghost.mp3", "song1.mp3", "3 files", "on Nov 21", "14:30", "1.2 MB", "`", "**", "```\n",
        "\n",
        "- ", "| a | b |\n", "I have deleted ", "it. ", '"A Title"', "a@b.example", "/x/y", " and ",
        "#12", "5 %", "no files", "\u2026", "\0", "\ud800", "1,2,3", "of 14", "(", ")", "two songs",
    ]
)  # fmt: skip
answers = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))


@given(answers, st.lists(answers, max_size=3), answers)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_nothing_raises_and_nothing_is_lost(answer: str, results: list[str], user: str) -> None:
    evidence = Evidence(tuple(results), user, tuple(results[:1]))
    claims = unsupported(answer, evidence)
    assert all(answer[each.start : each.end] == each.text for each in claims)
    assert len({each.text for each in claims}) == len(claims)
    if MARKER not in answer:
        assert unmarked(marked(answer, claims)) == answer
    backing(answer, evidence)


@given(answers)
@settings(max_examples=80, derandomize=True, deadline=None)
def test_an_answer_that_is_its_own_result_names_nothing_new(answer: str) -> None:
    named = {"file", "path", "address", "url", "subject", "date", "time", "size"}
    found = unsupported(answer, Evidence((answer,)))
    assert not [each for each in found if each.kind in named and "\n" not in each.text]
