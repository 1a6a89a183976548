"""Judge a command line: allow, ask or deny, with the reason. Nothing is run or looked at.

    judge("ls -la | wc -l", "sh")           allow: every command only reads inside
    judge("make && ls", "sh")               ask: one of them may do anything
    judge("ls; rm -rf ~", "sh")             deny: one of them destroys

Every command of the line is judged, whatever it hides in: a pipe, a substitution, a wrapper, a
script given as text; the strictest verdict holds. What is not understood is asked. `inside` says
whether a path, as written from the workspace, really lies in it, and `locate` what a place really
is: neither links nor the home are seen here. `judge_in_workspace` looks them up.

Lines for cmd and PowerShell are judged by their words: no grammar of either is read. A line never
runs if a known way to destroy, to open a door or to send secrets out shows anywhere in it, carets
and quotes taken away. Made of plain words and pipes, with programs that are known to read, it is
allowed (yet where there is no sandbox, as on Windows, the gate asks for all of them); anything else
is asked. A path that leads to the home counts as the home; no `cd` is followed.
"""

import ast
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from andy_cli.guard.commands.bash import (
    MAX_CHARACTERS,
    ShellCommand,
    ShellLine,
    Word,
    read_shell_line,
)
from andy_cli.guard.commands.destructive_commands import EXFILTRATION, find_danger, program_name
from andy_cli.guard.commands.lookup import (
    MAX_SCRIPTS,
    MAX_WORDS,
    UNKNOWN,
    WORKSPACE,
    Locate,
    ShellFolder,
    interpreters,
    is_secret,
    is_secret_variable,
    load_pattern,
    load_table,
    output_options,
    program_set,
    resolve_place,
    running_programs,
    senders,
    split_behind_signs,
)
from andy_cli.guard.commands.read_only_commands import (
    Inside,
    doubt_about,
    judge_paths,
    read_only_programs,
    takes_unknown_names,
)
from andy_cli.guard.workspace import contain, locate_place

Level = Literal["allow", "ask", "deny"]
ORDER: tuple[Level, ...] = ("allow", "ask", "deny")


class CommandJudgement(NamedTuple):
    verdict: Level
    reason: str


def ask(reason: str) -> CommandJudgement:
    return CommandJudgement("ask", reason)


def deny(reason: str) -> CommandJudgement:
    return CommandJudgement("deny", reason)


def strictest(judgements: Iterable[CommandJudgement]) -> CommandJudgement:
    """The strictest verdict, the first of its kind; nothing at all is asked."""
    return max(
        judgements,
        key=lambda judgement: ORDER.index(judgement.verdict),
        default=ask("it says nothing"),
    )


MAX_WINDOWS_CHARACTERS = 8191
"""Commands that cmd itself takes."""

READS = {
    "cmd": "cd comp date dir echo fc find findstr hostname tasklist tree type ver vol where whoami",
    "powershell": "cat dir echo gc gci get-childitem get-content get-date get-filehash get-item "
    "get-location get-process gp gps hostname ls measure measure-object ps pwd select-object "
    "select-string sls sort-object test-path type whoami write-output",
}

ROOT = r"(?:[a-z]:[\\/]?(?:\*(?:\.\*)?)?|[\\/](?:\*(?:\.\*)?)?|~[\\/]?\*?)"
WINDOWS_HOME = (
    r"(?:%userprofile%|%homepath%|%homedrive%%homepath%|%systemroot%|%windir%|%systemdrive%|%programfiles\S*%"
    r"|%appdata%|%localappdata%|%programdata%|%public%|\$home|\$\{?env:(?:userprofile|home|systemroot|windir"
    r"|systemdrive|appdata|localappdata|programfiles|programdata|public|homepath|homedrive)\}?"
    r"|[a-z]:[\\/](?:windows|users|program ?files|programdata)|[\\/](?:windows|users)|/home"
    r"|/etc|/usr)"
)
VITAL = rf"(?:{WINDOWS_HOME}(?:[\\/][^\s\\/]*)?[\\/]?\*?(?:\.\*)?|{ROOT})(?=[\s,;|&)\]}}]|\Z)"
ANYWHERE = rf"[^|&;\n]{{0,999}}?[\s,(=]{VITAL}"
WINDOWS_STARTUP = (
    r"(?:start menu[\\/]programs[\\/]startup|shell:startup|\$profile|profile\.ps1"
    r"|currentversion[\\/]run"
    r"|\\winlogon|image file execution options|system32[\\/](?:drivers[\\/]etc[\\/]hosts|tasks"
    r"|config)"
    r"|\.ssh[\\/]|authorized_keys|\.git[\\/](?:hooks|config)|\.gitconfig|appinit_dlls|\\policies\\|\\services\\)"
)


