import json

import pytest

from andy_cli.agent.guide import answer_choices, talk_grammar
from andy_cli.agent.spans import role
from andy_cli.messages import Schema

TEXT: Schema = {"type": "string"}
FOLDER: Schema = {"type": "string", "description": "folder to look in"}
FILE: Schema = {"type": "string", "description": "name of the MP3 file"}
QUERY: Schema = {"type": "string", "description": "what to search for"}
BODY: Schema = {"type": "string", "description": "text of the email"}
DEPTH: Schema = {"type": "integer", "description": "how many levels deep", "minimum": 1}
VOLUME: Schema = {"type": "integer", "description": "volume in percent", "maximum": 100}
DAY: Schema = {"type": "string", "enum": ["today", "tomorrow", "this_week", "next_week"]}
APPEND: Schema = {"type": "boolean", "description": "add to the end instead of replacing"}
SONGS = json.dumps(["aria.mp3", "blue moon.mp3", "coda.mp3"])


def first(
    name: str, schema: Schema, said: str, *results: str, required: bool = False, before: str = ""
) -> str:
    texts = [each for each in (before, said) if each]
    choices = answer_choices(name, schema, required, texts, results)
    return choices[0].text if choices else ""


@pytest.mark.parametrize(
    ("name", "schema", "said", "answer"),
    [
        ("path", FOLDER, "look at files in tests/music and play the first one", "tests/music"),
        ("path", FOLDER, "list the songs in ~/Music/jazz", "~/Music/jazz"),
        ("path", FOLDER, "show the tree of src two levels deep", "src"),
        ("path", FOLDER, "which mp3s do I have?", "skip"),
        ("max_depth", DEPTH, "show the tree of src two levels deep", "2"),
        ("max_depth", DEPTH, "list the files in /etc", "skip"),
        ("volume", VOLUME, "play intro.mp3 from ~/mp3 at 40 percent", "40"),
        ("volume", VOLUME, "play intro.mp3 at volume 140", "skip"),
        ("volume", VOLUME, "play track01.mp3", "skip"),
        ("day", DAY, "do I have appointments next week?", "next_week"),
        ("day", DAY, "what is on my calendar?", "skip"),
        ("append", APPEND, "append 'call mum' to todo.md", "yes"),
        ("append", APPEND, "save 'buy milk' to notes.txt", "skip"),
        (
            "timezone",
            {"description": "city or time zone"},
            "what time is it in New York?",
            "New York",
        ),
        (
            "subject",
            {"description": "subject line"},
            "mail a@b.org with the subject Lunch",
            "Lunch",
        ),
    ],
)
def test_an_optional_answer_is_what_the_user_said_or_skip(
    name: str, schema: Schema, said: str, answer: str
) -> None:
    assert first(name, schema, said) == answer


@pytest.mark.parametrize(
    ("name", "schema", "said", "answer"),
    [
        ("file", FILE, "play 'Morning Sun.mp3' please", "Morning Sun.mp3"),
        (
            "path",
            {"description": "file to read"},
            "read me ~/letters/anna.txt",
            "~/letters/anna.txt",
        ),
        ("content", {"description": "text to write"}, "save 'buy milk' to notes.txt", "buy milk"),
        ("command", {"description": "shell command"}, "execute `df -h` in the shell", "df -h"),
        ("command", {"description": "shell command"}, "run git status", "git status"),
        ("query", QUERY, "search the web for python 3.14 release date", "python 3.14 release date"),
        ("query", QUERY, "google best pizza in naples", "best pizza in naples"),
        ("query", QUERY, "look up the tallest tree on the internet", "the tallest tree"),
        ("url", {"format": "uri"}, "open https://github.com in my browser", "https://github.com"),
        ("to", {"format": "email"}, "email anna@example.org that I am late", "anna@example.org"),
        ("body", BODY, "send an email to bob@example.com saying I'm late", "I'm late"),
        ("utterance", {"description": "text to speak"}, "say hello world out loud", "hello world"),
        ("city", TEXT, "will it rain in Porto?", "Porto"),
        ("item", {"description": "thing to buy"}, "add milk to my shopping list", "milk"),
    ],
)
def test_a_required_answer_is_a_span_of_the_request(
    name: str, schema: Schema, said: str, answer: str
) -> None:
    assert first(name, schema, said, required=True) == answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("look at files in tests/music and play the first one", "aria.mp3"),
        ("play the last one", "coda.mp3"),
        ("play the second song", "blue moon.mp3"),
        ("now play blue moon", "blue moon.mp3"),
        ("play number 3", "coda.mp3"),
    ],
)
def test_a_file_may_be_an_item_of_an_earlier_result(said: str, answer: str) -> None:
    assert first("file", FILE, said, SONGS, required=True) == answer


