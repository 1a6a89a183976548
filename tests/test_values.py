"""What an argument is read as: for any tool, as a guess where nothing would happen, or not."""

from collections.abc import Mapping

import pytest

from andy_cli.compiler.mapper.mapper import map_call
from tests.cases import loop_over

Schema = Mapping[str, object]
TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
NOTHING = ("", "null", "None", "undefined", "nil", "n/a")
"""Texts that say that there is no value."""
FLAG: Schema = {"type": "boolean"}
A_TRIAL: dict[str, object] = {"a": "x", "dry_run": True}
LETTER: Schema = {"type": "string", "description": "text of the mail"}


def items(item: Schema, **more: object) -> dict[str, object]:
    return {"type": "array", "items": item, **more}


def properties(*required: str, **declared: Schema) -> dict[str, object]:
    closed = {"type": "object", "additionalProperties": False}
    return {**closed, "properties": declared, "required": [*required]}


def read(schema: Schema, arguments: object, acts: bool, name: str = "t") -> object:
    """The arguments by a tool's schema; None: they are asked about."""
    tools = {"t": {"type": "function", "function": {"name": "t", "parameters": schema}}}
    made = map_call(name, arguments, tools, lambda name: not acts)
    return None if made.problems else made.calls[0].arguments


SURE: list[tuple[Schema, object, object]] = [
    # Kinds that are written as one another.
    (TEXT, False, "false"),
    (TEXT, True, "true"),
    (TEXT, 3, "3"),
    (WHOLE, 3.0, 3),
    (WHOLE, '"3"', 3),
    (WHOLE, "1,000", 1000),
    (WHOLE, "1_000", 1000),
    (WHOLE, [3], 3),
    ({"type": "boolean"}, 1, True),
    ({"type": "boolean"}, "yes", True),
    *[({"type": ["integer", "null"]}, word, None) for word in NOTHING],
    # Kinds by the names that other languages have for them, or by what else is said.
    ({"type": "List[str]"}, "['x', 'y']", ["x", "y"]),
    ({"type": "array<string>"}, '["x"]', ["x"]),
    *[
        ({"type": kind}, {kind: value}, value)
        for kind, value in {"boolean": True, "integer": 5, "number": 2.5, "string": "x"}.items()
    ],
    ({"const": 5}, "5", 5),
    ({**WHOLE, "multipleOf": 0}, 5, 5),
    ({"enum": [True, "x"]}, "true", True),
    *[
        ({"enum": [yes, no]}, flag, yes if flag else no)
        for yes, no in (("on", "off"), ("yes", "no"))
        for flag in (True, False)
    ],
    *[
        ({"enum": ["true", "false"]}, flag, word)
        for flag, word in ((True, "true"), (False, "false"))
    ],
    ({"enum": [1, 2]}, "two", 2),
    ({"enum": [1, 2]}, "2.0", 2),
    ({"enum": ["1", "2"]}, 1.0, "1"),
    ({"enum": ["x", "y"]}, "'x'", "x"),
    ({"enum": ["organization", "person"]}, "organisation", "organization"),
    ({"enum": ["organizing", "idle"]}, "organising", "organizing"),
    ({"enum": ["listing", "other"]}, "listings", "listing"),
    ({"enum": ["sort", "other"]}, "sorted", "sort"),
    ({"enum": ["driver", "other"]}, "drivers", "driver"),
    ({"enum": ["trapezoid", "cube"]}, "trapezoidal", "trapezoid"),
    # Formats.
    ({**TEXT, "format": "email"}, "Bea <b@c.de>", "b@c.de"),
    ({**TEXT, "format": "date"}, "March 5, 2024", "2024-03-05"),
    ({**TEXT, "format": "date"}, "13/04/2024", "2024-04-13"),
    ({**TEXT, "format": "date"}, "2024/03/05", "2024-03-05"),
    ({**TEXT, "format": "date-time"}, "March 5, 2024 10:00", "2024-03-05T10:00:00"),
    ({**TEXT, "pattern": "^[a-z]+-[a-z]+$"}, "ab_cd", "ab-cd"),
    ({**TEXT, "pattern": "^[a-z_]+$"}, "Ab cd", "ab_cd"),
    ({**TEXT, "pattern": "^[A-Z]{2}$"}, "de", "DE"),
    ({**TEXT, "format": "time"}, "3:05 am", "03:05:00"),
    ({**TEXT, "format": "time"}, "12:05 am", "00:05:00"),
    ({**TEXT, "format": "date"}, "2024-03-05T10:00:00Z", "2024-03-05"),
    ({**TEXT, "format": "time"}, "2024-03-05T10:00:00Z", "10:00:00Z"),
    ({**TEXT, "format": "time"}, "3:05 pm", "15:05:00"),
    *[
        ({**TEXT, "format": form}, "https://x.org/a b", "https://x.org/a%20b")
        for form in ("uri", "url")
    ],
    ({**TEXT, "maxLength": 3}, " abc ", "abc"),
    # Lists in a text, texts in a list, lists in lists.
    (items(TEXT, description="comma separated"), "x,y", ["x", "y"]),
    (items(TEXT, description="separated by hand"), "x,y", ["x,y"]),
    (items(TEXT), "x,y", ["x,y"]),
    (items(TEXT), "x, y", ["x", "y"]),
    (items({**TEXT, "format": "path"}), "x, y", ["x, y"]),
    *[
        (items({**TEXT, "format": form}), ",".join(two), two)
        for form, two in {
            "email": ["a@b.de", "c@d.de"],
            "date": ["2024-01-01", "2024-01-02"],
            "uri": ["https://a.de", "https://b.de"],
            "uuid": [f"123e4567-e89b-12d3-a456-42661417400{last}" for last in "01"],
        }.items()
    ],
    ({**TEXT, "description": "comma-separated"}, ["x", "y"], "x,y"),
    ({**TEXT, "description": "a JSON list"}, ["x", "é"], '["x", "é"]'),
    (items(items(WHOLE)), [1, 2], [[1, 2]]),
    (items(WHOLE, uniqueItems=True), [1, 1, 2], [1, 2]),
    (items(WHOLE), [1, 1], [1, 1]),
    # Objects.
    ({"type": "object", "patternProperties": {"^n_": WHOLE}}, {"n_1": "5"}, {"n_1": 5}),
    ({"type": "object", "patternProperties": {"^n_": WHOLE}}, {"x": "5"}, {"x": "5"}),
    ({"type": "object", "patternProperties": {"^n_": {"type": "int"}}}, {"n_1": "5"}, {"n_1": 5}),
    *[
        (
            properties(x=WHOLE, y=WHOLE),
            [{key: "x", "value": 1}, {key: "y", "value": 2}],
            {"x": 1, "y": 2},
        )
        for key in ("name", "key", "parameter")
    ],
    (
        {
            **properties("x", x={"const": 1}, y={"const": 2}),
            "allOf": [{"required": ["y"], "properties": {"y": {"const": 2}}}],
        },
        {},
        {"x": 1, "y": 2},
    ),
    (
        {"allOf": [{"properties": {"x": WHOLE}}, {"properties": {"y": WHOLE}}]},
        {"x": "1", "y": "2"},
        {"x": 1, "y": 2},
    ),
    (properties("x", "y", x=WHOLE, y=TEXT), [1, "b"], {"x": 1, "y": "b"}),
    (TEXT, {"type": "string", "value": "x"}, "x"),
]
GUESSED: list[tuple[Schema, object, object]] = [
    (NUMBER, {"value": 5, "units": "kg"}, 5),
    ({**NUMBER, "description": "in km"}, "5 km", 5),
    ({**NUMBER, "description": "price in dollars"}, "$5", 5),
    ({**NUMBER, "description": "percent"}, "5%", 5),
    ({"enum": ["level 1", "level 2"]}, "2", "level 2"),
    ({"enum": ["pending", "done"]}, "pendng", "pending"),
    ({"enum": ["pending", "done"]}, "pnding", "pending"),
    ({"enum": ["car", "bike"]}, "by car", "car"),
    ({"enum": ["car", "bike"]}, "car ride", "car"),
    ({**TEXT, "format": "date-time"}, "2024-03-05", "2024-03-05T00:00:00"),
    ({**TEXT, "pattern": "^[0-9]{4}$"}, "12 34", "1234"),
    ({**TEXT, "format": "uri"}, "www.x.org/a", "https://www.x.org/a"),
    (properties(x=WHOLE, y=WHOLE), [{"x": 1}, {"y": 2}], {"x": 1, "y": 2}),
    (items(WHOLE), [1, None], [1]),
    ({"type": "object", "additionalProperties": TEXT}, {"x": "1", "y": None}, {"x": "1"}),
]
ASKED: list[tuple[Schema, object]] = [
    (WHOLE, 3.5),
    ({"type": ["integer", "boolean"], "nullable": True}, "x"),
    (items(NUMBER), "[NaN]"),
    ({"enum": ["pending", "done"]}, "pndng"),
    ({"enum": ["car", "bike"]}, "premium car"),
    ({**TEXT, "format": "date"}, "03/04/2024"),
    (items(WHOLE), None),
    ({"enum": ["sort", "other"]}, "assorted"),
    ({"type": ["integer", "null"]}, "nan"),
    (NUMBER, "5 km"),
    (NUMBER, "5%"),
    ({**NUMBER, "description": "price in dollars"}, "€5"),
    (items({**TEXT, "format": "email"}), ["nobody"]),
    (properties("x", "y", x=WHOLE, y=WHOLE), [1, 2]),
    ({"allOf": [{"required": ["x"]}, {"properties": {"y": WHOLE}, "required": ["y"]}]}, {"y": 1}),
    ({"allOf": [{"required": ["x"]}, {"properties": {"y": WHOLE}, "required": ["y"]}]}, {"x": 1}),
    (TEXT, {"value": "x", "note": "y"}),
    ({}, object()),
    ({}, {1, 2}),
]


