"""Choice of the dialect that a model writes: from what it has shown, from what its server says,
from its template, from its name, and where none of them tells, from its size.

The name counts whoever serves the model (C18), in all the spellings there are:

    Qwen/Qwen2.5-7B-Instruct-AWQ   qwen2.5:7b-instruct-q4_K_M   hf.co/x/Qwen2.5-7B-GGUF:Q4_K_M

Folder and vendor do not count for the size, a tag does:

    qwen2.5:7b   SmolLM2-135M-Instruct   Mixtral-8x7B   gemma3n:e4b   Name-30B-A3B   stable-1_6b

A dialect says in `models` who writes it. A pattern holds from where a word of the name begins. `*`
is anything; a pattern that does not end in one ends where a word does, so `qwen3` is no `qwen3.5`.
`-` may be written or not, and a version as servers do: `llama-3.1*` is `llama-v3p1-8b` too. The
pattern with the most letters wins. With `!` in front it says who does not write the dialect.

A template is a program of somebody else's: models/server/rendering.py runs it apart and bounded.
What it made of a call is read here as a reply is; where that says nothing, the markers in its text
count.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.control_tokens import REASONING, WORDY
from andy_cli.compiler.dialect import Dialect
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.errors import UsageError
from andy_cli.messages import NOTHING_LEARNED, Learned, ToolRequest

BILLIONS = {"m": 0.001, "b": 1.0, "t": 1000.0}

MIN_BILLIONS = 0.01
"""Billions: `135m` are parameters, `1m` is a context of a million tokens."""

MODEL_SIZE = Expression(
    r"(?<![a-z0-9.])[a-z]*(?:(\d{1,3})x)?(\d{1,4}(?:[.p]\d{1,3})?|(?<=-)\d_\d)([mbt])(?![a-z0-9])"
)


def parse_billions(model: str) -> float | None:
    """The parameters in billions, of the experts together; None where the name does not tell.

    Folder and vendor do not count, a tag does: there is where Ollama writes the size.
    """
    sizes = [_size(*match.groups()) for match in MODEL_SIZE.finditer(_last_folded_name(model))]
    return max(filter(None, sizes), default=None)


def _last_folded_name(model: str) -> str:
    """In lower case, without vendor and folder."""
    path = model.lower().replace("\\", "/").rstrip("/")
    return path.rpartition("/")[2]


def _size(experts: str | None, number: str, unit: str) -> float | None:
    one_expert = float(number.replace("p", ".").replace("_", ".")) * BILLIONS[unit]
    size = one_expert * int(experts or 1)
    return size if size >= MIN_BILLIONS else None


NATIVE = "native"
GUIDED = "it is so small that each step is chosen for it"
"""The reason for the dialogue with a model that chooses no tool by itself."""

DIALOGUE = "andybot"
"""The dialect for any model that can follow a conversation."""

OBJECT = "action"
"""The dialect for a model that can write JSON: all of a request in one reply."""

SMALL_BILLIONS = 4.5
"""Billions of parameters up to which a model is asked for one value at a time."""

MAX_CHARACTERS = 2**18
"""Characters of a template that are looked at."""

SUFFIX = Expression(
    r"""[-_. ](?:
        gguf | ggml | bin | safetensors | onnx | \d{5}-of-\d{5}
      | awq | gptq | exl[23] | mlx | bnb | dwq | qat | ud | imat | i1 | dynamic | quantized
      | (?:mx|nv)?fp(?:4|8|16) | [bf]f?(?:16|32) | int[48] | w\d+a\d+
      | \d(?:\.\d+)?-?(?:bits?|bpw) | i?q\d+(?:_(?:k|0|1|xxs|xs|nl|[sml]))*(?:_(?:xl|xs))?
    )\Z""",
    re.VERBOSE,
)
"""Words for how the weights are packed: they say nothing about what they write."""

SIGN = Expression(r"<[^<>\s\"']*[>=]?|\]<\]\w+\[>\[|\[/?[A-Z_]{3,}\]|`{3}\w+|\u273f\w+\u273f")
"""A marker inside a written call."""

SENTINEL = "SENTINEL"

SENTINEL_TOOL = "sentinel_tool"
SENTINEL_ARGUMENTS = {"sentinel_key": "sentinel value"}
SENTINEL_SCHEMA = {"type": "object", "properties": {"sentinel_key": {"type": "string"}}}
QUESTION, RESULT = "sentinel question", "sentinel result"
"""Texts that models/server/renderer.py has a template write."""


class Template(NamedTuple):
    """A model's chat template."""

    text: str = ""
    rendered: tuple[str, ...] = ()
    """A conversation with a tool call as it writes it, perhaps in several ways."""