@cache
def _denied_patterns() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    return tuple(
        (row["reason"], tuple(map(_compile_denied, row["patterns"])))
        for row in load_table("windows")["denied"]
    )


def _compile_denied(pattern_form: str) -> re.Pattern[str]:
    pattern = pattern_form.replace("<ANYWHERE>", ANYWHERE).replace("<STARTUP>", WINDOWS_STARTUP)
    return re.compile(pattern, re.IGNORECASE)


def judge_windows_line(
    line: str, shell: Literal["cmd", "powershell"], locate: Locate
) -> CommandJudgement:
    """Judge a line for one of the shells of Windows."""
    if len(line) > MAX_WINDOWS_CHARACTERS:
        return deny("it is too long to be judged")
    spellings = dict.fromkeys((line, _spell_home(line, locate)))
    dangers = [danger for spelling in spellings for danger in _find_dangers(spelling, shell)]
    return strictest([*dangers, _judge_windows_reading(line, shell)])


PATH = re.compile(r"\"[^\"]+\"|'[^']+'|(?<![^\s,;=(>|&])[^\s\"'/,;=()<>|&][^\s\"',;=()<>|&]*")


def _spell_home(line: str, locate: Locate) -> str:
    """Write the variable of the home in place of each path that leads to it."""

    def name_home(path: re.Match[str]) -> str:
        places = locate(f"{WORKSPACE}/{path[0].strip(QUOTES)}", False)
        below_home = next((place[2:] for place in places if place.startswith("/~")), None)
        return path[0] if below_home is None else f"%userprofile%{below_home}"

    return PATH.sub(name_home, line)


QUOTES = "\"'"


def _find_dangers(line: str, shell: str) -> Iterator[CommandJudgement]:
    escape = "^" if shell == "cmd" else "`"
    line = re.sub(r"[ \t]+", " ", line)
    unescaped = line.replace(escape, "")
    unquoted = unescaped.replace('"', "").replace("'", "")
    joined = re.sub(r"['\"]\s*\+\s*['\"]", "", unescaped)
    for text in dict.fromkeys((line, unescaped, unquoted, joined)):
        for reason, denied_patterns in _denied_patterns():
            if any(denied_pattern.search(text) for denied_pattern in denied_patterns):
                yield deny(reason)
        if load_pattern("windows", "sends").search(text) and _reads_secret(text):
            yield deny("it sends secrets out")


BETWEEN_WORDS = str.maketrans(dict.fromkeys("\"'=@,;|&<>()", " "))


def _reads_secret(text: str) -> bool:
    """Check whether a line names secrets or prints the environment."""
    if load_pattern("windows", "prints_environment").search(text):
        return True
    variables = load_pattern("windows", "variable").findall(text)
    if any(is_secret_variable(in_cmd or in_powershell) for in_cmd, in_powershell in variables):
        return True
    words = text.replace("\\", "/").translate(BETWEEN_WORDS).split()
    return any(is_secret(word) for word in words)


def _split_words(command: str) -> list[str]:
    """Split a command into its name, which may be empty, and what it is given."""
    pairs = re.findall(r'"([^"]*)"|([^\s"]+)', command)
    return [quoted or word for quoted, word in pairs] or [""]


def _is_harmless(word: str) -> bool:
    """Check whether a word is an option, or a file of the workspace that is no secret."""
    if load_pattern("windows", "option").fullmatch(word):
        return True
    is_name = load_pattern("windows", "plain_name").fullmatch(word) is not None
    return is_name and not is_secret(word.replace("\\", "/"))


