"""Which arguments a command gets from what was said and found."""

import json
import re
from pathlib import Path

import pytest

from andy_cli.messages import Choice, Schema
from andy_cli.models.inside.encoder import Encoder, load_encoder
from andy_cli.models.inside.planning.form_fit import measure_form
from andy_cli.models.inside.planning.replies.conclusion import ToldResult, conclude
from andy_cli.models.inside.values.clock_times import find_clock_times, find_loose_times
from andy_cli.models.inside.values.filling import FilledArguments, Filler, Known
from andy_cli.models.inside.values.learned_values import RatedRun, RunAssignment, prefer_longer
from andy_cli.models.inside.values.line_ranges import read_line_range
from andy_cli.models.inside.values.numbers import find_hours, find_numbers, find_ordinal
from andy_cli.models.inside.values.quantities import (
    convert_durations,
    find_measure,
    find_quantities,
    find_unit,
    join_hundredths,
    list_ordinals,
)
from andy_cli.models.inside.values.runs import list_runs, split_tokens
from andy_cli.models.inside.values.spans import find_kind, find_proper_names, quote_names
from andy_cli.models.inside.values.superlatives import find_superlative, says_which
from andy_cli.models.inside.values.words import find_things, is_question

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
TAGGED = json.dumps(
    [
        {"file": "1.mp3", "title": "Blue Moon", "artist": "Ann Reed"},
        {"file": "2.mp3", "title": "Last Light", "artist": "Bo Lind"},
    ]
)
NOTHING = Known()
NAMES = ("notes.txt", "music/", "music/Blue Moon - Ann Reed.mp3", "music/Last Light.mp3")


def command(about: str, *needed: str, **parameters: Schema) -> Choice:
    schema = {"type": "object", "properties": parameters, "required": [*needed]}
    return Choice("DEAR ANDYBOT, DO", about, parameters=schema)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return load_encoder(tmp_path_factory.mktemp("vectors"))


def fill(encoder: Encoder, choice: Choice, said: str, known: Known = NOTHING) -> FilledArguments:
    return Filler(encoder).fill(choice, said, known)


def tell(result: str, done: str = "", choice: Choice | None = None, wish: str = "") -> str:
    return conclude(ToldResult(result, done, choice, wish))


LIST = command("List the files in a folder", path=FOLDER, max_depth=DEPTH)
PLAY = command("Play a song", "file", file=FILE, path=FOLDER, volume=VOLUME)
READ = command(
    "Read a text file or some of its lines",
    "path",
    path={"description": "file to read"},
    start_line={"type": "integer"},
)
AGENDA = command("Look into the calendar", day=DAY)
SAVE = command(
    "Write a text file",
    "path",
    "content",
    path={"description": "file to write"},
    content={"description": "text to write"},
    append=APPEND,
)
MAIL = command(
    "Send an email",
    "to",
    "body",
    to={"format": "email"},
    body=BODY,
)

pytest_plugins = "tests.small_weights"


@pytest.mark.parametrize(
    ("choice", "said", "values"),
    [
        (LIST, "list the files in ~/Music/jazz", {"path": "~/Music/jazz"}),
        (LIST, "show the tree of src/ two levels deep", {"path": "src/", "max_depth": "2"}),
        (LIST, "what is here?", {}),
        (PLAY, "play intro.mp3 from ~/mp3 at 40 percent", {"file": "intro.mp3", "path": "~/mp3"}),
        (PLAY, "play 'Morning Sun.mp3' please", {"file": "Morning Sun.mp3"}),
        (PLAY, "play track01.mp3 from /mnt/2024", {"file": "track01.mp3", "path": "/mnt/2024"}),
        (AGENDA, "do I have appointments next week?", {"day": "next_week"}),
        (AGENDA, "what is on my calendar?", {}),
        (SAVE, "save 'buy milk' to a.txt", {"path": "a.txt", "content": "buy milk"}),
        (SAVE, "add to the end of a.txt: call Bo", {"path": "a.txt", "content": "call Bo"}),
        (MAIL, "email anna@example.org saying I am late", {"to": "anna@example.org"}),
    ],
)
def test_what_can_be_told_by_its_form_is_taken_as_it_stands(
    encoder: Encoder, choice: Choice, said: str, values: dict[str, str]
) -> None:
    found = fill(encoder, choice, said)
    assert values.items() <= found.values.items()
    assert found.missing == []
    assert len({*found.values.values()}) == len(found.values)


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ("lines 2 to 4 of a.txt", ("2", "4")),
        ("Zeile 4 bis 6", ("4", "6")),
        ("de la ligne 2 à la ligne 4", ("2", "4")),
        ("lines 2-3 please", ("2", "3")),
        ("die ersten drei Zeilen", (None, "3")),
        ("las dos primeras líneas", (None, "2")),
        ("le prime due righe", (None, "2")),
        ("the top 3 lines", (None, "3")),
        ("what does line five say", ("5", "5")),
        ("la première ligne", ("1", "1")),
        ("the last 2 lines", (None, None)),
        ("play 2 songs", (None, None)),
        ("a.txt from line 5", ("5", None)),
        ("from the third line on", ("3", None)),
        ("read from a.txt the second line", ("2", "2")),
        ("ab Zeile 12", ("12", None)),
        ("everything but the first line", ("2", None)),
        ("tutto tranne le prime due righe", ("3", None)),
        ("everything but the last line", (None, None)),
    ],
)
def test_lines_are_those_that_were_asked_for(
    said: str, lines: tuple[str | None, str | None]
) -> None:
    assert read_line_range(said) == lines


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("the last 2 lines of todo.txt", "Read todo.txt, the last 2:\nthree\nfour"),
        ("die letzte Zeile", "Read todo.txt, the last 1: four"),
        ("the last 9 lines", "Read todo.txt:\none\ntwo\nthree\nfour"),
        ("dalla prima all'ultima riga", "Read todo.txt:\none\ntwo\nthree\nfour"),
        ("all but the last line", "Read todo.txt:\none\ntwo\nthree\nfour"),
        ("my last letter", "Read todo.txt:\none\ntwo\nthree\nfour"),
    ],
)
def test_the_last_lines_are_shown_of_what_was_read(said: str, shown: str) -> None:
    assert tell("one\ntwo\nthree\nfour", "read todo.txt", READ, said) == shown


def test_words_that_were_found_in_a_document_are_shown_with_it() -> None:
    found = [
        {"file": "a.docx", "text": "the fence is green"},
        {"file": "b.pdf", "place": "page 2", "text": "no fence"},
    ]
    told = tell(json.dumps(found), "found 2 matches", LIST)
    assert told == "Found 2 matches:\n- a.docx: the fence is green\n- b.pdf, page 2: no fence"


def test_a_file_with_blanks_in_its_name_is_called_by_all_of_it() -> None:
    names = ("notes.txt", "my notes.txt", "a/my notes.txt.bak", "music/")
    assert quote_names("read My notes.txt", names) == "read `My notes.txt`"
    assert quote_names('read "my notes.txt"', names) == 'read "my notes.txt"'
    assert quote_names("read notes.txt", names) == "read notes.txt"
    assert quote_names("my notes.txt.bak", names) == "`my notes.txt.bak`"
    assert quote_names("list Live 1999", ("Live 1999/",)) == "list `Live 1999/`"
    assert quote_names("read docs/a b.txt", ("my/Docs/a b.txt",)) == "read `docs/a b.txt`"
    assert quote_names("Live 1999/a.mp3", ("Live 1999/", "Live 1999/a.mp3")) == "`Live 1999/a.mp3`"
    common = frozenset(("my", "music"))
    assert quote_names("play my music", ("My Music/",), common) == "play my music"
    assert quote_names("list my music/", ("My Music/",)) == "list `my music/`"
    [thing] = find_things("read `my notes.txt`")
    assert (thing.kind, thing.text) == ("file", "my notes.txt")


