"""Ask a model until what it replies is enough: the one loop of a turn and of `andy serve`.

It runs no tool, shows nothing and keeps nothing. Whoever asks says what is sent, makes of every
reply what is shown of it, and decides what the reply is worth: a turn runs tools and asks again,
the dialogue behind an answer of `andy serve` says what was wrong with the reply and asks again.
"""

from collections.abc import AsyncIterator
from typing import Protocol, TypeVar

from andy_cli.agent.model.reply import ModelReply
from andy_cli.errors import ModelError

Piece = TypeVar("Piece", covariant=True)


class Asker(Protocol[Piece]):
    """Somebody who asks a model; a piece is what comes of it meanwhile: an event, or a delta."""

    def begin_round(self) -> bool:
        """Count another reply; False where no other is wanted."""
        ...

    async def ask(self) -> ModelReply:
        """Send the request for the next reply, as it has to be by now."""
        ...

    def show(self, reply: ModelReply) -> AsyncIterator[Piece]:
        """Read the reply while it arrives. Raises ModelError where it breaks off."""
        ...

    async def recover(self, error: ModelError) -> Piece:
        """Change what the model could not be asked with. Raises the error if nothing can be."""
        ...

    def use(self, reply: ModelReply) -> AsyncIterator[Piece]:
        """Use a whole reply, or note what the model is told of it before it is asked again."""
        ...


async def exchange(asker: Asker[Piece]) -> AsyncIterator[Piece]:
    """Ask until no other reply is wanted; yields the pieces as they come. Raises ModelError."""
    while asker.begin_round():
        reply = await asker.ask()
        try:
            async for piece in asker.show(reply):
                yield piece
        except ModelError as error:
            yield await asker.recover(error)
            continue
        async for piece in asker.use(reply):
            yield piece