def _judge_windows_reading(line: str, shell: Literal["cmd", "powershell"]) -> CommandJudgement:
    if not {"\n", "\r"}.isdisjoint(line.strip()):
        return ask("it has several lines")
    for command in line.split("|"):
        if not re.fullmatch(r"(?:[^\"'\s]|\"[^\"]*\"|\s)+", command):
            return ask("it is not clear what it is given")
        name, *arguments = _split_words(command)
        if name.lower() not in READS[shell].split():
            return ask(f"{name or 'nothing'} may do anything")
        for word in arguments:
            if not _is_harmless(word):
                return ask(f"{word} is not known to be harmless")
        if name.lower() == "date" and arguments != ["/t"]:
            return ask("date sets the clock")
    return CommandJudgement("allow", "it only reads inside the workspace")


Shell = Literal["sh", "cmd", "powershell"]
MAX_PIECES = 300
MAX_DEPTH = 4
"""Scripts inside scripts that are looked into."""

CONNECTION = re.compile(r"[<>]\s*[\"']?/dev/(?:tcp|udp)/")
FORK_BOMB = re.compile(r"(?<![\w:.])([\w:.]{1,40})\s*\(\)\s*\{[^}]{0,200}?\1\s*\|\s*\1\s*&")
SAFE_KINDS = frozenset("LNMPS")

MAX_LOOKED_UP = 1_000_000
"""Characters of the places of one line that are looked up: each folder of a path takes its time."""


class TooMuchToLookUp(Exception):
    """A line names more places than can be judged."""


def judge(
    line: str,
    shell: Shell = "sh",
    inside: Inside = lambda path: path[:1] != "/",
    locate: Locate = lambda place, follows: (),
) -> CommandJudgement:
    """Judge a command line as it would be given to the shell."""
    if not line.strip() or "\0" in line:
        return ask("it says nothing")
    if len(line) > MAX_CHARACTERS:
        return deny("it is too long to be judged")
    try:
        if shell == "sh":
            judged = strictest(_judge_commands(line, inside, ShellFolder(locate=locate), MAX_DEPTH))
        else:
            judged = judge_windows_line(line, shell, locate)
    except TooMuchToLookUp:
        return deny("it is too long to be judged")
    odd_characters = _find_odd_characters(line)
    return ask(odd_characters) if odd_characters and judged.verdict == "allow" else judged


def judge_in_workspace(line: str, workspace: Path, shell: Shell | None = None) -> CommandJudgement:
    """Judge a command line as it would run in a workspace of this machine: links are followed."""
    real_workspace, looked_up = workspace.resolve(), 0

    # Commands of one line speak of the same places again and again.
    @cache
    def locate(place: str, follows: bool) -> tuple[str, ...]:
        nonlocal looked_up
        looked_up += len(place)
        if looked_up > MAX_LOOKED_UP:
            raise TooMuchToLookUp
        return locate_place(place, follows, real_workspace)

    return judge(
        line,
        shell or ("cmd" if sys.platform == "win32" else "sh"),
        lambda path: contain(path, workspace, "list").verdict == "inside",
        locate,
    )


def _find_odd_characters(line: str) -> str:
    """Give the reason why the characters of a line may not be what they seem to be, or nothing."""
    for character in line:
        if character in " \n\t" or unicodedata.category(character)[0] in SAFE_KINDS:
            continue
        return f"it holds a character that is not seen, {character!a}"
    return ""