@loop_over(("schema", "given", "expected"), SURE)
def test_what_can_mean_one_thing_only_is_taken_for_any_tool(
    schema: Schema, given: object, expected: object
) -> None:
    for acts in (True, False):
        value = read(properties("a", a=schema), {"a": given}, acts)
        assert repr(value) == repr({"a": expected})


@pytest.mark.parametrize(("schema", "given", "expected"), GUESSED)
def test_a_guess_is_made_where_nothing_would_happen(
    schema: Schema, given: object, expected: object
) -> None:
    assert read(properties("a", a=schema), {"a": given}, acts=False) == {"a": expected}
    assert read(properties("a", a=schema), {"a": given}, acts=True) is None


@pytest.mark.parametrize(("schema", "given"), ASKED)
def test_what_says_something_else_is_asked_about(schema: Schema, given: object) -> None:
    assert read(properties("a", a=schema), {"a": given}, acts=False) is None


@loop_over(
    ("declared", "arguments", "expected"),
    [
        (properties("a", a=WHOLE), {"arguments": {"a": 1}, "type": "function"}, {"a": 1}),
        (properties("a", a=WHOLE, b=WHOLE), {"arguments": {"a": 1}, "b": 2}, {"a": 1, "b": 2}),
        (
            properties("a", a=WHOLE, b=WHOLE),
            {"arguments": [{"name": "a", "value": 1}, {"name": "b", "value": 2}]},
            {"a": 1, "b": 2},
        ),
        (properties("a", a=WHOLE), {"arguments": [{"name": "a", "value": 1}, {"name": "b"}]}, None),
        (
            properties("path", path=TEXT, mode=TEXT),
            {"details": {"path": "x", "mode": "y"}},
            {"path": "x", "mode": "y"},
        ),
        (properties("path", path=TEXT), {"settings": {"path": "x", "other": "y"}}, None),
        (properties("query", query=TEXT), {"search_query": "x", "q": "x"}, {"query": "x"}),
        (properties("query", query=TEXT), {"search_query": "x", "q": "y"}, None),
        (
            properties("place", place=properties("city", city=TEXT), unit=TEXT),
            {"place": {"city": "x", "unit": "m"}},
            {"place": {"city": "x"}, "unit": "m"},
        ),
        (
            properties("place", place=properties("city", city=TEXT), unit=TEXT),
            {"city": "x", "unit": "m"},
            {"place": {"city": "x"}, "unit": "m"},
        ),
        # What need not be given, and says that it is not; a text may be that very word.
        (properties("a", a=WHOLE, b=WHOLE), {"a": 1, "b": "none"}, {"a": 1}),
        (properties("a", a=WHOLE, b=TEXT), {"a": 1, "b": "none"}, {"a": 1, "b": "none"}),
        *[
            (properties("a", a=WHOLE, b=items(TEXT)), {"a": 1, "b": b}, {"a": 1})
            for b in NOTHING
            if b
        ],
        (properties("a", "b", a=WHOLE, b=items(TEXT)), {"a": 1, "b": "null"}, None),
        (
            properties("a", a=WHOLE, b=items({"enum": ["none", "all"]})),
            {"a": 1, "b": "none"},
            {"a": 1, "b": ["none"]},
        ),
        (
            properties("a", a=WHOLE, b={**TEXT, "enum": ["x"]}),
            {"a": 1, "b": "none"},
            {"a": 1},
        ),
        # By the order in which they are declared, from the first one on and without a gap.
        (properties("a", a=WHOLE, b=WHOLE), {"arg0": 1, "arg1": 2}, {"a": 1, "b": 2}),
        (properties("a", a=WHOLE, b=WHOLE), {"arg2": 1, "arg3": 2}, None),
        (properties("a", a=WHOLE, b=WHOLE), {"arg1": 1, "arg2": 2, "arg3": 3}, None),
        (properties("a", a=WHOLE, b=WHOLE), {"arg0": 1, "zz": 2}, None),
        (properties("a", a=WHOLE, b=WHOLE), {"a": 1, "arg1": 2}, None),
        *[
            (properties(one, **{one: TEXT}), {many: "x"}, {one: "x"})
            for one, many in (("watch", "watches"), ("box", "boxes"), ("city", "cities"))
        ],
        (properties("status", status=TEXT), {"statu": "x"}, None),
        # Any word of a flag may turn it round.
        (properties("a", a=TEXT, dry_run=FLAG), {"a": "x", "run": True}, None),
        (properties("a", a=TEXT, dry_run=FLAG), {"a": "x", "dryRun": True}, A_TRIAL),
        (properties("manager", manager=TEXT), {"mgr": "x"}, {"manager": "x"}),
        (properties("artist", artist=TEXT), {"art": "x"}, None),
        (properties("start_time", start_time=TEXT), {"end_time": "x"}, None),
        (properties("from_station", from_station=TEXT), {"arrival_station": "x"}, None),
        (properties("line_1", line_1=TEXT), {"line_2": "x"}, None),
        (properties("body", body=TEXT), {"body": {"x": 1}}, {"body": '{"x": 1}'}),
        (properties("body", body=LETTER), {"body": {"x": 1}}, None),
        (properties("body", body=LETTER), {"body": {"text": "x"}}, {"body": "x"}),
        (properties("a", a=WHOLE), {"arguments": [{"value": 1}]}, None),
        (properties("playlist_name", playlist_name=TEXT), {"name": "x"}, {"playlist_name": "x"}),
        (properties("max_price", max_price=NUMBER), {"price": 5}, None),
        (properties("price", price=NUMBER), {"max_price": 5}, None),
    ],
)
def test_arguments_find_their_names_or_are_asked_about(
    declared: Schema, arguments: object, expected: object
) -> None:
    assert read(declared, arguments, acts=True) == expected


