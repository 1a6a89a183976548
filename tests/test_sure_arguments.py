"""What goes on of a call while it arrives is the beginning of what it turns out to be."""

import json
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.frontends.serve.answers.sure_arguments import SureArguments

PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "level": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "more": {"type": "object"},
    },
    "required": ["path"],
}
texts = st.text(max_size=8)
fitting = st.fixed_dictionaries(
    {"path": texts},
    optional={
        "level": st.integers(),
        "tags": st.lists(texts, max_size=3),
        "mode": st.sampled_from("ab"),
        "more": st.dictionaries(texts, texts | st.lists(texts, max_size=2), max_size=2),
    },
)
anything = st.dictionaries(
    st.sampled_from([*PARAMETERS["properties"], "other"]),
    texts | st.integers() | st.none() | st.lists(texts, max_size=2),
    max_size=4,
)


def arrived(text: str, cuts: set[int]) -> SureArguments:
    """The arguments, in pieces; whatever was sure once stays so."""
    sure = SureArguments(PARAMETERS)
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    before = ""
    for start, end in pairwise(places):
        sure.add_text(text[start:end])
        now = sure.text[: sure.sure]
        assert now.startswith(before)
        before = now
    return sure


cuts = st.sets(st.integers(0, 300), max_size=12)


@given(fitting, st.booleans(), st.sampled_from([None, 1]), cuts)
def test_what_fits_is_sure_to_its_end_however_it_is_cut(
    arguments: Mapping[str, object], ascii: bool, indent: int | None, places: set[int]
) -> None:
    text = json.dumps(arguments, ensure_ascii=ascii, indent=indent)
    sure = arrived(text, places)
    assert sure.is_whole
    assert sure.sure == len(text)


@given(anything, fitting, cuts)
def test_what_follows_makes_one_object_of_what_is_sure_and_what_is_meant(
    written: Mapping[str, object], meant: Mapping[str, object], places: set[int]
) -> None:
    text = json.dumps(written)
    sure = arrived(text, places)
    for arguments in (meant, written, {**meant, **written}):
        rest = sure.write_rest(arguments)
        if rest is not None and not sure.is_whole:
            assert json.loads(text[: sure.sure] + rest) == arguments


@pytest.mark.parametrize("sent", ['{"path": "a", "le', '{"path": "ab'])
def test_a_value_that_is_another_one_in_the_end_is_written_once_more(sent: str) -> None:
    sure = arrived(sent, set())
    rest = sure.write_rest({"path": "b", "level": 7})
    assert rest is not None
    assert json.loads(sent[: sure.sure] + rest) == {"path": "b", "level": 7}
    assert sure.write_rest({"level": 7}) is None  # and what is gone cannot be taken back


@given(st.text('{}[]":,\\ \n1apthu', max_size=30), cuts)
def test_any_text_is_taken(text: str, places: set[int]) -> None:
    sure = arrived(text, places)
    if sure.is_whole:
        assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ('{"path": "~/mu', '{"path": "~/mu'),
        ('{"level": "7', "{"),
        ('{"path": "x", "level": "7"}', '{"path": "x"'),
        ('{"Level', "{"),
        ('{"level": 7}', '{"level": 7'),
        ('{"path": "a\nb"}', '{"path": "a'),
        ('{"path": "a\\', '{"path": "a'),
        ('{"mode": "c"}', "{"),
        ('{"path": "a", "path": "b"}', '{"path": "a"'),
        ("[1]", ""),
    ],
)
def test_how_much_is_sure(text: str, sure: str) -> None:
    found = SureArguments(PARAMETERS)
    for sign in text:
        found.add_text(sign)
    assert text[: found.sure] == sure
