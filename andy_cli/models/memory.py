"""The memory of what was learned about models, kept from one start to the next.

    {"models": [{"endpoint": "http://127.0.0.1:11434/v1", "model": "m",
                 "native": false, "native_on": "2026-11-02", "instead": "react", "why": "...",
                 "dialect": "hermes", "right": 7, "tasks": 8, "tokens": 5120, "on": "2026-11-21",
                 "without": {"stop": "2026-11-02"}}]}

One file in the state folder, for its owner alone, replaced in one step. Never a key or a prompt in
it: an address is kept without user name and query. It is a help and no record: what cannot be read
was never learned, what cannot be written is learned again, and of two processes that write at once
one may lose its entry.
"""

import json
from collections.abc import Collection, Mapping
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.guard.addresses import show_url
from andy_cli.messages import NOTHING_LEARNED, Learned
from andy_cli.models.client import Endpoint
from andy_cli.settings import replace_file, state_folder

MAX_MODELS = 300
"""Models that are remembered; whoever was learned about longest ago goes first."""

MAX_BYTES = 2**20
"""Bytes of the file; a larger one is not ours."""

MAX_CHARACTERS = 200
"""Characters of a reason that are kept."""

MAX_AGE = timedelta(days=30)
"""The time for which it is believed what a server takes and what not: servers are updated."""

Entry = Mapping[str, object]
Key = tuple[str, str]


def recall_model(endpoint: Endpoint, today: date | None = None) -> Learned:
    """Recall what is known of the model there. Never raises."""
    entry = _read_entries(_memory_file()).get(_model_key(endpoint))
    if entry is None:
        return NOTHING_LEARNED
    today = today or date.today()
    learned = Learned(
        dialect=text_of(entry, "dialect"),
        right=_entry_count(entry, "right"),
        tasks=_entry_count(entry, "tasks"),
        tokens=_entry_count(entry, "tokens"),
        on=text_of(entry, "on"),
        constrained=_entry_flag(entry, "constrained"),
        trusted=_entry_trust(entry),
        without=tuple(sorted(_recent_refusals(entry, today))),
        silent=_entry_count(entry, "silent"),
    )
    native, native_on = _entry_flag(entry, "native"), text_of(entry, "native_on")
    if native is None or not _is_fresh(native_on, today):
        return learned
    learned = learned._replace(native=native, native_on=native_on)
    if native:
        return learned
    return learned._replace(instead=text_of(entry, "instead"), why=text_of(entry, "why"))


def known_models() -> list[Key]:
    """List where models are and what they are called there, the latest first. Never raises."""
    return list(reversed(_read_entries(_memory_file())))


def learn_refusal(endpoint: Endpoint, instead: str, reason: str, today: date | None = None) -> bool:
    """Keep that the server refused tools, and the dialect that was found instead.

    `reason` in the words of compiler/detect.py. Returns whether it is kept; never raises.
    """
    day = (today or date.today()).isoformat()
    short_reason = reason[:MAX_CHARACTERS]
    return _keep_changes(
        endpoint, {"native": False, "native_on": day, "instead": instead, "why": short_reason}
    )


def learn_called(endpoint: Endpoint, today: date | None = None) -> bool:
    """Keep that the model called a tool natively. Returns as `learn_refusal`."""
    return _keep_changes(
        endpoint, {"native": True, "native_on": (today or date.today()).isoformat()}
    )


def learn_silent(endpoint: Endpoint, replies: int) -> bool:
    """Keep how many replies in a row called no tool. Returns as `learn_refusal`."""
    return _keep_changes(endpoint, {"silent": replies})


def learn_without(endpoint: Endpoint, features: Collection[str], today: date | None = None) -> bool:
    """Keep what the server refused of requests. Returns as `learn_refusal`."""
    day = today or date.today()
    known_refusals = _recent_refusals(
        _read_entries(_memory_file()).get(_model_key(endpoint), {}), day
    )
    return _keep_changes(
        endpoint, {"without": {**dict.fromkeys(features, day.isoformat()), **known_refusals}}
    )


def forget_refusals(endpoint: Endpoint) -> bool:
    """Forget what the server refused of requests. Returns as `learn_refusal`."""
    return not recall_model(endpoint).without or _keep_changes(endpoint, {"without": {}})


def learn_probe(endpoint: Endpoint, probe: Learned, today: date | None = None) -> bool:
    """Keep what a probe found; what was known before is forgotten. Returns as `learn_refusal`."""
    day = (today or date.today()).isoformat()
    return _keep_changes(endpoint, {**probe._asdict(), "on": day, "native_on": day, "without": {}})


def _keep_changes(endpoint: Endpoint, changes: Entry) -> bool:
    path = _memory_file()
    entries = _read_entries(path)
    key = _model_key(endpoint)
    entry = {**entries.pop(key, {}), "endpoint": key[0], "model": key[1], **changes}
    entries[key] = entry
    return _write_entries(path, list(entries.values())[-MAX_MODELS:])


def _memory_file() -> Path:
    return state_folder() / "models.json"


def _model_key(endpoint: Endpoint) -> Key:
    server_place = show_url(endpoint.base_url) if endpoint.base_url else endpoint.provider
    return server_place, endpoint.model


def _recent_refusals(entry: Entry, today: date) -> dict[str, str]:
    """Read what was refused lately, and when."""
    features = as_record(entry.get("without"))
    days = {name: text_of(features, name) for name in features}
    return {name: day for name, day in days.items() if _is_fresh(day, today)}


def _is_fresh(day: str, today: date) -> bool:
    try:
        return today - date.fromisoformat(day) <= MAX_AGE
    except ValueError:
        return False


def _read_entries(path: Path) -> dict[Key, Entry]:
    """The entries, the oldest first. Whatever else stands there is passed over."""
    try:
        state = path.stat()
    except OSError:
        return {}
    if state.st_size > MAX_BYTES:
        return {}
    return {**_parse_entries(path, state.st_ino, state.st_mtime_ns, state.st_size)}


@lru_cache(maxsize=1)
def _parse_entries(path: Path, *version: int) -> Mapping[Key, Entry]:
    """The entries of one version of the file: `andy serve` asks for them with each request."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries: dict[Key, Entry] = {}
    for row in as_records(as_record(tree).get("models")):
        server_place = text_of(row, "endpoint")
        if server_place and row.get("model"):
            entries[server_place, text_of(row, "model")] = row
    return entries


def _write_entries(path: Path, entries: list[Entry]) -> bool:
    text = json.dumps({"models": entries}, ensure_ascii=False, indent=1) + "\n"
    try:
        replace_file(path, text.encode("utf-8", "replace"), durable=False)
    except OSError:
        return False
    return True


def _entry_trust(entry: Entry) -> dict[str, int] | None:
    """The numbers of values by effect; None where nothing was measured."""
    trusted = entry.get("trusted")
    if not isinstance(trusted, dict):
        return None
    return {
        effect: _entry_count(trusted, effect)
        for effect, count in trusted.items()
        if isinstance(count, int)
    }


def _entry_count(entry: Entry, name: str) -> int:
    value = entry.get(name)
    return value if type(value) is int and value >= 0 else 0


def _entry_flag(entry: Entry, name: str) -> bool | None:
    value = entry.get(name)
    return value if isinstance(value, bool) else None
