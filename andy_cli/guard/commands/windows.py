"""Command lines for cmd and PowerShell, judged by their words.

No grammar of either is read. A line never runs if a known way to destroy, to open a door or to send
secrets out shows anywhere in it, carets and quotes taken away. Made of plain words and pipes, with
programs that are known to read, it is allowed (yet where there is no sandbox, as on Windows, the
gate asks for all of them); anything else is asked. A path that leads to the home counts as the
home; no `cd` is followed.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from andy_cli.guard.commands.lookup import (
    WORKSPACE,
    Locate,
    is_secret,
    is_secret_variable,
    load_pattern,
    load_table,
)
from andy_cli.guard.commands.verdict import CommandJudgement, ask, deny, strictest

MAX_CHARACTERS = 8191
"""Commands that cmd itself takes."""

READS = {
    "cmd": "cd comp date dir echo fc find findstr hostname tasklist tree type ver vol where whoami",
    "powershell": "cat dir echo gc gci get-childitem get-content get-date get-filehash get-item "
    "get-location get-process gp gps hostname ls measure measure-object ps pwd select-object "
    "select-string sls sort-object test-path type whoami write-output",
}

ROOT = r"(?:[a-z]:[\\/]?(?:\*(?:\.\*)?)?|[\\/](?:\*(?:\.\*)?)?|~[\\/]?\*?)"
HOME = (
    r"(?:%userprofile%|%homepath%|%homedrive%%homepath%|%systemroot%|%windir%|%systemdrive%|%programfiles\S*%"
    r"|%appdata%|%localappdata%|%programdata%|%public%|\$home|\$\{?env:(?:userprofile|home|systemroot|windir"
    r"|systemdrive|appdata|localappdata|programfiles|programdata|public|homepath|homedrive)\}?"
    r"|[a-z]:[\\/](?:windows|users|program ?files|programdata)|[\\/](?:windows|users)|/home"
    r"|/etc|/usr)"
)
VITAL = rf"(?:{HOME}(?:[\\/][^\s\\/]*)?[\\/]?\*?(?:\.\*)?|{ROOT})(?=[\s,;|&)\]}}]|\Z)"
ANYWHERE = rf"[^|&;\n]{{0,999}}?[\s,(=]{VITAL}"
STARTUP = (
    r"(?:start menu[\\/]programs[\\/]startup|shell:startup|\$profile|profile\.ps1"
    r"|currentversion[\\/]run"
    r"|\\winlogon|image file execution options|system32[\\/](?:drivers[\\/]etc[\\/]hosts|tasks"
    r"|config)"
    r"|\.ssh[\\/]|authorized_keys|\.git[\\/](?:hooks|config)|\.gitconfig|appinit_dlls|\\policies\\|\\services\\)"
)


@cache
def _denied_patterns() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    return tuple(
        (
            row["reason"],
            tuple(
                re.compile(_fill_pattern(pattern_form), re.IGNORECASE)
                for pattern_form in row["patterns"]
            ),
        )
        for row in load_table("windows")["denied"]
    )


def _fill_pattern(pattern_form: str) -> str:
    return pattern_form.replace("<ANYWHERE>", ANYWHERE).replace("<STARTUP>", STARTUP)


def judge(line: str, shell: Literal["cmd", "powershell"], locate: Locate) -> CommandJudgement:
    """Judge a line for one of the shells of Windows."""
    if len(line) > MAX_CHARACTERS:
        return deny("it is too long to be judged")
    spellings = dict.fromkeys((line, _spell_home(line, locate)))
    dangers = [danger for spelling in spellings for danger in _find_dangers(spelling, shell)]
    return strictest([*dangers, _judge_reading(line, shell)])


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


def _judge_reading(line: str, shell: Literal["cmd", "powershell"]) -> CommandJudgement:
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