def _judge_commands(
    line: str, inside: Inside, folder: ShellFolder, deeper: int
) -> Iterator[CommandJudgement]:
    """A verdict on each command of a line, and on what they are together."""
    if FORK_BOMB.search(line):
        yield deny("it multiplies without end")
    if CONNECTION.search(line):
        yield deny("it opens a door to somebody else")
    shell_line = read_shell_line(line)
    if shell_line is None:
        yield deny("it is too much to be judged")
        return
    if shell_line.doubt:
        yield ask(shell_line.doubt)
        yield from _in_pieces(line, inside, folder, deeper)
    if "\\\n" in line:
        yield ask("a line goes on in the next")
    yield from _judge_together(shell_line, folder)
    # A `cd` holds for its own subshell, which begins where the one around it was.
    folders: dict[tuple[int, ...], ShellFolder] = {(): folder}
    for command in shell_line.commands:
        within = command.subshells
        outward = (within[:depth] for depth in range(len(within), -1, -1))
        command_folder = next(folders[shells] for shells in outward if shells in folders)
        yield from _judge_alone(command, shell_line, inside, command_folder, deeper)
        folders[within] = _folder_after(command, command_folder)


PIECES = re.compile(r"[;&|()\n{}`]|(?<!\S)(?:do|then|else|if|while|until|!)(?!\S)")


def _in_pieces(
    line: str, inside: Inside, folder: ShellFolder, deeper: int
) -> Iterator[CommandJudgement]:
    """Look for commands that never run between all that separates, in a line not understood."""
    if not deeper:
        return
    line_pieces = {line_piece.strip() for line_piece in PIECES.split(line)}
    line_pieces |= {re.sub(r"(?<!\S)!\s", "", line), re.sub(r"\((?=\()", "( ", line)}
    for line_piece in sorted(line_pieces - {"", line})[:MAX_PIECES]:
        yield from _find_denials(line_piece, inside, folder, 0)


def _find_denials(
    line: str, inside: Inside, folder: ShellFolder, deeper: int
) -> Iterator[CommandJudgement]:
    for judged in _judge_commands(line, inside, folder, deeper):
        if judged.verdict == "deny":
            yield judged


def _folder_after(command: ShellCommand, folder: ShellFolder) -> ShellFolder:
    """Follow `cd` to the folder in which the next command runs."""
    if command.texts[:1] not in (("cd",), ("pushd",)):
        return folder
    folder_arguments = [name for name in command.texts[1:] if not name.startswith("-")]
    return folder.enter(folder_arguments[0] if folder_arguments else "~")


def _judge_alone(
    command: ShellCommand, shell_line: ShellLine, inside: Inside, folder: ShellFolder, deeper: int
) -> Iterator[CommandJudgement]:
    """Verdicts on one command: it destroys, what it wraps does, or whether it only reads."""
    writes = [value for target in command.writes for value in target.values]
    reading_judgement = _judge_reading(command, inside, folder)
    if takes_unknown_names(command, shell_line.commands):
        reading_judgement = ask("xargs runs something else")
    only_reads = reading_judgement.verdict == "allow"
    for words in _command_readings(command, shell_line):
        if reason := find_danger(words, writes, folder):
            yield deny(reason)
            continue
        program = program_name("".join(words[:1]))
        if only_reads or program not in running_programs():
            continue
        if program in ("xargs", "parallel"):
            words = [*words, *_input_words(command, shell_line)]
        yield from _judge_wrapped(words, inside, folder, deeper)
    yield reading_judgement


def _input_words(command: ShellCommand, shell_line: ShellLine) -> list[str]:
    """The words that a command may be given as its input."""
    texts = [value for item in command.given for value in item.values]
    for number in command.fed_by:
        texts += shell_line.commands[number].texts[1:]
    return [word for text in texts for word in text.split()]


def _command_readings(command: ShellCommand, shell_line: ShellLine) -> Iterator[list[str]]:
    """The words of a command, by every value of its variables and by what flows into them."""
    choices = [word.values for word in command.words]
    unknown = any(UNKNOWN in value for values in choices for value in values)
    flowing = _input_words(command, shell_line) if unknown else []
    for count in range(max(map(len, choices), default=1)):
        words = [values[count % len(values)] for values in choices]
        yield words
        for text in flowing:
            yield [word.replace(UNKNOWN, text) for word in words]