@pytest.mark.parametrize(
    "written",
    [
        '"%s"',
        "\u201c%s\u201d",
        "\u201e%s\u201c",
        "\u201e%s\u201d",
        "\u00ab %s \u00bb",
        "\u00bb%s\u00ab",
    ],
)
def test_what_stands_in_quotation_marks_of_any_language_is_one_thing(written: str) -> None:
    [thing] = find_things(f"graviere {written % 'Für Marlene'} auf die Rückseite")
    assert (thing.kind, thing.text) == ("quote", "Für Marlene")


@pytest.mark.slow
def test_a_number_out_of_range_is_no_value(encoder: Encoder) -> None:
    assert fill(encoder, PLAY, "play a.mp3 at volume 40").values["volume"] == "40"
    assert "volume" not in fill(encoder, PLAY, "play a.mp3 at volume 140").values
    assert "volume" not in fill(encoder, PLAY, "play a.mp3").values
    # `once` is eleven in Spanish.
    assert "volume" not in fill(encoder, PLAY, "once you are ready play a.mp3").values


def test_what_is_needed_and_was_not_said_is_missing(encoder: Encoder) -> None:
    (missing,) = fill(encoder, MAIL, "email anna@example.org").missing
    assert missing.name == "body"
    assert [each.name for each in fill(encoder, PLAY, "play", Known((), NAMES)).missing] == ["file"]


def test_a_piece_of_the_request_is_one_value_only(encoder: Encoder) -> None:
    copy = command("Copy a file", "source", "target", source=FILE, target=FILE)
    found = fill(encoder, copy, "copy a.txt to b.txt")
    assert found.values == {"source": "a.txt", "target": "b.txt"}
    assert fill(encoder, copy, "copy a.txt", Known((), NAMES)).missing


@pytest.mark.parametrize(
    ("said", "file"),
    [
        ("play blue moon", "music/Blue Moon - Ann Reed.mp3"),
        ("plya bleu moon", "music/Blue Moon - Ann Reed.mp3"),
        ("spiel was von ann reed", "music/Blue Moon - Ann Reed.mp3"),
        ("metti LAST LIGHT", "music/Last Light.mp3"),
        ("play Notes.txt", "notes.txt"),
        ("play note.txt", "notes.txt"),
    ],
)
def test_a_file_is_one_that_is_there_whatever_its_spelling(
    encoder: Encoder, said: str, file: str
) -> None:
    assert fill(encoder, PLAY, said, Known((), NAMES)).values["file"] == file


@pytest.mark.parametrize(
    ("said", "result", "file"),
    [
        ("play the first one", SONGS, "aria.mp3"),
        ("play the last one", SONGS, "coda.mp3"),
        ("play number 3", SONGS, "coda.mp3"),
        ("now play blue moon", SONGS, "blue moon.mp3"),
        ("play something by Bo Lind", TAGGED, "2.mp3"),
        ("play the first", TAGGED, "1.mp3"),
        ("play it", '["aria.mp3"]', "aria.mp3"),
        ("play dora.mp3", SONGS, "dora.mp3"),
    ],
)
def test_a_file_may_be_an_entry_of_what_was_listed(
    encoder: Encoder, said: str, result: str, file: str
) -> None:
    assert fill(encoder, PLAY, said, Known((result,))).values["file"] == file


def test_of_a_list_of_all_kinds_a_song_is_played(encoder: Encoder) -> None:
    mixed = Known(['["notes.txt", "cover.jpg", "aria.mp3", "coda.mp3"]'])
    play = PLAY._replace(only_looks=False, examples=("play the song",))
    assert fill(encoder, play, "play the second one", mixed).values["file"] == "coda.mp3"


def test_what_is_played_is_of_the_newest_list_with_something_to_play(encoder: Encoder) -> None:
    own = PLAY._replace(examples=("play [volare]",), only_looks=False)
    known = Known((SONGS, '[{"file": "milk.txt", "text": "milk"}]'))
    assert fill(encoder, own, "play the last one", known).values["file"] == "coda.mp3"


def test_what_plays_takes_no_text_of_a_list_whatever_is_said_of_it(encoder: Encoder) -> None:
    own = PLAY._replace(examples=("play [volare]",), only_looks=False)
    known = Known(['["todo.txt", "van.txt", "prices.csv"]'], ("todo.txt", "van.txt", "prices.csv"))
    found = Filler(encoder).fill_by_meaning(own, "make that the 20th to do", known)
    assert not found.values
    assert [parameter.name for parameter in found.missing] == ["file"]


def test_a_search_of_andy_s_own_lacks_words_where_nobody_says_any(encoder: Encoder) -> None:
    search = command("Search files", pattern=QUERY, path=FOLDER)
    own = search._replace(examples=("search my files for [milk]",), only_looks=True)
    assert [item.name for item in fill(encoder, own, "search").missing] == ["pattern"]
    assert not fill(encoder, own, "search my files for 'kemal'").missing
    assert not fill(encoder, search, "search").missing


@pytest.mark.parametrize(
    ("said", "results", "file"),
    [
        ("was steht auf meiner einkaufsliste", [], "shopping.txt"),
        ("ouvre la recette", [], "recipe.txt"),
        (
            "zeig mir die vom märz",
            ['["june.csv", "february.csv", "march.csv"]'],
            "reports/march.csv",
        ),
        ("open something", [], None),
    ],
)
def test_a_file_that_is_missing_is_the_one_whose_name_means_what_was_said(
    said: str, results: list[str], file: str | None, encoder: Encoder
) -> None:
    names = ("recipe.txt", "shopping.txt", "notes.txt", "song.mp3", "reports/march.csv")
    choice = command("Read a text file", "path", path={"type": "string", "description": "file"})
    filler = Filler(encoder)
    found = filler.fill_by_meaning(choice, said, Known(results, names))
    assert found.values.get("path") == file
    assert bool(found.missing) == (file is None)


def test_a_file_that_is_missing_is_one_of_the_folder_that_is_named(encoder: Encoder) -> None:
    names = ("plan.txt", "club/", "club/plans.csv", "club/fees.csv", "letters/plan.txt")
    found = Filler(encoder).fill_by_meaning(
        READ, "show me what the club wants to do", Known((), names)
    )
    assert found.values["path"] == "club/plans.csv"


@pytest.mark.parametrize("said", ["open the bike log", "open bike-log", "open my bikelog"])
def test_a_name_with_a_hyphen_is_said_in_one_word_or_two(encoder: Encoder, said: str) -> None:
    names = ("notes.txt", "bike-log.txt", "bike-route.txt")
    assert fill(encoder, READ, said, Known((), names)).values["path"] == "bike-log.txt"


