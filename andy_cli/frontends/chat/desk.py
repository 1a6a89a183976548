"""What a chat has before it: its options, and the conversation once it is open."""

from collections.abc import Callable

from andy_cli.frontends.opening import Opened, open_chat
from andy_cli.frontends.options import Options
from andy_cli.guard.gate import Asker


class Desk:
    """Opens the conversation when it is first needed: not before the user has said something."""

    def __init__(self, options: Options, tell: Callable[[str], None], ask: Asker) -> None:
        self.options = options
        """How the next conversation is opened; /model changes it."""
        self.tell = tell
        self.over = False
        """Set by /exit."""
        self.listed: list[tuple[str, str]] = []
        """Models as they were listed last, and the address of each; empty for a provider's own."""
        self.open: Opened | None = None
        self._ask = ask

    @property
    def status(self) -> str:
        """The model, its dialect once known, and the mode; loudly, where nothing is asked."""
        if self.open is None:
            return self.options.model or "andy"
        chat = self.open.chat
        mode = chat.gate.mode
        shown = mode.upper() if mode == "auto" else mode
        return f"{chat.client.name} - {chat.dialect.name} - {shown}"

    async def opened(self) -> Opened:
        """Raises what `open_chat` raises; the next call tries again."""
        if self.open is None:
            settings = self.options.settings()
            self.open = await open_chat(self.options, settings, self.tell, self._ask)
        return self.open

    async def close(self) -> None:
        if self.open is not None:
            await self.open.close()
            self.open = None
