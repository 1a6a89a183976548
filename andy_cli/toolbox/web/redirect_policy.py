"""Rules for where a request may go: its address judged, and each one that it is sent on to."""

import socket
from collections.abc import Callable, Collection
from functools import partial
from typing import NamedTuple

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.addresses import (
    AddressJudgement,
    Resolver,
    advise_opening,
    judge,
    judge_redirect,
)
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.runtime_context import run_at_most
from andy_cli.toolbox.web.limits import WebLimits

MAX_CHARACTERS = 200


def look_up_addresses(host: str) -> list[str]:
    """Look up what a name leads to, as the system does; nothing where there is no such name."""
    try:
        address_infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(item[4][0]) for item in address_infos))


class RedirectPolicy(NamedTuple):
    limits: WebLimits
    trusted: Collection[str]
    resolver: Resolver = look_up_addresses
    proxied: bool = False
    """A proxy looks names up: it is no fault if we cannot."""

    async def first(self, url: str, method: str) -> AddressJudgement:
        """Raises ToolError for an address that is not fetched from.

        What would have to be asked about was asked about by the gate.
        """
        judged = await self._looked_up(partial(judge, url, method, self.resolver, self.trusted))
        if judged.verdict == "block":
            raise ToolError(
                f"{show_url(url)} is not fetched: {judged.reason}.", advise_opening(judged)
            )
        if judged.verdict == "error":
            raise ToolError(_not_found(judged))
        return judged

    async def next(
        self, previous: AddressJudgement, status: int, location: str
    ) -> AddressJudgement:
        """Raises ToolError for one that is not followed."""
        # A server out there must not find what the user opened for themselves.
        trusted = self.trusted if self._is_trusted(previous) else ()
        judged = await self._looked_up(
            partial(judge_redirect, previous, status, location, self.resolver, trusted)
        )
        if judged.verdict in ("allow", "allow_stripped"):
            return judged
        if judged.verdict == "error" and judged.host != previous.host:
            raise ToolError(_not_found(judged))
        target = show_url(location)
        raise ToolError(
            f"{previous.host} sends on to {target}, which is not followed: {judged.reason}."
        )

    async def _looked_up(self, judging: Callable[[], AddressJudgement]) -> AddressJudgement:
        try:
            judged = await run_at_most(self.limits.connect, judging)
        except TimeoutError as error:
            raise ToolTimeout(
                f"No name could be looked up within {self.limits.connect:g} s. Check the network."
            ) from error
        if self.proxied and judged.reason == f"{judged.host} is not found":
            return judged._replace(verdict="allow")
        return judged

    def _is_trusted(self, judged: AddressJudgement) -> bool:
        return not {judged.host, f"{judged.host}:{judged.port}"}.isdisjoint(self.trusted)


def show_url(url: str) -> str:
    """An address that somebody else wrote, for a sentence."""
    text = spell_out(url)
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + "..."


def _not_found(judged: AddressJudgement) -> str:
    return f"There is no {judged.host} to be found. Check the address and the network."
