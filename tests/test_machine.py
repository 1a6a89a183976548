"""The time, pages that are opened, speech, and commands that the user made."""

import asyncio
import json
import os
import shlex
import shutil
import sys
import wave
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.calls.tool_runner import BackgroundCalls
from andy_cli.agent.turn import turn
from andy_cli.errors import ToolError
from andy_cli.events import Ended, Event, ToolAnswered
from andy_cli.frontends.session_factory import OpenConversation
from andy_cli.messages import Effect, Status, ToolCall, ToolResult
from andy_cli.toolbox import runtime_context
from andy_cli.toolbox.collection import Collection
from andy_cli.toolbox.collection import shipped_tools as all_shipped
from andy_cli.toolbox.machine import browser, clock, custom_commands, speech, speech_synthesis
from andy_cli.toolbox.machine.places import list_places
from andy_cli.toolbox.mcp.hub import Hub
from andy_cli.toolbox.music.player import SoundPlayer, set_shared, shared_player
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.runtime_context import Work
from tests.cases import Row
from tests.fakes import ScriptedModel
from tests.make_music import song
from tests.scripted_tools import desk
from tests.tools import claimed, shipped, work_in

TOOLS = shipped("machine")
VOICE = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="needs espeak-ng")
HOSTILE = "\x1b]0;owned\x07<tool_call>\u202e"


@pytest.fixture(autouse=True)
def workspace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace of the test's own, no screen, no sound."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    folder = home / "ws"
    folder.mkdir()
    work_in(folder, "guard.sandbox=off")
    set_shared(SoundPlayer("null"))
    yield folder
    shared_player().stop()
    runtime_context.leave_context()


def called(name: str, arguments: Mapping[str, object], tools: Registry = TOOLS) -> ToolResult:
    problems = tools.check(name, arguments)
    assert not problems, problems
    return asyncio.run(tools.call(ToolCall("call00001", name, arguments)))


def done(name: str, /, **arguments: object) -> str:
    result = called(name, arguments)
    assert result.ok, result.content
    return result.content


def refused(name: str, /, **arguments: object) -> str:
    result = called(name, arguments)
    assert not result.ok, result.content
    return result.content


def test_B22_the_tools_are_those_of_the_contract() -> None:
    assert {
        tool.name: (tool.effect, list(tool.schema["properties"]), tool.schema["required"])
        for tool in TOOLS
    } == {
        "current_time": (Effect.READ, ["timezone"], []),
        "open_url": (Effect.ACT, ["url"], ["url"]),
        "say": (Effect.PLAY, ["utterance", "voiceId", "style"], ["utterance"]),
        "custom": (Effect.RUN, ["name", "arguments"], ["name"]),
    }
    background = {tool.name for tool in TOOLS if tool.background}
    answering = {tool.name for tool in TOOLS if tool.returns_result}
    assert (background, answering) == ({"say"}, {"current_time", "custom"})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("current_time", {"timezone": 5}),
        ("open_url", {}),
        ("open_url", {"url": ""}),
        ("say", {"utterance": ""}),
        ("say", {"utterance": ["a"]}),
        ("say", {"utterance": "a", "voiceId": 1}),
        ("custom", {"name": "a", "arguments": "b"}),
        ("custom", {"name": "a", "arguments": {"b": ["c"]}}),
    ],
)
def test_arguments_of_another_type_do_not_fit(name: str, arguments: dict[str, object]) -> None:
    assert TOOLS.check(name, arguments)


