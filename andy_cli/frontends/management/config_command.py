"""`andy config show|get|set|unset|edit|path`: the settings in force, and where each comes from."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from andy_cli.compiler.detect import describe_detection
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.errors import UsageError
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.redactor import redact_text, redact_value, secrets_of
from andy_cli.guard.rules import parse_rules
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.settings import (
    Settings,
    Value,
    check_key,
    config_folder,
    load,
    load_what_fits,
    remove,
    replace_file,
    save,
)

TEMPLATE = "# Settings of andy. `andy config show` lists the keys with their values.\n"
EDITORS = ("nano", "vim", "vi", "notepad")
"""Tried in this order where neither $VISUAL nor $EDITOR names one."""
RULES = ("guard.allow", "guard.ask", "guard.deny")


def show_settings(overrides: Sequence[str], as_json: bool) -> None:
    """Print every setting with its value and its origin, secrets left out."""
    settings = load(overrides)
    if as_json:
        print_json([make_setting_record(key, value) for key, value in settings.items()])
        return
    print_table(list_settings(settings))
    for note in settings.notes:
        sys.stderr.write(neutralize_text(f"andy: {note}") + "\n")


def list_settings(settings: Settings) -> list[tuple[str, ...]]:
    """Key, value with its unit, and origin of every setting, secrets left out."""
    rows: list[tuple[str, ...]] = []
    for key, value in settings.items():
        record = make_setting_record(key, value)
        unit = check_key(key).unit
        shown_value = f"{value.value:.15g} {unit}" if unit else format_value(record["value"])
        rows.append((key, shown_value, str(record["origin"])))
    return [tuple(map(neutralize_text, row)) for row in rows]


def get_setting(key: str, overrides: Sequence[str], as_json: bool) -> None:
    """Print one value. Raises UsageError for a key that is none, or that was not set."""
    record = find_setting(load(overrides), key)
    if as_json:
        print_json(record)
    else:
        sys.stdout.write(neutralize_text(format_value(record["value"])) + "\n")


def find_setting(settings: Settings, key: str) -> dict[str, object]:
    """One setting as a record. Raises UsageError for a key that is none, or that was not set."""
    check_key(key)
    current_settings = dict(settings.items())
    if key not in current_settings:
        raise UsageError(f"{key} is not set.", f"`andy config set {key} VALUE` sets it.")
    return make_setting_record(key, current_settings[key])


def set_setting(key: str, value: str) -> None:
    """Keep a value in the user's file. Raises UsageError for what does not fit the key."""
    path, instead = keep_setting(key, value)
    sys.stdout.write(f"Kept in {path}.\n")
    if instead:
        sys.stderr.write(f"andy: {instead}\n")


def keep_setting(key: str, value: str) -> tuple[Path, str]:
    """Keep a value; returns the file, and a sentence where something else comes before it, or
    keeps the settings from being used.

    Raises UsageError for what does not fit the key.
    """
    check_key(key)
    address = "://" in value  # may hold a password, which is not shown
    if not address and redact_text(value, secrets_of(os.environ)) != value:
        raise UsageError(
            "This looks like a secret, and settings hold none.",
            "Put it into an environment variable; `api_key_env` names that variable.",
        )
    if key in RULES:
        given_settings, _ = load_what_fits((f"{key}={value}",))
        written_rules = parse_rules(given_settings.texts(key), (), ()).deny
        path = save(key, [rule.text for rule in written_rules])
    else:
        if key == "dialect" and value != "auto":
            describe_detection(value, "the value", dialects_by_name())
        path = save(key, value)
    current_settings, faults = load_what_fits()
    if faults:  # it is kept; something else in the file keeps all of it from being read
        return path, f"{faults[0]}"
    origin = current_settings[key].origin
    return path, "" if origin == str(path) else f"{origin} comes before it and is used instead."


def unset_setting(key: str) -> None:
    """Remove a value from the user's file, and print what holds now. Raises UsageError where it
    does not stand there."""
    path = remove(key)
    if path is None:
        check_key(key)
        raise UsageError(f"{key} does not stand in {config_folder() / 'config.toml'}.")
    sys.stdout.write(f"Removed from {path}.\n")
    current_settings, faults = load_what_fits()
    if faults:  # something else in the file keeps all of it from being read
        sys.stderr.write(f"andy: {faults[0]}\n")
    elif current := dict(current_settings.items()).get(key):
        record = make_setting_record(key, current)
        shown_value = format_value(record["value"])
        words = "empty" if shown_value == "-" else shown_value
        shown = f"It is {words} now ({record['origin']})."
        sys.stdout.write(neutralize_text(shown) + "\n")


def edit_settings() -> int:
    """Open the user's file in an editor and check what was written; returns the exit code."""
    path = config_folder() / "config.toml"
    command = find_editor(os.environ)
    try:
        if not path.exists():
            replace_file(path, TEMPLATE)
        code = subprocess.call([*command, str(path)])
    except OSError as error:
        raise UsageError(
            f"{path} cannot be edited by {command[0]}: {error.strerror}.",
            "$VISUAL, and else $EDITOR, is the command that starts your editor.",
        ) from error
    if code:
        raise UsageError(f"{command[0]} ended with exit code {code}.", f"The file is {path}.")
    load()
    return 0


def suggest_edit(file: Path | str) -> str:
    """The command that opens a file which is not the user's own settings."""
    return f"${{EDITOR:-vi}} {shlex.quote(str(file))}"


def find_editor(environment: Mapping[str, str]) -> list[str]:
    """The user's editor with its arguments. Raises UsageError where there is none."""
    for name in ("VISUAL", "EDITOR"):
        if written := environment.get(name, "").strip():
            try:
                return shlex.split(written)
            except ValueError as error:
                raise UsageError(f"${name} cannot be read: {error}.") from error
    editor_path = next((path for name in EDITORS if (path := shutil.which(name))), None)
    if editor_path is None:
        raise UsageError("There is no editor.", "Set $EDITOR to the command that starts yours.")
    return [editor_path]


def show_path(as_json: bool) -> None:
    """Print where the user's file is, whether or not it exists."""
    path = config_folder() / "config.toml"
    if as_json:
        print_json({"path": str(path), "exists": path.is_file()})
    else:
        sys.stdout.write(f"{path}\n")


def make_setting_record(key: str, value: Value) -> dict[str, object]:
    """A setting as JSON, without the secrets that an address or a command may hold."""
    secrets = secrets_of(os.environ)
    json_value = list(value.value) if isinstance(value.value, tuple) else value.value
    return {
        "key": key,
        "value": redact_value(json_value, secrets),
        "origin": redact_text(value.origin, secrets),
    }


def format_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return os.pathsep.join(map(str, value)) or "-"
    return str(value) or "-"