def test_behind_a_search_that_found_one_file_another_may_be_meant(encoder: Encoder) -> None:
    names = ("prices.txt", "orders.csv", "people/", "people/rota.md", "opening_hours.txt")
    found = json.dumps({"matches": [{"path": "orders.csv", "line": 2, "text": "311,Hofer"}]})
    for said, name in (
        ("show me the price list", "prices.txt"),
        ("open it", "orders.csv"),
        ("open the file where he turns up", "orders.csv"),
    ):
        assert fill(encoder, READ, said, Known((found,), names)).values == {"path": name}


def test_a_line_that_ends_with_a_price_is_no_file(encoder: Encoder) -> None:
    names = ("prices.txt", "orders.csv")
    read = "item,price\nwool trousers,12.50\nblue coat,118"
    found = Filler(encoder).fill_by_meaning
    values = found(READ, "show me the price list", Known((read,), names)).values
    assert values == {"path": "prices.txt"}


def test_a_folder_that_was_listed_is_not_read(encoder: Encoder) -> None:
    known = Known(['["letters", "plans.txt"]'], ("letters/", "plans.txt"))
    found = Filler(encoder).fill_by_meaning(READ, "show me the letters", known)
    assert "letters" not in found.values.values()


@pytest.mark.parametrize(
    ("said", "wanted"),
    [("what's the phone number in a.txt", None), ("a.txt with line numbers", "yes")],
)
def test_one_word_of_the_name_of_a_choice_is_not_that_choice(
    encoder: Encoder, said: str, wanted: str | None
) -> None:
    numbers: Schema = {"type": "boolean", "description": "whether each begins with its number"}
    read = command("Read a text file or some of its lines", path=FILE, line_numbers=numbers)
    assert fill(encoder, read, said).values.get("line_numbers") == wanted


@pytest.mark.parametrize(
    "said",
    [
        "on 9 April 2026", "April 9th, 2026", "am 9. April 2026", "le 9 avril 2026 \u00e0 midi",
        "am 09.04.2026", "am 9.4.2026",
    ],
)  # fmt: skip
def test_a_day_with_the_name_of_its_month_or_with_dots_is_written_as_a_date(
    encoder: Encoder, said: str
) -> None:
    day: Schema = {"type": "string", "format": "date"}
    found = fill(encoder, command("Book a van", "day", day=day), f"a van {said} please")
    assert found.values == {"day": "2026-04-09"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("a van for tomorrow", "tomorrow"),
        ("einen Wagen f\u00fcr \u00fcbermorgen bitte", "\u00fcbermorgen"),
        ("when is Biscuit due again", None),
    ],
)
def test_a_day_is_a_day_or_is_missing(encoder: Encoder, said: str, found: str | None) -> None:
    day: Schema = {"type": "string", "format": "date"}
    filled = fill(encoder, command("Book a van", "day", day=day), said)
    assert (filled.values.get("day"), bool(filled.missing)) == (found, found is None)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("need 3 copies of a UL050 pls", "UL050"),
        ("B-04 stuck with folk inside", "B-04"),
        ("die D-EKLM ist gelandet", "D-EKLM"),
        ("move crate x-117 to the back", "x-117"),
        ("is ab1234 back", "ab1234"),
    ],
)
def test_what_is_numbered_by_letters_and_digits_is_one_value(
    encoder: Encoder, said: str, code: str
) -> None:
    crate: Schema = {"type": "string", "description": "the crate"}
    assert fill(encoder, command("Look after a crate", "it", it=crate), said).values == {"it": code}
    assert not find_things("covers CD, the TV, an e-bike, 2nd of mp3 and I")


@pytest.mark.slow
def test_a_thing_goes_to_the_parameter_that_it_is_of(encoder: Encoder) -> None:
    words: Schema = {"type": "string"}
    choice = command("Assign a stenographer", "name", "case_number", name=words, case_number=words)
    said = "put Dana Whitlock on CV-2291 would you"
    assert fill(encoder, choice, said).values == {"name": "Dana Whitlock", "case_number": "CV-2291"}


def test_of_runs_that_are_as_likely_the_longest_is_taken() -> None:
    text = "my sister is getting married"
    runs = [run for run in list_runs(text, split_tokens(text)) if "married" in run.text]
    odds = {"getting married": -0.1, "sister is getting married": -0.5, "married": -2.0}
    rated = [RatedRun(odds.get(run.text, -3.0), run) for run in runs]
    best = max(prefer_longer([*rated, RatedRun(-1.0, None)]), key=lambda one: one.odds)
    assert best.run is not None
    assert best.run.text == "sister is getting married"


def test_a_number_in_letters_is_one_where_nothing_else_takes_it(encoder: Encoder) -> None:
    pieces: Schema = {"type": "integer", "description": "how many pieces"}
    take = command("Take in clothes for cleaning", pieces=pieces)
    assert fill(encoder, take, "take in three silk blouses").values == {"pieces": "3"}


def test_a_number_may_have_a_comma(encoder: Encoder) -> None:
    heat: Schema = {"type": "number", "description": "target in degrees"}
    found = fill(encoder, command("Set the heating", "heat", heat=heat), "stell auf 36,5 Grad")
    assert found.values == {"heat": "36.5"}


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("keep the hall for two and a half hours", "2.5"),
        ("la sala per tre ore e mezza", "3.5"),
        ("wir brauchen zweieinhalb Stunden", "2.5"),
        ("we were twelve hundred people", "1200"),
        ("move the clock by minus 3", "-3"),
        ("retrasa el reloj menos dos", "-2"),
        ("two hundred and fifty people", "250"),
        ("zweihundertf\u00fcnfzig Leute", "250"),
        ("treinta y cinco grados", "35"),
        ("quatre-vingt-dix-sept francs", "97"),
        ("quaranta minuti", "40"),
    ],
)
def test_words_beside_a_number_are_part_of_it(encoder: Encoder, said: str, hours: str) -> None:
    number: Schema = {"type": "number", "description": "length"}
    assert fill(encoder, command("Do", "it", it=number), said).values == {"it": hours}


def test_single_letters_articles_and_places_in_a_row_are_no_numbers() -> None:
    for said in ("gomme o copertoni", "oh dear", "un perro y una gata", "the second, il second"):
        assert find_numbers(said) == [], said


@pytest.mark.parametrize(
    ("said", "hour"),
    [("on air at ten pm", "22"), ("on air at 8 a.m.", "8"), ("ab 19:00 bitte", "19")],
)
def test_a_full_hour_is_counted_from_midnight(encoder: Encoder, said: str, hour: str) -> None:
    begins: Schema = {"type": "integer", "description": "hour, 0 to 23"}
    assert fill(encoder, command("Plan a show", "hour", hour=begins), said).values == {"hour": hour}


@pytest.mark.parametrize("said", ["13 pm", "99:00", "\u00b2pm", f"{'9' * 5000}pm", "team"])
def test_what_is_no_hour_is_none(said: str) -> None:
    assert find_hours(said) == []


@pytest.mark.slow
def test_a_number_behind_the_name_of_another_parameter_is_none_of_this_one(
    encoder: Encoder,
) -> None:
    card: Schema = {"type": "string", "description": "number of the card"}
    amount: Schema = {"type": "number", "description": "amount in euros"}
    pay = command("Pay money back", "card", "amount", card=card, amount=amount)
    said = "she with card 80213 wants her 4.50 back"
    assert fill(encoder, pay, said).values == {"card": "80213", "amount": "4.5"}
    pond: Schema = {"type": "integer", "description": "number of the pond"}
    move = command("Move fish", "from_pond", "to_pond", from_pond=pond, to_pond=pond)
    found = fill(encoder, move, "take them from pond 2 over to pond 11").values
    assert found == {"from_pond": "2", "to_pond": "11"}


