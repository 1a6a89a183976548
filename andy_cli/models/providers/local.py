"""A small model in this process: no key, no server, no network once its weights are here."""

from andy_cli.models.client import Endpoint, ModelClient, Provider
from andy_cli.models.inside.local_server import CONTEXT
from andy_cli.settings import Settings

DEFAULT = "smollm2"


def connect(endpoint: Endpoint, settings: Settings) -> ModelClient:
    """Nothing is loaded or fetched before the first request."""
    from andy_cli.models.inside.local import LocalClient  # discovery imports every provider

    return LocalClient(endpoint.model or DEFAULT)


PROVIDER = Provider(
    name="local", default_model=DEFAULT, connect=connect, rank=1000, tools=False, context=CONTEXT
)