def test_a_letter_for_a_word_is_a_guess() -> None:
    assert read(properties("mass", mass=NUMBER), {"m": 5}, acts=False) == {"mass": 5}
    assert read(properties("mass", mass=NUMBER), {"m": 5}, acts=True) is None


@pytest.mark.parametrize(
    ("name", "rule", "given", "expected"),
    [
        ("limit", {"maximum": 100}, 500, 100),
        ("per_page", {"exclusiveMaximum": 101}, 500, 100),
        ("depth", {"maximum": 5}, 9, 5),
        ("num_results", {"minimum": 1}, 0, 1),
        ("num_results", {"exclusiveMinimum": 0}, 0, 1),
        ("limit", {"minimum": 200, "maximum": 100}, 500, None),
        ("price", {"maximum": 100}, 500, None),
    ],
)
def test_only_how_much_is_shown_is_brought_within_its_bounds(
    name: str, rule: Schema, given: int, expected: int | None
) -> None:
    schema = properties(**{name: {**WHOLE, **rule}})
    made = read(schema, {name: given}, acts=False)
    assert made == (None if expected is None else {name: expected})
    assert read(schema, {name: given}, acts=True) is None


@pytest.mark.parametrize("outer", ["name", "tool", "tool_name", "function", "function_name"])
@pytest.mark.parametrize("inner", ["arguments", "parameters", "args", "input", "params"])
def test_a_call_that_stands_in_the_arguments_of_something_unknown_is_that_call(
    outer: str, inner: str
) -> None:
    schema = properties("a", a=WHOLE)
    assert read(schema, {outer: "t", inner: {"a": 1}}, acts=True, name="do_it") == {"a": 1}
    assert read(schema, {outer: "u", inner: {"a": 1}}, acts=True, name="do_it") is None


