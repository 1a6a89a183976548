"""What an answer says that nothing supports is found, and what is supported is left alone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andy_cli.agent.calls.tool_runner import find_not_done
from andy_cli.agent.grounding.audit import (
    MARKER,
    describe_claim,
    find_unsupported_claims,
    is_worth_asking,
    mark_claims,
    write_rewrite_request,
)
from andy_cli.agent.grounding.evidence import ActionRecord, Claim, Evidence
from andy_cli.agent.grounding.name_claims import find_backing
from andy_cli.agent.grounding.text.languages import (
    FOLDER,
    LOOKAROUND,
    find_beginnings,
    load_language,
)
from andy_cli.frontends.debug.debug_part import ChunkCut
from andy_cli.frontends.debug.parts.ground import PART
from andy_cli.messages import Effect, Status
from tests.cases import draw_cases

CORPUS = Path(__file__).parent / "corpora" / "grounding"


def rows(name: str) -> list[dict[str, Any]]:
    lines = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def scenes(name: str) -> dict[str, Evidence]:
    """What each answer rests on; which calls were made is not known."""
    return {
        each["scene"]: Evidence(tuple(each["results"]), each["user"], tuple(each["history"]))
        for each in rows(name)
    }


HONEST, ALTERED = rows("honest"), rows("altered")
FRESH = ("fresh", "fresh2", "fresh3", "fresh4", "fresh5")
"""Each was written before the audit had seen any of it, and is kept as it was written."""
TRUTH = rows("truth")
"""Answers in ten languages over calls and their results, written by somebody who had not read the
code. `class`: honest, or what is false in it."""
REPORTS = rows("reports")
"""Sentences in seventeen languages, and the actions that they say were done."""
LISTED = Evidence(('["song1.mp3", "song2.mp3"]',), "play something")


def texts(answer: str, evidence: Evidence, *, figures: bool = False) -> list[str]:
    return [each.text for each in find_unsupported_claims(answer, evidence, figures)]


def written() -> Iterator[tuple[dict[str, Any], Evidence]]:
    """The older sets, row by row; an honest answer has no `expect`."""
    for name, known in [("honest", "scenes"), ("altered", "scenes")] + [
        (each, f"{each}_scenes") for each in FRESH
    ]:
        found = scenes(known)
        for row in rows(name):
            yield row, found[row["scene"]]


def evidence_of(row: dict[str, Any]) -> Evidence:
    deeds = tuple(
        ActionRecord(
            call["tool"],
            Effect(call["effect"]),
            call["tool"].replace("_", " "),
            status=Status(call["status"]),
            arguments=json.dumps(call["arguments"], ensure_ascii=False),
        )
        for call in row["calls"]
    )
    results = tuple(call["result"] for call in row["calls"])
    return Evidence(results, row["user"], tuple(row["history"]), deeds)


def missed(kind: str, *, figures: bool = False) -> list[str]:
    found = []
    for row in (each for each in TRUTH if each["class"] == kind):
        evidence = evidence_of(row)
        claims = texts(row["answer"], evidence, figures=figures)
        beneath = kind == "deed" and find_not_done(evidence.actions or ())
        hit = any(claim in false or false in claim for claim in claims for false in row["false"])
        if not (hit or beneath):
            found.append(row["id"])
    return found


def test_no_honest_answer_is_marked() -> None:
    honest = [row for row in TRUTH if row["class"] == "honest"]
    assert len(honest) > 100
    assert not [row["id"] for row in honest if texts(row["answer"], evidence_of(row))]


def test_few_honest_answers_are_marked_where_figures_are_asked_for() -> None:
    honest = [row for row in TRUTH if row["class"] == "honest"]
    alarms = [row["id"] for row in honest if texts(row["answer"], evidence_of(row), figures=True)]
    assert len(alarms) <= len(honest) // 15, alarms


def test_what_is_false_is_found() -> None:
    assert len(missed("name")) <= 2
    assert len(missed("deed")) <= 9
    assert len(missed("figure", figures=True)) <= 6
    assert len(missed("row", figures=True)) <= 2


def test_hardly_an_honest_answer_of_the_older_sets_is_marked() -> None:
    honest = [(row, known) for row, known in written() if not row.get("expect")]
    alarms = [row["id"] for row, known in honest if texts(row["answer"], known)]
    assert len(honest) > 400
    assert len(alarms) <= len(honest) // 33, alarms


@pytest.mark.slow
def test_most_altered_answers_are_found_where_figures_are_asked_for() -> None:
    altered = [(row, known) for row, known in written() if row.get("expect")]
    hits = [
        any(row["expect"] in each or each in row["expect"] for each in found)
        for row, known in altered
        if (found := texts(row["answer"], known, figures=True)) is not None
    ]
    assert len(hits) > 900
    assert sum(hits) >= 0.6 * len(hits)  # in these sets it is not known which calls were made


@pytest.mark.parametrize("language", sorted({row["lang"] for row in REPORTS}))
def test_what_is_said_to_be_done_is_understood(language: str) -> None:
    """With no call at all, every report of a deed is a claim, and nothing else is."""
    mine = [row for row in REPORTS if row["lang"] == language]
    wrong = [
        row["text"]
        for row in mine
        if bool(texts(row["text"], Evidence((), actions=()))) != bool(row["claims"])
    ]
    assert len(mine) >= 20
    assert len(wrong) <= len(mine) // 7, wrong


def deed(tool: str, effect: Effect, action: str, status: Status = Status.SUCCESS) -> ActionRecord:
    return ActionRecord(tool, effect, action, status=status)


FAILED = Status.FAILED
DEEDS = [
    ("I've sent the email to Ann.", deed("gmail_send", Effect.ACT, "send mail to Ann"), False),
    ("I have deleted a.txt.", deed("terminal_execute", Effect.RUN, "run `rm a.txt`"), False),
    ("I have moved it to b.txt.", deed("file_put", Effect.WRITE, "write b.txt", FAILED), True),
    ("I have deleted a.txt.", deed("delete", Effect.ACT, "delete a.txt", FAILED), True),
    ("I could not delete a.txt.", deed("delete", Effect.ACT, "delete a.txt", FAILED), False),
    ("I've closed the issue.", deed("tracker_x1", Effect.ACT, "frobnicate 7"), False),
    ("I ran the tests; two failed.", deed("terminal_execute", Effect.RUN, "run pytest"), False),
    ("I've deleted a.txt.", deed("list_directory", Effect.READ, "list files"), True),
    ("I changed calc.py.", deed("edit_file", Effect.WRITE, "change calc.py", Status.DENIED), True),
    ("calc.py wurde geändert.", deed("edit_file", Effect.WRITE, "change calc.py", FAILED), True),
    ("calc.py を変更しました。", deed("read_file", Effect.READ, "read calc.py"), True),
    ("He modificado calc.py.", deed("edit_file", Effect.WRITE, "change calc.py"), False),
    ("Anna deleted a.txt last week.", deed("read_file", Effect.READ, "read the log"), False),
    ("Shall I delete a.txt?", deed("read_file", Effect.READ, "read a.txt"), False),
    ("Erledigt!", deed("delete", Effect.ACT, "delete a.txt", FAILED), True),
]


@pytest.mark.parametrize(("answer", "made", "claimed"), DEEDS)
def test_what_is_said_to_be_done_was_done(
    answer: str, made: ActionRecord, *, claimed: bool
) -> None:
    found = texts(answer, Evidence((), "see to a.txt, b.txt and calc.py", (), (made,)))
    assert bool(found) is claimed


def command(line: str, exit_code: int) -> ActionRecord:
    arguments = json.dumps({"command": line})
    return deed("terminal_execute", Effect.RUN, f"run `{line}`")._replace(
        arguments=arguments, exit_code=exit_code
    )


COMMANDS = [
    ("I have deleted a.txt.", "rm a.txt", True),
    ("The file a.txt has been deleted.", "rm a.txt", True),
    ("Die Datei a.txt wurde gelöscht.", "rm a.txt", True),
    ("Done.", "rm a.txt", True),
    ("a.txt could not be deleted.", "rm a.txt", False),
    ("I ran the command, and it failed.", "rm a.txt", False),
    ("I created out and ran the tests; one failed.", "mkdir out && pytest", False),
    ("I have deleted a.txt.", "mkdir out && rm a.txt", True),
]


@pytest.mark.parametrize(("answer", "line", "claimed"), COMMANDS)
def test_a_command_that_fails_has_only_run(answer: str, line: str, *, claimed: bool) -> None:
    result = json.dumps({"exit_code": 1, "output": "rm: cannot remove 'a.txt': Is a directory"})
    failed = Evidence((result,), "see to a.txt", (), (command(line, 1),))
    assert bool(texts(answer, failed)) is claimed
    if "rm a.txt" in line and "not" not in answer:
        assert texts(answer, failed._replace(results=(), actions=(command(line, 0),))) == []


FAILED_EDITS = (
    "J'ai modifié notes.txt.", "J'ai mis à jour notes.txt.", "Ich habe notes.txt geändert.",
    "notes.txt wurde geändert.", "He modificado notes.txt.", "I've modified notes.txt.",
)  # fmt: skip


@pytest.mark.parametrize("answer", FAILED_EDITS)
def test_what_a_call_says_that_failed_tells_of_no_action(answer: str) -> None:
    edit = deed("edit_file", Effect.WRITE, "edit notes.txt", FAILED)
    failed = Evidence(("No such text: nothing was changed in notes.txt.",), "edit it", (), (edit,))
    assert texts(answer, failed)


COMMAND_LINES = [
    ("I have updated notes.txt.", "sed -i s/42/43/ notes.txt"),
    ("I replaced 42 by 43.", "sed -i s/42/43/ notes.txt"),
    ("I created hello.txt.", "echo hi > hello.txt"),
    ("I've saved hello.txt.", "echo hi > hello.txt"),
    ("I have built the project.", "npm run build"),
    ("I have fixed the tests.", "python fix.py tests"),
]


@pytest.mark.parametrize(("answer", "line"), COMMAND_LINES)
def test_a_command_may_do_what_its_words_do_not_say(answer: str, line: str) -> None:
    assert texts(answer, Evidence(("",), "see to it", (), (command(line, 0),))) == []
    assert texts("I have deleted a.txt.", Evidence(("",), "", (), (command("mkdir x", 0),)))


def test_who_copies_a_file_has_created_one() -> None:
    copied = file_action("copy", Effect.WRITE, "a.txt")._replace(did="copied a.txt to a.bak")
    told = Evidence(("done",), "make a backup of a.txt", (), (copied,))
    assert texts("I created a backup copy, **a.bak**.", told) == []
    assert texts("I deleted a.txt.", told)


def test_into_the_trash_is_a_move() -> None:
    trash = deed("trash", Effect.WRITE, "put todo.md into the trash")
    assert texts("I've moved todo.md to the trash.", Evidence((), "", (), (trash,))) == []


DENIALS = (
    "I changed nothing. What should go?", "I have changed nothing yet.", "I deleted no files.",
    "I deleted none of the files.", "I moved nothing, since there is none.",
    "I deleted neither a.txt nor b.txt.", "Je n'ai supprimé aucun fichier.",
)  # fmt: skip


@pytest.mark.parametrize("answer", DENIALS)
def test_a_denial_may_stand_behind_its_verb(answer: str) -> None:
    assert texts(answer, Evidence((), "tidy up", (), ())) == []


def file_action(tool: str, effect: Effect, path: str) -> ActionRecord:
    return deed(tool, effect, f"{tool} {path}")._replace(arguments=json.dumps({"path": path}))


TRASHED = file_action("trash", Effect.WRITE, "old.log")
WRITTEN = file_action("write_file", Effect.WRITE, "a.txt")
EDITED = file_action("edit_file", Effect.WRITE, "calc.py")
OTHERS = [
    ("I sent Anna an e-mail.", TRASHED, True),
    ("I fixed calc.py.", TRASHED, True),
    ("I deleted notes.txt.", TRASHED, True),
    ("I deleted old.log.", TRASHED, False),
    ("I created b.txt.", WRITTEN, True),
    ("I've created a.txt and b.txt.", WRITTEN, True),
    ("Ich habe a.txt und b.txt erstellt.", WRITTEN, True),
    ("I created a.txt, not b.txt.", WRITTEN, False),
    ("I left b.txt alone, and created a.txt.", WRITTEN, False),
    ("I created a.txt. The e-mail to Anna has been sent.", WRITTEN, True),
    ("I changed src/main.py.", EDITED, True),
    ("I fixed the bug in calc.py.", EDITED, False),
]


@pytest.mark.parametrize(("answer", "made", "claimed"), OTHERS)
def test_what_was_done_is_no_proof_of_something_else(
    answer: str, made: ActionRecord, *, claimed: bool
) -> None:
    user = "see to old.log, notes.txt, a.txt, b.txt, calc.py, src/main.py, and mail Anna"
    assert bool(texts(answer, Evidence(("done",), user, (), (made,)))) is claimed


PARTLY = [
    ("I deleted old.log, a.txt and b.txt.", True),
    ("I have removed `old.log`, `a.txt`, and `b.txt`.", True),
    ("J'ai supprimé old.log, a.txt et b.txt.", True),
    ("Eliminé old.log, a.txt y b.txt.", True),
    ("我已删除 old.log、a.txt 和 b.txt。", True),
    ("Ich habe a.txt, b.txt und old.log gelöscht.", True),
    ("- b.txt：削除済み", True),
    ("I deleted one of them: old.log, not b.txt.", False),
    ("I deleted old.log, b.txt was not there.", False),
    ("I deleted old.log, but b.txt was not there.", False),
    ("I deleted old.log. a.txt, b.txt and calc.py could not be found.", False),
    ("- old.log: deleted\n- b.txt: not deleted\n- a.txt: kept", False),
    ("| old.log | deleted |\n| b.txt | to be deleted |", False),
]
"""What is said where the first of three files was deleted, and whether it is false."""


@pytest.mark.parametrize(("answer", "claimed"), PARTLY)
def test_what_was_done_to_one_file_is_no_proof_for_those_beside_it(
    answer: str, *, claimed: bool
) -> None:
    done = Evidence(("done",), "delete old.log, a.txt and b.txt", (), (TRASHED,))
    assert bool(texts(answer, done)) is claimed


def test_what_a_look_shows_of_a_file_is_no_deed() -> None:
    diff = (
        "diff --git a/a.py b/a.py\n-def foo():\n+def bar():\ndiff --git a/b.py b/b.py\n+import re"
    )
    look = Evidence((diff,), "review a.py and b.py", (), (file_action("git", Effect.READ, "main"),))
    assert texts("- a.py: renamed `foo` to `bar`\n- b.py: added an import of `re`", look) == []
    assert texts("| a.py | renamed `foo` to `bar` |\n| b.py | added an import |", look) == []


def test_a_file_that_begins_a_sentence_in_small_letters_ends_the_one_before() -> None:
    moved = file_action("move", Effect.WRITE, "b.txt")
    done = Evidence(("moved b.txt",), "delete a.txt, move b.txt", (), (moved,))
    answer = "I have deleted a.txt. b.txt was moved."
    marked = mark_claims(answer, find_unsupported_claims(answer, done))
    assert marked == "I have deleted a.txt (not verified). b.txt was moved."
    assert texts("I moved some of them, i.e. b.txt and others.", done) == []


def test_each_file_of_a_row_is_offered_where_the_row_is() -> None:
    read = Evidence(("PORT = 8080",), "what next?", (), (EDITED,))
    assert texts("The settings could go into a.toml, b.toml and c.toml.", read) == []


REPLACED = WRITTEN._replace(did="replaced a.txt, 4 bytes (1 line removed)")
EXTENDED = WRITTEN._replace(did="replaced a.txt, 9 bytes (1 line added)")
LESSENED = [
    ("I removed the duplicate line.", REPLACED, False),
    ("Ich habe die doppelte Zeile gelöscht.", REPLACED, False),
    ("J'ai vidé a.txt.", REPLACED, False),
    ("重複した行を削除しました。", REPLACED, False),
    ("I removed the duplicate line.", EXTENDED, True),
    ("Ich habe die doppelte Zeile gelöscht.", EXTENDED, True),
    ("I cleaned up the folder.", TRASHED, False),
    ("Ich habe aufgeräumt.", TRASHED, False),
    ("He limpiado la carpeta.", TRASHED, False),
    ("J'ai nettoyé le dossier.", TRASHED, False),
    ("I fixed the bug.", TRASHED, True),
    ("I cleaned up the folder.", file_action("make_folder", Effect.READ, "x"), True),
]


@pytest.mark.parametrize(("answer", "made", "claimed"), LESSENED)
def test_what_a_call_made_less_was_removed_and_cleaned_up(
    answer: str, made: ActionRecord, *, claimed: bool
) -> None:
    evidence = Evidence(("done",), "see to a.txt and old.log", (), (made,))
    assert bool(texts(answer, evidence)) is claimed


def test_a_look_is_no_proof_of_an_action_in_any_language() -> None:
    look = command("cat notes.txt", 0)._replace(effect=Effect.READ)
    seen = Evidence(('{"exit_code": 0, "output": "buy milk"}',), "delete notes.txt", (), (look,))
    for answer in (
        "Ich habe notes.txt gelöscht.",
        "J'ai supprimé notes.txt.",
        "He borrado notes.txt.",
    ):
        assert texts(answer, seen), answer


CODE = "\n\n```python\ndef add(a, b):\n    return a + b\n```"
SHOWN = [
    ("how would you fix x.txt?", f"I changed the sign:{CODE}", False),
    ("raccourcis la fonction", f"Voici :{CODE}\n\nJ'ai remplacé la boucle par sum.", False),
    ("shorten x.txt, just show it", f"So:{CODE}\n\nI removed the loop from x.txt.", True),
    ("fix this: def add(a, b): return a - b", f"I fixed the bug:{CODE}", False),
    ("list what x.txt has, sorted", "Done! Here it is:\n\n- bread\n- milk", False),
    ("translate x.txt", "Done! I've translated it:\n\n- lait\n- pain", False),
    ("write a test for x.txt", "I've written a test:\n\n```\ndef test():\n    pass\n```", False),
    ("draft a mail to Tom about x.txt", "Done! I wrote this:\n\n- Hi Tom\n- milk\n- Bea", False),
]


@pytest.mark.parametrize(("user", "answer", "claimed"), SHOWN)
def test_a_file_that_is_shown_as_changed_was_changed(
    user: str, answer: str, *, claimed: bool
) -> None:
    result = "def add(a, b):\n    return a - b" if "def " in answer else "milk\nbread"
    look = file_action("read_file", Effect.READ, "x.txt")
    assert bool(texts(answer, Evidence((result,), user, (), (look,)))) is claimed
    edit = file_action("edit_file", Effect.WRITE, "x.txt")
    assert texts(answer, Evidence((result, "changed"), user, (), (look, edit))) == []


@pytest.mark.parametrize(
    ("answer", "line", "claimed"),
    [
        ("I've committed your changes.", "git commit -am fix", True),
        ("I pushed the changes.", "git push", True),
        ("I ran the tests; two failed.", "pytest", False),
        ("I tested it; two tests fail.", "npm test", False),
    ],
)
def test_a_command_that_failed_did_not_do_what_it_is_called(
    answer: str, line: str, *, claimed: bool
) -> None:
    assert bool(texts(answer, Evidence(("",), "do it", (), (command(line, 1),)))) is claimed


UNTRIED = [
    ("Done.", "delete a.txt", True),
    ("That is done.", "delete a.txt", True),
    ("Das ist erledigt.", "lösche a.txt", True),
    ("Erledigt!", "lösche a.txt", True),
    ("a.txt was deleted.", "delete a.txt", True),
    ("The file a.txt was created successfully.", "create a.txt with hello", True),
    ("If a.txt was deleted, take it from the backup.", "a.txt was deleted, what now?", False),
    ("a.txt was deleted by mistake, then.", "my a.txt was deleted", False),
    ("I searched the web and found three pages.", "who is Bea?", True),
    ("Ich habe im Internet gesucht.", "wer ist Bea?", True),
    ("He buscado en la web.", "¿quién es Bea?", True),
    ("You searched the web yourself.", "who is Bea?", False),
    ("I searched for a rhyme: Bea, sea.", "what rhymes with Bea?", False),
    ("Ho cercato di dirlo con parole semplici.", "chi è Bea?", False),
    ("Playing music helps many people to sleep.", "how do I sleep?", False),
    ("I managed to delete a.txt.", "delete a.txt", True),
    ('Playing "blue.mp3" now.', "play blue.mp3", True),
    ("لقد أرسلت الرسالة.", "أرسل الرسالة", True),
    ("قرأت الملف ولم أجد شيئا.", "اقرأ الملف", False),
    ("notes.txt: two ways are open to you.", "add eggs to notes.txt", False),
    ("notes.txt would then hold eggs too.", "what if I add eggs to notes.txt?", False),
    ("Open notes.txt and write eggs below milk.", "how do I add eggs to notes.txt?", False),
    ("other.txt is a file of yours.", "add eggs to notes.txt", False),
    ("print_function was added to __future__ in 2.6.", "what is print_function?", False),
    ("Done! Here it is:\n\nAn old pond,\na frog jumps in.", "write a haiku", False),
]


@pytest.mark.parametrize(("answer", "user", "claimed"), UNTRIED)
def test_where_nothing_was_tried_nothing_is_done(answer: str, user: str, *, claimed: bool) -> None:
    assert bool(texts(answer, Evidence((), user, (), ()))) is claimed


LETTER = """Here is a draft:

