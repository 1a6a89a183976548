"""The program that renders a stranger's chat template; run by rendering.py in a process of its own.

Reads the template from stdin and writes to stdout what it makes of a short conversation with one
tool call. Jinja's sandbox keeps it from Python's insides, but bounds neither time nor memory: the
operating system does.
"""

import json
import re
import sys
from collections.abc import Callable

MAX_TEMPLATE_SIZE, MAX_TEXT_SIZE = 2**18, 2**16
CPU_SECONDS, MEMORY = 2, 2**29
NAME, KEY, VALUE = "sentinel_tool", "sentinel_key", "sentinel value"
ASKED, ANSWERED = "sentinel question", "sentinel result"
GENERATION = re.compile(r"{%-?\s*(?:end)?generation\s*-?%}")


def limit_process() -> None:
    try:
        import resource  # there is none on Windows, where only the parent's time-out holds
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def conversation(as_text: bool) -> dict[str, object]:
    """Families want the arguments as an object or as JSON; each reads one of them."""
    arguments = {KEY: VALUE}
    call = {
        "id": "a1b2c3d4e",
        "type": "function",
        "function": {"name": NAME, "arguments": json.dumps(arguments) if as_text else arguments},
    }
    parameters = {"type": "object", "properties": {KEY: {"type": "string"}}, "required": [KEY]}
    tool = {"name": NAME, "description": "A tool.", "parameters": parameters}
    return {
        "messages": [
            {"role": "user", "content": ASKED},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "name": NAME, "tool_call_id": "a1b2c3d4e", "content": ANSWERED},
        ],
        "tools": [{"type": "function", "function": tool}],
        "add_generation_prompt": False,
        "bos_token": "",
        "eos_token": "",
        "date_string": "1 Jan 2026",
    }


def renderings(source: str) -> list[str]:
    from jinja2.exceptions import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def as_json(value: object, indent: int | None = None, **_: object) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = as_json
    format_now: Callable[[str], str] = lambda time_format: "1 Jan 2026"  # noqa: E731
    environment.globals.update(raise_exception=refuse, strftime_now=format_now)
    rendered_texts: list[str] = []
    for as_text in (False, True):
        try:
            template = environment.from_string(GENERATION.sub("", source))
            rendered_texts.append(template.render(conversation(as_text))[:MAX_TEXT_SIZE])
        except Exception:  # noqa: BLE001  # whatever a stranger's template does, it says nothing
            continue
    return rendered_texts


if __name__ == "__main__":
    limit_process()
    source = sys.stdin.buffer.read(MAX_TEMPLATE_SIZE + 1).decode("utf-8", "replace")
    if len(source) <= MAX_TEMPLATE_SIZE:
        sys.stdout.buffer.write(json.dumps(renderings(source)).encode())
