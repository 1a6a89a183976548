"""Consent: one gate for all tools and dialects, after correction and before execution.

    read, play    inside the workspace: allowed; elsewhere: asked
    network write run act      asked
    destroy       refused, whatever else is allowed
    protocol      never comes here

Inside is the folder andy was started in, `music.folders`, and what the user named in a request.
Where nobody can be asked, what would have to be asked is refused.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from andy_cli.guard.claim import NOTHING, Claim
from andy_cli.guard.workspace import inside, named_places, resolve, too_wide
from andy_cli.messages import Effect


class Proposal(NamedTuple):
    """What is about to happen: exactly what is shown when asking, and exactly what will run."""

    tool: str
    effect: Effect
    action: str
    claim: Claim = NOTHING
    doubtful: bool = False
    """The request stood in a quotation or a fence: it needs a yes whatever its effect."""
    fingerprint: str = ""
    """Of a tool from elsewhere: a yes to it is a yes to this version of it."""


class Verdict(NamedTuple):
    allowed: bool
    reason: str
    asked: bool = False
    """Whether the user was asked, or would have had to be."""
    granted: tuple[Path, ...] = ()
    """Where the places of the claim really were."""


class Answer(NamedTuple):
    """What the user said: yes or no, for this time or for the session, and why not."""

    yes: bool
    session: bool = False
    reason: str = ""


Asker = Callable[[Proposal], Awaitable[Answer]]

FREE_INSIDE = (Effect.READ, Effect.PLAY)


class Gate:
    """Decides on proposals; remembers what the user agreed to for the session."""

    def __init__(
        self,
        workspace: Path,
        folders: Iterable[str] = (),
        allow: Iterable[str] = (),
        auto: bool = False,
        ask: Asker | None = None,
    ) -> None:
        self._workspace = workspace.resolve()
        self._roots = [self._workspace, *(resolve(each, workspace) for each in folders)]
        self._alone: list[Path] = []  # places that count, but not what is in them
        self._allowed = set(allow)
        self._agreed: set[tuple[str, tuple[str, ...]]] = set()
        self._auto = auto
        self.ask = ask

    def heard(self, text: str) -> None:
        """The user's own words: the places they name count as inside from now on."""
        for place in named_places(text, self._workspace):
            (self._alone if too_wide(place) else self._roots).append(place)

    async def decide(self, proposal: Proposal) -> Verdict:
        verdict = await self._decided(proposal)
        if not verdict.allowed:
            return verdict
        places = [resolve(each, self._workspace) for each in proposal.claim.places]
        return verdict._replace(granted=tuple(places))

    async def _decided(self, proposal: Proposal) -> Verdict:
        if proposal.effect is Effect.DESTROY:
            return Verdict(False, "this is never done")
        if proposal.effect in FREE_INSIDE and not proposal.doubtful:
            outside = self._outside(proposal.claim.places)
            if not outside:
                return Verdict(True, "inside the workspace")
        if {proposal.tool, proposal.effect.value} & self._allowed:
            return Verdict(True, "allowed by --allow")
        if self._auto:
            return Verdict(True, "everything but destruction is allowed")
        if (proposal.tool, proposal.claim.places) in self._agreed:
            return Verdict(True, "agreed to in this session")
        return await self._asked(proposal)

    def _outside(self, places: Sequence[str]) -> list[str]:
        """The places that are neither in a root nor named for themselves."""
        paths = {each: resolve(each, self._workspace) for each in places}
        return [
            each
            for each, path in paths.items()
            if not inside(path, self._roots) and path not in self._alone
        ]

    async def _asked(self, proposal: Proposal) -> Verdict:
        if self.ask is None:
            return Verdict(False, "it needs a yes and nobody can be asked", asked=True)
        answer = await self.ask(proposal)
        if answer.yes and answer.session:
            self._agreed.add((proposal.tool, proposal.claim.places))
        reason = answer.reason or ("the user said yes" if answer.yes else "the user said no")
        return Verdict(answer.yes, reason, asked=True)
