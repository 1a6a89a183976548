"""A history that fits, with nothing lost that cannot be had again (C30)."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.agent.history.compression import (
    CompressedHistory,
    compress_history,
    make_stub,
    truncate_result,
)
from andy_cli.agent.prompt.request import warn_of_lost_prompt
from andy_cli.messages import Message, ToolCall
from andy_cli.models.token_count import estimate_tokens

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=8), inner, max_size=6)
    ),
    max_leaves=60,
)
long_texts = st.builds(lambda text, times: text * times, st.text(min_size=1), st.integers(1, 400))
results = json_values.map(json.dumps) | long_texts
arguments = st.dictionaries(st.sampled_from(["path", "content"]), long_texts, max_size=2)
exchanges = st.tuples(
    st.sampled_from(["now this", "no, the other one", "do not touch it", "x" * 3000]),
    st.lists(st.tuples(arguments, results), max_size=3),
    st.just("Done.") | long_texts,
)


def history_of(parts: Sequence[tuple[str, list[tuple[dict[str, str], str]], str]]) -> list[Message]:
    history = [Message("system", "Be brief. " * 20)]
    for at, (user, called, answer) in enumerate(parts):
        history.append(Message("user", user))
        calls = tuple(ToolCall(f"c{at}x{n}", "read", each) for n, (each, _) in enumerate(called))
        if calls:
            history.append(Message("assistant", "", calls))
            history += [
                Message("tool", result, call_id=call.id, name="read")
                for call, (_, result) in zip(calls, called, strict=True)
            ]
        history.append(Message("assistant", answer))
    return history


histories = st.lists(exchanges, min_size=1, max_size=8).map(history_of)
windows = st.integers(100, 40_000)


def listing(count: int) -> str:
    return json.dumps([{"name": f"song {n}.mp3", "bytes": n * 1000} for n in range(count)])


def conversation(*contents: str) -> list[Message]:
    history = [Message("system", "Be brief."), Message("user", "sort my music")]
    for at, content in enumerate(contents):
        history.append(Message("assistant", "", (ToolCall(f"c{at}", "list_mp3s", {"path": "/"}),)))
        history.append(Message("tool", content, call_id=f"c{at}", name="list_mp3s"))
    return [*history, Message("assistant", "Sorted."), Message("user", "and now by year")]


@given(histories, windows)
def test_calls_and_results_are_never_torn(history: list[Message], window: int) -> None:
    done = compress_history(history, window)
    assert [shape(each) for each in done.history] == [shape(each) for each in history]


def shape(message: Message) -> object:
    names = [(call.id, call.name, sorted(call.arguments)) for call in message.calls]
    return message.role, names, message.call_id, message.name


@given(histories, windows)
def test_the_last_call_and_its_results_stay_as_they_are(
    history: list[Message], window: int
) -> None:
    done = compress_history(history, window)
    ids = [[call.id for call in each.calls] for each in history if each.calls][-1:]
    for before, after in zip(history, done.history, strict=True):
        if ids and (before.call_id in ids[0] or [call.id for call in before.calls] == ids[0]):
            assert after == before


@given(histories, windows)
def test_rules_task_decisions_and_last_words_stay(history: list[Message], window: int) -> None:
    done = compress_history(history, window)
    users = [at for at, each in enumerate(history) if each.role == "user"]
    decided = [at for at in users if history[at].content.startswith(("no,", "do not"))]
    for at in (0, users[0], users[-1], *decided):
        assert done.history[at] == history[at]


@given(histories, windows)
def test_every_stub_is_json(history: list[Message], window: int) -> None:
    for before, after in zip(history, compress_history(history, window).history, strict=True):
        if before.role == "tool" and before != after:
            told = json.loads(after.content, parse_constant=pytest.fail)
            assert told["shortened"] is True
            assert told["characters"] == len(before.content)
            assert "read again" in told["rest"]


@pytest.mark.slow
@given(histories, windows)
def test_compressing_again_changes_nothing(history: list[Message], window: int) -> None:
    once = compress_history(history, window)
    again = compress_history(once.history, window)
    assert again == CompressedHistory(once.history, once.after, once.after)


@given(histories, windows)
def test_what_fits_stays_and_nothing_grows(history: list[Message], window: int) -> None:
    done = compress_history(history, window, fixed=50, reply=100)
    assert done.after <= done.before
    if done.before <= window - 50 - min(100, window // 4):
        assert done.history == tuple(history)


@given(histories, windows)
def test_a_smaller_window_can_be_reached_by_steps(history: list[Message], window: int) -> None:
    step = compress_history(compress_history(history, window).history, window // 2)
    assert [shape(each) for each in step.history] == [shape(each) for each in history]


def test_the_oldest_goes_first_and_no_more_than_needed() -> None:
    history = conversation(listing(500), listing(400), listing(300))
    total = compress_history(history, 10**6).before
    done = compress_history(history, total - 100, reply=0)
    assert done.shortened == ("c0",)
    assert done.history[4:] == tuple(history[4:])
    told = json.loads(done.history[3].content)
    assert told["items"] == 500
    assert told["head"][0] == {"name": "song 0.mp3", "bytes": 0}
    assert 0 < done.after < done.before == total


def test_if_heads_are_too_much_counts_remain() -> None:
    history = conversation(*[listing(200)] * 12)
    done = compress_history(history, estimate_tokens(listing(200)) + 2200, reply=500)
    told = json.loads(done.history[3].content)
    assert "head" not in told
    assert told["items"] == 200
    assert done.after <= estimate_tokens(listing(200)) + 2200 - 500


def test_errors_are_never_cut() -> None:
    fault = json.dumps({"error": "no such folder " * 200})
    trace = "Traceback (most recent call last):\n" + "  File x\n" * 500
    plain = "there is no such thing " * 100
    history = conversation(fault, trace, plain, listing(10))
    done = compress_history(history, 300, failed=("c2",))
    assert done.history[:8] == tuple(history[:8])


def test_decisions_are_where_the_caller_says() -> None:
    history = [*conversation(listing(9)), Message("user", "w" * 3000), Message("user", "go")]
    history[5] = Message("user", "u" * 3000)
    assert compress_history(history, 300).history[5].content != "u" * 3000
    assert compress_history(history, 300, decisions=(5,)).history[5].content == "u" * 3000


def test_long_arguments_of_old_calls_keep_their_keys() -> None:
    call = ToolCall("a", "write_file", {"path": "x.md", "content": "words " * 5000, "mode": 7})
    history = [
        Message("user", "write it"),
        Message("assistant", "", (call,)),
        Message("tool", "written", call_id="a", name="write_file"),
        *conversation("[]")[2:],
    ]
    done = compress_history(history, 500)
    shorter = done.history[1].calls[0].arguments
    assert shorter["path"] == "x.md"
    assert shorter["mode"] == 7
    assert "characters left out" in str(shorter["content"])
    assert done.shortened == ("a",)


@given(results, st.integers(200, 3000))
def test_a_fresh_result_fits(content: str, room: int) -> None:
    told = truncate_result(content, room)
    assert told == content or estimate_tokens(told) <= room
    if told != content and content[:1] in "{[" and is_json(content):
        assert json.loads(told, parse_constant=pytest.fail)["truncated"] is True


def is_json(content: str) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def test_a_listing_of_60_kilobytes_says_what_is_missing() -> None:
    content = listing(1400)
    assert len(content) > 55_000
    told = json.loads(truncate_result(content, 2000, "list_mp3s"))
    assert told["truncated"] is True
    assert told["items"] == 1400
    assert told["left_out"] == 1400 - len(told["data"])
    assert told["data"] == json.loads(content)[: len(told["data"])]
    assert len(told["data"]) > 40
    assert "list_mp3s again" in told["rest"]


def test_a_long_list_in_an_object_is_counted_and_the_rest_stays() -> None:
    content = json.dumps({"files": [f"{n}.txt" for n in range(9000)], "folder": "/srv", "more": 3})
    told = json.loads(truncate_result(content, 1500))
    assert told["items"] == {"files": 9000}
    assert told["left_out"] == {"files": 9000 - len(told["data"]["files"])}
    assert told["data"]["folder"] == "/srv"
    assert told["data"]["more"] == 3


def test_a_long_text_keeps_head_and_tail() -> None:
    content = "\n".join(f"line {n}" for n in range(9000))
    told = truncate_result(content, 1000, "read_file")
    assert told.startswith("line 0\nline 1\n")
    assert told.endswith("\nline 8999")
    assert "left out here. Call read_file again" in told


def test_a_fault_is_told_whole_however_long() -> None:
    content = json.dumps({"error": "x" * 50_000})
    assert truncate_result(content, 500) == content


@pytest.mark.parametrize(
    "content", ["[1e999, NaN" + ", 1" * 900 + "]", "[" * 5000, '{"a": ' + "9" * 5000 + "}"]
)
def test_odd_json_is_no_trouble(content: str) -> None:
    json.loads(make_stub(content), parse_constant=pytest.fail)
    assert estimate_tokens(truncate_result(content, 300)) <= 300


def test_a_result_that_was_truncated_keeps_its_count_as_a_stub() -> None:
    assert json.loads(make_stub(truncate_result(listing(1400), 2000), "x", 0))["items"] == 1400


def test_data_that_are_truncated_again_keep_their_counts() -> None:
    content = listing(1400)
    told = json.loads(truncate_result(truncate_result(content, 4000), 900))
    assert told["items"] == 1400
    assert told["data"] == json.loads(content)[: len(told["data"])]
    assert told["left_out"] == 1400 - len(told["data"])
    assert "characters" not in json.loads(make_stub(json.dumps(told)))


@pytest.mark.parametrize(
    ("counts", "total"), [({}, 200), ({"items": 5000, "left_out": 4800}, 5000)]
)
def test_what_a_tool_says_beside_data_that_it_cut_itself_is_kept(
    counts: dict[str, int], total: int
) -> None:
    """A search says how its words were taken, and a listing how many there are."""
    beside = {"note": "*.py was taken as a glob.", "rest": "37 more were found."}
    content = json.dumps({"truncated": True, **counts, "data": [{"at": n} for n in range(200)]})
    told = json.dumps({**json.loads(content), **beside})
    for size in (700, 300):
        told = truncate_result(told, size, "search_text")
        shown = json.loads(told)
        kept = shown["data"].pop("data")
        assert kept == [{"at": n} for n in range(len(kept))]
        assert shown["data"] == beside
        assert shown["items"] == {"data": total}
        assert shown["left_out"] == {"data": total - len(kept)}
    assert json.loads(make_stub(told))["items"] == {"data": total}


@pytest.mark.parametrize("sizes", [(4000,), (4000, 900), (4000, 900, 300)])
def test_a_text_that_was_truncated_keeps_its_size(sizes: tuple[int, ...]) -> None:
    """However often: the model would take the rest for the whole."""
    content = told = "\n".join(f"line {n} of nine thousand" for n in range(9000))
    for size in sizes:
        told = truncate_result(told, size, "read_file")
    assert told.count("left out here") == 1
    stub = json.loads(make_stub(told, "read_file"))
    assert (stub["characters"], stub["lines"]) == (len(content), 9000)


@pytest.mark.parametrize(
    ("text", "counted"),
    [  # the mean of what o200k, cl100k, Llama 3 and Mistral count
        ("The committee met on Tuesday to consider the plans for the new library. ", 15),
        ('{"name": "A17 - Night.mp3", "size": 4411231, "modified": "2026-03-11T18:22:00Z"}', 42),
        ("/home/ana/projects/atlas/src/core/session_log.py", 14),
        ("昨天市议会决定翻修小学，尽管材料费用很高。", 20),
    ],
)
def test_the_estimate_is_near_what_vocabularies_count(text: str, counted: int) -> None:
    assert 0.6 * counted <= estimate_tokens(text) <= 1.6 * counted


def test_a_server_that_drops_the_beginning_is_noticed() -> None:
    assert "2,048" in warn_of_lost_prompt(12_000, 2048)
    assert warn_of_lost_prompt(12_000, 9000) == ""
    assert warn_of_lost_prompt(12_000, 0) == ""
    assert warn_of_lost_prompt(300, 20) == ""
