"""Consent: what is free, what is asked, what is refused."""

import asyncio
import sys
from pathlib import Path

import pytest

from andy_cli.errors import ToolError
from andy_cli.guard.gate import ApprovalAnswer, ApprovalRequest, AskApproval, Decision, Gate
from andy_cli.guard.rules import Rules, parse_rules
from andy_cli.guard.workspace import Operation, ResourceAccess, named_places, resolve
from andy_cli.messages import Effect
from tests.swapped_folders import swapped_changes, swapped_writes

ASKED = (Effect.NETWORK, Effect.WRITE, Effect.RUN, Effect.ACT)


def decided(
    gate: Gate, effect: Effect, *places: str, tool: str = "tool", injection_reason: str = ""
) -> Decision:
    operation: Operation = "write" if effect is Effect.WRITE else "read"
    approval_request = ApprovalRequest(
        tool, effect, "do it", ResourceAccess(places, operation), injection_reason
    )
    return asyncio.run(gate.decide(approval_request))


def allowing(*rules: str) -> Rules:
    return parse_rules((), (), rules)


def saying(answer: ApprovalAnswer, heard: list[ApprovalRequest]) -> AskApproval:
    async def ask(approval_request: ApprovalRequest) -> ApprovalAnswer:
        heard.append(approval_request)
        return answer

    return ask


@pytest.mark.parametrize("effect", [Effect.READ, Effect.PLAY])
def test_reading_and_playing_inside_is_free(effect: Effect, tmp_path: Path) -> None:
    assert decided(Gate(tmp_path), effect, "songs/a.mp3").allowed


@pytest.mark.parametrize("place", ["/etc", "..", "a/../../b", "~"])
def test_reading_outside_needs_a_yes(place: str, tmp_path: Path) -> None:
    assert decided(Gate(tmp_path), Effect.READ, place) == Decision(
        False, "it needs a yes and nobody can be asked", asked=True
    )


def test_a_link_out_of_the_workspace_is_outside(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "link").symlink_to(tmp_path)
    assert not decided(Gate(workspace), Effect.READ, "link").allowed


def test_the_music_folders_count_as_inside(tmp_path: Path) -> None:
    music = tmp_path / "music"
    gate = Gate(tmp_path / "workspace", [str(music)])
    assert decided(gate, Effect.PLAY, str(music / "a.mp3")).allowed


def test_what_the_user_names_counts_as_inside(tmp_path: Path) -> None:
    music = tmp_path / "mp3"
    music.mkdir()
    gate = Gate(tmp_path / "workspace")
    assert not decided(gate, Effect.READ, str(music)).allowed
    gate.note_user_paths(f"look at files in {music}, please")
    assert decided(gate, Effect.READ, str(music / "a.mp3")).allowed


def test_who_names_the_home_folder_does_not_mean_all_that_is_in_it(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "workspace")
    gate.note_user_paths("list the files in ~/ and in / too")
    assert decided(gate, Effect.READ, "~").allowed
    assert not decided(gate, Effect.READ, "~/.ssh/id_rsa").allowed
    assert not decided(gate, Effect.READ, "/etc/shadow").allowed


@pytest.mark.parametrize("effect", ASKED)
def test_everything_else_is_asked(effect: Effect, tmp_path: Path) -> None:
    heard: list[ApprovalRequest] = []
    gate = Gate(tmp_path, ask=saying(ApprovalAnswer(yes=True), heard))
    assert decided(gate, effect).allowed
    assert [each.effect for each in heard] == [effect]


def test_destruction_is_refused_whatever_is_allowed(tmp_path: Path) -> None:
    heard: list[ApprovalRequest] = []
    gate = Gate(
        tmp_path, (), allowing("tool", "destroy"), "auto", saying(ApprovalAnswer(True), heard)
    )
    assert not decided(gate, Effect.DESTROY).allowed
    assert heard == []


