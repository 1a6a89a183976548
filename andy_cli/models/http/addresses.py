"""Reading of an endpoint's address: whether it is this machine, and how it is shown."""

import re
from urllib.parse import urlsplit

from andy_cli.errors import UsageError


def is_loopback(url: str) -> bool:
    """Tell whether a server is on this machine: nothing of ours leaves it, and it may be slow."""
    host = (urlsplit(url).hostname or "").lower()
    if host in ("localhost", "::1") or host.endswith(".localhost"):
        return True
    return re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def show_url(url: str) -> str:
    """The address without a user name, password or query, which may hold a key."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def check_base_url(url: str) -> str:
    """A base URL as it will be used; raises `UsageError` if nothing can be at it."""
    text = url.strip()
    text = (text if "://" in text else f"http://{text}").rstrip("/")
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            f"{url!r} is not the address of a model server.",
            "Write it as http://127.0.0.1:8080/v1 or https://example.org/v1.",
        )
    return text.removesuffix("/chat/completions")
