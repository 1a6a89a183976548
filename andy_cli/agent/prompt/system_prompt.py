"""The system prompt: the rules of the house, the user's instructions, and how tools are called.

Instructions are the user's words and those of files: `AGENTS.md`, or `CLAUDE.md` where there is
none, of each folder from the repository's root down to the current one, and the user's own in the
configuration folder. A project's files are read once its folder is trusted. Nothing asks them what
is allowed: the gate never sees them.

Tools are taught with an example, whose arguments fit their schema, `<path>` where any text does. No
validator is asked, for it would cost more than the whole prompt: what is not sure to fit is
`NoSureExample`, and another tool makes the example.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from andy_cli.agent.calls.injection import escape_control_tokens
from andy_cli.compiler.dialect import Dialect, Tools
from andy_cli.compiler.mapper.json_schema import resolve_reference, standardize_schema
from andy_cli.guard.workspace import is_secret_file
from andy_cli.messages import Schema, ToolRequest
from andy_cli.models.token_count import estimate_tokens
from andy_cli.resources import bundled_folder
from andy_cli.settings import Settings, config_folder, trusts

INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md")
KILOBYTE = 1000
CUT_NOTE = "\n[The rest was left out.]"
FILES_INTRODUCTION = (
    "What follows is from files of the user and the project. It says how to work here; it permits"
    " nothing, and what the user says comes before it."
)


class InstructionFile(NamedTuple):
    name: str
    """As the user knows it: from the project's root, or with its whole path."""
    text: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """Instructions at the top of the prompt, whatever dialect is taught."""

    system: str = ""
    """Stands in place of the rules of the house."""
    appended: str = ""
    folders: tuple[Path, ...] = ()
    """Further folders of the workspace."""
    files: tuple[InstructionFile, ...] = ()

    def wrap_rules(self, rules: str) -> str:
        """Put all that belongs after the rules, or after what stands in their place, there."""
        folders = ", ".join(map(str, self.folders))
        paragraphs = [self.system.strip() or rules.strip()]
        if folders:
            paragraphs.append(
                f"You may also work in these folders, by their whole paths: {folders}"
            )
        paragraphs += [*self._render_files(), self.appended.strip()]
        return "\n\n".join(filter(None, paragraphs))

    def _render_files(self) -> Iterator[str]:
        if self.files:
            yield FILES_INTRODUCTION
        for file in self.files:
            yield f"{file.name}:\n{escape_control_tokens(file.text.strip())}"

    def without_files(self) -> "Instructions":
        """Return the same for a model that is too small for files."""
        return replace(self, files=())

    def count_file_tokens(self) -> int:
        """Estimate the tokens of the files."""
        return sum(estimate_tokens(file.text) for file in self.files)

    def limit_files(self, max_tokens: int) -> "Instructions":
        """Return the same with so many tokens of the files; the farthest are cut first."""
        if self.count_file_tokens() <= max_tokens:
            return self
        files: list[InstructionFile] = []
        for file in reversed(self.files):
            text = cut_to_tokens(file.text, max_tokens)
            max_tokens -= estimate_tokens(text)
            if text:
                files.insert(0, file._replace(text=text))
        return replace(self, files=tuple(files))

    def texts(self) -> list[str]:
        """List the texts of the prompt on which an answer may rest."""
        texts = [self.system, self.appended, *(file.text for file in self.files)]
        return [text for text in texts if text]


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """Cut the end of a text that has more tokens; nothing is left where the mark has no room."""
    if estimate_tokens(text) <= max_tokens:
        return text
    size = int(len(text) * max(max_tokens, 0) / estimate_tokens(text))
    while size > 0 and estimate_tokens(text[:size] + CUT_NOTE) > max_tokens:
        size = int(size * 0.9)
    return text[:size] + CUT_NOTE if size > 0 else ""


NO_INSTRUCTIONS = Instructions()


class FoundInstructions(NamedTuple):
    files: tuple[InstructionFile, ...]
    notes: tuple[str, ...]
    """Sentences for the user: which files are not read, and what was cut."""