@pytest.mark.slow
def test_the_number_of_a_house_is_no_number_of_anything_else(encoder: Encoder) -> None:
    place: Schema = {"type": "string", "description": "street address"}
    trucks: Schema = {"type": "integer", "description": "how many trucks"}
    send = command("Send trucks", "address", address=place, trucks=trucks)
    found = fill(encoder, send, "smoke at 14 Mill Lane, get two over there").values
    assert found == {"address": "14 Mill Lane", "trucks": "2"}


@pytest.mark.parametrize(
    ("said", "day"),
    [("wer ist am Donnerstag frei", "thursday"), ("y el mi\u00e9rcoles", "wednesday")],
)
def test_a_weekday_is_the_same_in_another_language(encoder: Encoder, said: str, day: str) -> None:
    week = ["monday", "tuesday", "wednesday", "thursday", "friday"]
    look = command("Look at a day", "day", day={"type": "string", "enum": week})
    assert fill(encoder, look, said).values == {"day": day}


def test_a_weekday_is_a_day_and_no_name(encoder: Encoder) -> None:
    day: Schema = {"type": "string", "description": "day of the visit"}
    book = command("Book a visit", "day", day=day)
    assert fill(encoder, book, "put the Dolphins down for thursday").values == {"day": "thursday"}


@pytest.mark.slow
def test_a_member_that_is_said_and_no_other_is_meant(encoder: Encoder) -> None:
    """Though the encoder has granite nearer: it knows gritstone less well."""
    kinds = ["gritstone", "limestone", "slate", "granite", "sandstone"]
    length, height = {"type": "number", "minimum": 0.5}, {"type": "number", "maximum": 3}
    estimate = command(
        "Work out the tonnage a wall will take",
        *("length_m", "height_m"),
        length_m=length,
        height_m=height,
        stone_type={"type": "string", "enum": kinds},
    )
    said = (
        "how much gritstone will i need for 30 metres at 1.4 high, leave the top stones out of it"
    )
    assert fill(encoder, estimate, said).values["stone_type"] == "gritstone"


def test_yes_and_no_may_be_members_of_an_enumeration(encoder: Encoder) -> None:
    urgent: Schema = {"enum": ["yes", "no"], "description": "whether it is urgent"}
    report = command("Report a fault", urgent=urgent)
    assert fill(encoder, report, "the lift is stuck, it's urgent").values == {"urgent": "yes"}
    assert fill(encoder, report, "the lift squeaks").values == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "street"),
    [
        ("wasps at 14 Tanner's Row, has to be today", "14 Tanner's Row"),
        ("have we ever treated 8 Quayle Street befor", "8 Quayle Street"),
        ("Ratten in der Lange Gasse 12b, bitte heute", "Lange Gasse 12b"),
    ],
)
def test_a_street_stands_beside_the_number_of_a_house(
    encoder: Encoder, said: str, street: str
) -> None:
    place: Schema = {"type": "string", "description": "Street address"}
    found = fill(encoder, command("Log a call", "address", address=place), said)
    assert found.values == {"address": street}


@pytest.mark.slow
def test_a_name_that_owns_something_is_said_without_the_ending(encoder: Encoder) -> None:
    ready = command(
        "Tell whether glasses are finished",
        "customer",
        customer={"type": "string", "description": "name of the customer"},
    )
    wanted = "mrs hartnell"
    filler = Filler(encoder)
    found = filler.fill(ready, "are mrs hartnell's glasses ready", Known())
    assert found.values == {"customer": wanted}


def test_a_line_is_no_entry_of_a_list() -> None:
    assert find_ordinal("the last two lines of the log") is None
    assert find_ordinal("la primera linea del diario") is None
    assert find_ordinal("the last song") == -1
    for said in ("some music", "etwas Musik", "algo de música", "n'importe quelle chanson"):
        assert find_ordinal(f"play {said}") == 0, said
    assert find_ordinal("play some Celentano") is None
    assert find_ordinal("steht irgendwas auf dem Plan") is None


def test_a_folder_that_is_said_beside_a_name_is_no_file(encoder: Encoder) -> None:
    found = fill(encoder, PLAY, "play last light from ./music", Known((), NAMES))
    assert found.values == {"file": "music/Last Light.mp3", "path": "music"}


def test_an_id_is_that_of_the_record_that_is_pointed_at(encoder: Encoder) -> None:
    found = json.dumps({"messages": [{"id": "m1", "subject": "A"}, {"id": "m2", "subject": "B"}]})
    read = command("Read an email", "messageId", messageId=TEXT)
    assert fill(encoder, read, "read the last mail", Known((found,))).values == {"messageId": "m2"}


def test_the_folder_of_an_earlier_turn_counts_when_the_user_points(encoder: Encoder) -> None:
    known = Known((SONGS,), (), ("list songs in ~/mp3",))
    assert fill(encoder, PLAY, "play the second one", known).values["path"] == "~/mp3"


LONG = pytest.param("a/" * 200, marks=pytest.mark.slow)


@pytest.mark.parametrize("said", ["", "   ", "?", "\u00b6", "(" * 50, "'" * 9, "a/" * 20, LONG])
def test_no_request_is_too_odd_to_be_read(encoder: Encoder, said: str) -> None:
    known = Known(["[", "{}", "null", "[[1]]"], NAMES)
    for choice in (LIST, PLAY, AGENDA, SAVE, MAIL):
        Filler(encoder).fill(choice, said, known)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("about", "name", "described", "said", "value"),
    [
        ("Tell the weather", "city", "city", "will it rain in Porto?", "Porto"),
        ("Tell the weather", "city", "city", "regnet es morgen in Bremen", "Bremen"),
        ("Tell the time", "city", "city", "wie sp\u00e4t ist es in Kairo", "Kairo"),
        ("Add to the shopping list", "item", "thing to buy", "we need flour", "flour"),
        ("Record a reading", "plot", "plot", "the south slope looks sick", "south slope"),
        ("Price of a job", "tree", "species", "what would it cost to fell a beech", "beech"),
        (
            "Look for a berth",
            "ship",
            "name of the vessel",
            "where is the blue heron tonight",
            "blue heron",
        ),
    ],
)
def test_other_values_are_the_words_that_are_likeliest(
    encoder: Encoder, about: str, name: str, described: str, said: str, value: str
) -> None:
    choice = command(about, name, **{name: {"type": "string", "description": described}})
    assert fill(encoder, choice, said).values == {name: value}


def test_what_need_not_be_said_is_taken_only_where_it_was_said(encoder: Encoder) -> None:
    room: Schema = {"type": "string", "description": "name of the room"}
    book = command("List the bookings", room=room)
    assert fill(encoder, book, "who has booked the Blue Hall").values == {"room": "Blue Hall"}
    assert fill(encoder, book, "what is booked").values == {}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("how late is it in los angeles?", "los angeles"),
        ("time in New York and then in Oslo", "new york"),
        ("wie sp\u00e4t ists grad in z\u00fcrich", "zurich"),
        ("email mom that i am late", None),
        ("what was said about oats", None),
    ],
)
def test_what_is_one_of_a_known_set_is_nothing_else(
    encoder: Encoder, said: str, value: str | None
) -> None:
    places = ("oslo", "los angeles", "new york", "zurich")
    clock = command("Tell the time", timezone={"description": "city"})
    clock = clock._replace(members={"timezone": lambda: places})
    found = Filler(encoder).fill(clock, said, Known())
    assert found.values.get("timezone") == value


