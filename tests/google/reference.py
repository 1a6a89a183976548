"""Google's own client, google-api-python-client, against the same stand-ins as ours."""

from typing import Any

import pytest

PATHS = {"gmail": "", "drive": "drive/v3/", "calendar": "calendar/v3/"}
Client = Any
"""It has its methods from documents; no type knows them."""

VERSIONS = {
    "gmail": "v1",
    "drive": "v3",
    "calendar": "v3",
    "docs": "v1",
    "sheets": "v4",
    "tasks": "v1",
}


def reference(api: str, url: str, token: str) -> Client:
    """The client of one API. It carries the description of every API with it: no network."""
    discovery = pytest.importorskip(
        "googleapiclient.discovery", reason="needs google-api-python-client"
    )
    google = pytest.importorskip("google.oauth2.credentials", reason="needs google-auth")
    return discovery.build(
        api,
        VERSIONS[api],
        credentials=google.Credentials(token),
        client_options={"api_endpoint": f"{url}/{PATHS.get(api, '')}"},
        static_discovery=True,
    )
