"""The providers there are: one file each in `providers/`."""

from functools import cache

from andy_cli.discover import discover
from andy_cli.models import providers
from andy_cli.models.client import Provider


@cache
def providers_by_name() -> dict[str, Provider]:
    """Collect the providers by their names, the one that is preferred first."""
    providers_found = discover(providers, Provider, "PROVIDER")
    return {item.name: item for item in sorted(providers_found, key=lambda provider: provider.rank)}