@pytest.mark.parametrize(
    ("name", "description", "wanted"),
    [
        ("path", "folder the file is in", "folder"),
        ("path", "file to read", "file"),
        ("url", "address of the page", "url"),
        ("query", "what to search for", "words"),
        ("to", "email address of the receiver", "mail"),
        ("body", "text of the email", "text"),
        ("messageId", "", "id"),
        ("thing", "", "words"),
    ],
)
def test_a_parameter_is_known_by_its_name_and_description(
    name: str, description: str, wanted: str
) -> None:
    assert find_kind(name, {"description": description}) == wanted


@pytest.mark.parametrize(
    ("result", "done", "told"),
    [
        ("playing aria.mp3", "", "playing aria.mp3."),
        ("started", "started aria.mp3", "Started aria.mp3."),
        ('["aria.mp3", "coda.mp3"]', "listed 2 songs", "Listed 2 songs: aria.mp3, coda.mp3"),
        ('{"time": "16:40", "zone": "UTC"}', "looked", "Looked: time: 16:40, zone: UTC"),
        ("one\ntwo", "read a.txt", "Read a.txt:\none\ntwo"),
        ("There is no folder /nowhere. Ask the user.", "", "There is no folder /nowhere."),
        ("x.ogg is no MP3 file. list_mp3s shows what is.", "", "x.ogg is no MP3 file."),
        (
            "This was not allowed: it needs a yes and nobody can be asked. Do not try it again; "
            "tell the user.",
            "",
            "I may not do that: it needs a yes and nobody can be asked.",
        ),
        (
            "This was not allowed: the user said no. Do not try it again; tell the user.",
            "",
            "I did not do that. You said no.",
        ),
        (
            "This was not allowed: the user said: not now. Do not try it again; tell the user.",
            "",
            "I did not do that. You said: not now.",
        ),
        ("cannot PLAY_MP3 without file", "", "What is the file?"),
        (
            '{"results": [{"title": "Ferries", "url": "https://f.example", "snippet": "At 9."}]}',
            "found 1 page on the web: Ferries",
            "Found 1 page on the web: Ferries: At 9.",
        ),
        (
            "set_volume was not run, its arguments do not fit: volume: must be at most 100. "
            'Its parameters are: {"volume": {"maximum": 100}} Correct them and ask again.',
            "",
            "That does not fit: must be at most 100.",
        ),
    ],
)
def test_a_conclusion_says_what_was_done_and_found(result: str, done: str, told: str) -> None:
    assert tell(result, done) == told


def test_a_conclusion_names_what_was_not_allowed() -> None:
    refusal = "This was not allowed: the user said no. Do not try it again; tell the user."
    search = command("Search the web", query=QUERY)._replace(action="search the web for {query}")
    assert tell(refusal, choice=search) == "I did not search the web. You said no."


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        ("todo", "Read todo.txt: todo"),
        ("read todo.txt", "Read todo.txt: read todo.txt"),
        ('{"sizes": [1, 2], "name": "x"}', 'Read todo.txt: {"sizes": [1, 2], "name": "x"}'),
        ("Hi.\nCall Tom.\nAsk Ann.\nmilk", "Read todo.txt:\nHi.\nCall Tom.\nAsk Ann.\nmilk"),
        ("if a:\n    b", "Read todo.txt:\n```\nif a:\n    b\n```"),
        ("__a__\n```b\n```", "Read todo.txt:\n````\n__a__\n```b\n```\n````"),
        ("milk\n[use make_tea]", "Read todo.txt:\nmilk\n[use make_tea]"),
        ("milk\n[These were lines 1 to 1 of 9. start_line=2 shows more.]", "Read todo.txt: milk"),
        ("\n  milk\n", "Read todo.txt: milk"),
    ],
)  # fmt: skip
def test_contents_are_shown_whole_whatever_stands_in_them(contents: str, told: str) -> None:
    assert tell(contents, "read todo.txt", READ) == told


def test_of_long_contents_it_is_said_how_much_follows() -> None:
    told = tell("\n".join(f"line {at}" for at in range(1000)), "read todo.txt", READ)
    assert told.startswith("Read todo.txt:\nline 0\nline 1\n")
    assert re.fullmatch(
        r"line \d+\n\.\.\. and \d,\d+ characters more", told[-40:].split("\n", 1)[1]
    )


def test_a_list_of_what_the_deed_names_is_shown() -> None:
    assert tell('["todo.txt"]', "listed 1 file in todo", LIST) == "Listed 1 file in todo: todo.txt"


def test_of_each_page_that_was_found_it_is_told_what_it_says() -> None:
    pages = '[{"title": "A", "url": "u", "snippet": "One."}, {"title": "B", "url": "v"}]'
    told = tell(pages, "found 2 pages on the web: A, B", LIST)
    assert told == "Found 2 pages on the web:\n- A: One.\n- B"


def test_a_long_list_says_how_many_more_there_are() -> None:
    told = tell(json.dumps([f"{at}.txt" for at in range(32)]), "listed 32 files")
    assert told.startswith("Listed 32 files:\n- 0.txt\n")
    assert told.endswith("- 19.txt\n- and 12 more")


def test_nothing_found_is_said() -> None:
    assert tell("[]", "searched for x") == "Searched for x: nothing was found"


def test_vectors_are_kept_and_read_again(tmp_path: Path) -> None:
    first = load_encoder(tmp_path)
    first.prepare(["play a song", "list the files"])
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(kept) == 1
    second = load_encoder(tmp_path)
    second.prepare(["list the files", "play a song"])
    assert second.closeness("play a song", ["list the files"]) == pytest.approx(
        first.closeness("play a song", ["list the files"])
    )
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == kept


def test_a_guess_finds_the_line_that_answers_among_many(encoder: Encoder) -> None:
    lines = [f"notes: Bought {number} boxes of nails on day {number}." for number in range(60)]
    lines.insert(37, "notes: Paint the fence green.")
    question = "de qu\u00e9 color quer\u00eda pintar la valla"
    guessed = encoder.guess_passages(question, lines)
    assert guessed.index(max(guessed)) == 37


def test_vectors_of_the_users_lines_are_nowhere_on_disk(tmp_path: Path) -> None:
    encoder = load_encoder(tmp_path)
    encoder.rate_passages("what colour is the fence?", ["notes: Paint the fence green."])
    encoder.guess_passages("what colour is the fence?", ["notes: Paint the fence green."])
    assert not [*tmp_path.iterdir()]


def test_damaged_vectors_are_made_again(tmp_path: Path) -> None:
    load_encoder(tmp_path).prepare(["play a song"])
    (path,) = tmp_path.iterdir()
    good = path.read_bytes()
    path.write_bytes(b"nonsense")
    load_encoder(tmp_path).prepare(["play a song"])
    assert path.read_bytes() == good


