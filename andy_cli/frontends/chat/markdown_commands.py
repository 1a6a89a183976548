"""Slash commands in Markdown files: the user's own, and those of a project that is trusted.

    ---
    description: say what a change does
    argument-hint: FILE [LANGUAGE]
    ---
    Read $1 and say in $2 what changed in it. $ARGUMENTS is all that was typed.

`~/.config/andy/commands/review.md` is /review, `.andy/commands/git/commit.md` is /git:commit. What
such a file says is sent as the user's message and permits nothing: the places it names are not
taken for named by the user, no command line in it is run, and what else its front matter says is
passed over.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from andy_cli.agent.prompt.system_prompt import is_outside_or_secret, read_limited_text
from andy_cli.errors import UsageError
from andy_cli.frontends.chat.chat_session import ChatSession
from andy_cli.frontends.chat.slash_command import CommandPrompt, SlashCommand
from andy_cli.frontends.terminal.tables import shorten_text
from andy_cli.settings import Settings, config_folder, list_trusted_folders

MAX_BYTES = 64_000
"""Bytes of a file."""
MAX_FILES = 200
"""Files of a folder."""
MAX_DESCRIPTION = 100
"""Characters of what a command does that are shown."""
NAME = re.compile(r"\w[\w.-]*(?::\w[\w.-]*)*")
FRONT = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
SLOT = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")
UNDERSTOOD = ("description", "argument-hint")
UNTRUSTED = "Not offered: the commands in {folder}. `andy trust` lets this folder bring them."


class MarkdownCommand(NamedTuple):
    """A command as its file describes it."""

    name: str
    body: str
    fields: Mapping[str, str]

    @property
    def ignored(self) -> list[str]:
        return [field for field in self.fields if field not in UNDERSTOOD]

    def summary(self) -> str:
        first_line, _, _ = self.body.strip().partition("\n")
        summary = self.fields.get("description") or first_line.strip("# ")
        return shorten_text(summary, MAX_DESCRIPTION)


class FoundCommands(NamedTuple):
    commands: tuple[SlashCommand, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes for the user: which files are no commands, and why."""


def find_markdown_commands(settings: Settings, taken_names: Collection[str]) -> FoundCommands:
    """All commands in files, the user's before the project's; none has one of the `taken_names`."""
    commands: dict[str, SlashCommand] = {}
    notes: list[str] = []
    projects = list_trusted_folders(settings, Path.cwd())
    here = Path.cwd().resolve()
    untrusted_folder = here / ".andy" / "commands"
    if here not in projects and any(list_files(untrusted_folder)):
        notes.append(UNTRUSTED.format(folder=untrusted_folder))
    sources: list[tuple[Path, Path | None]] = [(config_folder() / "commands", None)]
    sources += [(project / ".andy" / "commands", project) for project in projects]
    for folder, of_project in sources:
        for path in list_files(folder):
            name = derive_name(path, folder)
            if fault := find_fault(path, of_project, name, {*taken_names, *commands}):
                notes.append(f"Not offered: {path}, {fault}.")
                continue
            try:
                commands[name] = make_command(read_file(name, path))
            except OSError as error:
                notes.append(f"{path} cannot be read: {error.strerror}.")
    return FoundCommands(tuple(commands.values()), tuple(notes))


def list_files(folder: Path) -> Iterable[Path]:
    try:
        # No pipe and no device: whoever reads one waits for ever.
        return islice((path for path in sorted(folder.rglob("*.md")) if path.is_file()), MAX_FILES)
    except OSError:
        return ()


def derive_name(path: Path, folder: Path) -> str:
    """`git/commit.md` is `git:commit`."""
    return ":".join(path.relative_to(folder).with_suffix("").parts).lower()


def find_fault(path: Path, project: Path | None, name: str, taken_names: Collection[str]) -> str:
    """Say why a file is not a command, or nothing."""
    if not NAME.fullmatch(name):
        return "whose name is none for a command"
    if name in taken_names:
        return f"there is a /{name} already"
    if project is not None and is_outside_or_secret(path, project):
        return "which leads out of the project"
    return ""


def read_file(name: str, path: Path) -> MarkdownCommand:
    """Read a command file. Raises OSError."""
    text, _ = read_limited_text(path, MAX_BYTES)
    front_matter = FRONT.match(text)
    if front_matter is None:
        return MarkdownCommand(name, text, {})
    fields = {key.lower(): value.strip("\"'") for key, value in FIELD.findall(front_matter[1])}
    return MarkdownCommand(name, text[front_matter.end() :], fields)


def make_command(command_file: MarkdownCommand) -> SlashCommand:
    usage = f"/{command_file.name} {command_file.fields.get('argument-hint', '')}".rstrip()
    return SlashCommand(
        command_file.name,
        usage,
        command_file.summary(),
        partial(send_command, command_file),
        takes_text=True,
    )


async def send_command(
    command_file: MarkdownCommand, session: ChatSession, argument: str
) -> CommandPrompt:
    """Make a message of it. Raises UsageError for an empty file, and what opening raises."""
    text = fill_in(command_file.body, argument).strip()
    if not text:
        raise UsageError(f"The file of /{command_file.name} says nothing.")
    conversation = (await session.open_conversation()).chat
    if command_file.ignored:
        names = ", ".join(command_file.ignored)
        session.tell(
            f"/{command_file.name}: {names} is passed over, a command widens no permission."
        )
    conversation.gate.note_user_paths(argument)  # what the user typed, and not what the file says
    return CommandPrompt(text, argument)


def fill_in(body: str, argument: str) -> str:
    """The body with what was typed in its slots; after it where it has none."""
    words = dict(enumerate(split_words(argument), 1))

    def value(slot_match: re.Match[str]) -> str:
        return argument if slot_match[1] == "ARGUMENTS" else words.get(int(slot_match[1]), "")

    filled, slots = SLOT.subn(value, body)
    return filled if slots or not argument else f"{filled.rstrip()}\n\n{argument}"


def split_words(argument: str) -> list[str]:
    """As a shell does; where quotation marks are left open, at blanks."""
    try:
        return shlex.split(argument)
    except ValueError:
        return argument.split()
