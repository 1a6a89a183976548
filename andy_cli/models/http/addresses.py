"""Reading of an endpoint's address: whether it is this machine, and how it is shown."""

from urllib.parse import urlsplit

from andy_cli.errors import UsageError
from andy_cli.guard import hosts


def is_loopback(url: str) -> bool:
    """Tell whether a server is on this machine: nothing of ours leaves it, and it may be slow."""
    host = (urlsplit(url).hostname or "").lower()
    return hosts.is_loopback(host) or host.endswith(".localhost")


def show_url(url: str) -> str:
    """The address without a user name, password or query, which may hold a key."""
    url_parts = urlsplit(url)
    host = url_parts.netloc.rpartition("@")[2]
    return f"{url_parts.scheme}://{host}{url_parts.path.rstrip('/')}"


def check_base_url(url: str) -> str:
    """A base URL as it will be used; raises `UsageError` if nothing can be at it."""
    text = url.strip()
    text = (text if "://" in text else f"http://{text}").rstrip("/")
    try:
        url_parts = urlsplit(text)
        is_usable = (
            url_parts.scheme in ("http", "https") and url_parts.hostname and (url_parts.port or 1)
        )
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UsageError(
            f"{url!r} is not the address of a model server.",
            "Write it as http://127.0.0.1:8080/v1 or https://example.org/v1.",
        )
    return text.removesuffix("/chat/completions")
