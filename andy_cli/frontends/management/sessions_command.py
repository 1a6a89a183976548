"""`andy sessions list|show|search|rename|export|rm`."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.management.session_text import render_messages
from andy_cli.frontends.session_choice import describe_damage, format_age, label_session
from andy_cli.frontends.session_factory import sessions_folder
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.redactor import redact_text, redact_value, secrets_of
from andy_cli.guard.terminal_sanitizer import neutralize_text, one_line
from andy_cli.messages import Message
from andy_cli.sessions.log import count_damaged_lines, make_record, read, read_whole
from andy_cli.sessions.store import (
    SessionCard,
    find_session,
    list_sessions,
    remove_session,
    rename_session,
)

CONTEXT_CHARACTERS = 40
"""Characters that are shown before and after what was searched for."""
MAX_NAME_LENGTH = 100


def list_all(everywhere: bool, as_json: bool) -> None:
    cards = list(list_sessions(sessions_folder(), None if everywhere else Path.cwd()))
    if as_json:
        print_json([make_card_record(session_card) for session_card in cards])
    elif not cards:
        empty_note = "There are no sessions yet."
        if not everywhere:
            empty_note = (
                f"No session was held in {Path.cwd()} yet; --all lists those of other folders."
            )
        sys.stderr.write(f"andy: {empty_note}\n")
    else:
        print_table([format_row(session_card, everywhere) for session_card in cards])


def format_row(session_card: SessionCard, everywhere: bool) -> list[str]:
    folder = [one_line(session_card.folder or "?")] if everywhere else []
    return [session_card.id, format_age(session_card.changed), *folder, label_session(session_card)]


def make_card_record(session_card: SessionCard) -> dict[str, object]:
    changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(session_card.changed))
    return {
        "id": session_card.id,
        **session_card.as_record(),
        "changed": changed,
        "bytes": session_card.size,
    }


def find_card(id: str) -> SessionCard:
    return find_session(sessions_folder(), id)


def read_messages(session_card: SessionCard) -> Iterator[dict[str, object]]:
    """Read the messages, redacted anew: older versions did not know every secret."""
    secrets = secrets_of(os.environ)
    for message in read(session_card.path):
        record = redact_value(make_record(message), secrets)
        assert isinstance(record, dict)
        yield record


def tell_damage(session_card: SessionCard) -> None:
    """Say on stderr how much of a session cannot be read, where something cannot."""
    lines = read_whole(session_card.path).split(b"\n")[:-1]
    if damaged_lines := count_damaged_lines(lines):
        sys.stderr.write(f"andy: {describe_damage(damaged_lines)}\n")


def show_session(id: str, as_json: bool) -> None:
    session_card = find_card(id)
    tell_damage(session_card)
    if as_json:
        sys.stdout.writelines(render_json(session_card))
        return
    screen = neutralize_text if sys.stdout.isatty() else str
    for text_piece in render_markdown(session_card):
        sys.stdout.write(screen(text_piece))


def search_sessions(text: str, everywhere: bool, as_json: bool) -> int:
    """Print where a text was said; returns the exit code."""
    if not text.strip():
        raise UsageError("There is nothing to search for.", "Give some text.")
    matches = []
    for session_card in list_sessions(sessions_folder(), None if everywhere else Path.cwd()):
        for match in find_places(session_card, text):
            matches.append(match)
            if not as_json:
                line = f"{session_card.id}  {match['role']}: {one_line(str(match['text']))}"
                sys.stdout.write(f"{line}\n")
    if as_json:
        print_json(matches)
    elif not matches:
        searched_sessions = (
            "any session" if everywhere else "a session of this folder; --all searches all"
        )
        sys.stderr.write(f"andy: {text!r} was not said in {searched_sessions}.\n")
    return 0 if matches else 1


def find_places(session_card: SessionCard, text: str) -> Iterator[dict[str, object]]:
    """The messages of a session that hold a text, each with the words around its first place."""
    secrets = secrets_of(os.environ)
    folded_text = text.casefold()
    for message in read_or_skip(session_card):
        # Sought as it stands, shown redacted; what andy told the model is nobody's words.
        if message.note or folded_text not in message.content.casefold():
            continue
        content = redact_text(message.content, secrets)
        position = content.casefold().find(folded_text)
        if position >= 0:
            around = content[
                max(0, position - CONTEXT_CHARACTERS) : position + len(text) + CONTEXT_CHARACTERS
            ]
            yield {"id": session_card.id, "role": message.role, "text": " ".join(around.split())}


def read_or_skip(session_card: SessionCard) -> Iterator[Message]:
    try:
        yield from read(session_card.path)
    except UsageError:  # removed meanwhile, or not ours to read
        return


def rename_one(id: str, name: str) -> None:
    name = one_line(name).strip()
    if not name or len(name) > MAX_NAME_LENGTH:
        raise UsageError(f"A name has 1 to {MAX_NAME_LENGTH} characters.")
    session_card = find_card(id)
    rename_session(session_card, name)
    sys.stdout.write(f"{session_card.id} is {name!r} now.\n")


def remove_one(id: str) -> None:
    session_card = find_card(id)
    remove_session(session_card)
    sys.stdout.write(f"Removed {session_card.id}: {label_session(session_card)}\n")


def export_session(id: str, format: str, file: str) -> None:
    if format not in EXPORTS:
        raise UsageError(f"There is no format {format!r}.", f"Give {', '.join(EXPORTS)}.")
    session_card = find_card(id)
    tell_damage(session_card)
    if file in ("", "-"):
        for text_piece in EXPORTS[format](session_card):
            sys.stdout.write(text_piece)
        return
    write_export(session_card, format, file)
    sys.stdout.write(f"Written to {file}.\n")


def write_export(session_card: SessionCard, format: str, file: str) -> None:
    """Write a session to a new file. Raises UsageError where there is one, or none can be."""
    text_pieces = EXPORTS[format](session_card)
    try:
        # As private as the session; what is there is nobody's to overwrite by a slip.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as export_file:
            export_file.writelines(text_pieces)
    except FileExistsError:
        raise UsageError(f"{file} is there already.", "Name another file.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error


def render_markdown(session_card: SessionCard) -> Iterator[str]:
    yield f"# {label_session(session_card)}\n\n{session_card.id}"
    yield f", {session_card.folder}\n" if session_card.folder else "\n"
    yield from render_messages(read_messages(session_card))


def render_json(session_card: SessionCard) -> Iterator[str]:
    session_record = {
        **make_card_record(session_card),
        "messages": list(read_messages(session_card)),
    }
    yield json.dumps(session_record, ensure_ascii=False, indent=2) + "\n"


def render_json_lines(session_card: SessionCard) -> Iterator[str]:
    for record in read_messages(session_card):
        yield json.dumps(record, ensure_ascii=False) + "\n"


EXPORTS: Mapping[str, Callable[[SessionCard], Iterator[str]]] = {
    "md": render_markdown,
    "json": render_json,
    "jsonl": render_json_lines,
}
