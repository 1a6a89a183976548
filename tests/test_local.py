"""The small model itself. Its weights are fetched once and kept where the program keeps them."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from andy_cli.compiler.dialects.protocols import andybot
from andy_cli.errors import ModelError, UsageError
from andy_cli.messages import Choice, Chunk, Constraint, Request, Schema, TurnContext, Wire
from andy_cli.models.client import Endpoint
from andy_cli.models.inside.local import LocalClient, fit_messages
from andy_cli.models.inside.local_server import Engine
from andy_cli.models.inside.planning.cutting import list_ways
from andy_cli.models.inside.planning.part_reading import load_weights
from andy_cli.models.inside.planning.replies.dialogue import read_turn
from andy_cli.models.inside.planning.replies.questions import ask_for
from andy_cli.models.inside.planning.replies.small_talk import CANNOT_KNOW
from andy_cli.models.providers.local import PROVIDER
from andy_cli.settings import load

pytest_plugins = "tests.small_weights"

REQUESTS = Path(__file__).parent / "corpora" / "requests"
SYSTEM: Wire = {"role": "system", "content": "You are a helpful AI assistant. Answer briefly."}
FRANCE: Wire = {"role": "user", "content": "What is the capital of France?"}
CLAUSE = "look at files in tests/music and play the first one"


@pytest.fixture(scope="module")
def file(weights_file: Path) -> Path:
    return weights_file


@pytest.fixture(scope="module")
def client(file: Path) -> LocalClient:
    """One for all tests of this module: it takes half a second to load."""
    return LocalClient(str(file))


@pytest.fixture(scope="module")
def engine(client: LocalClient) -> Engine:
    return client.engine()


def tools(suite: str) -> dict[str, Schema]:
    name = {"fresh": "desk"}.get(suite, suite)
    found = json.loads((REQUESTS / f"{name}_tools.json").read_text(encoding="utf-8"))
    return {each["function"]["name"]: each for each in found}


def commands(suite: str = "desk") -> tuple[Choice, ...]:
    choices = andybot.constraint(tools(suite)).choices
    return tuple(choice._replace(only_looks="PLAY" not in choice.text) for choice in choices)


def chunks(client: LocalClient, request: Request) -> list[Chunk]:
    async def collect() -> list[Chunk]:
        return [chunk async for chunk in client.reply(request)]

    return asyncio.run(collect())


def said(client: LocalClient, *messages: Wire, constraint: Constraint | None = None) -> str:
    request = Request(messages=messages, constraint=constraint, max_tokens=60)
    return "".join(chunk.text for chunk in chunks(client, request))


def user(text: str) -> Wire:
    return {"role": "user", "content": text}


def assistant(text: str) -> Wire:
    return {"role": "assistant", "content": text}


# Plain replies.


@pytest.mark.slow
def test_a_plain_reply_streams_and_says_how_it_ended(client: LocalClient) -> None:
    got = chunks(client, Request(messages=(SYSTEM, FRANCE)))
    assert len([chunk for chunk in got if chunk.text]) > 3
    assert "Paris" in "".join(chunk.text for chunk in got)
    assert [chunk.finish for chunk in got if chunk.finish] == ["stop"]
    usage = [chunk.usage for chunk in got if chunk.usage]
    assert usage[-1].input_tokens > 5
    assert usage[-1].output_tokens > 3


@pytest.mark.slow
def test_a_reply_that_is_cut_off_says_so(client: LocalClient) -> None:
    got = chunks(client, Request(messages=(user("Tell me a long story."),), max_tokens=5))
    assert [chunk.finish for chunk in got if chunk.finish] == ["length"]


@pytest.mark.slow
def test_the_same_request_gets_the_same_reply(client: LocalClient) -> None:
    assert len({said(client, user("Tell me about rivers.")) for _ in range(3)}) == 1


@pytest.mark.slow
def test_a_grammar_is_kept_to(client: LocalClient) -> None:
    only = Constraint(grammar='root ::= "It is " [A-Z] [a-z]{2,9} "."')
    reply = said(client, SYSTEM, user("What is the capital of Italy?"), constraint=only)
    assert re.fullmatch(r"It is [A-Z][a-z]{2,9}\.", reply)


@pytest.mark.slow
def test_a_schema_is_kept_to(client: LocalClient) -> None:
    properties = {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}}
    shape = {"type": "object", "properties": properties, "required": ["name", "age"]}
    reply = json.loads(said(client, user("Bob is 42."), constraint=Constraint(schema=shape)))
    assert isinstance(reply["name"], str)
    assert isinstance(reply["age"], int)


@pytest.mark.slow
def test_a_grammar_that_cannot_be_read_is_a_plain_sentence(client: LocalClient) -> None:
    with pytest.raises(ModelError, match="grammar"):
        said(client, user("hi"), constraint=Constraint(grammar="root ::= ("))


@pytest.mark.slow
def test_closing_the_stream_stops_the_model(
    client: LocalClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough: list[bool] = []

    def watch(body: Mapping[str, Any], receive: Callable[[Mapping[str, Any]], bool]) -> None:
        def note(chunk: Mapping[str, Any]) -> bool:
            enough.append(receive(chunk))
            return enough[-1]

        type(engine).chat(engine, body, note)

    monkeypatch.setattr(engine, "chat", watch)

    async def abandon() -> None:
        stream = client.reply(Request(messages=(user("Tell me a very long story."),)))
        async for chunk in stream:
            if chunk.text:
                break
        await stream.aclose()

    asyncio.run(abandon())
    assert enough[-1], "the last thing it heard is that this is enough"
    assert "Paris" in said(client, SYSTEM, FRANCE)


@pytest.mark.slow
def test_a_cancelled_task_stops_the_model(client: LocalClient, engine: Engine) -> None:
    async def cancel() -> None:
        started = asyncio.Event()

        async def read() -> None:
            async for _ in client.reply(Request(messages=(user("Tell me a very long story."),))):
                started.set()

        task = asyncio.create_task(read())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert "Paris" in said(client, SYSTEM, FRANCE)


def test_of_a_conversation_that_is_too_long_the_newest_messages_stay() -> None:
    system: Wire = {"role": "system", "content": "s" * 10}
    past = [user("u" * 50), assistant("a" * 50), user("v" * 50), assistant("b" * 50)]
    kept = fit_messages([system, *past, user("now")], 120, len)
    assert kept[0] == system
    assert kept[-1] == user("now")
    assert kept[1]["role"] == "user"
    assert len(kept) < 6


def test_a_single_message_that_is_too_long_loses_its_middle() -> None:
    (kept,) = fit_messages([user("start " + "x" * 5000 + " end")], 500, len)
    text = str(kept["content"])
    assert text.startswith("start")
    assert text.endswith("end")
    assert len(text) < 600


# Choosing.


def chosen(
    client: LocalClient,
    *messages: Wire,
    suite: str = "desk",
    results: Sequence[str] = (),
    done: Sequence[str] = (),
) -> str:
    only = Constraint(commands(suite), free_text=True, context=TurnContext((*results,), (*done,)))
    return said(client, *messages, constraint=only)


@pytest.mark.slow
def test_a_request_of_two_steps_is_a_list_a_song_and_a_sentence(client: LocalClient) -> None:
    listed = "aria.mp3 (title: Aria, seconds: 3), blue.mp3"
    found = ['[{"file": "aria.mp3", "title": "Aria"}, {"file": "blue.mp3"}]']
    history = [user(CLAUSE)]
    first = "DEAR ANDYBOT, LIST_MP3S\npath: tests/music"
    assert chosen(client, *history) == first
    history += [assistant(first), user(f"ANDYBOT RESPONDS: {listed}")]
    second = "DEAR ANDYBOT, PLAY_MP3\nfile: aria.mp3\npath: tests/music"
    assert chosen(client, *history, results=found) == second
    history += [assistant(second), user("ANDYBOT RESPONDS: playing aria.mp3")]
    found.append("playing aria.mp3")
    done = ["listed 2 songs", "started aria.mp3"]
    assert chosen(client, *history, results=found, done=done) == (
        "Listed 2 songs: aria.mp3, blue.mp3\nStarted aria.mp3."
    )


@pytest.mark.slow
def test_the_answer_to_a_listing_names_every_file(client: LocalClient) -> None:
    request = "what music is in tests/music?"
    history = [user(request), assistant("DEAR ANDYBOT, LIST_MP3S\npath: tests/music")]
    history += [user("ANDYBOT RESPONDS: aria.mp3, blue.mp3")]
    answer = chosen(client, *history, results=['["aria.mp3", "blue.mp3"]'])
    assert "aria.mp3, blue.mp3" in answer


def test_the_model_is_not_loaded_where_examples_say_how_people_ask(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_weights(*_: object) -> Engine:
        raise AssertionError("the weights are loaded")

    monkeypatch.setattr("andy_cli.models.inside.local.Engine", load_weights)
    choices = (
        Choice("DEAR ANDYBOT, NOW_PLAYING", "Say what plays", examples=("what song is this",)),
        Choice("DEAR ANDYBOT, STOP_MP3", "Stop the music", examples=("stop the music",)),
    )
    asked = Constraint(choices, free_text=True)
    told = said(LocalClient(str(file)), user("which song is this"), constraint=asked)
    assert told == "DEAR ANDYBOT, NOW_PLAYING"
    with pytest.raises(AssertionError, match="loaded"):
        said(LocalClient(str(file)), user("hi"))


@pytest.mark.slow
def test_after_a_failure_it_talks(client: LocalClient) -> None:
    history = [user(CLAUSE), assistant("DEAR ANDYBOT, LIST_MP3S\npath: tests/music")]
    history += [user("ANDYBOT RESPONDS: There is no folder tests/music.")]
    said_so = "There is no folder tests/music."
    assert chosen(client, *history, results=[said_so]) == said_so


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    ["what is the capital of France?", "thanks, that's all", "tell me a joke", "who are you?"],
)
def test_small_talk_calls_nothing(client: LocalClient, said: str) -> None:
    assert "DEAR ANDYBOT" not in chosen(client, user(said))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("welche Lieder liegen in ~/Musik?", "LIST_MP3S"),
        ("pon la canci\u00f3n luz.mp3", "PLAY_MP3"),
        ("arr\u00eate la musique", "STOP_MP3"),
        ("che ore sono?", "CURRENT_TIME"),
        ("muestra el archivo carta.txt", "READ_FILE"),
    ],
)
def test_a_request_is_understood_in_other_languages(
    client: LocalClient, said: str, name: str
) -> None:
    assert chosen(client, user(said)).partition("\n")[0] == f"DEAR ANDYBOT, {name}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        "who painted that picture?",
        "how tall is my sister?",
        "what is my brother's middle name?",
        "quanti anni ha mia zia?",
    ],
)
def test_what_it_cannot_know_it_says_it_cannot_know(client: LocalClient, said: str) -> None:
    assert chosen(client, user(said)) == CANNOT_KNOW


@pytest.mark.slow
def test_a_choice_is_one_piece_with_a_finish(client: LocalClient) -> None:
    only = Constraint(commands(), free_text=True)
    got = chunks(client, Request(messages=(user("stop the music"),), constraint=only))
    assert [chunk.text for chunk in got] == ["DEAR ANDYBOT, STOP_MP3", ""]
    assert got[-1].finish == "stop"
    assert got[-1].usage is not None


def list_parts(text: str) -> list[tuple[str, ...]]:
    return [way.parts for way in list_ways(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("play the first song, then pause", ("play the first song", "pause")),
        ("first play aria, then read a.txt", ("play aria", "read a.txt")),
        ("read a.txt, before that play the first song", ("play the first song", "read a.txt")),
        ("qué guantes usa Bea, y pon aria", ("qué guantes usa Bea", "pon aria")),
        ("erst Aria, dahinter Volare", ("Aria", "Volare")),
        ("spiel Aria, aber erst um acht", ("spiel Aria, aber erst um acht",)),
    ],
)
def test_words_that_order_wishes_are_left_where_they_stand_within_one(
    text: str, parts: tuple[str, ...]
) -> None:
    assert parts in list_parts(text)


def test_quotations_are_never_cut_into_clauses() -> None:
    for whole in ("save 'buy milk and play football' to notes.txt", "say hello world"):
        assert list_parts(whole) == [(whole,)]


def test_a_request_may_be_cut_at_joints_sentences_and_where_a_wish_may_begin() -> None:
    assert ("look at files in tests/music", "play the first one") in list_parts(CLAUSE)
    assert ("lies a.txt", "sag die Zeit") in list_parts("lies a.txt und dann sag die Zeit")
    assert ("stop", "play blue") in list_parts("stop and play blue")
    while_ = list_parts("put some music on while you open notes.txt")
    assert ("put some music on", "you open notes.txt") in while_
    sentences = list_parts("Play Mr. Blue & stop. What is left?")
    assert ("Play Mr. Blue & stop.", "What is left?") in sentences
    assert ("Play Mr. Blue", "stop.", "What is left?") in sentences
    assert not any("Blue" in parts for parts in sentences)
    assert ("show me the CSV", "show notes.txt") in list_parts("show me the CSV. show notes.txt")
    unjoined = list_parts("kill the noise open notes.txt")
    assert unjoined == [("kill the noise open notes.txt",), ("kill the noise", "open notes.txt")]
    assert list_parts("spiel dann den letzten") == [("spiel dann den letzten",)]


def test_a_full_stop_after_a_number_ends_a_wish_but_not_within_a_date() -> None:
    for second in ("What time is it?", "then what time is it?"):
        parts = ("search for port 80", "what time is it?")
        cut = list_parts(f"search for port 80. {second}")
        assert parts in [tuple(map(str.lower, each)) for each in cut]
    dated = "call Anna on the 5. Juli and 12. m\u00e4rz"
    assert not any(part.endswith((" 5", " 12")) for each in list_parts(dated) for part in each)


def test_a_question_mark_ends_a_wish_more_surely_than_a_full_stop() -> None:
    kinds = {way.parts: way.cuts for way in list_ways("Who has the keys? Also play Blue. Stop")}
    assert kinds["Who has the keys?", "play Blue.", "Stop"] == ("question", "sentence")
    weights = load_weights("known")
    assert weights["cut at question"] > weights["cut at sentence"]


@pytest.mark.parametrize(
    "whole", ["line 2 and 3 of a.txt", "Zeile zwei und drei von a.txt", "all but line 3 of a.txt"]
)
def test_a_range_of_lines_is_one_wish(whole: str) -> None:
    assert list_parts(whole) == [(whole,)]


def test_what_is_wanted_before_another_part_comes_before_it() -> None:
    first = ("show me my notes", "you put Volare on")
    assert first in list_parts("before you put Volare on, show me my notes")
    assert first in list_parts("before you put Volare on show me my notes")
    swapped = list_parts("zeig die Notizen aber vorher pausier das Lied")
    assert ("pausier das Lied", "zeig die Notizen") in swapped
    once = list_parts("once you've read it out, stop")
    assert ("read it out", "stop") in once


def test_a_request_of_many_sentences_has_few_ways_to_be_cut() -> None:
    many = "play blue, and stop. " * 8
    assert len(list_parts(many)) < 200


def test_a_turn_is_read_back_from_its_messages() -> None:
    turn = read_turn(
        [
            user("what is here?"),
            assistant("DEAR ANDYBOT, LIST_DIRECTORY"),
            user("ANDYBOT RESPONDS: a.txt"),
            assistant("I found a.txt."),
            user("read it"),
            assistant("DEAR ANDYBOT, READ_FILE"),
            user("ANDYBOT ASKS: file to read?"),
        ]
    )
    assert turn.request == "read it"
    assert turn.calls == ("DEAR ANDYBOT, READ_FILE",)
    assert turn.results == ()
    assert turn.earlier == ("a.txt",)
    assert turn.question == "file to read?"


def action(name: str, about: str, *needed: str, **parameters: str) -> Choice:
    properties = {key: {"type": "string", "description": each} for key, each in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": [*needed]}
    return Choice(f"DEAR ANDYBOT, {name}", about, parameters=schema)


PLAYER = (
    action("FIND_SONGS", "List the songs in a folder.", path="which folder"),
    action(
        "START_SONG",
        "Play a song.",
        "file",
        file="which song (file name or title)",
        path="which folder",
    ),
    action("HOLD", "Pause or resume the music."),
    action("SILENCE", "Stop the music."),
    action("STATUS", "Tell which song is playing now."),
)


def played(client: LocalClient, *messages: Wire) -> str:
    return said(client, *messages, constraint=Constraint(PLAYER, free_text=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (
            "play boats.mp3 from ./tests",
            "DEAR ANDYBOT, START_SONG\nfile: boats.mp3\npath: ./tests",
        ),
        ("list the songs in ~/mp3", "DEAR ANDYBOT, FIND_SONGS\npath: ~/mp3"),
        ("stop playing", "DEAR ANDYBOT, SILENCE"),
        ("play a song", "Which song?"),
        ("play", "Which song?"),
    ],
)
def test_a_command_that_lacks_something_asks_for_it(
    client: LocalClient, request_: str, reply: str
) -> None:
    assert played(client, user(request_)) == reply


@pytest.mark.slow
def test_what_answers_a_question_goes_to_the_command_that_asked(client: LocalClient) -> None:
    history = [user("play a song"), assistant("Which song?"), user("boats.mp3")]
    assert played(client, *history) == "DEAR ANDYBOT, START_SONG\nfile: boats.mp3"


@pytest.mark.slow
def test_what_may_not_be_meant_is_asked_about_and_done_after_a_yes(client: LocalClient) -> None:
    """Two commands that fit equally well: it takes neither by itself."""
    twins = tuple(
        action(name, "Play a song.", "file", file="song file")._replace(
            action="play {file}", only_looks=False
        )
        for name in ("PLAY_A", "PLAY_B")
    )
    only = Constraint(twins, free_text=True)
    asked = said(client, user("play boats.mp3"), constraint=only)
    assert asked == "Shall I play boats.mp3?"
    history = [user("play boats.mp3"), assistant(asked)]
    assert said(client, *history, user("yes please"), constraint=only).endswith("file: boats.mp3")
    assert "PLAY" not in said(client, *history, user("no, never mind"), constraint=only)


@pytest.mark.slow
def test_a_refused_interview_becomes_a_question(client: LocalClient) -> None:
    history = [user("play the one"), assistant("DEAR ANDYBOT, START_SONG")]
    history += [user("ANDYBOT RESPONDS: cannot START_SONG without file")]
    assert played(client, *history) == "Which song?"


@pytest.mark.slow
def test_a_question_that_nothing_fits_is_skipped_at_once(client: LocalClient) -> None:
    history = [user("play"), assistant("DEAR ANDYBOT, START_SONG")]
    assert said(client, *history, user("ANDYBOT ASKS: which song?")) == "skip"


@pytest.mark.slow
def test_courtesies_are_answered_with_courtesies(client: LocalClient) -> None:
    assert played(client, user("thanks")) == "You're welcome."
    assert "What can I do" in played(client, user("hi"))
    assert "stop the music" in played(client, user("what can you do?"))


@pytest.mark.parametrize(
    ("about", "asked"),
    [
        ("which song (file name or title)", "Which song?"),
        ("text to write", "What is the text to write?"),
        ("the receiver_name.", "What is the receiver name?"),
        ("Kind of defect", "What is the kind of defect?"),
        ("ISBN", "What is the ISBN?"),
        ("Why", "Why?"),
    ],
)
def test_a_parameter_is_asked_for_like_a_person_would(about: str, asked: str) -> None:
    assert ask_for(about) == asked


def test_a_question_lists_a_few_members() -> None:
    assert ask_for("Size", ["small", "extra_large"]) == "What is the size: small or extra large?"
    assert ask_for("which size", ["s", "m", "l"]) == "Which size: s, m or l?"
    assert ask_for("which size", [*"abcdefgh"]) == "Which size?"


# How often it is right.


def fits(wanted: Mapping[str, Sequence[object]], got: Mapping[str, str]) -> bool:
    def plain(value: object) -> str:
        return str(value).strip().strip("\"'").rstrip("?.!").lower()

    meant = {"yes": "true", "no": "false"}
    right = all(
        name in got and meant.get(got[name], plain(got[name])) in map(plain, values)
        for name, values in wanted.items()
    )
    return right and not [name for name in got if name not in wanted and got[name] != "no"]


@pytest.mark.slow
def test_most_requests_get_the_right_command_and_small_talk_gets_none(client: LocalClient) -> None:
    right: dict[str, list[bool]] = {"tool": [], "call": [], "talk": []}
    for suite in ("desk", "house", "fresh"):
        lines = (REQUESTS / f"{suite}.jsonl").read_text(encoding="utf-8").splitlines()
        for row in map(json.loads, lines[1::8]):
            first, *values = chosen(client, user(row["request"]), suite=suite).split("\n")
            name = first.removeprefix("DEAR ANDYBOT, ").lower()
            if row["tool"] is None:
                right["talk"].append(not first.startswith("DEAR ANDYBOT"))
                continue
            right["tool"].append(name == row["tool"])
            got = dict(line.split(": ", 1) for line in values)
            right["call"].append(name == row["tool"] and fits(row["args"], got))
    shares: dict[str, float] = {name: sum(each) / len(each) for name, each in right.items()}
    assert shares["tool"] >= 0.75, shares
    assert shares["call"] >= 0.65, shares
    assert shares["talk"] >= 0.8, shares


# The server behind it, and what goes wrong.


@pytest.mark.slow
def test_the_openai_client_can_talk_to_the_server_behind_it(engine: Engine) -> None:
    import openai

    messages: Any = [SYSTEM, FRANCE]
    with openai.OpenAI(base_url=f"{engine.address}/v1", api_key=engine.key) as api:
        whole = api.chat.completions.create(
            model="smollm2", messages=messages, temperature=0, max_tokens=20
        )
        with api.chat.completions.create(
            model="smollm2", messages=messages, temperature=0, max_tokens=20, stream=True
        ) as stream:
            pieces = [each.choices[0].delta.content or "" for each in stream if each.choices]
    assert "Paris" in (whole.choices[0].message.content or "")
    assert "".join(pieces) == whole.choices[0].message.content
    assert len(pieces) > 3


@pytest.mark.slow
def test_the_server_behind_it_wants_its_key(engine: Engine) -> None:
    import openai

    messages: Any = [user("hi")]
    with (
        openai.OpenAI(base_url=f"{engine.address}/v1", api_key="guess", max_retries=0) as api,
        pytest.raises(openai.AuthenticationError),
    ):
        api.chat.completions.create(model="smollm2", messages=messages)


@pytest.mark.slow
def test_damaged_weights_are_a_plain_sentence(tmp_path: Path, file: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(ModelError, match="cannot be loaded"):
        said(LocalClient(str(damaged)), user("hi"))


def test_connecting_loads_nothing() -> None:
    assert PROVIDER.connect is not None
    client = PROVIDER.connect(Endpoint("local", ""), load(environment={}))
    assert client.name == "local:smollm2"
    assert client.guided
    assert not client.tools


def test_a_model_that_does_not_exist_is_a_plain_sentence() -> None:
    with pytest.raises(UsageError, match="smollm2"):
        said(LocalClient("smollm9"), user("hi"))
