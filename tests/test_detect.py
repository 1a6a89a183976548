"""Which dialect a model writes: its name, its template, what its server says."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.compiler import dialects
from andy_cli.compiler.detect import (
    NO_TEMPLATE,
    Template,
    bare_name,
    choose_by_name,
    choose_by_template,
    choose_dialect,
    describe_detection,
    opens_reasoning,
    parse_billions,
)
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
from andy_cli.errors import UsageError
from andy_cli.messages import Learned, ToolRequest
from tests.cases import loop_over

DIALECTS = {each.name: each for each in discover(dialects, Dialect, "DIALECT")}
NAMES = Path(__file__).parent / "corpora" / "model_names.jsonl"
ROWS = [json.loads(line) for line in NAMES.read_text(encoding="utf-8").splitlines()]
SPEAKING = {name for name, each in DIALECTS.items() if each.models}
PREFIXES = ("", "openrouter/", "hf.co/someone/", "@cf/x/", "C:\\models\\")
SUFFIXES = ("", ":latest", "-GGUF", "-GGUF:Q4_K_M", ".Q8_0.gguf", "-AWQ", "-4bit", "-MLX-8bit")


def named(model: str) -> str:
    found = choose_by_name(model, DIALECTS.values())
    return found.name if found else ""


def shown(template: str) -> str:
    found = choose_by_template(template, DIALECTS.values())
    return found[0].name if found else ""


def test_the_table_of_names_is_long_and_names_no_model_twice() -> None:
    models = [row["model"] for row in ROWS]
    assert len(models) == len(set(models)) >= 120


@loop_over("row", ROWS, ids=lambda row: str(row["model"]))
def test_a_name_says_which_dialect_the_model_writes(row: dict[str, str]) -> None:
    # Nobody else may claim the models of a dialect that does not say yet who writes it.
    assert named(row["model"]) == (row["dialect"] if row["dialect"] in SPEAKING else "")


@given(st.sampled_from(ROWS), st.sampled_from(PREFIXES), st.sampled_from(SUFFIXES))
def test_who_serves_a_model_and_how_it_is_packed_changes_nothing(
    row: dict[str, str], prefix: str, suffix: str
) -> None:
    model = bare_name(row["model"])
    assert bare_name(prefix + model + suffix) == model
    assert named(prefix + model.upper() + suffix) == named(model)


def test_the_order_of_the_dialects_does_not_matter() -> None:
    backwards = list(reversed(DIALECTS.values()))
    assert [choose_by_name(row["model"], backwards) for row in ROWS] == [
        choose_by_name(row["model"], DIALECTS.values()) for row in ROWS
    ]


@pytest.mark.parametrize(
    ("model", "bare"),
    [
        ("qwen2.5:7b", "qwen2.5"),
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "qwen2.5-7b-instruct"),
        ("hf.co/x/Some-Model-Chat-GGUF:Q5_K_M", "some-model-chat"),
        ("/models/My.Model-8B.i1-IQ3_XXS.gguf", "my.model-8b"),
        ("model-00001-of-00003.gguf", "model"),
        ("Model-FP8-dynamic", "model"),
        ("Model-3.5bpw-exl2", "model"),
        ("model@q4_k_m", "model"),
        ("gguf", "gguf"),
        ("", ""),
    ],
)
def test_a_bare_name_has_no_vendor_tag_or_packing(model: str, bare: str) -> None:
    assert bare_name(model) == bare


@given(st.text())
def test_any_text_may_be_a_name_or_a_template(text: str) -> None:
    choose_by_name(text, DIALECTS.values())
    choose_by_template(text, DIALECTS.values())


def test_a_pattern_that_says_no_outweighs_all_others() -> None:
    dialect = DIALECTS["hermes"]._replace(models=("cat*", "!cat-fish*"))
    assert choose_by_name("cat-7b", [dialect]) is dialect
    assert choose_by_name("cat-fish-7b", [dialect]) is None


WRITTEN = {
    name: each.write(ToolRequest("name", {"key": "value"})) for name, each in DIALECTS.items()
}
MARKED = [
    name
    for name, call in WRITTEN.items()
    if any(mark in call for mark in DIALECTS[name].start_markers if mark[0] in "<[]" and mark[1:])
]


@pytest.mark.parametrize("name", MARKED)
def test_a_template_that_shows_a_call_in_full_shows_its_dialect(name: str) -> None:
    found = shown(f"{{% for m in messages %}}{{{{ m }}}}{{% endfor %}}\n{WRITTEN[name]}\n")
    # Two notations may have the same markers: what either reads, the other reads too.
    assert found == name or DIALECTS[found].start_markers == DIALECTS[name].start_markers


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ('<tool_call>\n{"name": <function-name>, "arguments": <json>}\n</tool_call>', "hermes"),
        ("{{ '<tool_call>' }}\n<function={{ n }}>\n<parameter={{ k }}>\n", "qwen3_coder"),
        ("<tool_call>{{ n }}\n<arg_key>{{ k }}</arg_key>\n<arg_value>", "glm47"),
        ("[TOOL_CALLS] [{% for call in calls %}", "mistral_pre_v11"),
        ("[TOOL_CALLS]{{ name }}[ARGS]{{ arguments }}", "mistral_v11"),
        ("<|start|>assistant to=f<|channel|>commentary json<|message|>{}<|call|>", "harmony"),
        ("<｜DSML｜tool_calls>\n<｜DSML｜invoke name=", "deepseek_dsml"),
        ("{{- if .ToolCalls }}<|tool_call|>{{ .ToolCalls }}{{ end }}", "granite3"),
        ("{{ .System }} {{ .Prompt }}", ""),
        ("answer in ```json fences", ""),
        ("", ""),
    ],
)
def test_a_template_shows_what_its_model_writes(template: str, name: str) -> None:
    assert shown(template) == name


def test_only_the_beginning_of_an_endless_template_is_read() -> None:
    assert shown(" " * 10**6 + "<tool_call>{}</tool_call>") == ""


def test_what_a_server_says_comes_first_then_its_template_then_the_name() -> None:
    hermes = Template('<tool_call>{"name"}</tool_call>')
    every = DIALECTS.values()
    assert choose_dialect("gpt-oss", hermes, ("tools",), every).dialect.name == "native"
    assert choose_dialect("gpt-oss", hermes, ("completion",), every) == (
        DIALECTS["hermes"],
        "its chat template writes <tool_call>",
    )
    assert choose_dialect("gpt-oss:20b", NO_TEMPLATE, (), every) == (
        DIALECTS["harmony"],
        "its name says so",
    )


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("qwen2.5:7b", 7),
        ("Some/SmolLM2-135M-Instruct", 0.135),
        ("Mixtral-8x7B-v0.1", 56),
        ("gemma3n:e4b", 4),
        ("Name-30B-A3B", 30),
        ("Name-A3B", 3),
        ("stable-2-1_6b", 1.6),
        ("llama_3_8b", 8),
        ("llama-v3p1-405b", 405),
        ("name-1p5b", 1.5),
        ("falcon7b", 7),
        ("kimi:1t", 1000),
        ("name-9b-chat-1m", 9),
        ("/models/70b/name-1b.Q4_K_M.gguf", 1),
        ("C:\\70b\\name-3b.gguf", 3),
        ("name-1m", None),
        ("70b-lab/name", None),
        ("name-4bit", None),
        ("name-3.5bpw-exl2", None),
        ("name:8f3b", None),
        ("name-q8_0", None),
        ("name-128k", None),
        ("m", None),
        ("", None),
    ],
)
def test_a_name_may_say_how_large_the_model_is(model: str, size: float | None) -> None:
    assert parse_billions(model) == (pytest.approx(size) if size else None)


@given(st.text() | st.text(alphabet="0123456789.xbmte-_pa/"))
def test_any_text_may_be_asked_for_a_size(text: str) -> None:
    assert (parse_billions(text) or 1) > 0


@pytest.mark.parametrize(
    ("model", "dialect", "why"),
    [
        ("nobody-knows-0.5b", "andybot", "small"),
        ("nobody-knows:4b", "andybot", "small"),
        ("nobody-knows-e4b", "andybot", "small"),
        ("nobody-knows-7b", "action", "large enough"),
        ("nobody-knows-8x7b", "action", "large enough"),
        ("nobody-knows", "andybot", "nothing says"),
        ("qwen2.5:0.5b", "hermes", "name says so"),
        ("gpt-oss:120b", "harmony", "name says so"),
    ],
)
def test_of_whom_nothing_is_known_the_size_counts(model: str, dialect: str, why: str) -> None:
    found = choose_dialect(model, Template("{{ .Prompt }}"), (), DIALECTS.values())
    assert found.dialect.name == dialect
    assert why in found.why


def test_what_did_best_in_a_probe_comes_before_all_else() -> None:
    hermes = Template('<tool_call>{"name"}</tool_call>')
    best = Learned(dialect="react", right=7, tasks=8, on="2026-11-21")
    for capabilities in ((), ("tools",)):
        assert choose_dialect("gpt-oss", hermes, capabilities, DIALECTS.values(), best) == (
            DIALECTS["react"],
            "it did best when it was probed on 2026-11-21, 7 of 8",
        )


@pytest.mark.parametrize(
    ("capabilities", "learned", "dialect"),
    [
        (("tools",), Learned(), "native"),
        (("tools",), Learned(native=True), "native"),
        (("tools",), Learned(native=False), "hermes"),
        (("tools",), Learned(native=True, dialect="native"), "native"),
        (("tools",), Learned(native=False, dialect="native"), "hermes"),
        (("tools",), Learned(native=False, instead="react", why="w"), "react"),
        (("tools",), Learned(native=False, instead="gone", why="w"), "hermes"),
        ((), Learned(native=True), "hermes"),
        ((), Learned(native=True, dialect="native"), "hermes"),
        ((), Learned(dialect="no-such-dialect"), "hermes"),
    ],
)
def test_what_was_learned_takes_native_calls_away_and_never_gives_them(
    capabilities: tuple[str, ...], learned: Learned, dialect: str
) -> None:
    found = choose_dialect("qwen2.5:7b", NO_TEMPLATE, capabilities, DIALECTS.values(), learned)
    assert found.dialect.name == dialect


def test_a_dialect_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match=r"no dialect 'hermit'.*hermes"):
        describe_detection("hermit", "--set", DIALECTS)


@pytest.mark.parametrize(
    ("prompt", "opens"),
    [
        ("{{- '<|im_start|>assistant\\n<think>\\n' }}", True),
        ("{{'<｜Assistant｜><think>\\n'}}", True),
        ("{{- '<|im_start|>assistant\\n' }}{{- '<think>\\n\\n</think>\\n\\n' }}", False),
        ("{{- '<|im_start|>assistant\\n' }}", False),
        ("{{ '[THINK]' }}", True),
    ],
)
def test_a_template_says_whether_it_opens_the_reasoning(prompt: str, opens: bool) -> None:
    head = "{% for m in messages %}{{ '<think>' + m.content }}{% endfor %}"
    template = f"{head}{{% if add_generation_prompt %}}{prompt}{{% endif %}}"
    assert opens_reasoning(template) is opens
    assert not opens_reasoning(head)