def test_meaning_is_compared_across_languages(encoder: Encoder) -> None:
    near, far = encoder.closeness("spiel ein Lied", ["play a song", "what time is it?"])
    assert near > far


def test_a_line_is_found_that_answers_a_question_in_another_language(encoder: Encoder) -> None:
    lines = ["notes: Call the plumber.", "notes: Paint the fence green.", "shopping: olive oil"]
    rated = encoder.rate_passages("di che colore devo dipingere la staccionata?", lines)
    assert max(rated) == rated[1]
    again = load_encoder(Path("nowhere")).rate_passages("welche Farbe hat der Zaun?", lines[::-1])
    assert max(again) == again[1]


CLIMATE = command(
    "Set temperature and humidity of a cellar",
    "cellar",
    cellar={"type": "string", "enum": ["north", "old"]},
    celsius={"type": "number", "description": "Temperature"},
    humidity={"type": "integer", "description": "Relative humidity in percent"},
)
TOKENS = command(
    "Sell tokens for the showers",
    "count",
    count={"type": "integer", "description": "How many tokens"},
    pitch={"type": "integer", "description": "Pitch to charge"},
)
BEST = command(
    "Ranking of the fastest teams of a room",
    "room",
    room={"type": "string", "description": "Name of the room"},
    top={"type": "integer", "description": "How many teams"},
)
CLOSE = command(
    "Close a road because of avalanche risk",
    "road",
    road={"type": "string", "description": "Road or pass"},
    hours={"type": "integer", "description": "Duration in hours"},
)


@pytest.mark.slow
def test_a_number_is_the_value_of_what_alone_may_still_take_it(encoder: Encoder) -> None:
    old = "mach den old Keller bitte auf 11,5 Grad"
    assert fill(encoder, CLIMATE, old).values == {"cellar": "old", "celsius": "11.5"}
    tokens = "six jetons de douche, sur le 41"
    assert fill(encoder, TOKENS, tokens).values == {"count": "6", "pitch": "41"}


@pytest.mark.slow
def test_a_number_in_letters_counts_in_whatever_language_it_is(encoder: Encoder) -> None:
    filler = Filler(encoder)
    found = filler.fill(BEST, "wer sind die drei schnellsten im Labor", NOTHING).values
    assert found == {"top": "3", "room": "Labor"}


@pytest.mark.slow
def test_a_proper_name_is_taken_before_other_words(encoder: Encoder) -> None:
    filler = Filler(encoder)
    said = "nobody drives over the Furka for the next 12 hrs"
    assert filler.fill(CLOSE, said, NOTHING).values == {"road": "Furka", "hours": "12"}
    shut = "Passo Rolle is shut for 3 hours"
    assert filler.fill(CLOSE, shut, NOTHING).values["road"] == "Passo Rolle"
    where = command("Where a truck is", truck={"type": "string", "description": "Name of it"})
    assert filler.fill(where, "where's Daisy parked rn", NOTHING).values == {"truck": "Daisy"}
    level = command("Current water level of a well", "well", well={"type": "string"})
    assert filler.fill(level, "how high is it in Orchard 2", NOTHING).values == {
        "well": "Orchard 2"
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("get a notice for Edith Marlow into the Evening Post", ["Edith Marlow", "Evening Post"]),
        ("Tom Becker is taking 318", ["Tom Becker"]),
        ("an hour with Mr. Pettersson on March 3 2026", ["Mr. Pettersson"]),
        ("then please open the PDF. Anna wants it too, and so do I", ["PDF"]),
        ("una cocción de la Porter de Invierno", ["Porter de Invierno"]),
        ("Where is it? Somewhere on Friday 3 August 2026", []),
        ("stell den Keller und die Garage auf elf Grad", []),
    ],
)
def test_a_proper_name_has_capitals_where_not_all_nouns_have(text: str, names: list[str]) -> None:
    assert [span.text for span in find_proper_names(text)] == names


def test_a_year_is_told_in_months_and_half_of_it_too() -> None:
    for said, months in (("half a year", 6), ("2 years", 24), ("six mois", 6), ("1 Monat", 1)):
        unit = find_unit(["months"])
        assert unit
        assert [it[0] for it in convert_durations(said, find_numbers(said), unit)] == [months]


def test_of_two_values_as_likely_the_first_is_of_the_first_parameter() -> None:
    text = "move the piano from Elm Row to Oak Lane"
    runs = {run.text: run for run in list_runs(text, split_tokens(text))}
    elm, oak = runs["Elm Row"], runs["Oak Lane"]
    in_order = RunAssignment(0.0, ()).add(-1.0, elm).add(-1.0, oak)
    reverse = RunAssignment(0.0, ()).add(-1.0, oak).add(-1.0, elm)
    assert in_order.runs == (elm, oak)
    assert reverse.odds < in_order.odds
    assert in_order.add(0.0, None).odds == in_order.odds


def test_a_day_speaks_for_a_command_that_takes_one() -> None:
    day = command("Free pitches", "day", day={"type": "string", "format": "date"})
    place = command("Report a fault", "place", place=TEXT)
    asked = "anything left for 3 August 2026?"
    assert measure_form(asked, False, place).days_left == 1
    assert measure_form(asked, False, day).days_left == 0
    nameless = command("Jobs without a rider")
    assert measure_form("where the hell is Jonas", False, nameless).names_left == 1
    assert measure_form("where the hell is Jonas", False, place).names_left == 0


def test_what_a_refusal_names_can_be_pointed_at(encoder: Encoder) -> None:
    refusal = "2 songs match 'm': music/Last Light.mp3, music/Blue Moon - Ann Reed.mp3."
    known = Known(['["notes.txt", "b.txt"]', refusal], NAMES)
    assert fill(encoder, PLAY, "the second one", known).values["file"] == NAMES[2]


def test_where_words_have_no_vectors_the_form_of_words_tells_which_are_the_value() -> None:
    letters = Encoder()
    truck = command("Find a truck", "truck", truck={"type": "string", "description": "its name"})
    assert fill(letters, truck, "where did they park Daisy today").values == {"truck": "Daisy"}
    size = command("Order tea", "size", size={"enum": ["small", "large"]})
    assert fill(letters, size, "one large green tea").values == {"size": "large"}
    assert [item.name for item in fill(letters, size, "one green tea").missing] == ["size"]


@pytest.mark.slow
def test_no_word_is_in_two_values(encoder: Encoder) -> None:
    name: Schema = {"type": "string", "description": "name of the guest"}
    room: Schema = {"type": "string", "description": "name of the room"}
    nights: Schema = {"type": "integer", "description": "how many nights"}
    floor: Schema = {"type": "integer", "description": "which floor"}
    book = command(
        "Book a room", "guest", "room", guest=name, room=room, nights=nights, floor=floor
    )
    said = "put Mrs Weaver into the Garden Room for 3 nights, on floor 2 please"
    assert fill(encoder, book, said).values == {
        "guest": "Mrs Weaver",
        "room": "Garden Room",
        "nights": "3",
        "floor": "2",
    }


@pytest.mark.parametrize(
    ("said", "day"),
    [("a van on 21/11/2026", "2026-11-21"), ("a van on 11/21/2026", "2026-11-21"),
     ("a van on 04/05/2026", "04/05/2026")],
)  # fmt: skip
def test_a_day_with_slashes_is_written_as_a_date_where_there_is_no_doubt(
    encoder: Encoder, said: str, day: str
) -> None:
    date: Schema = {"type": "string", "format": "date"}
    assert fill(encoder, command("Book a van", "day", day=date), said).values == {"day": day}