TITLED: Schema = {"type": "string", "description": "which song (file name, title or number)"}
TAGGED = json.dumps(
    [
        {"file": "1.mp3", "title": "Blue Moon", "artist": "Ann Reed"},
        {"file": "2.mp3", "title": "Last Light", "artist": "Bo Lind"},
    ]
)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("play blue moon from ~/Music/old", "blue moon"),
        ("from ~/Music/old play blue moon", "blue moon"),
        ("plya blue moon in ~/Music/old please", "blue moon"),
        ("PLAY BLUE MOON FROM ~/Music/old", "BLUE MOON"),
        ("play 'Blue Moon' from ~/Music/old", "Blue Moon"),
        ("start 02 - Blue Moon.mp3 in ~/Music/old", "02 - Blue Moon.mp3"),
        ("play something by Ann Reed", "Ann Reed"),
        ("play number 3 from ~/Music/old at volume 30", "number 3"),
        ("play a song from ~/Music/old", ""),
        ("play it again", ""),
    ],
)
def test_a_title_is_what_stands_between_the_verb_and_the_place(said: str, answer: str) -> None:
    assert first("file", TITLED, said, required=True) == answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("play something by Bo Lind", "2.mp3"),
        ("play blue moon", "1.mp3"),
        ("play the last one", "2.mp3"),
        ("play the first", "1.mp3"),
        ("play Last Light", "2.mp3"),
        ("play green fields", "green fields"),
        ("play one", ""),
    ],
)
def test_a_title_is_looked_for_in_the_newest_list(said: str, answer: str) -> None:
    assert first("file", TITLED, said, TAGGED, "playing 1.mp3", required=True) == answer


def test_a_file_that_the_user_names_wins_over_the_results() -> None:
    assert first("file", FILE, "play dora.mp3", SONGS, required=True) == "dora.mp3"


def test_records_are_offered_by_their_file() -> None:
    records = json.dumps([{"file": "a.mp3", "title": "Aria"}, {"file": "b.mp3"}])
    assert first("file", FILE, "play the first one", records, required=True) == "a.mp3"


def test_an_id_is_taken_from_the_record_that_is_pointed_at() -> None:
    found = json.dumps({"messages": [{"id": "m1", "subject": "A"}, {"id": "m2", "subject": "B"}]})
    assert first("messageId", TEXT, "read the last mail", found, required=True) == "m2"


def test_the_folder_of_an_earlier_turn_still_counts_when_the_user_points() -> None:
    said = "play the second one"
    assert first("path", FOLDER, said, SONGS, before="list songs in ~/mp3") == "~/mp3"


def test_skip_is_offered_for_optional_parameters_only() -> None:
    offered = [each.text for each in answer_choices("volume", VOLUME, False, ["play a.mp3"], [])]
    assert "skip" in offered
    offered = [each.text for each in answer_choices("file", FILE, True, ["play a.mp3"], [])]
    assert "skip" not in offered


def test_numbers_inside_names_are_no_answers() -> None:
    choices = answer_choices("volume", VOLUME, False, ["play track01.mp3 from /mnt/2024"], [])
    assert [each.text for each in choices] == ["skip"]


@pytest.mark.parametrize("said", ["", "   ", "?", "\u00b6", "(" * 50, "'" * 9, "a/" * 200])
def test_no_request_is_too_odd_to_be_read(said: str) -> None:
    for schema in (TEXT, FOLDER, FILE, QUERY, BODY, DEPTH, DAY, APPEND):
        answer_choices("value", schema, True, [said], ["[", "{}", "null", "[[1]]"])


@pytest.mark.parametrize(
    ("name", "description", "kind"),
    [
        ("path", "folder the file is in", "folder"),
        ("path", "file to read", "file"),
        ("url", "address of the page", "url"),
        ("query", "what to search for", "query"),
        ("to", "address of the receiver", "mail"),
        ("thing", "", "text"),
    ],
)
def test_a_parameter_is_known_by_its_name_and_description(
    name: str, description: str, kind: str
) -> None:
    assert role(name, {"description": description}) == kind


def test_without_a_result_talk_is_free() -> None:
    assert talk_grammar([], "tell me a joke") == ""


@pytest.mark.parametrize(
    ("result", "named"),
    [
        ("playing aria.mp3", '"playing aria.mp3."'),
        (SONGS, '": aria.mp3, blue moon.mp3 and coda.mp3."'),
        ('["aria.mp3"]', '"I found aria.mp3."'),
        ('{"time": "16:40", "zone": "UTC"}', '"The time is 16:40 and the zone is UTC."'),
        ("There is no folder /nowhere. Ask the user.", '"There is no folder /nowhere."'),
        ("There is no song 'x' here. Ask the user for its folder.", "There is no song 'x' here.\""),
        ("x.ogg is no MP3 file. list_mp3s shows what is.", '"X.ogg is no MP3 file."'),
        (
            "This was not allowed: it needs a yes and nobody can be asked. Do not try it again; "
            "tell the user.",
            '"I may not do that: it needs a yes and nobody can be asked."',
        ),
        ("cannot PLAY_MP3 without file", '"What is the file?"'),
        (
            "set_volume was not run, its arguments do not fit: volume: must be at most 100. "
            "Correct them and ask again.",
            '"That does not fit: must be at most 100."',
        ),
        ("2 songs match 'a': a.mp3, aa.mp3. Say which one.", '"2 songs match'),
        ("09:15", '"It is 09:15."'),
        ("one\ntwo", '"\\none\\ntwo"'),
        ('say "hi" \\ there', '"Say \\"hi\\" \\\\ there."'),
    ],
)
def test_a_conclusion_copies_what_the_latest_result_names(result: str, named: str) -> None:
    assert named in talk_grammar(["[]", result], "a request")


def test_a_long_list_says_how_many_more_there_are() -> None:
    grammar = talk_grammar([json.dumps([f"{at}.txt" for at in range(20)])], "list the files")
    assert "I found 20 " in grammar
    assert "7.txt and 12 more." in grammar


def test_nothing_found_is_said() -> None:
    assert "nothing" in talk_grammar(["[]"], "list songs")


def test_control_characters_stay_out_of_a_grammar() -> None:
    assert "\x1b" not in talk_grammar(["playing \x1b[31mred.mp3"], "play red.mp3")
