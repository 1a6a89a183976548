"""A page opened in the user's browser, a mail begun in the user's mail program.

Not by webbrowser: where there is no screen it starts browsers for terminals, in ours.
"""

import os
import subprocess
import sys
import threading
from urllib.parse import parse_qsl, urlsplit

from andy_cli.errors import ToolError
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.programs import find_program
from andy_cli.toolbox.terminal.environment import clean_environment
from andy_cli.toolbox.tool import Outcome

SCHEMES = ("http", "https", "mailto")
MAX_CHARACTERS = 8000
NOT_IN_ADDRESSES = frozenset(map(chr, (*range(0x21), *range(0x7F, 0xA0), *b'"<>\\^`{|}')))
TIMEOUT = 3
"""So long an opener may take to fail; what goes on longer is a browser that runs."""

OPENERS = ("xdg-open", "gio", "wslview")
NO_BROWSER = "There is no browser on this machine that a page can be opened in."
INSTEAD = "Tell the user the address."


def check_address(url: str) -> str:
    """The address as it is handed on. Raises ToolError for what is none, or not for a browser."""
    url = url.strip()
    if not NOT_IN_ADDRESSES.isdisjoint(url) or len(url) > MAX_CHARACTERS:
        raise ToolError("That is no address: in one, blanks and the like are written as %20.")
    try:
        url_parts = urlsplit(url)
        host = url_parts.hostname
    except ValueError as error:
        raise ToolError(f"{spell_out(url)[:200]} is no address: {error}.") from error
    scheme = url_parts.scheme.lower()
    if scheme not in SCHEMES:
        raise ToolError("Only addresses with http, https or mailto are opened.")
    if scheme != "mailto" and not host:
        raise ToolError(f"{spell_out(url)[:200]} names no host.")
    if any(name.lower().startswith("attach") for name, _ in parse_qsl(url_parts.query)):
        # Some mail programs take a file of this machine for it.
        raise ToolError("A mail that is begun by an address has no attachments.")
    return url


def opening_program() -> list[str]:
    """The program that opens addresses, with what stands before them; empty if there is none."""
    if sys.platform == "darwin":
        return ["/usr/bin/open"]
    if sys.platform == "win32":
        return ["rundll32", "url.dll,FileProtocolHandler"]
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return [find_program("wslview")] if find_program("wslview") else []
    program = find_program(*OPENERS)
    if program.endswith("/gio"):
        return [program, "open"]
    return [program] if program else []


def open_page(url: str) -> Outcome:
    """Hand it to the user's browser. Raises ToolError unless somebody took it."""
    url = check_address(url)
    line = opening_program()
    if not line:
        raise ToolError(NO_BROWSER, INSTEAD)
    try:
        process = subprocess.Popen(
            [*line, url],
            env=clean_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"The browser does not start: {error.strerror}.") from error
    try:
        code = process.wait(TIMEOUT)
    except subprocess.TimeoutExpired:
        code = 0
        # Somebody has to be told when the browser ends.
        threading.Thread(target=process.wait, daemon=True).start()
    if code:
        failed = f"The page was not opened: {line[0]} failed ({code})."
        raise ToolError(f"{failed} {NO_BROWSER}", INSTEAD)
    summary = f"opened {spell_out(url)}"
    return Outcome(summary, summary)