def _judge_wrapped(
    words: Sequence[str], inside: Inside, folder: ShellFolder, deeper: int
) -> Iterator[CommandJudgement]:
    """Judge what stands after a program that runs others: as words, and as a script in one word.

    Which of the words belong to the wrapper is not worked out: each may be the first of a command.
    """
    yield ask(f"{program_name(words[0])} runs something else")
    for index in (
        range(1, min(len(words), MAX_WORDS)) if _may_run_words(program_name(words[0])) else ()
    ):
        if reason := find_danger(words[index:], (), folder):
            yield deny(reason)
    if not deeper:
        return
    for script in _list_scripts(words):
        yield from _find_denials(script, inside, folder, deeper - 1)


def _may_run_words(program: str) -> bool:
    """Tell whether a word behind a program that runs others may be a command. Those of `awk` are
    its script and files."""
    return program not in interpreters() or program not in read_only_programs()


def _list_scripts(words: Sequence[str]) -> Iterator[str]:
    """List words that may be scripts, each with what is quoted in it."""
    scripts = [word for word in words[1:] if re.search(r"[\s;|&<>`]", word)]
    if program_name(words[0]) in ("eval", "trap"):
        scripts.append(" ".join(words[1:]))
    for script in scripts[:MAX_SCRIPTS]:
        yield script
        yield from re.findall(r"[\"']([^\"']*\s[^\"']*)[\"']", script)[:MAX_SCRIPTS]


def _judge_reading(command: ShellCommand, inside: Inside, folder: ShellFolder) -> CommandJudgement:
    """Allow what only reads inside; ask otherwise."""
    if reason := _find_reading_reason(command, inside, folder):
        return ask(reason)
    return CommandJudgement("allow", "it only reads inside the workspace")


def _find_reading_reason(command: ShellCommand, inside: Inside, folder: ShellFolder) -> str:
    """Give the reason why a command may do more than read inside, or nothing."""
    for target in command.writes:
        if target.text != "/dev/null" or not target.plain:
            return f"it writes to {target.literal}"
    if not all(read.plain for read in command.reads):
        return "it is not clear what it reads"
    if reason := judge_paths([read.text for read in command.reads], folder, inside):
        return reason
    return doubt_about(command.words, folder, inside) if command.words else "it is no command"


def _judge_together(shell_line: ShellLine, folder: ShellFolder) -> Iterator[CommandJudgement]:
    """Judge what the commands do together: run what was fetched, send what is secret."""
    commands = shell_line.commands
    fetching = {number for number, command in enumerate(commands) if _is_fetching(command)}
    fetched = {name for number in fetching for name in _list_fetched_files(commands, number)}
    for number, command in enumerate(commands):
        if command.words and _runs_fetched(command, number, fetching, fetched):
            yield deny("it runs what it just fetched")
    if _sends_secret(commands, folder):
        yield deny(EXFILTRATION)


def _sends_secret(commands: Sequence[ShellCommand], folder: ShellFolder) -> bool:
    """Check whether one command sends something out and one, perhaps another, touches secrets."""
    return any(map(_is_sending, commands)) and any(
        _touches_secret(command, folder) for command in commands
    )


def _runs_fetched(
    command: ShellCommand, number: int, fetching: set[int], fetched: set[str]
) -> bool:
    """Check whether a command runs what others of the line fetch, from its input or a file."""
    is_interpreter = bool(_program_names(command) & interpreters())
    if is_interpreter and fetching & set(command.fed_by) and not _is_fed_data(command):
        return True
    return bool(fetching - {number}) and _uses_fetched(command, is_interpreter, fetched)


def _is_fed_data(command: ShellCommand) -> bool:
    """Check whether an interpreter takes its script from its words, and that runs no input."""
    if not all(word.is_exact for word in command.words):
        return False
    match command.texts:
        case ("python" | "python3", "-c", code, *_):
            return _only_reads_data(code)
        case ("python" | "python3", "-m", module, *_):
            return module in program_set("data_modules")
    return not doubt_about(command.words, ShellFolder(), lambda path: True)