NO_TEMPLATE = Template()


class Detected(NamedTuple):
    dialect: Dialect
    why: str
    """In words that go after the dialect's name and a colon: `its name says so`."""


def choose_dialect(
    model: str,
    template: Template,
    capabilities: Sequence[str],
    dialects: Iterable[Dialect],
    learned: Learned = NOTHING_LEARNED,
) -> Detected:
    """Choose by what is known best; `capabilities` are those a server told, e.g. `tools`.

    `learned` is what models/memory.py recalls. It takes native calls away, never gives them.
    """
    available = {dialect.name: dialect for dialect in dialects}
    native = "tools" in capabilities and learned.native is not False
    if learned.dialect in available and (native or learned.dialect != NATIVE):
        reason = (
            f"it did best when it was probed on {learned.on}, {learned.right} of {learned.tasks}"
        )
        return Detected(available[learned.dialect], reason)
    if native:
        return Detected(available[NATIVE], "its server takes tools")
    dialect_by_name = choose_by_name(model, available.values())
    if detected := _by_any_template(template, available.values(), dialect_by_name):
        return detected
    if learned.instead in available:
        return Detected(available[learned.instead], learned.why)
    if dialect_by_name:
        return Detected(dialect_by_name, "its name says so")
    name, reason = _by_size(model)
    return Detected(available[name], reason)


def _by_any_template(
    template: Template, dialects: Collection[Dialect], dialect_by_name: Dialect | None
) -> Detected | None:
    """Choose by what a chat template writes for calls, else by the markers in its text."""
    if wrote := choose_by_rendering(template.rendered, dialects, dialect_by_name):
        return Detected(wrote, "its chat template writes its calls so")
    return choose_by_template(template.text, dialects, dialect_by_name) if template.text else None


def _by_size(model: str) -> tuple[str, str]:
    """The dialect for a model of which nothing else is known.

    Where the size is not known either, the dialogue: led by questions, a large model is slower
    than it could be; left to write JSON, a small one gets nothing done.
    """
    size = parse_billions(model)
    if size is None:
        return DIALOGUE, "nothing says what it writes, so it is led by questions"
    if size <= SMALL_BILLIONS:
        return DIALOGUE, "its name says that it is small, so it is led by questions"
    return OBJECT, "its name says that it is large enough to write JSON"


def describe_detection(name: str, origin: str, dialects: Mapping[str, Dialect]) -> Detected:
    """The dialect that somebody asked for; `origin` is where. Raises UsageError."""
    if name not in dialects:
        known_names = ", ".join(sorted(dialects))
        raise UsageError(f"{origin}: there is no dialect {name!r}. There are: {known_names}.")
    return Detected(dialects[name], f"{origin} says so")


# The name.


def bare_name(model: str) -> str:
    """In lower case, without vendor, folder, tag and the way the weights are packed."""
    name = _last_folded_name(model.strip())
    name = re.split(r"(?<=.)[:@]", name, maxsplit=1)[0].strip()
    while (shorter := SUFFIX.sub("", name)) != name and shorter:
        name = shorter
    return name


def choose_by_name(model: str, dialects: Iterable[Dialect]) -> Dialect | None:
    """The dialect whose pattern fits the name most specifically; None if none does."""
    name = bare_name(model)
    fits = [(_measure_fit(name, dialect.models), dialect.name, dialect) for dialect in dialects]
    size, _, dialect = max(fits, default=(0, "", None))
    return dialect if size else None


def _measure_fit(name: str, patterns: Sequence[str]) -> int:
    """The letters of the longest pattern that fits; 0 if none does, or one says no."""
    fitting: list[str] = []
    for pattern in patterns:
        if _compile_pattern(pattern.removeprefix("!")).search(name):
            fitting.append(pattern)
    if any(pattern.startswith("!") for pattern in fitting):
        return 0
    return max(map(_count_letters, fitting), default=0)


def _count_letters(pattern: str) -> int:
    return sum(character not in "-*?" for character in pattern)


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    text = pattern.lower()
    open_end = text.endswith("*")
    text = text.rstrip("*")
    expressions = [_write_part(text, position) for position in range(len(text))]
    number = r"(?!\d)" if text[-1:].isdigit() else ""
    ending = number if open_end else r"(?![a-z0-9]|\.\d)"
    return re.compile(r"(?<![a-z0-9])" + "".join(expressions) + ending)


