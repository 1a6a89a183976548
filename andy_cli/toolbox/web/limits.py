"""Limits on how long and how large an answer of the web may be, by the user's settings."""

from typing import NamedTuple

from andy_cli.toolbox.runtime_context import here

MEGABYTE = 1_000_000


class WebLimits(NamedTuple):
    connect: float
    """Seconds, as all times here."""
    idle: float
    total: float
    body: int
    """Bytes, unpacked."""


def for_pages() -> WebLimits:
    """For what is held in memory."""
    settings = here().settings
    return _limits(settings.number("web.total_timeout"), settings.whole("web.largest_page"))


def for_files() -> WebLimits:
    """For what is streamed from or to a file."""
    settings = here().settings
    return _limits(settings.number("web.file_timeout"), settings.whole("web.largest_file"))


def _limits(total: float, megabytes: int) -> WebLimits:
    settings = here().settings
    connect_timeout, idle_timeout = (
        settings.number("network.connect_timeout"),
        settings.number("web.idle_timeout"),
    )
    return WebLimits(connect_timeout, idle_timeout, total, megabytes * MEGABYTE)