def _only_reads_data(code: str) -> bool:
    """Check whether Python code imports nothing but what reads data, and names nothing that runs
    a text."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imports = [node for node in nodes if isinstance(node, ast.Import)]
    imported = {alias.name for node in imports for alias in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    runs_input = load_pattern("programs", "runs_input_in_code").search(code) is not None
    return imported <= program_set("data_imports") and not runs_input


def _program_names(command: ShellCommand) -> set[str]:
    """The programs a command may run: its own, and those after a wrapper."""
    words = [value for word in command.words for value in word.values]
    if not words:
        return set()
    own_program = program_name(words[0])
    if own_program in program_set("wrappers"):
        return {own_program, *map(program_name, words[1:])}
    return {own_program}


def _is_fetching(command: ShellCommand) -> bool:
    """Check for programs that fetch; git and archives of packages bring programs too."""
    if _program_names(command) & program_set("fetchers"):
        return True
    fetches = not {"clone", "pull", "fetch", "submodule"}.isdisjoint(command.texts)
    return fetches and command.texts[0] == "git"


def _is_sending(command: ShellCommand) -> bool:
    if _program_names(command) & senders():
        return True
    files = (*command.writes, *command.reads)
    return any(word.text.startswith(("/dev/tcp/", "/dev/udp/")) for word in files)


def _list_fetched_files(commands: Sequence[ShellCommand], number: int) -> Iterator[str]:
    """List the names of files a fetched text goes into."""
    yield from _list_outputs(commands[number].texts)
    for index, command in enumerate(commands):
        if index == number or number in command.fed_by:
            targets = (*command.writes, *_list_tee_words(command))
            yield from (program_name(target.text) for target in targets)


def _list_outputs(words: Sequence[str]) -> Iterator[str]:
    """List the names that a fetching command may give to what it fetches."""
    flags = output_options(program_name(words[0])) or ("-o", "-O")
    for previous_word, word in pairwise(words):
        if previous_word in flags or "/" in word:
            yield program_name(word.partition("?")[0])
        if glued := re.match(r"-[oO]|--out[^=]*=?", word):
            yield program_name(word[glued.end() :])


def _list_tee_words(command: ShellCommand) -> list[Word]:
    """List the words behind `tee`, also after a wrapper; its files are among them."""
    words = [word for word in command.words if word.text[:1] != "-"]
    position = next((at for at, word in enumerate(words[:2]) if word.text == "tee"), len(words))
    return words[position + 1 :]


X_BITS = frozenset("x1357")
"""In a mode, what makes a file a program."""


def _uses_fetched(command: ShellCommand, is_interpreter: bool, fetched: set[str]) -> bool:
    """Check whether a command runs one of the files, or something by its path."""
    name, *words = command.texts
    read_files = [read.text for read in command.reads]
    named_files = {program_name(word) for word in words + read_files}
    mode = "".join(words[:1])
    makes_executable = program_name(name) in ("chmod", "install") and not X_BITS.isdisjoint(mode)
    if (is_interpreter or makes_executable) and named_files & (fetched - {""}):
        return True
    is_local = "/" in name and not name.startswith(("/usr/", "/bin/", "/sbin/", "/opt/"))
    return is_local or program_name(name) in fetched - program_set("fetchers")


def _touches_secret(command: ShellCommand, folder: ShellFolder) -> bool:
    """Check whether a command touches secrets or prints the environment."""
    return _prints_environment(command) or any(
        _names_secret(word, folder) for word in (*command.words, *command.reads)
    )


def _prints_environment(command: ShellCommand) -> bool:
    words = [value for word in command.words for value in word.values]
    if not words or program_name(words[0]) not in program_set("dumps"):
        return False
    return all(word.startswith("-") for word in words[1:])


def _names_secret(word: Word, folder: ShellFolder) -> bool:
    if "$" in word.literal and is_secret_variable(word.literal):
        return True
    return any(
        is_secret(named_place)
        for value in word.values
        for named_place in _named_places(value, folder)
    )


def _named_places(value: str, folder: ShellFolder) -> Iterator[str]:
    """The places a word may name: the whole, and what stands after `@`, `=` or `:`."""
    for value_part in {value, *split_behind_signs(value)}:
        if value_part and "://" not in value_part:
            yield resolve_place(value_part, folder)