@pytest.mark.parametrize("allow", ["tool", "write"])
def test_a_tool_or_an_effect_can_be_allowed(allow: str, tmp_path: Path) -> None:
    assert decided(Gate(tmp_path, rules=allowing(allow)), Effect.WRITE).allowed
    assert not decided(Gate(tmp_path, rules=allowing(allow + "x")), Effect.WRITE).allowed


def test_a_yes_for_the_session_holds_for_the_same_place_only(tmp_path: Path) -> None:
    heard: list[ApprovalRequest] = []
    gate = Gate(tmp_path, ask=saying(ApprovalAnswer(yes=True, session=True), heard))
    for place in ("a", "a", "b"):
        assert decided(gate, Effect.WRITE, place).allowed
    assert len(heard) == 2


def test_a_yes_to_reading_holds_for_that_place_and_what_is_in_it(tmp_path: Path) -> None:
    heard: list[ApprovalRequest] = []
    gate = Gate(tmp_path, ask=saying(ApprovalAnswer(yes=True), heard))
    for place in ("/a", "/a", "/a/b/c", "/ab", "/"):
        assert decided(gate, Effect.READ, place).allowed
    assert [each.access.places for each in heard] == [("/a",), ("/ab",), ("/",)]


def test_a_request_in_a_quotation_needs_a_yes_whatever_its_effect(tmp_path: Path) -> None:
    assert not decided(Gate(tmp_path), Effect.READ, "a", injection_reason="it is quoted").allowed


def test_a_no_with_a_reason_is_passed_on(tmp_path: Path) -> None:
    gate = Gate(tmp_path, ask=saying(ApprovalAnswer(yes=False, reason="wrong file"), []))
    assert decided(gate, Effect.WRITE) == Decision(False, "wrong file", asked=True)


def test_a_path_with_a_nul_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="NUL"):
        resolve("a\0b", tmp_path)


def test_places_are_found_in_quotes_and_before_punctuation(tmp_path: Path) -> None:
    (tmp_path / "my music").mkdir()
    (tmp_path / "b").mkdir()
    text = f'play "{tmp_path}/my music" and {tmp_path}/b, not {tmp_path}/missing'
    found = named_places(text, tmp_path)
    assert {tmp_path / "my music", tmp_path / "b", tmp_path / "missing"} <= set(found)


@pytest.mark.skipif(sys.platform != "linux", reason="folders are swapped by a call of Linux")
def test_what_was_judged_is_what_is_written(tmp_path: Path) -> None:
    done = swapped_writes(tmp_path, tries=400)
    assert done.written > 0
    assert done.outside == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="folders are swapped by a call of Linux")
def test_what_was_judged_is_what_is_moved_copied_and_trashed(tmp_path: Path) -> None:
    # Several programs that swap: on a busy machine one may leave the link there all the time.
    rounds = [swapped_changes(tmp_path / name, tries=100) for name in ("a", "b", "c")]
    assert sum(done.written for done in rounds) > 0
    assert not any(done.outside for done in rounds)


def test_a_copy_in_mode_edits_is_asked_where_its_source_may_hold_secrets(tmp_path: Path) -> None:
    gate = Gate(tmp_path, mode="edits")

    def copying(source: str) -> Decision:
        access = ResourceAccess((source, "copy.txt"), operations=("read", "write"))
        return asyncio.run(gate.decide(ApprovalRequest("upload", Effect.WRITE, "copy", access)))

    assert copying("notes.txt").allowed
    assert not copying(".env").allowed
    assert not copying("../notes.txt").allowed


def test_a_link_is_deleted_itself(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    link = tmp_path / "workspace" / "link"
    link.symlink_to("target.txt")
    approval_request = ApprovalRequest(
        "trash", Effect.WRITE, "trash", ResourceAccess(("link",), "delete")
    )
    verdict = asyncio.run(Gate(tmp_path / "workspace", mode="edits").decide(approval_request))
    assert verdict.granted == {"link": link}
