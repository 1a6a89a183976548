"""A server's chat template, rendered apart with one tool call, and what dialect comes out of it."""

import asyncio
from pathlib import Path

import pytest

from andy_cli.compiler import dialects
from andy_cli.compiler.detect import Template, choose_by_rendering, choose_dialect
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
from andy_cli.models.server import rendering
from andy_cli.models.server.rendering import render_template

DIALECTS = discover(dialects, Dialect, "DIALECT")

LOOP = """{%- for message in messages %}{%- if message.role == 'assistant' and message.tool_calls %}
CALLS
{%- elif message.role == 'tool' %}<result>{{ message.content }}</result>
{%- else %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endif %}{% endfor %}"""
BLOCK = "{%- for call in message.tool_calls %}CALL{%- endfor %}"


def each(call: str) -> str:
    return BLOCK.replace("CALL", call)


JSON = '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
PAIRS = (
    "{%- for key, value in call.function.arguments.items() %}<arg_key>{{ key }}</arg_key>"
    "<arg_value>{{ value }}</arg_value>{%- endfor %}"
)
CALLS = {
    "hermes": each(f"<tool_call>\n{JSON}\n</tool_call>"),
    "glm45": each("<tool_call>{{ call.function.name }}\n" + PAIRS + "</tool_call>"),
    "mistral_v11": each(
        "[TOOL_CALLS]{{ call.function.name }}[ARGS]{{ call.function.arguments | tojson }}"
    ),
    "qwen3_coder": each(
        "<tool_call>\n<function={{ call.function.name }}>\n{%- for key, value in"
        " call.function.arguments | items %}\n<parameter={{ key }}>\n{{ value }}\n</parameter>"
        "{%- endfor %}\n</function>\n</tool_call>"
    ),
    "deepseek_v31": "<\uff5ctool\u2581calls\u2581begin\uff5c>"
    + each(
        "<\uff5ctool\u2581call\u2581begin\uff5c>{{ call.function.name }}<\uff5ctool\u2581sep\uff5c>"
        "{{ call.function.arguments | tojson }}<\uff5ctool\u2581call\u2581end\uff5c>"
    )
    + "<\uff5ctool\u2581calls\u2581end\uff5c>",
    "jamba": "<tool_calls>["
    + each(JSON + "{%- if not loop.last %}, {% endif %}")
    + "]</tool_calls>",
}


def shown(template: str) -> tuple[str, ...]:
    return asyncio.run(render_template(template))


@pytest.mark.parametrize("name", CALLS)
def test_what_a_template_writes_is_read_off(name: str) -> None:
    found = choose_by_rendering(shown(LOOP.replace("CALLS", CALLS[name])), DIALECTS)
    assert found is not None
    assert found.name == name


def test_markers_that_stand_nowhere_in_its_text_are_seen() -> None:
    pieces = "{{ '<' + 'tool' ~ '_call>' }}" + JSON + "{{ '</tool' ~ '_call>' }}"
    template = LOOP.replace("CALLS", each(pieces))
    assert "<tool_call>" not in template
    known = Template(template, shown(template))
    assert choose_dialect("nobody-knows-7b", known, (), DIALECTS).dialect.name == "hermes"


def test_arguments_may_have_to_be_text() -> None:
    """A template that pastes the arguments in needs them as JSON already."""
    pasted = '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments }}}'
    found = choose_by_rendering(
        shown(LOOP.replace("CALLS", each(f"<TOOLCALL>[{pasted}]</TOOLCALL>"))), DIALECTS
    )
    assert found is not None
    assert found.name == "nemotron_v2"


@pytest.mark.parametrize(
    "template",
    [
        "",
        "plain words",
        "{% for",
        "{{ raise_exception('tools are not for me') }}",
        "{{ nothing.here.at.all }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ range.__globals__ }}",
        pytest.param(
            "{% for a in range(99999) %}"
            "{% for b in range(99999) %}{{ a * b }}{% endfor %}"
            "{% endfor %}",
            marks=pytest.mark.slow,  # until its processor time is over
        ),
        "{{ 'x' * 10 ** 10 }}",
        "{{ .Messages }}{{ range .ToolCalls }}",
        "{" * 300_000 + "{{ 1 }}",
    ],
    ids=lambda template: template[:20],
)
def test_a_template_that_fails_or_attacks_says_nothing(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "TIMEOUT", 10.0)  # its own limit of processor time comes first
    assert choose_by_rendering(shown(template), DIALECTS) is None


def test_a_template_cannot_write_a_file(tmp_path: Path) -> None:
    target = tmp_path / "written"
    shown(f"{{{{ cycler.__init__.__globals__.os.system('touch {target}') }}}}")
    shown(f"{{{{ lipsum.__globals__['os'].popen('touch {target}') }}}}")
    assert not target.exists()


def test_one_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "TIMEOUT", 0.01)
    assert shown("{{ messages }}") == ()