HOURS = command(
    "Be silent between two times",
    "start",
    start={"type": "string", "format": "time"},
    end={"type": "string", "format": "time"},
)


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("quiet from 9pm to 7 in the morning", {"start": "21:00", "end": "07:00"}),
        ("quiet from 7 in the morning to 9:30 pm", {"start": "07:00", "end": "21:30"}),
        ("passare alle 6:45", {"start": "06:45"}),
        ("um 16:05 Uhr", {"start": "16:05"}),
        ("at 12 am", {"start": "00:00"}),
        ("12:15 p.m. please", {"start": "12:15"}),
        ("at 9:30 p.m.", {"start": "21:30"}),
        ("at 9 a.m., please", {"start": "09:00"}),
        ("le 9 avril à 6 h 30", {"start": "06:30"}),
        ("de 18h15 à 20h", {"start": "18:15"}),
        ("erst um 7 Uhr, bitte", {"start": "07:00"}),
        ("at half past seven", {"start": "07:30"}),
        ("a las tres y media, por favor", {"start": "03:30"}),
        ("for quarter past ten am", {"start": "10:15"}),
        ("à huit heures et quart du matin", {"start": "08:15"}),
        ("um Mitternacht", {"start": "00:00"}),
        ("for 2, at 8", {"start": "08:00"}),
        ("Morning! Start it at 80 percent", {"start": None}),
    ],
)
def test_times_are_written_as_the_schema_wants_them(said: str, values: dict[str, str]) -> None:
    found = fill(Encoder(), HOURS, said).values
    assert {name: found.get(name) for name in values} == values


@pytest.mark.parametrize("number", ["48250317", "977200008123456", "12345.67", "-0.25", "8"])
def test_no_digit_of_a_number_is_lost(number: str) -> None:
    record = command("Record a score", "score", score={"type": "number"})
    assert fill(Encoder(), record, f"{number} for Mia").values == {"score": number}


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("eine Grundschuld über 240.000 Euro", [240000]),
        ("3,200 quid and 1,234.50 more", [3200, 1234.5]),
        ("50 000 euros, et 2 000,50 de plus", [50000, 2000.5]),
        ("room 12 300 people", [12, 300]),
        ("eighty-four and a quarter, two and three quarters", [84.25, 2.75]),
        ("1.234,50 Euro oder 1.234.567", [1234.5, 1234567]),
        ("1.250 kg, 12.75 m and 36,5", [1.25, 12.75, 36.5]),
        ("0,125 and 9.4.2026", []),
    ],
)
def test_thousands_are_read_in_groups(said: str, numbers: list[float]) -> None:
    assert [number for number, *_ in find_numbers(said)] == numbers


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("ninety-six pound fifty", [96.5]),
        ("drei Euro fünfzig, oder 1 m 80!", [3.5, 1.8]),
        ("ocho euros con cincuenta", [8.5]),
        ("12€50", [12.5]),
        ("20 euros 15 people", [20, 15]),
        ("5 pounds, 20", [5, 20]),
        ("2 Euro 5 und 3 hours 20", [2, 5, 3, 20]),
    ],
)
def test_what_stands_behind_a_currency_may_be_its_hundredths(
    said: str, numbers: list[float]
) -> None:
    assert [number for number, *_ in join_hundredths(said, find_numbers(said))] == numbers


def test_a_dot_parts_thousands_where_a_whole_number_is_wanted() -> None:
    for kind, wanted in (("integer", "1250"), ("number", "1.25")):
        order = command("Order sheets", "sheets", sheets={"type": kind})
        assert fill(Encoder(), order, "bitte 1.250 davon").values == {"sheets": wanted}


@pytest.mark.parametrize(
    ("said", "members", "meant"),
    [
        ("only about 350 grams of lentils left", ["g", "kg", "ml", "l", "pieces"], "g"),
        ("2l of milk", ["g", "kg", "ml", "l"], "l"),
        ("dos kilos de harina", ["kg", "g"], "kg"),
        ("they'll go to 45,000 pounds", ["USD", "GBP", "EUR"], "GBP"),
        ("€40 is fine", ["eur", "usd"], "eur"),
        ("three miles", ["km", "miles"], "miles"),
        ("12 Pfund Kartoffeln", ["lb", "kg"], "lb"),
        ("5 metres of rope", ["S", "M", "L"], None),
        ("in the drawer, 3 of them", ["in", "out"], None),
        ("2 kg or 3 litres", ["kg", "l"], None),
    ],
)
def test_the_unit_beside_a_number_is_the_member(
    said: str, members: list[str], meant: str | None
) -> None:
    assert find_measure(said, find_numbers(said), members) == meant


@pytest.mark.parametrize("said", ["al 102 por ciento", "a 102 pour cent", "al 102 per cento"])
def test_a_share_of_a_hundred_is_one_number(said: str) -> None:
    assert [number for number, *_ in find_numbers(said)] == [102]


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ("hold number 4 for another 20 mins", [4, 20]),
        ("for 2 hours", [120]),
        ("for an hour and a half", [90]),
        ("give it half an hour", [30]),
        ("eine Viertelstunde bitte", [15]),
        ("anderthalb Stunden", [90]),
        ("media hora y ya", [30]),
        ("un quart d'heure", [15]),
        ("tre quarti d'ora", [45]),
        ("1 hour and 20 minutes", [80]),
        ("2 hours and 3 hours", [120, 180]),
        ("3h", [180]),
        ("table 7, a week", [7, 10080]),
        ("hold it", []),
    ],
)
def test_durations_are_in_the_unit_that_is_wanted(said: str, minutes: list[float]) -> None:
    unit = find_unit(["hold_minutes", "how long"])
    assert unit == 60
    numbers = [*find_numbers(said), *find_quantities(said)]
    converted = convert_durations(said, numbers, unit)
    assert [number for number, *_ in sorted(converted, key=lambda it: it[1])] == minutes


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["hold_minutes", "how long"], 60),
        (["duration", "in seconds"], 1),
        (["min_hours"], 3600),
        (["duration", "hours of the second driver"], 3600),
        (["duration_min"], 60),
        (["guests", "how many people"], None),
    ],
)
def test_the_unit_is_what_name_or_description_says(texts: list[str], seconds: int | None) -> None:
    assert find_unit(texts) == seconds


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("the 9th, no, the third one", [9, 3]),
        ("la sesta perde aria", [6]),
        ("im elften hauchdünn für Rot", [11]),
        ("a dozen eggs and two dozen rolls", [12, 24]),
        ("Familie Brandt kommt zu sechst", [6]),
        ("25g at noon", [25]),
        ("they lost 7-2", [7, 2]),
        ("S-3055, 44A, 2026-11-03 and 10:30", []),
    ],
)
def test_numbers_are_found_that_have_another_form(said: str, numbers: list[float]) -> None:
    found = [*find_quantities(said), *list_ordinals(said)]
    assert [number for number, *_ in sorted(found, key=lambda it: it[1])] == numbers


