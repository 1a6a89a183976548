"""Step 3: DeepSeek's markers (full-width bars, plain low lines) around prefixed elements.

<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|><steptml:invoke name="play">
<steptml:parameter name="track">Blue</steptml:parameter></steptml:invoke><|tool_call_end|>
<|tool_calls_end|>
"""

from andy_cli.compiler.bodies import forms, tagged
from andy_cli.compiler.bodies.deepseek import CLOSERS, OPENERS, STEP, body, marker
from andy_cli.compiler.bodies.elements import INVOKE
from andy_cli.compiler.bodies.sections import LONGEST_HEAD
from andy_cli.compiler.dialect import Parsed, Tools

INVOKED = "</steptml:invoke>"
READ = tagged.parser(INVOKE, OPENERS, (*CLOSERS, INVOKED))


def parse(text: str, tools: Tools) -> Parsed | None:
    start = text.find(STEP, 0, LONGEST_HEAD)
    return READ(text[start:], tools) if start >= 0 else None


DIALECT = forms.taught(
    name="step3",
    openers=OPENERS,
    body=body,
    parse=parse,
    write=tagged.spelled(
        marker("tool_calls_begin", "_")
        + f"{marker('tool_call_begin', '_')}function{marker('tool_sep', '_')}"
        + '<steptml:invoke name="NAME">',
        INVOKED + marker("tool_call_end", "_") + marker("tool_calls_end", "_"),
        ('<steptml:parameter name="KEY">', "</steptml:parameter>"),
        INVOKE,
    ),
    closers=(*CLOSERS, INVOKED),
)._replace(models=("step3*",))