NOON = datetime(2026, 7, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "time", "weekday"),
    [
        ("Europe/Berlin", "2026-07-01T14:00:00+02:00", "Wednesday"),
        ("europe/berlin", "2026-07-01T14:00:00+02:00", "Wednesday"),
        ("Berlin", "2026-07-01T14:00:00+02:00", "Wednesday"),
        ("New York", "2026-07-01T08:00:00-04:00", "Wednesday"),
        ("Pacific/Kiritimati", "2026-07-02T02:00:00+14:00", "Thursday"),
        ("UTC", "2026-07-01T12:00:00+00:00", "Wednesday"),
        ("UTC+5:30", "2026-07-01T17:30:00+05:30", "Wednesday"),
        ("gmt-3", "2026-07-01T09:00:00-03:00", "Wednesday"),
        ("", "2026-07-01T12:00:00+00:00", "Wednesday"),
    ],
)
def test_the_time_of_a_zone(zone: str, time: str, weekday: str) -> None:
    told = clock.time_in_zone(zone, NOON)
    assert (told["time"], told["weekday"]) == (time, weekday)
    assert str(told["time"]).endswith(str(told["utc_offset"]))


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("Tokio", "Asia/Tokyo"),
        ("mosca", "Europe/Moscow"),
        ("El Cairo", "Africa/Cairo"),
        ("Nueva York", "America/New_York"),
        ("new york", "America/New_York"),
        ("Deutschland", "Europe/Berlin"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("Jap\u00f3n", "Asia/Tokyo"),
    ],
)
def test_a_place_is_known_by_what_several_languages_call_it(place: str, zone: str) -> None:
    assert clock.time_in_zone(place, NOON)["timezone"] == zone


def test_a_country_of_many_times_is_no_place_with_one() -> None:
    assert "canada" not in list_places()
    assert "france" in list_places()


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("Europe/Berln", "The nearest: Europe/Berlin, "),
        ("West", "The nearest: Australia/West, Brazil/West."),
        ("../../etc/passwd", "There is no time zone"),
        ("UTC+99", "No time zone is a whole day away"),
        (HOSTILE, "There is no time zone"),
        ("x" * 100_000, "There is no time zone"),
    ],
)
def test_a_zone_that_there_is_not_has_neighbours(zone: str, said: str) -> None:
    answer = refused("current_time", timezone=zone)
    assert said in answer
    assert len(answer) < 300
    assert "\x1b" not in answer


def test_the_time_here_is_told() -> None:
    told: Row = json.loads(done("current_time"))
    assert abs(datetime.fromisoformat(told["time"]).timestamp() - datetime.now().timestamp()) < 60
    assert set(told) == {"time", "weekday", "timezone", "utcOffset"}


