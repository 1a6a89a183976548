"""Read a page, a window of it at a time."""

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.web.calling import status_of
from andy_cli.toolbox.web.client import WebRequest, fetch_answer
from andy_cli.toolbox.web.limits import for_pages
from andy_cli.toolbox.web.reading import text_of
from andy_cli.toolbox.web.trust import host_of

ACCEPTED = (
    "text/html, application/xhtml+xml, text/plain, application/json, application/pdf, */*;q=.5"
)

BUSY, CLOSED = (408, 425, 429), (401, 402, 403, 407, 451)
"""Statuses of a server that has too much to do, and of one that wants to know who asks."""


async def read_window(url: str, offset: int, most_characters: int) -> tuple[str, str]:
    """Title, address and so many characters of a page's text; and the host, for the screen.

    Raises ToolError for an answer that is no page, and for an offset after its end.
    """
    page = await fetch_answer(WebRequest(url, headers={"accept": ACCEPTED}), for_pages())
    host = spell_out(host_of(page.url))
    if not 200 <= page.status < 300:
        raise ToolError(
            f"{host} answered {status_of(page.status)}, not with a page. {_advise(page.status)}"
        )
    title, text = await text_of(page)
    text = text.strip()
    if not text:
        raise ToolError(f"There is no text on this page of {host}: it may be made by scripts.")
    if offset >= len(text):
        size = f"The page has {len(text)} characters"
        raise ToolError(f"{size}: an offset of {offset} is past its end.")
    shown_text = text[offset : offset + most_characters]
    head = f"# {title}\n{page.url}\n\n" if title else f"{page.url}\n\n"
    end = offset + len(shown_text)
    if len(shown_text) == len(text):
        return head + shown_text, host
    advice = f" Go on with offset {end}." if end < len(text) else ""
    return f"{head}{shown_text}\n\n[Characters {offset} to {end} of {len(text)}.{advice}]", host


def _advise(status: int) -> str:
    """Say what may help where a server answers so."""
    if status in BUSY or status >= 500:
        return "Try it again later."
    return "It is not open to everybody." if status in CLOSED else "Check the address."
