"""What a chat has before it: its options, its settings, and the conversation once it is open."""

from collections.abc import Callable

from andy_cli.frontends.opening import Opened, open_chat
from andy_cli.frontends.options import Options
from andy_cli.guard.gate import Asker
from andy_cli.settings import Settings


class Desk:
    """Opens the conversation when it is first needed: not before the user has said something."""

    def __init__(
        self, options: Options, settings: Settings, tell: Callable[[str], None], ask: Asker
    ) -> None:
        self.options = options
        self.settings = settings
        self.tell = tell
        self.over = False
        """Set by /exit."""
        self._ask = ask
        self._opened: Opened | None = None

    @property
    def status(self) -> str:
        """The model and its dialect, once known."""
        if self._opened is None:
            return self.settings.text("model") or "andy"
        chat = self._opened.chat
        return f"{chat.client.name} - {chat.dialect.name}"

    async def opened(self) -> Opened:
        """Raises what `open_chat` raises; the next call tries again."""
        if self._opened is None:
            self._opened = await open_chat(self.options, self.settings, self.tell, self._ask)
        return self._opened

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()
            self._opened = None
