"""The environment of a command: all that programs need, and no keys (P4)."""

import re
from collections.abc import Mapping
from pathlib import Path

from andy_cli.guard.commands.lookup import is_secret_variable
from andy_cli.guard.redactor import redact_text, secrets_of
from andy_cli.toolbox.programs import search_path

KEPT_VARIABLES = re.compile(
    r"HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|TMPDIR|TEMP|TMP|PWD|DISPLAY"
    r"|WAYLAND_DISPLAY|XDG_\w+|SSH_AUTH_SOCK|SYSTEMROOT|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA"
)
"""Never taken for a secret."""

COMMANDS = re.compile(r"BASH_FUNC_.*|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4")
"""A shell runs or obeys these before, or instead of, the line it is given."""


def clean_environment(
    environment: Mapping[str, str], session_id: str = "", without: Path | None = None
) -> dict[str, str]:
    """The environment of a command. Without variables whose name or value looks like a key, and
    with `AGENT`, by which programs know who started them. In `without` no programs are looked for.
    """
    secrets = secrets_of(environment)
    secret_values = {value for name, value in environment.items() if is_secret_variable(name)}
    cleaned = {
        name: value
        for name, value in environment.items()
        if KEPT_VARIABLES.fullmatch(name)
        or (value not in secret_values and _is_harmless(name, value, secrets))
    }
    if "PATH" in environment:
        cleaned["PATH"] = search_path(environment["PATH"], without)
    cleaned["AGENT"] = "andy"
    if session_id:
        cleaned["AGENT_SESSION_ID"] = session_id
    return cleaned


def _is_harmless(name: str, value: str, secrets: tuple[str, ...]) -> bool:
    if COMMANDS.fullmatch(name):
        return False
    written = f"{name}={value}"
    return redact_text(value, secrets) == value and redact_text(written, secrets) == written