@pytest.mark.parametrize(
    ("declared", "arguments", "told"),
    [
        (properties("a", a=WHOLE, b=WHOLE), {"a": 1, "b": None}, "dropped b: null"),
        (properties("a", a=WHOLE, b=WHOLE), {"a": 1, "b": "none"}, 'dropped b: "none"'),
        (
            properties("a_b", a_b=TEXT),
            {"aB": "x", "A-B": "x"},
            "dropped A-B: it says the same as aB; aB -> a_b",
        ),
        (
            properties("query", query=TEXT),
            {"search_query": "x", "q": "x"},
            "dropped q: it says the same as search_query; search_query -> query",
        ),
        (
            properties("place", place=properties("city", city=TEXT)),
            {"place.city": "x"},
            "place.city -> place/city",
        ),
        (
            properties("place", place=properties("city", city=TEXT), n=WHOLE),
            {"city": "x", "n": 1},
            "city -> place/city",
        ),
        (
            properties("place", "n", place=properties("city", city=TEXT), n=WHOLE),
            {"place": {"city": "x", "n": 1}},
            "n taken out of place",
        ),
        (properties("a", a=WHOLE), {"details": {"a": 1}}, "took what stood in details"),
        (properties("a", a={"const": 5}), {}, "a = 5"),
        (properties("a", a={**WHOLE, "default": 5}), {}, "a = 5"),
        (properties("a", a=items(WHOLE, uniqueItems=True)), {"a": [1, 1]}, "twice"),
    ],
)
def test_each_change_is_told(declared: Schema, arguments: object, told: str) -> None:
    tools = {"t": {"type": "function", "function": {"name": "t", "parameters": declared}}}
    made = map_call("t", arguments, tools, lambda name: False)
    assert not made.problems
    assert told in "; ".join(made.changes)