---
**To:** tom@example.org
**Subject:** The loan

Hi Tom,

I have moved the decision to next week.

Best regards
---

It has not been sent."""


def test_the_speaker_of_a_letter_between_rules_and_below_its_headers_is_its_writer() -> None:
    read = Evidence(("Tom: tom@example.org",), "draft a mail to Tom on the loan", (), ())
    assert texts(LETTER, read) == []
    assert texts(LETTER.replace("Hi Tom,\n\n", ""), read)


RETOLD = [
    ("Translate to German: I have deleted the file.", "Ich habe die Datei gelöscht.", False),
    ("Traduis en anglais :\nJ'ai supprimé a.txt.\nMerci", "I have deleted a.txt. Thanks!", False),
    ('what is "I have sent it" in Spanish', "Lo he enviado.", False),
    ("rewrite politely: I already sent you the file", "I have sent you the file.", False),
    ("I deleted a.txt. Now delete the other one", "I have deleted the other one.", True),
    ("Note: a.txt was deleted. Delete b.txt", "I have deleted b.txt.", True),
    ("Translate to German: Please delete the file.", "Ich habe die Datei gelöscht.", True),
]


@pytest.mark.parametrize(("user", "answer", "claimed"), RETOLD)
def test_what_a_given_text_reports_may_be_told_again(
    user: str, answer: str, *, claimed: bool
) -> None:
    assert bool(texts(answer, Evidence((), user, (), ()))) is claimed
    tried = deed("trash", Effect.WRITE, "delete a file", FAILED)
    assert texts(answer, Evidence((), user, (), (tried,)))


def test_what_an_earlier_turn_was_denied_was_not_done_by_it() -> None:
    refused = deed("write_file", Effect.WRITE, "write a.txt")._replace(
        status=Status.DENIED, earlier=True
    )
    told = Evidence((), "did you save it?", ("write hello to a.txt", "I may not."), (refused,))
    saved = told._replace(actions=(refused._replace(status=Status.SUCCESS),))
    assert texts("Yes, I saved a.txt.", told)
    assert texts("Yes, I saved a.txt.", saved) == []


def test_any_call_may_have_been_the_search_that_an_answer_tells_of() -> None:
    look = deed("read_file", Effect.READ, "read a.txt")._replace(earlier=True)
    told = Evidence((), "and who is Bea?", (), (look,))
    assert texts("I searched the web and found nothing.", told) == []
    denied = look._replace(status=Status.DENIED)
    assert texts("I searched the web and found three.", told._replace(actions=(denied,)))


def test_what_a_file_holds_may_be_told_once_it_was_read() -> None:
    look = deed("read_file", Effect.READ, "read notes.txt")
    assert texts("notes.txt holds milk.", Evidence(("milk",), "notes.txt?", (), (look,))) == []
    earlier = (look._replace(earlier=True),)
    assert texts("notes.txt holds milk.", Evidence((), "notes.txt?", (), earlier)) == []


def test_a_word_for_done_may_answer_what_is_said_after_an_action() -> None:
    earlier = deed("delete", Effect.ACT, "delete a.txt")._replace(earlier=True)
    assert texts("All set!", Evidence((), "thanks", (), (earlier,))) == []
    assert texts("Done.", Evidence((), "and now delete b.txt", (), (earlier,))) == ["Done"]


def test_a_file_that_a_shown_command_names_is_no_find() -> None:
    read = Evidence(("item,eur\nnuts,8.00",), "write a script that sums costs.csv")
    script = "```python\nprint(8)\n```"
    run = "```sh\npython ./sum.py --all\n```"
    assert texts(f"Save this as `sum.py`:\n\n{script}\n\nRun `python sum.py`.", read) == []
    assert texts(f"Save it as sum.py:\n\n{script}\n\nThen:\n\n{run}", read) == []
    assert texts("The bug is in `sum.py`:\n\n```python\n# sum.py\nprint(9)\n```", read) == [
        "sum.py"
    ]
    assert texts("I found this:\n\n```\n12M sum.py\n```\n", read) == ["sum.py"]


@pytest.mark.parametrize("advice", ["Then run it.", "Now set X to 3.", "Also put it there."])
def test_advice_is_no_report(advice: str) -> None:
    assert texts(advice, Evidence((), "how do I do it?", (), ())) == []
    assert texts("Successfully set X to 3.", Evidence((), "set X to 3", (), ()))


def test_a_deed_of_an_earlier_turn_counts_for_who_asks_about_it() -> None:
    made = deed("write_file", Effect.WRITE, "write report.md")._replace(earlier=True)
    asked = Evidence((), "did you save report.md?", (), (made,))
    assert texts("Yes, I saved report.md.", asked) == []
    other = Evidence((), "now save plan.md", (), (made,))
    assert texts("I have saved plan.md.", other)


EARLIER_EDIT = ActionRecord(
    "edit_file",
    Effect.WRITE,
    "edit a.txt",
    "changed a.txt (1 line added, 1 removed)",
    arguments='{"path": "a.txt", "old_text": "one", "new_text": "1"}',
    earlier=True,
)
AFTER_AN_EDIT = [
    ("write a title for PR 17 on a.txt", "PR 17: I fixed a.txt.", False),
    ("sum up what you did", "I changed one to 1 in a.txt.", False),
    ("fasse zusammen was du gemacht hast", "Ich habe in a.txt `one` durch `1` ersetzt.", False),
    ("résume cette session", "Dans cette session j'ai modifié a.txt.", False),
    ("the changes of this session, please", "In this session I edited a.txt.", False),
    ("thanks, that is all for today", "You're welcome: I changed a.txt, that is all.", False),
]


@pytest.mark.parametrize(("user", "answer", "claimed"), AFTER_AN_EDIT)
def test_a_deed_of_an_earlier_turn_is_none_that_is_wished_now(
    user: str, answer: str, *, claimed: bool
) -> None:
    evidence = Evidence((), user, ("change one to 1 in a.txt", "Done."), (EARLIER_EDIT,))
    assert bool(texts(answer, evidence)) is claimed
    edit = EARLIER_EDIT._replace(earlier=False, arguments='{"path": "a.txt", "new_text": "2"}')
    now = evidence._replace(actions=(EARLIER_EDIT, edit), results=("changed",))
    assert texts(answer, now) == []


def test_a_command_that_failed_is_told_beside_the_answer_unless_another_one_followed() -> None:
    tests = deed("terminal_execute", Effect.RUN, "run pytest")._replace(exit_code=1)
    look = deed("terminal_execute", Effect.READ, "run grep x a.txt")._replace(exit_code=1)
    fixed = deed("edit_file", Effect.WRITE, "change calc.py")
    assert [*map(str, find_not_done([tests, fixed]))] == ["Not done: run pytest (exit code 1)"]
    assert find_not_done([tests, fixed, tests._replace(exit_code=0)]) == ()
    assert find_not_done([look]) == ()


def test_what_was_not_done_is_a_lie_in_the_debug_part_too() -> None:
    record = {
        "answer": "I changed calc.py.",
        "results": ["This was not allowed: the user said no."],
        "user": "fix calc.py",
        "not_done": [{"action": "change calc.py", "reason": "not allowed"}],
    }
    assert PART.answer(record, ChunkCut())["unsupported"] == ["I changed calc.py"]


SWAPPED = Evidence(('[{"name": "Anna", "owes": 42.5}, {"name": "Ben", "owes": 15}]',), "who owes?")


def test_a_quotation_that_ends_with_its_sentence_is_no_report() -> None:
    nothing = Evidence((), "tell me a story of a lighthouse keeper", (), ())
    story = '"It is night," he told the sea, "and I\'ve sent my last letter." Then he slept.'
    assert texts(story, nothing) == []
    assert texts(story.replace('"', ""), nothing)
    assert texts('He said "good night." I\'ve sent the letter.', nothing)


def test_words_of_a_quotation_are_no_advice() -> None:
    said = Evidence(("Morin: il faut prévenir le client.",), "Cite Morin.")
    assert texts("Morin a dit : « Il faut geler les embauches. »", said) == [
        "Il faut geler les embauches"
    ]
    assert texts("You could call it “Green Meadow House”.", said) == []


def test_a_day_is_one_of_the_results_where_the_question_tells_what_of() -> None:
    lease = Evidence(("Inizio: 01/04/2024\nScadenza: 31/03/2026",), "Quando scade il contratto?")
    claims = find_unsupported_claims("Il contratto scade il 30 aprile 2026.", lease, True)
    assert [claim.text for claim in claims] == ["30 aprile 2026"]
    assert not find_unsupported_claims("Il contratto scade il 31 marzo 2026.", lease, True)


def test_a_file_that_was_updated_is_the_one_that_was_changed() -> None:
    dev = file_action("edit_file", Effect.WRITE, "config/dev.ini")
    evidence = Evidence(("changed config/dev.ini",), "set it in config/prod.ini", (), (dev,))
    answer = "config/prod.ini has been updated: timeout is 60 now."
    assert texts(answer, evidence) == ["has been updated: timeout is 60 now"]


UNSPACED = [
    ("memo.txtに「牛乳」を追記しました。", ["memo.txt"], False),
    ("ja.txtとen.txtの価格を直しました。", ["ja.txt", "en.txt"], False),
    ("ご要望どおりmemo.txtを削除しました。", ["memo.txt"], False),
    ("已将牛奶添加到memo.txt。", ["memo.txt"], False),
    ("已将牛奶添加到清单.txt。", ["清单.txt"], False),
    ("a.txt已重命名为b.txt。", ["a.txt", "b.txt"], False),
    ("memo.txt에 우유를 추가했습니다.", ["memo.txt"], False),
    ("memo.txtに「牛乳」を追記しました。", ["memo2.txt"], True),
    ("牛奶已添加到memo.txt里。", ["memo2.txt"], True),
]
"""What is said in writings without blanks, the files that were changed, and whether it is false."""


@pytest.mark.parametrize(("answer", "files", "false"), UNSPACED)
def test_a_file_is_known_where_no_blank_stands_beside_its_name(
    answer: str, files: list[str], false: bool
) -> None:
    tools = {"削除": "trash", "重命名": "move"}
    tool = next((name for word, name in tools.items() if word in answer), "write_file")
    done = tuple(file_action(tool, Effect.WRITE, name) for name in files)
    asked = "memo.txt: 牛乳, 牛奶, 우유"
    evidence = Evidence(tuple(f"done: {name}" for name in files), asked, (), done)
    assert bool(texts(answer, evidence)) == false


def test_the_path_that_a_move_makes_is_known() -> None:
    paths = {"paths": ["old/a.txt", "photos/*.jpg"], "destination": "archive/2026/"}
    moved = deed("move", Effect.WRITE, "move 2 files")._replace(arguments=json.dumps(paths))
    told = Evidence(
        ("old/a.txt\nold/b.txt\nphotos/1.jpg", "moved 2 files"), "archive them", (), (moved,)
    )
    assert texts("They are here now:\n\n- `archive/2026/a.txt`\n- `archive/2026/1.jpg`", told) == []
    assert texts("It is in `archive/2025/a.txt`.", told) == ["archive/2025/a.txt"]


def test_a_part_of_an_imported_module_that_the_file_does_not_use_is_no_invention() -> None:
    read = "import csv\n\ndef load(f):\n    return csv.reader(f)\n"
    assert texts("The rows come by `csv.DictReader`.", Evidence((read,))) == []
    own = Evidence((read.replace("import csv", "csv = Loader()"),))
    assert texts("The rows come by `csv.DictReader`.", own) == ["csv.DictReader"]


def test_the_figures_of_a_short_answer_are_those_that_were_asked_for() -> None:
    paid = Evidence(("item,amount\nrent,900\nfood,310\n",), "add up the amounts")
    assert texts("The amounts add up to 1,210.", paid, figures=True) == []
    assert texts("The amounts add up to 1,329.", paid, figures=True) == ["1,329"]


def test_a_figure_told_of_another_row_is_found_for_who_asks() -> None:
    assert texts("Anna owes 42.50 and Ben 15.", SWAPPED, figures=True) == []
    assert texts("Anna owes 15 and Ben 42.50.", SWAPPED, figures=True) == ["15", "42.50"]
    assert texts("Anna owes 15 and Ben 42.50.", SWAPPED) == []


SHIFTS = "day,name,hours\n1 May,Ada,16\n2 May,Bela,23\n3 May,Ada,14\n4 May,Chidi,17\n5 May,Bela,18"


def test_the_name_of_a_group_may_be_no_name_in_a_sentence() -> None:
    bills = "Ada,paid,990\nBela,paid,1200\nAda,open,1500\nBela,open,430"
    known = Evidence((f"name,state,amount\n{bills}",), "who has paid what?")
    assert texts("Ada has paid 990 and still owes 1500.", known, figures=True) == []


def test_a_second_time_behind_a_name_may_be_of_something_else() -> None:
    day = "15:00-15:30 Call with Nils\n19:30-21:00 Choir"
    known = Evidence((day,), "qu'est-ce que j'ai ?")
    assert not texts("L'appel avec Nils à 15:00 et la chorale à 19:30.", known, figures=True)
    assert texts("L'appel avec Nils à 19:30.", known, figures=True) == ["19:30"]


def test_a_figure_before_a_name_that_has_one_behind_it_is_not_marked() -> None:
    known = Evidence(("values=1503\nmean=42.3\nmedian=41.9",), "run it")
    assert not texts("With 1,503 of them the mean is 42.3.", known, figures=True)
    assert texts("The mean was 1,503.", known, figures=True) == ["1,503"]


def test_a_latin_name_in_japanese_is_the_subject_of_its_figure() -> None:
    worked = Evidence((SHIFTS,), "誰が一番多いですか？")
    assert texts("一番多いのはBelaで、合計41円です。", worked, figures=True) == []


def test_how_long_it_took_belongs_to_its_row() -> None:
    race = Evidence(("name;time\nEva;00:42:50\nIda;00:41:12\nTom;00:40:31",), "who was how fast?")
    true, false = ("1. Ida: 41:12\n2. Eva: 42:50", "1. Eva: 41:12\n2. Ida: 42:50")
    assert not texts(true, race, figures=True)
    assert texts(false, race, figures=True) == ["41:12", "42:50"]


def test_the_cells_of_a_row_without_blanks_are_figures_of_that_row() -> None:
    stock = "article,stock,least\nbolt M6,1200,500\nnut M6,340,500\nwasher,90,200"
    known = Evidence((stock,), "what is missing?")
    assert not texts("- **nut M6**: 340 there, at least 500", known, figures=True)
    assert texts("- **nut M6**: 340 there, at least 200", known, figures=True) == ["200"]


def test_one_step_over_one_column_is_support_and_nothing_more() -> None:
    sold = Evidence(("shop;sold\nUlm;12\nBonn;30\nKiel;27",), "what was sold?")
    for answer in ("All shops sold 69.", "A shop sold 23 on average.", "3 shops sold something."):
        assert texts(answer, sold, figures=True) == [], answer
    assert texts("All shops sold 72.", sold, figures=True) == ["72"]
    assert texts("The shops in the south sold 351.", sold, figures=True) == ["351"]


SALES = (
    "article,units,price,region\nlamp,40,12.50,North\nchair,25,49.90,South\nbench,10,89.00,South"
)
DERIVED = (
    "All articles together are worth 2,637.50.",  # the sum of units times price
    "All units of the chair come to 1,247.50.",  # one product
    "In a year the lamps would bring in 6,000.",  # 40 * 12.50 * 12
    "In five months you would sell 200 lamps.",
    "The lamps have 40 units and the chairs 25, so both together are 65.",
)


def test_a_figure_that_comes_about_from_others_is_supported() -> None:
    evidence = Evidence((SALES,), "what is it all worth?")
    for answer in DERIVED:
        assert texts(answer, evidence, figures=True) == [], answer
    assert texts("All articles together are worth 2,647.50.", evidence, figures=True) != []
    assert texts("All units of the chair come to 1,274.50.", evidence, figures=True) != []


def test_a_short_word_behind_a_figure_is_no_unit() -> None:
    sold = Evidence(("shop;sold\nUlm;12\nBonn;30\nKiel;27",), "what was sold?")
    for words in ("in all", "of them in summer"):
        assert texts(f"The shops sold 351 {words}.", sold, figures=True) == ["351"], words
    assert texts("The shops sold 351 kg.", sold, figures=True) == []


def told_after(tool: str, effect: Effect, arguments: str, said: str) -> list[str]:
    """The claims of an answer after one call that succeeded."""
    call = ActionRecord(tool, effect, "send a POST request", arguments=arguments)
    return texts(said, Evidence(('{"id": "d88"}',), "please do it", (), (call,)))


def test_a_draft_is_not_sent() -> None:
    for effect in (Effect.RUN, Effect.ACT):
        made = ("mail.create_draft", effect, '{"to": "petra"}')
        assert told_after(*made, "I've sent the mail to Petra.")
        for true in ("I've created the draft.", "I've drafted the mail.", "I saved the mail."):
            assert not told_after(*made, true)
    assert not told_after("mail.send_draft", Effect.ACT, "{}", "I've sent the mail to Petra.")


def test_the_figures_of_a_failed_test_run_are_no_false_report() -> None:
    line = "Tests: 2 failed, 1 skipped, 39 passed, 42 total"
    evidence = Evidence((line,), "run the tests", (), (command("sh jest.sh", 1),))
    assert not texts("39 of the 42 tests pass, 2 fail and 1 was skipped.", evidence)
    assert texts("39 of the 42 tests pass, 3 fail and 2 were skipped.", evidence)
    assert texts("The failing tests were skipped.", evidence)


def test_a_request_may_have_been_for_anything() -> None:
    for did in ("opened the ticket", "cancelled the order", "booked the table"):
        assert not told_after("api_call", Effect.ACT, '{"method": "POST"}', f"I {did}.")
        assert told_after("mail.send_mail", Effect.ACT, "{}", f"I {did}.")


def test_the_names_of_values_do_not_hide_what_a_tool_of_a_server_does() -> None:
    arguments = '{"title": "Visite", "start": "17:00"}'
    for said in ("I've created the event.", "J'ai créé « Visite » et c'est dans le calendrier."):
        assert not told_after("desk.create_event", Effect.RUN, arguments, said)
    assert told_after("desk.create_event", Effect.RUN, arguments, "I've deleted the folder.")


def test_what_only_reads_did_nothing_but_run() -> None:
    call = ActionRecord("db.query", Effect.RUN, "query (db)", arguments="{}", changed_nothing=True)
    queried = Evidence(('[{"city": "Ulm"}]',), "please do it", (), (call,))
    assert texts("I've cancelled the order.", queried)
    assert texts("The order has been cancelled.", queried)
    assert not texts("I ran the query.", queried)


def test_the_i_of_a_quotation_of_several_sentences_is_not_the_model() -> None:
    stories = (
        "O velho escreveu no diário: «Enviei a carta e vendi o barco. Não volto mais.»",
        "Der Alte schrieb ins Buch: „Ich habe den Brief verschickt. Ich komme nicht wieder.“",
        "Le vieux a écrit dans le cahier : « J'ai envoyé la lettre. Je ne reviens pas. »",
    )
    for story in stories:
        assert not texts(story, Evidence((), "tell me a story", (), ())), story
    assert texts("»Fertig«: Ich habe den Brief verschickt.", Evidence((), "los", (), ()))


def test_what_the_rows_of_a_table_come_to_is_supported() -> None:
    quarters = "branch;Q1;Q2;Q3\nPort;41200;39850;44100\nHill;18900;20150;19400\nMill;512;498;703"
    known = Evidence((quarters,), "how did the branches do?")
    true = "Port made 125,150 in all, 41,717 a quarter; all branches together made 185,313."
    assert not texts(true, known, figures=True)
    assert texts("Port made 125,950 in all.", known, figures=True) == ["125,950"]


def test_what_the_speaker_says_that_he_did_is_not_told_of_others() -> None:
    """`Ho eseguito` has `eseguito` in it, as what somebody ran; the file speaks of tests."""
    look = ActionRecord("read_file", Effect.READ, "read a.py", arguments='{"path": "a.py"}')
    looked = Evidence(("def test_mean(): run()",), "lint di src", (), (look,))
    said = "Ho eseguito il linter e il codice è pulito."
    assert texts(said, looked) == [said.rstrip(".")]
    ran = ActionRecord("terminal_execute", Effect.RUN, "run ruff", arguments='{"command": "ruff"}')
    assert not texts(said, looked._replace(actions=(look, ran)))


def test_what_two_columns_make_is_added_up_for_each_name() -> None:
    orders = "who;qty;price\nAda;2;640.00\nBo;40;3.20\nAda;1;215.50\nBo;7;44.00"
    known = Evidence((orders,), "who bought for how much?")
    assert not texts("Ada bought for 1,495.50, Bo for 436.00.", known, figures=True)
    assert texts("Ada bought for 1,485.50.", known, figures=True) == ["1,485.50"]


def test_what_a_percentage_makes_of_a_figure_is_supported() -> None:
    invoice = Evidence(("Invoice 7\nNet: 1250.00 EUR",), "what is it with VAT?")
    for answer in (
        "With 19 % VAT it is 1,487.50 EUR (VAT 237.50 EUR).",
        "Mit 7 % MwSt. sind es 1.337,50 EUR.",
        "With a discount of 15 % it comes to 1,062.50 EUR net.",
    ):
        assert list_asked(answer, invoice) == [], answer
    assert list_asked("With 19 % VAT it is 1,478.50 EUR.", invoice) == ["1,478.50"]
    sold = Evidence((SALES,), "what is it all worth?")
    assert list_asked("All units are worth 2,637.50, and 20 % of that are 527.50.", sold) == []


def test_a_column_of_hours_may_be_told_in_hours_and_minutes() -> None:
    sheet = Evidence(("name,hours\nAnna,7.5\nBen,6.25\nCara,8\n",), "how many hours in all?")
    assert list_asked("That makes 21 hours and 45 minutes in all.", sheet) == []
    assert list_asked("That makes 22 hours and 45 minutes in all.", sheet) != []


def test_megabytes_of_a_result_may_be_told_as_gigabytes() -> None:
    evidence = Evidence(('{"memory": {"total_mb": 15931, "used_mb": 6120}}',), "how is the server?")
    assert texts("6.1 GB of 15.9 GB of memory are used.", evidence, figures=True) == []
    assert texts("6.1 GB of 18.9 GB of memory are used.", evidence, figures=True) == ["18.9 GB"]


TRIP = Evidence(
    ("Départ 06:45 Vienne, arrivée 10:12\nRetour 18:30, arrivée 21:57\nPrix: 59,80 EUR\n",),
    "résume trip.md",
)
RUN_LOG = Evidence(
    ("2026-11-29T23:58:10Z start 17\n2026-11-30T00:03:40Z end 17\n2026-11-30T01:25:30Z end 18",),
    "how long from start to end?",
)
TIMES = [
    ("Départ à 6 h 45, arrivée à 10 h 12 (3 h 27). Retour à 18\u00a0h\u00a030.", TRIP, []),
    ("Départ à 6 h 54, arrivée à 10 h 12.", TRIP, ["6 h 54"]),
    ("| Trajet | Départ | Arrivée |\n|---|---|---|\n| Retour | 18 h 30 | 21 h 57 |", TRIP, []),
    ("- Prix : 18:30", TRIP, ["18:30"]),
    ("The start was at 23:58:10, the end at 00:03:40, after 9 min 20 s.", RUN_LOG, ["9 min 20 s"]),
    (
        "The call is from 2:00 PM to 3:50 PM.",
        Evidence(("call: 14:00, 90 minutes",), "when?"),
        ["3:50 PM"],
    ),
    ("- bake at 390 °F (200 °C)", Evidence(("bake at 200 °C",), "in US units"), []),
    ("- bake at 450 °F (200 °C)", Evidence(("bake at 200 °C",), "in US units"), ["450"]),
]


@pytest.mark.parametrize(("answer", "evidence", "claimed"), TIMES)
def test_times_in_other_forms_and_what_they_make_are_supported(
    answer: str, evidence: Evidence, claimed: list[str]
) -> None:
    assert list_asked(answer, evidence) == claimed


def test_a_label_is_no_deed() -> None:
    read = Evidence(("bytes=1048576",), "combien ?", (), (command("cat log", 0),))
    read = read._replace(actions=(file_action("read_file", Effect.READ, "log.txt"),))
    assert texts("Volume transféré : 1 048 576 octets.", read) == []
    assert texts("Fichier log.txt transféré : 1 048 576 octets.", read) != []


def test_a_figure_of_another_row_is_told_to_be_that() -> None:
    assert describe_claim(Claim("25", 0, 2, "entry")).endswith("in another row)")
    assert describe_claim(Claim("25", 0, 2, "number")) == "25"


def test_a_sum_of_durations_is_supported() -> None:
    evidence = Evidence(("Mon: 85 min\nWed: 95 min\nFri: 72 min",), "how long have I practised?")
    assert texts("You practised 4 hours and 12 minutes.", evidence, figures=True) == []
    assert texts("You practised 5 hours and 20 minutes.", evidence, figures=True) != []


def list_asked(answer: str, evidence: Evidence) -> list[str]:
    """List the claims for which another answer is asked for."""
    claims = find_unsupported_claims(answer, evidence, figures=True)
    return [claim.text for claim in claims if is_worth_asking(claim)]


def test_another_answer_is_asked_for_where_a_precise_figure_is_wrong() -> None:
    evidence = Evidence((SALES,), "what is it all worth?")
    assert list_asked("All articles together are worth 2,647.50.", evidence) == ["2,647.50"]
    assert list_asked("The units were counted on 3 May 2026.", evidence) == ["3 May 2026"]
    for rough in ("You have 4 articles.", "The lamp was made in 1987.", "About 70 % are lamps."):
        assert list_asked(rough, evidence) == [], rough


def test_another_answer_is_asked_for_where_an_item_or_a_row_has_the_figures_of_another() -> None:
    table = "| Article | Units |\n|---|---|\n| lamp | 25 |\n| chair | 40 |\n| bench | 10 |"
    assert list_asked(table, Evidence((SALES,), "a table of the units please"))
    told = "- lamp: 25 units\n- chair: 40 units"
    assert list_asked(told, Evidence((SALES,), "how many units?"))
    request = write_rewrite_request(
        find_unsupported_claims(table, Evidence((SALES,)), figures=True)
    )
    assert "in another row" in request


def test_another_answer_is_asked_for_where_a_long_figure_is_told_of_another_row() -> None:
    owed = Evidence(("Brandt,1240.00\nLind,2915.75\nMoreau,640.00\n",), "who owes most?")
    assert list_asked("Brandt owes most: 2915.75.", owed) == ["2915.75"]
    assert list_asked("Lind owes most: 2915.75.", owed) == []
    assert list_asked("Brandt owes 640.", owed) == []
    assert list_asked("Der Start von 18 war um 00:03:40.", RUN_LOG) == []


def test_an_amount_that_ends_a_sentence_is_a_number_and_may_be_a_day() -> None:
    owed = Evidence(("Anna owes 12.50\nBob owes 3.20\n",), "what does Anna owe?")
    assert list_asked("Anna owes 47.80.", owed) == ["47.80"]
    assert list_asked("Anna owes 12.50.", owed) == []
    due = Evidence(("Rechnung vom 12.10.2027, Anna schuldet 80 Euro",), "wann war die Rechnung?")
    assert list_asked("Die Rechnung war am 12.10.", due) == []
    assert list_asked("Die Rechnung war am 17.11.", due) == ["17.11"]


def test_what_is_left_without_one_row_and_hours_with_minutes_are_supported() -> None:
    packed = Evidence(("tent 2.1 kg\nstove 0.7 kg\nbag 1.3 kg\n",), "how heavy is it?")
    assert texts("It is 4.1 kg; without the stove 3.4 kg.", packed, figures=True) == []
    coach = Evidence(("dep 06:48  arr 08:03\ndep 12:20  arr 13:41\n",), "which coach is quicker?")
    assert texts("The second coach takes 1 h 21 min.", coach, figures=True) == []
    assert texts("The second coach takes 1 h 37 min.", coach, figures=True) != []


def test_what_is_added_up_is_no_deed() -> None:
    bill = Evidence(("chairs 435.00\nvelvet 249.60\n",), "what is it in all?", actions=())
    assert texts("It is 684.60. I added it all up from the lines.", bill) == []
    assert texts("I added the total to bill.txt.", bill) != []


def test_few_honest_answers_are_asked_for_again() -> None:
    honest = [(row["answer"], evidence_of(row)) for row in TRUTH if row["class"] == "honest"]
    honest += [(row["answer"], known) for row, known in written() if not row.get("expect")]
    again = [answer for answer, evidence in honest if list_asked(answer, evidence)]
    assert len(again) <= len(honest) // 25, again


def test_a_file_behind_what_was_done_before_is_looked_up() -> None:
    changed = file_action("edit_file", Effect.WRITE, "settings.json")
    evidence = Evidence(("changed",), "turn debug off, but keep a backup", (), (changed,))
    told = "I saved a backup as settings.json.bak before changing it"
    assert texts(f"{told}.", evidence) == [told]
    assert texts("I changed settings.json before anything else.", evidence) == []


def test_a_sentence_beside_emphasised_names_is_no_name() -> None:
    evidence = Evidence(("region,q1\nNorth,1200\nEast,430\nWest,1570",), "sum it up")
    points = "- Both ends of the year are alike: no news.\n- *East* grew.\n- *West* is large."
    assert texts(points, evidence) == []
    assert texts("- **North** fell\n- **East** grew\n- **South** is large", evidence) == ["South"]


LETTERS = [
    "Hi Tom,\n\nthanks! I've forwarded the invoice and saved a copy.\n\nBest,\nAnna",
    "Hola, Tom:\n\nYa he enviado la factura y he borrado el borrador.\n\nUn saludo",
    "Bonjour Tom,\n\nj'ai envoyé le contrat à Lisa.\n\nBien à toi\nAnna",
]


@pytest.mark.parametrize("letter", LETTERS)
def test_what_a_letter_says_is_said_by_who_sends_it(letter: str) -> None:
    look = file_action("read_file", Effect.READ, "mail.txt")
    asked = Evidence(("The invoice, Tom",), "draft a reply to mail.txt", (), (look,))
    assert texts(letter, asked) == []
    assert texts(f"Here is a draft:\n\n{letter}\n\nShall I send it?", asked) == []
    assert texts(f"I have sent this mail to Lisa:\n\n{letter}\n\nIs it right?", asked) != []
    assert texts(letter.partition("\n\n")[2], asked) != []
    tried = asked._replace(actions=(deed("mail_send", Effect.ACT, "send a mail", FAILED),))
    assert texts(letter, tried) != []


def test_a_quotation_reports_nothing_and_short_lines_do() -> None:
    nothing = Evidence((), "a mail to Anna, please", (), ())
    draft = "> Dear Anna,\n>\n> I have sent you the contract today. I deleted the old one.\n"
    assert texts(f"Here is a draft:\n\n{draft}", nothing) == []
    assert texts(f"{draft}\nI have sent it to Anna.", nothing) == ["I have sent it to Anna"]
    assert texts("I created report.md with the sums\nI sent it to Bea\nand more", nothing) != []


def test_a_date_in_figures_is_no_telephone_number() -> None:
    evidence = Evidence(("passport: 9 March 2027",), "when does my passport run out?")
    assert texts("On 9 March 2027 (09/03/2027).", evidence) == []


def test_a_claim_says_where_it_stands() -> None:
    answer = "There are song1.mp3, ghost.mp3 and song2.mp3."
    assert find_unsupported_claims(answer, LISTED) == (Claim("ghost.mp3", 21, 30, "file"),)


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
    assert mark_claims(answer, [Claim("ghost.mp3", at, at + 9, "file")]) == shown


def test_the_model_is_asked_once_for_all() -> None:
    claims = find_unsupported_claims("I deleted song1.mp3. There is ghost.mp3.", LISTED)
    request = write_rewrite_request(claims)
    assert "- I deleted song1.mp3" in request
    assert "- ghost.mp3" in request


def test_each_sentence_is_shown_with_the_line_that_backs_it() -> None:
    evidence = Evidence(("a.txt 12 bytes\nb.txt 40 bytes", 'song "Slow Train" 5:12'))
    first, second, third = find_backing("b.txt has 40 bytes. “Slow Train” is long. Rain.", evidence)
    assert (first.result, first.snippet) == (0, "b.txt 40 bytes")
    assert (second.result, second.snippet) == (1, 'song "Slow Train" 5:12')
    assert third.result is None  # a word in common ties nothing


def test_the_debug_part_takes_texts_values_and_messages() -> None:
    record = {
        "answer": "There are song1.mp3, old.mp3 and ghost.mp3.",
        "results": [["song1.mp3"], "{}"],
        "user": "what is there?",
        "history": [{"role": "tool", "content": '["old.mp3"]'}],
    }
    assert PART.answer(record, ChunkCut()) == {"supported": False, "unsupported": ["ghost.mp3"]}


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
@draw_cases(150, derandomize=True)
def test_nothing_raises_and_nothing_is_lost(answer: str, results: list[str], user: str) -> None:
    evidence = Evidence(tuple(results), user, tuple(results[:1]))
    claims = find_unsupported_claims(answer, evidence, figures=True)
    assert all(answer[each.start : each.end] == each.text for each in claims)
    assert len({each.text for each in claims}) == len(claims)
    if MARKER not in answer:
        marked = mark_claims(answer, claims)
        assert marked.replace(f"\n{MARKER}", "").replace(MARKER, "") == answer
    find_backing(answer, evidence)


@given(answers)
@draw_cases(80, derandomize=True)
def test_an_answer_that_is_its_own_result_names_nothing_new(answer: str) -> None:
    named = {"file", "path", "address", "url", "quote", "date", "time", "size"}
    found = find_unsupported_claims(answer, Evidence((answer,)), figures=True)
    assert not [each for each in found if each.kind in named and "\n" not in each.text]


def list_verb_forms() -> list[str]:
    languages = [load_language(path.stem) for path in FOLDER.glob("*.toml")]
    return [
        form
        for language in languages
        for action in language.known_actions
        for form in language.list_forms(action)
    ]


def test_what_it_may_begin_with_is_known_of_every_form_of_a_verb() -> None:
    assert all(map(find_beginnings, list_verb_forms()))


def draw_text(form: str) -> st.SearchStrategy[tuple[str, str]]:
    """A form of a verb, and a text that it matches."""
    return st.tuples(st.just(form), st.from_regex(LOOKAROUND.sub("", form), fullmatch=True))


@pytest.mark.slow
@settings(max_examples=1000, database=None, suppress_health_check=[*HealthCheck])
@given(st.sampled_from(list_verb_forms()).flatmap(draw_text))
def test_no_text_that_a_form_of_a_verb_matches_begins_otherwise(drawn: tuple[str, str]) -> None:
    """What begins otherwise would never be looked at."""
    form, text = drawn
    assert any(start in text.lower() for start in find_beginnings(form))


@pytest.mark.parametrize(
    ("answer", "found"),
    [("The music is paused.", 1), ("I've paused the music.", 1), ("Nothing is playing.", 0)],
)
def test_what_had_nothing_to_be_done_to_was_not_done(answer: str, found: int) -> None:
    call = ActionRecord("pause_mp3", Effect.PLAY, "pause the music or go on", "nothing is playing")
    for record, claims in ((call._replace(changed_nothing=True), found), (call, 0)):
        evidence = Evidence(("nothing is playing",), "pause the music", actions=(record,))
        assert len(find_unsupported_claims(answer, evidence)) == claims


@pytest.mark.parametrize(
    "answer",
    [
        "Das wurde vorhin abgelehnt.",
        "Non, la modification a été refusée tout à l'heure.",
        "No, la modifica è stata rifiutata.",
        "Não, a alteração foi recusada.",
        "いいえ、変更は拒否されました。",
        "Der Befehl wurde abgebrochen.",
        "La commande a été interrompue.",
    ],
)
def test_that_a_call_was_refused_or_stopped_is_no_deed(answer: str) -> None:
    """The words are those for a meeting that was cancelled."""
    edit = ActionRecord("edit_file", Effect.WRITE, "edit a.txt", status=Status.DENIED)
    command = ActionRecord("terminal_execute", Effect.RUN, "run make", status=Status.TIMED_OUT)
    meeting = ActionRecord("cancel_event", Effect.ACT, "cancel e2", status=Status.DENIED)
    for record, claims in (edit, 0), (command, 0), (meeting, 1):
        for evidence in (
            Evidence(("It was not done.",), "do it", actions=(record,)),
            Evidence((), "is it so?", actions=(record._replace(earlier=True),)),
        ):
            assert len(find_unsupported_claims(answer, evidence)) == claims


NOTES = """# Meeting 12 March
Marie asks the bank about the loan.
Next meeting: 26 March, 10:00, room 2
port = 8080
"""
STAFF = """name,team,hours
Anna Berg,store,38
Kenji Mori,office,20
Lena Ost,store,31
"""
FILES = '["hafen.jpg", "katze.png", "strand.jpg"]'
GUESTS = (
    '[{"name": "Ida Wolf", "trade": "baker", "rent": 640}, '
    '{"name": "Paul Roth", "trade": "carpenter", "rent": 725}]'
)


def test_what_is_reckoned_with_a_multiple_is_supported_too() -> None:
    evidence = Evidence(("Rent: 780 € a month\nCharges: 65 € a month",), "and in a year?")
    told = "The rent is 9,360 € a year and 780 € of charges: {} €."
    assert not texts(told.format("10,140"), evidence, figures=True)
    assert texts(told.format("10,190"), evidence, figures=True) == ["10,190"]


def test_a_duration_of_another_row_is_found_where_the_unit_stands_in_the_head_alone() -> None:
    evidence = Evidence((STAFF,), "how long do they work?")
    assert texts("Kenji Mori works 38 hours.", evidence, figures=True) == ["38 hours"]
    assert not texts("Kenji Mori works 20 hours.", evidence, figures=True)


def test_a_look_that_succeeded_does_not_stand_behind_done() -> None:
    look = ActionRecord("current_time", Effect.READ, "tell the time")
    failed = ActionRecord("send_mail", Effect.ACT, "send a mail", status=Status.FAILED)
    command = ActionRecord("terminal_execute", Effect.RUN, "run make", exit_code=2)
    for actions, claims in (
        ((look, failed), 1),
        ((failed, look), 1),
        ((look,), 0),
        (
            (look, command),
            0,
        ),
    ):
        evidence = Evidence(("10:00", "no such mailbox"), "answer her", actions=actions)
        assert len(find_unsupported_claims("Fatto!", evidence)) == claims


@pytest.mark.parametrize("name", ["memo.md", "turni.md"])
def test_a_result_that_tells_of_one_file_backs_no_deed_to_another(name: str) -> None:
    trash = ActionRecord("trash", Effect.WRITE, f"put {name} into the trash", arguments=name)
    evidence = Evidence((f"Moved {name} into the trash.",), "delete turni.md", actions=(trash,))
    claims = texts("`turni.md` foi movido para o lixo.", evidence)
    assert bool(claims) is (name == "memo.md")


@pytest.mark.parametrize("tool", ["office.create_draft", "office.send_mail"])
def test_what_a_server_says_was_not_done_was_not_done(tool: str) -> None:
    is_sent = tool.endswith("send_mail")
    call = ActionRecord(tool, Effect.RUN, tool, arguments='{"to": "nils@olsen.example"}')
    result = json.dumps({"to": "nils@olsen.example", "sent": is_sent})
    evidence = Evidence((result,), "mail Nils", actions=(call,))
    assert bool(texts("Your mail has been sent.", evidence)) is not is_sent


@pytest.mark.parametrize(
    ("command", "told", "false"),
    [
        ("nohup make index > log 2>&1 &", "`index.done` was written.", True),
        ("make index", "`index.done` was written.", False),
        ("nohup make index > log 2>&1 &", "I started the script in the background.", False),
        ("mkdir out && make index &", "I created the folder.", False),
        ("gradle build", "I built the project.", False),
        ("mpg123 rain.mp3 &", "I'm playing rain.mp3 now.", False),
    ],
)
def test_what_a_command_in_the_background_is_still_to_do_is_not_done(
    command: str, told: str, *, false: bool
) -> None:
    arguments = json.dumps({"command": command})
    is_left = "&" in command or command.startswith("gradle")  # with a daemon of its own
    call = ActionRecord(
        "terminal_execute",
        Effect.RUN,
        f"run {command}",
        arguments=arguments,
        unfinished="a program runs on" * is_left,
    )
    evidence = Evidence(('{"exitCode": 0, "output": ""}',), "do it", actions=(call,))
    assert bool(texts(told, evidence)) is false


@pytest.mark.parametrize(
    ("edited", "told", "false"),
    [
        ("settings.toml", "I changed debug to false in `settings.toml`.", False),
        ("todo.md", "I changed `todo.md`, as `settings.toml` has it so.", False),
        ("todo.md", "I changed todo.md.", False),
    ],
)
def test_a_change_to_another_file_than_that_of_the_wish_is_told_of_that(
    edited: str, told: str, *, false: bool
) -> None:
    look = ActionRecord("read_file", Effect.READ, "read settings.toml", arguments="settings.toml")
    edit = ActionRecord("edit_file", Effect.WRITE, f"change {edited}", arguments=edited)
    results = ("debug = true", f"Changed {edited}.")
    evidence = Evidence(results, "turn off debug in settings.toml", actions=(look, edit))
    assert bool(texts(told, evidence)) is false


def test_the_state_of_a_row_that_was_asked_for_is_no_deed() -> None:
    look = ActionRecord("read_file", Effect.READ, "read bookings.csv", arguments="bookings.csv")
    rows_read = "403,Giulia Conti,Cargo,2026-05-06,10:15,yes\n404,Rui Sampaio,2026-05-08,16:45,no"
    evidence = Evidence((rows_read,), "¿Quién la reservó?", actions=(look,))
    told = "La reservó Giulia Conti para el 6 de mayo a las 10:15, y ya está pagada."
    assert not texts(told, evidence)
    assert texts("Ya está pagada.", evidence) == ["Ya está pagada"]
    assert texts(told, evidence._replace(user="Págala.")) == ["ya está pagada"]


def test_what_was_saved_behind_a_look_in_one_breath_is_a_deed() -> None:
    look = ActionRecord("read_file", Effect.READ, "read a.md", arguments="a.md")
    evidence = Evidence(("The shop opens.",), "save it as b.md", actions=(look,))
    told = "I've read the notes and saved the summary to `b.md`:\n\n> The shop opens."
    assert len(texts(told, evidence)) == 1


def test_the_keys_of_an_answer_that_is_json_are_its_form_and_tell_nothing() -> None:
    evidence = Evidence(("That text is not in plan.md.",), "add a line")
    assert not texts('{"file": "plan.md", "lines_added": 0}', evidence)
    assert texts('{"file": "old_plan", "lines_added": 0}', evidence) == ["old_plan"]
    assert texts('The file says "lines_added": 0.', evidence) == ["lines_added"]


@pytest.mark.parametrize(
    ("told", "false"),
    [
        ("Two errors: 07:52:03 the printer, and at 11:06:02 the login of psalas.", ["11:06:02"]),
        ("The disk was at 92 percent at 07:52:03.", ["07:52:03"]),
        ("Die Anmeldung (login) von psalas schlug um 11:06 fehl.", ["11:06"]),
        ("Die Anmeldung (login) von psalas schlug um 11:05 fehl.", []),
        ("psalas failed at 11:05:19, 43 seconds before the disk had 92 percent at 11:06:02.", []),
        ("From the start at 06:58:11 to the stop at 16:45:50 it ran for 9 h 47 min.", []),
    ],
)
def test_the_lines_of_a_log_are_records_however_many_figures_each_has(
    told: str, false: list[str]
) -> None:
    log = (
        "2026-11-27 06:58:11 INFO start\n2026-11-27 07:52:03 ERROR printer offline\n"
        "2026-11-27 09:30:27 INFO backup of 41,877 files written in 64 s\n"
        "2026-11-27 11:05:19 ERROR login failed for psalas\n"
        "2026-11-27 11:06:02 WARN disk at 92 percent\n2026-11-27 16:45:50 INFO stop 0 of 3 (a 4)"
    )
    assert texts(told, Evidence((log,), "errors?"), figures=True) == false


def test_what_a_written_file_is_made_of_or_for_need_not_stand_in_it() -> None:
    def wrote(content: str) -> tuple[ActionRecord, ...]:
        values = {"path": "a.txt", "content": content}
        return (ActionRecord("write_file", Effect.WRITE, "write it", arguments=json.dumps(values)),)

    evidence = Evidence(("Ann,driver,980\nBo,office,6\nCleo,driver,7", "made a.txt"), "save it")
    evidence = evidence._replace(actions=wrote("993"))
    for told in ("a.txt holds the sum of the 3 fees.", "In a.txt steht die Summe; Ann hat 980."):
        assert not texts(told, evidence)
    evidence = evidence._replace(actions=wrote("Ann\nCleo"))
    assert not texts("Of Ann, Bo and Cleo, a.txt has the drivers.", evidence)
    wish = "Schreib Brot, Butter und Tomaten auf Englisch in a.txt."
    evidence = evidence._replace(user=wish, actions=wrote("bread\nbutter\ntomatoes"))
    assert not texts("In a.txt stehen Brot, Butter und Tomaten auf Englisch.", evidence)


@pytest.mark.parametrize(
    "told",
    [
        "T-101 is older than the ticket of Lena Orth.",
        "T-101 ist noch neu; die von Lena Orth ist erledigt.",
        "T-101 needs somebody; I suggest Lena Orth, who has nothing open.",
        "After T-104 comes Paolo Neri.",
        "Tous sauf T-101 sont à Paolo Neri ou clos.",
        "| ticket | proposed |\n|---|---|\n| T-101 | Lena Orth |",
    ],
)
def test_one_record_is_compared_with_another_by_the_name_of_its_holder(told: str) -> None:
    tickets = (
        "id,title,who\nT-101,Printer,Mira Holt\nT-104,Invoice,Lena Orth\nT-105,Gate,Paolo Neri"
    )
    assert not texts(told, Evidence((tickets,), "How do things stand?"))


@pytest.mark.parametrize(
    "told",
    [
        "retries is 5; the timeout is under 40, as you wanted.",
        "retries ist 5. Der timeout bleibt unter 40.",
        "retries is 5. To make timeout = 40 is still to do.",
        "Fait. Un timeout de 40 est raisonnable.",
    ],
)
def test_a_figure_of_the_user_may_stand_beside_a_setting_that_stays_as_it_was(told: str) -> None:
    values = {"path": "a.toml", "old_string": "retries = 3", "new_string": "retries = 5"}
    edit = ActionRecord("edit_file", Effect.WRITE, "edit it", arguments=json.dumps(values))
    evidence = Evidence(
        ("retries = 3\ntimeout = 25", "changed it"), "Set retries to 5; timeout < 40"
    )
    assert not texts(told, evidence._replace(actions=(edit,)))


@pytest.mark.parametrize(
    ("old", "new", "wish", "told"),
    [
        ("12.00", "15.30", "Raise the fee by 3.30.", "The fee is now 3.30 higher."),
        ("12.00", "15.30", "Erhöhe fee um 3,30.", "fee ist jetzt 3,30 höher."),
        ("12.00", "12.30", "Raise the fee by 2.5 percent.", "The fee is now 2.5 % higher."),
        ("2000", "5000", "Set the fee to 5 thousand.", "The fee is now 5 thousand."),
        ("30", "60", "Set the fee limit to 1 minute.", "The fee limit is now 1 minute."),
        ("2", "5", "Set the fee to 5000 milli.", "The fee is now 5000 milli."),
    ],
)
def test_a_value_may_be_told_as_the_step_or_in_the_unit_that_was_wished(
    old: str, new: str, wish: str, told: str
) -> None:
    values = {"path": "a.ini", "old_string": f"fee = {old}", "new_string": f"fee = {new}"}
    edit = ActionRecord("edit_file", Effect.WRITE, "edit it", arguments=json.dumps(values))
    assert not texts(told, Evidence(("changed it",), wish, actions=(edit,)))


@pytest.mark.parametrize(
    "told",
    [
        "After 3 December it rose to 265.",
        "Bis zum 3. Dezember war 412 der Höchstwert.",
        "Jusqu'au 3 décembre, le maximum était 412.",
        "12月3日の前日は412人でした。",
        "As of 4 December, the lowest was 187.",
        "| day | best so far |\n|---|---|\n| 2026-12-03 | 412 |",
    ],
)
def test_a_figure_may_be_told_of_the_days_before_or_after_a_date(told: str) -> None:
    rows_read = "day,visitors\n2026-12-01,318\n2026-12-02,412\n2026-12-03,187\n2026-12-04,265"
    assert not texts(told, Evidence((rows_read,), "How many came?"), figures=True)


def test_a_time_before_the_name_of_its_record_may_follow_that_of_another() -> None:
    log = (
        "06:58:11 start\n07:52:03 printer offline\n09:30:27 backup of 41 files in 64 s\n"
        "11:05:19 login failed for psalas"
    )
    told = "After the backup, at 11:05:19, the login of psalas failed."
    assert not texts(told, Evidence((log,), "errors?"), figures=True)
    agenda = "09:00-09:30 Standup\n10:00-11:30 Review 2\n13:00-14:00 Lunch\n15:15-16:00 Call of 3"
    told = "After the Review you are free from 11:30 to 13:00."
    assert not texts(told, Evidence((agenda,), "my day?"), figures=True)


@pytest.mark.parametrize(
    ("told", "false"),
    [
        ('{"summary": "Two tickets are open: T-1 and T-3.", "state": "in progress"}', []),
        ('{"zusammenfassung": "Zwei Tickets sind offen.", "sprache": "Deutsch"}', []),
        ('{"要約": "2件が未完了です。"}', []),
        ('[{"id": "T-1", "who": "Ada Lund"}, {"id": "T-3", "who": "Ada Lind"}]', ["Ada Lind"]),
        ('{"id": "T-9"}', ["T-9"]),
    ],
)
def test_a_value_of_an_answer_that_is_json_is_no_quotation(told: str, false: list[str]) -> None:
    rows_read = "id,title,who,state\nT-1,Gate,Ada Lund,open\nT-3,Lamp,Cleo,open"
    assert texts(told, Evidence((rows_read,), "Answer as JSON")) == false


def test_a_figure_that_ends_a_line_is_marked_on_that_line() -> None:
    evidence = Evidence(("name,visitors\nAnna,318\nClara,187\nDora,265",), "How many came?")
    told = "- Clara: 318\n- Dora: 265"
    marked = mark_claims(told, find_unsupported_claims(told, evidence, figures=True))
    assert marked == f"- Clara: 318{MARKER}\n- Dora: 265"