def test_a_duration_fills_a_command_of_others_in_its_unit(encoder: Encoder) -> None:
    minutes: Schema = {"type": "integer", "description": "how long, in minutes"}
    hold = command("Hold the lift", "duration", duration=minutes)
    for said, wanted in (
        ("nobody boards for an hour and a half", "90"),
        ("hold it 2 hours", "120"),
    ):
        assert fill(encoder, hold, said).values == {"duration": wanted}


@pytest.mark.parametrize(
    ("said", "times"),
    [
        ("twenty to eight in the morning, only nine", ["07:40"]),
        ("from quarter to nine at night till half past five in the morning", ["20:45", "05:30"]),
        ("um halb drei nachmittags", ["14:30"]),
        ("am 3. Februar 2026 abends um sieben", ["19:00"]),
        ("viertel nach acht abends", ["20:15"]),
        ("2.30 in the afternoon", ["14:30"]),
        ("a las ocho y cuarto de la tarde", ["20:15"]),
        ("à huit heures et demie du soir", ["20:30"]),
        ("alle nove meno un quarto di sera", ["20:45"]),
        ("around 3 at night", ["03:00"]),
        ("half eight in the morning", ["08:30"]),
        ("half-past nine tonight", ["21:30"]),
        ("viertel acht abends, oder dreiviertel neun abends", ["19:15", "20:45"]),
        ("um fünf vor halb drei nachmittags", ["14:25"]),
        ("quarter past two", []),  # of the day or of the night
        ("from 2 to 4 in the afternoon", ["16:00"]),
        ("10 to 4 in the afternoon", ["15:50"]),
        ("5 people in the evening, 6 more tonight", []),
        ("tonight 5 people", []),
    ],
)
def test_times_in_words_are_read_where_a_part_of_the_day_is_said(
    said: str, times: list[str]
) -> None:
    assert [span.text for span in find_clock_times(said)] == times


@pytest.mark.parametrize(
    ("said", "times"),
    [
        ("from 2 to 4 in the afternoon", ["14:00", "16:00"]),
        ("from 10 to 3 in the afternoon", ["10:00", "15:00"]),
        ("between half past one and 5 at night", ["01:30", "05:00"]),
        ("at 1:15 and only woke at quarter to three this afternoon", ["13:15", "14:45"]),
        ("2 pm till 5", ["14:00", "17:00"]),
        ("10 pm till 6", ["22:00", "06:00"]),
        ("de 8 à 12 h", ["08:00", "12:00"]),
        ("120 t out of 4 into 11", []),
        ("five to noon, quarter to midnight, ten past midnight", ["11:55", "23:45", "00:10"]),
        ("two and a half 5 kg bags at half 6", ["06:30"]),
    ],
)
def test_times_beside_each_other_are_in_the_same_part_of_the_day(
    said: str, times: list[str]
) -> None:
    assert [span.text for span in find_loose_times(said)] == times


def test_a_time_in_words_is_one_value_and_no_part_of_another(encoder: Encoder) -> None:
    time: Schema = {"type": "string", "format": "time"}
    record = command("Set when to record", "start", "end", start=time, end=time)
    said = "listen from quarter to nine at night till half past five in the morning"
    assert fill(encoder, record, said).values == {"start": "20:45", "end": "05:30"}


LISTED = json.dumps(
    [
        {"name": "a.txt", "size": 5, "modified": "2026-03-01 08:00"},
        {"name": "b.txt", "size": 900, "modified": "2026-05-01 08:00"},
        {"name": "c.mp3", "size": 9000, "modified": "2026-07-01 08:00"},
        {"name": "d", "type": "folder"},
    ]
)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("read the newest file", "b.txt"),  # a recording cannot be read
        ("open the oldest one", "a.txt"),
        ("lies mir die älteste Datei vor", "a.txt"),
        ("abre el archivo más reciente", "b.txt"),
        ("ouvre le plus gros fichier", "b.txt"),
        ("leggi il file più piccolo", "a.txt"),
        ("lies die größte Datei vor", "b.txt"),
        ("open the longest one", "b.txt"),
    ],
)
def test_an_entry_is_found_by_what_it_is_beside_the_others(
    encoder: Encoder, said: str, name: str
) -> None:
    known = Known((LISTED,), ("a.txt", "b.txt", "c.mp3", "d/"))
    path: Schema = {"type": "string", "description": "path of the file"}
    read = command("Read a file", "path", path=path)._replace(
        only_looks=True, examples=("read it",)
    )
    assert Filler(encoder).fill_by_meaning(read, said, known).values == {"path": name}


def test_nothing_is_taken_for_the_newest_where_nothing_tells(encoder: Encoder) -> None:
    alike = json.dumps([{"name": f"{name}.txt", "modified": "2026-03-01"} for name in "ab"])
    path: Schema = {"type": "string", "description": "path of the file"}
    read = command("Read a file", "path", path=path)._replace(
        only_looks=True, examples=("read it",)
    )
    for known in (Known((alike,), ("a.txt", "b.txt")), Known((), ("a.txt", "b.txt"))):
        assert Filler(encoder).fill_by_meaning(read, "read the newest file", known).values == {}


@pytest.mark.parametrize("said", ["who is the oldest member", "the biggest item in costs.csv"])
def test_what_is_said_of_other_things_points_at_no_entry(said: str) -> None:
    assert find_superlative(said) is None


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("a che ora si parte per Bolca", True),
        ("che ore sono", True),
        ("auf welchem Platz steht sie", True),
        ("metti la canzone che mi piace", False),
        ("prima fammi vedere le foto", False),
    ],
)
def test_a_question_is_known_by_how_it_begins(said: str, asks: bool) -> None:
    assert is_question(said) is asks


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("open the file", False),
        ("read it", False),
        ("mach mal die Datei auf", False),
        ("mostrami il file", False),
        ("read the file about the trip", True),
        ("was steht auf der Einkaufsliste", True),
    ],
)
def test_it_is_known_where_nothing_says_which_file(encoder: Encoder, said: str, says: bool) -> None:
    assert says_which(said) is says
    known = Known((), ("opening.txt", "trip.txt", "shopping.txt"))
    path: Schema = {"type": "string", "description": "path of the file"}
    read = command("Read a file", "path", path=path)._replace(
        only_looks=True, examples=("read it",)
    )
    assert bool(Filler(encoder).fill_by_meaning(read, said, known).values) is says


def test_a_file_that_a_reply_shows_is_not_shown_below_its_next_answer_again() -> None:
    file = command("Read a text file", "path", path={"description": "file to read"})
    reading = file._replace(only_looks=True)
    monday = ToldResult("day,cook\nMonday,Tom\nFriday,Ada", "read rota.csv, 3 lines", reading)
    friday = monday._replace(answers=["day: Friday, cook: Ada"])
    shown = conclude(monday)
    assert shown == "Read rota.csv, 3 lines:\nday,cook\nMonday,Tom\nFriday,Ada"
    assert conclude(friday) == f"day: Friday, cook: Ada\n\n{shown}"
    below = conclude(friday, ["Hello.", f"day: Monday, cook: Tom\n\n{shown}"])
    assert below == "day: Friday, cook: Ada\n\nRead rota.csv, 3 lines, shown above."
    assert conclude(monday, [shown]) == shown, "it was asked for itself"
    changed = friday._replace(result="day,cook\nFriday,Ada\nMonday,Bo")
    assert conclude(changed, [shown]).endswith("\nMonday,Bo"), "it is another one by now"
