"""`andy models list|pull|default`; `info` is in model_info.py, `probe` in frontends/probe."""

import asyncio
import sys
from typing import NamedTuple

from andy_cli.errors import AndyError, UsageError
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.terminal.progress_bars import create_download_bar
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.models import discovery, select
from andy_cli.models.client import Endpoint
from andy_cli.models.inside import weights
from andy_cli.models.select import AddressedServer
from andy_cli.settings import Settings, config_folder, load, save

BESIDE_MODEL = ("base_url", "api_key_env")
"""Settings that belong to the provider of the model."""


def list_models(options: Options, as_json: bool) -> None:
    """List providers with a key, servers on this machine, weights on disk; and what is used."""
    asyncio.run(_print_models(options, as_json))


class ModelList(NamedTuple):
    rows: list[tuple[str, str]]
    """The models that can be used, and where each is."""
    used: str = ""
    reason: str = ""
    problem: str = ""
    """Why what is set cannot be used, as a sentence."""


async def _print_models(options: Options, as_json: bool) -> None:
    models = await _gather_models(options.settings())
    if as_json:
        print_json([_make_model_record(models, *row) for row in models.rows])
        if models.problem:
            sys.stderr.write(f"andy: {models.problem}\n")
        return
    print_table([("*" if row[0] == models.used else " ", *row) for row in models.rows])
    if models.used:
        sys.stdout.write(f"\n* is used: {models.reason}\n")
    if models.problem:
        sys.stdout.write(f"\n{models.problem}\n")


def _make_model_record(models: ModelList, name: str, address: str) -> dict[str, object]:
    is_used = name == models.used
    reason = models.reason if is_used else ""
    return {"name": name, "where": address, "used": is_used, "why": reason}


async def _gather_models(settings: Settings) -> ModelList:
    server = await select.ask_addressed_server(settings)
    rows = await find_models(settings, server)
    if server and server.problem:
        subject = _name_model(server.endpoint) if server.endpoint.model else "What is set"
        return ModelList(rows, problem=f"{subject} cannot be used: {server.problem}")
    try:
        chosen = await select.choose_model(settings)
    except AndyError as error:
        # Where none is named, the list says which there are.
        problem = f"{error} {error.hint}".strip() if settings.text("model") else ""
        return ModelList(rows, problem=problem)
    used = _name_model(chosen.endpoint)
    if used not in [name for name, _ in rows]:
        rows.insert(0, (used, chosen.why))
    return ModelList(rows, used, chosen.why)


def _name_model(endpoint: Endpoint) -> str:
    return f"{endpoint.provider}:{endpoint.model}"


async def find_models(
    settings: Settings, addressed_server: AddressedServer | None
) -> list[tuple[str, str]]:
    """The models that can be used here, as `PROVIDER:NAME`, and where each is; first those of the
    server of `base_url`."""
    rows = list_served_models(addressed_server)
    rows += [
        (f"{server.provider}:{model}", server.base_url)
        for server in await discovery.scan_servers(settings)
        for model in server.models
    ]
    rows += [(f"local:{name}", "on this machine") for name in weights.available()]
    missing = [name for name in weights.PACKAGED if name not in weights.available()]
    rows += [(f"local:{name}", "here after `andy models pull`") for name in missing]
    rows += [
        (f"{provider.name}:{provider.default_model}", f"${key} is set")
        for provider, key in select.keyed_providers()
    ]
    return list(dict.fromkeys(rows))


def list_served_models(server: AddressedServer | None) -> list[tuple[str, str]]:
    """The models of the server of `base_url`, as `find_models`."""
    if server is None:
        return []
    endpoint, models = server.endpoint, server.listing.models
    return [(f"{endpoint.provider}:{name}", endpoint.base_url) for name in models]


async def _check_usable(name: str) -> None:
    """Raise UsageError for a model that could not be used, were it the default."""
    settings = load(flags={"model": name})
    try:
        chosen = await select.choose_model(settings)
        if chosen.provider.name == "local":
            weights.check_name(chosen.endpoint.model)
    except AndyError as error:
        raise UsageError(f"{name} is not kept. {error}", error.hint) from error


def pull_weights(name: str) -> None:
    path = weights.pull(name.removeprefix("local:"), create_download_bar(name))
    sys.stdout.write(f"{path}\n")


def show_or_set_default(name: str) -> None:
    """Show the default model, or keep another. Raises UsageError for one that cannot be used."""
    if name:
        asyncio.run(_check_usable(name))
        others = list_of_other_provider(name)
        path = save("model", name)
        sys.stdout.write(f"{name} is used from now on; this is kept in {path}.\n")
        for key in others:
            save(key, "")
            sys.stdout.write(f"{key} was that of another provider, and is taken out there.\n")
        return
    value = load()["model"]
    sys.stdout.write(f"{value.value or 'nothing is set'} ({value.origin})\n")


def list_of_other_provider(name: str) -> list[str]:
    """List the settings of the user's file that belong to another provider than a model's."""
    settings, path = load(), config_folder() / "config.toml"
    provider_name, _ = select.parse_name(name)
    found = [settings[key] for key in BESIDE_MODEL if settings[key].origin == str(path)]
    if not provider_name or not found:
        return []
    if provider_name == select.find_provider_beside(settings, found[0].strength):
        return []
    return [key for key in BESIDE_MODEL if settings[key] in found and settings[key].value]
