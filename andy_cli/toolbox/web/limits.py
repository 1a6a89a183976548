"""Limits of the user's settings: how long and how large an answer of the web may be, and the hosts
that are opened whatever they are.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from andy_cli.toolbox.runtime_context import current_context

MEGABYTE = 1_000_000


class WebLimits(NamedTuple):
    connect: float
    """Seconds, as all times here."""
    idle: float
    total: float
    body: int
    """Bytes, unpacked."""


def page_limits() -> WebLimits:
    """For what is held in memory."""
    settings = current_context().settings
    return _limits(settings.number("web.total_timeout"), settings.whole("web.largest_page"))


def file_limits() -> WebLimits:
    """For what is streamed from or to a file."""
    settings = current_context().settings
    return _limits(settings.number("web.file_timeout"), settings.whole("web.largest_file"))


def _limits(total: float, megabytes: int) -> WebLimits:
    settings = current_context().settings
    connect, idle = settings.number("network.connect_timeout"), settings.number("web.idle_timeout")
    return WebLimits(connect, idle, total, megabytes * MEGABYTE)


def trusted_hosts() -> frozenset[str]:
    """The hosts of `web.trusted`."""
    setting_text = current_context().settings.text("web.trusted").lower()
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