def _write_part(text: str, position: int) -> str:
    """One character of a pattern as an expression, with what may stand before it."""
    character, following = text[position], text[position + 1 : position + 2]
    previous = text[:position].rstrip("-")[-1:]
    if character == "-":
        return "" if following.isdigit() else "[-_ ]?"
    if character == "." and previous.isdigit() and following.isdigit():
        return r"(?:[.p_]|-(?=\d+(?![a-z\d])))"  # `3-8b` is a size
    if character in WILDCARDS:
        return WILDCARDS[character]
    begins_version = previous.isalpha() or text[position - 1 : position] == "-"
    if character.isdigit() and begins_version:
        return f"[-_ ]?v?{character}"
    return re.escape(character)


WILDCARDS = {"*": ".*", "?": "."}


# The template.


def choose_by_rendering(
    renderings: Sequence[str], dialects: Iterable[Dialect], dialect_by_name: Dialect | None = None
) -> Dialect | None:
    """The dialect in which a rendered conversation holds its only call, arguments and all."""
    candidates = tuple(dialects)
    markers = Markers(candidates, [SENTINEL_TOOL], dialect_by_name.name if dialect_by_name else "")
    tool = {"name": SENTINEL_TOOL, "parameters": SENTINEL_SCHEMA}
    for text in renderings:
        # What stands before the question lists the tools, what follows the call is a result.
        call_text = text.rpartition(QUESTION)[2].partition(RESULT)[0]
        compiler = Compiler(markers, {SENTINEL_TOOL: {"type": "function", "function": tool}})
        compiler.feed(call_text)
        _, reply = compiler.finish()
        if any(request.arguments == SENTINEL_ARGUMENTS for request in reply.requests):
            return next(dialect for dialect in candidates if dialect.name == reply.dialect)
    return None


def opens_reasoning(template: str) -> bool:
    """Tell whether a chat template ends the prompt inside reasoning that it opens itself."""
    _, prompted, prompt = template[:MAX_CHARACTERS].rpartition("add_generation_prompt")
    return bool(prompted and OPENED.search(prompt))


OPENED = Expression(
    rf"(?:{'|'.join(re.escape(tag) for tag in REASONING if tag not in WORDY)})(?:\\n|\n)*['\"]"
)
"""A text in a template that ends after the opener; with its closer it switches thinking off."""


def choose_by_template(
    template: str, dialects: Iterable[Dialect], dialect_by_name: Dialect | None = None
) -> Detected | None:
    """The dialect and why. Where two have the same markers, the one that the name says."""
    text = template[:MAX_CHARACTERS]
    rated_dialects = [
        (rating, dialect is dialect_by_name, dialect.name, dialect)
        for dialect in dialects
        if (rating := _rate_marks(text, dialect)) is not None
    ]
    if not rated_dialects:
        return None
    dialect = max(rated_dialects)[-1]
    found_markers = sorted(marker for marker in template_marks(dialect) if marker in text)
    return Detected(dialect, f"its chat template writes {max(found_markers, key=len)}")


def _rate_marks(text: str, dialect: Dialect) -> int | None:
    """Rate how well the text shows the dialect; None if it does not.

    What counts is the length of its markers that are there, less that of those that are missing;
    end markers may be missing.
    """
    signs, start_markers = _find_signs(dialect), _start_markers(dialect)
    found_markers = {marker for marker in signs | start_markers if marker in text}
    missing_signs = _keep_openers(signs - found_markers)
    if not found_markers & start_markers and (not signs or missing_signs):
        return None
    return sum(map(len, found_markers)) - sum(map(len, missing_signs))


def template_marks(dialect: Dialect) -> set[str]:
    """List the markers that a template which teaches the dialect may hold."""
    return _keep_openers(_find_signs(dialect)) | _start_markers(dialect)


def _keep_openers(markers: set[str]) -> set[str]:
    return {marker for marker in markers if not marker.startswith(("</", "[/"))}


def _find_signs(dialect: Dialect) -> set[str]:
    """The markers of a call as the dialect writes it; a fence alone is none."""
    sample_call = dialect.write(ToolRequest(SENTINEL, {SENTINEL: SENTINEL})).replace(SENTINEL, " ")
    call_markers = {match[0] for match in SIGN.finditer(sample_call) if len(match[0]) > 2}
    return set() if all(marker.startswith("`") for marker in call_markers) else call_markers


def _start_markers(dialect: Dialect) -> set[str]:
    return {opener for opener in dialect.start_markers if SIGN.match(opener)}