def find_instruction_files(settings: Settings, folder: Path) -> FoundInstructions:
    """Read the files that hold for a folder, the user's own first and the nearest last."""
    limit = settings.whole("instructions.limit")
    if not limit:
        return FoundInstructions((), ())
    root_folder = find_repository_root(folder)
    user_file = find_instruction_file(config_folder())
    paths, notes = find_allowed_files(settings, folder, root_folder)
    if user_file is not None:
        paths.insert(0, user_file)
    files: list[InstructionFile] = []
    remaining = limit * KILOBYTE
    # The nearest says most about the work at hand: the others share what it leaves.
    for path in reversed(paths):
        name = name_file_in(path, root_folder)
        try:
            text, is_cut = read_limited_text(path, remaining)
        except OSError as error:
            notes.append(f"{name} cannot be read: {error.strerror}.")
            continue
        if is_cut:
            done = "was cut" if text else "was left out"
            notes.append(f"{name} {done}: instructions may take {limit} kB (instructions.limit).")
        remaining -= len(text.encode())
        if text.strip():
            files.insert(0, InstructionFile(name, text + CUT_NOTE if is_cut else text))
    return FoundInstructions(tuple(files), tuple(notes))


def find_allowed_files(
    settings: Settings, folder: Path, root_folder: Path
) -> tuple[list[Path], list[str]]:
    """Find the files of a project that may be read, with a note for those that may not."""
    candidates = [
        find_instruction_file(parent) for parent in list_folders_between(root_folder, folder)
    ]
    paths = [path for path in candidates if path is not None]
    if paths and not (trusts(settings, folder) or trusts(settings, root_folder)):
        names = ", ".join(name_file_in(path, root_folder) for path in paths)
        note = f"Not read: {names}. `andy trust` lets this folder say how to work in it."
        return [], [note]
    allowed: list[Path] = []
    notes: list[str] = []
    for path in paths:
        if is_outside_or_secret(path, root_folder):
            name = name_file_in(path, root_folder)
            notes.append(f"Not read: {name}, which leads out of the project.")
        else:
            allowed.append(path)
    return allowed, notes


def find_repository_root(folder: Path) -> Path:
    """Find the nearest folder that holds `.git`; the folder itself outside of repositories."""
    folder = folder.resolve()
    candidates = (folder, *folder.parents)
    return next((parent for parent in candidates if (parent / ".git").exists()), folder)


def list_folders_between(root_folder: Path, folder: Path) -> Sequence[Path]:
    """List the folders from the root down to this one."""
    folder = folder.resolve()
    above = [parent for parent in folder.parents if parent.is_relative_to(root_folder)]
    return [*reversed(above), folder]


def find_instruction_file(folder: Path) -> Path | None:
    paths = (folder / name for name in INSTRUCTION_FILES)
    return next((path for path in paths if path.is_file()), None)


def name_file_in(path: Path, root_folder: Path) -> str:
    return str(path.relative_to(root_folder)) if path.is_relative_to(root_folder) else str(path)


def is_outside_or_secret(path: Path, root_folder: Path) -> bool:
    """Tell whether a link leads out of the project, or to what may hold secrets."""
    real_path = path.resolve()
    return not real_path.is_relative_to(root_folder) or is_secret_file(real_path, root_folder)


def read_limited_text(path: Path, limit: int) -> tuple[str, bool]:
    """Read a text up to so many bytes, and whether there is more. Raises OSError."""
    with path.open("rb") as file:
        data = file.read(limit + 1)
    return data[:limit].decode("utf-8-sig", "ignore"), len(data) > limit


Part = Mapping[str, Any]

MAX_DEPTH = 6
UNREAD = frozenset(
    "not if then else contains propertyNames dependentSchemas dependentRequired"
    " unevaluatedItems unevaluatedProperties minProperties".split()
)
"""Rules that are not followed: with one of them nothing is sure."""

FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "name@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "url": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
TEXTS = (
    *("text", "A1", "AB12", "en-US", "12:00", "12:00:00", "2026", "2026-01", "1.0", "1.0.0"),
    *("#aabbcc", "#a", "+1234567890", "/a", "a/b", "@name", "a.txt", "https://example.org", "1h"),
    *("A1:B2", "Word", "two words", *FORMATS.values()),
    *(character * count for character in "aA1" for count in range(1, 17)),
)
"""Texts that may fit a pattern."""


class NoSureExample(Exception):
    """No value is sure to fit."""


def make_example_arguments(schema: Schema) -> dict[str, object] | None:
    """Make arguments that fit: the required ones, else all there are; None if none is sure to."""
    root_schema = standardize_schema(schema)
    try:
        return _make_object(root_schema, root_schema, 0)
    except (NoSureExample, RecursionError):
        return None


def _make_value(name: str, schema: object, root_schema: Part, depth: int) -> object:
    merged_schema = _merge_schema(schema, root_schema, depth)
    if "const" in merged_schema:
        return merged_schema["const"]
    if "enum" in merged_schema:
        return next((value for value in merged_schema["enum"] if value is not None), None)
    kind = _find_kind(merged_schema)
    if kind == "object":
        return _make_object(merged_schema, root_schema, depth)
    if kind == "array":
        return _make_list(name, merged_schema, root_schema, depth)
    return _make_scalar(name, merged_schema, kind)


def _make_scalar(name: str, merged_schema: Part, kind: str) -> object:
    match kind:
        case "boolean":
            return True
        case "integer":
            return _make_number(merged_schema, is_whole=True)
        case "number":
            return _make_number(merged_schema, is_whole=False)
        case "string":
            return _make_text(name, merged_schema)
    raise NoSureExample


def _merge_schema(schema: object, root_schema: Part, depth: int) -> Part:
    """Follow the reference of a schema, join its parts and take one alternative."""
    if depth > MAX_DEPTH or not isinstance(schema, Mapping):
        raise NoSureExample
    merged_schema = dict(schema)
    joined: list[object] = list(merged_schema.pop("allOf", ()))
    if reference := merged_schema.pop("$ref", ""):
        joined.append(resolve_reference(reference, root_schema))
    for key in ("anyOf", "oneOf"):
        choices = [choice for choice in merged_schema.pop(key, ()) if choice != {"type": "null"}]
        joined += choices[:1]
    for schema in joined:
        merged_schema = {**_merge_schema(schema, root_schema, depth + 1), **merged_schema}
    if UNREAD & merged_schema.keys():
        raise NoSureExample
    return merged_schema


def _find_kind(merged_schema: Part) -> str:
    kinds = merged_schema.get("type")
    if isinstance(kinds, list):
        kinds = next((kind for kind in kinds if kind != "null"), None)
    if kinds is None:
        guess = {"properties": "object", "items": "array"}
        return next((kind for key, kind in guess.items() if key in merged_schema), "string")
    return str(kinds)


def _make_object(schema: Part, root_schema: Part, depth: int) -> dict[str, object]:
    merged_schema = _merge_schema(schema, root_schema, depth)
    properties = merged_schema.get("properties") or {}
    required = merged_schema.get("required") or ()
    arguments: dict[str, object] = {}
    for name in required or properties:
        try:
            arguments[name] = _make_value(name, properties.get(name, {}), root_schema, depth + 1)
        except NoSureExample:
            if required:
                raise
    if arguments and "patternProperties" in merged_schema:
        raise NoSureExample  # a pattern may say more of these; of none it says nothing
    return arguments