@pytest.mark.parametrize("key", ["parameters", "inputSchema", "input_schema"])
@pytest.mark.parametrize(
    ("arguments", "path", "rule"),
    [
        ({"a": "x"}, "a", "type"),
        ({}, "a", "required"),
        ({"a": 1, "colour": 1}, "colour", "additionalProperties"),
        ({"a": 1, "mail": "nobody"}, "mail", "format"),
    ],
)
def test_a_problem_names_its_place_wherever_the_schema_stands(
    key: str, arguments: object, path: str, rule: str
) -> None:
    schema = properties("a", a=WHOLE, mail={**TEXT, "format": "email"})
    made = map_call("t", arguments, {"t": {key: schema}}, lambda name: False)
    assert (made.problems[0].path, made.problems[0].rule) == (path, rule)


def test_no_more_than_a_dozen_problems_are_told() -> None:
    names = [f"p{number}" for number in range(20)]
    schema = properties(**dict.fromkeys(names, WHOLE))
    made = map_call(
        "t", dict.fromkeys(names, "x"), {"t": {"parameters": schema}}, lambda name: False
    )
    assert len(made.problems) == 12


def test_an_empty_member_of_an_enumeration_is_no_slip_of_a_word() -> None:
    tools = {"t": {"parameters": properties("a", a={"enum": ["", "celsius", "kelvin"]})}}
    made = map_call("t", {"a": "fahrenheit"}, tools, lambda name: True)
    assert made.problems[0].rule == "enum"
    assert map_call("t", {"a": "celcius"}, tools, lambda name: True).calls[0].arguments == {
        "a": "celsius"
    }


def test_of_two_names_for_one_thing_it_is_asked_which_is_meant() -> None:
    tools = {"t": {"parameters": properties("a_b", a_b=TEXT)}}
    made = map_call("t", {"aB": "x", "A-B": "y"}, tools, lambda name: False)
    assert "aB and A-B both stand for a_b" in made.problems[0].message


def test_a_tool_has_the_other_names_that_it_declares() -> None:
    function = {"name": "t", "x-aliases": ["do_it"], "parameters": properties("a", a=WHOLE)}
    made = map_call("doIt", {"a": 1}, {"t": {"function": function}}, lambda name: False)
    assert [call.name for call in made.calls] == ["t"]
    assert not made.problems
