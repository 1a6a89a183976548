"""Failures on the way, each in a sentence that says what to do next."""

import errno
import ssl

import httpx2

from andy_cli.errors import list_causes
from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.toolbox.web.limits import MEGABYTE, WebLimits

MAX_CHARACTERS = 200

UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)


def show_text(text: str) -> str:
    """A foreign text in one line of bearable length."""
    shown_text = one_line(text)
    return shown_text if len(shown_text) <= MAX_CHARACTERS else shown_text[:MAX_CHARACTERS] + "..."


def describe_failure(error: BaseException, host: str, limits: WebLimits) -> str:
    """A failure of the connection to a host, or of what came through it."""
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return f"{host} gave no connection within {limits.connect:g} s. Try again later."
    if isinstance(error, httpx2.TimeoutException):
        return f"{host} said nothing for {limits.idle:g} s. Try again later."
    if isinstance(error, TimeoutError):
        return f"{host} took longer than {limits.total:g} s in all. Ask for less, or try later."
    for cause in list_causes(error):
        if explanation := _explain_cause(cause, host):
            return explanation
    if isinstance(error, httpx2.ProxyError):
        reason = show_text(str(error))
        return f"The proxy refused to reach {host}: {reason}. See the setting web.proxy."
    if isinstance(error, httpx2.ConnectError):
        return f"{host} cannot be reached. Check the address and the network."
    if isinstance(error, httpx2.RemoteProtocolError):
        return f"{host} broke off or does not speak HTTP ({show_text(str(error))})."
    if isinstance(error, httpx2.LocalProtocolError | httpx2.InvalidURL):
        return f"The request cannot be written: {show_text(str(error))}."
    return f"The connection to {host} broke off. Try again."


def _explain_cause(error: BaseException, host: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{host} cannot prove that it is {host}: {show_text(error.verify_message)}"
    if isinstance(error, ssl.SSLError):
        reason = show_text((error.reason or "no agreement").replace("_", " ").lower())
        return f"No encrypted connection to {host} came about ({reason})."
    if isinstance(error, ConnectionRefusedError):
        return f"{host} refused the connection: nothing listens there. Check the address."
    if isinstance(error, OSError) and error.errno in UNREACHABLE:
        return f"There is no way to {host} ({error.strerror}). Check the network."
    return ""


def too_large(host: str, limits: WebLimits) -> str:
    return f"The answer of {host} is larger than {limits.body / MEGABYTE:g} MB. Ask for less."