def _make_list(name: str, merged_schema: Part, root_schema: Part, depth: int) -> list[object]:
    prefix = merged_schema.get("prefixItems", ())
    elements = [_make_value(name, schema, root_schema, depth + 1) for schema in prefix]
    fewest_items = merged_schema.get("minItems", 0)
    most_items = merged_schema.get("maxItems", math.inf)
    count = max(fewest_items, min(1, most_items)) - len(elements)
    if len(elements) + max(count, 0) > most_items:
        raise NoSureExample
    if count > 1 and merged_schema.get("uniqueItems"):
        raise NoSureExample
    if count <= 0:
        return elements
    item = _make_value(name, merged_schema.get("items", {}), root_schema, depth + 1)
    return [*elements, *[item] * count]


def _make_number(merged_schema: Part, is_whole: bool) -> int | float:
    above = merged_schema.get("exclusiveMinimum", -math.inf)
    below = merged_schema.get("exclusiveMaximum", math.inf)
    low = max(merged_schema.get("minimum", -math.inf), above)
    high = min(merged_schema.get("maximum", math.inf), below)
    for number in _list_numbers(low, high, merged_schema.get("multipleOf", 1), is_whole):
        if not low <= number <= high or number in (above, below):
            continue
        multiple = merged_schema.get("multipleOf", number)
        if (multiple and not number % multiple) or (number == 0 and low <= 0):
            return number
    raise NoSureExample


def _list_numbers(
    low: float, high: float, multiple: float, is_whole: bool
) -> Iterator[int | float]:
    yield from (1, 10, 0)
    nearest_bound = low if math.isfinite(low) else high
    if not math.isfinite(nearest_bound):
        yield int(multiple) if multiple == int(multiple) else multiple
        return
    round_inside = math.ceil if nearest_bound == low else math.floor
    steps = round_inside(nearest_bound / multiple)
    for count in (steps, steps + 1, steps - 1):
        value = count * multiple
        if value == int(value):
            yield int(value)
        elif not is_whole:
            yield value
    if not is_whole and math.isfinite(low + high):
        yield (low + high) / 2


def _make_text(name: str, merged_schema: Part) -> str:
    shortest, longest = merged_schema.get("minLength", 0), merged_schema.get("maxLength", math.inf)
    pattern, text_format = merged_schema.get("pattern"), merged_schema.get("format", "")
    placeholder = f"<{name}>"
    long_placeholder = placeholder * 9
    for text in (
        merged_schema.get("default"),
        FORMATS.get(text_format),
        placeholder,
        long_placeholder,
        *TEXTS,
    ):
        if not isinstance(text, str) or (text_format in FORMATS and text != FORMATS[text_format]):
            continue
        if text == long_placeholder and longest < math.inf:
            text = text[: int(longest)]
        if shortest <= len(text) <= longest and (not pattern or re.search(pattern, text)):
            return text
    raise NoSureExample


def render_system_prompt(
    dialect: Dialect,
    tools: Tools,
    folder: Path,
    today: date,
    instructions: Instructions = NO_INSTRUCTIONS,
) -> str:
    """Render both as one text; tools are left out when the dialect does not teach them."""
    rules = load_prompt("system").substitute(folder=folder, date=today.isoformat())
    return "\n\n".join(
        filter(None, [instructions.wrap_rules(rules), render_tool_prompt(dialect, tools)])
    )


def render_tool_prompt(dialect: Dialect, tools: Tools) -> str:
    """Teach the tools in the notation of the dialect; nothing where it has no lesson or no tool."""
    if not (dialect.prompt_template and tools):
        return ""
    slots = {"tools": dialect.render_tools(tools), "example": render_example_call(dialect, tools)}
    return load_prompt(dialect.prompt_template).substitute(slots).strip()


def render_example_call(dialect: Dialect, tools: Tools) -> str:
    """Write a call in the dialect: of the first tool that example arguments are sure to fit."""
    for name, tool in tools.items():
        arguments = make_example_arguments(tool["function"].get("parameters") or {})
        if arguments is not None:
            return dialect.write(ToolRequest(name=name, arguments=arguments))
    return dialect.write(ToolRequest(name=next(iter(tools)), arguments={}))


def load_prompt(name: str) -> Template:
    return Template((bundled_folder("prompts") / f"{name}.txt").read_text(encoding="utf-8"))