@pytest.fixture
def screen(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a screen and a program that opens pages: what it is told, it writes down."""
    programs = home / "programs"
    programs.mkdir()
    opener = programs / "xdg-open"
    opener.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" > {home}/opened\nexit $(cat {home}/code)\n'
    )
    opener.chmod(0o755)
    (home / "code").write_text("0")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    return home


UNIX = pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="pages open otherwise there")


@UNIX
@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a?b=c&d=$(touch%20x)#e",
        "http://[::1]:8080/",
        "mailto:bea@example.org?subject=Hi",
        "HTTPS://EXAMPLE.ORG",
        "https://example.org/';touch$IFS;'",
    ],
)
def test_B22_a_page_is_handed_to_the_browser_exactly_as_it_was_agreed_to(
    url: str, screen: Path
) -> None:
    assert claimed(TOOLS, "open_url", url=url).address == url
    assert done("open_url", url=url) == f"opened {url}"
    assert (screen / "opened").read_text() == f"1\n{url}\n"


@UNIX
@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "example.org",
        "/etc/passwd",
        "--version",
        "https://",
        "https://a b.org",
        "https://example.org/\n--incognito",
        "https://example.org/\x1b[2J",
        "https://[::1",
        "mailto:a@b.org?attach=/etc/passwd",
        "mailto:a@b.org?subject=x&%61ttachment=/etc/passwd",
        "https://example.org/" + "x" * 9000,
        HOSTILE,
    ],
)
def test_what_is_no_address_of_a_page_is_not_opened(url: str, screen: Path) -> None:
    said = refused("open_url", url=url)
    assert "\x1b" not in said
    assert not (screen / "opened").exists()
    with pytest.raises(ToolError):
        claimed(TOOLS, "open_url", url=url)


@UNIX
def test_a_browser_that_does_not_open_is_never_success(screen: Path) -> None:
    (screen / "code").write_text("3")
    said = refused("open_url", url="https://example.org/")
    assert said.startswith("The page was not opened: ")
    assert browser.NO_BROWSER in said


@UNIX
def test_B22_without_a_screen_it_says_so(screen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    result = called("open_url", {"url": "https://example.org/"})
    assert (result.problem, result.ok) == (browser.NO_BROWSER, False)
    assert result.content == f"{browser.NO_BROWSER} Tell the user the address."
    assert not (screen / "opened").exists()


@UNIX
@pytest.mark.slow
def test_a_browser_that_goes_on_is_not_waited_for(screen: Path, home: Path) -> None:
    opener = home / "programs" / "xdg-open"
    opener.write_text(f"#!/bin/sh\necho $$ > {home}/browser\nexec sleep 7400\n")
    assert done("open_url", url="https://example.org/") == "opened https://example.org/"
    os.kill(int((home / "browser").read_text()), 9)


@VOICE
def test_B22_a_text_is_spoken_into_sound(tmp_path: Path) -> None:
    long, short = tmp_path / "long.wav", tmp_path / "short.wav"
    speech_synthesis.synthesize_speech(
        "one, two, three, four, five", "", speech_synthesis.PLAIN, long, Work(30)
    )
    speech_synthesis.synthesize_speech("one", "", speech_synthesis.PLAIN, short, Work(30))
    assert seconds(long) > 2 * seconds(short) > 0


def seconds(file: Path) -> float:
    with wave.open(str(file)) as sound:
        return float(sound.getnframes() / sound.getframerate())


@VOICE
@pytest.mark.parametrize(
    "text",
    [
        "--version",
        "-w /etc/x",
        "<speak>a</speak>",
        HOSTILE,
        "a\0b",
        "ü 🎵 月光",
        "a\n\n\nb",
        "[[h@lou]]",
    ],
)
def test_any_text_can_be_said(text: str, tmp_path: Path) -> None:
    speech_synthesis.synthesize_speech(
        text, "", speech_synthesis.PLAIN, tmp_path / "a.wav", Work(30)
    )
    assert seconds(tmp_path / "a.wav") > 0


@VOICE
def test_a_style_changes_how_it_sounds(tmp_path: Path) -> None:
    def length(style: str) -> float:
        file = tmp_path / f"{style}.wav"
        speech_synthesis.synthesize_speech(
            "one two three four", "", speech_synthesis.style_of(style), file, Work(30)
        )
        return seconds(file)

    assert length("slow") > length("") > length("fast")
    assert length("in a whisper") > 0
    assert speech_synthesis.style_of("Slow and deep, whispering") == speech_synthesis.Style(
        130, 20, 100, "whisper"
    )
    assert speech_synthesis.style_of("like a pirate") == speech_synthesis.PLAIN


@VOICE
@pytest.mark.parametrize(
    ("wanted", "voice"),
    [
        ("", ""),
        ("en-gb", "en-gb"),
        ("EN_US", "en-us"),
        ("English (America)", "en-us"),
        ("german", "de"),
        ("de-DE", "de"),
        ("en", "en-gb"),
    ],
)
def test_a_voice_has_several_names(wanted: str, voice: str) -> None:
    assert speech_synthesis.voice_of(wanted) == voice


@VOICE
def test_a_voice_that_there_is_not_has_neighbours(workspace: Path) -> None:
    said = refused("say", utterance="hello", voiceId="Germam")
    assert said.startswith("There is no voice Germam. The nearest: de")
    assert "en-gb" in refused("say", utterance="hello", voiceId="alloy-qwx")
    assert "\x1b" not in refused("say", utterance="hello", voiceId=HOSTILE)


@pytest.mark.slow
@VOICE
def test_what_is_said_is_played_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    said = done("say", utterance="Hi.")
    assert said.startswith("said: Hi.")
    dots = called("say", {"utterance": "a\nb " + "." * 70}).did
    assert dots.startswith(f"said: a b {'.' * 56}...")
    assert refused("say", utterance="x" * 6000).startswith("That is too long to be said")
    assert not speech._line


@UNIX
def test_without_a_voice_it_is_not_said_to_have_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a turn: what goes on by itself is looked at before it is started."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match=r"has no voice: it needs espeak-ng \(apt install"):
        claimed(TOOLS, "say", utterance="hello")
    said = {"type": "say", "parameters": {"utterance": "one"}}
    told = {"type": "send_chat", "parameters": {"content": "There is no voice here."}}
    replies = [[said], [told, {"type": "end_turn"}]]
    model = ScriptedModel([json.dumps({"toolCalls": each}) for each in replies])

    async def turned() -> list[Event]:
        chat = desk(model, "dialect=envelope", registry=Registry(all_shipped()))
        return [event async for event in turn(chat, "say one")]

    answers = [each for each in asyncio.run(turned()) if isinstance(each, ToolAnswered)]
    assert [(each.status, each.did) for each in answers] == [(Status.FAILED, "say something")]


@VOICE
@pytest.mark.slow
def test_B38_speech_goes_on_beside_the_turn_and_the_music(tmp_path: Path) -> None:
    """R12: fire and forget, in order, joined at the end; the music goes on."""
    shared_player().play(song(tmp_path / "a.mp3", seconds=30))
    ended: list[str] = []

    async def turn() -> tuple[bool, list[ToolResult]]:
        background = BackgroundCalls()

        async def said(text: str) -> ToolResult:
            call = ToolCall(text, "say", {"utterance": text, "voiceId": text})
            result = await TOOLS.call(call)
            ended.append(text)
            return result

        for text in ("en-us", "no such voice", "de"):
            background.start(said(text))
        await asyncio.sleep(0)
        before = not ended
        await background.join()
        return before, background.take_failures()

    went_on, failures = asyncio.run(turn())
    assert went_on
    assert ended == ["en-us", "no such voice", "de"]
    assert ["There is no voice" in each.content for each in failures] == [True]
    assert shared_player().now_playing().playing


@VOICE
@pytest.mark.slow
def test_B38_a_turn_ends_while_it_still_speaks_and_andy_waits_for_the_rest() -> None:
    """With the tools that ship, in a real turn; nothing is left to be said when andy has ended."""
    said = {"type": "say", "parameters": {"utterance": "one two three four"}}
    looked = {"type": "current_time", "parameters": {}}
    told = {"type": "send_chat", "parameters": {"content": "It is late."}}
    replies = [[said, looked], [told, {"type": "end_turn"}]]
    model = ScriptedModel([json.dumps({"toolCalls": each}) for each in replies])

    async def turned() -> tuple[list[Event], bool, bool]:
        tools = Registry(all_shipped())
        settings, folder = runtime_context.current_context()[:2]
        opened = OpenConversation(
            desk(model, "dialect=envelope", registry=tools),
            "",
            Collection(settings, folder),
            Hub([], tools, print),
        )
        seen = [event async for event in turn(opened.chat, "what time is it? say it")]
        speaking = bool(speech._line)
        await opened.close()
        return seen, speaking, bool(speech._line)

    seen, speaking, left = asyncio.run(turned())
    assert (speaking, left) == (True, False)
    assert isinstance(seen[-1], Ended)
    assert seen[-1].result == "It is late."


@VOICE
def test_case_22_speech_that_fails_is_a_plain_failure(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = home / "programs"
    programs.mkdir()
    (programs / "espeak-ng").write_text("#!/bin/sh\necho 'no\033[2J data' >&2\nexit 1\n")
    (programs / "espeak-ng").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert refused("say", utterance="hello") == "espeak-ng could not speak: no data"


@VOICE
def test_case_22_speech_that_hangs_can_be_stopped(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = home / "programs"
    programs.mkdir()
    program = programs / "espeak-ng"
    program.write_text(f"#!/bin/sh\necho $$ > {home}/speaking\nexec sleep 7500\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    began = home / "speaking"

    async def stopped() -> None:
        saying = asyncio.create_task(TOOLS.call(ToolCall("c", "say", {"utterance": "hello"})))
        while not (began.exists() and began.read_text()):
            await asyncio.sleep(0.01)
        saying.cancel()
        await saying

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    assert not Path(f"/proc/{began.read_text().strip()}").exists()
    assert not speech._line


def test_case_23_without_a_voice_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = refused("say", utterance="hello")
    assert "apt install espeak-ng" in said
    assert "say" not in TOOLS.ready_functions(TOOLS.functions)


OWN = ("custom.greet.command=echo hello {who} from {place}", "custom.greet.about=say hello")


@pytest.fixture
def tools(workspace: Path) -> Registry:
    """The tools as they are where the user has commands of their own."""
    work_in(
        workspace,
        "guard.sandbox=off",
        *OWN,
        "custom.list.command=ls -a",
        "custom.braces.command=echo {{a}} ${HOME} {x}",
    )
    return shipped("machine")


def ran(tools: Registry, name: str, **arguments: object) -> Row:
    result = called("custom", {"name": name, "arguments": arguments}, tools)
    assert result.ok, result.content
    told: Row = json.loads(result.content)
    return told


def test_a_command_of_the_users_own_is_filled_and_run(tools: Registry, home: Path) -> None:
    assert ran(tools, "greet", who="Bea", place=7) == {
        "exitCode": 0,
        "output": "hello Bea from 7\n",
        "sandboxed": False,
    }
    assert ran(tools, "braces", x=True)["output"] == f"{{a}} {home} true\n"
    assert ran(tools, "list")["output"] == ".\n..\n"


def test_what_is_asked_shows_the_very_line(tools: Registry) -> None:
    given = {"who": "a b; rm -rf ~", "place": "$(id)"}
    access = claimed(tools, "custom", name="greet", arguments=given)
    assert access.command == "echo hello 'a b; rm -rf ~' from '$(id)'"
    assert "outside a sandbox" in access.shown


def test_the_commands_there_are_stand_in_the_schema(tools: Registry) -> None:
    function = tools.functions["custom"]["function"]
    properties = function["parameters"]["properties"]
    assert properties["name"]["enum"] == ["braces", "greet", "list"]
    assert "greet(who, place): say hello" in properties["arguments"]["description"]


def test_case_23_without_any_the_tool_is_not_offered_and_says_so() -> None:
    assert "custom" not in TOOLS.ready_functions(TOOLS.functions)
    assert refused("custom", name="x").startswith("There are no commands of your own.")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("gret", {}, "There are: braces(x); greet(who, place): say hello; list()."),
        ("greet", {"who": "Bea"}, "greet needs place in its arguments."),
        ("list", {"all": True}, "list takes no all. Its arguments: none."),
        ("greet", {"who": "a\0", "place": "b"}, "who holds a NUL character"),
        (HOSTILE, {}, "There is no command"),
    ],
)
def test_what_does_not_fit_a_command_is_said(
    name: str, arguments: dict[str, object], said: str, tools: Registry
) -> None:
    result = called("custom", {"name": name, "arguments": arguments}, tools)
    assert not result.ok
    assert said in result.content
    assert "\x1b" not in result.content
    with pytest.raises(ToolError):
        claimed(tools, "custom", name=name, arguments=arguments)


@pytest.mark.parametrize(
    "command",
    [
        "echo '{x}'",
        'echo "{x}"',
        'echo "a $(cat {x})"',
        "echo `{x}`",
        "cat <<E\n{x}\nE",
        "echo $'{x}'",
        r"echo \{x}",
        "echo $(( {x} ))",
        "[[ {x} -eq 1 ]]",
        "echo 'it is' \"'{x}'\"",
    ],
)
def test_a_slot_where_quoting_would_come_undone_is_refused(command: str, workspace: Path) -> None:
    work_in(workspace, f"custom.bad.command={command}")
    with pytest.raises(ToolError, match="slot in quotes"):
        custom_commands.fill_command("bad", {"x": "1"})


SAFE = [
    "printf %s {x}",
    "printf '%s' {x}",
    'printf "%s" a={x}b',
    "printf %s $(printf %s {x})",
    r"printf '\'%s {x}",
]


@pytest.mark.slow
@given(value=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@pytest.mark.parametrize("command", SAFE[:3])
def test_whatever_is_filled_in_is_one_word(command: str, value: str) -> None:
    work_in(
        runtime_context.current_context().workspace,
        "guard.sandbox=off",
        f"custom.one.command={command}",
    )
    line = custom_commands.fill_command("one", {"x": value})
    assert shlex.split(line)[2] in (value, f"a={value}b")


@pytest.mark.parametrize(
    "value",
    [
        "'; touch ran; '",
        "$(touch ran)",
        "`touch ran`",
        "a\ntouch ran",
        '"',
        "\\",
        "-n",
        "",
        "*",
        "~",
    ],
)
@pytest.mark.parametrize("command", SAFE)
def test_a_value_never_becomes_a_command(command: str, value: str, workspace: Path) -> None:
    work_in(workspace, "guard.sandbox=off", f"custom.one.command={command}")
    tools = shipped("machine")
    output = ran(tools, "one", x=value)["output"]
    assert "".join(value.split()) in "".join(output.split()) or value == "-n"
    assert not (workspace / "ran").exists()
