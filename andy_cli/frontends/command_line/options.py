"""The options of `andy`, `andy chat` and `andy run`: one table for all that reads or explains them.

The door reads a command line by it before Typer is loaded, `cli.py` makes Typer's parameters of
it, and the shell completes by it. A new option is a row here and a field of `Options`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

from andy_cli.errors import UsageError
from andy_cli.settings import Settings, load

AUTO = "auto"
"""The mode that -y stands for."""


@dataclass(frozen=True, slots=True)
class Options:
    """The values of the options that chat and run share."""

    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    set: Sequence[str] = ()
    no_session: bool = False
    plain: bool = False
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    mode: str = ""
    yes: bool = False
    mcp_config: Sequence[str] = ()
    system: str = ""
    append_system_prompt: str = ""
    cwd: str = ""
    add_dir: Sequence[str] = ()
    max_turns: str = ""
    max_tokens: str = ""
    continue_last: bool = False
    resume: str = ""
    """An id, its beginning, or ANY."""
    mode_origin: str = ""
    """The slash command that set the mode; empty where the flag did."""

    @property
    def resumes(self) -> bool:
        return self.continue_last or bool(self.resume)

    def settings(self) -> Settings:
        """The settings with these flags on top. Raises UsageError."""
        return load(self.set, self.flags(), origins={"guard.mode": self.mode_origin})

    def flags(self) -> dict[str, str]:
        """The settings that have a flag of their own, as they were given."""
        return {
            "model": self.model,
            "base_url": self.base_url,
            "api_key_env": self.api_key_env,
            "guard.mode": self._choose_mode(),
            "ui.plain": "true" if self.plain else "",
            "limits.rounds": self.max_turns,
            "max_tokens": self.max_tokens,
        }

    def _choose_mode(self) -> str:
        """Choose between -y, which is a mode, and one that is named. Raises UsageError for both."""
        if self.yes and self.mode not in ("", AUTO) and not self.mode_origin:
            raise UsageError(
                f"-y is the mode {AUTO}, and --permission-mode names {self.mode}.",
                "Give one of them.",
            )
        return AUTO if self.yes else self.mode

    def in_their_folder(self) -> "Options":
        """Go to the folder of --cwd; returns the options as they are to be read there.

        Files and folders in them are looked up from where the shell is. Raises UsageError.
        """
        entered = replace(
            self,
            system=read_text_or_file(self.system),
            append_system_prompt=read_text_or_file(self.append_system_prompt),
            add_dir=[find_folder(folder, "--add-dir") for folder in self.add_dir],
            mcp_config=[find_file(file, "--mcp-config") for file in self.mcp_config],
            cwd="",
        )
        if self.cwd:
            folder = find_folder(self.cwd, "--cwd")
            try:
                os.chdir(folder)
            except OSError as error:
                raise UsageError(f"--cwd: {folder} cannot be entered: {error.strerror}.") from error
        return entered


def read_text_or_file(written: str) -> str:
    """The text itself, or with an @ in front that of a file. Raises UsageError."""
    if not written.startswith("@"):
        return written
    path = Path(written[1:]).expanduser()
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise UsageError(f"{path} cannot be read: it is no text.") from error


def find_folder(written: str, flag_name: str) -> str:
    """The folder with its whole path. Raises UsageError where there is none."""
    folder = Path(written).expanduser()
    if not folder.is_dir():
        raise UsageError(f"{flag_name}: {written} is no folder.")
    return str(folder.resolve())


def find_file(written: str, flag_name: str) -> str:
    """The file with its whole path. Raises UsageError where there is none."""
    file = Path(written).expanduser()
    if not file.exists():
        raise UsageError(f"{flag_name}: there is no {written}.")
    if not file.is_file():
        raise UsageError(f"{flag_name}: {written} is no file.")
    return str(file.absolute())


ANY = "?"
"""The value of `--resume` where none was written: the user chooses."""
NO_ID = "-r needs the id of a session where nobody is there to choose one."
WHICH_ID = "`andy sessions list` shows them; -c takes the newest of this folder."


class Option(NamedTuple):
    """One option: how it is written, and what the shell offers after it."""

    written: str
    """Its flags, the first of which names its field."""
    about: str
    kind: type = str
    """str for one value, list for a value each time it is written, bool for none."""
    metavar: str = ""
    values: str = ""
    """A key of `completion_values.VALUES`."""
    default: str = ""
    alone: str = ""
    """Its value where it is written without one; then a word with a blank is none of its own."""
    named: str = ""
    """The field that it fills, where its flag does not name that."""

    @property
    def flags(self) -> list[str]:
        return self.written.split()

    @property
    def field(self) -> str:
        return self.named or self.flags[0].lstrip("-").replace("-", "_")


MODEL_OPTIONS = (
    Option("--model -m", "the model: NAME or PROVIDER:NAME", values="models"),
    Option("--base-url", "URL of an OpenAI-compatible server", values="addresses"),
    Option("--api-key-env", "environment variable that holds the API key", values="variables"),
)
COMMAND_SET = Option(
    "--set", "a setting for this command", list, metavar="KEY=VALUE", values="settings"
)
"""As commands take it that are not for talking to a model."""

SHARED_OPTIONS = (
    *MODEL_OPTIONS,
    COMMAND_SET._replace(about="a setting for this command; `andy config show` lists them"),
    Option("--no-session", "keep nothing of this session on disk", bool),
    Option("--plain", "print without colours, and never redraw", bool),
    Option(
        "--allow --allowed-tools",
        "allow this without asking: a tool, an effect such as write (`andy tools list` shows it),"
        " or a rule such as 'Bash(git log *)'; several with commas",
        list,
        metavar="RULE",
        values="rules",
    ),
    Option(
        "--deny --disallowed-tools",
        "never allow this; several with commas",
        list,
        metavar="RULE",
        values="rules",
    ),
    Option(
        "--permission-mode",
        "when to ask: ask, plan, edits or auto",
        metavar="MODE",
        values="modes",
        named="mode",
    ),
    Option("-y", "ask nothing: do all but what destroys (mode auto)", bool, named="yes"),
    Option("--mcp-config", "also use the MCP servers in this file", list, metavar="FILE"),
    Option(
        "--continue -c", "continue the newest session of this folder", bool, named="continue_last"
    ),
    Option(
        "--resume -r",
        "continue a session, by its id or the beginning of it; without ID choose from a list",
        metavar="[ID]",
        values="sessions",
        alone=ANY,
    ),
    Option("--system", "replace andy's system prompt", metavar="TEXT|@FILE"),
    Option("--append-system-prompt", "add this to andy's system prompt", metavar="TEXT|@FILE"),
    Option("--cwd", "work in this folder", metavar="DIR"),
    Option(
        "--add-dir",
        "allow another folder: to read in and, in mode edits, to write in",
        list,
        metavar="DIR",
    ),
)
"""The options that both chat and run take."""

RUN_OPTIONS = (
    Option("--prompt -p", "the task, instead of TASK"),
    Option(
        "--output-format -o",
        "format of stdout: text, json or stream-json",
        values="formats",
        default="text",
    ),
    Option("--json", "the same as -o json", bool),
    Option(
        "--max-turns",
        "stop after N rounds, which are requests to the model (exit code 4)",
        metavar="N",
    ),
    Option("--max-tokens", "longest reply of the model, in tokens", metavar="N"),
    Option("--timeout", "stop after so many seconds (exit code 4)", metavar="SECONDS"),
    Option("--verbose -v", "print each tool call with its arguments and time to stderr", bool),
    Option("--quiet -q", "print no progress to stderr", bool),
    Option(
        "--strict",
        "fail if the answer says what no result supports, or if something was not done",
        bool,
    ),
    Option("--no-wait", "do not wait for music to end: stop it and return", bool),
    Option("--no-stdin", "do not read stdin", bool),
)
"""The options that run alone takes."""

ROOT_OPTIONS = (
    Option("--print -p", "carry out one task, as `andy run` does", bool),
    *(
        option._replace(written="--prompt") if option.field == "prompt" else option
        for option in RUN_OPTIONS
    ),
)
"""Options that make it `andy run`. There -p needs no text right after it."""

Given = Mapping[str, object]
"""The value that each field was given: a text, a list of texts, or whether it was written."""


def make_options(given: Given) -> Options:
    """The options in what was given; what is no field of them is passed over."""
    names = {field.name for field in fields(Options)}
    values = {name: value for name, value in given.items() if name in names and value}
    # The table says of each field what it holds; a type checker cannot look into it.
    return Options(**cast("dict[str, Any]", values))


@dataclass(slots=True)
class CommandLine:
    """The content of a command line, as far as it can be read without knowing the commands."""

    given: dict[str, object]
    words: list[str]
    """The words that are neither an option nor its value."""
    written: list[str]
    """The options and their values, as they were written."""
    ended: bool = False
    """`--` was written: a word after it is no command."""
    unread: str = ""
    """The first option that is not known or lacks its value; nothing after it was looked at."""


def read_line(
    arguments: Iterable[str], options: Sequence[Option], to_first_word: bool = False
) -> CommandLine:
    """Sort the arguments into options and words, as Typer does.

    With `to_first_word` all that stands after the first word belongs to the words.
    """
    by_flag = {flag_name: option for option in options for flag_name in option.flags}
    line = CommandLine({}, [], [])
    remaining = iter(arguments)
    for word in remaining:
        if word == "--":
            line.ended = True
            line.words += remaining
        elif word == "-" or not word.startswith("-"):
            line.words.append(word)
            if to_first_word:
                line.words += remaining
        elif not take_option(line, word, remaining, by_flag):
            line.unread = word
            break
    return line


def fill_values(arguments: Sequence[str]) -> list[str]:
    """The arguments, with the value of each option that was written without one and may be."""
    alone = {
        flag_name: option.alone
        for option in SHARED_OPTIONS
        for flag_name in option.flags
        if option.alone
    }
    end = arguments.index("--") if "--" in arguments else len(arguments)
    filled = []
    for word, following in pairwise([*arguments[:end], ""]):
        filled.append(word)
        if word in alone and (not following or following.startswith("-") or " " in following):
            filled.append(alone[word])
    return [*filled, *arguments[end:]]


def take_option(
    line: CommandLine, word: str, remaining: Iterator[str], by_flag: Mapping[str, Option]
) -> bool:
    """Take an option with its value; False if it is not known or what follows is no value."""
    name, equals, value = word.partition("=")
    option = by_flag.get(name)
    if option is None or (option.kind is bool and equals):
        return False
    if option.kind is bool:
        line.given[option.field] = True
        line.written.append(word)
        return True
    if not equals:
        value = next(remaining, "")
    if not value or value.startswith("-"):
        return False
    line.written += [word] if equals else [word, value]
    if option.kind is list:
        given_values = cast("list[str]", line.given.setdefault(option.field, []))
        given_values.append(value)
    else:
        line.given[option.field] = value
    return True
