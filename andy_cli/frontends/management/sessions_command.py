"""`andy sessions list|show|search|rename|export|rm`."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from andy_cli.errors import UsageError
from andy_cli.frontends.session_choice import format_age, label_session
from andy_cli.frontends.session_factory import sessions_folder
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.redactor import redact_text, redact_value, secrets_of
from andy_cli.guard.terminal_sanitizer import neutralize_text, one_line
from andy_cli.messages import Message
from andy_cli.sessions.log import as_record, read
from andy_cli.sessions.store import (
    SessionCard,
    find_session,
    list_sessions,
    remove_session,
    rename_session,
)

AROUND = 40
"""Characters that are shown before and behind what was searched for."""
NAME = 100
SPEAKERS = {"user": "You", "assistant": "andy", "tool": "Result", "system": "System"}


def list_all(everywhere: bool, as_json: bool) -> None:
    cards = list(list_sessions(sessions_folder(), None if everywhere else Path.cwd()))
    if as_json:
        print_json([make_card_record(card) for card in cards])
    elif not cards:
        where = (
            "There are no sessions yet."
            if everywhere
            else (f"No session was held in {Path.cwd()} yet; --all lists those of other folders.")
        )
        sys.stderr.write(f"andy: {where}\n")
    else:
        print_table([format_row(card, everywhere) for card in cards])


def format_row(card: SessionCard, everywhere: bool) -> list[str]:
    folder = [one_line(card.folder or "?")] if everywhere else []
    return [card.id, format_age(card.changed), *folder, label_session(card)]


def make_card_record(card: SessionCard) -> dict[str, object]:
    changed = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(card.changed))
    return {"id": card.id, **card.as_record(), "changed": changed, "bytes": card.size}


def find_card(id: str) -> SessionCard:
    return find_session(sessions_folder(), id)


def read_messages(card: SessionCard) -> Iterator[dict[str, object]]:
    """Read the messages, redacted anew: older versions did not know every secret."""
    secrets = secrets_of(os.environ)
    for message in read(card.path):
        record = redact_value(as_record(message), secrets)
        assert isinstance(record, dict)
        yield record


def show_session(id: str, as_json: bool) -> None:
    card = find_card(id)
    if as_json:
        print_json({**make_card_record(card), "messages": list(read_messages(card))})
        return
    screen = neutralize_text if sys.stdout.isatty() else str
    for piece in render_markdown(card):
        sys.stdout.write(screen(piece))


def search_sessions(text: str, everywhere: bool, as_json: bool) -> int:
    """Print where a text was said; returns the exit code."""
    if not text.strip():
        raise UsageError("There is nothing to search for.", "Give some text.")
    found = []
    for card in list_sessions(sessions_folder(), None if everywhere else Path.cwd()):
        for place in find_places(card, text):
            found.append(place)
            if not as_json:
                line = f"{card.id}  {place['role']}: {one_line(str(place['text']))}"
                sys.stdout.write(f"{line}\n")
    if as_json:
        print_json(found)
    elif not found:
        where = "any session" if everywhere else "a session of this folder; --all searches all"
        sys.stderr.write(f"andy: {text!r} was not said in {where}.\n")
    return 0 if found else 1


def find_places(card: SessionCard, text: str) -> Iterator[dict[str, object]]:
    """The messages of a session that hold a text, each with the words around its first place."""
    secrets = secrets_of(os.environ)
    wanted = text.casefold()
    for message in read_or_skip(card):
        # Sought as it stands, shown redacted.
        if wanted not in message.content.casefold():
            continue
        content = redact_text(message.content, secrets)
        at = content.casefold().find(wanted)
        if at >= 0:
            around = content[max(0, at - AROUND) : at + len(text) + AROUND]
            yield {"id": card.id, "role": message.role, "text": " ".join(around.split())}


def read_or_skip(card: SessionCard) -> Iterator[Message]:
    try:
        yield from read(card.path)
    except UsageError:  # removed meanwhile, or not ours to read
        return


def rename_one(id: str, name: str) -> None:
    name = one_line(name).strip()
    if not name or len(name) > NAME:
        raise UsageError(f"A name has 1 to {NAME} characters.")
    card = find_card(id)
    rename_session(card, name)
    sys.stdout.write(f"{card.id} is {name!r} now.\n")


def remove_one(id: str) -> None:
    card = find_card(id)
    remove_session(card)
    sys.stdout.write(f"Removed {card.id}: {label_session(card)}\n")


def export_session(id: str, format: str, file: str) -> None:
    if format not in EXPORTS:
        raise UsageError(f"There is no format {format!r}.", f"Give {', '.join(EXPORTS)}.")
    card = find_card(id)
    if file in ("", "-"):
        for piece in EXPORTS[format](card):
            sys.stdout.write(piece)
        return
    write_export(card, format, file)
    sys.stdout.write(f"Written to {file}.\n")


def write_export(card: SessionCard, format: str, file: str) -> None:
    """Write a session to a new file. Raises UsageError where there is one, or none can be."""
    pieces = EXPORTS[format](card)
    try:
        # As private as the session; what is there is nobody's to overwrite by a slip.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as opened:
            opened.writelines(pieces)
    except FileExistsError:
        raise UsageError(f"{file} is there already.", "Name another file.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from error


def render_markdown(card: SessionCard) -> Iterator[str]:
    yield f"# {label_session(card)}\n\n{card.id}"
    yield f", {card.folder}\n" if card.folder else "\n"
    for record in read_messages(card):
        if not record.get("note"):  # which is andy's word to the model
            yield from render_message(record)


def render_message(record: Mapping[str, object]) -> Iterator[str]:
    """Render one message as Markdown; nothing of one that is empty."""
    calls = record.get("calls")
    names = [str(call["name"]) for call in calls] if isinstance(calls, list) else []
    content = str(record["content"]).strip()
    heading = SPEAKERS[str(record["role"])]
    if record["role"] == "tool":
        content = content if "```" in content else f"```\n{content}\n```"
        heading += f" of {record['name']}" if record.get("name") else ""
    if content:
        yield f"\n## {heading}\n\n{content}\n"
    elif names:
        yield f"\n## {heading}\n"
    yield "".join(f"\n- asked for {name}\n" for name in names)


def render_json(card: SessionCard) -> Iterator[str]:
    whole = {**make_card_record(card), "messages": list(read_messages(card))}
    yield json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def render_json_lines(card: SessionCard) -> Iterator[str]:
    for record in read_messages(card):
        yield json.dumps(record, ensure_ascii=False) + "\n"


EXPORTS: Mapping[str, Callable[[SessionCard], Iterator[str]]] = {
    "md": render_markdown,
    "json": render_json,
    "jsonl": render_json_lines,
}
