"""The values that options and arguments take, as far as known without a network.

Everything here is looked up while somebody waits for a shell: no server is asked, no file of tools
is run, nothing large is imported.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from andy_cli.errors import AndyError
from andy_cli.frontends.terminal.tables import shorten_text
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.resources import PACKAGE, bundled_folder
from andy_cli.settings import SETTINGS, config_folder, list_trusted_folders, load, state_folder

Offer = tuple[str, str]
"""The value, and what it means."""

TOOL = re.compile(r"^@tool\b.*?^(?:async )?def (\w+)\(", re.MULTILINE | re.DOTALL)
EFFECT = re.compile(r'effect="(\w+)"')
NEWEST = 50
"""Sessions that are offered at most."""
FIRST_WORDS = 60
"""Characters of it that are shown."""


def list_tools() -> list[Offer]:
    """The tools in files, and their effects; what packages and servers bring is not known."""
    folders = [bundled_folder("tools"), config_folder() / "tools"]
    for project in list_trusted_folders(load(), Path.cwd()):
        folders.append(project / ".andy" / "tools")
    return [
        offer
        for folder in folders
        for file in sorted(folder.glob("*.py"))
        for offer in read_tools(file)
    ]


def read_tools(file: Path) -> Iterator[Offer]:
    """The tools that a file defines, as far as that can be read from its text."""
    text = file.read_text(encoding="utf-8", errors="replace")
    for tool_match in TOOL.finditer(text):
        effect = EFFECT.search(tool_match[0])
        if not effect or effect[1] != "protocol":
            yield tool_match[1], effect[1] if effect else ""


def list_models() -> list[Offer]:
    """List the models that are set, have a key, lie on disk or were talked to before."""
    # Looking for providers imports the module of each.
    from andy_cli.models import memory, select
    from andy_cli.models.inside import weights

    models: dict[str, str] = {}
    set_model = load().text("model")
    if set_model:
        models[set_model] = "set"
    for provider, key in select.keyed_providers():
        models.setdefault(f"{provider.name}:{provider.default_model}", f"${key} is set")
    for name in weights.available():
        models.setdefault(f"local:{name}", "on this machine")
    for name in weights.PACKAGED:
        models.setdefault(f"local:{name}", "fetched at its first use")
    for address, model in memory.known_models():
        models.setdefault(model, f"used at {address}")
    return list(models.items())


def list_addresses() -> list[Offer]:
    from andy_cli.models.known_providers import providers_by_name  # see models

    return [
        (provider.base_url, provider.name)
        for provider in providers_by_name().values()
        if provider.base_url
    ]


def list_variables() -> list[Offer]:
    from andy_cli.models.known_providers import providers_by_name  # see models

    return [
        (name, provider.name)
        for provider in providers_by_name().values()
        for name in provider.key_names
    ]


def list_weights() -> list[Offer]:
    from andy_cli.models.inside import weights  # see models

    return [
        (name, f"{package.download // 1_000_000} MB") for name, package in weights.PACKAGED.items()
    ]


def list_settings() -> list[Offer]:
    return [(f"{setting.key}=", setting.about) for setting in SETTINGS if "*" not in setting.key]


def list_keys() -> list[Offer]:
    return [(setting.key, setting.about) for setting in SETTINGS if "*" not in setting.key]


def list_modes() -> list[Offer]:
    return [
        ("ask", "ask before anything is changed, sent or run"),
        ("plan", "change nothing"),
        ("edits", "change files inside the folder"),
        ("auto", "everything but destruction"),
    ]


def list_formats() -> list[Offer]:
    return [
        ("text", "the answer alone"),
        ("json", "one result object"),
        ("stream-json", "every event as a line"),
    ]


def list_effects() -> list[Offer]:
    kinds = "read play network write run act destroy"
    return [(effect, "every tool of this effect") for effect in kinds.split()]


def list_rules() -> list[Offer]:
    return [*list_tools(), *list_effects()]


def list_dialects() -> list[Offer]:
    dialect_files = (PACKAGE / "compiler" / "dialects").rglob("[a-z]*.py")
    return [
        ("auto", "as it fits the model"),
        *((name, "") for name in sorted(dialect_file.stem for dialect_file in dialect_files)),
    ]


def list_parts() -> list[Offer]:
    files = sorted((PACKAGE / "frontends" / "debug" / "parts").glob("[a-z]*.py"))
    return [(file.stem, "") for file in files]


def list_servers() -> list[Offer]:
    from andy_cli.toolbox.mcp.servers import find_servers  # reads several files

    configured_servers = find_servers(load(), Path.cwd().resolve())
    return [(server.name, server.shown[0]) for server in configured_servers]


def list_exports() -> list[Offer]:
    return [("md", "to read"), ("json", "one object"), ("jsonl", "a message a line")]


def list_recent_sessions(of_folder: Path | None = None) -> list[Offer]:
    """The ids of the newest sessions, each with its name or the first words said in it; of one
    folder, or of all."""
    from andy_cli.sessions.store import list_sessions  # see models

    newest = islice(list_sessions(state_folder() / "sessions", of_folder), NEWEST)
    return [
        (card.id, neutralize_text(shorten_text(card.name or card.title, FIRST_WORDS)))
        for card in newest
    ]


def ignore_failures(values: Callable[[], list[Offer]]) -> Callable[[], list[Offer]]:
    """A damaged file offers nothing: in the middle of a line nobody can be told."""

    def offer_or_nothing() -> list[Offer]:
        try:
            return values()
        except (AndyError, OSError):
            return []

    return offer_or_nothing


VALUES: Mapping[str, Callable[[], list[Offer]]] = {
    name: ignore_failures(values)
    for name, values in {
        "addresses": list_addresses,
        "dialects": list_dialects,
        "exports": list_exports,
        "formats": list_formats,
        "keys": list_keys,
        "models": list_models,
        "modes": list_modes,
        "parts": list_parts,
        "rules": list_rules,
        "servers": list_servers,
        "sessions": list_recent_sessions,
        "settings": list_settings,
        "tools": list_tools,
        "variables": list_variables,
        "weights": list_weights,
    }.items()
}
