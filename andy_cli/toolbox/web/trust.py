"""The hosts that the user's own settings open, whatever they are."""

from urllib.parse import urlsplit

from andy_cli.toolbox.runtime_context import here


def trusted_hosts() -> frozenset[str]:
    """The hosts of `web.trusted`."""
    setting_text = here().settings.text("web.trusted").lower()
    return frozenset(setting_text.replace(",", " ").replace(";", " ").split())


def is_trusted(url: str) -> bool:
    """Tell whether `web.trusted` names the host of an address, with its port or without."""
    host = host_of(url)
    return not {host, host.rpartition(":")[0] or host}.isdisjoint(trusted_hosts())


def host_of(url: str) -> str:
    """`host` or `host:port` of an address, as a trusted host is named; nothing if it has none."""
    try:
        return urlsplit(url).netloc.lower().rpartition("@")[2]
    except ValueError:
        return ""
